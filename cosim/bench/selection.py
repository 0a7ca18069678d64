"""The selection of the vectors of a run that are sent. It does not change the numbers of the vectors."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from cosim.bench.products import Vector
from golden.checks import check_least, unknown

ALL_SHOWN = 100
"""An error message lists all classes up to this number of them."""


@dataclass(frozen=True)
class Selection:
    """A selection of the vectors of a run.

    Attributes:
        only: send only vectors with an element of one of these classes of the stimulus; empty for every class.
        exclude: send no vector with an element of one of these classes.
        vector: number of the only vector to send, from 0; None for all.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    vector: int | None = None

    def __post_init__(self) -> None:
        if self.vector is not None:
            check_least("the number of a vector", self.vector, 0)

    @property
    def is_everything(self) -> bool:
        """Whether all vectors are sent."""
        return self == Selection()

    def takes(self, vector: Vector) -> bool:
        """Whether a vector is sent."""
        if self.vector is not None and vector.number != self.vector:
            return False
        classes = {name for e in vector.elements for made in [e.products.made_by(e.row)] for name in (made, _plain(made))}
        return bool(not self.only or classes & set(self.only)) and not classes & set(self.exclude)

    def ends_before(self, number: int) -> bool:
        """Whether neither this vector nor any later one is sent."""
        return self.vector is not None and number > self.vector

    def check(self, classes: Collection[str], count: int) -> None:
        """Raise ValueError for classes that the stimulus does not have, or a vector beyond the end of the run.

        Args:
            classes: every class and corner of the stimulus. count: number of vectors of the run.
        """
        known = dict.fromkeys(name for each in classes for name in (each, _plain(each)))
        for option, names in (("only", self.only), ("exclude", self.exclude)):
            for name in names:
                if name not in known:
                    raise ValueError(unknown(f"the class to {option}", name, known, ALL_SHOWN))
        if self.vector is not None and self.vector >= count:
            raise ValueError(f"the number of a vector must be from 0 to {count - 1}, got {self.vector}")

    def as_table(self) -> dict[str, Any]:
        """The selection for JSON; `from_table` reads it back."""
        return asdict(self)

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> "Selection":
        """The selection that `as_table` converted."""
        return cls(tuple(table["only"]), tuple(table["exclude"]), table["vector"])


def _plain(name: str) -> str:
    """The name of a class without its format."""
    return name.rpartition(": ")[2]
