"""The split of a run's vectors into simulations with different register contents at power-up."""

from dataclasses import dataclass

from cosim.bench.protocol import Timing
from cosim.bench.selection import Selection

VERILATOR_SEEDS = 2**31 - 2
"""Largest seed that Verilator accepts; the smallest is 1."""

SECOND_POWER_UP = 1000
"""Vectors of the second simulation, which tests other register contents before the reset."""

MIN_POWER_UP = 50
"""Smallest number of vectors of a second simulation; a run too short for it has one simulation only."""


@dataclass(frozen=True)
class PowerUp:
    """One simulation of a run.

    Attributes:
        first: number of its first vector in the run. vectors: number of vectors.
        seed: seed of its stimulus.
        plusargs: Verilator's arguments for register contents at power-up. Icarus ignores them: registers begin as X.
    """

    first: int
    vectors: int
    seed: int
    plusargs: tuple[str, ...]

    def has_any(self, selection: Selection) -> bool:
        """Whether the selection may contain any of its vectors."""
        return selection.vector is None or selection.vector in range(self.first, self.first + self.vectors)


def power_ups(simulator: str, timing: Timing, vectors: int, seed: int) -> list[PowerUp]:
    """The simulations of a run: registers begin with random bits, and in a second simulation with ones.

    There is only one simulation without a clock, with Icarus, or with few vectors.
    """
    at_random = ("+verilator+rand+reset+2", f"+verilator+seed+{seed % VERILATOR_SEEDS + 1}")
    as_ones = ("+verilator+rand+reset+1",)
    second = min(vectors // 2, SECOND_POWER_UP)
    if timing.protocol == "combinational" or simulator == "icarus" or second < MIN_POWER_UP:
        return [PowerUp(0, vectors, seed, at_random)]
    return [PowerUp(0, vectors - second, seed, at_random), PowerUp(vectors - second, second, seed + 1, as_ones)]
