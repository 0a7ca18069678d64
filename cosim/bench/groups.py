"""Mismatches in groups: every one is counted, the first ones of each group are recorded in full."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cosim.bench.mismatch import GroupKey, Mismatch

RECORDED = 8
"""Mismatches of a group that are recorded in full; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Mismatches of one class of the stimulus, one class of expected and of given results, and one range of distances.

    Attributes:
        stimulus_class, expected_class, got_class, distance: as of `Mismatch`.
        count: elements of results that are of it.
        first: the first of them in full, as text.
        mismatches: the first `RECORDED` of them.
        diagnoses: which changes of the model explain how many of those recorded; empty where none was looked for.
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
        """What its mismatches have in common."""
        return GroupKey(self.stimulus_class, self.expected_class, self.got_class, self.distance)

    @property
    def result_class(self) -> str:
        """The classes of expected and given results, in words."""
        if self.expected_class == self.got_class:
            return self.expected_class
        return f"{self.got_class} for {self.expected_class}"

    @property
    def diagnosis(self) -> str:
        """The diagnoses of those recorded, in words."""
        recorded = len(self.mismatches)
        return ", ".join(f"{text} ({count} of {recorded})" for text, count in self.diagnoses.items())

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `from_dict` reads it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Group":
        """The group that `as_dict` made this of."""
        return cls(**{**table, "mismatches": tuple(Mismatch.from_dict(each) for each in table["mismatches"])})


class Groups:
    """Collects mismatches; what they take of memory does not grow with their number."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, Group] = {}

    def add(self, mismatch: Mismatch, text: str) -> bool:
        """One more.

        Args:
            text: it in full; used where it is the first of its group.

        Returns:
            Whether it is recorded, and not counted alone.
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
        """The groups, the largest first, and where they are equal the one that came first."""
        return ordered(self._groups.values())


def ordered(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Groups, the largest first, and where they are equal the one whose first mismatch came first."""
    return tuple(sorted(groups, key=lambda group: (-group.count, group.mismatches[0].vector, group.mismatches[0].place)))


def joined(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups of several simulations, those that have the same in common as one."""
    found: dict[GroupKey, Group] = {}
    for group in groups:
        same = found.get(group.key)
        if same is None:
            found[group.key] = group
            continue
        recorded = (*same.mismatches, *group.mismatches)[:RECORDED]
        found[group.key] = replace(same, count=same.count + group.count, mismatches=recorded)
    return ordered(found.values())
