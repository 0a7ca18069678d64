"""What generators of operands know and give: the shape of a dot product without its arithmetic; operands of many rows as
arrays, one row as Python integers with its places; and tiles, the operands of whole instructions D = A·B + C.

A row, the operands of one dot product, becomes a row of A, a column of B and an element of C of a tile. The element of D
where the three meet is that dot product; all other elements combine the A of one row with the B of another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import Chain
from golden.checks import check_least, check_type
from golden.comparison import is_nan as is_nan_code
from golden.engines.engine import Batch, run
from golden.operations import MUL, Operation
from golden.operations.blocks import SCALES
from golden.stimulus.fixed_point import carrier, codes_of
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
        has_b, has_c: whether b and c are operands; else they are +0 in every row. adds: whether a and b are terms
            themselves (ADD; without b CVT).
        scale_operands: the operands that hold scales; another of `scale_a` and `scale_b` is 1 in every place.
        step: products of a step, where the first steps of some rows should make a chosen accumulator for a later one
            (`built_sums`); 0 where all products are seen as added at once.
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
    has_b: bool = True
    has_c: bool = True
    adds: bool = False
    step: int = 0
    scale_operands: tuple[str, ...] = SCALES["both"]

    def __post_init__(self) -> None:
        for key in ("a", "b", "c", "d"):
            check_type(f"{key} of an operand shape", getattr(self, key), Format)
        check_least("K", self.K, 1)
        check_least("neighbours", self.neighbours, 1)
        if self.step and self.K % self.step:
            raise ValueError(f"K must be a multiple of the {self.step} products of a step, got {self.K}")
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
            has_b="b" in operation.operands,
            has_c="c" in operation.operands,
            adds=operation.structure.adds_elements,
            scale_operands=operation.scale_operands or SCALES["both"],
            **_groups(operation),
        )

    @classmethod
    def of(cls, model: Model, K: int | None = None) -> Self:
        """The shape of a unit over K products, by default its `usual_K`, or of one element of an instruction's D."""
        shape = cls.of_operation(model.operation, model.usual_K if K is None else K)
        return replace(shape, a=model.a, b=model.b)

    @property
    def carried(self) -> Self:
        """The shape with the carriers of formats without fields, in which stimulus is made; itself if it has none."""
        if isinstance(self.a, IntegerFormat) and isinstance(self.c, IntegerFormat):
            return self
        a, b, c, d = map(carrier, (self.a, self.b, self.c, self.d))
        return self if a is self.a and b is self.b and c is self.c else replace(self, a=a, b=b, c=c, d=d)

    def coded(self, a: Any, b: Any, c: Any) -> dict[str, Any]:
        """Codes of a, b and c next to codes of their carriers."""
        return {"a": codes_of(self.a, a), "b": codes_of(self.b, b), "c": codes_of(self.c, c)}

    @property
    def blocks(self) -> int:
        """Number of scales of A (and of B) in one row; 0 if unscaled."""
        return 0 if self.block_size is None else -(-self.K // self.block_size)


def _rounded_to(operation: Operation) -> Format:
    """The format to whose precision d is rounded: d's format, or e8m13 for RZ-E8M13."""
    rho = operation.structure.rho
    return operation.d if rho is None else rho.rounding_format


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
    """Rows of products and c as rows of what a shape has: without c or b, and of its a and b, where these are terms
    themselves.

    Args:
        as_products: whether a becomes the product, and b what was c, so that the two lie as these did.
    """
    if not shape.has_b:
        operands = operands._replace(b=np.zeros_like(operands.b))
    elif shape.adds and as_products:
        product = MUL(a=shape.a, b=shape.a, rho=rounding_to("RZ", shape.a))
        terms = run(None, Chain(product), Batch(operands.a, operands.b, operands.c))
        is_nan = is_nan_code(terms, shape.a)
        a = np.where(is_nan, operands.a[:, 0], terms)
        operands = operands._replace(a=a.reshape(-1, 1), b=operands.c.reshape(-1, 1))
    operands = operands if shape.has_c else operands._replace(c=np.zeros_like(operands.c))
    return operands._replace(**with_missing_ones(shape, operands.scale_a, operands.scale_b))


def with_missing_ones(shape: OperandShape, scale_a: Any, scale_b: Any) -> dict[str, Any]:
    """Scales of both sides as those of a shape: where it has them on one side alone, these are multiplied by the others,
    exactly if one is a power of two, and the others become 1.

    Args:
        scale_a, scale_b: [..., rows or columns, blocks], or [rows, blocks]; None without scales.
    """
    if shape.scale is None or len(shape.scale_operands) == 2:
        return {"scale_a": scale_a, "scale_b": scale_b}
    scale, kept = shape.scale, shape.scale_operands[0]
    codes, others = (scale_a, scale_b) if kept == "scale_a" else (scale_b, scale_a)
    one, largest, mask = scale.encode(1), scale.max_finite, scale.magnitude_mask
    field = codes.astype(np.int64) & mask
    other = (others if others.ndim == 2 else others[..., :1, :]).astype(np.int64) & mask
    moved = np.clip(field + np.where(other > largest, one, other) - one, int(scale.has_zero), largest)
    is_kept = (field > largest) | (scale.has_zero & (field == 0))
    codes = np.where(is_kept, codes, codes & ~np.int64(mask) | moved).astype(codes.dtype)
    missing = {"scale_a": "scale_b", "scale_b": "scale_a"}[kept]
    return {kept: codes, missing: np.full_like(others, one)}


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


def places_of(row: Row, scales: Sequence[str] = SCALES["both"]) -> list[Place]:
    """Every place of a row: a, b, c and those scale operands."""
    vectors = [Place(name, k) for name in ("a", "b", *scales) for k in range(len(getattr(row, name)))]
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


@dataclass(frozen=True)
class Tiles:
    """a [tiles, m, k], b [tiles, n, k], c [tiles, m, n], scales [tiles, m or n, k/K_block] or None: bit patterns."""

    a: Any
    b: Any
    c: Any
    scale_a: Any = None
    scale_b: Any = None

    def __len__(self) -> int:
        return len(self.c)

    def arrays(self) -> list[Any]:
        """The arrays that are not None, in the order of a kernel's arguments."""
        return [array for array in (self.a, self.b, self.c, self.scale_a, self.scale_b) if array is not None]

    def rows(self, xp: Any) -> Operands:
        """The operands of every element of D, as `Instruction.dot` takes them: a, b [tiles, m, n, k], c [tiles, m, n].

        Args:
            xp: the arrays' module, numpy or cupy.
        """
        m, n = self.c.shape[1:]

        def along_columns(array: Any) -> Any:
            return None if array is None else xp.broadcast_to(array[:, :, None, :], (len(self), m, n, array.shape[-1]))

        def along_rows(array: Any) -> Any:
            return None if array is None else xp.broadcast_to(array[:, None, :, :], (len(self), m, n, array.shape[-1]))

        return Operands(
            along_columns(self.a), along_rows(self.b), self.c, along_columns(self.scale_a), along_rows(self.scale_b)
        )

    def part(self, start: int, stop: int) -> "Tiles":
        """The tiles start … stop − 1."""
        return Tiles(*(None if x is None else x[start:stop] for x in (self.a, self.b, self.c, self.scale_a, self.scale_b)))


def tiles_of(rows: Operands, row_of_a: Any, row_of_b: Any, row_of_c: Any) -> Tiles:
    """Tiles whose rows of A, columns of B and elements of C are taken from rows.

    Args:
        rows: a, b [rows, k], c [rows], scales [rows, k/K_block] or None.
        row_of_a, row_of_b, row_of_c: the row that each is taken from, [tiles, m], [tiles, n] and [tiles, m, n].
    """
    scale_a = None if rows.scale_a is None else rows.scale_a[row_of_a]
    scale_b = None if rows.scale_b is None else rows.scale_b[row_of_b]
    return Tiles(rows.a[row_of_a], rows.b[row_of_b], rows.c[row_of_c], scale_a, scale_b)


def places(m: int, n: int) -> int:
    """Number of rows on a diagonal of an m × n tile."""
    return min(m, n)


def on_diagonals(rows: Operands, m: int, n: int, xp: Any, shift: int = 0, below: int = 0) -> Tiles:
    """Tiles that hold each row on a diagonal: row p of a tile in place (p + below·P, (p + shift) mod P) of D, P places.

    Args:
        rows: a multiple of `places` rows.
        m, n: shape of D.
        xp: the rows' module, numpy or cupy.
        shift: number of places by which B and C move to the right. below: the group of P rows of A that holds the rows if
            m > n; the other rows of A repeat the same rows.

    Raises:
        ValueError: rows that do not fill their tiles.
    """
    count = places(m, n)
    if len(rows.c) % count:
        raise ValueError(f"rows must be a multiple of {count}, the places of a tile of {m} x {n}; got {len(rows.c)}")
    first = (xp.arange(len(rows.c) // count) * count)[:, None]
    row_of_a = first + (xp.arange(m) - below * count) % count
    row_of_b = first + (xp.arange(n) - shift) % count
    row_of_c = xp.broadcast_to(row_of_b[:, None, :], (len(first), m, n)).copy()
    return tiles_of(rows, row_of_a, row_of_b, row_of_c)


def from_diagonals(d: Any, xp: Any, shift: int = 0, below: int = 0) -> Any:
    """The results of the rows that `on_diagonals` placed: [tiles, m, n] → [rows]."""
    count = places(*d.shape[1:])
    p = xp.arange(count)
    return d[:, p + below * count, (p + shift) % count].reshape(-1)


def among_mixed(stimulus: Stimulus, m: int, n: int, rng: np.random.Generator) -> tuple[Tiles, npt.NDArray[np.uint8]]:
    """Tiles with every row of the stimulus once on a main diagonal; their other elements come from random rows.

    Returns:
        The tiles, and the class of each element [tiles·m·n]: its row's, or one past the last class if rows are mixed.
    """
    rows, count = len(stimulus), places(m, n)
    tiles = rows // count
    a, b, c = (rng.integers(rows, size=(tiles, size)) for size in (m, n, m * n))
    a[:, :count] = b[:, :count] = c[:, : count * (n + 1) : n + 1] = np.arange(rows).reshape(tiles, count)
    c = c.reshape(tiles, m, n)
    of_one_row = (a[:, :, None] == b[:, None, :]) & (b[:, None, :] == c)
    label = np.where(of_one_row, stimulus.label[c], len(stimulus.names)).astype(np.uint8).reshape(-1)
    return tiles_of(stimulus.operands, a, b, c), label
