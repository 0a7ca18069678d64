"""Operands and results that a design takes otherwise: in another format, with bytes in another order, wrong in one lane."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from golden import Cls, Operation, instruction
from golden.arithmetic.formats import BF16, E4M3, E5M2, FP16, FP32
from golden.engines.engine import Batch, run
from golden.operations import FMA, TFDPA
from golden.stimulus import Operands, OperandShape, generate
from golden.variants.operands import port_reversed
from tests.cosim.diagnosis.designs import Design, diagnosed, diagnosis, golden_results, split
from tests.cosim.diagnosis.faulty_designs import ST, T16, T, permuted, unit

BF = TFDPA(a=BF16, b=BF16, c=BF16, L=4, F=24, rho="RNE-BF16", e_zero=-133)
F8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
SAME8 = TFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
LONG8 = SAME8.changed(L=8)
ADD = FMA(a=FP16, b=FP16, c=FP16)

pytestmark = pytest.mark.attack("designs by hand, in cosim")


def with_operands(operation: Operation, **changes: Callable[[Operands], Any]) -> Design:
    """A design that computes with other operands."""
    return lambda operands, _: golden_results(
        operation, operands._replace(**{name: change(operands) for name, change in changes.items()})
    )


def swapped(*names: str) -> Design:
    """A design that takes the bytes of each element the other way."""

    def results(operands: Operands, _: Any) -> Any:
        turned: dict[str, Any] = {name: getattr(operands, name).byteswap() for name in names if name != "d"}
        found = golden_results(T, operands._replace(**turned))
        return found.byteswap() if "d" in names else found

    return results


def bits_turned(operands: Operands) -> Any:
    """c, declared as [0:31]."""
    return np.array([int(f"{code:032b}"[::-1], 2) for code in operands.c.tolist()], np.uint32)


def mixed_fma(operands: Any, _: Any) -> list[int]:
    """An fp16 multiply-add that reads a as bf16: one rounding of the exact value; special operands by IEEE 754."""
    rows = zip(operands.a[:, 0].tolist(), operands.b[:, 0].tolist(), operands.c.tolist(), strict=True)
    return [_mixed(*row) for row in rows]


def _mixed(a: int, b: int, c: int) -> int:
    x, y, z = BF16.value(a), FP16.value(b), FP16.value(c)
    if x is None or y is None or z is None:
        stand_in = FP16.signed_infinity(a >> 15) if BF16.decode(a).cls is Cls.INFINITY else FP16.nan or 0
        if x is not None:
            stand_in = a & 0x8000 | (0x3C00 if x else 0)
        return ADD.step([stand_in], [b], c)
    if x * y + z == 0:
        negative = (a ^ b) >> 15 and c >> 15 and not (x * y or z)
        return 0x8000 if negative else 0
    total = x * y + z
    return FP16.encode_scaled(total.numerator, 1 - total.denominator.bit_length(), "RNE")


REVERSED = "the bytes of each element of {} are in reverse order"

BYTES: dict[str, tuple[Operation, Design, str]] = {
    "a and b": (T, swapped("a", "b"), REVERSED.format("a and b")),
    "a": (T, swapped("a"), REVERSED.format("a")),
    "b": (T, swapped("b"), REVERSED.format("b")),
    "c": (T, swapped("c"), REVERSED.format("c")),
    "d": (T, swapped("d"), REVERSED.format("d")),
    "c and d": (T, swapped("c", "d"), REVERSED.format("c and d")),
    "all": (T, swapped("a", "b", "c", "d"), REVERSED.format("a, b, c and d")),
    "bits": (T, with_operands(T, c=bits_turned), "the bits of each element of c are in reverse order"),
    "a whole port": (
        T, with_operands(T, a=lambda o: o.a.byteswap()[:, ::-1]), "the bytes of the whole port a are in reverse order"
    ),
}  # fmt: skip

FORMATS: dict[str, tuple[Operation, Design, str]] = {
    "a and b": (T16, unit(T16, a=BF16, b=BF16), "a and b are read as bf16, not fp16"),
    "a": (T16, unit(T16, a=BF16), "a is read as bf16, not fp16"),
    "b": (BF, unit(BF, b=FP16), "b is read as fp16, not bf16"),
    "c": (T16, unit(T16, c=BF16), "c is read as bf16, not fp16"),
    "d": (BF, unit(BF, rho="RNE-FP16"), "d is written as fp16, not bf16"),
    "c and d": (BF, unit(BF, c=FP16, rho="RNE-FP16"), "c is read and d is written as fp16, not bf16"),
    "all": (
        T16, unit(T16, a=BF16, b=BF16, c=BF16, rho="RNE-BF16"), "a, b and c are read and d is written as bf16, not fp16"
    ),
    "e4m3": (F8, unit(F8, a=E5M2), "a is read as e5m2, not e4m3"),
    "e5m2": (F8, unit(F8, b=E4M3), "b is read as e4m3, not e5m2"),
    "both": (SAME8, unit(SAME8, a=E5M2, b=E5M2), "a and b are read as e5m2, not e4m3"),
    "fma": (ADD, mixed_fma, "a is read as bf16, not fp16"),
}  # fmt: skip

OTHERS: dict[str, tuple[Operation, Design, str]] = {
    "F": (T16, unit(T16, F=17), "F is 17, not 24"),
    "signs": (T, with_operands(T, a=lambda o: o.a & np.uint16(0x7FFF)), "the signs of a are ignored"),
}  # fmt: skip
"""Faults that are no format and no order of bytes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "design", "change"),
    [
        pytest.param(*case, id=f"{kind} {name}")
        for kind, cases in (("bytes of", BYTES), ("format of", FORMATS), ("other", OTHERS))
        for name, case in cases.items()
    ],
)
def test_order_or_format_is_named_and_no_other(operation: Operation, design: Design, change: str) -> None:
    found = diagnosis(operation, design, 1500 if change.startswith("F is") else 500)
    assert [cause.change for cause in found.causes] == [change], found.text()


def test_bytes_of_ports_that_hold_bytes_are_reversed_elements() -> None:
    found = diagnosis(LONG8, permuted(LONG8, *reversed(range(8))), 500)
    assert found.cause is not None
    assert found.cause.change == "the elements of a, or of b, are reversed"


def test_port_of_elements_that_are_no_bytes() -> None:
    """Two elements of 4 bits a byte: the pairs come the other way, not the elements of each."""
    codes = np.array([[1, 2, 3, 4]], np.uint8)
    assert port_reversed(codes, 4).tolist() == [[3, 4, 1, 2]]
    assert port_reversed(codes[:, :3], 4).tolist() == [[1, 2, 3]]


@pytest.mark.slow
def test_other_format_of_a_converted_instruction_is_named() -> None:
    """bf16, which no such instruction adds C in, is left to golden's reference."""
    sound = instruction("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16")
    assert sound.chain.fp16_order is not None
    broken = replace(sound.chain, operation=sound.chain.operation.changed(c=BF16, rho="RNE-BF16"))
    operands = generate(OperandShape.of(sound), 300, 7).operands
    expected, got = (run("reference", chain, Batch(*operands)) for chain in (sound.chain, broken))
    found = diagnosed(sound, *split(sound.operation, operands, got, expected))
    assert [cause.change for cause in found.causes] == ["c is read and d is written as bf16, not fp16"], found.text()


INFINITY, SMALLEST_NORMAL = 0x7C00, 0x0400


def of_lane(k: int, infinite: int | None = None, flush: bool = False, cleared: int = 0) -> Design:
    """A design of which one lane takes infinities as another code, flushes subnormals, or has a bit of a stuck at 0."""

    def lane(codes: Any) -> Any:
        magnitude, sign = codes & 0x7FFF, codes & 0x8000
        if infinite is not None:
            magnitude = np.where(magnitude == INFINITY, infinite, magnitude)
        if flush:
            magnitude = np.where(magnitude < SMALLEST_NORMAL, 0, magnitude)
        return sign | magnitude

    def results(operands: Operands, _: Any) -> Any:
        a, b = operands.a.copy(), operands.b.copy()
        a[:, k], b[:, k] = lane(a[:, k]), lane(b[:, k])
        a[:, k] &= ~np.uint16(cleared)
        return golden_results(T, operands._replace(a=a, b=b))

    return results


def of_block(**changes: Any) -> Design:
    """A design with other operands in block 1."""

    def changed(name: str, change: Callable[[Any], Any]) -> Callable[[Operands], Any]:
        def codes(operands: Operands) -> Any:
            part = getattr(operands, name).copy()
            part[:, slice(2, 4) if name in ("a", "b") else 1] = change(part)
            return part

        return codes

    return with_operands(ST, **{name: changed(name, change) for name, change in changes.items()})


LANES: dict[str, tuple[Operation, Design, str]] = {
    "infinity as a number": (T, of_lane(3, infinite=0x7BFF), "an infinity in lane 3 counts as the largest finite number"),
    "infinity as zero": (T, of_lane(0, infinite=0), "an infinity in lane 0 counts as 0"),
    "flushed": (T, of_lane(1, flush=True), "subnormals in lane 1 are flushed"),
    "stuck": (T, of_lane(2, cleared=0x40), "bit 6 of a[2] is stuck at 0"),
    "copied": (T, with_operands(T, b=lambda o: o.b[:, [0, 1, 1, 3]]), "b[2] is that of lane 1"),
    "block missing": (ST, of_block(a=lambda a: 0, b=lambda b: 0), "block 1 is missing: its products count as 0"),
    "scale ignored": (ST, of_block(scale_b=lambda codes: 127), "scale_b[1] is ignored"),
    "scale of the other": (ST, of_block(scale_a=lambda codes: codes[:, 0]), "scale_a[1] is that of block 0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LANES)
def test_lane_or_block_is_named_and_no_other(case: str) -> None:
    operation, design, change = LANES[case]
    found = diagnosis(operation, design, 3000)
    assert found.cause is not None, found.text()
    named = {cause.change for cause in found.causes}
    assert named & {words for _, _, words in LANES.values()} == {change}


def test_fault_of_every_lane_is_no_fault_of_one() -> None:
    """Every infinity counts as the largest number."""
    finite = {name: lambda o, name=name: _finite(getattr(o, name)) for name in ("a", "b")}
    found = diagnosis(T, with_operands(T, **finite), 2000)
    assert [cause.change for cause in found.causes] == ["an infinity of a or b counts as the largest finite number"]
    assert found.located == ()


def _finite(codes: Any) -> Any:
    return np.where(codes & 0x7FFF == INFINITY, codes - 1, codes)
