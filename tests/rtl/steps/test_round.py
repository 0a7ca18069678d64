"""Normalise, round and encode, composed, against golden's conversion ρ, exhaustively at small widths."""

import random
from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

import pytest
from amaranth import Const, Module, Signal, Value
from amaranth.lib.wiring import In, Out

from golden import Implementation
from golden.arithmetic.conversion import CONVERSIONS, Conversion
from golden.arithmetic.formats import Cls
from golden.arithmetic.rounding import MODES, OVERFLOWS
from golden.arithmetic.specials import nvidia_nan
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR
from rtl.arithmetic.shift import shift_left_narrowing
from rtl.steps.component import AnyComponent
from rtl.steps.encode import Encode, ResultRules, Underflow
from rtl.steps.interfaces import ExpRange, TermFormat
from rtl.steps.normalise import Normalise
from rtl.steps.round import Round
from tests.rtl.simulate import outputs
from tests.volume import one_in

LATER = ("RO", "RNA")
"""Modes that no published unit has; that they round right at every width is left to the long run."""

Lost = Literal["nothing", "above", "below"]
"""The exact sum beside its total: equal, or larger in magnitude by less than any bit, or smaller by that than one more."""

Case = tuple[int, int, int, Lost]
"""Sign, total, e_max, and what was lost."""


class NormaliseRoundEncode(AnyComponent):
    """A sum (−1)^sign · total · 2**(e_max − F), or what is beside it, to a code of ρ's d.

    With `zeros`, the leading zeros are told, not counted; with `fill`, the bits below the total are told.
    """

    sign: Signal
    total: Signal
    e_max: Signal
    zeros: Signal
    fill: Signal
    sticky: Signal
    d: Signal

    def __init__(
        self,
        rho: Conversion,
        total: TermFormat,
        rules: ResultRules,
        told: bool = False,
        implementation: Implementation = Implementation(),  # noqa: B008  # frozen
        filled: bool = False,
    ) -> None:
        self.rho, self.rules = rho, rules
        bounded = rules.underflow != "flush-tiny"
        narrows, compound = implementation.normaliser == "narrowing", implementation.rounder == "compound"
        self.normalise = Normalise(total, rho.rounding_format, told, filled, bounded, narrows)
        self.round = Round(self.normalise.norm_bits, rho.rounding_format.man_bits, rho.mode, compound)
        self.encode = Encode(rho, self.normalise.e_norm.shape(), rules, implementation.result_exp)
        inputs = {"sign": In(1), "total": In(total.sig_bits), "e_max": In(total.exps.shape), "sticky": In(1)}
        told_members = {"zeros": In(range(total.sig_bits + 1))} if told else {}
        super().__init__(inputs | told_members | ({"fill": In(1)} if filled else {}) | {"d": Out(rho.d.width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.normalise, m.submodules.round, m.submodules.encode = self.normalise, self.round, self.encode
        normalise, rounding, encode = self.normalise, self.round, self.encode
        m.d.comb += [normalise.total.eq(self.total), normalise.e_max.eq(self.e_max)]
        m.d.comb += [rounding.sign.eq(self.sign), rounding.norm.eq(normalise.norm)]
        m.d.comb += rounding.sticky.eq(normalise.sticky | self.sticky)
        m.d.comb += [encode.sign.eq(self.sign), encode.hidden.eq(normalise.norm[-1]), encode.e_norm.eq(normalise.e_norm)]
        m.d.comb += [encode.sig.eq(rounding.sig), self.d.eq(encode.d)]
        if normalise.anticipated:
            m.d.comb += normalise.zeros.eq(self.zeros)
        if normalise.filled:
            m.d.comb += normalise.fill.eq(self.fill)
        return m

    def expected(self, case: Case) -> int:
        """Golden's result."""
        sign, total, e_max, lost = case
        below = 70  # bits: further than any that could be kept
        exact = (total << below) + {"nothing": 0, "above": 1, "below": (1 << below) - 1}[lost]
        rho, rules = self.rho, self.rules
        exp = e_max - self.normalise.format.frac - below
        code = rho.encode(-exact if sign else exact, exp, rules.overflow, rules.underflow == "flush-tiny")
        if rho.d.decode(code).cls is Cls.ZERO:
            return rho.d.negative_zero if sign and not rules.canonical else 0
        return code

    def inputs(self, case: Case, zeros_missed: int) -> dict[str, int]:
        """The ports' values; `zeros_missed` leading zeros are not told."""
        sign, total, e_max, lost = case
        row = {"sign": sign, "total": total, "e_max": e_max, "sticky": int(lost != "nothing")}
        if self.normalise.anticipated:
            row["zeros"] = max(0, len(self.total) - total.bit_length() - zeros_missed)
        if self.normalise.filled:
            row["fill"] = int(lost == "below")
        return row


WAYS = (
    (False, Implementation()),
    (True, Implementation(result_exp="parallel")),
    (False, Implementation(result_exp="parallel", normaliser="narrowing", rounder="compound")),
    (True, Implementation(normaliser="narrowing", rounder="compound")),
)
"""Whether the leading zeros are told, and how the steps are built."""


def check(
    rho: Conversion,
    total: TermFormat,
    rules: ResultRules,
    cases: list[Case],
    filled: bool = False,
    ways: Sequence[tuple[bool, Implementation]] = WAYS,
) -> None:
    """The component, built in each way, against golden."""
    for told, implementation in ways:
        component = NormaliseRoundEncode(rho, total, rules, told, implementation, filled)
        inputs = [component.inputs(case, k % (ANTICIPATION_ERROR + 1)) for k, case in enumerate(cases)]
        seen = results(component, inputs)
        assert len(seen) == len(cases) > 0
        for case, got in zip(cases, seen, strict=True):
            want = component.expected(case)
            assert got == want, f"{rho} {rules} {case}: {rho.d.describe(got)}, not {rho.d.describe(want)}"


def results(component: NormaliseRoundEncode | Encode, inputs: list[dict[str, int]]) -> list[int]:
    """d for each row of inputs."""
    return outputs(component, inputs, lambda get: get(component.d))


@pytest.mark.slow
@pytest.mark.parametrize("rho", [name for name in CONVERSIONS if name.endswith("FP16")])
def test_every_small_total_around_the_subnormals_and_the_overflow_of_fp16(rho: str) -> None:
    for low, high in ((-30, -20), (-16, -12), (12, 18)):
        cases: list[Case] = [(s, t, e, "nothing") for s in (0, 1) for t in range(64) for e in range(low, high + 1)]
        check(CONVERSIONS[rho], TermFormat(ExpRange(low, high), 6, 3), ResultRules(canonical=True), cases)


RANGES = [(-300, -250), (-170, -100), (-160, 140), (100, 140), (-20, 20)]


def conversions_and_ranges() -> list[Any]:
    """Every conversion over every range of exponents; in `make test` those of published modes, every eighth pair of both."""
    both = {later: [(name, *r) for name, rho in CONVERSIONS.items() if (rho.mode in LATER) is later for r in RANGES]
            for later in (False, True)}  # fmt: skip
    return [*one_in(8, both[False]), *(pytest.param(*case, marks=pytest.mark.long) for case in both[True])]


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "low", "high"), conversions_and_ranges())
def test_wide_totals_at_ties_and_random(rho: str, low: int, high: int) -> None:
    rng = random.Random(f"{rho} {low} {high}")
    bits, F = 33, 25
    man_bits = CONVERSIONS[rho].rounding_format.man_bits
    cases: list[Case] = []
    for _ in range(400):
        cases.append((rng.getrandbits(1), total_at_a_tie(rng, bits, man_bits), rng.randint(low, high), "nothing"))
    check(CONVERSIONS[rho], TermFormat(ExpRange(low, high), bits, F), ResultRules(canonical=False), cases)


def total_at_a_tie(rng: random.Random, bits: int, man_bits: int) -> int:
    """A total of any length, often a tie, one beside it, all ones or zero."""
    length = rng.randint(1, bits)
    total = (1 << (length - 1)) | rng.getrandbits(length - 1)
    below = rng.choice([0, max(0, length - man_bits - 1)])
    if below:
        total = (total >> below << below) + (1 << (below - 1)) + rng.choice([-1, 0, 1])
    return rng.choice([total, total, total, 0, (1 << length) - 1])


UNDERFLOWS: list[tuple[bool, Underflow]] = [(False, "flush-tiny"), (True, "flush-tiny"), (False, "gradual")]
RULES = [ResultRules(canonical, underflow, overflow) for canonical, underflow in UNDERFLOWS for overflow in OVERFLOWS]


def edges(bits: int, man_bits: int) -> list[int]:
    """Totals of every length: the smallest and the largest, and where there are more bits than are kept, those around ties
    of the smallest, of an odd, and of the largest significand, which carries."""
    totals = {0}
    for length in range(1, bits + 1):
        lowest, highest = 1 << (length - 1), (1 << length) - 1
        totals |= {lowest, min(lowest + 1, highest), highest, max(highest - 1, 0)}
        below = length - man_bits - 1
        if below > 0:
            for kept in (1 << man_bits, (1 << man_bits) + 1, (2 << man_bits) - 1):
                totals |= {(kept << below) + (1 << (below - 1)) + beside for beside in (-1, 0, 1)}
    return sorted(totals)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lost", ["nothing", "above", "below"])
def test_rules_and_lost_bits_around_the_ends_of_bf16(mode: str, lost: Lost) -> None:
    rho, bits, F = CONVERSIONS[f"{mode}-BF16"], 11, 9
    totals = [total for total in edges(bits, rho.d.man_bits) if total or lost != "above"]
    every = list(product((0, 1), totals, [*range(-135, -125), *range(125, 129)]))
    chosen = RULES if lost == "nothing" else RULES[::4]
    for number, rules in enumerate(chosen):
        cases: list[Case] = [(sign, total, e_max, lost) for sign, total, e_max in every[number :: len(chosen)]]
        ways = WAYS[number % len(WAYS) :][:1]
        check(rho, TermFormat(ExpRange(-135, 128), bits, F), rules, cases, lost == "below", ways)


@pytest.mark.long
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("rho", list(CONVERSIONS))
def test_wide_totals_under_every_rule(rho: str, rules: ResultRules) -> None:
    rng = random.Random(f"{rho} {rules}")
    bits, F, conversion = 33, 25, CONVERSIONS[rho]
    for low, high in ((-170, -100), (-40, -10), (10, 20), (100, 140)):
        cases: list[Case] = []
        for _ in range(300):
            total = total_at_a_tie(rng, bits, conversion.rounding_format.man_bits)
            lost: list[Lost] = ["nothing", "below", "above" if total else "below"]
            cases.append((rng.getrandbits(1), total, rng.randint(low, high), rng.choice(lost)))
        check(conversion, TermFormat(ExpRange(low, high), bits, F), rules, cases, filled=True)


@pytest.mark.attack("faults of a circuit, in simulation")
@pytest.mark.parametrize("told", [False, True])
def test_a_narrowing_normaliser_that_forgets_what_it_dropped_is_noticed(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(m: Module, value: Value, amount: Value, keep: int) -> tuple[Value, Value]:
        return shift_left_narrowing(m, value, amount, keep)[0], Const(0, 1)

    monkeypatch.setattr("rtl.steps.normalise.shift_left_narrowing", forgetful)
    narrowing = Implementation(normaliser="narrowing")
    cases: list[Case] = [(0, total, 0, "nothing") for total in edges(33, 10)]
    with pytest.raises(AssertionError, match="RNE-FP16"):
        check(CONVERSIONS["RNE-FP16"], TermFormat(ExpRange(0, 0), 33, 25), RULES[-1], cases, ways=[(told, narrowing)])


@pytest.mark.attack("faults of a circuit, in simulation")
def test_a_compound_rounding_that_takes_the_other_significand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Round._increment
    monkeypatch.setattr(Round, "_increment", lambda self, odd, guard, below: ~sound(self, odd, guard, below))
    cases: list[Case] = [(0, total, 0, "nothing") for total in edges(33, 10)]
    with pytest.raises(AssertionError, match="RNE-FP16"):
        check(CONVERSIONS["RNE-FP16"], TermFormat(ExpRange(0, 0), 33, 25), RULES[-1], cases, ways=WAYS[2:])


@pytest.mark.parametrize("rho", ["RZ-FP32", "RNE-FP16", "RZ-E8M13", "RU-BF16"])
def test_specials_override_the_sum(rho: str) -> None:
    conversion = CONVERSIONS[rho]
    component = Encode(conversion, ExpRange(-5, 5).shape, ResultRules(canonical=True))
    d = conversion.d
    flags = [{"special.nan": n, "special.pos_inf": p, "special.neg_inf": q} for n, p, q in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    seen = outputs(component, [{"sign": 1, "hidden": 1, "sig": 1, **f} for f in flags], lambda get: get(component.d))
    assert seen == [nvidia_nan(d), d.signed_infinity(0), d.signed_infinity(1)]
