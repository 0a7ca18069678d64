"""What a design is given and what it must answer, chunk by chunk: of a unit, of several formats, of a tile."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

import golden
from cosim.bench.packing import packed
from cosim.bench.products import Chunk, DotProducts, Element, Vector
from golden import Format, Instruction, Unit
from golden.arrays import BitArray
from golden.stimulus import GeneratorDraws, Operands, OperandShape, Stimulus, Tiles, among_mixed, chunks, places
from golden.stimulus.codes import uniform_codes
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import step_operands, tile_operands
from rtl.designs.tile_design import TileDesign
from rtl.designs.tile_shape import TileShape
from rtl.designs.unit_design import UnitDesign

CHUNK = 4096
"""Dot products that are made and held at a time: enough that NumPy's call overhead does not count."""


class Specification(Protocol):
    """What co-simulation adds to a design: stimulus, and the results that it must give.

    One of one's own is a class derived from this one with a method `chunks`, which `OwnRows` helps to write.
    """

    def check_count(self, count: int) -> None:
        """Raise ValueError for a number of vectors that would leave something untested. Any number will do."""
        return None

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """`count` vectors and golden's results, the same ones for the same count and seed; few of them exist at a time.

        Args:
            engine: which of golden's computes the results, None for the fastest there is.
        """


def specification_of(design: Design, results: int = 1) -> Specification:
    """What golden says of a design.

    Args:
        results: dot products that it takes and gives at once; of a unit alone.

    Raises:
        ValueError: a tile that golden's catalogue does not have, or several results of what is no unit.
    """
    if isinstance(design, UnitDesign):
        return UnitSpecification(design.unit, results)
    if results != 1:
        raise ValueError(f"several results at once are for a unit, {design.name} must have 1, got {results}")
    if isinstance(design, MultiFormatDesign):
        return MultiFormatSpecification(design.units)
    if isinstance(design, TileDesign):
        return TileSpecification(design.instruction)
    raise ValueError(f"a design must be a UnitDesign, MultiFormatDesign or TileDesign, got {type(design).__name__}")


@dataclass(frozen=True)
class UnitSpecification:
    """One step of a unit, or of several copies of it that take their operands and give their results at once.

    Attributes:
        results: copies; a vector is a dot product for each.
    """

    unit: Unit
    results: int = 1

    def check_count(self, count: int) -> None:
        """Any number will do."""

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        n, widths = self.results, operand_widths(self.unit.operation)
        shape = OperandShape.of_operation(self.unit.operation)
        for stimulus in chunks(shape, count * n, seed, max(1, CHUNK // n) * n):
            products = unit_products(self.unit, stimulus, engine)
            transfers = unit_transfers(products)
            vectors = [
                Vector(
                    [side_by_side(transfers[row : row + n], widths)],
                    [Element(products, row + k, place(k, n)) for k in range(n)],
                )
                for row in range(0, len(transfers), n)
            ]
            yield Chunk(vectors, [products])


def side_by_side(transfers: Sequence[dict[str, int]], widths: Mapping[str, int]) -> dict[str, int]:
    """One transfer that holds several, the first in the low bits of each port."""
    if len(transfers) == 1:
        return transfers[0]
    return {port: sum(t[port] << k * widths[port] for k, t in enumerate(transfers)) for port in transfers[0]}


def operand_widths(operation: golden.Operation) -> dict[str, int]:
    """Bits of each operand of one step."""
    return {name: elements.width for name, elements in step_operands(operation).items() if name != "d"}


def place(k: int, results: int) -> str:
    """Which of several results, in words."""
    return f"result {k}" if results > 1 else ""


@dataclass(frozen=True)
class MultiFormatSpecification:
    """One step of any of several units; the vector's `format` says which."""

    units: tuple[Unit, ...]

    def check_count(self, count: int) -> None:
        """At least one vector for each format: one would else pass unseen."""
        if count < len(self.units):
            raise ValueError(f"vectors must be at least the {len(self.units)} formats of the datapath, got {count}")

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """About as many of each format, in random order."""
        self.check_count(count)
        shares = [len(range(number, count, len(self.units))) for number in range(len(self.units))]
        streams = [
            chunks(OperandShape.of_operation(unit.operation), share, seed, max(1, CHUNK // len(self.units)))
            for unit, share in zip(self.units, shares, strict=True)
        ]
        for part, of_each_format in enumerate(zip_longest(*streams)):
            vectors, made = [], []
            for number, stimulus in enumerate(of_each_format):
                if stimulus is None:  # the formats that have one vector fewer may end a chunk earlier
                    continue
                unit = self.units[number]
                products = unit_products(unit, stimulus, engine, f"format {number} ({unit.name})")
                made.append(products)
                for row, transfer in enumerate(unit_transfers(products)):
                    vectors.append(Vector([transfer | {"format": number}], [Element(products, row)]))
            random.Random(f"{seed} {part}").shuffle(vectors)
            yield Chunk(vectors, made)


@dataclass(frozen=True)
class TileSpecification:
    """A whole instruction of the catalogue, its m and n perhaps changed: a vector is a tile, a transfer a step of it.

    Raises:
        ValueError: an instruction that differs from the catalogue's in more than m and n.
    """

    instruction: Instruction

    def __post_init__(self) -> None:
        i = self.instruction
        if i != replace(golden.instruction(i.arch, i.name), m=i.m, n=i.n):
            raise ValueError(f"a tile must be of an instruction of the catalogue, m and n aside; {i.arch} {i.name} differs")

    def check_count(self, count: int) -> None:
        """Any number will do."""

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Tiles whose diagonals are the rows of the stimulus, so that its classes and corners are all there; what else a
        tile has is put together from rows at random, and called `mixed`."""
        i = self.instruction
        a_tile = places(i.m, i.n)
        rows = max(1, CHUNK // (i.m * i.n)) * a_tile
        for part, stimulus in enumerate(chunks(OperandShape.of_instruction(i), count * a_tile, seed, rows)):
            yield self._chunk(stimulus, np.random.default_rng([seed, part]), engine)

    def _chunk(self, stimulus: Stimulus, rng: np.random.Generator, engine: str | None) -> Chunk:
        i = self.instruction
        tiles, label = among_mixed(stimulus, i.m, i.n, rng)
        operands = Operands(*(None if part is None else part.reshape(label.size, -1) for part in tiles.rows(np)))  # type: ignore[arg-type]
        elements = Stimulus(operands._replace(c=operands.c[:, 0]), label, (*stimulus.names, "mixed"))
        products = dot_products("", i, i.operation, elements, engine, (i.a, i.b))
        names = [f"element [{row}][{column}]" for row in range(i.m) for column in range(i.n)]
        vectors = [
            Vector(transfers, [Element(products, tile * len(names) + place, name) for place, name in enumerate(names)])
            for tile, transfers in enumerate(self._transfers(tiles, rng))
        ]
        return Chunk(vectors, [products])

    def _transfers(self, tiles: Tiles, rng: np.random.Generator) -> list[tuple[dict[str, int], ...]]:
        """What the operand ports show at each step of each tile; where c is not read, it is noise."""
        i, shape, operands = self.instruction, TileShape(self.instruction), tile_operands(self.instruction)
        steps = []
        for step in range(shape.steps):
            ks = shape.products(step)
            c = tiles.c if step == shape.c_step else uniform_codes(GeneratorDraws(rng), i.c, tiles.c.shape)
            codes = {"a": tiles.a[:, :, ks], "b": tiles.b[:, :, ks], "c": c}
            if i.block_size is not None and "scale_a" in operands:
                start = step * i.operation.length // i.block_size
                blocks = slice(start, start + i.operation.scales_per_step)
                codes |= {"scale_a": tiles.scale_a[:, :, blocks], "scale_b": tiles.scale_b[:, :, blocks]}
            columns = {name: packed_codes(part, operands[name].format) for name, part in codes.items()}
            steps.append(_transposed(columns))
        return list(zip(*steps, strict=True))


def unit_products(unit: Unit, stimulus: Stimulus, engine: str | None, name: str = "") -> DotProducts:
    """One step of a unit for each row of the stimulus."""
    return dot_products(name, unit, unit.operation, stimulus, engine, (unit.operation.a, unit.operation.b))


def dot_products(
    name: str,
    model: Unit | Instruction,
    operation: golden.Operation,
    stimulus: Stimulus,
    engine: str | None,
    formats: tuple[Format, Format],
) -> DotProducts:
    """Rows of a stimulus, and what a golden model makes of them."""
    dot: Callable[..., Any] = model.dot
    return DotProducts(name, operation, stimulus, dot, dot(*stimulus.operands, engine=engine).tolist(), formats)


def unit_transfers(products: DotProducts) -> list[dict[str, int]]:
    """What the operand ports of a datapath show for each row."""
    return _transposed(
        {
            name: packed_codes(getattr(products.stimulus.operands, name), elements.format)
            for name, elements in step_operands(products.operation).items()
            if name != "d"
        }
    )


def packed_codes(codes: BitArray, operand: Format) -> list[int]:
    """One integer for all codes of each row or tile, the first dimension."""
    return packed(codes.reshape(len(codes), -1), operand)


def _transposed(columns: dict[str, Sequence[int]] | dict[str, list[int]]) -> list[dict[str, int]]:
    """From values of each port to ports of each transfer."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
