"""Progress of small handshakes: states by number, and what each stimulus does."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from mmau.prove.user_design.asking import NotCompared
from mmau.prove.user_design.progress import Step, Stimulus, check_progress

Ports = tuple[int, ...]
"""in_valid and out_ready, and where a run may be under way, whether it ends."""

ALL: tuple[Ports, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))

EMPTY, FULL = 0, 1


def stepped(to: int, waiting: int, is_taken: bool, is_shown: bool, goes_on: bool = False) -> Step[int]:
    """A step; `check` says what was offered."""
    return Step(to, waiting, is_taken, is_shown, False, goes_on)


def check(steps: Mapping[int, Mapping[Ports, Step[int]]]) -> None:
    """Check steps of a design with one channel."""
    after = {
        state: {
            Stimulus((in_valid,), *others): replace(step, is_offered=bool(in_valid))
            for (in_valid, *others), step in each.items()
        }
        for state, each in steps.items()
    }
    check_progress(after, ("in_valid", "out_ready"))


def register() -> dict[int, dict[Ports, Step[int]]]:
    """One register: it takes operands when it is empty or its result leaves."""
    empty: dict[Ports, Step[int]] = {(iv, ready): stepped(FULL if iv else EMPTY, 0, bool(iv), False) for iv, ready in ALL}
    full: dict[Ports, Step[int]] = {
        (iv, ready): stepped(FULL if iv or not ready else EMPTY, 1, bool(iv and ready), True) for iv, ready in ALL
    }  # fmt: skip
    return {EMPTY: empty, FULL: full}


def test_a_register_makes_progress() -> None:
    check(register())


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {(FULL, (iv, 0)): stepped(FULL, 1, False, False) for iv in (0, 1)},
            "out_valid depends on out_ready in the same cycle",
        ),
        (
            {(FULL, stimulus): stepped(FULL, 1, False, False) for stimulus in ALL},
            "operands were taken whose result never comes while",
        ),
        (
            {(FULL, (1, ready)): stepped(FULL, 1, False, False) for ready in (0, 1)},
            "operands were taken whose result never comes while in_valid stays 1",
        ),
        (
            {(FULL, (0, ready)): stepped(FULL, 1, False, False) for ready in (0, 1)},
            "operands were taken whose result never comes while in_valid stays 0",
        ),
        (
            {(EMPTY, (1, 0)): stepped(EMPTY, 0, False, False)},
            "operands are not taken any more while in_valid stays 1 and out_ready stays 0",
        ),
    ],
)
def test_what_holds_a_transfer_up_is_named(changed: dict[tuple[int, Ports], Step[int]], why: str) -> None:
    steps = register()
    for (state, stimulus), step in changed.items():
        steps[state][stimulus] = step
    with pytest.raises(NotCompared, match=re.escape(f"its handshake: {why}")):
        check(steps)


def test_a_loop_through_several_states_is_found() -> None:
    """Results come only if in_valid stays the same for two cycles."""
    steps: dict[int, dict[Ports, Step[int]]] = {
        EMPTY: register()[EMPTY],
        FULL: {(iv, r): stepped(2 + iv, 1, False, False) for iv, r in ALL},
        2: {(iv, r): stepped(3 if iv else EMPTY, 1, False, not iv) for iv, r in ALL},
        3: {(iv, r): stepped(EMPTY if iv else 2, 1, False, bool(iv)) for iv, r in ALL},
    }
    with pytest.raises(NotCompared, match="whose result never comes"):
        check(steps)


def with_a_run(end: int) -> dict[int, dict[Ports, Step[int]]]:
    """A register whose operands come to it by a run, which leads to another state at its end."""
    run, after = 2, {state: {(*each, 0): step for each, step in steps.items()} for state, steps in register().items()}
    for stimulus in ((1, 0, 0), (1, 1, 0)):
        after[EMPTY][stimulus] = stepped(run, 0, True, False)
    for stimulus in ((0, 1, 0), (1, 0, 0), (1, 1, 0)):
        after[FULL][stimulus] = stepped(EMPTY if stimulus[1] else FULL, 1, False, True)
    after[run] = {(*each, 0): stepped(run, 1, False, False, True) for each in ALL}
    after[run] |= {(*each, 1): stepped(end, 1, False, False) for each in ALL}
    return after


def test_a_run_that_goes_on_holds_nothing_up_for_ever() -> None:
    check(with_a_run(FULL))


@pytest.mark.attack("dut")
def test_a_run_that_begins_again_holds_its_operands_up() -> None:
    with pytest.raises(NotCompared, match=r"^its handshake: operands were taken whose result never comes"):
        check(with_a_run(2))
