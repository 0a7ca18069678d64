"""A counter-example of a pipeline, seen in a simulation of its Verilog."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from formal.pipelines.simulation import Simulation
from formal.pipelines.stimulus import Given, Seen, complaint, flowing, stimulus
from formal.pipelines.trace import Trace
from rtl.designs.design import Design

CHOICES = 16
"""How many choices of operands a trace is tried with, one after the other."""

STATES = range(4)
"""Seeds of what the registers hold at first."""


@dataclass(frozen=True)
class Broken:
    """A stimulus for which a simulation shows that a design is wrong.

    Attributes:
        told: what is wrong in the last cycle. given: from a reset on. seen: the outputs.
    """

    told: str
    given: Sequence[Given]
    seen: Sequence[Seen]

    def lines(self) -> list[str]:
        """For people: a line for each cycle."""
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
        return [*rows, f"cycle {len(rows) - 1}: {self.told}"]


def broken(design: Design, verilog: str, trace: Trace | None) -> Broken | None:
    """Simulate a trace, or where there is none a stream without stalls, until something is wrong; None where nothing is.

    Args:
        design: what the Verilog should be. verilog: its top module is called `unit`.

    Raises:
        MissingTool: a program is not installed. SimulationError: Verilator cannot build it.
    """
    random, cycles = Random(0), (trace or flowing(design))
    given = [each for _ in range(CHOICES) for each in stimulus(design, cycles, random)]
    for seen in Simulation(design, verilog, given).seen(STATES):
        found = complaint(design, given, seen)
        if found is not None:
            last, told = found
            first = max(number for number, each in enumerate(given[: last + 1]) if each.cycle.rst)
            return Broken(told, given[first : last + 1], seen[first : last + 1])
    return None
