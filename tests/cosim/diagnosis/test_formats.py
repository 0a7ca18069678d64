"""Operands read and results written in another format of the same width."""

from dataclasses import replace
from typing import Any

import pytest

from golden import Cls, Operation, instruction
from golden.arithmetic.formats import BF16, E4M3, E5M2, FP16, FP32
from golden.engines.engine import Batch, run
from golden.operations import FMA, TFDPA
from golden.stimulus import OperandShape, generate
from tests.cosim.diagnosis.designs import Design, diagnosed, diagnosis, golden_results, split

FP = TFDPA(a=FP16, b=FP16, c=FP16, L=4, F=24, rho="RNE-FP16", e_zero=-20)
BF = TFDPA(a=BF16, b=BF16, c=BF16, L=4, F=24, rho="RNE-BF16", e_zero=-133)
F8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
SAME8 = TFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
ADD = FMA(a=FP16, b=FP16, c=FP16)

pytestmark = pytest.mark.attack("designs by hand, in cosim")


def unit(operation: Operation, **keys: Any) -> Design:
    """A design that is the unit with other formats."""
    return lambda operands, _: golden_results(operation.changed(**keys), operands)


def mixed_fma(operands: Any, _: Any) -> list[int]:
    """An fp16 multiply-add that reads a as bf16: one rounding of the exact value; special operands by IEEE 754."""
    rows = zip(operands.a[:, 0].tolist(), operands.b[:, 0].tolist(), operands.c.tolist(), strict=True)
    return [_mixed(*row) for row in rows]


def _mixed(a: int, b: int, c: int) -> int:
    x, y, z = BF16.value(a), FP16.value(b), FP16.value(c)
    if x is None or y is None or z is None:
        sound = FMA(a=FP16, b=FP16, c=FP16)
        stand_in = FP16.signed_infinity(a >> 15) if BF16.decode(a).cls is Cls.INFINITY else FP16.nan or 0
        if x is not None:
            stand_in = a & 0x8000 | (0x3C00 if x else 0)
        return sound.step([stand_in], [b], c)
    if x * y + z == 0:
        negative = (a ^ b) >> 15 and c >> 15 and not (x * y or z)
        return 0x8000 if negative else 0
    total = x * y + z
    return FP16.encode_scaled(total.numerator, 1 - total.denominator.bit_length(), "RNE")


CASES: dict[str, tuple[Operation, Design, str]] = {
    "a and b": (FP, unit(FP, a=BF16, b=BF16), "a and b are read as bf16, not fp16"),
    "a": (FP, unit(FP, a=BF16), "a is read as bf16, not fp16"),
    "b": (BF, unit(BF, b=FP16), "b is read as fp16, not bf16"),
    "c": (FP, unit(FP, c=BF16), "c is read as bf16, not fp16"),
    "d": (BF, unit(BF, rho="RNE-FP16"), "d is written as fp16, not bf16"),
    "c and d": (BF, unit(BF, c=FP16, rho="RNE-FP16"), "c is read and d is written as fp16, not bf16"),
    "all": (FP, unit(FP, a=BF16, b=BF16, c=BF16, rho="RNE-BF16"),
            "a, b and c are read and d is written as bf16, not fp16"),
    "e4m3": (F8, unit(F8, a=E5M2), "a is read as e5m2, not e4m3"),
    "e5m2": (F8, unit(F8, b=E4M3), "b is read as e4m3, not e5m2"),
    "both": (SAME8, unit(SAME8, a=E5M2, b=E5M2), "a and b are read as e5m2, not e4m3"),
    "fma": (ADD, mixed_fma, "a is read as bf16, not fp16"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_other_format_is_named_and_no_other(case: str) -> None:
    operation, design, change = CASES[case]
    found = diagnosis(operation, design, 500)
    assert [cause.change for cause in found.causes] == [change], found.text()


@pytest.mark.slow
def test_other_format_of_a_converted_instruction_is_named() -> None:
    """bf16, which no such instruction adds C in, is left to golden's reference."""
    sound = instruction("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16")
    assert sound.chain.fp16_order is not None
    broken = replace(sound.chain, operation=sound.chain.operation.changed(c=BF16, rho="RNE-BF16"))
    operands = generate(OperandShape.of_instruction(sound), 300, 7).operands
    expected, got = (run("reference", chain, Batch(*operands)) for chain in (sound.chain, broken))
    found = diagnosed(sound, *split(sound.operation, operands, got, expected))
    assert [cause.change for cause in found.causes] == ["c is read and d is written as bf16, not fp16"], found.text()


def test_other_fault_is_no_format() -> None:
    found = diagnosis(FP, lambda operands, _: golden_results(FP.changed(F=17), operands), 1500)
    assert [cause.change for cause in found.causes] == ["F is 17, not 24"]
