"""An instruction's tile as what a design should be: a transfer in is a step, a result is all elements of D."""

import random
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from cosim.bench.packing import packed
from cosim.bench.vectors import DotProducts, Element, Vectors
from golden import Format, Implementation, Instruction
from golden.arrays import BitArray
from golden.stimulus import Operands, OperandShape, Stimulus, generate
from rtl import tile_verilog
from rtl.designs.tile import check_tile
from rtl.designs.tile_shape import TileShape

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tile:
    """An instruction of the catalogue, its m and n perhaps changed, as `rtl.designs.tile.MMATile` builds it.

    Raises:
        ValueError: a tile that cannot be built, or an instruction that differs from the catalogue's in more than m and n.
    """

    instruction: Instruction
    implementation: Implementation

    def __post_init__(self) -> None:
        check_tile(self.instruction, self.implementation)
        i = self.instruction
        if i != replace(golden.instruction(i.arch, i.name), m=i.m, n=i.n):
            raise ValueError(f"a tile must be of an instruction of the catalogue, m and n aside; {i.arch} {i.name} differs")

    @property
    def name(self) -> str:
        """The instruction's, and the tile's size."""
        i = self.instruction
        return f"{i.arch} {i.name}, {i.m}x{i.n} tile"

    @property
    def operation(self) -> str:
        """The instruction's."""
        return self.instruction.operation.name

    def operand_widths(self) -> dict[str, int]:
        return TileShape(self.instruction).widths()

    def verilog(self, top: str) -> str:
        return tile_verilog(self.instruction, self.implementation, top)

    def vectors(self, count: int, seed: int) -> Vectors:
        """Tiles whose diagonals are the rows of the stimulus, so that its classes and corners are all there; what else a
        tile has is put together from rows at random, and called `mixed`."""
        i = self.instruction
        stimulus = generate(OperandShape.of_instruction(i), count * min(i.m, i.n), seed)
        rows = TileRows.of(len(stimulus), count, i.m, i.n, seed)
        elements = rows.elements(stimulus)
        products = DotProducts("", i.operation, elements, i.dot(*elements.operands).tolist(), (i.a, i.b))
        places = [f"element [{row}][{column}]" for row in range(i.m) for column in range(i.n)]
        results = [
            [Element(products, tile * len(places) + number, place) for number, place in enumerate(places)]
            for tile in range(count)
        ]
        return Vectors(self._transfers(stimulus.operands, rows, seed), results)

    def as_table(self) -> dict[str, Any]:
        i = self.instruction
        return {"tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n}, "implementation": asdict(self.implementation)}

    def _transfers(self, operands: Operands, rows: "TileRows", seed: int) -> list[dict[str, int]]:
        """What the operand ports show at each step of each tile; where c is not read, it is noise."""
        i, shape, noise = self.instruction, TileShape(self.instruction), random.Random(seed)
        c_bits = i.m * i.n * i.c.width
        accumulators = packed(operands.c[rows.c], i.c)
        steps = []
        for step in range(shape.steps):
            ks = shape.products(step)
            columns = {
                "a": side(operands.a[:, ks], rows.a, i.a),
                "b": side(operands.b[:, ks], rows.b, i.b),
                "c": accumulators if step == shape.c_step else [noise.getrandbits(c_bits) for _ in accumulators],
            }
            if i.scale is not None and operands.scale_a is not None and operands.scale_b is not None and i.block_size:
                start = step * i.operation.length // i.block_size
                blocks = slice(start, start + i.operation.scales_per_step)
                columns["scale_a"] = side(operands.scale_a[:, blocks], rows.a, i.scale)
                columns["scale_b"] = side(operands.scale_b[:, blocks], rows.b, i.scale)
            steps.append([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
        return [transfer for of_one_tile in zip(*steps, strict=True) for transfer in of_one_tile]


@dataclass(frozen=True)
class TileRows:
    """Which row of a stimulus each row, column and element of some tiles takes.

    Attributes:
        a: [tiles, m]. b: [tiles, n]. c: [tiles, m·n], element (i, j) in place i·n + j.
    """

    a: IntArray
    b: IntArray
    c: IntArray

    @classmethod
    def of(cls, rows: int, tiles: int, m: int, n: int, seed: int) -> "TileRows":
        """Every one of `rows` = tiles · min(m, n) rows once on a diagonal, all else at random."""
        rng = np.random.default_rng(seed)
        a, b, c = (rng.integers(rows, size=(tiles, count)) for count in (m, n, m * n))
        diagonal = np.arange(rows).reshape(tiles, -1)
        shorter = diagonal.shape[1]
        a[:, :shorter] = b[:, :shorter] = c[:, : shorter * (n + 1) : n + 1] = diagonal
        return cls(a, b, c)

    def elements(self, stimulus: Stimulus) -> Stimulus:
        """The operands of every element of every tile, row by row."""
        m, n = self.a.shape[1], self.b.shape[1]
        a, b, c = np.repeat(self.a, n, axis=1).reshape(-1), np.tile(self.b, m).reshape(-1), self.c.reshape(-1)
        parts = (None if part is None else part[row] for part, row in zip(stimulus.operands, (a, b, c, a, b), strict=True))
        of_one_row = (a == b) & (b == c)
        label = np.where(of_one_row, stimulus.label[c], len(stimulus.names)).astype(np.uint8)
        return Stimulus(Operands(*parts), label, (*stimulus.names, "mixed"))  # type: ignore[arg-type]


def side(codes: BitArray, rows: IntArray, operand: Format) -> list[int]:
    """Packed, the rows of codes [rows, elements] that are the rows of A (or columns of B) of each tile."""
    return packed(codes[rows].reshape(len(rows), -1), operand)
