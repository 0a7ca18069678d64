"""Properties of a unit that a search finds, independent of workloads: its worst error against the analytic bound, and how
often it is not monotonic or not symmetric.

The searches are those of `analysis`: rows built to lose much, rows of the stimulus, and changes bit by bit from the worst.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from golden.arrays import bits_dtype
from golden.chain import ChainTable
from golden.format import power_of_two
from golden.formats import Format
from golden.stimulus import Operands, Row
from golden.unit import Unit
from mmau.analysis.adverse_rows import gapped_rows, stimulus_rows
from mmau.analysis.bound_search import searched, shares
from mmau.analysis.error_bound import Bounded
from mmau.analysis.exact_value import Arithmetic
from mmau.analysis.monotonicity import fall, random_cases, staircases
from mmau.analysis.symmetry import asymmetry, pairs
from mmau.explore.accuracy.exact_sums import exact_results

ROWS = 100
"""Rows of the stimulus for each search."""

STEPS = 200
"""Rows that the search for the worst error tries beyond those it starts from."""

GAPS = range(40)
"""Exponents by which products lie below c in the rows that are built to lose much."""


def properties(unit: Unit, seed: int) -> dict[str, Any]:
    """`worst`, `monotonicity` and `symmetry`, as plain JSON; null for integers, which are added exactly.

    Of a unit whose chain adds outside of its steps, they are those of its step.
    """
    arithmetic = arithmetic_of(unit)
    if unit.operation.structure.is_integer:
        return dict.fromkeys(("worst", "monotonicity", "symmetry"))
    return {
        "worst": worst(arithmetic, seed),
        "monotonicity": monotonicity(arithmetic, seed),
        "symmetry": symmetry(arithmetic, seed),
    }


def arithmetic_of(unit: Unit) -> Arithmetic:
    """The arithmetic to search: the unit over its usual K."""
    chain = unit.chain_over(unit.usual_K)
    if unit.chain != ChainTable() and chain.fp16_order is None:
        return arithmetic_of(unit.step)
    return Arithmetic(name=unit.name, chain=chain, a=unit.a, b=unit.b, K=unit.usual_K)


def worst(arithmetic: Arithmetic, seed: int) -> dict[str, Any]:
    """The row whose error is closest to its bound: error and bound in ulps of d's format at the row's magnitude."""
    bounded = Bounded(arithmetic)
    start = shares(bounded, [*stimulus_rows(arithmetic, ROWS, seed), *gapped_rows(arithmetic, GAPS)])
    share, row = searched(bounded, start, STEPS, seed)
    errors = bounded.error(row)
    assert errors is not None
    ulp = ulp_of(arithmetic.d, magnitude_lead(arithmetic, row))
    error, bound = (float(value / ulp) for value in errors)
    codes = {"a": list(row.a), "b": list(row.b), "c": row.c, "scale_a": list(row.scale_a), "scale_b": list(row.scale_b)}
    return {"ulp": error, "bound_ulp": bound, "share": float(share), "rows": len(start) + STEPS, "row": codes}


def magnitude_lead(arithmetic: Arithmetic, row: Row) -> int:
    """Exponent of the leading bit of |c| + Σ |α·β·a_k·b_k|."""
    shape = arithmetic.shape
    columns = ((row.a, shape.a), (row.b, shape.b), (row.c, shape.c), (row.scale_a, shape.scale), (row.scale_b, shape.scale))
    operands = Operands(*(None if f is None else np.array([codes], bits_dtype(f)) for codes, f in columns))  # type: ignore[arg-type]
    exact = exact_results(shape, operands)
    return int(exact.magnitude_lead[0]) if exact.magnitude[0] else arithmetic.d.e_min


def ulp_of(result: Format, lead: int) -> Fraction:
    """The unit in the last place of numbers with that leading bit."""
    return power_of_two(min(max(lead, result.e_min), result.e_max) - result.man_bits)


def monotonicity(arithmetic: Arithmetic, seed: int) -> dict[str, int]:
    """Number of cases in which the result decreases although one operand increases."""
    cases = [*staircases(arithmetic), *random_cases(arithmetic, ROWS, seed)]
    return {"violations": sum(fall(arithmetic, row, place) is not None for row, place in cases), "of": len(cases)}


def symmetry(arithmetic: Arithmetic, seed: int) -> dict[str, int]:
    """The number of rows tried, and the number of those in which −A and −C do not give −D."""
    rows = [*pairs(arithmetic), *gapped_rows(arithmetic, GAPS), *stimulus_rows(arithmetic, ROWS, seed)]
    return {"violations": sum(asymmetry(arithmetic, row) is not None for row in rows), "of": len(rows)}
