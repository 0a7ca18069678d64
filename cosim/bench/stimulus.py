"""Specifications: the vectors that are sent to a design, from golden's stimulus, with the results that it must give."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import zip_longest
from operator import or_
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

import golden
from cosim.bench.coverage import with_pairs
from cosim.bench.operand_widths import THE_UNITS, OperandWidths, with_fixed_results
from cosim.bench.products import Bits, Chunk, DotProducts, Element, Further, Mask, Selected, Vector, packed
from cosim.bench.runs import REPEATED, Run, blocks_of, gathered, repeat_in_tiles, repeated, with_rare_results
from golden import Format, Instruction, Unit
from golden.arithmetic.flags import selected
from golden.arrays import BitArray
from golden.checks import listed
from golden.native.engine import computes
from golden.operations import FMA
from golden.stimulus import GeneratorDraws, Operands, OperandShape, Stimulus, Tiles, among_mixed, chunks, places
from golden.stimulus.codes import uniform_codes
from golden.units.controls import RANDOM, Source
from golden.units.operand_inputs import drawn_mask, drawn_metadata, drawn_zeros, zeros_of
from golden.units.selection import CODE_BITS
from golden.units.unit import Choice
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design, operand_names
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import step_operands
from rtl.designs.product_design import ProductDesign
from rtl.designs.tile import TileShape
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

CHUNK = 4096
"""Dot products that are computed and held in memory at a time: enough that NumPy's call overhead is negligible."""


APART = 1_000_003
"""Distance of the seeds of choices, so that those of the same operands get other rows."""


class Specification(Protocol):
    """Stimulus for a design, and the expected results.

    A user's specification is a class derived from this one with a method `chunks`, which `user_rows` helps to write.
    """

    @property
    def is_native(self) -> bool:
        """Whether the native library computes the results where it is installed; by default it does."""
        return True

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
    if isinstance(design, ProductDesign):
        for choice in design.choices:
            operation, elements = choice.unit.operation, design.operands_of(max(design.lengths), choice.unit)
            widths.check(operation)
            widths.assumed.check([operation], [{name: elements[name].format for name in operation.operands}])
        return ProductSpecification(design, widths)
    if isinstance(design, TileDesign):
        if results != 1:
            raise ValueError(f"several results at once are for a unit, {design.name} must have 1, got {results}")
        if widths != THE_UNITS:
            raise ValueError(f"[operands] is for a unit, {design.name} is a design of another kind")
        return TileSpecification(design.instruction, design.unit)
    if not isinstance(design, UnitDesign | MultiFormatDesign | ControlledDesign):
        raise ValueError(f"a design must be a UnitDesign, MultiFormatDesign or TileDesign, got {type(design).__name__}")
    for choice in design.choices:
        widths.check(choice.unit.operation)
    units = [(choice, choice.unit.operation) for choice in design.choices]
    widths.assumed.check(
        [operation for _, operation in units],
        [{choice.source(name).port: getattr(operation, name) for name in operation.operands} for choice, operation in units],
    )
    return StepSpecification(design, results, widths)


def _raised(products: DotProducts, design: Design) -> dict[str, list[int]]:
    """Golden's exception flags for each row, by the input that holds those of one output of the design."""
    flagged = [echo for echo in design.echoes if echo.flags]
    if not flagged:
        return {}
    operands, dot = products.counted, products.dot
    first = operands.a.shape[1] - design.last_flags if isinstance(design, ProductDesign) and design.last_flags else 0
    if first:
        begun = dot(*operands._replace(a=operands.a[:, :first], b=operands.b[:, :first]))
        operands = operands._replace(a=operands.a[:, first:], b=operands.b[:, first:], c=begun)
    codes: list[int] = dot(*operands, flags=True)[1].tolist()
    return {echo.port: [selected(code, echo.flags) for code in codes] for echo in flagged}


@dataclass(frozen=True)
class StepSpecification:
    """The specification of one step of a unit, or of several copies of it side by side. Inputs of the design may choose the
    arithmetic, anew for each vector.

    Attributes:
        results: number of copies; a vector holds a dot product for each. widths: the widths of c and d.
    """

    design: UnitDesign | MultiFormatDesign | ControlledDesign
    results: int = 1
    widths: OperandWidths = THE_UNITS

    @property
    def is_native(self) -> bool:
        """Whether the native library computes the results."""
        return all(computes(choice.unit.operation) for choice in self.design.choices)

    def check_count(self, count: int) -> None:
        """Raise ValueError for fewer vectors than choices: one would be untested."""
        choices = self.design.choices
        if count < len(choices):
            ports = listed(choices[0].codes)
            raise ValueError(f"vectors must be at least the {len(choices)} combinations of values of {ports}, got {count}")

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate about the same number of vectors for each choice, in random order. A part of a run may have fewer vectors
        than choices."""
        n, choices = self.results, self.design.choices
        rows = max(1, CHUNK // (n * len(choices))) * n
        shares = [len(range(number, count, len(choices))) * n for number in range(len(choices))]
        apart = APART if isinstance(self.design, ControlledDesign) else 0  # formats have rows of their own
        streams = [
            chunks(self.widths.shape_of(choice.unit), share, seed + number * apart, rows) if share else iter(())
            for number, (choice, share) in enumerate(zip(choices, shares, strict=True))
        ]
        for part, of_each in enumerate(zip_longest(*streams)):
            blocks: list[Sequence[Vector]] = []
            made = []
            for number, given in enumerate(of_each):
                if given is None:  # the choices that have one vector fewer may end a chunk earlier
                    continue
                stimulus, runs = _with_runs(given, n, [seed, part] if len(choices) == 1 else [seed, part, number])
                noise = random.Random(f"{seed} {part} {number} inputs")
                products = self._products(choices[number], stimulus, engine, noise)
                products = with_rare_results(self.widths.settled(products, 1, [seed, part, number]), runs, n)
                made.append(products)
                blocks += blocks_of(self._vectors(choices[number], products, noise), runs)
            rng = random.Random(f"{seed} {part}")
            if len(choices) > 1:
                rng.shuffle(blocks)
            yield Chunk(with_pairs(blocks, part, rng), made)

    def _products(self, choice: Choice, stimulus: Stimulus, engine: str | None, noise: random.Random) -> DotProducts:
        """The dot products of a choice, with a mask where the design has one: of every other vector all products count."""
        operation = choice.unit.operation
        assumed, formats = self.widths.assumed.of(operation, choice.places), (operation.a, operation.b)
        operands = self.widths.taken(stimulus.operands, operation, assumed, formats)
        products = masked_products(choice, replace(stimulus, operands=operands), self.design.mask, engine, noise, formats)
        products = replace(products, assumed=assumed)
        if self.design.metadata:
            rng = np.random.default_rng(noise.getrandbits(64))
            products = replace(products, selected=Selected(self.design.metadata, *drawn_metadata(operands.b, rng)))
        if self.widths.c_bits == 0 and isinstance(operation, FMA):
            products = replace(products, covered=operation.without_c())
        return with_fixed_results(products, self.widths.d)

    def _vectors(self, choice: Choice, products: DotProducts, noise: random.Random) -> list[Vector]:
        """The vectors of the rows. Operands that the choice does not read, and inputs that are only returned, are random."""
        n, widths, transfers = self.results, self.widths_of_ports, unit_transfers(products)
        unread = [port for port in widths if port not in transfers[0]]
        raised = _raised(products, self.design)
        returned = [port for port in self.design.shared_inputs if port not in choice.codes and port not in raised]
        vectors = []
        for row in range(0, len(transfers), n):
            each = transfers[row : row + n]
            if unread:
                each = [transfer | {port: noise.getrandbits(widths[port]) for port in unread} for transfer in each]
            shared = dict(choice.codes) | {port: noise.getrandbits(self.design.shared_inputs[port]) for port in returned}
            shared |= {port: codes[row] for port, codes in raised.items()}
            elements = [Element(products, row + k, place(k, n)) for k in range(n)]
            vectors.append(Vector([side_by_side(each, widths) | shared], elements))
        return vectors

    @cached_property
    def widths_of_ports(self) -> dict[str, int]:
        """The width of each input that a result does not share with others (bits)."""
        shared = self.design.shared_inputs
        inputs = [
            port for port in self.design.ports if port.direction == "input" and port.name in operand_names(self.design)
        ]
        return {port.name: port.width for port in inputs if port.name not in shared}


def _with_runs(rows: Stimulus, of_vector: int, seed: Sequence[int]) -> tuple[Stimulus, list[Run]]:
    """The rows with runs of vectors that repeat operands, and these runs. The seed is the run's, then the chunk's number."""
    stimulus, runs = gathered(rows, of_vector, np.random.default_rng([*seed, of_vector]), seed[1])
    return repeated(stimulus, runs, of_vector), runs


def side_by_side(transfers: Sequence[dict[str, int]], widths: Mapping[str, int]) -> dict[str, int]:
    """Pack several transfers into one, the first in the low bits of each port."""
    if len(transfers) == 1:
        return transfers[0]
    return {port: sum(t[port] << k * widths[port] for k, t in enumerate(transfers)) for port in transfers[0]}


def place(k: int, results: int) -> str:
    """The place of one of several results, as text."""
    return f"result {k}" if results > 1 else ""


@dataclass(frozen=True)
class ProductSpecification:
    """The dot products of a unit over several steps, or its matrices: a vector is one of them, whose `format` says its K.

    Attributes:
        widths: the widths of c.
    """

    design: ProductDesign
    widths: OperandWidths = THE_UNITS

    @property
    def is_native(self) -> bool:
        """Whether the native library computes the results."""
        return all(computes(choice.unit.operation) for choice, _ in self.design.kinds)

    def check_count(self, count: int) -> None:
        """Raise ValueError for fewer vectors than kinds of results: one would be untested."""
        kinds = len(self.design.kinds)
        if count < kinds:
            of = ", of each combination of values" if kinds > len(self.design.lengths) else ""
            raise ValueError(f"vectors must be at least the {kinds} numbers of transfers{of}, got {count}")

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        """Generate about the same number of vectors for each kind, in random order; if there are fewer, none of some."""
        design, kinds = self.design, self.design.kinds
        on_diagonal = places(design.m, design.n)
        shares = [len(range(number, count, len(kinds))) * on_diagonal for number in range(len(kinds))]
        rows = max(1, CHUNK // (len(kinds) * design.m * design.n)) * on_diagonal
        streams = [
            chunks(self.widths.shape_of(choice.unit, K), share, seed + number // len(design.lengths) * APART, rows)
            if share
            else iter(())
            for number, ((choice, K), share) in enumerate(zip(kinds, shares, strict=True))
        ]
        for part, of_each_kind in enumerate(zip_longest(*streams)):
            blocks: list[Sequence[Vector]] = []
            made = []
            for number, ((choice, _), stimulus) in enumerate(zip(kinds, of_each_kind, strict=True)):
                if stimulus is None:
                    continue
                noise = random.Random(f"{seed} {part} {number} inputs")
                products, runs = self._products(choice, stimulus, [seed, part, number], engine, noise)
                made.append(products)
                blocks += blocks_of(self._vectors(products, choice, noise), runs)
            rng = random.Random(f"{seed} {part}")
            if len(kinds) > 1:
                rng.shuffle(blocks)
            yield Chunk(with_pairs(blocks, part, rng), made)

    def _products(
        self, choice: Choice, rows: Stimulus, seed: Sequence[int], engine: str | None, noise: random.Random
    ) -> tuple[DotProducts, list[Run]]:
        """The rows of all elements, with their results, and the runs of vectors that repeat operands."""
        u, m, n = choice.unit, self.design.m, self.design.n
        if m * n == 1:
            elements, runs = _with_runs(rows, 1, seed)
        else:
            elements, runs = self._tiles(rows, seed)
        assumed = self.widths.assumed.of(u.operation, choice.places)
        operands = self.widths.taken(elements.operands, u.operation, assumed, (u.a, u.b))
        products = masked_products(choice, replace(elements, operands=operands), self.design.mask, engine, noise, (u.a, u.b))
        products = self.widths.settled(replace(products, assumed=assumed), m * n, seed)
        return (with_rare_results(products, runs, 1) if m * n == 1 else products), runs

    def _tiles(self, rows: Stimulus, seed: Sequence[int]) -> tuple[Stimulus, list[Run]]:
        """The elements of matrices that hold each row on a diagonal."""
        m, n, rng = self.design.m, self.design.n, np.random.default_rng(seed)
        stimulus, runs = gathered(rows, places(m, n), rng, seed[1])
        tiles, label = among_mixed(stimulus, m, n, rng)
        scales = [] if tiles.scale_a is None else [range(tiles.scale_a.shape[-1])]
        tiles = repeat_in_tiles(tiles, runs, [range(tiles.a.shape[-1])], scales)
        return elements_of_tiles(tiles, label, stimulus.names, runs), runs

    def _vectors(self, products: DotProducts, choice: Choice, noise: random.Random) -> list[Vector]:
        """The vectors of rows, m·n of them for each."""
        design, operands = self.design, products.stimulus.operands._asdict()
        m, n = design.m, design.n
        columns = {} if products.mask is None else {products.mask.port: packed(products.mask.bits, Bits(1))}
        for name, each in design.operands_of(operands["a"].shape[-1], choice.unit).items():
            if name != "d":
                codes = operands[name].reshape(-1, m, n, *operands[name].shape[1:])
                chosen = codes[:, :, 0] if name.endswith("a") else codes[:, 0] if name.endswith("b") else codes
                chosen = chosen ^ each.format.negative_zero if choice.source(name).is_negated else chosen
                columns[name] = packed_codes(np.ascontiguousarray(chosen), each.format)
        raised = _raised(products, design)
        given = columns.keys() | choice.codes.keys() | raised.keys()
        open_ports = {*design.operands_of(max(design.lengths)), *design.shared_inputs} - given  # not a handshake's
        free = {port.name: port.width for port in design.ports if port.direction == "input" and port.name in open_ports}
        named = [place_in_matrix(i, j, m * n) for i in range(m) for j in range(n)]
        vectors = []
        for at, transfer in enumerate(_transposed(columns)):
            first = at * m * n
            shared = dict(choice.codes) | {port: noise.getrandbits(width) for port, width in free.items()}
            for port, codes in raised.items():
                shared[port] = reduce(or_, codes[first : first + m * n])
            elements = [Element(products, first + k, name) for k, name in enumerate(named)]
            vectors.append(Vector([transfer | shared], elements))
        return vectors


def place_in_matrix(row: int, column: int, elements: int) -> str:
    """The place of an element of D, as text; empty where it is the only one."""
    return f"element [{row}][{column}]" if elements > 1 else ""


def is_in_matrix(place: str) -> bool:
    """Whether a place is that of an element of D."""
    return place.startswith("element ")


def elements_of_tiles(tiles: Tiles, label: Any, names: Sequence[str], runs: Sequence[Run]) -> Stimulus:
    """The rows of all elements of tiles, row by row, with the class of each."""
    label = label.reshape(len(tiles), -1)
    for run in runs:
        label[run.all] = len(names) + 1  # behind `mixed`
    operands = Operands(*(None if part is None else part.reshape(label.size, -1) for part in tiles.rows(np)))  # type: ignore[arg-type]
    return Stimulus(operands._replace(c=operands.c[:, 0]), label.reshape(-1), (*names, "mixed", REPEATED))


@dataclass(frozen=True)
class TileSpecification:
    """A tile of an instruction of the catalogue, with any m and n, or the array of a unit.

    A vector is a tile, a transfer one of its steps, or where weights stay a row of A in one of them.

    Raises:
        ValueError: an instruction that differs from the catalogue's in more than m and n.
    """

    instruction: Instruction
    unit: Unit | None = None

    @property
    def shape(self) -> TileShape:
        """What the transfers of a tile bring."""
        return TileShape(self.instruction, None if self.unit is None else self.unit.array)

    def __post_init__(self) -> None:
        i = self.instruction
        if self.unit is None and i != replace(golden.instruction(i.arch, i.name), m=i.m, n=i.n):
            raise ValueError(f"a tile must be of an instruction of the catalogue, m and n aside; {i.arch} {i.name} differs")

    @property
    def is_native(self) -> bool:
        """Whether the native library computes the results."""
        return computes(self.instruction.operation)

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
        elements = elements_of_tiles(tiles, label, stimulus.names, runs)
        products = dot_products("", i, i.operation, elements, engine, (i.a, i.b))
        names = [f"element [{row}][{column}]" for row in range(i.m) for column in range(i.n)]
        vectors = [
            Vector(transfers, [Element(products, tile * len(names) + place, name) for place, name in enumerate(names)])
            for tile, transfers in enumerate(self._transfers(tiles, rng))
        ]
        return Chunk(with_pairs(blocks_of(vectors, runs), part, random.Random(f"{seed} {part}")), [products])

    def _repeated(self, tiles: Tiles, runs: Sequence[Run]) -> Tiles:
        """The tiles with the operands that their runs hold."""
        shape, steps = self.shape, range(self.shape.steps)
        scales = [] if self.instruction.block_size is None else [self.shape.blocks(step) for step in steps]
        return repeat_in_tiles(tiles, runs, [shape.products(step) for step in steps], scales)

    def _transfers(self, tiles: Tiles, rng: np.random.Generator) -> list[tuple[dict[str, int], ...]]:
        """The values of the operand ports at each transfer of each tile; what a transfer does not read is random."""
        i, operands, transfers = self.instruction, self.shape.operands, []
        for transfer in self.shape.transfers:
            rows, ks = transfer.rows, self.shape.products(transfer.step)
            codes = {"a": tiles.a[:, rows, ks], "b": tiles.b[:, :, ks], "c": tiles.c}
            for name in i.operation.scale_operands:
                lines = rows if name.endswith("a") else slice(None)
                codes[name] = getattr(tiles, name)[:, lines, self.shape.blocks(transfer.step)]
            for name in codes:
                if not (transfer.takes_c if name == "c" else transfer.takes_b or not name.endswith("b")):
                    codes[name] = uniform_codes(GeneratorDraws(rng), operands[name].format, codes[name].shape)
            columns = {name: packed_codes(part, operands[name].format) for name, part in codes.items()}
            transfers.append(_transposed(columns))
        return list(zip(*transfers, strict=True))


def masked_products(
    choice: Choice, stimulus: Stimulus, mask: str, engine: str | None, noise: random.Random, formats: tuple[Format, Format]
) -> DotProducts:
    """The dot products of a choice, one for each row of the stimulus, with a mask where the design has one: of every other
    row all products count; and with random bits or zero points where the unit takes some."""
    unit, operands, bits, further = choice.unit, stimulus.operands, None, list[Further]()
    if mask:
        bits = drawn_mask(operands.a.shape, np.random.default_rng(noise.getrandbits(64)))
    if unit.random is not None:
        rng, port, width = np.random.default_rng(noise.getrandbits(64)), unit.random.port, unit.random.width
        drawn = rng.integers(0, 1 << width, len(operands.a), np.uint64)
        kind = rng.integers(0, 8, len(drawn))  # all zeros and all ones are ends
        drawn[kind == 0], drawn[kind == 1] = 0, (1 << width) - 1
        further.append(Further(RANDOM, port, drawn, width))
    for name, port in unit.zeros.items():
        kind, rng = getattr(unit, name), np.random.default_rng(noise.getrandbits(64))
        shape = len(operands.a), zeros_of(unit.operation, operands.a.shape[1])
        further.append(Further(f"zero_{name}", port, drawn_zeros(kind, shape, rng), kind.width))
    of_mask = None if bits is None else Mask(mask, bits)
    return dot_products(choice.name, unit, unit.operation, stimulus, engine, formats, choice.places, of_mask, tuple(further))


def dot_products(
    name: str,
    model: Unit | Instruction,
    operation: golden.Operation,
    stimulus: Stimulus,
    engine: str | None,
    formats: tuple[Format, Format],
    places: Mapping[str, Source] = MappingProxyType({}),
    mask: Mask | None = None,
    further: tuple[Further, ...] = (),
) -> DotProducts:
    """The rows of a stimulus with the results of a golden model."""
    dot: Callable[..., Any] = model.dot
    has_steps = getattr(model, "sums", None) is None and not further
    found = DotProducts(
        name, operation, stimulus, dot, (), formats, has_steps=has_steps, places=places, mask=mask, further=further
    )
    return replace(found, expected=found.computed(engine))


def unit_transfers(products: DotProducts) -> list[dict[str, int]]:
    """The values of a datapath's operand ports for each row."""
    columns, sent = {}, products.sent
    for name, elements in step_operands(products.operation).items():
        if name != "d":
            port, is_negated = products.places.get(name, Source(name))
            codes = getattr(sent, name)
            columns[port] = packed_codes(codes ^ elements.format.negative_zero if is_negated else codes, elements.format)
    if products.mask is not None:
        columns[products.mask.port] = packed(products.mask.bits, Bits(1))
    for each in products.further:
        columns[each.port] = packed(each.codes.reshape(len(each.codes), -1), Bits(each.width))
    if products.selected is not None:
        columns[products.selected.port] = packed(products.selected.codes, Bits(CODE_BITS))
    return _transposed(columns)


def packed_codes(codes: BitArray, operand: Format) -> list[int]:
    """Pack the codes of each row or tile (the first dimension) into one integer."""
    return packed(codes.reshape(len(codes), -1), operand)


def _transposed(columns: dict[str, Sequence[int]] | dict[str, list[int]]) -> list[dict[str, int]]:
    """Convert columns of values by port to one mapping of ports to values for each transfer."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
