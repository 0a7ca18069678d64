"""The coverage model of an operation: all its covergroups, and what some rows of operands hit."""

from functools import lru_cache

from cosim.coverage.counts import Counts, Model
from cosim.coverage.covergroup import Covergroup
from cosim.coverage.operands import operand_groups, special_groups
from cosim.coverage.roundings import rounding_groups
from cosim.coverage.seen import Seen
from cosim.coverage.sums import sum_groups
from golden.chain import steps_for
from golden.stimulus import Operands


@lru_cache(maxsize=64)
def covergroups(model: Model) -> tuple[Covergroup, ...]:
    """Every covergroup of a model, in order."""
    operation = steps_for(model.operation, model.K)
    steps = model.K // operation.length
    operands = [*operand_groups(operation, steps), *special_groups(operation)]
    return (*operands, *sum_groups(operation, steps > 1), *rounding_groups(operation, steps > 1))


def count(model: Model, operands: Operands) -> Counts:
    """What rows of operands hit.

    Raises:
        ValueError: the native engine is not installed.
    """
    seen = Seen(model.operation, operands)
    hits = {group.name: group.count(seen).tolist() for group in covergroups(model)}
    return Counts(model, len(operands.c), hits)
