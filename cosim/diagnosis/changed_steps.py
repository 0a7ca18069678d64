"""Changes of a step of the operation: the golden model with one of its step functions replaced.

The reference engine computes them, a row in some ten microseconds, so `diagnose` tries them on few rows first.
"""

from collections.abc import Iterator

from cosim.diagnosis import changed_sums, changed_terms
from cosim.diagnosis.changed_model import Change, Model
from golden.operations import EFDPA, OCFDPA, FTZAddMul
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA


def step_changes(model: Model) -> Iterator[Change]:
    """Every change of a step that is tried."""
    operation = model.operation
    if isinstance(operation, FusedOperation):
        yield from changed_terms.decoding(model)
        yield from changed_terms.products(model, operation)
        yield from changed_sums.rounding(model, operation)
        yield from changed_sums.addend_last(model)
    if isinstance(operation, TruncatedFDPA):
        yield from changed_terms.largest_exponent(model, operation)
        yield from changed_terms.shifts(model)
        yield from changed_terms.zero_terms(model, operation)
        yield from changed_terms.product_overflow(model, operation)
        yield from changed_terms.missing_terms(model, operation)
        yield from changed_sums.accumulators(model, operation)
    if isinstance(operation, RoundedFDPA):
        yield from changed_sums.two_steps(model, operation)
    if isinstance(operation, OCFDPA):
        yield from changed_sums.frames(model)
    if isinstance(operation, EFDPA):
        yield from changed_sums.truncated_terms(model, operation)
    if isinstance(operation, FTZAddMul):
        yield from changed_sums.flushing(model)
