"""The split of a run's vectors into simulations with different register contents at power-up."""

from dataclasses import dataclass

from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Selection

VERILATOR_SEEDS = 2**31 - 2
"""Largest seed that Verilator accepts; the smallest is 1."""

GHDL_ARGUMENTS = ("--assert-level=error", "--ieee-asserts=disable", "--max-stack-alloc=0")
"""Arguments of a simulation in GHDL: an assertion of severity error ends it. The packages of IEEE only warn, of undefined
operands, as they all are at first."""

SECOND_POWER_UP = 1000
"""Vectors of the second simulation, which tests other register contents before the reset."""

WITH_ZEROS, THIRD_POWER_UP = 10_000, 200
"""Smallest number of vectors of a run with a third simulation, and number of vectors of the third simulation."""

MIN_POWER_UP = 50
"""Smallest number of vectors of a second simulation; a run too short for it has one simulation only."""


@dataclass(frozen=True)
class PowerUp:
    """One simulation of a run, with register contents at power-up.

    Attributes:
        first: number of its first vector in the run. vectors: number of vectors.
        seed: seed of its stimulus.
        plusargs: Verilator's arguments for register contents at power-up. Icarus ignores them: registers begin as X. For
            GHDL, in which they begin as U, its arguments about assertions.
    """

    first: int
    vectors: int
    seed: int
    plusargs: tuple[str, ...]

    def has_any(self, selection: Selection) -> bool:
        """Whether the selection may contain any of its vectors."""
        return selection.vector is None or selection.vector in range(self.first, self.first + self.vectors)


def power_ups(simulator: str, timing: Timing, vectors: int, seed: int) -> list[PowerUp]:
    """The simulations of a run: registers begin with random bits, in a second simulation with ones, and in a third one of a
    long run with zeros, as a random word hardly does.

    There is only one simulation without a clock, with Icarus or GHDL, or with few vectors.
    """
    if simulator == "ghdl":
        return [PowerUp(0, vectors, seed, GHDL_ARGUMENTS)]
    at_random = ("+verilator+rand+reset+2", f"+verilator+seed+{seed % VERILATOR_SEEDS + 1}")
    as_ones, as_zeros = ("+verilator+rand+reset+1",), ("+verilator+rand+reset+0",)
    second = min(vectors // 2, SECOND_POWER_UP)
    if timing.protocol == "combinational" or simulator == "icarus" or second < MIN_POWER_UP:
        return [PowerUp(0, vectors, seed, at_random)]
    third = THIRD_POWER_UP if vectors >= WITH_ZEROS else 0
    first = vectors - second - third
    parts = [PowerUp(0, first, seed, at_random), PowerUp(first, second, seed + 1, as_ones)]
    return [*parts, PowerUp(first + second, third, seed + 2, as_zeros)] if third else parts
