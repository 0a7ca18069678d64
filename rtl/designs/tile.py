"""A tile: an M×N×K instruction on M·N datapaths, issued over K/L steps."""

from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden import Implementation, Instruction
from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import Format
from golden.chains.chain import ChainTable
from golden.checks import check_int
from golden.units.unit import MAX_STAGES
from rtl.datapath.base import Datapath, check_placed
from rtl.datapath.rounded_adder import RoundedAdder
from rtl.datapath.step import Build
from rtl.designs.unit import DATAPATHS
from rtl.operations.lengths import check_range
from rtl.steps.component import AnyComponent
from rtl.steps.fp8_to_fp16 import Convert


@dataclass(frozen=True)
class TileShape:
    """The shape of an instruction's tile, independent of its implementation.

    Attributes:
        instruction: the instruction; `dataclasses.replace` gives it another m or n.
    """

    instruction: Instruction

    @property
    def steps(self) -> int:
        """Number of steps of one tile."""
        return self.instruction.k // self.instruction.operation.length

    @property
    def c_step(self) -> int:
        """The step with which c is read."""
        return self.steps - 1 if self.instruction.fp16_order is not None else 0

    def products(self, step: int) -> list[int]:
        """The indices k of the elements of A and B that a step takes, in order of their places."""
        order = self.instruction.chain.order_over(self.instruction.k)
        length = self.instruction.operation.length
        return order[step * length : (step + 1) * length]

    def widths(self) -> dict[str, int]:
        """The widths of the ports for operands and result (bits)."""
        i, operation = self.instruction, self.instruction.operation
        widths = {
            "a": i.m * operation.length * i.a.width,
            "b": i.n * operation.length * i.b.width,
            "c": i.m * i.n * operation.c.width,
            "d": i.m * i.n * operation.d.width,
        }
        if i.scale is not None:
            scale_bits = operation.scales_per_step * i.scale.width
            widths |= {"scale_a": i.m * scale_bits, "scale_b": i.n * scale_bits}
        return widths


MAX_SIDE = 256
"""Largest number of rows, or of columns, of a tile; the largest published instruction has 256 columns."""


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

    Where the catalogue runs an FP8 instruction as FP16 (golden: `Chain.nvidia`), operands are converted, the sum starts
    from zero, and C is added behind the last register.

    Args:
        instruction: of the catalogue; `dataclasses.replace` gives it another m or n.
        implementation: of the datapaths, with at least one stage.

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

    def __init__(self, instruction: Instruction, implementation: Implementation) -> None:
        check_tile(instruction, implementation)
        self.instruction, self.implementation = instruction, implementation
        self.shape = TileShape(instruction)
        self.steps = self.shape.steps
        operands = {name: Out(width) if name == "d" else In(width) for name, width in self.shape.widths().items()}
        handshake = {"in_valid": In(1), "in_ready": Out(1), "out_valid": Out(1), "out_ready": In(1)}
        super().__init__(operands | handshake)

    @property
    def latency(self) -> int:
        """Cycles from the first step's transfer to the result if nothing stalls."""
        return self.steps * self.implementation.stages

    def elaborate(self, platform: object) -> Module:
        m = Module()
        build, sides = Build(m, platform), self.instruction
        in_transfer = Signal()
        out_transfer = Signal()
        in_valid = Signal()
        out_ready = Signal()
        # 1. which step comes in next, and of which step the result leaves next
        in_step, out_step = self._counter(m, "in_step", in_transfer), self._counter(m, "out_step", out_transfer)
        first, last = ~in_step.any(), out_step == self.steps - 1
        # 2. a datapath for every element of D, with the operands of its row and its column
        rows = self._vectors(build, "a", self.a, sides.a, sides.m)
        columns = self._vectors(build, "b", self.b, sides.b, sides.n)
        datapaths = [[self._datapath() for _ in columns] for _ in rows]
        results = []
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                part = datapaths[i][j]
                m.submodules[f"datapath_{i}_{j}"] = part
                start, result = self._ends(build, i, j, part.d, in_transfer & (in_step == self.shape.c_step))
                m.d.comb += [part.a.eq(row), part.b.eq(column), part.c.eq(Mux(first, start, part.d))]
                m.d.comb += [part.in_valid.eq(in_valid), part.out_ready.eq(out_ready)]
                if sides.scale is not None:
                    m.d.comb += part.scale_a.eq(self.scale_a.word_select(i, len(part.scale_a)))
                    m.d.comb += part.scale_b.eq(self.scale_b.word_select(j, len(part.scale_b)))
                results.append(result)
        # 3. the handshake, read from the first datapath: all have the same inputs to theirs, so all move together. A first
        #    step may always enter; any other enters when the result of the step before it is there, and takes it along.
        lead = datapaths[0][0]
        may_issue = first | (lead.out_valid & ~last)
        m.d.comb += [
            in_valid.eq(self.in_valid & may_issue),
            self.in_ready.eq(lead.in_ready & may_issue),
            in_transfer.eq(self.in_valid & self.in_ready),
            out_ready.eq(Mux(last, self.out_ready, self.in_valid & ~first)),
            self.out_valid.eq(lead.out_valid & last),
            out_transfer.eq(lead.out_valid & out_ready),
            self.d.eq(Cat(results)),
        ]
        return m

    def _datapath(self) -> Datapath:
        operation = self.instruction.operation
        return DATAPATHS[type(operation)](operation, self.implementation)

    def _counter(self, m: Module, name: str, transfer: Value) -> Value:
        """A counter of the step that the next transfer belongs to."""
        step = Signal(range(max(2, self.steps)), name=name)
        if self.steps > 1:
            with m.If(transfer):
                m.d.sync += step.eq(Mux(step == self.steps - 1, 0, step + 1))
        return step

    def _vectors(self, build: Build, name: str, codes: Value, operand: Format, count: int) -> list[Value]:
        """The operands of each row or column, as the datapath takes them."""
        length = self.instruction.operation.length
        if self.instruction.fp16_order is None:
            return [codes.word_select(place, length * operand.width) for place in range(count)]
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


def check_tile(instruction: Instruction, implementation: Implementation) -> None:
    """Raise ValueError, naming key, rule and value, for a tile that cannot be built."""
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
