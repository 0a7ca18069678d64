"""The tables `[matrix]` and `[beats]` of a `dut.toml`: shared operands, and dot products that take several transfers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from golden import Unit
from golden.checks import check_choice, check_int, unknown
from golden.units.unit import MAX_SIDE
from rtl.designs.product_design import ProductDesign

MOST_BEATS = 64
"""Largest number of transfers of a dot product."""

MOST_CYCLES = 1024
"""Largest number of cycles from one transfer to the next."""

MARKS = ("first", "last", "load", "clear")
"""The inputs that mark a transfer (first, last), or are high for a cycle of their own before the first (load, clear)."""

TRANSPOSABLE = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Matrix:
    """D = A·B + C with shared operands: every row of A meets every column of B.

    Attributes:
        rows, columns: of D.
        columns_first: the operands whose elements follow one another down the columns; all others along the rows.
        d: what a result holds: "all" elements, one of the "rows", or one of the "elements", in the order of d.
    """

    rows: int = 1
    columns: int = 1
    columns_first: tuple[str, ...] = ()
    d: str = "all"

    def __post_init__(self) -> None:
        check_int("[matrix] rows", self.rows, 1, MAX_SIDE)
        check_int("[matrix] columns", self.columns, 1, MAX_SIDE)
        for name in self.columns_first:
            if name not in TRANSPOSABLE:
                raise ValueError(unknown("[matrix] columns_first", name, TRANSPOSABLE))
        check_choice("[matrix] d", self.d, ("all", "rows", "elements"))

    @property
    def parts(self) -> int:
        """Number of results that d comes in."""
        sides = (self.columns, self.rows) if "d" in self.columns_first else (self.rows, self.columns)
        return {"all": 1, "rows": sides[0], "elements": self.rows * self.columns}[self.d]

    def order(self, operand: str, length: int) -> list[int] | None:
        """For each element of an operand of a transfer, in this project's order, its place in the design's.

        Args:
            length: products of the transfer.
        """
        m, n = self.rows, self.columns
        by_columns = operand in self.columns_first
        if operand == "a":
            return [k * m + i if by_columns else i * length + k for i in range(m) for k in range(length)]
        if operand == "b":
            return [j * length + k if by_columns else k * n + j for j in range(n) for k in range(length)]
        if operand in ("c", "d"):
            return [j * m + i if by_columns else i * n + j for i in range(m) for j in range(n)]
        return None


@dataclass(frozen=True, kw_only=True)
class Beats:
    """A dot product that takes several transfers of L products; the design keeps the sum.

    Attributes:
        counts: the numbers of transfers that are drawn.
        marks: the design's inputs by `MARKS`.
        interval: least number of cycles from one transfer to the next.
        results: "last": the design gives one result for a dot product. "each": one for every transfer.
        start: "c", "zero" or "product": what the first product is added to; the last is nothing.
        flags: "all" or "last": the transfers whose exception flags a result has.
    """

    counts: tuple[int, ...]
    marks: Mapping[str, str] = field(default_factory=dict)
    interval: int = 1
    results: str = "last"
    start: str = "c"
    flags: str = "all"

    def __post_init__(self) -> None:
        check_int("[beats] interval", self.interval, 1, MOST_CYCLES)
        check_choice("[beats] results", self.results, ("last", "each"))
        check_choice("[beats] start", self.start, ("c", "zero", "product"))
        check_choice("[beats] flags", self.flags, ("all", "last"))
        if {"load", "clear"} <= set(self.marks):
            raise ValueError("[beats] has load, which takes c, or clear, which begins at +0, and not both")

    @property
    def before(self) -> str | None:
        """The mark that has a cycle of its own, or None."""
        return next((mark for mark in ("load", "clear") if mark in self.marks), None)


def matrix_of(table: Mapping[str, Any]) -> Matrix:
    """The table `[matrix]`.

    Raises:
        ValueError, TypeError: a key that is unknown or out of range; the message names key, rule and value.
    """
    known = ("rows", "columns", "columns_first", "d")
    for key in table:
        if key not in known:
            raise ValueError(unknown("[matrix] key", key, known))
    given = dict(table)
    columns_first = given.pop("columns_first", [])
    if not isinstance(columns_first, list):
        raise ValueError(f'[matrix] columns_first must be a list like ["b"], got {columns_first!r}')
    return Matrix(**given, columns_first=tuple(columns_first))


def beats_of(table: Mapping[str, Any], has_c: bool) -> Beats:
    """The table `[beats]`; errors as `matrix_of`.

    Args:
        has_c: whether the design has c.
    """
    known = ("count", *MARKS, "interval", "results", "start", "flags")
    for key in table:
        if key not in known:
            raise ValueError(unknown("[beats] key", key, known))
    for mark in MARKS:
        if mark in table and (not isinstance(table[mark], str) or not table[mark]):
            raise ValueError(f'[beats] {mark} must be an input like "{mark}_i", got {table[mark]!r}')
    marks = {mark: table[mark] for mark in MARKS if mark in table}
    given = {key: table[key] for key in ("interval", "results", "start", "flags") if key in table}
    start = given.pop("start", "c" if has_c else "zero")
    if (start == "c") != has_c:
        fix = "the design has c" if has_c else '[operands] c = "none"'
        raise ValueError(f"[beats] start must be {'c' if has_c else 'zero or product'}, because {fix}; got {start!r}")
    if "load" in marks and not has_c:
        raise ValueError('[beats] load takes c, and [operands] has c = "none": its name is clear')
    if "clear" in marks and has_c:
        raise ValueError('[beats] clear begins at +0: set [operands] c = "none"; a design that takes c has load')
    return Beats(counts=_counts(table.get("count")), marks=marks, start=start, **given)


def _counts(given: Any) -> tuple[int, ...]:
    if isinstance(given, dict) and set(given) == {"from", "to"}:
        check_int("[beats] count from", given["from"], 1, MOST_BEATS)
        check_int("[beats] count to", given["to"], given["from"], MOST_BEATS)
        return tuple(range(given["from"], given["to"] + 1))
    if given is None or isinstance(given, dict):
        raise ValueError(f"[beats] count must be a number or {{from = 1, to = 16}}, got {given!r}")
    check_int("[beats] count", given, 1, MOST_BEATS)
    return (int(given),)


def product_design(unit: Unit, matrix: Matrix | None, beats: Beats | None, products: int | None) -> ProductDesign:
    """The reference of a design with these tables.

    Args:
        products: of a transfer; None for those of the unit's step, or of its table [sums].

    Raises:
        TypeError, ValueError: a dot product that the unit does not compute.
    """
    shape = matrix or Matrix()
    counts = (1,) if beats is None else beats.counts
    length = products or (unit.operation.length if unit.sums is None else unit.usual_K)
    lengths, step = tuple(count * length for count in counts), unit.operation.length
    for choice in unit.choices:
        for K in lengths:
            choice.unit.chain_over(K)
    last = length if beats is not None and beats.flags == "last" else 0
    if last % step:
        raise ValueError(f'[beats] flags = "last" needs transfers of whole steps, of {step} products each; got {last}')
    return ProductDesign(unit, shape.rows, shape.columns, lengths, last_flags=last)
