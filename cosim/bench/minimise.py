"""Minimises the first mismatch: fewest terms other than zero and simplest values with which the design still fails in the
same way.

The design is asked again, in the same simulation, for the rows that the search of `golden.stimulus.shrink` proposes.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np

from cosim.bench.assumed import ALL, Assumed
from cosim.bench.comparison_rules import Compare, Judge
from cosim.bench.mismatch import UNDEFINED, ComparedRow, Minimised, class_name
from cosim.bench.products import DotProducts, Element, Vector
from cosim.bench.stimulus import is_in_matrix, unit_transfers
from golden import Unit
from golden.stimulus import OperandShape, Row, Stimulus, operands_of
from golden.stimulus.shrink import MAX_ASKED, cost, search
from golden.units.controls import Source
from golden.units.selection import CODE_BITS
from rtl.designs.ports import step_operands

Ask = Callable[[Sequence[Vector]], Awaitable[Sequence[int | str]]]
"""Function that returns the design's result for each vector; it returns fewer results where the design stopped giving
any."""

AGREES_ALONE = "not minimised: sent alone it agrees, so it depends on the vectors before or beside it, or on stalls"
"""The note of a mismatch that does not differ when it is sent by itself."""


async def minimised(
    ask: Ask, vector: Vector, element: Element, original: ComparedRow, compare: Compare, assumed: Assumed = ALL
) -> Minimised:
    """The first mismatch, minimised.

    Args:
        ask: asks the design.
        vector, element: the first vector with a mismatch, and its element that differs.
        original: that element as a record.
        compare: permitted differences. assumed: the operands that the design must take.
    """
    search = _Search.of(ask, vector, element, original, compare, assumed)
    if search is None:
        return Minimised(
            row=original, reproduced=False, asked=0, note="not minimised: only vectors of a unit can be minimised"
        )
    if not await search.fails_alone(search.row_of(original)):
        return Minimised(row=original, reproduced=False, asked=search.asked, note=AGREES_ALONE)
    await search.run()
    if not await search.fails_alone(search.smallest):
        note = "not minimised: smaller vectors differ only when other vectors precede them"
        return Minimised(row=original, reproduced=True, asked=search.asked, note=note)
    return search.result()


class _Search:
    """The search for the smallest row that fails, and what the design gave for the rows that fail."""

    def __init__(
        self, ask: Ask, vector: Vector, place: int, products: DotProducts, original: ComparedRow, judge: Judge
    ) -> None:
        self._ask, self._vector, self._place, self._products, self._judge = ask, vector, place, products, judge
        self._original, self._row = original, vector.elements[place].row
        a, b = products.formats
        self._shape = replace(OperandShape.of_operation(products.operation, len(original.a)), a=a, b=b)
        self._failure = self._kind(original.got, original.expected)
        self.smallest = self.row_of(original)
        self._found: dict[Row, tuple[int | str, int]] = {}
        self.asked = 0

    @classmethod
    def of(
        cls, ask: Ask, vector: Vector, element: Element, original: ComparedRow, compare: Compare, assumed: Assumed
    ) -> "_Search | None":
        """The search for a vector of one or several units; None for tiles, matrices and specifications by the user."""
        products = element.products
        if not isinstance(products, DotProducts) or not isinstance(getattr(products.dot, "__self__", None), Unit):
            return None
        place = next(number for number, each in enumerate(vector.elements) if each is element)
        if is_in_matrix(element.place):
            return None
        within = replace(products, assumed=assumed.of(products.operation, products.places))
        return cls(ask, vector, place, within, original, Judge(compare))

    @staticmethod
    def row_of(compared: ComparedRow) -> Row:
        """The operands of a record."""
        return Row(compared.a, compared.b, compared.c, compared.scale_a or (), compared.scale_b or ())

    async def fails_alone(self, row: Row) -> bool:
        """Whether a row fails in the same way where nothing else is sent, also when it comes a second time: what the design
        holds from before the first may be the reason why that fails."""
        return bool(await self._failing([row])) and bool(await self._failing([row]))

    async def run(self) -> None:
        """Search until no smaller row fails, or `MAX_ASKED` rows were asked."""
        proposals = search(self.smallest, self._shape)
        try:
            rows = next(proposals)
            while True:
                failing = set(await self._failing(rows))
                rows = proposals.send([row in failing for row in rows])
        except StopIteration as end:
            self.smallest = end.value

    async def _failing(self, rows: Sequence[Row]) -> list[Row]:
        """Those of the rows that the design must take and for which it is wrong in the same way."""
        if not rows:
            return []
        products = self._asked_for(rows)
        taken = np.flatnonzero(products.is_taken)
        rows, products = [rows[at] for at in taken.tolist()], products.rows(taken)
        self.asked += len(rows)
        results = await self._ask([self._vector_of(products, row) for row in range(len(rows))])
        failing = []
        for number, (row, result) in enumerate(zip(rows, results, strict=False)):
            got, expected = self._element_of(result), products.expected[number]
            if not products.agrees(number, got, self._judge) and self._kind(got, expected) == self._failure:
                self._found[row] = (got, expected)
                failing.append(row)
        return failing

    def _asked_for(self, rows: Sequence[Row]) -> DotProducts:
        """Rows with the results that golden computes for them."""
        stimulus = Stimulus(operands_of(rows, self._shape), np.zeros(len(rows), np.uint8), ("minimised",))
        mask = self._products.mask and self._products.alone(self._row).mask
        if mask is not None:  # of every row that of the first mismatch
            mask = mask._replace(bits=mask.bits.repeat(len(rows), axis=0))
        first = np.zeros(len(rows), np.int64)
        further = tuple(each.rows(first) for each in self._products.alone(self._row).further)
        selected = self._products.selected and self._products.alone(self._row).selected
        if selected is not None:
            selected = selected.rows(first)
        asked = replace(self._products, stimulus=stimulus, mask=mask, further=further, selected=selected)
        return replace(asked, expected=asked.computed())

    def _vector_of(self, products: DotProducts, row: int) -> Vector:
        """A row at the place of the first mismatch; other elements of the vector are zero, other ports as they were."""
        names = {products.places.get(name, Source(name)).port: e for name, e in step_operands(products.operation).items()}
        widths = {port: elements.width for port, elements in names.items()}
        if products.mask is not None:
            widths[products.mask.port] = products.mask.bits.shape[1]
        for each in products.further:
            widths[each.port] = each.codes[0].size * each.width
        if products.selected is not None:
            widths[products.selected.port] = products.selected.codes.shape[1] * CODE_BITS
            widths["b"] *= 2
        (transfer,) = unit_transfers(replace(products.alone(row)))
        placed = {port: value << self._place * widths[port] for port, value in transfer.items()}
        (sent,) = self._vector.transfers
        return self._vector._replace(transfers=[{**sent, **placed}])

    def _element_of(self, result: int | str) -> int | str:
        """The code of the element that differs."""
        width, place = self._products.result.width, self._place
        if isinstance(result, int):
            return result >> place * width & (1 << width) - 1
        bits = result[len(result) - (place + 1) * width :][:width]
        return int(bits, 2) if set(bits) <= {"0", "1"} else bits

    def _kind(self, got: int | str, expected: int) -> tuple[str, str, bool]:
        """How a result is wrong: the kinds of both results, and whether only the sign of a zero differs."""
        d = self._products.operation.d
        kinds = [class_name(code, d) for code in (got, expected)]
        kind = [name if name in ("infinity", "nan", UNDEFINED) else "number" for name in kinds]
        return kind[0], kind[1], kinds[0] == kinds[1] == "zero"

    def result(self) -> Minimised:
        """The smallest row found, with the result of the design."""
        row, (got, expected) = self.smallest, self._found[self.smallest]
        scaled, beside, selected = self._shape.scale is not None, dict(self._original.ports), self._products.selected
        if selected is not None:
            one = replace(
                self._products.alone(self._row),
                stimulus=Stimulus(operands_of([row], self._shape), np.zeros(1, np.uint8), ("",)),
            )
            beside["b"] = tuple(map(int, one.sent.b[0].tolist()))
        compared = replace(
            self._original, ports=beside, a=row.a, b=row.b, c=row.c, scale_a=row.scale_a if scaled else None,
            scale_b=row.scale_b if scaled else None, got=got, expected=expected,
        )  # fmt: skip
        before, terms = (cost(each, self._shape)[0] for each in (self.row_of(self._original), row))
        enough = ", enough asked" if self.asked >= MAX_ASKED else ""
        fewer = f"from {before} nonzero terms to {terms}" if terms < before else f"with its {terms} nonzero terms"
        note = f"minimised {fewer}, {self.asked:,} vectors tried{enough}"
        return Minimised(row=compared, reproduced=True, asked=self.asked, note=note)
