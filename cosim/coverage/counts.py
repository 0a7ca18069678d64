"""Hit counts of the bins of one model (one operation with its parameters and one K), which can be merged over runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from golden import Operation
from golden.arithmetic.formats import fields_of
from golden.units.unit_file import formats_of, operation_from_table


@dataclass(frozen=True)
class Model:
    """The model whose coverage is counted: an operation with its parameters, over K products."""

    operation: Operation
    K: int

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain JSON, which `from_dict` reads."""
        formats = {form.name: fields_of(form) for form in formats_of(self.operation)}
        own = {"formats": formats} if formats else {}
        return {"operation": self.operation.name, "parameters": self.operation.parameters(), "K": self.K, **own}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Model":
        """Read a model from the output of `as_dict`.

        Raises:
            KeyError, TypeError, ValueError: the table is not such an output.
        """
        keys = {"operation": table["operation"], **table["parameters"], "formats": table.get("formats", {})}
        return cls(operation_from_table(keys), table["K"])

    def __str__(self) -> str:
        keys = ", ".join(f"{key} = {value}" for key, value in self.operation.parameters().items())
        return f"{self.operation.name}, {keys}, K = {self.K}"


@dataclass(frozen=True)
class Counts:
    """The hit count of each bin of a model.

    Attributes:
        model: the model that the bins belong to.
        rows: number of dot products that were compared and agreed.
        hits: from the name of a covergroup to the counts of its bins, in order.
    """

    model: Model
    rows: int
    hits: Mapping[str, list[int]]

    def merged(self, other: "Counts") -> "Counts":
        """The sums of both counts; merging is commutative and associative.

        Raises:
            ValueError: the counts belong to different models.
        """
        if other.model != self.model:
            raise ValueError(f"coverage is merged of one model alone, got {self.model} and {other.model}")
        hits = {name: [x + y for x, y in zip(of, other.hits[name], strict=True)] for name, of in self.hits.items()}
        return Counts(self.model, self.rows + other.rows, hits)

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain JSON, which `from_dict` reads."""
        return {"model": self.model.as_dict(), "rows": self.rows, "hits": dict(self.hits)}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Counts":
        """Read counts from the output of `as_dict`."""
        return cls(Model.from_dict(table["model"]), table["rows"], table["hits"])


def merged(counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """Merge counts of the same model, in the order in which the models first appear."""
    found: dict[Model, Counts] = {}
    for each in counts:
        found[each.model] = found[each.model].merged(each) if each.model in found else each
    return tuple(found.values())
