"""Operations, and designs that compute them with one change."""

from typing import Any

import numpy as np

from golden import Cls, Operation
from golden.arithmetic.formats import BF16, E4M3, FP16, FP32
from golden.arithmetic.steps import Term
from golden.operations import EFDPA, FMA, GSTFDPA, GTRFDPA, OCFDPA, PSFDPA, STFDPA, TFDPA, TRFDPA, FTZAddMul
from tests.cosim.diagnosis.designs import Design, golden_results
from tests.twin import twin

T = TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132)
T16 = TFDPA(a=FP16, b=FP16, c=FP16, L=4, F=24, rho="RNE-FP16", e_zero=-20)
BF = TFDPA(a=BF16, b=BF16, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133)
E = EFDPA(a=FP16, b=FP16, c=FP32, L=4)
TR = TRFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, F2=31)
GTR = GTRFDPA(a="e4m3fnuz", b="e4m3fnuz", c=FP32, L=4, F=24, F2=31)  # type: ignore[arg-type]
ST = STFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=2)
GST = GSTFDPA(a="e2m1", b="e2m1", c=FP32, L=8, F=35, G=2, K_block=4, scale="ue4m3", rho="RZ-FP32", e_zero=-139)  # type: ignore[arg-type]
OC = OCFDPA(a=BF16, b=BF16, c=FP32, L=2, F=26, h=2, rho="RNE-FP32", e_zero=-126, flush_results=True)
PS = PSFDPA(a=BF16, b=BF16, c=FP32, L=4, P=2, F=26, h=2, rho="RNE-FP32", e_zero=-126)
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


def stored_exponent_of_b(operation: TFDPA, a: list[int], b: list[int], c: int) -> int:
    """T-FDPA whose products with a subnormal b have the exponent that is stored in b, 0 in place of 1."""

    def multiply(x: Any, y: Any, frac: int, zero_exp: int) -> Term:
        sig = (-1) ** (x.sign ^ y.sign) * x.sig * y.sig
        return Term(sig, x.exp + y.exp - (y.cls is Cls.SUBNORMAL) if sig else zero_exp, frac)

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


def negated(operands: Any, _: Any) -> list[int]:
    """OC-FDPA whose products of the other sign than c are negated."""
    other = OC.with_steps(in_frame=lambda self, aligned, opposite: -abs(aligned) if opposite else abs(aligned))
    columns = [operands.a.tolist(), operands.b.tolist(), operands.c.tolist()]
    return [other.step(*row) for row in zip(*columns, strict=True)]


def other_nan(operands: Any, expected: Any) -> Any:
    return np.where(expected == 0x7FFFFFFF, 0x7FC00000, expected)


def stuck(operands: Any, expected: Any) -> Any:
    return expected | 1


CASES: dict[str, tuple[Operation, Design, str]] = {
    "F one less": (T, unit(T, F=23), "F is 23, not 24"),
    "e_max without c": (T, by_row(T, max_without_c), "e_max leaves out c"),
    "renormalised": (T, by_row(T, renormalised), "a product of 2 or more is renormalised before alignment"),
    "subnormals of b": (T, by_row(T, stored_exponent_of_b), "the exponent of a subnormal b is one too small"),
    "swapped elements": (T, permuted(T, 0, 2, 1, 3), "elements 1 and 2 of a, or of b, are swapped"),
    "product overflow": (BF, by_row(BF, product_overflow), "a product beyond the largest finite fp32 is an infinity"),
    "other NaN": (T, other_nan, "NaN is 0x7fc00000, not 0x7fffffff"),
    "stuck bit": (T, stuck, "bit 0 of d is stuck at 1"),
    "always the same": (T, lambda _, d: d * 0 + d.dtype.type(0x3F800000), "d is always 0x3f800000"),
    "c itself": (T, lambda o, d: o.c.astype(d.dtype), "d is c itself: no product is added"),
    "products missing": (BF, lambda o, _: golden_results(BF, o._replace(a=o.a * 0, b=o.b * 0)), "every product is missing"),
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
    "headroom": (OC, unit(OC, h=1), "h is 1, not 2"),
    "negated": (OC, negated, "products of the other sign than c are negated, not inverted"),
    "neighbours": (PS, unit(PS, P=1), "1 neighbouring products are added first, not 2"),
    "groups": (GST, unit(GST, G=4), "groups have 4 products, not 2"),
    "pairs": (FTZ, unit(FTZ, P=2), "a step takes 2 products, not 4, and rounds after each"),
    "FMA rounds down": (FUSED, unit(FUSED, rho="RD-FP32"), "rho is RD-FP32, not RNE-FP32"),
}  # fmt: skip
"""By name: an operation, a design, and the change of the model that the diagnosis names."""
