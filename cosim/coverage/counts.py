"""Counts of bins, which are merged over runs: of one model, that is of one operation with all its parameters and one K."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import golden
from golden import Operation


@dataclass(frozen=True)
class Model:
    """What is covered: an operation with its parameters, over K products."""

    operation: Operation
    K: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `from_dict` reads it back."""
        return {"operation": self.operation.name, "parameters": self.operation.parameters(), "K": self.K}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Model":
        """The model that `as_dict` made this of.

        Raises:
            KeyError, TypeError, ValueError: it was made of none.
        """
        keys: dict[str, Any] = dict(table["parameters"])
        make: Any = golden.OPERATIONS[table["operation"]]
        return cls(make(**keys), table["K"])

    def __str__(self) -> str:
        keys = ", ".join(f"{key} = {value}" for key, value in self.operation.parameters().items())
        return f"{self.operation.name}, {keys}, K = {self.K}"


@dataclass(frozen=True)
class Counts:
    """How often each bin was hit.

    Attributes:
        model: whose bins. rows: dot products that were compared and agreed. hits: by covergroup, of its bins in order.
    """

    model: Model
    rows: int
    hits: Mapping[str, list[int]]

    def merged(self, other: "Counts") -> "Counts":
        """Both together; the order of many does not matter.

        Raises:
            ValueError: the other's model is not this one.
        """
        if other.model != self.model:
            raise ValueError(f"coverage is merged of one model alone, got {self.model} and {other.model}")
        hits = {name: [x + y for x, y in zip(of, other.hits[name], strict=True)] for name, of in self.hits.items()}
        return Counts(self.model, self.rows + other.rows, hits)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `from_dict` reads it back."""
        return {"model": self.model.as_dict(), "rows": self.rows, "hits": dict(self.hits)}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Counts":
        """The counts that `as_dict` made this of."""
        return cls(Model.from_dict(table["model"]), table["rows"], table["hits"])


def merged(counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """One of each model, in the order in which models come first."""
    found: dict[Model, Counts] = {}
    for each in counts:
        found[each.model] = found[each.model].merged(each) if each.model in found else each
    return tuple(found.values())
