"""Which vectors of a run are sent. A number means the same vector whatever is left out."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from cosim.bench.products import Vector
from golden.checks import check_least, unknown

ALL_SHOWN = 100
"""A message names all classes where there are no more than these."""


@dataclass(frozen=True)
class Selection:
    """A choice among the vectors of a run.

    Attributes:
        only: classes of the stimulus, at least one of which has made an element of the vector; empty for every class.
        exclude: classes that have made no element of it.
        vector: the number of the only vector to be sent, from 0; None for all.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    vector: int | None = None

    def __post_init__(self) -> None:
        if self.vector is not None:
            check_least("the number of a vector", self.vector, 0)

    @property
    def is_everything(self) -> bool:
        """Whether no vector is left out."""
        return self == Selection()

    def takes(self, vector: Vector) -> bool:
        """Whether a vector is sent."""
        if self.vector is not None and vector.number != self.vector:
            return False
        classes = {name for e in vector.elements for made in [e.products.made_by(e.row)] for name in (made, _plain(made))}
        return bool(not self.only or classes & set(self.only)) and not classes & set(self.exclude)

    def ends_before(self, number: int) -> bool:
        """Whether no vector from this number on is sent."""
        return self.vector is not None and number > self.vector

    def check(self, classes: Collection[str], count: int) -> None:
        """Raise ValueError for classes that the stimulus does not have, or a vector beyond the run's.

        Args:
            classes: every class and corner of the stimulus. count: vectors of the run.
        """
        known = dict.fromkeys(name for each in classes for name in (each, _plain(each)))
        for option, names in (("only", self.only), ("exclude", self.exclude)):
            for name in names:
                if name not in known:
                    raise ValueError(unknown(f"the class to {option}", name, known, ALL_SHOWN))
        if self.vector is not None and self.vector >= count:
            raise ValueError(f"the number of a vector must be from 0 to {count - 1}, got {self.vector}")

    def as_table(self) -> dict[str, Any]:
        """For JSON: `Selection.from_table` makes an equal one of it."""
        return asdict(self)

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> "Selection":
        """The selection that `as_table` described."""
        return cls(tuple(table["only"]), tuple(table["exclude"]), table["vector"])


def _plain(name: str) -> str:
    """A class without the format of which it is one."""
    return name.rpartition(": ")[2]
