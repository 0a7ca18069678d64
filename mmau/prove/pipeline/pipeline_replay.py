"""A counter-example of a pipeline, confirmed by a simulation of its Verilog."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from cosim.build.cache import MAKE_ARGUMENTS
from cosim.build.errors import SimulationError
from cosim.runner.needed_tools import check_tools
from golden.arithmetic.formats import FP16, Format
from golden.arithmetic.specials import nvidia_nan
from golden.chains.chain import to_fp16
from golden.files import temporary_folder
from golden.operations.ieee import add
from golden.processes import run_tool, supervised
from golden.text import last_line
from golden.units.selection import CODE_BITS, PAIRS_OF_FOUR
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import TOP
from mmau.prove.pipeline.handshake_rules import Cycle, Trace
from mmau.prove.pipeline.pipeline_targets import chain_of, datapath_of, shape_of
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import CONTROL_INPUTS, step_operands
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
    flow = [Cycle(0, 1, 1)] * (2 * max(design.latency, shape.steps) + shape.steps + 2)
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
        self._latency = design.latency
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
        if self._steps == 1 and self._alone == self._latency and not seen.out_valid:
            return f"out_valid is low, {self._latency} cycles after the operands came into an empty pipeline"
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
    if isinstance(design, ControlledDesign):
        choice, codes = design.chosen(steps[0])
        kinds = step_operands(choice.unit.operation)
        packed = {name: sum(code << k * kinds[name].format.width for k, code in enumerate(codes[name])) for name in codes}
        return golden_result(choice.unit, dict(steps[0]) | packed)
    unit = datapath_of(design)
    if not isinstance(design, TileDesign):
        return golden_result(unit, steps[0])
    i, found, chain = design.instruction, 0, chain_of(design)
    widths = {port.name: port.width for port in design.ports if port.name in ("a", "b", "scale_a", "scale_b")}
    for place in range(i.m * i.n):
        c = _part(steps[design.shape.c_transfer]["c"], place, i.c.width)
        result = 0 if chain is not None else c
        for shares in design.shape.sources(*divmod(place, i.n)):
            of_place = {}
            for name, width in widths.items():
                share = shares["ab".index(name[-1])]
                of_place[name] = _part(steps[share.transfer][name], share.place, width // share.parts)
            if chain is not None:
                of_place = {name: _as_fp16(of_place[name], getattr(chain, name), unit.operation.length) for name in "ab"}
            result = golden_result(unit, of_place | {"c": result})
        if chain is not None:
            result = add(result, c, i.d, nvidia_nan(i.d))
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
    if isinstance(design, ControlledDesign):
        found |= random.choice(design.choices).codes
        if design.metadata:
            codes = random.choices(list(PAIRS_OF_FOUR), k=design.operation.length // 2)
            found[design.metadata] = sum(code << CODE_BITS * k for k, code in enumerate(codes))
    return found


BENCH = "replay"
"""The module that holds the stimulus."""


CLOCK = """#include "Vreplay.h"
#include "verilated.h"
int main(int count, char** arguments) {
  VerilatedContext context;
  context.commandArgs(count, arguments);
  Vreplay replay{&context};
  while (!context.gotFinish()) {
    replay.clk = !replay.clk;
    replay.eval();
  }
  return 0;
}
"""
"""Turns the clock until the stimulus ends."""

UNOPTIMISED = ("OPT_FAST=-O0", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0")
"""Arguments of make for a program that runs a few hundred cycles: to optimise it takes longer than to run it."""


class Simulation:
    """A design's Verilog, its top module called `unit`, with a stimulus in one program.

    Args:
        design: the intended design. verilog: its Verilog. given: the stimulus.

    Raises:
        MissingTool: a program is not installed. SimulationError: Verilator cannot build it.
    """

    def __init__(self, design: Design, verilog: str, given: Sequence[Given]) -> None:
        check_tools("verilator")
        self._design, self._verilog, self._given = design, verilog, given

    def seen(self, seeds: Iterable[int]) -> list[list[Seen]]:
        """The outputs in each cycle, with initial register values drawn from a seed."""
        return supervised(lambda: self._seen(seeds))

    def _seen(self, seeds: Iterable[int]) -> list[list[Seen]]:
        with temporary_folder("mmau-replay-") as name:
            folder = Path(name)
            (folder / "unit.v").write_text(self._verilog, encoding="utf-8")
            (folder / "replay.v").write_text(bench(self._design, self._given), encoding="utf-8")
            (folder / "clock.cpp").write_text(CLOCK, encoding="utf-8")
            self._run([
                "verilator", "--cc", "--exe", "--build", "-Wno-fatal", "-Wno-WIDTH", "--x-initial", "unique",
                "--output-split", "10000000",  # one C++ file: several need precompiled headers, which g++ does not find
                "-MAKEFLAGS", shlex.join([*MAKE_ARGUMENTS, *UNOPTIMISED]), "--top-module", BENCH,
                "--Mdir", str(folder), "-o", BENCH,
                *(str(folder / file) for file in ("replay.v", "unit.v", "clock.cpp")),
            ])  # fmt: skip
            runs = []
            for seed in seeds:
                text = self._run([str(folder / BENCH), "+verilator+rand+reset+2", f"+verilator+seed+{seed + 1}"])
                lines = [line.split()[1:] for line in text.splitlines() if line.startswith("cycle")]
                runs.append([Seen(int(ready), int(valid), int(d, 16)) for ready, valid, d in lines])
            return runs

    def _run(self, command: Sequence[str]) -> str:
        result = run_tool(command)
        if result.returncode:
            raise SimulationError(f"{Path(command[0]).name} cannot replay the stimulus: {last_line(result.stderr)}")
        return str(result.stdout)


def bench(design: Design, given: Sequence[Given]) -> str:
    """A module that sends a stimulus to `unit` and prints the outputs at the end of each cycle."""
    widths = {port.name: port.width for port in design.ports if port.direction == "input" and port.name != "clk"}
    lines = [f"module {BENCH}(input clk);", "  reg [31:0] cycle = 0;", "  wire in_ready, out_valid;"]
    d = next(port.width for port in design.ports if port.name == "d")
    lines.append(f"  wire [{d - 1}:0] d;")
    lines += [f"  reg [{width - 1}:0] {name};" for name, width in widths.items()]
    ports = ", ".join(f".{name}({name})" for name in ("clk", *widths, "in_ready", "out_valid", "d"))
    lines += [f"  {TOP} {TOP} ({ports});", "  always @* begin", "    case (cycle)"]
    for number, each in enumerate(given):
        values = {**each.operands, **{name: getattr(each.cycle, name) for name in CONTROL_INPUTS}}
        label = f"{number}" if number < len(given) - 1 else "default"
        sets = " ".join(f"{name} = {width}'h{values[name]:x};" for name, width in widths.items())
        lines.append(f"      {label}: begin {sets} end")
    lines += [
        "    endcase", "  end", "  always @(posedge clk) begin", '    $display("cycle %b %b %h", in_ready, out_valid, d);',
        f"    if (cycle == {len(given) - 1}) $finish;", "    cycle <= cycle + 1;", "  end", "endmodule", "",
    ]  # fmt: skip
    return "\n".join(lines)


CHOICES = 16
"""Number of choices of operands that are tried with a trace."""

STATES = range(4)
"""Seeds of the registers' initial values."""


@dataclass(frozen=True)
class Broken:
    """A stimulus for which a simulation shows that a design is wrong.

    Attributes:
        fault: the fault in the last cycle. given: the inputs from a reset on. seen: the outputs.
    """

    fault: str
    given: Sequence[Given]
    seen: Sequence[Seen]

    def lines(self) -> list[str]:
        """The lines that a terminal shows, one for each cycle."""
        rows = []
        for number, (given, seen) in enumerate(zip(self.given, self.seen, strict=True)):
            cycle = given.cycle
            if cycle.rst:
                rows.append(f"cycle {number}: rst")
                continue
            takes, gives = cycle.in_valid and seen.in_ready, seen.out_valid and cycle.out_ready
            operands = " ".join(f"{name}={value:#x}" for name, value in given.operands.items())
            comes = f"takes {operands}" if takes else "in_valid, not taken" if cycle.in_valid else "nothing comes"
            goes = f"gives d={seen.d:#x}" if gives else f"d={seen.d:#x} waits" if seen.out_valid else "no result"
            rows.append(f"cycle {number}: {comes}; {goes}")
        return [*rows, f"cycle {len(rows) - 1}: {self.fault}"]


def broken(design: Design, verilog: str, trace: Trace | None) -> Broken | None:
    """Simulate a trace, or without one a stream without stalls, up to the first fault; None if there is no fault.

    Args:
        design: the intended design. verilog: the Verilog to simulate, with a top module called `unit`.

    Raises:
        MissingTool: a program is not installed. SimulationError: Verilator cannot build it.
    """
    random, cycles = Random(0), (trace or flowing(design))
    given = [each for _ in range(CHOICES) for each in stimulus(design, cycles, random)]
    for seen in Simulation(design, verilog, given).seen(STATES):
        found = complaint(design, given, seen)
        if found is not None:
            last, fault = found
            first = max(number for number, each in enumerate(given[: last + 1]) if each.cycle.rst)
            return Broken(fault, given[first : last + 1], seen[first : last + 1])
    return None
