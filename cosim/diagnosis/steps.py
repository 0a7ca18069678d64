"""Changes of a step of the operation: golden's model with another function in the place of one of its own.

The reference engine computes them, a row in some ten microseconds, so `diagnose` tries them on few rows first.
"""

from collections.abc import Iterator

from cosim.diagnosis import sums, terms
from cosim.diagnosis.model import Change, Model
from golden.operations import EFDPA, FTZAddMul
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA


def step_changes(model: Model) -> Iterator[Change]:
    """Every change of a step that is tried."""
    operation = model.operation
    if isinstance(operation, FusedOperation):
        yield from terms.decoding(model)
        yield from terms.products(model, operation)
        yield from sums.rounding(model, operation)
        yield from sums.addend_last(model)
    if isinstance(operation, TruncatedFDPA):
        yield from terms.largest_exponent(model, operation)
        yield from terms.shifts(model)
        yield from terms.zero_terms(model, operation)
        yield from terms.product_overflow(model, operation)
        yield from terms.missing_terms(model, operation)
        yield from sums.accumulators(model, operation)
    if isinstance(operation, RoundedFDPA):
        yield from sums.two_steps(model, operation)
    if isinstance(operation, EFDPA):
        yield from sums.truncated_terms(model, operation)
    if isinstance(operation, FTZAddMul):
        yield from sums.flushing(model)
