"""A counter-example of a pipeline as a short stimulus: what every port gets in each cycle, and what is wrong then.

A trace of the handshake becomes one with operands. What the design gives is compared with a book of it that takes transfers
in and results out, and knows golden's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from formal.counterexample import golden_result
from formal.obligations.units import NotProvable
from formal.pipelines.subjects import datapath_of, shape_of
from formal.pipelines.trace import Cycle, Trace
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.tile_design import TileDesign


@dataclass(frozen=True)
class Given:
    """What the ports of a design get in a cycle: operands, packed, by port."""

    cycle: Cycle
    operands: Mapping[str, int]


@dataclass(frozen=True)
class Seen:
    """What the outputs of a design are at the end of a cycle."""

    in_ready: int
    out_valid: int
    d: int


def stimulus(design: Design, trace: Trace, random: Random) -> list[Given]:
    """A trace with operands, other ones in every cycle."""
    return [Given(cycle, _operands(design, random)) for cycle in trace.cycles]


def flowing(design: Design) -> Trace:
    """Cycles in which nothing stalls, for as long as two results take."""
    shape = shape_of(design)
    flow = [Cycle(0, 1, 1)] * (shape.steps * (shape.stages + 1) + shape.stages + 2)
    return Trace("result is the token's", (Cycle(1, 0, 0), *flow))


def complaint(design: Design, given: Sequence[Given], seen: Sequence[Seen]) -> tuple[int, str] | None:
    """The first cycle in which something is wrong with what a design gives, and what; None where nothing is seen to be."""
    book = _Book(design)
    for number, (inputs, outputs) in enumerate(zip(given, seen, strict=True)):
        told = book.turned(inputs, outputs)
        if told:
            return number, told
    return None


class _Book:
    """Transfers in, results out."""

    def __init__(self, design: Design) -> None:
        self._design, self._steps = design, shape_of(design).steps
        self._entered: list[Mapping[str, int]] = []
        self._expected: list[int] = []
        self._left, self._waiting, self._is_reset = 0, -1, False

    def turned(self, given: Given, seen: Seen) -> str:
        """Enter a cycle; what is wrong in it."""
        cycle = given.cycle
        if cycle.rst:
            self._entered, self._expected, self._left, self._waiting, self._is_reset = [], [], 0, -1, True
            return ""
        if not self._is_reset:
            return ""
        inside = -(-len(self._entered) // self._steps) - self._left
        if seen.out_valid and not inside:
            return "out_valid is high, and nothing is inside"
        if not inside and not seen.in_ready:
            return "in_ready is low, and nothing is inside"
        if self._waiting >= 0 and not seen.out_valid:
            return "out_valid has fallen, and nobody took the result"
        if self._waiting >= 0 and seen.d != self._waiting:
            return f"d has changed from {self._waiting:#x} to {seen.d:#x} while it waited"
        if seen.out_valid and cycle.out_ready:
            if self._left == len(self._expected):
                return f"result {self._left} leaves before all of its operands are in"
            if seen.d != self._expected[self._left]:
                return f"result {self._left} is {seen.d:#x}, expected {self._expected[self._left]:#x}"
            self._left += 1
        self._waiting = seen.d if seen.out_valid and not cycle.out_ready else -1
        if cycle.in_valid and seen.in_ready:
            self._entered.append(given.operands)
            if len(self._entered) % self._steps == 0:
                self._expected.append(expected(self._design, self._entered[-self._steps :]))
        return ""


def expected(design: Design, steps: Sequence[Mapping[str, int]]) -> int:
    """Golden's d for the operands of all steps of a result.

    Raises:
        NotProvable: a tile whose operands are converted.
    """
    if isinstance(design, MultiFormatDesign):
        return golden_result(design.units[steps[0]["format"]], steps[0])
    unit = datapath_of(design)
    if not isinstance(design, TileDesign):
        return golden_result(unit, steps[0])
    i, found = design.instruction, 0
    if i.fp16_order is not None:
        raise NotProvable("a tile whose operands are converted is not replayed")
    for place in range(i.m * i.n):
        row, column = divmod(place, i.n)
        result = _part(steps[0]["c"], place, i.c.width)
        for operands in steps:
            parts = {"a": (row, i.m), "b": (column, i.n), "scale_a": (row, i.m), "scale_b": (column, i.n)}
            widths = {port.name: port.width for port in design.ports}
            own = {
                name: _part(operands[name], k, widths[name] // count)
                for name, (k, count) in parts.items()
                if name in operands
            }
            result = golden_result(unit, own | {"c": result})
        found |= result << (place * i.d.width)
    return found


def _part(packed: int, place: int, width: int) -> int:
    return packed >> (place * width) & ((1 << width) - 1)


def _operands(design: Design, random: Random) -> dict[str, int]:
    """Any codes for every operand port."""
    found = {}
    for port in design.ports:
        if port.direction == "input" and port.name not in ("clk", "rst", "in_valid", "out_ready"):
            found[port.name] = random.getrandbits(port.width)
    if isinstance(design, MultiFormatDesign):
        found["format"] = random.randrange(len(design.units))
    return found
