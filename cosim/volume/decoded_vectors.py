"""Decoder of the vectors in a program's outcome: operands, results and classes of the stimulus."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cosim.bench.mismatch import Arrival, ComparedRow, compared_row
from cosim.bench.products import Bits, Chunk, DotProducts, EchoRows, Element, Further, Mask, Selected, Vector
from cosim.bench.stimulus import Specification, place, place_in_matrix
from cosim.volume.design_plan import Product, products_of
from golden import Format
from golden.arrays import bits_dtype
from golden.stimulus import Operands, Stimulus
from golden.units.controls import ZERO_POINTS
from golden.units.selection import CODE_BITS, PAIRS_OF_FOUR
from rtl.designs.design import Design
from rtl.designs.product_design import ProductDesign
from rtl.designs.tile_design import TileDesign

Row = Mapping[str, Any]
"""A row of a program's outcome, as native/json.cpp writes it."""


@dataclass(frozen=True)
class Codes:
    """The operands of one dot product, as in `ComparedRow`."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    scale_a: tuple[int, ...] | None
    scale_b: tuple[int, ...] | None
    mask: tuple[int, ...] | None = None
    metadata: tuple[int, ...] | None = None
    sent_b: tuple[int, ...] = ()
    further: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def ports(self, design: Design) -> dict[str, tuple[int, ...]]:
        """The codes of a design's mask, metadata with the b that they select from, random bits and zero points, by port."""
        found = {} if self.mask is None else {design.mask: self.mask}
        found |= {} if self.metadata is None else {design.metadata: self.metadata, "b": self.sent_b}
        return found | dict(self.further)


class Decoder:
    """The decoder of rows of one design.

    Args:
        results: dot products in a vector.
        classes: name of each class of the stimulus, by number.
    """

    def __init__(self, design: Design, results: int, classes: Mapping[int, str]) -> None:
        self._design, self._results, self._classes = design, results, classes
        self._products = products_of(design)

    def echo(self, row: Row) -> tuple[Element, int] | None:
        """The output above d that a row is about, with what it returned; None if the row is about d."""
        product = self._products[row["product"]]
        number = int(row["element"]) - self._results * product.m * product.n
        if number < 0:
            return None
        echo = self._design.echoes[number]
        of = Element(self.alone({**row, "element": 0}), 0) if echo.flags else None
        rows = EchoRows(echo, int(row["transfers"][-1][echo.port], 16), of)
        return Element(rows, 0, echo.name), int(row["got"], 16) >> echo.low & (1 << echo.width) - 1

    def compared(self, row: Row) -> ComparedRow:
        """The compared element of a row."""
        returned = self.echo(row)
        if returned is not None:
            return compared_row(row["vector"], *returned, Arrival(row["cycle"], float(row["time"])))
        product, element = self._products[row["product"]], int(row["element"])
        codes = self.codes(row, element)
        width = product.operation.d.width
        return ComparedRow(
            vector=row["vector"],
            place=self._place(product, element),
            products=product.name,
            stimulus_class=self._classes[row["label"]],
            a=codes.a,
            b=codes.b,
            c=codes.c,
            scale_a=codes.scale_a,
            scale_b=codes.scale_b,
            got=int(row["got"], 16) >> element * width & (1 << width) - 1,
            expected=row["expected"][element],
            cycle=row["cycle"],
            time=float(row["time"]),
            ports=codes.ports(self._design),
        )

    def codes(self, row: Row, element: int) -> Codes:
        """The operands of an element of the row's vector."""
        p = self._products[row["product"]]
        transfers = [{port: int(code, 16) for port, code in transfer.items()} for transfer in row["transfers"]]
        copy, cell = divmod(element, p.m * p.n)
        passed, line = divmod(cell // p.n, p.rows)
        i, j = copy * p.rows + line, copy * p.n + cell % p.n
        scale = p.shape.scale

        def part(operand: str, kind: Format, transfer: Mapping[str, int], first: int, count: int) -> tuple[int, ...]:
            """Elements of an operand, from the port that it comes from."""
            if operand not in p.operation.operands:
                return (0,) * count
            port, is_negated = p.source(operand)
            return tuple(
                code ^ (kind.negative_zero * is_negated) for code in _codes(transfer[port], kind.width, first, count)
            )

        of_a, of_b = transfers[passed :: p.passes], transfers[:: p.passes]

        def scales_of(name: str, line: int) -> tuple[int, ...] | None:
            """The scales of a row or column, ones where the operation has none on that side."""
            if scale is None:
                return None
            if name not in p.operation.scale_operands:
                return (scale.encode(1),) * p.shape.blocks
            return _scales(p, scale, [t[name] for t in (of_a if name == "scale_a" else of_b)], line)

        L, mask = p.products_per_step, self._design.mask
        metadata: tuple[int, ...] | None = None
        sent_b: tuple[int, ...] = ()
        if not self._design.metadata:
            b = _in_order(p, [part("b", p.b, t, j * L, L) for t in of_b])
        else:
            metadata = _codes(transfers[0][self._design.metadata], CODE_BITS, element * L // 2, L // 2)
            sent_b = part("b", p.b, transfers[0], element * 2 * L, 2 * L)
            b = tuple(sent_b[4 * group + place] for group, code in enumerate(metadata) for place in PAIRS_OF_FOUR[code])
        return Codes(
            a=_in_order(p, [part("a", p.a, t, i * L, L) for t in of_a]),
            b=b,
            metadata=metadata,
            sent_b=sent_b,
            c=part("c", p.operation.c, of_b[p.c_step], element, 1)[0],
            mask=_codes(transfers[0][mask], 1, element * L, L) if mask else None,
            further={
                port.name: _codes(transfers[0][port.name], port.width // port.count, element * port.count, port.count)
                for port in self._design.ports
                if port.name in self._design.further
            },
            scale_a=scales_of("scale_a", i),
            scale_b=scales_of("scale_b", j),
        )

    def vector(self, row: Row) -> Vector:
        """The whole vector of a row, with results that golden computes again."""
        product = self._products[row["product"]]
        count = self._results * product.m * product.n
        codes = [self.codes(row, element) for element in range(count)]
        names = (self._classes[row["label"]].rpartition(": ")[2],)
        stimulus = Stimulus(_operands(product, codes), np.zeros(count, np.uint8), names)
        rows = self._rows(row, codes, stimulus, [])
        rows = replace(rows, expected=rows.computed())
        transfers = [{port: int(code, 16) for port, code in transfer.items()} for transfer in row["transfers"]]
        return Vector(transfers, [Element(rows, e, self._place(product, e)) for e in range(count)], row["vector"])

    def alone(self, row: Row) -> DotProducts:
        """The element of a row as rows of one, with the result that the program expected."""
        product = self._products[row["product"]]
        codes = [self.codes(row, row["element"])]
        stimulus = Stimulus(
            _operands(product, codes), np.zeros(1, np.uint8), (self._classes[row["label"]].rpartition(": ")[2],)
        )
        expected = [row["expected"][row["element"]]]
        return self._rows(row, codes, stimulus, expected)

    def _rows(self, row: Row, codes: Sequence[Codes], stimulus: Stimulus, expected: Sequence[int]) -> DotProducts:
        product, dot = self._products[row["product"]], self._model(row["product"]).dot
        mask = Mask(self._design.mask, np.array([each.mask for each in codes], np.uint8)) if self._design.mask else None
        formats, further = (product.a, product.b), list[Further]()
        unit = self._design.choices[row["product"]].unit if self._design.further else None
        for control in () if unit is None else unit.controls:
            given = np.array([each.further[control.port] for each in codes], np.uint64)
            if control.random is not None:
                further.append(Further(control.key, control.port, given[:, 0], control.width))
            else:
                kind = getattr(unit, ZERO_POINTS[control.key])
                further.append(Further(control.key, control.port, given.astype(bits_dtype(kind)), kind.width))
        named = (product.name, product.operation, stimulus, dot, expected, formats)
        selected = None
        if self._design.metadata:
            of_rows = np.array([each.metadata for each in codes], np.uint8), np.array([each.sent_b for each in codes])
            selected = Selected(self._design.metadata, of_rows[0], of_rows[1].astype(bits_dtype(product.b)))
        return DotProducts(*named, places=product.places, mask=mask, further=tuple(further), selected=selected)

    def result(self, row: Row) -> Format | Bits:
        """The format of the row's result."""
        returned = self.echo(row)
        return returned[0].products.result if returned is not None else self._products[row["product"]].operation.d

    def _place(self, product: Product, element: int) -> str:
        """The place of an element in the result, as text."""
        if isinstance(self._design, TileDesign | ProductDesign):
            return place_in_matrix(element // product.n, element % product.n, product.m * product.n)
        return place(element, self._results)

    def _model(self, product: int) -> Any:
        """Golden's model of one kind of dot product."""
        if isinstance(self._design, TileDesign):
            return self._design.instruction
        return self._design.choices[product].unit


@dataclass(frozen=True)
class GivenVectors(Specification):
    """A specification that repeats vectors which a program has sent before."""

    sent: Sequence[Vector]

    @classmethod
    def of(cls, design: Design, results: int, given: Mapping[str, Any]) -> "GivenVectors":
        """The specification of the vectors in `cosim.runner.job.Job.given`."""
        classes = {int(label): name for label, name in given["classes"].items()}
        decoder = Decoder(design, results, classes)
        return cls([decoder.vector(row) for row in given["rows"]])

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate all decoded vectors, as one chunk."""
        yield Chunk(self.sent, [vector.elements[0].products for vector in self.sent])


def _codes(port: int, width: int, first: int, count: int) -> tuple[int, ...]:
    """`count` elements of a port, from element `first` on."""
    mask = (1 << width) - 1
    return tuple(port >> k * width & mask for k in range(first, first + count))


def _in_order(product: Product, steps: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Sort the elements of all steps by k."""
    placed = dict(zip(product.order, (code for step in steps for code in step), strict=True))
    return tuple(placed[k] for k in range(len(placed)))


def _scales(product: Product, scale: Format, steps: Sequence[int], line: int) -> tuple[int, ...]:
    """The scales of a row or column; several steps may use the same scale."""
    found, count = dict[int, int](), len(product.taken_blocks) // product.steps
    for step, port in enumerate(steps):
        blocks = product.taken_blocks[step * count : (step + 1) * count]
        found |= dict(zip(blocks, _codes(port, scale.width, line * count, count), strict=True))
    return tuple(found[block] for block in sorted(found))


def _operands(product: Product, codes: Sequence[Codes]) -> Operands:
    scale = product.shape.scale
    scales = [
        None if scale is None else np.array([getattr(each, name) for each in codes], bits_dtype(scale))
        for name in ("scale_a", "scale_b")
    ]
    return Operands(
        np.array([each.a for each in codes], bits_dtype(product.a)),
        np.array([each.b for each in codes], bits_dtype(product.b)),
        np.array([each.c for each in codes], bits_dtype(product.operation.c)),
        scales[0],
        scales[1],
    )
