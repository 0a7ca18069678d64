"""One row of operands as Python integers, and the places in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import Chain
from golden.checks import check_least, check_type
from golden.engines.engine import Batch, run
from golden.operations import MUL, Operation
from golden.units.model import Model

Tile = tuple[()] | tuple[int, int]
"""The empty tuple for rows, one dot product each; (m, n) for tiles of m rows of A and n columns of B, m·n dot
products each."""


@dataclass(frozen=True, kw_only=True)
class OperandShape:
    """The shape of a dot-product-accumulate: formats and lengths, without its arithmetic, which generators must not know.

    Attributes:
        a, b, c: formats of the operands.
        d: format to whose precision the result is rounded.
        K: products of one row.
        scale: format of the scales, None if unscaled.
        block_size: elements that share a scale, None if unscaled.
        headroom: exponents that a product counts above its own (h of OC- and PS-FDPA), None elsewhere.
        neighbours: products that are added before they are aligned (PS-FDPA's P), 1 elsewhere.
        has_c: whether c is an operand; else it is +0 in every row. adds: whether a and b are terms themselves (ADD).
    """

    a: Format
    b: Format
    c: Format
    d: Format
    K: int
    scale: Format | None = None
    block_size: int | None = None
    headroom: int | None = None
    neighbours: int = 1
    has_c: bool = True
    adds: bool = False

    def __post_init__(self) -> None:
        for key in ("a", "b", "c", "d"):
            check_type(f"{key} of an operand shape", getattr(self, key), Format)
        check_least("K", self.K, 1)
        check_least("neighbours", self.neighbours, 1)
        if (self.scale is None) != (self.block_size is None):
            raise ValueError(
                f"scale and block_size go together; got scale={self.scale}, block_size={self.block_size}"
            )  # fmt: skip
        if self.scale is not None:
            check_type("scale of an operand shape", self.scale, Format)
            check_least("block_size", self.block_size, 1)

    @classmethod
    def of_operation(cls, operation: Operation, K: int | None = None) -> Self:
        """The shape of an operation over K products; of one step if K is None."""
        return cls(
            a=operation.a,
            b=operation.b,
            c=operation.c,
            d=_rounded_to(operation),
            K=operation.length if K is None else K,
            scale=operation.scale_format,
            block_size=operation.block_size,
            has_c="c" in operation.operands,
            adds=operation.structure.adds_elements,
            **_groups(operation),
        )

    @classmethod
    def of(cls, model: Model, K: int | None = None) -> Self:
        """The shape of a unit over K products, by default its `usual_K`, or of one element of an instruction's D."""
        shape = cls.of_operation(model.operation, model.usual_K if K is None else K)
        return replace(shape, a=model.a, b=model.b)

    @property
    def blocks(self) -> int:
        """Number of scales of A (and of B) in one row; 0 if unscaled."""
        return 0 if self.block_size is None else -(-self.K // self.block_size)


def _rounded_to(operation: Operation) -> Format:
    """The format to whose precision d is rounded: d's format, or e8m13 for RZ-E8M13."""
    rho = operation.parameters().get("rho")
    return operation.d if rho is None else conversion(str(rho)).rounding_format


def _groups(operation: Operation) -> dict[str, Any]:
    """The headroom of products, and how many are added before alignment."""
    structure = operation.structure
    return {} if structure.headroom is None else {"headroom": structure.headroom, "neighbours": structure.group or 1}


class Operands(NamedTuple):
    """Bit patterns of many rows, in the order in which `.dot` takes them: a, b [rows, K], c [rows], scales [rows, blocks]
    or None. Of many tiles: a [tiles, m, K], b [tiles, n, K], c [tiles, m, n], scales [tiles, m or n, blocks] or None."""

    a: BitArray
    b: BitArray
    c: BitArray
    scale_a: BitArray | None = None
    scale_b: BitArray | None = None

    def rows(self, index: slice | npt.NDArray[np.integer]) -> "Operands":
        """The rows that `index` selects."""
        return Operands(*(None if array is None else array[index] for array in self))  # type: ignore[arg-type]


def fitted(shape: OperandShape, operands: Operands, as_products: bool) -> Operands:
    """Rows of products and c as rows of what a shape has: without c, and of its a and b, where these are terms themselves.

    Args:
        as_products: whether a becomes the product, and b what was c, so that the two lie as these did.
    """
    if shape.adds and as_products:
        product = MUL(a=shape.a, b=shape.a, rho=f"RZ-{shape.a.name.upper()}")
        terms = run(None, Chain(product), Batch(operands.a, operands.b, operands.c))
        infinity = shape.a.signed_infinity(0)
        is_nan = (terms & shape.a.negative_zero - 1) > infinity
        a = np.where(is_nan, operands.a[:, 0], terms)
        operands = operands._replace(a=a.reshape(-1, 1), b=operands.c.reshape(-1, 1))
    return operands if shape.has_c else operands._replace(c=np.zeros_like(operands.c))


@dataclass(frozen=True)
class Stimulus:
    """Operands, and the generator of every row: `names[label[row]]`."""

    operands: Operands
    label: npt.NDArray[np.uint8]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.label)

    def rows(self, index: slice | npt.NDArray[np.integer]) -> "Stimulus":
        """The rows that `index` selects."""
        return Stimulus(self.operands.rows(index), self.label[index], self.names)

    def counts(self) -> dict[str, int]:
        """Number of rows of each generator, in order of `names`."""
        tally = np.bincount(self.label, minlength=len(self.names))
        return {name: int(count) for name, count in zip(self.names, tally, strict=True)}


def concatenated(parts: Sequence[Stimulus]) -> Stimulus:
    """All rows of all parts, in order."""
    columns = zip(*(part.operands for part in parts), strict=True)
    joined = [None if column[0] is None else np.concatenate(column) for column in columns]
    return Stimulus(Operands(*joined), np.concatenate([part.label for part in parts]), parts[0].names)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Row:
    """The codes of one dot product; scale_a and scale_b are empty if it has no scales."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    scale_a: tuple[int, ...] = ()
    scale_b: tuple[int, ...] = ()


@dataclass(frozen=True)
class Place:
    """An operand of a row: `c`, or element k of `a`, `b`, `scale_a` or `scale_b`."""

    name: str
    k: int = 0

    def code(self, row: Row) -> int:
        """The code at this place in a row."""
        return row.c if self.name == "c" else int(getattr(row, self.name)[self.k])

    def put(self, row: Row, code: int) -> Row:
        """A copy of the row with another code at this place."""
        if self.name == "c":
            return replace(row, c=code)
        codes = getattr(row, self.name)
        return replace(row, **{self.name: (*codes[: self.k], code, *codes[self.k + 1 :])})  # type: ignore[arg-type]

    def format(self, shape: OperandShape) -> Format:
        """The format of the code at this place."""
        found = {"a": shape.a, "b": shape.b, "c": shape.c}.get(self.name, shape.scale)
        assert found is not None
        return found

    def __str__(self) -> str:
        return self.name if self.name == "c" else f"{self.name}[{self.k}]"


def places_of(row: Row) -> list[Place]:
    """Every place of a row: a, b, c and scales."""
    vectors = [Place(name, k) for name in ("a", "b", "scale_a", "scale_b") for k in range(len(getattr(row, name)))]
    return [*vectors, Place("c")]


def rows_of(operands: Operands) -> list[Row]:
    """Each row of operands as integers."""
    columns = [[()] * len(operands.c) if array is None else array.tolist() for array in operands]
    return [
        Row(tuple(a), tuple(b), c, tuple(scale_a), tuple(scale_b))
        for a, b, c, scale_a, scale_b in zip(*columns, strict=True)
    ]


def operands_of(rows: Sequence[Row], shape: OperandShape) -> Operands:
    """Rows (at least one) as arrays of operands."""
    columns = {name: [getattr(row, name) for row in rows] for name in Operands._fields}
    formats = (shape.a, shape.b, shape.c, shape.scale, shape.scale)
    arrays = [
        None if operand is None else np.array(codes, bits_dtype(operand))
        for codes, operand in zip(columns.values(), formats, strict=True)
    ]
    return Operands(*arrays)  # type: ignore[arg-type]
