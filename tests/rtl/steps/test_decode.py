"""The decoder against golden's decode."""

import random
from collections.abc import Callable

import pytest

from golden import FORMATS, Cls, Format
from golden.arithmetic.formats import Decoded
from golden.arithmetic.steps import flushed
from golden.operations.ftz_addmul import flush_input
from rtl.steps.decode import Decode, Subnormals
from tests.rtl.simulate import outputs

NARROW = ["e4m3", "e4m3ieee", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "ue8m0", "ue4m3"]
WIDE = ["fp16", "bf16", "tf32", "fp32", "fp64"]


def wide_codes(operand: Format) -> list[int]:
    """Every exponent with the mantissas that matter, both signs, and random codes."""
    rng = random.Random(operand.name)
    mantissas = [0, 1, (1 << operand.man_bits) - 1, 1 << (operand.man_bits - 1)]
    fields = [(exp << operand.man_bits) | man for exp in range(1 << operand.exp_bits) for man in mantissas]
    codes = [(sign << (operand.width - 1)) | (field << operand.pad_bits) for field in fields for sign in (0, 1)]
    return codes + [rng.randrange(operand.codes) for _ in range(500)]


@pytest.mark.parametrize("name", NARROW + WIDE)
def test_decode_equals_golden(name: str) -> None:
    check(FORMATS[name], "kept")


@pytest.mark.parametrize("name", ["fp16", "bf16", "fp32"])
def test_flushing_decoder_takes_subnormals_for_plus_zero(name: str) -> None:
    check(FORMATS[name], "+0")


@pytest.mark.parametrize("name", [name for name in NARROW + WIDE if name not in ("ue8m0", "ue4m3")])
def test_flushing_decoder_takes_subnormals_for_zeros_of_their_sign(name: str) -> None:
    check(FORMATS[name], "±0")


def counted(operand: Format, code: int, subnormals: Subnormals) -> Decoded:
    """Golden's class of a code."""
    flush: dict[Subnormals, Callable[[Decoded], Decoded]] = {"kept": lambda x: x, "+0": flush_input, "±0": flushed}
    return flush[subnormals](operand.decode(code))


def check(operand: Format, subnormals: Subnormals) -> None:
    codes = list(range(operand.codes)) if operand.name in NARROW else wide_codes(operand)
    component = Decode(operand, subnormals)
    x = component.x
    seen = outputs(
        component,
        [{"code": code} for code in codes],
        lambda get: (get(x.sign), get(x.exp), get(x.sig), get(x.zero), get(x.inf), get(x.nan)),
    )
    for code, (sign, exp, sig, zero, inf, nan) in zip(codes, seen, strict=True):
        expected = counted(operand, code, subnormals)
        flags = (expected.cls is Cls.ZERO, expected.cls is Cls.INFINITY, expected.cls is Cls.NAN)
        assert (zero, inf, nan) == flags, operand.describe(code)
        if expected.cls < Cls.INFINITY:
            assert (sign, exp, sig) == expected[:3], operand.describe(code)
        if inf:
            assert sign == expected.sign
