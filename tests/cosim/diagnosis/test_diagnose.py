"""What a design does otherwise than golden is found out from its results, and what is not known is not made up."""

from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import golden
from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis import diagnose
from golden import Cls, Operation
from golden.chain import product_order
from golden.formats import BF16, E4M3, FP16, FP32
from golden.operations import EFDPA, FMA, GSTFDPA, GTRFDPA, STFDPA, TFDPA, TRFDPA, FTZAddMul
from golden.steps import Term
from golden.stimulus import OperandShape, generate
from tests.cosim.diagnosis.designs import Design, compared, diagnosis, golden_results, split
from tests.golden import twin

T = TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132)
T16 = TFDPA(a=FP16, b=FP16, c=FP16, L=4, F=24, rho="RNE-FP16", e_zero=-20)
BF = TFDPA(a=BF16, b=BF16, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
E = EFDPA(a=FP16, b=FP16, c=FP32, L=4)
TR = TRFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, F2=31)
GTR = GTRFDPA(a="e4m3fnuz", b="e4m3fnuz", c=FP32, L=4, F=24, F2=31)  # type: ignore[arg-type]
ST = STFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=2)
GST = GSTFDPA(a="e2m1", b="e2m1", c=FP32, L=8, F=35, G=2, K_block=4, scale="ue4m3", rho="RZ-FP32", e_zero=-139)  # type: ignore[arg-type]
FTZ = FTZAddMul(a=FP16, b=FP16, c=FP32, P=4)
FUSED = FMA(a=FP32, b=FP32, c=FP32)


def unit(operation: Operation, **keys: Any) -> Design:
    """A design that is another unit."""
    return lambda operands, _: golden_results(operation.changed(**keys), operands)


def permuted(operation: Operation, *order: int) -> Design:
    """A design whose elements of a come in another order."""
    return lambda operands, _: golden_results(operation, operands._replace(a=operands.a[:, list(order)]))


def without(operation: Operation, k: int) -> Design:
    """A design that forgets a product."""

    def results(operands: Any, _: Any) -> Any:
        a = operands.a.copy()
        b = operands.b.copy()
        a[:, k] = b[:, k] = 0
        return golden_results(operation, operands._replace(a=a, b=b))

    return results


def by_row(operation: Operation, step: Any) -> Design:
    """A design that computes each row by a function of its own."""

    def results(operands: Any, _: Any) -> list[int]:
        columns = [operands.a.tolist(), operands.b.tolist(), operands.c.tolist()]
        return [step(operation, *row) for row in zip(*columns, strict=True)]

    return results


def max_without_c(operation: TFDPA, a: list[int], b: list[int], c: int) -> int:
    """T-FDPA written down here once more, where c has no say in e_max."""
    x, y, z = [FP16.decode(p) for p in a], [FP16.decode(q) for q in b], FP32.decode(c)
    if any(v.cls >= Cls.INFINITY for v in (*x, *y, z)):
        return int(twin.dot(operation, a, b, c, [], []))
    terms = [((-1) ** (p.sign ^ q.sign) * p.sig * q.sig, p.exp + q.exp, 20) for p, q in zip(x, y, strict=True)]
    e_max = max(exp if sig else operation.e_zero for sig, exp, _ in terms)
    total = 0
    for sig, exp, frac in [*terms, ((-1) ** z.sign * z.sig, z.exp, 23)]:
        shift = e_max - exp + frac - operation.F
        magnitude = abs(sig) >> shift if shift > 0 else abs(sig) << -shift
        total += magnitude if sig > 0 else -magnitude
    code = FP32.encode_scaled(total, e_max - operation.F, "RZ")
    return 0 if FP32.decode(code).cls is Cls.ZERO else code


def renormalised(operation: TFDPA, a: list[int], b: list[int], c: int) -> int:
    """T-FDPA whose products of 2 and more move up by an exponent."""

    def multiply(x: Any, y: Any, frac: int, zero_exp: int) -> Term:
        sig = (-1) ** (x.sign ^ y.sign) * x.sig * y.sig
        if abs(sig) >= 2 << frac:
            return Term(sig, x.exp + y.exp + 1, frac + 1)
        return Term(sig, x.exp + y.exp if sig else zero_exp, frac)

    return operation.with_steps(multiply=staticmethod(multiply)).step(a, b, c)


def scale_ignored(operands: Any, _: Any) -> Any:
    return golden_results(ST, operands._replace(scale_a=np.full_like(operands.scale_a, 127)))


def scale_off_by_one(operands: Any, _: Any) -> Any:
    """The code of a scale is one less, of NaN it is NaN's."""
    codes = operands.scale_b
    less = np.where(codes == 255, codes, codes - (codes > 0)).astype(np.uint8)
    return golden_results(ST, operands._replace(scale_b=less))


def product_overflow(operation: TFDPA, a: list[int], b: list[int], c: int) -> int:
    """A product of 2^128 or more is an infinity, as if it were rounded to fp32 first."""
    for k, (p, q) in enumerate(zip(a, b, strict=True)):
        x, y = BF16.value(p), BF16.value(q)
        if x is not None and y is not None and abs(x * y) >= 2**128:
            a[k], b[k] = (0xFF80 if x * y < 0 else 0x7F80), 0x3F80
    return int(twin.dot(operation, a, b, c, [], []))


def unfused(operation: FMA, a: list[int], b: list[int], c: int) -> int:
    """Two roundings in the operation's mode."""
    return operation.step([operation.step(a, b, 0)], [0x3F800000], c)


def truncated(operands: Any, _: Any) -> Any:
    other = TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=26, rho="RNE-FP32", e_zero=-1024, flush_inputs=True)
    return golden_results(other, operands)


def special_alone(operation: TFDPA, a: list[int], b: list[int], c: int) -> int:
    """Product 1 counts where it is an infinity or a NaN alone."""
    d = int(twin.dot(operation, a, b, c, [], []))
    if FP32.decode(d).cls is Cls.NAN or any(FP16.decode(x).cls >= Cls.INFINITY for x in (*a, *b)):
        return d
    return int(twin.dot(operation, [a[0], 0, *a[2:]], [b[0], 0, *b[2:]], c, [], []))


def other_nan(operands: Any, expected: Any) -> Any:
    return np.where(expected == 0x7FFFFFFF, 0x7FC00000, expected)


def stuck(operands: Any, expected: Any) -> Any:
    return expected | 1


CASES: dict[str, tuple[Operation, Design, str]] = {
    "F one less": (T, unit(T, F=23), "F is 23, not 24"),
    "e_max without c": (T, by_row(T, max_without_c), "e_max leaves out c"),
    "renormalised": (T, by_row(T, renormalised), "a product of 2 or more is renormalised before alignment"),
    "swapped elements": (T, permuted(T, 0, 2, 1, 3), "elements 1 and 2 of a, or of b, are swapped"),
    "product overflow": (BF, by_row(BF, product_overflow), "a product beyond the largest finite fp32 is an infinity"),
    "other NaN": (T, other_nan, "NaN is 0x7fc00000, not 0x7fffffff"),
    "stuck bit": (T, stuck, "bit 0 of d is stuck at 1"),
}  # fmt: skip

MORE: dict[str, tuple[Operation, Design, str]] = {
    "not fused, RZ": (FUSED.changed(rho="RZ-FP32"), by_row(FUSED.changed(rho="RZ-FP32"), unfused),
                      "c is added after the sum of the products has been rounded"),
    "truncated, flushed": (E.changed(flush_inputs=True), truncated,
                           "terms are cut to 26 fraction bits at the largest exponent"),
    "product not summed": (T, by_row(T, special_alone), "product 1 is left out of the sum, its NaN and infinity are not"),
    "RNE for RZ": (T, unit(T, rho="RNE-FP32"), "rho is RNE-FP32, not RZ-FP32"),
    "RD at alignment": (T, unit(T, truncation="RD"), 'truncation is "RD", not "RZ"'),
    "reversed": (T, permuted(T, 3, 2, 1, 0), "the elements of a, or of b, are reversed"),
    "product missing": (T, without(T, 2), "product 2 is missing"),
    "e_zero ignored": (BF, unit(BF, e_zero=-1024), "e_zero is ignored: no floor of e_max"),
    "saturates": (T16, unit(T16, overflow="saturate"), 'overflow is "saturate", not "infinity"'),
    "F2": (TR, unit(TR, F2=26), "F2 is 26, not 31"),
    "F two more": (T, unit(T, F=26), "F is 26, not 24"),
    "sticky kept": (T16, unit(T16, sticky=True), "bits lost at alignment reach the rounding as sticky"),
    "sticky lost": (T16.changed(sticky=True), unit(T16), "bits lost at alignment do not reach the rounding"),
    "ties away": (T16, unit(T16, rho="RNA-FP16"), "rho is RNA-FP16, not RNE-FP16"),
    "inputs flushed": (T, unit(T, flush_inputs=True), "subnormal operands are flushed"),
    "results flushed": (E, unit(E, flush_results=True), "subnormal results are flushed"),
    "shorter steps": (T, unit(T, L=2), "a step takes 2 products, not 4, and rounds after each"),
    "RZ for RD": (TR, unit(TR, truncation="RZ"), 'truncation is "RZ", not "RD"'),
    "one group": (GTR, lambda o, _: golden_results(TRFDPA(a=GTR.a, b=GTR.b, c=FP32, L=4, F=24, F2=31), o),
                  "even and odd products are one group, not two"),
    "scale ignored": (ST, scale_ignored, "scale_a is ignored"),
    "scale off by one": (ST, scale_off_by_one, "the code of scale_b is one less"),
    "groups": (GST, unit(GST, G=4), "groups have 4 products, not 2"),
    "pairs": (FTZ, unit(FTZ, P=2), "a step takes 2 products, not 4, and rounds after each"),
    "FMA rounds down": (FUSED, unit(FUSED, rho="RD-FP32"), "rho is RD-FP32, not RNE-FP32"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_single_change_is_named(case: str) -> None:
    check(*CASES[case])


@pytest.mark.long
@pytest.mark.parametrize("case", MORE)
def test_single_change_of_any_operation_is_named(case: str) -> None:
    check(*MORE[case], count=6000)


def check(operation: Operation, design: Design, change: str, count: int = 1000) -> None:
    found = diagnosis(operation, design, count)
    assert found.cause is not None
    assert change in [cause.change for cause in found.causes], found.text()
    assert set(found.of) == {found.cause.change}
    assert (found.best, found.left_out) == ((), 0)
    assert str(found.cause).startswith(f"{found.cause.change}: explains all {found.mismatches:,} mismatches")


def test_design_that_no_change_explains() -> None:
    """Results that depend on all bits of the operands in a way of their own: nothing is said to be the cause."""

    def noise(operands: Any, expected: Any) -> list[int]:
        rows = zip(operands.a.tolist(), operands.b.tolist(), operands.c.tolist(), expected.tolist(), strict=True)
        return [d ^ (h & 0xFFFF if (h := crc32(repr((a, b, c)).encode())) % 3 else 0) for a, b, c, d in rows]

    found = diagnosis(T, noise)
    assert found.cause is None
    assert found.lines()[0] == f"diagnosis: no single change of the model explains all mismatches ({found.tried} tried)"
    assert all(cause.explained < found.mismatches / 4 for cause in found.best)


def test_two_bugs_at_once_are_told_apart() -> None:
    """Neither explains everything: each is named for the mismatches that it explains."""

    def both(operands: Any, expected: Any) -> Any:
        return other_nan(operands, golden_results(T.changed(F=23), operands))

    wrong, agreeing = compared(T, both, 1000)
    found = diagnose(T, wrong, agreeing)
    assert found.cause is None
    assert {cause.change for cause in found.best[:2]} == {"NaN is 0x7fc00000, not 0x7fffffff", "F is 23, not 24"}
    nans = [change for row, change in zip(wrong, found.of, strict=True) if row.expected == 0x7FFFFFFF]
    others = [change for row, change in zip(wrong, found.of, strict=True) if row.expected != 0x7FFFFFFF]
    assert set(nans) == {"NaN is 0x7fc00000, not 0x7fffffff"}
    assert set(others) == {"F is 23, not 24"}
    assert sum(cause.explained for cause in found.best[:2]) == found.mismatches


def test_near_miss_is_told_where_nothing_fits() -> None:
    """F is one less but where e_max is high: that explains every mismatch, and rows that agreed speak against it."""

    def mostly(operands: Any, expected: Any) -> Any:
        other = golden_results(T.changed(F=23), operands)
        return np.where(operands.c % 3 == 0, expected, other)

    found = diagnosis(T, mostly)
    assert found.cause is None
    near = next(cause for cause in found.best if cause.change == "F is 23, not 24")
    assert near.explained == near.mismatches
    assert 0 < near.kept < near.agreeing
    assert any(line.startswith("  F is 23, not 24: explains ") and "speak against it" in line for line in found.lines())


def test_rows_that_agreed_speak_against_a_change() -> None:
    """One mismatch alone many changes explain; the rows that agreed leave few of them."""
    wrong, agreeing = compared(T, unit(T, F=23), 1000)
    alone, with_others = diagnose(T, wrong[:1]), diagnose(T, wrong[:1], agreeing)
    assert len(with_others.causes) < len(alone.causes)
    assert with_others.causes[0].change == "F is 23, not 24"


def test_order_of_an_instructions_steps() -> None:
    """Two steps of eight products: which of them takes which product shows, and is found."""
    instruction = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    operands = generate(OperandShape.of_instruction(instruction), 1000, 7).operands
    order = product_order("even-odd", 16)
    expected = instruction.dot(*operands)
    got = instruction.dot(*operands._replace(a=operands.a[:, order], b=operands.b[:, order]))
    wrong, agreeing = split(instruction.operation, operands, got, expected)
    found = diagnose(instruction, wrong, agreeing)
    assert found.cause is not None
    assert found.cause.change == "the elements of a and b are taken even ones first"


def test_golden_itself_is_no_explanation() -> None:
    """A change that changes nothing on these rows explains none of them."""
    wrong, agreeing = compared(T, stuck, 300)
    assert all(cause.explained > 0 for cause in diagnose(T, wrong, agreeing).causes)


def test_undefined_bits_are_left_out() -> None:
    wrong, agreeing = compared(T, unit(T, F=23), 600)
    undefined = replace(wrong[0], got="X" * 32)
    found = diagnose(T, [undefined, *wrong[1:]], agreeing)
    assert (found.mismatches, found.undefined) == (len(wrong), 1)
    assert found.of[0] is None
    assert found.cause is not None
    assert "  1 mismatches with undefined bits are left out" in found.lines()
    nothing = diagnose(T, [undefined], agreeing)
    assert (nothing.cause, nothing.of) == (None, (None,))
    assert nothing.text() == "diagnosis: none, for every result has bits that are neither 0 nor 1"


def test_time_that_is_up_is_told() -> None:
    wrong, agreeing = compared(T, unit(T, F=23), 300)
    found = diagnose(T, wrong, agreeing, seconds=0)
    assert (found.cause, found.tried) == (None, 0)
    assert found.left_out > 100
    assert f"  {found.left_out:,} further changes were not tried: the time was up" in found.lines()


def test_row_that_agrees_by_a_waiver_speaks_against_nothing() -> None:
    """Where a design may have another NaN, its rows agree though golden's bits are others."""
    wrong, agreeing = compared(T, unit(T, F=23), 600)
    waived: list[ComparedRow] = [replace(row, got=0x7FC00000) if row.expected == 0x7FFFFFFF else row for row in agreeing]
    assert waived != agreeing
    found = diagnose(T, wrong, waived)
    assert found.cause is not None
    assert found.cause.change == "F is 23, not 24"
