"""Where wrong outputs beside d come from: whether each is that of the result before, or is left over from it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rtl.designs.ports import Echo

ORIGINS = (
    ("is that of the result before", "is that of the result before"),
    ("is raised because the result before must raise it", "comes after a result that must raise it"),
    ("is raised because the result before had it: it is never cleared", "comes after a result that had it"),
)
"""What a wrong output may be, where no result contradicts it, and where right ones do. The last two are for exception flags.
C++ counts them in this order (native/judge.cpp)."""

COUNTS = 3
"""Counts of each origin: wrong results that it explains, wrong results that it does not, right ones that contradict it."""

NO_CHANCE = 20
"""Wrong results that an origin must explain where right results contradict it: of flags that seven in ten results have, a
thousandth of the sets of so many come after such results by chance."""

OF = " of "
"""Between the name of a flag and that of its output."""


class Before(NamedTuple):
    """An output of the result before: the code that it must have, and the code that it had."""

    expected: int
    got: int


def parts_of(echo: Echo) -> list[str]:
    """The names of what is counted of an output: each of its flags, or all of it."""
    return [f"{flag}{OF}{echo.name}" for flag in echo.flags] or [echo.name]


class Returned:
    """Counts of the results that each origin explains and contradicts, for each flag and each other output beside d."""

    def __init__(self) -> None:
        self._before: dict[str, Before] = {}
        self._counts: dict[str, list[int]] = {}

    def count(self, echo: Echo, expected: int, got: int | str) -> None:
        """Count an output of the next result: the code that it must have, and the code that it has."""
        before = self._before.pop(echo.name, None)
        if not isinstance(got, str):
            self._before[echo.name] = Before(expected, got)
        if before is None:
            return
        for bit, name in enumerate(parts_of(echo)):
            counts = self._counts.setdefault(name, [0] * (COUNTS * len(ORIGINS)))
            if isinstance(got, str):  # no origin explains bits that are neither 0 nor 1
                counts[1::COUNTS] = [count + 1 for count in counts[1::COUNTS]]
                continue
            codes = (expected, got, before.expected, before.got)
            must, now, last_must, last = (code >> bit & 1 for code in codes) if echo.flags else codes
            for origin, guess in enumerate((last_must, must | last_must, must | last)):
                counts[COUNTS * origin] += now != must and now == guess
                counts[COUNTS * origin + 1] += now != must and now != guess
                counts[COUNTS * origin + 2] += now == must and now != guess

    def reset(self) -> None:
        """Note a reset: the next result has none before it."""
        self._before.clear()

    def counts(self) -> dict[str, tuple[int, ...]]:
        """By flag or output: for each of `ORIGINS` its `COUNTS`."""
        return {name: tuple(counts) for name, counts in self._counts.items()}


def summed(several: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, tuple[int, ...]]:
    """Add the counts of several simulations."""
    names = dict.fromkeys(name for each in several for name in each)
    return {name: tuple(map(sum, zip(*(each[name] for each in several if name in each), strict=True))) for name in names}


def origins(returned: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """By flag or output, where origins explain all wrong results: the one that fewest right results contradict, in words."""
    found = {}
    for name, counts in returned.items():
        of = [tuple(counts[COUNTS * n :][:COUNTS]) for n in range(len(ORIGINS))]
        known = [n for n, (wrong, others, right) in enumerate(of) if wrong >= (NO_CHANCE if right else 1) and not others]
        if known:
            best = min(known, key=lambda n: of[n][2])
            wrong, _, right = of[best]
            contradicted = f"{right:,} others contradict it" if right else "no other contradicts it"
            found[name] = f"each wrong {name} {ORIGINS[best][right > 0]} ({wrong:,} results; {contradicted})"
    return found
