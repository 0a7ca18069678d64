"""An array whose weights stay: elements of B wait in the datapaths, rows of A pass, and sums go down from row to row."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.units.unit import Array
from rtl.datapath.step import Build
from rtl.designs.tile import MMATile, Ports, counter, held, registers
from rtl.steps.component import AnyComponent


class Bank(AnyComponent):
    """The accumulators of a column: one for each row of D.

    Args:
        depth, bits: how many, and of what width.

    Members:
        load, c: all accumulators take c, that of row i in place i. write, write_row, written: one takes a sum.
        read_row, read: the accumulator of a row. d: all of them.
    """

    load: Signal
    c: Signal
    write: Signal
    write_row: Signal
    written: Signal
    read_row: Signal
    read: Signal
    d: Signal

    def __init__(self, depth: int, bits: int) -> None:
        self._depth, self._bits = depth, bits
        row = In(range(max(2, depth)))
        super().__init__({
            "load": In(1), "c": In(depth * bits), "write": In(1), "write_row": row, "written": In(bits),
            "read_row": row, "read": Out(bits), "d": Out(depth * bits),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sums = [Signal(self._bits, name=f"sum_{row}", reset_less=True) for row in range(self._depth)]
        for row, register in enumerate(sums):
            with m.If(self.load):
                m.d.sync += register.eq(self.c.word_select(row, self._bits))
            with m.Elif(self.write & (self.write_row == row)):
                m.d.sync += register.eq(self.written)
        chosen = [Mux(self.read_row == row, register, 0) for row, register in enumerate(sums)]
        m.d.comb += [self.read.eq(reduce(or_, chosen)), self.d.eq(Cat(sums))]
        return m


class WeightArray(MMATile):
    """D = A·B + C: the element in row i and column j holds L elements of column j of B and adds their products with those of
    a row of A to the sum of the element above it. The sums of column j start from its bank and return there.

    With the first row of A of each step all of the step's weights are taken; with the first of all also C. Nothing inside
    the array waits; what enters is held back instead: weights until no row needs those before them (with `double_buffer`:
    until all of those have moved on), a row until its sum of the step before is in the bank, and a first one until D has
    left. With two rows of one stage, two steps and three rows of A (A0: row 0 of A with the weights of step 0):

        cycle        0    1    2    3    4    5    6    7    8    9    10
        row in       A0   A1   A2        A0'  A1'  A2'
        row 0             A0   A1   A2        A0'  A1'  A2'
        row 1                  A0   A1   A2        A0'  A1'  A2'
        to the bank                 A0   A1   A2        A0'  A1'  A2'
        d                                                              D

    Here a row waits for one cycle, for its weights would else replace those of A2; with `double_buffer` it does not.

    Members:
        a: In, L elements for each row of the array: element k of its row i in place i·L + k, for the products
            `shape.products(step)` of one row of A.
        b: In, as many elements of each column of B; read with the first row of A of each step. scale_a, scale_b: as a, b.
        c: In, element (i, j) in place i·n + j; read with the first transfer only. d: Out, likewise.
        in_valid, in_ready: a transfer is one row of A in one step. out_valid, out_ready: a transfer is one tile.
    """

    @property
    def latency(self) -> int:
        return busy_cycles(self.array, self.implementation.stages, self.steps)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        build, array, stages = Build(m, platform), self.array, self.implementation.stages
        down = array.rows * stages
        in_transfer = Signal()
        out_transfer = Signal()
        in_flight = Signal(range(array.depth + 1))
        # 1. which row of A comes in, and what every element is told of it, later the farther away it is
        row = counter(m, "row", in_transfer, array.depth)
        step = counter(m, "step", in_transfer & (row == array.depth - 1), self.steps)
        takes_b, takes_c = in_transfer & (row == 0), in_transfer & (row == 0) & (step == 0)
        ends = in_transfer & (row == array.depth - 1) & (step == self.steps - 1)
        late: list[Ports] = [{"valid": in_transfer, "first": takes_b, "row": row, "ends": ends}]
        for cycles in range(1, down + array.wave + 2):
            late.append(registers(m, f"late_{cycles}", late[-1], reset_less=False))
        # 2. the datapaths of each column, with its bank above and below
        datapaths = [[self.element() for _ in range(array.columns)] for _ in range(array.rows)]
        cycles_late = [1 + i * stages for i in range(array.rows)]
        a = self._along(m, "row", self._edge(build, "a", self.a, array.rows, datapaths[0][0]), array.columns, cycles_late)
        b = self._edge(build, "b", self.b, array.columns * array.rows, datapaths[0][0])
        banks = []
        for j in range(array.columns):
            across = 1 + (j if array.wave else 0)
            bank = Bank(array.depth, self.instruction.operation.d.width)
            m.submodules[f"bank_{j}"] = bank
            banks.append(bank)
            place = [i * array.columns + j for i in range(array.depth)]
            m.d.comb += [
                bank.load.eq(takes_c),
                bank.c.eq(Cat(self.c.word_select(each, self.instruction.operation.c.width) for each in place)),
                bank.read_row.eq(late[across]["row"]),
                bank.write.eq(late[across + down]["valid"]),
                bank.write_row.eq(late[across + down]["row"]),
            ]
            above = bank.read
            for i in range(array.rows):
                part, now = datapaths[i][j], late[across + i * stages]
                m.submodules[f"datapath_{i}_{j}"] = part
                weights = {
                    name: stays(m, f"{name}_{i}_{j}", value, takes_b, now["first"], array.double_buffer)
                    for name, value in b[j * array.rows + i].items()
                }
                m.d.comb += [getattr(part, name).eq(value) for name, value in {**a[i][j], **weights}.items()]
                m.d.comb += [part.c.eq(above), part.in_valid.eq(now["valid"]), part.out_ready.eq(1)]
                above = part.d
            m.d.comb += bank.written.eq(above)
        # 3. what holds back a transfer
        m.d.sync += in_flight.eq(in_flight + in_transfer - late[1 + down]["valid"])
        begun = Signal()
        full = Signal()
        m.d.sync += [
            full.eq(Mux(late[-1]["valid"] & late[-1]["ends"], 1, full & ~out_transfer)),
            begun.eq(Mux(takes_c, 1, begun & ~out_transfer)),
        ]
        there = self._is_there(in_flight, late[1 + down]["valid"])
        free = ~self._in_use(m, takes_b if array.double_buffer else in_transfer)
        starts = ((step != 0) | ~begun | out_transfer) & free
        m.d.comb += [
            self.in_ready.eq(there & ((row != 0) | starts)),
            in_transfer.eq(self.in_valid & self.in_ready),
            self.out_valid.eq(full),
            out_transfer.eq(full & self.out_ready),
            self.d.eq(Cat(bank.d.word_select(i, len(bank.read)) for i in range(array.depth) for bank in banks)),
        ]
        return m

    def _is_there(self, in_flight: Value, returns: Value) -> Value:
        """Whether the sum of the row that comes next is in its bank, or gets there in this cycle."""
        return (in_flight < self.array.depth) | returns

    def _in_use(self, m: Module, since: Value) -> Value:
        """Whether some element needs weights that the next would replace, after a transfer that needs them."""
        cycles = last_use(self.array, self.implementation.stages)
        left = Signal(range(cycles + 1), name="b_left")
        m.d.sync += left.eq(Mux(since, cycles, Mux(left.any(), left - 1, 0)))
        return left.any()


def stays(m: Module, name: str, value: Value, taken: Value, first: Value, double_buffer: bool) -> Value:
    """An element's weight: held from when it is taken, or from the first row of A on that it is for, and until then in a
    register in front."""
    waiting = held(m, f"{name}_next" if double_buffer else name, value, taken)
    return Mux(first, waiting, held(m, name, waiting, first)) if double_buffer else waiting


def last_use(array: Array, stages: int) -> int:
    """Cycles from when a row of A comes in until the last element has used its weights for it, less the one for which the
    row waits in front of the array."""
    return (array.rows - 1) * stages + array.wave


def step_cycles(array: Array, stages: int) -> int:
    """Cycles from the first row of A of a step to that of the next: for all rows, until the first one's sum is back, and
    until its weights may be replaced."""
    weights = last_use(array, stages) + (1 if array.double_buffer else array.depth)
    return max(array.depth, 1 + array.rows * stages, weights)


def busy_cycles(array: Array, stages: int, steps: int) -> int:
    """Cycles from the first transfer of a tile to its result, if nothing stalls."""
    return (steps - 1) * step_cycles(array, stages) + array.depth + array.rows * stages + array.wave + 1
