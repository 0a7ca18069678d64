"""The first mismatch made small: fewest terms other than zero, simplest values, and the design still fails in the same way.

The design is asked again, in the same simulation, for batches of candidates: in every round each of them is simpler than
what is known to fail, and the simplest of those that fail too is the next to start from.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.comparison import Compare, Judge
from cosim.bench.mismatch import UNDEFINED, ComparedRow, class_name
from cosim.bench.products import DotProducts, Element, Vector
from cosim.bench.simpler import Formats, Row, cost, with_fewer_terms, with_simpler_values
from cosim.bench.stimulus import operand_widths, unit_transfers
from golden import Unit
from golden.arrays import bits_dtype
from golden.stimulus import Operands, Stimulus

Ask = Callable[[Sequence[Vector]], Awaitable[Sequence[int | str]]]
"""Gives the design's result for each vector; fewer results where the design stopped giving any."""

MAX_ASKED = 20_000
"""Vectors that the design is asked for at most."""

BATCH = 512
"""Candidates of one round."""


@dataclass(frozen=True, kw_only=True)
class Minimised:
    """A mismatch, as small as was found.

    Attributes:
        row: operands, got and expected: the smallest, or the first mismatch itself.
        reproduced: whether the first mismatch fails when it is sent alone.
        asked: vectors that the design was asked for.
        note: what there is to say of it, in a line.
    """

    row: ComparedRow
    reproduced: bool
    asked: int
    note: str

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "Minimised":
        """The one that `as_dict` made this of."""
        return cls(**{**table, "row": ComparedRow.from_dict(table["row"])})

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


async def minimised(ask: Ask, vector: Vector, element: Element, original: ComparedRow, compare: Compare) -> Minimised:
    """The first mismatch, minimised.

    Args:
        ask: asks the design.
        vector, element: the first mismatch: what was sent, and which of its elements differs.
        original: that element as a record.
        compare: what may differ on purpose.
    """
    search = _Search.of(ask, vector, element, original, compare)
    if search is None:
        return Minimised(row=original, reproduced=False, asked=0, note="as it came: only vectors of units are minimised")
    if not await search.fails_alone(search.row_of(original)):
        note = "as it came: sent alone it is not wrong, so it is a matter of what came before it or beside it, or of stalls"
        return Minimised(row=original, reproduced=False, asked=search.asked, note=note)
    await search.run()
    if not await search.fails_alone(search.smallest):
        return Minimised(
            row=original, reproduced=True, asked=search.asked, note="as it came: what is smaller fails in company only"
        )
    return search.result()


class _Search:
    """The smallest row that is known to fail, and the way to smaller ones."""

    def __init__(
        self, ask: Ask, vector: Vector, place: int, products: DotProducts, original: ComparedRow, judge: Judge
    ) -> None:
        self._ask, self._vector, self._place, self._products, self._judge = ask, vector, place, products, judge
        self._original = original
        a, b = products.formats
        self._formats = Formats(a, b, products.operation.c, products.operation.scale_format)
        self._way = self._kind(original.got, original.expected)
        self.smallest = self.row_of(original)
        self._found: dict[Row, tuple[int | str, int]] = {}
        self.asked = 0

    @classmethod
    def of(cls, ask: Ask, vector: Vector, element: Element, original: ComparedRow, compare: Compare) -> "_Search | None":
        """The search for a vector of a unit, or of several; None for tiles and specifications of one's own."""
        products = element.products
        if not isinstance(products, DotProducts) or not isinstance(getattr(products.dot, "__self__", None), Unit):
            return None
        place = next(number for number, each in enumerate(vector.elements) if each is element)
        return cls(ask, vector, place, products, original, Judge(compare))

    @staticmethod
    def row_of(compared: ComparedRow) -> Row:
        """The operands of a record."""
        return Row(compared.a, compared.b, compared.c, compared.scale_a or (), compared.scale_b or ())

    async def fails_alone(self, row: Row) -> bool:
        """Whether a row fails, in the same way, where nothing else is sent."""
        return bool(await self._failing([row]))

    async def run(self) -> None:
        """Smaller and smaller, until nothing smaller fails or enough was asked."""
        better = True
        while better:
            better = await self._descend(with_fewer_terms)
            better = await self._descend(with_simpler_values) or better

    async def _descend(self, smaller: Callable[[Row, Formats], Iterator[Row]]) -> bool:
        """Go on to the simplest of the candidates that fail, as long as there is one."""
        moved = False
        while self.asked < MAX_ASKED:
            least = self._cost(self.smallest)
            rows = dict.fromkeys(smaller(self.smallest, self._formats))
            candidates = [row for row in rows if self._cost(row) < least]
            failing: list[Row] = []
            for start in range(0, len(candidates), BATCH):
                failing += await self._failing(candidates[start : start + BATCH])
            if not failing:
                break
            self.smallest = min(failing, key=self._cost)
            moved = True
        return moved

    def _cost(self, row: Row) -> tuple[int, int]:
        return cost(row, self._formats)

    async def _failing(self, rows: Sequence[Row]) -> list[Row]:
        """Those of the rows for which the design is wrong in the same way."""
        if not rows:
            return []
        products = self._asked_for(rows)
        self.asked += len(rows)
        results = await self._ask([self._vector_of(products, row) for row in range(len(rows))])
        failing = []
        for number, (row, result) in enumerate(zip(rows, results, strict=False)):
            got, expected = self._element_of(result), products.expected[number]
            if not products.agrees(number, got, self._judge) and self._kind(got, expected) == self._way:
                self._found[row] = (got, expected)
                failing.append(row)
        return failing

    def _asked_for(self, rows: Sequence[Row]) -> DotProducts:
        """Rows with golden's results."""
        f = self._formats

        def codes(name: str, dtype: Any) -> Any:
            return np.array([getattr(row, name) for row in rows], dtype)

        scales = [None if f.scale is None else codes(name, bits_dtype(f.scale)) for name in ("scale_a", "scale_b")]
        operands = Operands(codes("a", bits_dtype(f.a)), codes("b", bits_dtype(f.b)), codes("c", bits_dtype(f.c)), *scales)
        stimulus = Stimulus(operands, np.zeros(len(rows), np.uint8), ("minimised",))
        return replace(self._products, stimulus=stimulus, expected=self._products.dot(*operands).tolist())

    def _vector_of(self, products: DotProducts, row: int) -> Vector:
        """A row at the place of the first mismatch; other elements of the vector are zero, other ports as they were."""
        widths = operand_widths(products.operation)
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
        """In which way a result is wrong: number, infinity or NaN for which of them, and whether it is a zero's sign."""
        d = self._products.operation.d
        kinds = [class_name(code, d) for code in (got, expected)]
        kind = [name if name in ("infinity", "nan", UNDEFINED) else "number" for name in kinds]
        return kind[0], kind[1], kinds[0] == kinds[1] == "zero"

    def result(self) -> Minimised:
        """What was found."""
        row, (got, expected) = self.smallest, self._found[self.smallest]
        scaled = self._formats.scale is not None
        compared = replace(
            self._original, a=row.a, b=row.b, c=row.c, scale_a=row.scale_a if scaled else None,
            scale_b=row.scale_b if scaled else None, got=got, expected=expected,
        )  # fmt: skip
        terms, _ = self._cost(row)
        before, _ = self._cost(self.row_of(self._original))
        enough = ", enough asked" if self.asked >= MAX_ASKED else ""
        note = f"minimised from {before} terms that are not zero to {terms}, {self.asked:,} vectors asked{enough}"
        return Minimised(row=compared, reproduced=True, asked=self.asked, note=note)
