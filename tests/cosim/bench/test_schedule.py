"""Pauses are frequent in the first cycles, rare later, none where the odds are 0, and the same ones for a seed."""

from cosim.bench.handshake import Stalls
from cosim.bench.schedule import DIRECTED, FIRST_LONG, NATIVE, RESETS, Rules, schedule, side

EARLY, STALL_PERIOD, LONGEST, OFTEN = DIRECTED.early, DIRECTED.period, DIRECTED.longest, Rules.repeated_often


def pauses(stalls: Stalls, cycles: int) -> float:
    """The share of cycles with a pause."""
    return sum(stalls.pause() for _ in range(cycles)) / cycles


def test_pauses_are_frequent_at_first_and_rare_later() -> None:
    stalls = [Stalls(f"in {seed}") for seed in range(20)]
    assert 0.3 < sum(pauses(each, EARLY) for each in stalls) / 20 < 0.5
    assert 0.02 < sum(pauses(each, 5 * EARLY) for each in stalls) / 20 < 0.25


def test_full_speed_and_back_pressure_both_occur_in_every_run_of_some_length() -> None:
    for seed in range(20):
        stalls = Stalls(f"out {seed}")
        paused = [stalls.pause() for _ in range(1000)]
        stretches = [sum(paused[at : at + STALL_PERIOD]) / STALL_PERIOD for at in range(1000 - STALL_PERIOD)]
        assert (min(stretches), max(stretches) > 0.6) == (0, True), seed


def test_pauses_of_two_sides_meet_and_miss_each_other_in_every_run_of_some_length() -> None:
    """Operands and enable pause in the same cycles early: only then does a register that ignores the enable differ."""
    for seed in range(200):
        operands, enables = Stalls(f"in {seed}"), Stalls(f"enable {seed}")
        both = [(operands.pause(), enables.pause()) for _ in range(1500)]
        assert {(False, False), (False, True), (True, False), (True, True)} == set(both), seed


def test_without_odds_nothing_pauses() -> None:
    assert pauses(Stalls("in None", (0.0,)), 3 * EARLY) == 0


def test_a_seed_gives_the_same_pauses() -> None:
    first, second = Stalls("in 1"), Stalls("in 1")
    assert [first.pause() for _ in range(2 * EARLY)] == [second.pause() for _ in range(2 * EARLY)]


def test_a_handful_of_pauses_is_long() -> None:
    for seed in range(20):
        stalls = Stalls(f"in {seed}")
        paused = "".join("x" if stalls.pause() else " " for _ in range(20_000))
        lengths = sorted(len(each) for each in paused.split() if len(each) >= FIRST_LONG * 3 // 4)
        assert len(lengths) >= 4
        assert 1000 < lengths[-1] <= LONGEST + 50
        assert sum(lengths) < 20_000 // 3


def test_pauses_are_regular_for_some_periods() -> None:
    """As of a producer that has operands in every second cycle."""
    for seed in range(20):
        stalls = Stalls(f"in {seed}")
        paused = "".join("x" if stalls.pause() else " " for _ in range(EARLY))
        assert " x" * 20 in paused, seed
        assert " xx" * 12 in paused, seed


def test_runs_of_repeated_operands_come_after_pauses() -> None:
    stalls, never = Stalls("in 0"), Stalls("in None", (0.0,))
    early = Stalls("in 0")
    early.before_repeated(("a",))
    assert not early.in_long_pause  # short runs have their first resets
    assert pauses(stalls, EARLY) > 0
    found = []
    for which in [(), ("a",), ("a",), ("a", "b"), *[(), ("a",)] * 34]:
        while stalls.in_long_pause:
            stalls.pause()
        for each in (stalls, never):
            each.before_repeated(which)
        found.append(stalls.in_long_pause)
    assert found[:4] == [False, True, False, True]
    assert [run for run, paused in enumerate(found[5::2], 2) if paused] == [*range(2, OFTEN + 1), 32]
    assert not never.in_long_pause


def test_pauses_that_repeat_are_as_frequent_as_those_before() -> None:
    """Of a side whose drawn decisions are over; long pauses do not come again."""
    for manner in (DIRECTED, NATIVE):
        runs, again, _ = side("in 3", manner)
        assert again % 2 == 0
        later = runs[again:]
        assert manner.cycles // 3 < sum(later) < manner.cycles
        assert 0.01 < sum(later[1::2]) / sum(later) < 0.4


def test_native_pauses_are_seldom_and_longer() -> None:
    runs = side("in 1", NATIVE).runs
    assert max(runs[1::2]) > DIRECTED.longest
    assert sum(run for run in runs[1::2] if run < NATIVE.longest // 2) < sum(runs) // 8


def test_resets_come_in_turn_with_the_intervals_of_their_kinds() -> None:
    drawn = schedule(7, NATIVE, rounds=3).resets
    kinds = [kind for _, kind in RESETS]
    assert [reset.edges for reset in drawn] == [kind.edges for kind in kinds] * 3
    assert [reset.disables for reset in drawn[len(kinds) :][: len(kinds)]] == [not kind.disables for kind in kinds]
    assert all(reset.due in due for reset, (due, _) in zip(drawn, RESETS, strict=False))
    assert 1000 <= drawn[len(kinds)].due < 2000  # the first of a further round does not come at once


def test_resets_within_a_vector_come_after_any_transfer_but_the_last() -> None:
    within = [reset for reset in schedule(7, NATIVE, rounds=200).resets if reset.within]
    assert {reset.transfer_of(2) for reset in within} == {1}
    assert {reset.transfer_of(24) for reset in within} == set(range(1, 24))


def test_lines_hold_every_number_once() -> None:
    """What C++ reads: a name in each line, the rules by the names of their fields."""
    lines = [line.split() for line in schedule(1).lines()]
    names = [name for name, *_ in lines]
    assert len(set(names)) == len(names)
    assert {"offers", "takes_shown", "resets", "joint", "late_inputs", "waits", *vars(Rules())} <= set(names)
    assert next(numbers for name, *numbers in lines if name == "patience") == [str(Rules.patience)]
