"""A sweep along wires ends early where it is told to, and proves what it can where it is not."""

import time

import numpy as np
from bitwuzla import Kind, TermManager

from mmau.prove.netlist.terms import Terms
from mmau.prove.user_design.asking import Limits
from mmau.prove.user_design.sweeping import Sweep


def two_sums(end: float) -> tuple[Sweep, Limits]:
    """A sweep of x + y and 3 (x + y), each written in two ways, and limits with an end in so many seconds."""
    terms = Terms(TermManager())
    x, y = terms.free("x", 16), terms.free("y", 16)
    total = terms.apply(Kind.BV_ADD, [x, y], 16)
    other = terms.apply(
        Kind.BV_ADD,
        [
            terms.apply(Kind.BV_XOR, [x, y], 16),
            terms.apply(Kind.BV_SHL, [terms.apply(Kind.BV_AND, [x, y], 16), terms.number(1, 16)], 16),
        ],
        16,
    )
    specified = terms.apply(Kind.BV_MUL, [total, terms.number(3, 16)], 16)
    got = terms.apply(Kind.BV_ADD, [other, terms.apply(Kind.BV_ADD, [other, other], 16)], 16)
    random = np.random.default_rng(1)
    rows = {each.term: random.integers(0, 1 << 16, 64).astype(object) for each in (x, y)}
    return Sweep(terms, got.term, specified.term, [], rows), Limits(time.process_time() + end, 10.0, time.process_time)


def test_wires_are_proved_one_after_the_other() -> None:
    sweep, limits = two_sums(100.0)
    sweep.swept(limits, 10.0)
    assert (sweep.progress.open, sweep.progress.proved) == (0, sweep.progress.guessed)
    assert sweep.progress.guessed > 1


def test_a_guess_without_an_answer_ends_a_sweep_of_little_time() -> None:
    sweep, limits = two_sums(100.0)
    sweep.swept(limits, 0.0)
    assert (sweep.progress.guessed, sweep.progress.open) == (1, 1)


def test_a_guess_without_an_answer_ends_no_other_sweep() -> None:
    sweep, limits = two_sums(100.0)
    sweep.swept(Limits(limits.end, 0.0, limits.clock))
    assert sweep.progress.open == sweep.progress.guessed > 1
