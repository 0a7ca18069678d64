"""The trace of one dot product, and its three forms: text, HTML and JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from golden.format import Format
from golden.html import Markup
from golden.trace.html import body, page
from golden.trace.layout import Block, Heading, headline, step_blocks
from golden.trace.records import Exact, Step
from golden.trace.text import text


@dataclass(frozen=True, kw_only=True)
class Trace:
    """How one dot product was computed, step by step.

    Attributes:
        model: name of the unit or instruction. operation: name of the operation. parameters: its keys.
        order: the k in the order in which the steps take them.
        steps: of the chain; where c is added at the end, that addition is the last one.
        d: the result's code. format: the result's format.
    """

    model: str
    operation: str
    parameters: dict[str, str | int]
    order: tuple[int, ...]
    steps: tuple[Step, ...]
    d: int
    format: Format

    def as_dict(self) -> dict[str, Any]:
        """For JSON. A number is {"sig", "exp"}, sig · 2**exp; a part of a step names its kind under `part`."""
        return {
            "model": self.model,
            "operation": self.operation,
            "parameters": self.parameters,
            "order": list(self.order),
            "steps": [_step_table(step) for step in self.steps],
            "d": self.d,
            "format": self.format.name,
        }

    def blocks(self) -> list[Block]:
        """What its text and its HTML show."""
        head = headline(self.model, self.operation, self.parameters)
        return [head, *(block for step in self.steps for block in step_blocks(step))]

    def text(self) -> str:
        """For a terminal: tables, and bit pictures of the aligned terms."""
        return text(self.blocks())

    def html(self) -> str:
        """A page of its own, without anything from elsewhere."""
        blocks = self.blocks()
        return page(blocks[0].text if isinstance(blocks[0], Heading) else self.model, blocks)

    def html_body(self, below: int = 0) -> Markup:
        """The same without head and style, for a page that has `golden.html.STYLE`.

        Args:
            below: level of the heading of the page that it stands under.
        """
        return body(self.blocks(), below)

    def __str__(self) -> str:
        return self.text()


def _step_table(step: Step) -> dict[str, Any]:
    parts = [{"part": type(part).__name__.lower(), **_plain(asdict(part), part)} for part in step.parts]
    return {**asdict(step), "parts": parts}


def _plain(table: dict[str, Any], part: Any) -> dict[str, Any]:
    """The fields of a record, with every `Exact` as a table."""
    return {key: _value(getattr(part, key), value) for key, value in table.items()}


def _value(field: Any, value: Any) -> Any:
    if isinstance(field, Exact):
        return field._asdict()
    if isinstance(field, tuple) and field and not isinstance(field[0], str):
        return [_plain(inner, record) for inner, record in zip(value, field, strict=True)]
    return list(field) if isinstance(field, tuple) else value
