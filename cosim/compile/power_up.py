"""How the vectors of a run are shared among simulations, each of which powers the design up in another way."""

from dataclasses import dataclass

from cosim.bench.selection import Selection
from cosim.bench.timing import Timing

VERILATOR_SEEDS = 2**31 - 2
"""Verilator takes seeds from 1 to this."""

SECOND_POWER_UP = 1000
"""Vectors of the second simulation: it is there for what registers hold before their reset."""

MIN_POWER_UP = 50
"""A run of so few vectors that the second simulation would have fewer than these has one only."""


@dataclass(frozen=True)
class PowerUp:
    """One simulation of a run.

    Attributes:
        first: number of its first vector in the run. vectors: how many it has.
        seed: of its stimulus.
        plusargs: tell Verilator what registers hold at first. Icarus takes no notice of them: it begins with X.
    """

    first: int
    vectors: int
    seed: int
    plusargs: tuple[str, ...]

    def has_any(self, selection: Selection) -> bool:
        """Whether any of its vectors may be among those selected."""
        return selection.vector is None or selection.vector in range(self.first, self.first + self.vectors)


def power_ups(simulator: str, timing: Timing, vectors: int, seed: int) -> list[PowerUp]:
    """The simulations of a run: registers begin at random, and in a second one as ones.

    Without a clock, with Icarus or with few vectors, there is one only.
    """
    at_random = ("+verilator+rand+reset+2", f"+verilator+seed+{seed % VERILATOR_SEEDS + 1}")
    as_ones = ("+verilator+rand+reset+1",)
    second = min(vectors // 2, SECOND_POWER_UP)
    if timing.protocol == "combinational" or simulator == "icarus" or second < MIN_POWER_UP:
        return [PowerUp(0, vectors, seed, at_random)]
    return [PowerUp(0, vectors - second, seed, at_random), PowerUp(vectors - second, second, seed + 1, as_ones)]
