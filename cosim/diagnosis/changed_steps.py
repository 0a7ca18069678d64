"""Changes of a step of the operation: the golden model with one of its step functions replaced.

The reference engine computes them, a row in some ten microseconds, so `diagnose` tries them on few rows first.
"""

from collections.abc import Iterator
from typing import Any

from cosim.diagnosis import changed_sums, changed_terms
from cosim.diagnosis.changed_model import Change, Model


def step_changes(model: Model) -> Iterator[Change]:
    """Every change of a step that is tried."""
    operation: Any = model.operation
    structure = operation.structure
    if structure.rho is not None:
        yield from changed_terms.decoding(model)
        yield from changed_terms.products(model, operation)
        yield from changed_sums.rounding(model, operation)
        yield from changed_sums.addend_last(model)
    if structure.is_aligned_once:
        yield from changed_terms.largest_exponent(model, operation)
        yield from changed_terms.shifts(model)
        yield from changed_terms.zero_terms(model, operation)
        yield from changed_terms.product_overflow(model, operation)
        yield from changed_terms.missing_terms(model, operation)
        yield from changed_sums.accumulators(model, operation)
    if structure.last.cut is not None:
        yield from changed_sums.two_steps(model, operation)
    if structure.last.in_frame:
        yield from changed_sums.frames(model)
    if structure.is_exact and "L" in operation.unit_keys():
        yield from changed_sums.truncated_terms(model, operation)
    if structure.rounds_products:
        yield from changed_sums.flushing(model)
