"""A tile: an M×N×K product on M·N datapaths, issued over K/L steps; of an instruction, or the array of a unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden import Implementation, Instruction
from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import Format
from golden.chains.chain import ChainTable
from golden.checks import check_int
from golden.units.unit import MAX_SIDE, MAX_STAGES, Array, Unit
from rtl.datapath.base import Datapath, DecodedDatapath, check_placed
from rtl.datapath.rounded_adder import RoundedAdder
from rtl.datapath.step import Build
from rtl.designs.ports import Elements
from rtl.designs.unit import DATAPATHS
from rtl.operations.lengths import check_range
from rtl.steps.component import AnyComponent


@dataclass(frozen=True)
class Transfer:
    """A transfer at the input of a tile.

    Attributes:
        rows: the rows of A whose elements it brings. step: the step whose products it brings.
        takes_b, takes_c: whether b, or c, is read.
    """

    rows: slice
    step: int
    takes_b: bool
    takes_c: bool


class Share(NamedTuple):
    """Where an operand of an element of D lies: a transfer, and a place among so many equal parts of a port."""

    transfer: int
    place: int
    parts: int


@dataclass(frozen=True)
class TileShape:
    """The shape of an instruction's tile, independent of its implementation.

    Attributes:
        instruction: the instruction; `dataclasses.replace` gives it another m or n.
        array: how operands reach the datapaths; None as in an array whose outputs stay.
    """

    instruction: Instruction
    array: Array | None = None

    @property
    def at_once(self) -> int:
        """Steps of one element of D whose operands a transfer brings: where weights stay, one for each row of elements."""
        return self.array.rows if self.array is not None and self.array.keeps_weights else 1

    @property
    def steps(self) -> int:
        """Number of steps of one tile, or of changes of the weights that stay."""
        return self.instruction.k // (self.at_once * self.instruction.operation.length)

    @property
    def rows(self) -> int:
        """Rows of A in one transfer."""
        return self.instruction.m if self.array is None or not self.array.keeps_weights else 1

    @property
    def c_step(self) -> int:
        """The step with which c is read."""
        return self.steps - 1 if self.instruction.fp16_order is not None else 0

    @property
    def transfers(self) -> list[Transfer]:
        """The transfers of one tile, in order."""
        m = self.instruction.m
        return [
            Transfer(slice(row, row + self.rows), step, row == 0, row == 0 and step == self.c_step)
            for step in range(self.steps)
            for row in range(0, m, self.rows)
        ]

    @property
    def c_transfer(self) -> int:
        """The number of the transfer with which c is read."""
        return next(number for number, each in enumerate(self.transfers) if each.takes_c)

    def sources(self, row: int, column: int) -> list[tuple[Share, Share]]:
        """Where the operands of an element of D lie in a and b, and their scales likewise, for each L products in turn."""
        i, transfers, found = self.instruction, self.transfers, []
        for step in range(self.steps):
            those = [number for number, each in enumerate(transfers) if each.step == step]
            of_a = next(number for number in those if transfers[number].rows.start <= row < transfers[number].rows.stop)
            of_b = next(number for number in those if transfers[number].takes_b)
            line = row - transfers[of_a].rows.start
            for part in range(self.at_once):
                a = Share(of_a, line * self.at_once + part, self.rows * self.at_once)
                found.append((a, Share(of_b, column * self.at_once + part, i.n * self.at_once)))
        return found

    def products(self, step: int) -> list[int]:
        """The indices k of the elements of A and B that a step takes, in order of their places."""
        order = self.instruction.chain.order_over(self.instruction.k)
        length = self.at_once * self.instruction.operation.length
        return order[step * length : (step + 1) * length]

    def blocks(self, step: int) -> list[int]:
        """The blocks whose scales a step takes, in order of their places."""
        operation, block_size = self.instruction.operation, self.instruction.block_size
        assert block_size is not None
        first = [number * operation.length // block_size for number in range(step * self.at_once, (step + 1) * self.at_once)]
        return [block + place for block in first for place in range(operation.scales_per_step)]

    @property
    def operands(self) -> dict[str, Elements]:
        """The operands of one transfer and the result."""
        i, operation = self.instruction, self.instruction.operation
        length, scales = self.at_once * operation.length, dict[str, Elements]()
        if i.scale is not None:
            per_step = self.at_once * operation.scales_per_step
            lines = {"scale_a": self.rows, "scale_b": i.n}
            scales = {name: Elements(i.scale, lines[name] * per_step) for name in operation.scale_operands}
        return {
            "a": Elements(i.a, self.rows * length),
            "b": Elements(i.b, i.n * length),
            "c": Elements(i.c, i.m * i.n),
            **scales,
            "d": Elements(i.d, i.m * i.n),
        }


UNIT = "unit"
"""The architecture under which the product of a unit's array goes, which is in no catalogue."""


def product_of(unit: Unit, array: Array) -> Instruction:
    """The matrix product that an array of a unit computes.

    Raises:
        ValueError: an operation without c, or a chain that does not have as many products.
    """
    operation = unit.operation
    if "c" not in operation.operands:
        raise ValueError(f"{unit.name} has no array: {operation.name} has no c, in which an element adds up its steps")
    m, at_once = (array.depth, array.rows) if array.keeps_weights else (array.rows, 1)
    k = array.steps * at_once * operation.length
    return Instruction(
        arch=UNIT, name=unit.name, m=m, n=array.columns, k=k, a=unit.a, b=unit.b, operation=operation,
        chain=unit.chain_over(k), evidence="documented",
    )  # fmt: skip


class MMATile(AnyComponent):
    """D = A·B + C: every step multiplies L columns of A with L rows of B in all elements of D at once.

    The last pipeline register of a datapath is its accumulator: a sum waits there for the next step and returns as its c.
    With a single step, tiles follow each other cycle by cycle; of several steps, each waits for the result of the one
    before, `stages` cycles, while the first of the next tile follows the last of this one at once. With two stages and three
    steps (A0: step 0 of tile A):

        cycle        0    1    2    3    4    5    6    7    8    9
        step in      A0        A1        A2   B0        B1        B2
        result of              A0        A1        A2   B0        B1
        d                                          A

    A systolic array is the same with delays: everything that the element in row i and column j takes, its handshake too,
    comes i + j cycles later than at element (0, 0), so its state is the one that element (0, 0) had then. Its c waits in a
    register from the first step on, the results wait until the last one is there. With `double_buffer` they wait in
    registers of their own.

    Where the catalogue runs an FP8 instruction as FP16 (golden: `Chain.nvidia`), operands are converted, the sum starts
    from zero, and C is added behind the last register.

    Args:
        instruction: of the catalogue; `dataclasses.replace` gives it another m or n.
        implementation: of the datapaths, with at least one stage.
        array: how operands reach them; its sides and steps are those of the instruction.

    Members:
        a: In, L elements of each row of A: element k of row i in place i·L + k, for the products `shape.products(step)`.
        b: In, L elements of each column of B: element k of column j in place j·L + k.
        scale_a, scale_b: In, where scaled: the scales of those elements, those of a row or column side by side.
        c: In, element (i, j) in place i·n + j; read with step `shape.c_step` only.
        in_valid, in_ready: a transfer is one step.
        d: Out, element (i, j) in place i·n + j. out_valid, out_ready: a transfer is one tile.

    Raises:
        ValueError: stages of 0, or a size or an operation that a tile cannot hold.
    """

    CONTROL = ("in_valid", "first", "out_ready", "stored")
    """What every element is told; `stored`: that its result moves to its own registers."""

    a: Signal
    b: Signal
    scale_a: Signal
    scale_b: Signal
    c: Signal
    d: Signal
    in_valid: Signal
    in_ready: Signal
    out_valid: Signal
    out_ready: Signal

    def __init__(self, instruction: Instruction, implementation: Implementation, array: Array | None = None) -> None:
        check_tile(instruction, implementation)
        self.instruction, self.implementation = instruction, implementation
        self.shape = TileShape(instruction, array)
        self.steps = self.shape.steps
        self.array = array or Array(rows=instruction.m, columns=instruction.n, steps=self.steps)
        widths = {name: elements.width for name, elements in self.shape.operands.items()}
        operands = {name: Out(width) if name == "d" else In(width) for name, width in widths.items()}
        handshake = {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(operands | handshake)

    @property
    def latency(self) -> int:
        """Cycles from the first step's transfer to the result if nothing stalls."""
        return self.steps * self.implementation.stages + self.array.wave + self.array.double_buffer

    def elaborate(self, platform: object) -> Module:
        m = Module()
        build, array = Build(m, platform), self.array
        in_transfer = Signal()
        out_transfer = Signal()
        in_valid = Signal()
        out_ready = Signal()
        # 1. which step comes in next, and of which step the result leaves next
        in_step = counter(m, "in_step", in_transfer, self.steps)
        out_step = counter(m, "out_step", out_transfer, self.steps)
        first, last = ~in_step.any(), out_step == self.steps - 1
        # 2. a datapath for every element of D, with the operands of its row and its column
        datapaths = [[self.element() for _ in range(array.columns)] for _ in range(array.rows)]
        lead = datapaths[0][0]
        late = range(max(array.rows, array.columns)) if array.wave else [0] * max(array.rows, array.columns)
        rows = self._along(m, "row", self._edge(build, "a", self.a, array.rows, lead), array.columns, late)
        columns = self._along(m, "column", self._edge(build, "b", self.b, array.columns, lead), array.rows, late)
        ends = lead.out_valid & last
        taken, all_there = self._collected(m, ends)
        moves = (in_valid, first, out_ready, ends & taken)
        told: list[Ports] = [dict(zip(self.CONTROL, moves, strict=True))]
        for cycles in range(1, array.wave + 1):
            told.append(registers(m, f"late_{cycles}", told[-1], reset_less=False))
        results = []
        for i in range(array.rows):
            for j in range(array.columns):
                part, now = datapaths[i][j], told[i + j if array.wave else 0]
                m.submodules[f"datapath_{i}_{j}"] = part
                start, result = self._ends(build, i, j, part.d, in_transfer & (in_step == self.shape.c_step))
                if array.wave and i + j:
                    start = held(m, f"c_{i}_{j}", start, in_transfer & first)
                m.d.comb += [getattr(part, name).eq(value) for name, value in {**rows[i][j], **columns[j][i]}.items()]
                m.d.comb += part.c.eq(Mux(now["first"], start, part.d))
                m.d.comb += [part.in_valid.eq(now["in_valid"]), part.out_ready.eq(now["out_ready"])]
                results.append(held(m, f"d_{i}_{j}", result, now["stored"]) if array.double_buffer else result)
        # 3. the handshake, read from the first datapath: all have the same inputs to theirs, so all move together. A first
        #    step may always enter; any other enters when the result of the step before it is there, and takes it along.
        may_issue = self._may_start(m, first, in_transfer) | (lead.out_valid & ~last)
        m.d.comb += [
            in_valid.eq(self.in_valid & may_issue),
            self.in_ready.eq(lead.in_ready & may_issue),
            in_transfer.eq(self.in_valid & self.in_ready),
            out_ready.eq(Mux(last, taken, self.in_valid & ~first)),
            self.out_valid.eq(all_there),
            out_transfer.eq(lead.out_valid & out_ready),
            self.d.eq(Cat(results)),
        ]
        return m

    def element(self) -> Datapath | DecodedDatapath:
        """A new datapath of an element of D."""
        operation = self.instruction.operation
        datapath = DATAPATHS[type(operation)](operation, self.implementation)
        return (
            datapath
            if self.array.decoders == "each"
            else DecodedDatapath(datapath, narrow=self.array.wave > 0 or self.array.keeps_weights)
        )

    def _may_start(self, m: Module, first: Value, in_transfer: Value) -> Value:
        """Whether a first step may enter: where c waits in registers, when every element has begun with the one before."""
        wave = self.array.wave
        if not wave:
            return first
        left = Signal(range(wave), name="c_left")
        m.d.sync += left.eq(Mux(in_transfer & first, wave - 1, Mux(left.any(), left - 1, 0)))
        return first & ~left.any()

    def _collected(self, m: Module, ends: Value) -> tuple[Value, Value]:
        """Whether the result of the first datapath is taken, and whether those of all are there.

        Args:
            ends: whether the first datapath has a result.
        """
        wave = self.array.wave
        behind = Signal(range(wave + 1), name="behind")  # by how many cycles the last datapath is
        if self.array.double_buffer:
            full = Signal(name="full")
            all_there = full & ~behind.any()
            taken = ~full | (all_there & self.out_ready)
            m.d.sync += [
                full.eq(Mux(taken, ends, full)),
                behind.eq(Mux(ends & taken, wave, Mux(behind.any(), behind - 1, 0))),
            ]
            return taken, all_there
        if not wave:
            return self.out_ready, ends
        is_last = behind == wave
        m.d.sync += behind.eq(Mux(ends & ~(is_last & self.out_ready), Mux(is_last, wave, behind + 1), 0))
        return self.out_ready & is_last, ends & is_last

    def _along(self, m: Module, side: str, lines: "Sequence[Ports]", count: int, late: Sequence[int]) -> "list[list[Ports]]":
        """The operands of each row, or column, at each of its elements. Those of line k come late[k] cycles late; in a
        systolic array they take a cycle from element to element."""
        found = []
        for k, ports in enumerate(lines):
            for cycles in range(1, late[k] + 1):
                ports = registers(m, f"{side}_{k}_late_{cycles}", ports)
            along = [ports]
            while len(along) < count:
                along.append(registers(m, f"{side}_{k}_at_{len(along)}", along[-1]) if self.array.wave else ports)
            found.append(along)
        return found

    def _edge(self, build: Build, name: str, codes: Value, count: int, lead: Datapath | DecodedDatapath) -> "list[Ports]":
        """The operands of each row, or column, as a datapath takes them."""
        lines: list[Ports] = []
        for place, elements in enumerate(self._vectors(build, name, codes, getattr(self.instruction, name), count)):
            ports = {name: elements}
            if f"scale_{name}" in self.instruction.operation.scale_operands:
                scales = getattr(self, f"scale_{name}")
                ports[f"scale_{name}"] = scales.word_select(place, len(scales) // count)
            if isinstance(lead, DecodedDatapath):
                ports = {port: lead.decoded(build, port, place, each) for port, each in ports.items()}
            lines.append(ports)
        return lines

    def _vectors(self, build: Build, name: str, codes: Value, operand: Format, count: int) -> list[Value]:
        """The operands of each row or column, as the datapath takes them."""
        length = self.instruction.operation.length
        if self.instruction.fp16_order is None:
            return [codes.word_select(place, length * operand.width) for place in range(count)]
        from rtl.steps.fp8_to_fp16 import Convert  # other orders do without

        converted = []
        for place in range(count * length):
            part = Convert(operand)
            build.place(f"convert_{name}_{place}", part)
            build.m.d.comb += part.code.eq(codes.word_select(place, operand.width))
            converted.append(part.converted)
        return [Cat(converted[place * length : (place + 1) * length]) for place in range(count)]

    def _ends(self, build: Build, i: int, j: int, d: Value, takes_c: Value) -> tuple[Value, Value]:
        """The initial accumulator of element (i, j), and its result as a function of the datapath's d."""
        operation = self.instruction.operation
        c = self.c.word_select(i * self.instruction.n + j, operation.c.width)
        if self.instruction.fp16_order is None:
            return c, d
        # The c of the last step's transfer is still the current tile's when its result arrives: the next tile cannot issue
        # its own last step before that, having to see its first result.
        addend = Signal(operation.d.width, name=f"addend_{i}_{j}")
        with build.m.If(takes_c):
            build.m.d.sync += addend.eq(c)
        rho = conversion(f"RNE-{operation.d.name.upper()}")
        adder = RoundedAdder(f"add_{i}_{j}", rho, self.implementation, canonical=True, flush=False)
        added = adder.encode(build, *adder.accumulate(build, adder.align(build, d, addend)))
        return Const(0, operation.c.width), added


Ports = dict[str, Value]
"""Values of ports by name."""


def registers(m: Module, name: str, values: Ports, reset_less: bool = True) -> Ports:
    """The values one cycle later."""
    found: Ports = {}
    for port, value in values.items():
        register = Signal(len(value), name=f"{name}_{port}", reset_less=reset_less)
        m.d.sync += register.eq(value)
        found[port] = register
    return found


def held(m: Module, name: str, value: Value, when: Value) -> Value:
    """A register that takes a value in some cycles."""
    register = Signal(len(value), name=name, reset_less=True)
    with m.If(when):
        m.d.sync += register.eq(value)
    return register


def counter(m: Module, name: str, when: Value, count: int) -> Signal:
    """A register that counts from 0 to count - 1, and from 0 again, in some cycles."""
    register = Signal(range(max(2, count)), name=name)
    if count > 1:
        with m.If(when):
            m.d.sync += register.eq(Mux(register == count - 1, 0, register + 1))
    return register


def check_tile(instruction: Instruction, implementation: Implementation, array: Array | None = None) -> None:
    """Raise ValueError, naming key, rule and value, for a tile that cannot be built."""
    special = array is not None and (array.wave or array.decoders == "edge" or array.keeps_weights)
    if instruction.fp16_order is not None and special:
        keys = 'feed = "systolic", decoders = "edge" and stationary = "weights"'
        raise ValueError(f"{instruction.name}: [array] {keys} go without [chain] convert")
    check_placed(implementation)
    check_int("stages of a tile", implementation.stages, 1, MAX_STAGES)
    check_int("m of a tile", instruction.m, 1, MAX_SIDE)
    check_int("n of a tile", instruction.n, 1, MAX_SIDE)
    operation = instruction.operation
    if instruction.is_paired:
        raise ValueError(f"{instruction.name} has no tile: its products and sums are rounded by themselves, not in steps")
    if instruction.fp16_order is None:
        check_steps_from_c(instruction.name, instruction.chain.table)
    check_range(operation)
    steps = instruction.k // operation.length
    if steps > 1 and operation.c is not operation.d:
        raise ValueError(f"c and d of a tile of {steps} steps must be one format, got {operation.c} and {operation.d}")


def check_steps_from_c(name: str, table: ChainTable) -> None:
    """Raise ValueError for a table [chain] that does more than order the steps: a tile runs plain steps that start
    from c."""
    if table.convert is not None or table.adds or table.subtract:
        keys = ", ".join(f"{key} = {value}" for key, value in table.changed().items())
        raise ValueError(f"{name} has no tile: the steps of a tile start from c and add products; got [chain] {keys}")
