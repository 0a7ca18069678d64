"""Mutants of the golden model, and whether sound Verilog contradicts them: a wrong expectation of a correct design.

A model has one faulty step or one changed parameter (`golden.variants`). It is run over the vectors of `mmau cosim` up to
the first one for which its result differs from the unit's; that vector is then simulated with the faulty model's result as
the expected one, and must be a mismatch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.products import Chunk, DotProducts, Element, Vector
from cosim.bench.stimulus import Specification, unit_products, unit_transfers
from golden import Operation, Unit
from golden.comparison import differing
from golden.stimulus import OperandShape, generate
from golden.variants.faults import fault_variants
from golden.variants.keys import one_off
from mmau.formal.netlist.equivalence import EQUAL, Side, compare
from mmau.formal.netlist.verilog_text import read_netlist
from mmau.mutation.bench import MutantBench
from mmau.mutation.mutated_unit import TOP
from mmau.mutation.surviving_mutants import same_results
from rtl.verilog.emit import to_verilog

SECONDS = 60.0
"""Longest search for inputs on which two parameters differ (seconds)."""


def judged_models(unit: Unit, bench: MutantBench, vectors: int, seed: int) -> list[dict[str, Any]]:
    """Every mutant of the unit's model.

    Args:
        vectors, seed: number and seed of the vectors of one simulation.

    Returns:
        For each its name, `vector`: the first one that shows it, None if none does, and `seen`: whether the design
        contradicts it there; for a parameter that no vector shows `same`: whether the solver proves that no input does.
    """
    stimulus = generate(OperandShape.of_operation(unit.operation), vectors, seed)
    products = unit_products(unit, stimulus, None)
    parameters = dict(one_off(unit.operation))
    wrong = {name: _parameter_difference(unit, operation, products) for name, operation in parameters.items()}
    wrong |= _step_differences(unit.operation, products)
    seen = _rejected(bench, products, {name: found for name, found in wrong.items() if found is not None})
    return [
        {"name": name, "vector": None if found is None else found[0], "seen": name in seen}
        | ({"same": _is_same(unit, parameters[name])} if found is None and name in parameters else {})
        for name, found in wrong.items()
    ]


def _parameter_difference(unit: Unit, operation: Operation, products: DotProducts) -> tuple[int, int] | None:
    """The first row on which the result of an operation differs, and that result."""
    codes = Unit(name=unit.name, operation=operation).dot(*products.stimulus.operands)
    rows = np.flatnonzero(differing(codes, np.array(products.expected, codes.dtype), unit.operation))
    return (int(rows[0]), int(codes[rows[0]])) if len(rows) else None


def _step_differences(operation: Operation, products: DotProducts) -> dict[str, tuple[int, int] | None]:
    """The same for every faulty step, in Python: row by row, until every fault has made a difference."""
    live = {fault.words: fault.operation for fault in fault_variants(operation) if fault.operation is not None}
    found: dict[str, tuple[int, int] | None] = dict.fromkeys(live)
    a, b, c, *scales = products.stimulus.operands
    for row, expected in enumerate(products.expected):
        if not live:
            break
        operands = (a[row].tolist(), b[row].tolist(), int(c[row]), *(s[row].tolist() for s in scales if s is not None))
        for name, model in list(live.items()):
            d = model.step(*operands)
            if differing(d, expected, operation):
                found[name] = (row, d)
                del live[name]
    return found


def _rejected(bench: MutantBench, products: DotProducts, wrong: dict[str, tuple[int, int]]) -> set[str]:
    """The faults that the design contradicts on their first rows."""
    rows = np.array([row for row, _ in wrong.values()])
    chosen = replace(
        products, stimulus=products.stimulus.rows(rows), expected=[d for _, d in wrong.values()]
    )  # fmt: skip
    mismatching = bench.mismatching(_Rows(chosen))
    return {name for number, name in enumerate(wrong) if number in mismatching}


@dataclass(frozen=True)
class _Rows(Specification):
    """Chosen rows with chosen results."""

    products: DotProducts

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        transfers = unit_transfers(self.products)
        vectors = [Vector([transfer], [Element(self.products, row)]) for row, transfer in enumerate(transfers)]
        yield Chunk(vectors, [self.products])


def _is_same(unit: Unit, operation: Operation) -> bool:
    """Whether the Verilog of two operations, without registers, is proved to compute the same."""
    build = unit.implementation.combinational
    first, second = (
        Side(read_netlist(to_verilog(Unit(name=unit.name, operation=each, implementation=build), TOP)), TOP)
        for each in (unit.operation, operation)
    )
    return compare(first, second, SECONDS, same=same_results(operation)).verdict == EQUAL
