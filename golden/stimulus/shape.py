"""What a stimulus is made for, and what it is: operand formats in, arrays of bit patterns out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray
from golden.checks import check_least, check_type
from golden.conversion import conversion
from golden.formats import Format
from golden.instruction import Instruction
from golden.operations import Operation
from golden.unit import Unit

Tile = tuple[()] | tuple[int, int]
"""() for rows, each a dot product of its own; (m, n) for tiles of m rows of A and n columns of B, m·n dot products each."""


@dataclass(frozen=True, kw_only=True)
class OperandShape:
    """All that the generators may know of a dot-product-accumulate: formats and lengths, nothing of its arithmetic.

    Attributes:
        a, b, c: formats of the operands.
        d: format to whose precision the result is rounded.
        K: products of one row.
        scale: format of the scales, None where unscaled.
        block_size: elements that share a scale, None where unscaled.
    """

    a: Format
    b: Format
    c: Format
    d: Format
    K: int
    scale: Format | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        for key in ("a", "b", "c", "d"):
            check_type(f"{key} of an operand shape", getattr(self, key), Format)
        check_least("K", self.K, 1)
        if (self.scale is None) != (self.block_size is None):
            raise ValueError(
                f"scale and block_size go together; got scale={self.scale}, block_size={self.block_size}"
            )  # fmt: skip
        if self.scale is not None:
            check_type("scale of an operand shape", self.scale, Format)
            check_least("block_size", self.block_size, 1)

    @classmethod
    def of_operation(cls, operation: Operation, K: int | None = None) -> Self:
        """The operands of an operation over K products, of one step where K is None."""
        return cls(
            a=operation.a,
            b=operation.b,
            c=operation.c,
            d=_rounded_to(operation),
            K=operation.length if K is None else K,
            scale=operation.scale_format,
            block_size=operation.block_size,
        )

    @classmethod
    def of_unit(cls, unit: Unit, K: int | None = None) -> Self:
        """The operands of a unit over K products, over its `usual_K` where K is None."""
        shape = cls.of_operation(unit.operation, unit.usual_K if K is None else K)
        return replace(shape, a=unit.a, b=unit.b)

    @classmethod
    def of_instruction(cls, instruction: Instruction) -> Self:
        """The operands of one element of an instruction's D."""
        i = instruction
        return cls(a=i.a, b=i.b, c=i.c, d=_rounded_to(i.operation), K=i.k, scale=i.scale, block_size=i.block_size)

    @property
    def blocks(self) -> int:
        """Scales of A (and of B) in one row; 0 where unscaled."""
        return 0 if self.block_size is None else -(-self.K // self.block_size)


def _rounded_to(operation: Operation) -> Format:
    """d's format, but for RZ-E8M13 the one whose 13 mantissa bits are kept."""
    rho = operation.parameters().get("rho")
    return operation.d if rho is None else conversion(str(rho)).rounding_format


class Operands(NamedTuple):
    """Bit patterns of many rows, in the order in which `.dot` takes them: a, b [rows, K], c [rows], scales [rows, blocks]
    or None. Of many tiles: a [tiles, m, K], b [tiles, n, K], c [tiles, m, n], scales [tiles, m or n, blocks] or None."""

    a: BitArray
    b: BitArray
    c: BitArray
    scale_a: BitArray | None
    scale_b: BitArray | None

    def rows(self, index: slice | npt.NDArray[np.integer]) -> "Operands":
        """The rows that `index` selects."""
        return Operands(*(None if array is None else array[index] for array in self))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stimulus:
    """Operands, and for every row the generator that made it: `names[label[row]]`."""

    operands: Operands
    label: npt.NDArray[np.uint8]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.label)

    def rows(self, index: slice | npt.NDArray[np.integer]) -> "Stimulus":
        """The rows that `index` selects."""
        return Stimulus(self.operands.rows(index), self.label[index], self.names)

    def counts(self) -> dict[str, int]:
        """How many rows each generator made, in order of `names`."""
        tally = np.bincount(self.label, minlength=len(self.names))
        return {name: int(count) for name, count in zip(self.names, tally, strict=True)}


def concatenated(parts: Sequence[Stimulus]) -> Stimulus:
    """All rows of all parts, in order."""
    columns = zip(*(part.operands for part in parts), strict=True)
    joined = [None if column[0] is None else np.concatenate(column) for column in columns]
    return Stimulus(Operands(*joined), np.concatenate([part.label for part in parts]), parts[0].names)  # type: ignore[arg-type]
