"""Small units for tests of mutants."""

from typing import Any

from golden import Implementation, Unit
from golden.units.unit_file import operation_from_table

_TABLE: dict[str, Any] = {
    "operation": "T-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 2, "F": 8, "rho": "RNE-FP16", "e_zero": -21,
}  # fmt: skip


def small_unit(stages: int = 0, **keys: Any) -> Unit:
    """Two products of e2m1, with some keys changed."""
    return Unit(
        name="small", operation=operation_from_table(_TABLE | keys), implementation=Implementation(stages=stages)
    )  # fmt: skip
