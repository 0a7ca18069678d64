"""The schedule of a simulation: when the sides of a design pause, when it is reset, when its inputs change. The benches in
Python (`run_vectors`) and in C++ (cosim/volume/native) replay it; no other constant says when something happens."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate, cycle
from pathlib import Path
from typing import NamedTuple

STALL_ODDS = (0.0, 0.0, 0.25, 0.75)
"""Probabilities that a side pauses in a cycle. One of them is drawn for each period, so that full speed and backpressure
both occur."""

REGULAR, EVERY = 1 / 3, (2, 3, 2)
"""Probability that in a period with pauses they are regular instead; then one cycle in so many has none, in turn."""

FIRST_LONG = 64
"""Length of the first long pause, and the cycle near which it begins. Each further pause is four times as long and begins
four times as late."""

WAITS = 64
"""Longest gap and longest stall that meet every class of results (cycles); each shorter one does too."""

SHOWN = 509
"""Numbers drawn for what a side shows while it pauses; after the last one they come again."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How often a side pauses.

    Attributes:
        odds: probabilities of a pause; one is drawn for each period. Where all are 0, there are no long pauses either.
        period: cycles of a period. It is small where pauses of all sides must coincide within hundreds of cycles.
        early: cycles in which the odds are drawn for every period. Later they are drawn for the share `later` of the
            periods, and the others have no pauses: a cycle with a pause tests no new value.
        longest: longest pause: longer than the time-outs and the counters that lose a waiting result.
        cycles: cycles for which pauses are drawn; those of the second half repeat.
    """

    odds: Sequence[float] = STALL_ODDS
    period: int = 50
    early: int = 4000
    later: float = 0.125
    longest: int = 2048
    cycles: int = 1 << 15


DIRECTED, NATIVE = Manner(), Manner(period=200, early=0, longest=8192, cycles=1 << 16)
"""The pauses of a run's first vectors, and of native ones, whose purpose is to try many values."""


class Side(NamedTuple):
    """The pauses of one side: of the operands, of the results, or of the enable.

    Attributes:
        runs: numbers of decisions, in turn without and with a pause. again: index of the one that comes after the last.
        shown: numbers that decide what the side shows while it pauses, one after the other.
    """

    runs: tuple[int, ...]
    again: int
    shown: tuple[int, ...]

    @property
    def ever_pauses(self) -> bool:
        """Whether there is a pause."""
        return any(self.runs[1::2])


NO_PAUSES = Side(runs=(1, 0), again=0, shown=(0,))


def side(seed: str, manner: Manner = DIRECTED) -> Side:
    """The pauses of a side, drawn by a seed."""
    shows = random.Random(f"further {seed}")
    shown = tuple(shows.randrange(60) for _ in range(SHOWN))  # a multiple of the 3, 4 and 5 things that are chosen among
    if not any(manner.odds):
        return NO_PAUSES._replace(shown=shown)
    runs = [0]
    for pauses, count in _drawn(seed, manner):
        if (len(runs) % 2 == 0) is not pauses:
            runs.append(0)
        runs[-1] += count
    runs += [0] * (len(runs) % 2)
    before = [0, *accumulate(runs)]
    again = next((at for at in range(0, len(runs), 2) if 2 * before[at] >= manner.cycles), 0)
    return Side(tuple(runs), again, shown)


def _drawn(seed: str, manner: Manner) -> Iterator[tuple[bool, int]]:
    """Whether to pause, and for how many decisions, one after the other."""
    drawn, long = random.Random(seed), random.Random(f"long {seed}")
    regular = cycle(EVERY)
    usual, next_long = FIRST_LONG, long.randrange(FIRST_LONG, 2 * FIRST_LONG)
    for start in range(0, manner.cycles, manner.period):
        is_drawn = start < manner.early or drawn.random() < manner.later
        odds = drawn.choice(manner.odds) if is_drawn else 0.0
        every = next(regular) if odds and drawn.random() < REGULAR else 0
        end = start + manner.period
        for at in range(start, end) if odds or next_long < end else ():
            if at >= next_long:
                longest = min(usual, manner.longest)
                yield True, long.randrange(longest * 3 // 4, longest)
                usual *= 4
                next_long = long.randrange(usual, 2 * usual)
            yield (at % every > 0 if every else drawn.random() < odds), 1
        if not odds and next_long >= end:
            yield False, manner.period


class Reset(NamedTuple):
    """A reset in the middle of a stream.

    Attributes:
        due: cycles since the previous reset, from which on it comes as soon as vectors are inside.
        edges, asynchronous_edges: rising clock edges during a synchronous reset, and during an asynchronous one.
        offers: whether operands are on offer, which the design must not take.
        disables: whether the design is not enabled, if the reset is asynchronous and must act all the same.
        at_once: whether operands come in the very next cycle.
        stall: cycles of a stall at whose end it comes, so that results wait everywhere; 0 for none.
        gap: cycles without new operands at whose end it comes to an idle design; 0 for none.
        within: 0, or a number that says after which transfer of a vector, other than the last, it comes (`transfer_of`).
            Where a vector is one transfer, such a reset is left out.
    """

    due: int
    edges: int
    asynchronous_edges: int
    offers: bool = False
    disables: bool = False
    at_once: bool = False
    stall: int = 0
    gap: int = 0
    within: int = 0

    def transfer_of(self, transfers: int) -> int:
        """The number of accepted transfers of a vector, of several, at which this reset comes."""
        return 1 + self.within % (transfers - 1)


FIRST, SOON, AT_ONCE, SELDOM = range(50), range(20, 50), range(8), range(1000, 2000)
"""Cycles from one reset to the next. The first reset is due before the first long pause, so that short runs have it too."""

RESETS = (
    (FIRST, Reset(0, 1, 0, offers=True, at_once=True)),
    (AT_ONCE, Reset(0, 1, 1, at_once=True, within=1)),
    (AT_ONCE, Reset(0, 2, 0, within=1)),
    (SOON, Reset(0, 2, 2, disables=True, at_once=True)),
    (SOON, Reset(0, 3, 3, offers=True, disables=True, at_once=True)),
    (SELDOM, Reset(0, 1, 0, disables=True, at_once=True, stall=16)),
    (AT_ONCE, Reset(0, 2, 1)),
    (AT_ONCE, Reset(0, 1, 0, offers=True, at_once=True, within=1)),
    (AT_ONCE, Reset(0, 1, 2, within=1)),
    (SELDOM, Reset(0, 70, 70, offers=True, gap=64)),
)
"""The resets of a run, with the range from which each one's `due` is drawn."""


def resets(seed: str, rounds: int) -> Iterator[Reset]:
    """`RESETS`, so many times; every other time those disable the design that did not before."""
    drawn, places = random.Random(f"reset {seed}"), random.Random(f"within {seed}")
    for number in range(rounds):
        for at, (due, kind) in enumerate(RESETS):
            soonest = SELDOM if number and not at else due
            come = (places if kind.within else drawn).choice(soonest)
            within = kind.within and places.randrange(1, 1 << 16)
            yield kind._replace(due=come, within=within, disables=kind.disables is not bool(number % 2))


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The numbers by which a bench paces itself; C++ reads them by these names.

    Attributes:
        half_period: simulated time for signals to settle (ns): half a clock period, far more than any delay of a design.
        power_up: clock edges of the reset before the first vector.
        long_from: cycles from which a pause counts as long: no reset comes shortly after it, nor does the stretch without
            pauses begin in it.
        after_long_pause: smallest number of cycles from a long pause to a reset; an earlier reset would drop the vectors
            that come after the pause.
        resets_first: resets that come before the stretch without pauses of any side.
        at_speed_from: cycle from which on that stretch begins, outside of long pauses.
        at_speed: its length (cycles): counters of up to 12 bits that count back-to-back transfers overflow in it.
        repeated: length of a pause before operands that repeat some of the last ones (cycles); a design that keeps operands
            by their values may sleep in it.
        repeated_often: number of pauses before the first runs that repeat the same operands; after these, pauses become ever
            rarer.
        repeated_from: first cycle with such a pause, so that short runs have their first resets.
        after_valid, of_results: number of results, at the beginning of each so many, for which out_ready rises only after
            out_valid, which must not wait for it.
        gaps_from, stalls_from: number of vectors after which gaps and stalls of each length up to `WAITS` meet each class of
            results. Stalls come later, so that the vectors behind a stalled result fill the design.
        patience: cycles without a transfer after which the run stops: the design is stuck.
        extra_cycles: cycles after the last result in which no further result may come; a tile's latency is up to 128.
    """

    half_period: int = 1000
    power_up: int = 4
    long_from: int = 48
    after_long_pause: int = 200
    resets_first: int = sum(not kind.within for _, kind in RESETS)
    at_speed_from: int = 4200
    at_speed: int = 4500
    repeated: int = 48
    repeated_often: int = 16
    repeated_from: int = 256
    after_valid: int = 8
    of_results: int = 512
    gaps_from: int = 1000
    stalls_from: int = 1200
    patience: int = 1000
    extra_cycles: int = 1000


MIXED_FOR = (0, 0, 1, 1 << 62)
"""Cycles from the beginning of a gap in which some ports may keep their operands; one is drawn for each gap."""

WAVER_FOR = (1, 1, 2, 4, 16)
"""Cycles for which an input of a disabled design keeps one level before it takes the other; one is drawn each time."""

JOINT_PAUSES = ((100, 48), (800, 192), (6400, 768), (51200, 2048), (409600, 2048))
"""First cycle in which both sides pause together while invalid operands are at the ports, and for how many cycles."""

LATE_INPUTS = (32, 32) * 16 + (31 * 32, 32)
"""Cycles in which inputs change as the clock falls, then cycles in which they change while it is high, as after the edge of
a register, and so on; the last two repeat."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When something happens in a simulation; the methods of `Stalls` and `Waits` say how.

    Attributes:
        offers, takes, enables: the pauses of operands, of results and of the enable.
        resets: the resets in the middle of the stream.
        joint: cycles from which both sides pause together, and for how many cycles.
        late_inputs: cycles of inputs that change as the clock falls, and while it is high, in turn; the last two repeat.
        mixed_for, waver_for: see `MIXED_FOR` and `WAVER_FOR`.
        waits: lengths of gaps and of stalls, in the order in which a class of results meets them.
        rules: the numbers by which a bench paces itself.
    """

    offers: Side = NO_PAUSES
    takes: Side = NO_PAUSES
    enables: Side = NO_PAUSES
    resets: tuple[Reset, ...] = ()
    joint: tuple[tuple[int, int], ...] = ()
    late_inputs: tuple[int, ...] = LATE_INPUTS
    mixed_for: tuple[int, ...] = MIXED_FOR
    waver_for: tuple[int, ...] = WAVER_FOR
    waits: tuple[int, ...] = ()
    rules: Rules = field(default_factory=Rules)

    def lines(self) -> Iterator[str]:
        """The schedule as text for C++ (native/schedule.cpp): a name and numbers in each line."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Side):
                yield _line(each.name, [value.again, *value.runs])
                yield _line(f"{each.name}_shown", value.shown)
            elif isinstance(value, Rules):
                yield from (_line(rule.name, [getattr(value, rule.name)]) for rule in fields(value))
            else:
                yield _line(each.name, [number for row in value for number in (row if isinstance(row, tuple) else (row,))])

    def write(self, path: Path) -> Path:
        """Write the file for C++, and return its path."""
        path.write_text("\n".join([*self.lines(), ""]), encoding="utf-8")
        return path


def _line(name: str, numbers: Sequence[int]) -> str:
    return " ".join([name, *(str(int(number)) for number in numbers)])


def waits(seed: int) -> tuple[int, ...]:
    """The lengths of gaps and of stalls that meet each class of results, in the order of a seed."""
    return tuple(random.Random(f"waits {seed}").sample(range(1, WAITS + 1), WAITS))


def schedule(seed: int, manner: Manner = DIRECTED, rounds: int = 1) -> Schedule:
    """The schedule of a simulation.

    Args:
        seed: equal seeds give equal schedules. manner: how often the sides pause.
        rounds: how many times `RESETS` come.

    Native vectors meet no gaps and stalls of each length: the directed ones have met them.
    """
    offers, takes, enables = (side(f"{name} {seed}", manner) for name in ("in", "out", "enable"))
    return Schedule(
        offers=offers, takes=takes, enables=enables, resets=tuple(resets(str(seed), rounds)), joint=JOINT_PAUSES,
        waits=waits(seed) if manner is DIRECTED else (),
    )  # fmt: skip


CALM = Schedule(rules=Rules(extra_cycles=1))
"""A schedule without pauses and without resets in the middle of the stream, for a few vectors."""
