"""Steps align to encode of a sum whose rounding knows that bits were lost, against golden's, in every encoding."""

import random
from itertools import product

import pytest
from amaranth import Module, Signal, Value

from golden import Implementation
from golden.arithmetic.conversion import conversion
from golden.arithmetic.rounding import MODES, Mode
from golden.arithmetic.steps import Term as ExactTerm
from golden.arithmetic.steps import accumulate, add_sticky, align, is_truncated, max_exp
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl.datapath import fused_sum
from rtl.datapath.conversion import normalise_total, round_and_encode
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build
from rtl.steps.align import Truncation
from rtl.steps.encode import ResultRules
from rtl.steps.interfaces import ExpRange, Special, Term, TermFormat
from tests.rtl.simulate import evaluate

TERM = TermFormat(ExpRange(-150, 12), sig_bits=4, frac=3)
F = 10
COUNT = 3

Row = tuple[int, ...]
"""Sign, exponent and significand of each term."""


def rows(count: int, seed: str) -> list[Row]:
    """Terms that cancel, that make ties of 8 bits, and that are lost; around 1, and around the end of bf16."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        top = rng.choice([rng.randint(-4, 12), rng.randint(-4, 12), rng.randint(-128, -118)])
        sign, sig = rng.randrange(2), rng.choice([0, 8, 8, 9, 15, rng.randrange(16)])
        near = rng.choice([0, 0, 1, 8, 8, 8, 9, 10, 11, rng.randint(0, 12)])
        terms = [
            (sign, top, sig),
            (sign ^ (rng.random() < 0.6), top - near, rng.choice([8, sig, sig, rng.randrange(16)])),
            (rng.randrange(2), max(-150, top - rng.choice([8, 11, 12, 13, 25])), rng.choice([0, 8, 1, rng.randrange(16)])),
        ]
        rng.shuffle(terms)
        found.append(tuple(value for term in terms for value in term))
    return found


def expected(row: Row, truncation: Mode, mode: Mode, sticky: Mode | None) -> int:
    """Golden's code of bf16; `sticky` is the truncation whose losses the rounding knows of, None where it knows of none."""
    rho = conversion(f"{mode}-BF16")
    parts = zip(row[::3], row[1::3], row[2::3], strict=True)
    terms = [ExactTerm(-sig if sign else sig, exp, TERM.frac) for sign, exp, sig in parts]
    e_max = max_exp(terms)
    total, lsb = accumulate(align(term, e_max, F, truncation) for term in terms), e_max - F
    if sticky is not None and total and any(is_truncated(term, e_max, F) for term in terms):
        total, lsb = add_sticky(total, lsb, sticky, rho.d.man_bits)
    return rho.encode(total, lsb)


def seen(inputs: list[Row], truncation: Truncation, mode: Mode, implementation: Implementation) -> list[int]:
    """The datapath's."""
    rho = conversion(f"{mode}-BF16")

    def build(m: Module, values: list[Signal]) -> list[Value]:
        part = Build(m, None)
        terms = [Term(sign, exp, sig, TERM) for sign, exp, sig in zip(values[::3], values[1::3], values[2::3], strict=True)]
        largest = fused_sum.max_exp(part, "sum", terms, implementation)
        aligned = fused_sum.align(part, largest, terms, [Precision(F, truncation, tells_lost=True)] * COUNT)
        total = fused_sum.accumulate(part, largest.without_gaps(), aligned, implementation, normalised=True)
        normalised = normalise_total(
            part, largest, total, rho.rounding_format, narrows=implementation.normaliser == "narrowing"
        )
        special = Special(Signal(), Signal(), Signal())
        rules = ResultRules(canonical=False)
        return [round_and_encode(part, normalised, special, rho, implementation, rules)]

    shapes = [Signal(1).shape(), TERM.exps.shape, Signal(TERM.sig_bits).shape()] * COUNT
    return [d for (d,) in evaluate(shapes, build, inputs)]


QUICK = [
    ("sign-magnitude", "RZ", "RNE", "count"),
    ("ones-complement", "RZ", "RO", "anticipate"),
    ("twos-complement", "RZ", "RU", "count"),
    ("sign-magnitude", "RD", "RZ", "anticipate"),
    ("ones-complement", "RD", "RNE", "anticipate"),
    ("twos-complement", "RD", "RO", "count"),
]
WAYS = product(ENCODINGS, ("RZ", "RD"), MODES, CIRCUIT_CHOICES["leading_zeros"])


@pytest.mark.parametrize(
    ("encoding", "truncation", "mode", "leading_zeros", "count"),
    [*((*way, 160) for way in QUICK), *(pytest.param(*way, 600, marks=pytest.mark.long) for way in WAYS)],
)
def test_rounding_knows_what_was_lost(
    encoding: str, truncation: Truncation, mode: Mode, leading_zeros: str, count: int
) -> None:
    inputs = rows(count, f"{encoding} {truncation} {mode} {leading_zeros}")
    normaliser = "narrowing" if encoding == "ones-complement" else "whole"
    implementation = Implementation(encoding=encoding, leading_zeros=leading_zeros, normaliser=normaliser)
    kept: Mode = "RD" if truncation == "RD" else "RZ"
    for row, got in zip(inputs, seen(inputs, truncation, mode, implementation), strict=True):
        want = expected(row, kept, mode, kept)
        assert got == want, (row, hex(got), hex(want))


@pytest.mark.parametrize(("truncation", "mode"), list(product(("RZ", "RD"), MODES)))
def test_rows_tell_the_sum_from_its_neighbours(truncation: Mode, mode: Mode) -> None:
    """A rounding that takes what was lost for the other truncation's differs; one that knows nothing of it too, where that
    matters: what RZ or RD leaves out, the same mode leaves out again, and a tie under RNA goes away from zero anyway."""
    inputs = rows(250, "neighbours")
    found = [expected(row, truncation, mode, truncation) for row in inputs]
    other: Mode = "RD" if truncation == "RZ" else "RZ"
    assert found != [expected(row, truncation, mode, other) for row in inputs]
    matters = (truncation, mode) not in (("RZ", "RZ"), ("RZ", "RNA"), ("RD", "RD"))
    assert (found != [expected(row, truncation, mode, None) for row in inputs]) == matters
