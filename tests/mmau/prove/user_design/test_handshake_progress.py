"""Progress of small handshakes: states by number, and what each stimulus does."""

import re

import pytest

from mmau.prove.user_design.asking import NotCompared
from mmau.prove.user_design.handshake import Step, Stimulus, check_progress

ALL: tuple[Stimulus, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))

EMPTY, FULL = 0, 1


def register() -> dict[int, dict[Stimulus, Step[int]]]:
    """One register: it takes operands when it is empty or its result leaves."""
    empty: dict[Stimulus, Step[int]] = {(iv, ready): Step(FULL if iv else EMPTY, 0, bool(iv), False) for iv, ready in ALL}
    full: dict[Stimulus, Step[int]] = {
        (iv, ready): Step(FULL if iv or not ready else EMPTY, 1, bool(iv and ready), True) for iv, ready in ALL
    }  # fmt: skip
    return {EMPTY: empty, FULL: full}


def test_a_register_makes_progress() -> None:
    check_progress(register())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {(FULL, (iv, 0)): Step(FULL, 1, False, False) for iv in (0, 1)},
            "out_valid depends on out_ready in the same cycle",
        ),
        (
            {(FULL, stimulus): Step(FULL, 1, False, False) for stimulus in ALL},
            "operands were taken whose result never comes while",
        ),
        (
            {(FULL, (1, ready)): Step(FULL, 1, False, False) for ready in (0, 1)},
            "operands were taken whose result never comes while in_valid stays 1",
        ),
        (
            {(FULL, (0, ready)): Step(FULL, 1, False, False) for ready in (0, 1)},
            "operands were taken whose result never comes while in_valid stays 0",
        ),
        (
            {(EMPTY, (1, 0)): Step(EMPTY, 0, False, False)},
            "operands are not taken any more while in_valid stays 1 and out_ready stays 0",
        ),
    ],
)
def test_what_holds_a_transfer_up_is_named(changed: dict[tuple[int, Stimulus], Step[int]], why: str) -> None:
    steps = register()
    for (state, stimulus), step in changed.items():
        steps[state][stimulus] = step
    with pytest.raises(NotCompared, match=re.escape(f"its handshake: {why}")):
        check_progress(steps)


def test_a_loop_through_several_states_is_found() -> None:
    """Results come only if in_valid stays the same for two cycles."""
    steps: dict[int, dict[Stimulus, Step[int]]] = {
        EMPTY: register()[EMPTY],
        FULL: {(iv, r): Step(2 + iv, 1, False, False) for iv, r in ALL},
        2: {(iv, r): Step(3 if iv else EMPTY, 1, False, not iv) for iv, r in ALL},
        3: {(iv, r): Step(EMPTY if iv else 2, 1, False, bool(iv)) for iv, r in ALL},
    }
    with pytest.raises(NotCompared, match="whose result never comes"):
        check_progress(steps)


def with_a_run(end: int) -> dict[int, dict[Stimulus, Step[int]]]:
    """A register whose operands come to it by a run, which leads to another state at its end."""
    run, after = 2, {state: {(*each, 0, 0): step for each, step in steps.items()} for state, steps in register().items()}
    for stimulus in ((1, 0, 0, 0), (1, 1, 0, 0)):
        after[EMPTY][stimulus] = Step(run, 0, True, False)
    for stimulus in ((0, 1, 0, 0), (1, 0, 0, 0), (1, 1, 0, 0)):
        after[FULL][stimulus] = Step(EMPTY if stimulus[1] else FULL, 1, False, True)
    after[run] = {(*each, 0, 0): Step(run, 1, False, False, True) for each in ALL}
    after[run] |= {(*each, 0, 1): Step(end, 1, False, False) for each in ALL}
    return after


def test_a_run_that_goes_on_holds_nothing_up_for_ever() -> None:
    check_progress(with_a_run(FULL))


@pytest.mark.attack("dut")
def test_a_run_that_begins_again_holds_its_operands_up() -> None:
    with pytest.raises(NotCompared, match=r"^its handshake: operands were taken whose result never comes"):
        check_progress(with_a_run(2))
