"""The coverage model of an operation: all its covergroups, what some rows of operands hit, and what is missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cosim.coverage.counts import Counts, Model
from cosim.coverage.covergroup import Covergroup
from cosim.coverage.integers import integer_groups
from cosim.coverage.multiply_adds import multiply_add_groups
from cosim.coverage.operands import operand_groups
from cosim.coverage.roundings import rounding_groups
from cosim.coverage.seen import Seen
from cosim.coverage.specials import special_groups
from cosim.coverage.sums import sum_groups
from golden.chain import steps_for
from golden.operations import IDPA
from golden.operations.flushed_fma import FlushedFMA
from golden.stimulus import Operands


@lru_cache(maxsize=64)
def covergroups(model: Model) -> tuple[Covergroup, ...]:
    """Every covergroup of a model, in order."""
    operation = steps_for(model.operation, model.K)
    steps = model.K // operation.length
    if isinstance(operation, IDPA):
        return tuple(integer_groups(operation, steps))
    operands = [*operand_groups(operation, steps), *special_groups(operation)]
    further = multiply_add_groups(operation) if isinstance(operation, FlushedFMA) else []
    return (*operands, *sum_groups(operation, steps > 1), *rounding_groups(operation, steps > 1), *further)


def count(model: Model, operands: Operands) -> Counts:
    """What rows of operands hit.

    Raises:
        ValueError: the native engine is not installed.
    """
    seen = Seen(model.operation, operands)
    hits = {group.name: group.count(seen).tolist() for group in covergroups(model)}
    return Counts(model, len(operands.c), hits)


@dataclass(frozen=True)
class Bins:
    """The bins of a covergroup, or of a whole model.

    Attributes:
        name: of the covergroup. bins: how many there are. unreachable: those that no operands can hit.
        missed: the names of those that can be hit and were not.
        contradicted: those that no operands can hit and that were hit all the same, with the reason that does not hold.
    """

    name: str
    bins: int
    unreachable: int
    missed: tuple[str, ...]
    contradicted: tuple[str, ...] = ()

    @property
    def reachable(self) -> int:
        """How many can be hit."""
        return self.bins - self.unreachable

    @property
    def hit(self) -> int:
        """How many of these were."""
        return self.reachable - len(self.missed)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "bins": self.bins,
            "unreachable": self.unreachable,
            "hit": self.hit,
            "missed": self.missed,
            "contradicted": self.contradicted,
        }


def results(counts: Counts) -> list[Bins]:
    """The bins of each covergroup."""
    found = []
    for group in covergroups(counts.model):
        of_bins = list(zip(group.bins, group.reasons, counts.hits[group.name], strict=True))
        missed = tuple(name for name, reason, hits in of_bins if reason is None and not hits)
        contradicted = tuple(
            f"{name} (hit {hits:,} times; declared unreachable: {reason})"
            for name, reason, hits in of_bins
            if reason is not None and hits
        )
        unreachable = sum(reason is not None for reason in group.reasons)
        found.append(Bins(group.name, len(group.bins), unreachable, missed, contradicted))
    return found


def whole(counts: Sequence[Counts]) -> Bins:
    """The bins of all covergroups of some models together, each that is named with its group."""
    groups = [group for each in counts for group in results(each)]
    missed = tuple(f"{group.name}: {name}" for group in groups for name in group.missed)
    contradicted = tuple(f"{group.name}: {name}" for group in groups for name in group.contradicted)
    bins, unreachable = sum(group.bins for group in groups), sum(group.unreachable for group in groups)
    return Bins("all", bins, unreachable, missed, contradicted)


def report(counts: Counts) -> dict[str, Any]:
    """A model's coverage for people's programs, ready for JSON."""
    total = whole([counts]).as_dict()
    of_groups = {"covergroups": [group.as_dict() for group in results(counts)]}
    return (
        counts.model.as_dict()
        | {"rows": counts.rows}
        | {key: total[key] for key in ("bins", "unreachable", "hit", "contradicted")}
        | of_groups
    )
