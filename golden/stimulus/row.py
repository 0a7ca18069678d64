"""One row of operands as Python integers, and the places in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus.shape import Operands, OperandShape


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
