"""An instruction's tile as what a design should be: a transfer in is a step, a result is all elements of D."""

import random
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cosim.packing import packed
from cosim.vectors import DotProducts, Element, Vectors
from golden import Format, Implementation, Instruction
from golden.arrays import BitArray
from golden.stimulus import Operands, OperandShape, Stimulus, generate
from rtl import tile_verilog
from rtl.tile_shape import TileShape


@dataclass(frozen=True)
class Tile:
    """An instruction of the catalogue, its m and n perhaps changed, as `rtl.tile.MMATile` builds it."""

    instruction: Instruction
    implementation: Implementation

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
        """Tiles: row i of A and column i of B are those of one row of the stimulus, so that its classes and corners are what
        the elements of the diagonal are made of; the others are `mixed`."""
        i = self.instruction
        stimulus = generate(OperandShape.of_instruction(i), count * max(i.m, i.n), seed)
        elements = element_stimulus(stimulus, count, i.m, i.n, seed)
        products = DotProducts("", i.operation, elements, i.dot(*elements.operands).tolist(), (i.a, i.b))
        places = [f"element [{row}][{column}]" for row in range(i.m) for column in range(i.n)]
        results = [
            [Element(products, tile * len(places) + number, place) for number, place in enumerate(places)]
            for tile in range(count)
        ]
        return Vectors(self._transfers(stimulus.operands, elements.operands.c, count, seed), results)

    def as_table(self) -> dict[str, Any]:
        i = self.instruction
        return {"tile": {"arch": i.arch, "name": i.name, "m": i.m, "n": i.n}, "implementation": asdict(self.implementation)}

    def _transfers(self, operands: Operands, c: BitArray, tiles: int, seed: int) -> list[dict[str, int]]:
        """What the operand ports show at each step of each tile; where c is not read, it is noise."""
        i, shape, noise = self.instruction, TileShape(self.instruction), random.Random(seed)
        c_bits = i.m * i.n * i.c.width
        accumulators = packed(c.reshape(tiles, -1), i.c)
        steps = []
        for step in range(shape.steps):
            ks = shape.products(step)
            columns = {
                "a": side(operands.a[:, ks], tiles, i.m, i.a),
                "b": side(operands.b[:, ks], tiles, i.n, i.b),
                "c": accumulators if step == shape.c_step else [noise.getrandbits(c_bits) for _ in range(tiles)],
            }
            if i.scale is not None and operands.scale_a is not None and operands.scale_b is not None and i.block_size:
                start = step * i.operation.length // i.block_size
                blocks = slice(start, start + i.operation.scales_per_step)
                columns["scale_a"] = side(operands.scale_a[:, blocks], tiles, i.m, i.scale)
                columns["scale_b"] = side(operands.scale_b[:, blocks], tiles, i.n, i.scale)
            steps.append([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
        return [transfer for of_one_tile in zip(*steps, strict=True) for transfer in of_one_tile]


def side(codes: BitArray, tiles: int, count: int, operand: Format) -> list[int]:
    """Packed, the first `count` rows or columns of each tile, of which `codes` has the same number for all tiles."""
    return packed(codes.reshape(tiles, -1, codes.shape[-1])[:, :count].reshape(tiles, -1), operand)


def element_stimulus(stimulus: Stimulus, tiles: int, m: int, n: int, seed: int) -> Stimulus:
    """The operands of every element of every tile, row by row, of a stimulus with max(m, n) rows a tile."""
    first = np.arange(tiles)[:, None] * max(m, n)
    a_row = (first + np.repeat(np.arange(m), n)).reshape(-1)
    b_row = (first + np.tile(np.arange(n), m)).reshape(-1)
    diagonal = a_row == b_row
    c_row = np.where(diagonal, a_row, np.random.default_rng(seed).integers(len(stimulus), size=len(a_row)))
    rows = (a_row, b_row, c_row, a_row, b_row)
    parts = (None if part is None else part[row] for part, row in zip(stimulus.operands, rows, strict=True))
    label = np.where(diagonal, stimulus.label[a_row], len(stimulus.names)).astype(np.uint8)
    return Stimulus(Operands(*parts), label, (*stimulus.names, "mixed"))  # type: ignore[arg-type]
