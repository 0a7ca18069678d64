"""The trace of one dot product, and its three forms: text, HTML and JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from golden import html
from golden.arithmetic.format import Format
from golden.html import Markup, element
from golden.text import table
from golden.trace.layout import BitRow, Block, Facts, Heading, Picture, Table, headline, step_blocks
from golden.trace.records import Exact, Step


def page(title: str, blocks: Sequence[Block]) -> str:
    """A complete page. The first block, a heading, is its title."""
    return html.page(title, body(blocks[1:]))


def body(blocks: Sequence[Block], below: int = 0) -> Markup:
    """The trace as a fragment for a page with `golden.html.STYLE`.

    Args:
        below: level of the page's heading above the fragment.
    """
    return element("section", *(_element(block, below) for block in blocks))


def _element(block: Block, below: int) -> Markup:
    match block:
        case Heading(words, level):
            return element(f"h{level + below}", words)
        case Facts(lines):
            rows = (element("tr", element("th", word, scope="row"), element("td", _code(what))) for word, what in lines)
            return html.wide(element("table", *rows), ", ".join(word for word, _ in lines))
        case Table(header, rows):
            return html.table(header, [(row[0], *map(_code, row[1:])) for row in rows], f"{header[0]}s")
        case Picture(rows):
            cells = [(row.name, row.sign, _bits(row), row.note) for row in rows]
            return html.table(("aligned", "sign", "bits | cut off", ""), cells, "aligned terms, and their total")


def _code(text: str) -> Markup:
    return element("code", text)


def _bits(row: BitRow) -> Markup:
    """A bit picture: leading zeros are pale, and the bits that alignment dropped follow a bar."""
    zeros = len(row.bits) - len(row.bits.lstrip("·."))
    shown = [element("span", row.bits[:zeros], class_="soft"), row.bits[zeros:]]
    cut = [element("span", f"|{row.cut}", class_="failed")] if row.cut else []
    return element("code", *shown, *cut, style="white-space: pre")


INDENT = "  "


def text(blocks: Sequence[Block]) -> str:
    """All blocks of a trace as lines of text."""
    return "\n".join(line for block in blocks for line in _lines(block)) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(words, level):
            return [words] if level == 1 else ["", words] if level == 2 else ["", f"{INDENT}{words}"]
        case Facts(lines):
            return [f"{INDENT}{word:<12} {what}".rstrip() for word, what in lines]
        case Table(header, rows):
            return [f"{INDENT}{line}" for line in table([header, *rows]).splitlines()]
        case Picture(rows):
            cells = [(r.name, r.sign, f"{r.bits}|{r.cut}" if r.cut else r.bits, r.note) for r in rows]
            *terms, total = table(cells).splitlines()
            rule = "-" * max(map(len, (*terms, total)))
            return [f"{INDENT}{line}" for line in (*terms, rule, total)]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The computation of one dot product, step by step.

    Attributes:
        model: name of the unit or instruction. operation: name of the operation. parameters: its keys.
        order: the indices k in the order in which the steps take them.
        chain: the keys of the table [chain] that are not at their defaults.
        steps: the steps of the chain, and the additions after them, such as that of c.
        d: the result's code. format: the result's format.
    """

    model: str
    operation: str
    parameters: dict[str, str | int]
    order: tuple[int, ...]
    steps: tuple[Step, ...]
    d: int
    format: Format
    chain: Mapping[str, str | bool] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The trace as values for JSON: exact numbers as {"sig", "exp"}, sig · 2**exp; `part` names the kind of a part."""
        return {
            "model": self.model,
            "operation": self.operation,
            "parameters": self.parameters,
            **({"chain": dict(self.chain)} if self.chain else {}),
            "order": list(self.order),
            "steps": [_step_table(step) for step in self.steps],
            "d": self.d,
            "format": self.format.name,
        }

    def blocks(self) -> list[Block]:
        """The contents of the text and of the HTML."""
        head = headline(self.model, self.operation, self.parameters, self.chain)
        return [head, *(block for step in self.steps for block in step_blocks(step))]

    def text(self) -> str:
        """The trace as text: tables, and bit pictures of the aligned terms."""
        return text(self.blocks())

    def html(self) -> str:
        """The trace as a self-contained HTML page."""
        blocks = self.blocks()
        return page(blocks[0].text if isinstance(blocks[0], Heading) else self.model, blocks)

    def html_body(self, below: int = 0) -> Markup:
        """The trace as an HTML fragment for a page with `golden.html.STYLE`.

        Args:
            below: level of the page's heading above the fragment.
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
