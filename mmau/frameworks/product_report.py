"""What a run computed: for every kind of product its instruction, its order, its conversions, and who says so."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields

import golden
from golden import html
from golden.text import table

COLUMNS = ("products", "M x N x K", "instruction", "evidence", "order", "order from", "operands", "operands from")


@dataclass(frozen=True)
class ProductRecord:
    """One product of a run.

    Attributes:
        shape: M, N and K. instruction: its label. evidence: that of its model, one of `golden.EVIDENCE`.
        order: the keys of its order that are not the defaults. order_source: who says that the library adds so.
        operands: what is done to the operands before the instruction. operands_source: who says so.
    """

    shape: tuple[int, int, int]
    instruction: str
    evidence: str
    order: str
    order_source: str
    operands: str = "as they are"
    operands_source: str = ""

    def cells(self, count: int) -> tuple[str, ...]:
        """The row of a table, for so many equal products."""
        return (
            str(count), "x".join(map(str, self.shape)), self.instruction, self.evidence, self.order, self.order_source,
            self.operands, self.operands_source,
        )  # fmt: skip


class ProductReport:
    """The products of a run, equal ones counted, as a table: text, and HTML in a notebook."""

    def __init__(self, records: Iterable[ProductRecord]) -> None:
        self.counts = Counter(records)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of each kind of product, in the order in which they came first."""
        return [record.cells(count) for record, count in self.counts.items()]

    def __str__(self) -> str:
        return table([COLUMNS, *self.rows])

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return str(html.table(COLUMNS, self.rows, "matrix products", numbers=[0]))


def order_text(order: golden.GemmOrder) -> str:
    """The keys of an order that are not the defaults, such as `promote_every = 4`; `one chain` without any."""
    default = golden.GemmOrder()
    keys = [field.name for field in fields(order) if field.name != "model"]
    shown = [f"{key} = {getattr(order, key)}" for key in keys if getattr(order, key) != getattr(default, key)]
    return ", ".join(shown) or "one chain"
