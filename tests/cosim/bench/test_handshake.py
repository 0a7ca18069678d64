"""Pauses: often in the first cycles, seldom after them, never where none are wanted; and the same ones for a seed."""

from cosim.bench.handshake import EARLY, STALL_PERIOD, Stalls


def pauses(stalls: Stalls, cycles: int) -> float:
    """The share of cycles with a pause."""
    return sum(stalls.pause() for _ in range(cycles)) / cycles


def test_pauses_are_frequent_at_first_and_rare_later() -> None:
    stalls = [Stalls(f"in {seed}") for seed in range(20)]
    assert 0.2 < sum(pauses(each, EARLY) for each in stalls) / 20 < 0.3
    assert 0.02 < sum(pauses(each, 5 * EARLY) for each in stalls) / 20 < 0.05


def test_full_speed_and_back_pressure_both_occur_in_every_run_of_some_length() -> None:
    for seed in range(20):
        stalls = Stalls(f"out {seed}")
        stretches = [pauses(stalls, STALL_PERIOD) for _ in range(1000 // STALL_PERIOD)]
        assert min(stretches) == 0
        assert max(stretches) > 0.6


def test_pauses_of_two_sides_meet_and_miss_each_other_in_every_run_of_some_length() -> None:
    """A register that ignores the enable differs only where the operands pause, and the enable does."""
    for seed in range(200):
        operands, enables = Stalls(f"in {seed}"), Stalls(f"enable {seed}")
        both = [(operands.pause(), enables.pause()) for _ in range(1500)]
        assert {(False, False), (False, True), (True, False), (True, True)} == set(both), seed


def test_without_odds_nothing_pauses() -> None:
    assert pauses(Stalls("in None", (0.0,)), 3 * EARLY) == 0


def test_a_seed_gives_the_same_pauses() -> None:
    first, second = Stalls("in 1"), Stalls("in 1")
    assert [first.pause() for _ in range(2 * EARLY)] == [second.pause() for _ in range(2 * EARLY)]
