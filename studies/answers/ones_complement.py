"""The saving of RDNA3's one's complement in the sign frame of c, docs/evidence/explore/ones-complement.md:
`python -m studies.answers.ones_complement FOLDER`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from golden import Implementation, Operation, Unit
from golden.unit import ENCODINGS
from golden.unit_file import operation_from_table
from mmau.explore.accuracy.error_measures import measure
from mmau.report import markdown
from rtl.cost.flow import measure as cost_of
from rtl.cost.flow import tool_version
from rtl.designs.unit_design import UnitDesign
from rtl.steps.accumulate import Accumulate
from rtl.steps.accumulate_in_frame import AccumulateInFrame
from rtl.steps.component import SharedComponent
from rtl.verilog.emit import modules
from studies.pages import Files, made_by, write_files

ROWS, SEED = 200_000, 0

WORKLOADS = ("normal", "uniform", "outliers")

_FP16: dict[str, Any] = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "rho": "RNE-FP32"}
_RDNA: dict[str, Any] = {**_FP16, "F": 26, "h": 2, "e_zero": -126}

_OPERATIONS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "RDNA3": ({"operation": "OC-FDPA", **_RDNA, "flush_inputs": True, "flush_results": True}, ENCODINGS),
    "terms negated, F = 24": ({"operation": "T-FDPA", **_FP16, "flush_results": True, "F": 24, "e_zero": -126}, ENCODINGS),
    "terms negated, F = 26": ({"operation": "T-FDPA", **_FP16, "flush_results": True, "F": 26, "e_zero": -126}, ENCODINGS),
    "RDNA4": ({"operation": "PS-FDPA", **_RDNA, "P": 2}, ENCODINGS),
    "rounded correctly": ({"operation": "E-FDPA", **_FP16}, ENCODINGS[1:2]),
}
"""Operations and encodings, by what the page calls them: RDNA3's step of two fp16 products; the same with every term negated
where it is negative, with RDNA3's last bit of a product (F = 24) and of c (F = 26); RDNA4's; the exact sum, rounded once."""

OF_THE_SUM = (26, 26, 27)
"""Bits of the terms of RDNA3's sum: two products, c."""


@dataclass(frozen=True)
class Measured:
    """One unit: its cost, and the errors by workload, which its encoding does not change."""

    name: str
    encoding: str
    cells: int
    depth: int
    errors: Mapping[str, Mapping[str, Any]]


def units() -> list[tuple[str, Unit]]:
    """The units by name, in every encoding."""
    found = []
    for name, (table, encodings) in _OPERATIONS.items():
        operation: Operation = operation_from_table(table)
        found += [(name, Unit(name=name, operation=operation, implementation=Implementation(encoding=e))) for e in encodings]
    return found


def sums() -> dict[str, Callable[[], SharedComponent]]:
    """Components: RDNA3's sum by itself, and exact sums of the same terms in every encoding."""
    bits = sum(1 << width for width in OF_THE_SUM).bit_length()
    exact = {f"negated, {encoding}": partial(Accumulate, OF_THE_SUM, bits, encoding) for encoding in ENCODINGS}
    own = partial(AccumulateInFrame, OF_THE_SUM, bits, "carry-save", anticipates=False)
    return {"inverted in the frame of c": own, **exact}


def measured(rows: int = ROWS) -> list[Measured]:
    """Every unit measured; errors once for all encodings."""
    found: list[Measured] = []
    errors: dict[str, dict[str, Any]] = {}
    for name, unit in units():
        if name not in errors:
            errors[name] = {workload: measure(unit, workload, rows, SEED) for workload in WORKLOADS}
        cost = cost_of(modules(UnitDesign(unit).component(), "unit"), "unit")
        found.append(Measured(name, unit.implementation.encoding, cost.cells, cost.depth, errors[name]))
    return found


def page(every: Sequence[Measured], of_sums: Mapping[str, tuple[int, int]], rows: int = ROWS) -> Files:
    """The page.

    Args:
        of_sums: cells and depth of each of `sums`.
    """
    return {
        "ones-complement.md": markdown.document(
            "What RDNA3's one's complement saves",
            made_by("answers-ones-complement"),
            "RDNA3 adds products and c in the sign frame of c: a product of the other sign enters inverted, and the "
            "increment that would negate it is left out (OC-FDPA, [numerics.md](../../numerics.md), section 5). Here its "
            "step of two fp16 products and an fp32 accumulator stands beside units that negate every negative term, with "
            "RDNA3's last bit of a product (T-FDPA, F = 24) and of c (F = 26); beside RDNA4's step (PS-FDPA); and beside "
            "the exact sum, rounded once (E-FDPA).",
            in_short(every, of_sums),
            "## The sum alone",
            "The accumulate step of two products of 26 bits and a c of 27 bits, by itself. A sum may be negative in the "
            "frame of c, so the result needs a magnitude in either case.",
            markdown.table(
                ("the other sign's terms", "cells", "depth"),
                [(name, f"{cells:,}", str(depth)) for name, (cells, depth) in of_sums.items()],
                numbers=(1, 2),
            ),
            "## The whole unit",
            markdown.table(
                ("unit", "encoding", "cells", "depth"),
                [(each.name, each.encoding, f"{each.cells:,}", str(each.depth)) for each in every],
                numbers=(2, 3),
            ),
            "For RDNA3 `ones-complement` is the operation's own form. In the other two encodings every term is exact, and "
            "the ones that RDNA3's sum lacks enter as one term more.",
            f"Cells are two-input NAND and NOR gates and inverters, depth is the longest path in gates ({tool_version()}, "
            "flattened; [area.md](../area.md) explains the flow).",
            "## Errors",
            markdown.table(
                ("unit", "workload", "mean |error|", "worst |error|", "bias", "bias of the magnitude"),
                [_errors(each, workload) for each in _once(every) for workload in WORKLOADS],
                numbers=(2, 3, 4, 5),
            ),
            f"{rows:,} rows of each workload. Errors are in ulps of the exact result. Bias is the mean of d − exact, and of "
            "|d| − |exact|, in ulps of the row's magnitude |c| + Σ |a·b|, with its 95 % interval "
            "([explore-accuracy.md](../../guides/explore-accuracy.md)). An interval that holds 0 shows no bias. The worst "
            "error is that of these rows, not a bound.",
        ).encode()
    }


def in_short(every: Sequence[Measured], of_sums: Mapping[str, tuple[int, int]]) -> str:
    """The answer in a paragraph, from the figures."""
    own = _one(every, "RDNA3", "ones-complement")
    parts = []
    cells, depth = of_sums["inverted in the frame of c"]
    against = [
        f"{_compared(cells, other_cells)} cells than the exact sum in {encoding} (depth {depth} against {other_depth})"
        for encoding in ENCODINGS
        for other_cells, other_depth in [of_sums[f"negated, {encoding}"]]
    ]
    parts.append(f"The sum alone takes {'; '.join(against)}.")
    for name in ("terms negated, F = 24", "terms negated, F = 26", "rounded correctly"):
        other = _one(every, name, "ones-complement")
        parts.append(
            f"The unit takes {_compared(own.cells, other.cells)} cells than “{name}” ({own.cells:,} against "
            f"{other.cells:,}; depth {own.depth} against {other.depth})."
        )
    worst = {name: max(_worst(_one(every, name, "ones-complement"), w) for w in WORKLOADS) for name in _OPERATIONS}
    listed = ", ".join(f"{name} {value:.3g}" for name, value in worst.items())
    return " ".join([*parts, f"Worst errors over all three workloads, in ulps: {listed}."])


def _compared(own: int, other: int) -> str:
    share = 100 * (own - other) / other
    return f"{abs(share):.1f} % {'fewer' if share < 0 else 'more'}"


def _one(every: Sequence[Measured], name: str, encoding: str) -> Measured:
    return next(each for each in every if (each.name, each.encoding) == (name, encoding))


def _once(every: Sequence[Measured]) -> list[Measured]:
    return [_one(every, name, "ones-complement") for name in _OPERATIONS]


def _worst(each: Measured, workload: str) -> float:
    return float(each.errors[workload]["ulp"]["max"])


def _errors(each: Measured, workload: str) -> tuple[str, ...]:
    errors = each.errors[workload]
    return (
        each.name, workload, f"{errors['ulp']['mean']:.4g}", f"{errors['ulp']['max']:.4g}",
        _interval(errors["bias"]), _interval(errors["magnitude_bias"]),
    )  # fmt: skip


def _interval(bias: Mapping[str, Any]) -> str:
    return f"{bias['mean_ulp']:.2g} ({bias['low95']:.2g} … {bias['high95']:.2g})"


def main(folder: Path) -> None:
    """Measure everything and write the page."""
    of_sums = {name: cost_of(modules(make(), "sum"), "sum") for name, make in sums().items()}
    write_files(folder, page(measured(), {name: (cost.cells, cost.depth) for name, cost in of_sums.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
