"""A counter-example of a pipeline, confirmed by a simulation of its Verilog."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mmau.formal.pipelines.counterexample_stimulus import Given, Seen, complaint, flowing, stimulus
from mmau.formal.pipelines.shortest_trace import Trace
from mmau.formal.pipelines.simulation import Simulation
from rtl.designs.design import Design

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
