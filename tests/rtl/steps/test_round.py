"""Normalise, round and encode, composed, against golden's conversion ρ, exhaustively at small widths."""

import random

import pytest
from amaranth import Module, Signal
from amaranth.lib.wiring import In, Out

from golden.conversion import CONVERSIONS, Conversion
from golden.formats import Cls
from golden.specials import nvidia_nan
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR
from rtl.steps.component import AnyComponent
from rtl.steps.encode import Encode
from rtl.steps.interfaces import ExpRange, TermFormat
from rtl.steps.normalise import Normalise
from rtl.steps.round import Round
from tests.rtl.simulate import outputs


class NormaliseRoundEncode(AnyComponent):
    """(−1)^sign · total · 2**(e_max − F) to a code of ρ's d; with `zeros`, the leading zeros are told, not counted."""

    sign: Signal
    total: Signal
    e_max: Signal
    zeros: Signal
    d: Signal

    def __init__(
        self, rho: Conversion, total_bits: int, e_maxes: ExpRange, F: int, canonical: bool, told: bool, result_exp: str
    ) -> None:
        self.rho = rho
        self.normalise = Normalise(TermFormat(e_maxes, total_bits, F), rho.rounding_format, anticipated=told)
        self.round = Round(self.normalise.norm_bits, rho.rounding_format.man_bits, rho.mode)
        self.encode = Encode(rho, self.normalise.e_norm.shape(), nvidia_nan(rho.d), canonical, result_exp=result_exp)
        told_members = {"zeros": In(range(total_bits + 1))} if told else {}
        super().__init__(
            {"sign": In(1), "total": In(total_bits), "e_max": In(e_maxes.shape), "d": Out(rho.d.width)} | told_members
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.normalise, m.submodules.round, m.submodules.encode = self.normalise, self.round, self.encode
        normalise, rounding, encode = self.normalise, self.round, self.encode
        m.d.comb += [normalise.total.eq(self.total), normalise.e_max.eq(self.e_max)]
        m.d.comb += [rounding.sign.eq(self.sign), rounding.norm.eq(normalise.norm), rounding.sticky.eq(normalise.sticky)]
        m.d.comb += [encode.sign.eq(self.sign), encode.hidden.eq(normalise.norm[-1]), encode.e_norm.eq(normalise.e_norm)]
        m.d.comb += [encode.sig.eq(rounding.sig), self.d.eq(encode.d)]
        if normalise.anticipated:
            m.d.comb += normalise.zeros.eq(self.zeros)
        return m


def check(rho: Conversion, total_bits: int, e_maxes: ExpRange, F: int, cases: list[tuple[int, int, int]]) -> None:
    canonical = total_bits % 2 == 0  # both kinds of zero, each with its own set of cases
    for told, result_exp in ((False, "serial"), (True, "parallel")):
        component = NormaliseRoundEncode(rho, total_bits, e_maxes, F, canonical, told, result_exp)
        check_component(component, F, canonical, cases)


def check_component(component: NormaliseRoundEncode, F: int, canonical: bool, cases: list[tuple[int, int, int]]) -> None:
    rho = component.rho
    inputs = [{"sign": s, "total": t, "e_max": e} for s, t, e in cases]
    if component.normalise.anticipated:
        total_bits = len(component.total)
        for k, row in enumerate(inputs):
            row["zeros"] = max(0, total_bits - row["total"].bit_length() - k % (ANTICIPATION_ERROR + 1))
    for (s, t, e), got in zip(cases, outputs(component, inputs, lambda get: get(component.d)), strict=True):
        expected = rho.encode(-t if s else t, e - F)
        if rho.d.decode(expected).cls is Cls.ZERO:
            expected = rho.d.negative_zero if s and not canonical else 0
        assert got == expected, (
            f"{rho}: {'-' if s else '+'}{t}·2^{e - F}: {rho.d.describe(got)}, not {rho.d.describe(expected)}"
        )


@pytest.mark.parametrize("rho", [name for name in CONVERSIONS if name.endswith("FP16")])
def test_every_small_total_around_the_subnormals_and_the_overflow_of_fp16(rho: str) -> None:
    for low, high in ((-30, -20), (-16, -12), (12, 18)):
        cases = [(s, t, e) for s in (0, 1) for t in range(64) for e in range(low, high + 1)]
        check(CONVERSIONS[rho], 6, ExpRange(low, high), 3, cases)


@pytest.mark.slow
@pytest.mark.parametrize("rho", list(CONVERSIONS))
@pytest.mark.parametrize(("low", "high"), [(-300, -250), (-170, -100), (-160, 140), (100, 140), (-20, 20)])
def test_wide_totals_at_ties_and_random(rho: str, low: int, high: int) -> None:
    rng = random.Random(f"{rho} {low} {high}")
    bits, F = 33, 25
    man_bits = CONVERSIONS[rho].rounding_format.man_bits
    cases = []
    for _ in range(400):
        length = rng.randint(1, bits)
        total = (1 << (length - 1)) | rng.getrandbits(length - 1)
        below = rng.choice([0, max(0, length - man_bits - 1)])
        if below:  # a tie, or one beside it
            total = (total >> below << below) + (1 << (below - 1)) + rng.choice([-1, 0, 1])
        total = rng.choice([total, total, total, 0, (1 << length) - 1])
        cases.append((rng.getrandbits(1), total, rng.randint(low, high)))
    check(CONVERSIONS[rho], bits, ExpRange(low, high), F, cases)


@pytest.mark.parametrize("rho", ["RZ-FP32", "RNE-FP16", "RZ-E8M13", "RU-BF16"])
def test_specials_override_the_sum(rho: str) -> None:
    conversion = CONVERSIONS[rho]
    component = Encode(conversion, ExpRange(-5, 5).shape, nvidia_nan(conversion.d), canonical_zero=True)
    d = conversion.d
    flags = [{"special.nan": n, "special.pos_inf": p, "special.neg_inf": q} for n, p, q in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    seen = outputs(component, [{"sign": 1, "hidden": 1, "sig": 1, **f} for f in flags], lambda get: get(component.d))
    assert seen == [nvidia_nan(d), d.signed_infinity(0), d.signed_infinity(1)]
