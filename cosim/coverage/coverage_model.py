"""The coverage model of an operation: its covergroups, the bins that given rows hit, and the bins that remain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cosim.coverage.counts import Counts, Model
from cosim.coverage.covergroup import Covergroup, Seen
from cosim.coverage.idpa import integer_groups
from cosim.coverage.multiply_adds import multiply_add_groups
from cosim.coverage.operands import operand_groups
from cosim.coverage.roundings import rounding_groups
from cosim.coverage.specials import special_groups
from cosim.coverage.sums import sum_groups
from golden.chains.chain import steps_for
from golden.stimulus import Operands


@lru_cache(maxsize=64)
def covergroups(model: Model) -> tuple[Covergroup, ...]:
    """Every covergroup of a model, in order."""
    operation = steps_for(model.operation, model.K)
    steps = model.K // operation.length
    if operation.structure.is_integer:
        return tuple(integer_groups(operation, steps))
    operands = [*operand_groups(operation, steps), *special_groups(operation)]
    further = multiply_add_groups(operation) if operation.structure.widened is not None else []
    return (*operands, *sum_groups(operation, steps > 1), *rounding_groups(operation, steps > 1), *further)


def count(model: Model, operands: Operands) -> Counts:
    """Count the bins that rows of operands hit.

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
        name: name of the covergroup. bins: number of bins. unreachable: number of bins declared unreachable.
        missed: names of the reachable bins without a hit.
        contradicted: names of the bins that were declared unreachable and hit, with the reason that does not hold.
    """

    name: str
    bins: int
    unreachable: int
    missed: tuple[str, ...]
    contradicted: tuple[str, ...] = ()

    @property
    def reachable(self) -> int:
        """Number of reachable bins."""
        return self.bins - self.unreachable

    @property
    def hit(self) -> int:
        """The number of reachable bins with a hit."""
        return self.reachable - len(self.missed)

    def as_dict(self) -> dict[str, Any]:
        """The coverage as plain JSON."""
        return {
            "name": self.name,
            "bins": self.bins,
            "unreachable": self.unreachable,
            "hit": self.hit,
            "missed": self.missed,
            "contradicted": self.contradicted,
        }


def results(counts: Counts) -> list[Bins]:
    """The result of each covergroup."""
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
    """The result of all covergroups of several models together; each bin is named with its covergroup."""
    groups = [group for each in counts for group in results(each)]
    missed = tuple(f"{group.name}: {name}" for group in groups for name in group.missed)
    contradicted = tuple(f"{group.name}: {name}" for group in groups for name in group.contradicted)
    bins, unreachable = sum(group.bins for group in groups), sum(group.unreachable for group in groups)
    return Bins("all", bins, unreachable, missed, contradicted)


def report(counts: Counts) -> dict[str, Any]:
    """The coverage of a model as a table for JSON."""
    total = whole([counts]).as_dict()
    of_groups = {"covergroups": [group.as_dict() for group in results(counts)]}
    return (
        counts.model.as_dict()
        | {"rows": counts.rows}
        | {key: total[key] for key in ("bins", "unreachable", "hit", "contradicted")}
        | of_groups
    )
