"""The rounded adder against NumPy's addition and, where it flushes, golden's FTZ-Add."""

import random

import numpy as np
import pytest
from amaranth import Module, Signal, Value, unsigned

from golden import FORMATS, Cls, Format, Implementation
from golden.arithmetic.conversion import conversion
from golden.arithmetic.specials import nvidia_nan, quiet_nan
from golden.operations.ftz_addmul import flushed_add
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl.datapath.rounded_adder import RoundedAdder
from rtl.datapath.step import Build
from tests.rtl.simulate import evaluate

FP16, FP32 = FORMATS["fp16"], FORMATS["fp32"]
FLOATS = {FP16: (np.uint16, np.float16), FP32: (np.uint32, np.float32)}

pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")


def added(
    d: Format, pairs: list[tuple[int, int]], canonical: bool, flush: bool, implementation: Implementation
) -> list[int]:
    """The sums of pairs of codes."""
    rho = conversion(f"RNE-{d.name.upper()}")

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        adder = RoundedAdder("add", rho, implementation, canonical, flush)
        placed = Build(m, None)
        x, y = inputs
        return [adder.encode(placed, *adder.accumulate(placed, adder.align(placed, x, y)))]

    return [code for (code,) in evaluate([unsigned(d.width)] * 2, build, pairs)]


def ieee_sums(d: Format, pairs: list[tuple[int, int]]) -> list[int]:
    """IEEE 754 addition as NumPy does it, every NaN as `quiet_nan`."""
    bits, floats = FLOATS[d]
    x, y = (np.array(codes, bits).view(floats) for codes in zip(*pairs, strict=True))
    sums = x + y
    return np.where(np.isnan(sums), quiet_nan(d), sums.view(bits)).tolist()


def canonical_sums(d: Format, pairs: list[tuple[int, int]]) -> list[int]:
    """The same with one NaN and one zero, as NVIDIA's units write them."""
    one = {quiet_nan(d): nvidia_nan(d), d.negative_zero: 0}
    return [one.get(code, code) for code in ieee_sums(d, pairs)]


def corner_codes(d: Format, exps: range) -> list[int]:
    """Every stored exponent of the range with the mantissas around its ends and its middle, both signs."""
    half, full = 1 << (d.man_bits - 1), 1 << d.man_bits
    fields = [(exp << d.man_bits) | man for exp in exps for man in (0, 1, half, full - 1)]
    return [code | sign for code in fields for sign in (0, d.negative_zero)]


def every_pair(codes: list[int]) -> list[tuple[int, int]]:
    return [(x, y) for x in codes for y in codes]


def near_pairs(d: Format, count: int) -> list[tuple[int, int]]:
    """Random codes whose exponents are at most a few places more than a significand apart, and ties."""
    rng = random.Random(count)
    top = (1 << d.exp_bits) - 1
    pairs = []
    for _ in range(count):
        exp = rng.randint(0, top)
        codes = []
        for place in (exp, min(top, max(0, exp - rng.randint(0, d.man_bits + 5)))):
            man = rng.choice([rng.getrandbits(d.man_bits), 1 << rng.randrange(d.man_bits), (1 << d.man_bits) - 1])
            codes.append((rng.getrandbits(1) << (d.width - 1)) | (place << d.man_bits) | man)
        rng.shuffle(codes)
        pairs.append((codes[0], codes[1]))
    return pairs


@pytest.mark.slow
def test_every_pair_of_exponents_of_fp16() -> None:
    rng = random.Random(1)
    codes = [corner_codes(FP16, range(exp, exp + 1)) for exp in range(32)]
    pairs = [(rng.choice(x), rng.choice(y)) for x in codes for y in codes for _ in range(2)]
    assert added(FP16, pairs, False, False, Implementation()) == ieee_sums(FP16, pairs)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("d", "way"), [(FP16, 0), (FP16, 1), (FP32, 1)], ids=str)
def test_adder_in_every_encoding(d: Format, way: int, encoding: str) -> None:
    ways = {key: choices[way] for key, choices in CIRCUIT_CHOICES.items()}
    implementation = Implementation(encoding=encoding, **ways)  # type: ignore[arg-type]
    pairs = near_pairs(d, 200) + extreme_pairs(d, 100)
    assert added(d, pairs, True, False, implementation) == canonical_sums(d, pairs)


def extreme_pairs(d: Format, count: int) -> list[tuple[int, int]]:
    """Pairs of zeros, subnormals and the smallest and largest numbers, infinities and NaN."""
    top = 1 << d.exp_bits
    codes = corner_codes(d, range(3)) + corner_codes(d, range(top - 3, top))
    return random.Random(count).sample(every_pair(codes), count)


def test_adder_of_ieee_754_keeps_the_sign_of_zero() -> None:
    pairs = [*extreme_pairs(FP32, 300), *every_pair([0, FP32.negative_zero, 0x3F80_0000, 0xBF80_0000])]
    expected = ieee_sums(FP32, pairs)
    assert added(FP32, pairs, False, False, Implementation()) == expected
    assert FP32.negative_zero in expected


@pytest.mark.slow
def test_flushing_adder_equals_golden() -> None:
    low = corner_codes(FP32, range(20, 26))
    pairs = [*extreme_pairs(FP32, 300), *random.Random(2).sample(every_pair(low), 400)]
    pairs += near_pairs(FP32, 200)
    expected = [flushed_add(flushed(x), flushed(y)) for x, y in pairs]
    assert added(FP32, pairs, False, True, Implementation()) == expected
    assert expected != ieee_sums(FP32, pairs)


def flushed(code: int) -> int:
    """A subnormal operand as +0."""
    return 0 if FP32.decode(code).cls is Cls.SUBNORMAL else code
