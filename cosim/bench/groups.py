"""Groups of mismatches: every mismatch is counted, and the first ones of each group are recorded in full."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cosim.bench.mismatch import GroupKey, Mismatch

RECORDED = 8
"""Mismatches of a group that are recorded in full; the others are only counted."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Mismatches with the same class of stimulus, classes of expected and received results, and range of distances.

    Attributes:
        stimulus_class, expected_class, got_class, distance: as in `Mismatch`.
        count: elements of results in the group.
        first: the first mismatch in full, as text.
        mismatches: the first `RECORDED` mismatches.
        diagnoses: change of the model to the number of recorded mismatches that it explains; empty before the diagnosis.
    """

    stimulus_class: str
    expected_class: str
    got_class: str
    distance: str
    count: int
    first: str
    mismatches: tuple[Mismatch, ...]
    diagnoses: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> GroupKey:
        """The properties that its mismatches share."""
        return GroupKey(self.stimulus_class, self.expected_class, self.got_class, self.distance)

    @property
    def result_class(self) -> str:
        """The classes of expected and received results, as text."""
        if self.expected_class == self.got_class:
            return self.expected_class
        return f"{self.got_class} for {self.expected_class}"

    @property
    def diagnosis(self) -> str:
        """The diagnoses of the recorded mismatches, as text."""
        recorded = len(self.mismatches)
        return ", ".join(f"{text} ({count} of {recorded})" for text, count in self.diagnoses.items())

    def as_dict(self) -> dict[str, Any]:
        """The group for JSON; `from_dict` reads it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Group":
        """The group that `as_dict` converted."""
        return cls(**{**table, "mismatches": tuple(Mismatch.from_dict(each) for each in table["mismatches"])})


class Groups:
    """Mismatches of a run by group, in memory that does not grow with their number."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, Group] = {}

    def add(self, mismatch: Mismatch, text: str) -> bool:
        """Add a mismatch to its group.

        Args:
            text: the mismatch in full; used where it is the first of its group.

        Returns:
            Whether it is recorded in full; otherwise it is only counted.
        """
        group = self._groups.get(mismatch.group)
        if group is None:
            key = mismatch.group._asdict()
            self._groups[mismatch.group] = Group(**key, count=1, first=text, mismatches=(mismatch,))
            return True
        recorded = group.mismatches if len(group.mismatches) == RECORDED else (*group.mismatches, mismatch)
        self._groups[mismatch.group] = replace(group, count=group.count + 1, mismatches=recorded)
        return recorded is not group.mismatches

    def all(self) -> tuple[Group, ...]:
        """The groups, the largest first; groups of equal size by their first mismatch."""
        return ordered(self._groups.values())


def ordered(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Sort groups: the largest first, groups of equal size by their first mismatch."""
    return tuple(sorted(groups, key=lambda group: (-group.count, group.mismatches[0].vector, group.mismatches[0].place)))


def joined(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Join the groups of several simulations: those with the same key become one."""
    found: dict[GroupKey, Group] = {}
    for group in groups:
        same = found.get(group.key)
        if same is None:
            found[group.key] = group
            continue
        recorded = (*same.mismatches, *group.mismatches)[:RECORDED]
        found[group.key] = replace(same, count=same.count + group.count, mismatches=recorded)
    return ordered(found.values())
