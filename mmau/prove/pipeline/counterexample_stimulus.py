"""A counter-example of a pipeline as a short stimulus: the inputs of every port in each cycle, and the fault that they show.

A trace of the handshake is completed with operands. The outputs of the design are compared with a scoreboard that counts
transfers and results, and knows golden's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from golden.arithmetic.formats import FP16, Format
from golden.arithmetic.specials import nvidia_nan
from golden.chains.chain import to_fp16
from golden.operations.ieee import add
from mmau.prove.counterexample import golden_result
from mmau.prove.pipeline.converted_tiles import chain_of
from mmau.prove.pipeline.pipeline_targets import datapath_of, shape_of
from mmau.prove.pipeline.shortest_trace import Cycle, Trace
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import CONTROL_INPUTS
from rtl.designs.tile_design import TileDesign


@dataclass(frozen=True)
class Given:
    """The inputs of a design in one cycle: packed operands by port."""

    cycle: Cycle
    operands: Mapping[str, int]


@dataclass(frozen=True)
class Seen:
    """The outputs of a design at the end of one cycle."""

    in_ready: int
    out_valid: int
    d: int


def stimulus(design: Design, trace: Trace, random: Random) -> list[Given]:
    """A trace with operands, different ones in every cycle."""
    return [Given(cycle, _operands(design, random)) for cycle in trace.cycles]


def flowing(design: Design) -> Trace:
    """Cycles without stalls, enough for two results."""
    shape = shape_of(design)
    flow = [Cycle(0, 1, 1)] * (shape.steps * (shape.stages + 1) + shape.stages + 2)
    return Trace("result is the token's", (Cycle(1, 0, 0), *flow))


def complaint(design: Design, given: Sequence[Given], seen: Sequence[Seen]) -> tuple[int, str] | None:
    """The first cycle in which the outputs of a design are wrong, and the fault; None if no fault is seen."""
    book = _Book(design)
    for number, (inputs, outputs) in enumerate(zip(given, seen, strict=True)):
        fault = book.turned(inputs, outputs)
        if fault:
            return number, fault
    return None


class _Book:
    """Scoreboard of transfers and results."""

    def __init__(self, design: Design) -> None:
        self._design, self._steps = design, shape_of(design).steps
        self._entered: list[Mapping[str, int]] = []
        self._expected: list[int] = []
        self._left, self._waiting, self._is_reset = 0, -1, False
        self._stages = shape_of(design).stages
        self._alone: int | None = None  # cycles since the only operands came in

    def turned(self, given: Given, seen: Seen) -> str:
        """Enter a cycle; return its fault, or an empty text."""
        cycle = given.cycle
        if cycle.rst:
            self._entered, self._expected, self._left, self._waiting, self._is_reset = [], [], 0, -1, True
            self._alone = None
            return ""
        if not self._is_reset:
            return ""
        inside = -(-len(self._entered) // self._steps) - self._left
        if seen.out_valid and not inside:
            return "out_valid is high, but the pipeline is empty"
        if not inside and not seen.in_ready:
            return "in_ready is low, but the pipeline is empty"
        self._alone = None if self._alone is None else self._alone + 1
        if self._steps == 1 and self._alone == self._stages and not seen.out_valid:
            return f"out_valid is low, {self._stages} cycles after the operands came into an empty pipeline"
        if self._waiting >= 0 and not seen.out_valid:
            return "out_valid fell before the result was taken"
        if self._waiting >= 0 and seen.d != self._waiting:
            return f"d changed from {self._waiting:#x} to {seen.d:#x} while it waited"
        if seen.out_valid and cycle.out_ready:
            if self._left == len(self._expected):
                return f"result {self._left} leaves before all of its operands are in"
            if seen.d != self._expected[self._left]:
                return f"result {self._left} is {seen.d:#x}, expected {self._expected[self._left]:#x}"
            self._left += 1
        self._waiting = seen.d if seen.out_valid and not cycle.out_ready else -1
        if cycle.in_valid and seen.in_ready:
            self._alone = self._alone if inside else 0
            self._entered.append(given.operands)
            if len(self._entered) % self._steps == 0:
                self._expected.append(expected(self._design, self._entered[-self._steps :]))
        return ""


def expected(design: Design, steps: Sequence[Mapping[str, int]]) -> int:
    """Golden's d for the operands of all steps of a result."""
    if isinstance(design, MultiFormatDesign):
        return golden_result(design.units[steps[0]["format"]], steps[0])
    unit = datapath_of(design)
    if not isinstance(design, TileDesign):
        return golden_result(unit, steps[0])
    i, found = design.instruction, 0
    chain = chain_of(design)
    for place in range(i.m * i.n):
        row, column = divmod(place, i.n)
        result = 0 if chain is not None else _part(steps[0]["c"], place, i.c.width)
        for operands in steps:
            parts = {"a": (row, i.m), "b": (column, i.n), "scale_a": (row, i.m), "scale_b": (column, i.n)}
            widths = {port.name: port.width for port in design.ports}
            of_place = {
                name: _part(operands[name], k, widths[name] // count)
                for name, (k, count) in parts.items()
                if name in operands
            }
            if chain is not None:
                of_place = {name: _as_fp16(of_place[name], getattr(chain, name), unit.operation.length) for name in "ab"}
            result = golden_result(unit, of_place | {"c": result})
        if chain is not None:
            result = add(result, _part(steps[-1]["c"], place, i.c.width), i.d, nvidia_nan(i.d))
        found |= result << (place * i.d.width)
    return found


def _as_fp16(packed: int, source: Format, length: int) -> int:
    """Packed FP8 codes as packed fp16 codes."""
    return sum(to_fp16(source, _part(packed, k, source.width)) << (k * FP16.width) for k in range(length))


def _part(packed: int, place: int, width: int) -> int:
    return packed >> (place * width) & ((1 << width) - 1)


def _operands(design: Design, random: Random) -> dict[str, int]:
    """Random codes for every operand port."""
    found = {}
    for port in design.ports:
        if port.direction == "input" and port.name not in ("clk", *CONTROL_INPUTS):
            found[port.name] = random.getrandbits(port.width)
    if isinstance(design, MultiFormatDesign):
        found["format"] = random.randrange(len(design.units))
    return found
