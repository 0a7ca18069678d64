"""The vectors that are sent, from golden's stimulus, and the runs among them that repeat operands."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, zip_longest
from typing import Any, Protocol

import numpy as np

import golden
from cosim.bench.coverage import with_pairs
from cosim.bench.products import THE_UNITS, Chunk, DotProducts, Element, OperandWidths, Vector, packed, with_fixed_results
from cosim.bench.waits import class_numbers
from golden import Format, Instruction, Unit
from golden.arrays import BitArray
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape, Stimulus, Tiles, among_mixed, chunks, places
from golden.stimulus.codes import uniform_codes
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import step_operands, tile_operands
from rtl.designs.tile import TileShape
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

REPEATED = "repeated"
"""The class of a vector that has operands of the previous vector."""

EVERY = 192
"""Number of vectors for each run of repeated operands; a shorter stream has one run."""

LENGTHS = (*(2,) * 12, *(3,) * 4, *(4,) * 4, *(20,) * 3, 80)
"""Lengths of runs (vectors), all equally likely: mostly pairs, and long runs for designs that count repetitions."""


LONG = 272
"""Length of the longer run at the beginning of each large chunk (vectors), for designs that count repetitions in 8 bits."""

BLOCK_OF_LONG = 1024
"""Number of vectors among which the rows of the longer run are chosen."""

RARE = 128
"""Smallest share of the rows of a chunk, one in so many, whose results are of a class, if any is."""

LARGE = 2048
"""Number of vectors from which a chunk is large and has a longer run."""


@dataclass(frozen=True)
class Run:
    """Consecutive vectors with equal operands.

    Attributes:
        first: place of its first vector, which is as the stimulus has it.
        length: number of vectors. held: names of the operands that are equal in all of them.
    """

    first: int
    length: int
    held: frozenset[str]

    @property
    def all(self) -> slice:
        """The places of its vectors."""
        return slice(self.first, self.first + self.length)

    @property
    def later(self) -> slice:
        """The places of the vectors that repeat the first one's operands."""
        return slice(self.first + 1, self.first + self.length)


def gathered(stimulus: Stimulus, of_vector: int, rng: np.random.Generator, part: int) -> tuple[Stimulus, list[Run]]:
    """Choose runs, and move rows of random classes into them: rows of corners are never changed.

    Args:
        of_vector: rows of a vector. part: number of the chunk; in each other one the long run holds every operand.

    Returns:
        The rows in an order in which the vectors of each run are of random classes alone; and the runs.
    """
    vectors = len(stimulus) // of_vector
    is_random = np.isin(stimulus.label, [n for n, name in enumerate(stimulus.names) if name in CLASSES])
    order, runs = np.arange(len(stimulus)), []
    kinds = _kinds(stimulus.operands, rng)
    every = frozenset(name for name, codes in stimulus.operands._asdict().items() if codes is not None)
    for start, end in _blocks(vectors):
        is_long = end - start > EVERY
        places = np.arange(start * of_vector, end * of_vector)
        random = places[is_random[places]]
        wanted = min(LONG, vectors // 12) if is_long else min(int(rng.choice(LENGTHS)), vectors // 16 + 2)
        length = min(wanted, len(random) // of_vector)
        if length < 2:
            continue
        chosen = random[: length * of_vector]
        order[places] = np.concatenate([chosen, np.setdiff1d(places, chosen)])
        runs.append(Run(start, length, every if is_long and part % 2 == 0 else next(kinds)))
    return stimulus.rows(order), runs


def _blocks(vectors: int) -> list[tuple[int, int]]:
    """The first vector of each block with a run, and the one behind its last: a large chunk begins with a long block."""
    first = BLOCK_OF_LONG if vectors >= LARGE else 0
    further = (min(start + EVERY, vectors) for start in range(first, vectors - 1, EVERY))
    return list(pairwise([*dict.fromkeys((0, first)), *further]))


def repeated(stimulus: Stimulus, runs: Sequence[Run], of_vector: int) -> Stimulus:
    """The rows with the operands that their runs hold; the changed rows have the class `REPEATED`."""
    label, names = stimulus.label.copy(), (*stimulus.names, REPEATED)
    arrays = {name: None if codes is None else codes.copy() for name, codes in stimulus.operands._asdict().items()}
    for run in runs:
        label[run.later.start * of_vector : run.later.stop * of_vector] = len(names) - 1
        for name in run.held:
            codes = arrays[name]
            assert codes is not None
            by_vector = codes[: len(codes) // of_vector * of_vector].reshape(-1, of_vector, *codes.shape[1:])
            by_vector[run.later] = by_vector[run.first]
    return Stimulus(Operands(**arrays), label, names)  # type: ignore[arg-type]


def with_rare_results(products: DotProducts, runs: Sequence[Run], of_vector: int) -> DotProducts:
    """The rows with copies of those whose results are of a rare class, in the place of rows of random classes with results
    of the most frequent one: each class must meet gaps and stalls of many lengths. Runs of repeated operands stay."""
    found = np.array(class_numbers(products))
    counts = np.bincount(found)
    is_free = np.isin(products.label, [n for n, name in enumerate(products.stimulus.names) if name in CLASSES])
    is_free &= found == counts.argmax()
    for run in runs:
        is_free[run.first * of_vector : run.later.stop * of_vector] = False
    free, order = np.flatnonzero(is_free), np.arange(len(found))
    for number in np.flatnonzero((counts > 0) & (counts < len(found) // RARE)).tolist():
        taken, free = np.split(free, [len(found) // RARE - int(counts[number])])
        order[taken] = np.resize(np.flatnonzero(found == number), len(taken))
    return products.rows(order)


def repeat_in_tiles(tiles: Tiles, runs: Sequence[Run], products: Sequence[Sequence[int]], scales: Sequence[slice]) -> Tiles:
    """The tiles with the operands that their runs hold: equal in every step of every tile, the first one's among them.

    Args:
        products: the k of each step. scales: the blocks of each step; none where unscaled.
    """
    arrays = [None if codes is None else codes.copy() for codes in (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)]
    for run in runs:
        for name, codes in zip(Operands._fields, arrays, strict=True):
            if name not in run.held or codes is None:
                continue
            if name == "c":
                codes[run.all] = codes[run.first]
                continue
            steps = products if name in ("a", "b") else scales
            for step in steps:
                codes[run.all, :, step] = codes[run.first][:, steps[0]]
    return Tiles(*arrays)


def blocks_of(vectors: Sequence[Vector], runs: Sequence[Run]) -> list[Sequence[Vector]]:
    """The vectors in blocks, which must not be taken apart: a run is one, any other vector is one by itself."""
    blocks: list[Sequence[Vector]] = []
    place = 0
    for run in runs:
        blocks += [(vector,) for vector in vectors[place : run.first]]
        place = run.later.stop
        blocks.append(vectors[run.first : place])
    return [*blocks, *((vector,) for vector in vectors[place:])]


def _kinds(operands: Operands, rng: np.random.Generator) -> Iterator[frozenset[str]]:
    """Sets of operands that a run holds, each set once before any comes again."""
    names = [name for name, codes in operands._asdict().items() if codes is not None]
    kinds = [frozenset(kind) for count in range(1, len(names) + 1) for kind in combinations(names, count)]
    while True:
        yield from (kinds[n] for n in rng.permutation(len(kinds)))


CHUNK = 4096
"""Dot products that are computed and held in memory at a time: enough that NumPy's call overhead is negligible."""


class Specification(Protocol):
    """Stimulus for a design, and the expected results.

    A user's specification is a class derived from this one with a method `chunks`, which `user_rows` helps to write.
    """

    def check_count(self, count: int) -> None:
        """Raise ValueError for a number of vectors that would leave something untested; by default any number is valid."""
        return None

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate `count` vectors with their results in chunks. The same count and seed give the same vectors.

        Args:
            engine: golden's engine that computes the results, None for the fastest available.
        """


def specification_of(design: Design, results: int = 1, widths: OperandWidths = THE_UNITS) -> Specification:
    """Golden's specification of a generated design.

    Args:
        results: dot products in a vector; more than one only for a unit. widths: the widths of c and d, for a unit only.

    Raises:
        ValueError: a tile of an instruction that golden's catalogue does not have, several results or other widths of a
            design that is not a unit, or widths that its operation cannot have.
    """
    if isinstance(design, UnitDesign):
        widths.check(design.unit.operation)
        return UnitSpecification(design.unit, results, widths)
    if results != 1:
        raise ValueError(f"several results at once are for a unit, {design.name} must have 1, got {results}")
    if widths != THE_UNITS:
        raise ValueError(f"[operands] is for a unit, {design.name} is a design of another kind")
    if isinstance(design, MultiFormatDesign):
        return MultiFormatSpecification(design.units)
    if isinstance(design, TileDesign):
        return TileSpecification(design.instruction)
    raise ValueError(f"a design must be a UnitDesign, MultiFormatDesign or TileDesign, got {type(design).__name__}")


@dataclass(frozen=True)
class UnitSpecification:
    """The specification of one step of a unit, or of several copies of the unit side by side.

    Attributes:
        results: number of copies; a vector holds a dot product for each. widths: the widths of c and d.
    """

    unit: Unit
    results: int = 1
    widths: OperandWidths = THE_UNITS

    def check_count(self, count: int) -> None:
        """Accept any number of vectors."""

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        n, widths = self.results, operand_widths(self.unit.operation)
        shape = OperandShape.of_operation(self.unit.operation)
        for part, rows in enumerate(chunks(shape, count * n, seed, max(1, CHUNK // n) * n)):
            stimulus, runs = _with_runs(rows, n, [seed, part])
            operands = stimulus.operands._replace(c=self.widths.restricted(stimulus.operands.c, self.unit.operation))
            products = unit_products(self.unit, replace(stimulus, operands=operands), engine)
            products = with_rare_results(with_fixed_results(products, self.widths.d), runs, n)
            transfers = unit_transfers(products)
            vectors = [
                Vector(
                    [side_by_side(transfers[row : row + n], widths)],
                    [Element(products, row + k, place(k, n)) for k in range(n)],
                )
                for row in range(0, len(transfers), n)
            ]
            yield Chunk(with_pairs(blocks_of(vectors, runs), part, random.Random(f"{seed} {part}")), [products])


def _with_runs(rows: Stimulus, of_vector: int, seed: Sequence[int]) -> tuple[Stimulus, list[Run]]:
    """The rows with runs of vectors that repeat operands, and these runs. The seed is the run's, then the chunk's number."""
    stimulus, runs = gathered(rows, of_vector, np.random.default_rng([*seed, of_vector]), seed[1])
    return repeated(stimulus, runs, of_vector), runs


def side_by_side(transfers: Sequence[dict[str, int]], widths: Mapping[str, int]) -> dict[str, int]:
    """Pack several transfers into one, the first in the low bits of each port."""
    if len(transfers) == 1:
        return transfers[0]
    return {port: sum(t[port] << k * widths[port] for k, t in enumerate(transfers)) for port in transfers[0]}


def operand_widths(operation: golden.Operation) -> dict[str, int]:
    """The width of each operand port of one step (bits)."""
    return {name: elements.width for name, elements in step_operands(operation).items() if name != "d"}


def place(k: int, results: int) -> str:
    """The place of one of several results, as text."""
    return f"result {k}" if results > 1 else ""


@dataclass(frozen=True)
class MultiFormatSpecification:
    """The specification of one step of one of several units, which the vector's `format` selects."""

    units: tuple[Unit, ...]

    def check_count(self, count: int) -> None:
        """Raise ValueError for fewer vectors than formats: a format would be untested."""
        if count < len(self.units):
            raise ValueError(f"vectors must be at least the {len(self.units)} formats of the datapath, got {count}")

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate about the same number of vectors for each format, in random order."""
        self.check_count(count)
        shares = [len(range(number, count, len(self.units))) for number in range(len(self.units))]
        streams = [
            chunks(OperandShape.of_operation(unit.operation), share, seed, max(1, CHUNK // len(self.units)))
            for unit, share in zip(self.units, shares, strict=True)
        ]
        for part, of_each_format in enumerate(zip_longest(*streams)):
            blocks: list[Sequence[Vector]] = []
            made = []
            for number, rows in enumerate(of_each_format):
                if rows is None:  # the formats that have one vector fewer may end a chunk earlier
                    continue
                unit = self.units[number]
                stimulus, runs = _with_runs(rows, 1, [seed, part, number])
                products = unit_products(unit, stimulus, engine, f"format {number} ({unit.name})")
                products = with_rare_results(products, runs, 1)
                made.append(products)
                transfers = enumerate(unit_transfers(products))
                vectors = [Vector([each | {"format": number}], [Element(products, row)]) for row, each in transfers]
                blocks += blocks_of(vectors, runs)
            rng = random.Random(f"{seed} {part}")
            rng.shuffle(blocks)
            yield Chunk(with_pairs(blocks, part, rng), made)


@dataclass(frozen=True)
class TileSpecification:
    """A tile of an instruction of the catalogue, with any m and n: a vector is a tile, a transfer one of its steps.

    Raises:
        ValueError: an instruction that differs from the catalogue's in more than m and n.
    """

    instruction: Instruction

    def __post_init__(self) -> None:
        i = self.instruction
        if i != replace(golden.instruction(i.arch, i.name), m=i.m, n=i.n):
            raise ValueError(f"a tile must be of an instruction of the catalogue, m and n aside; {i.arch} {i.name} differs")

    def check_count(self, count: int) -> None:
        """Accept any number of vectors."""

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate tiles whose diagonals are the rows of the stimulus, so that all its classes and corners occur. The other
        elements of a tile combine rows at random; their class is `mixed`."""
        i = self.instruction
        a_tile = places(i.m, i.n)
        rows = max(1, CHUNK // (i.m * i.n)) * a_tile
        for part, stimulus in enumerate(chunks(OperandShape.of(i), count * a_tile, seed, rows)):
            yield self._chunk(stimulus, seed, part, engine)

    def _chunk(self, rows: Stimulus, seed: int, part: int, engine: str | None) -> Chunk:
        i, rng = self.instruction, np.random.default_rng([seed, part])
        stimulus, runs = gathered(rows, places(i.m, i.n), rng, part)
        tiles, label = among_mixed(stimulus, i.m, i.n, rng)
        tiles = self._repeated(tiles, runs)
        label = label.reshape(len(tiles), -1)
        for run in runs:
            label[run.all] = len(stimulus.names) + 1  # behind `mixed`
        operands = Operands(*(None if part is None else part.reshape(label.size, -1) for part in tiles.rows(np)))  # type: ignore[arg-type]
        elements = Stimulus(operands._replace(c=operands.c[:, 0]), label.reshape(-1), (*stimulus.names, "mixed", REPEATED))
        products = dot_products("", i, i.operation, elements, engine, (i.a, i.b))
        names = [f"element [{row}][{column}]" for row in range(i.m) for column in range(i.n)]
        vectors = [
            Vector(transfers, [Element(products, tile * len(names) + place, name) for place, name in enumerate(names)])
            for tile, transfers in enumerate(self._transfers(tiles, rng))
        ]
        return Chunk(with_pairs(blocks_of(vectors, runs), part, random.Random(f"{seed} {part}")), [products])

    def _repeated(self, tiles: Tiles, runs: Sequence[Run]) -> Tiles:
        """The tiles with the operands that their runs hold."""
        shape = TileShape(self.instruction)
        steps = range(shape.steps)
        scales = [] if self.instruction.block_size is None else [self._blocks(step) for step in steps]
        return repeat_in_tiles(tiles, runs, [shape.products(step) for step in steps], scales)

    def _blocks(self, step: int) -> slice:
        """The blocks whose scales a step takes."""
        i = self.instruction
        assert i.block_size is not None
        start = step * i.operation.length // i.block_size
        return slice(start, start + i.operation.scales_per_step)

    def _transfers(self, tiles: Tiles, rng: np.random.Generator) -> list[tuple[dict[str, int], ...]]:
        """The values of the operand ports at each step of each tile; c is random in steps that do not read it."""
        i, shape, operands = self.instruction, TileShape(self.instruction), tile_operands(self.instruction)
        steps = []
        for step in range(shape.steps):
            ks = shape.products(step)
            c = tiles.c if step == shape.c_step else uniform_codes(GeneratorDraws(rng), i.c, tiles.c.shape)
            codes = {"a": tiles.a[:, :, ks], "b": tiles.b[:, :, ks], "c": c}
            if i.block_size is not None and "scale_a" in operands:
                blocks = self._blocks(step)
                codes |= {"scale_a": tiles.scale_a[:, :, blocks], "scale_b": tiles.scale_b[:, :, blocks]}
            columns = {name: packed_codes(part, operands[name].format) for name, part in codes.items()}
            steps.append(_transposed(columns))
        return list(zip(*steps, strict=True))


def unit_products(unit: Unit, stimulus: Stimulus, engine: str | None, name: str = "") -> DotProducts:
    """The dot products of one step of a unit, one for each row of the stimulus."""
    return dot_products(name, unit, unit.operation, stimulus, engine, (unit.operation.a, unit.operation.b))


def dot_products(
    name: str,
    model: Unit | Instruction,
    operation: golden.Operation,
    stimulus: Stimulus,
    engine: str | None,
    formats: tuple[Format, Format],
) -> DotProducts:
    """The rows of a stimulus with the results of a golden model."""
    dot: Callable[..., Any] = model.dot
    return DotProducts(name, operation, stimulus, dot, dot(*stimulus.operands, engine=engine).tolist(), formats)


def unit_transfers(products: DotProducts) -> list[dict[str, int]]:
    """The values of a datapath's operand ports for each row."""
    return _transposed(
        {
            name: packed_codes(getattr(products.stimulus.operands, name), elements.format)
            for name, elements in step_operands(products.operation).items()
            if name != "d"
        }
    )


def packed_codes(codes: BitArray, operand: Format) -> list[int]:
    """Pack the codes of each row or tile (the first dimension) into one integer."""
    return packed(codes.reshape(len(codes), -1), operand)


def _transposed(columns: dict[str, Sequence[int]] | dict[str, list[int]]) -> list[dict[str, int]]:
    """Convert columns of values by port to one mapping of ports to values for each transfer."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
