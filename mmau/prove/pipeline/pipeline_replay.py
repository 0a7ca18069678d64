"""A counter-example of a pipeline, confirmed by a simulation of its Verilog."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from cosim.build.cache import MAKE_ARGUMENTS
from cosim.build.errors import SimulationError
from cosim.runner.needed_tools import check_tools
from golden.files import temporary_folder
from golden.processes import run_tool, supervised
from golden.text import last_line
from mmau.prove.pipeline.counterexample_stimulus import Given, Seen, complaint, flowing, stimulus
from mmau.prove.pipeline.pipeline import TOP
from mmau.prove.pipeline.shortest_trace import Trace
from rtl.designs.design import Design
from rtl.designs.ports import CONTROL_INPUTS

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
                "-MAKEFLAGS", shlex.join(MAKE_ARGUMENTS), "--top-module", BENCH, "--Mdir", str(folder), "-o", BENCH,
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
