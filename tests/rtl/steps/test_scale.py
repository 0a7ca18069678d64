"""Scales against golden's terms and specials, for all pairs of scale codes."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

from golden import FORMATS, Cls, Format
from golden.arithmetic.formats import Decoded
from golden.arithmetic.specials import NAN, sum_special
from golden.arithmetic.steps import Term, multiply
from golden.operations import GSTFDPA, STFDPA
from rtl.steps.interfaces import ExpRange, TermFormat
from rtl.steps.multiply import product_format
from rtl.steps.scale import ScaleGroup, ScaleProduct, ScaleSpecial
from tests.rtl.simulate import members, operand_fields, run_part

E_ZERO = -139


def scale_pairs(scale: Format) -> list[tuple[Decoded, Decoded]]:
    """All pairs of scales that are numbers."""
    numbers = [x for x in map(scale.decode, range(scale.codes)) if x.cls is not Cls.NAN]
    return list(itertools.product(numbers, numbers))


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [("e5m2", "e4m3")])
def test_scaled_product_equals_golden_for_all_scales(a: str, b: str) -> None:
    operation = STFDPA(a=a, b=b, c="fp32", L=1, F=25, rho="RZ-FP32", e_zero=E_ZERO, K_block=1)  # type: ignore[arg-type]
    zero_exp = operation.a.e_min + operation.b.e_min
    largest, smallest = operation.a.max_finite, 1
    negative = operation.a.decode(largest)._replace(sign=1)
    x = [operation.a.decode(code) for code in (largest, smallest, 0)] + [negative]
    y = [operation.b.decode(code) for code in (1, operation.b.max_finite, 1)]
    operands = list(itertools.product(x, y))
    cases = [(*operands[k % len(operands)], *scales) for k, scales in enumerate(scale_pairs(FORMATS["ue8m0"]))]
    part = ScaleProduct(product_format(operation.a, operation.b, zero_exp), FORMATS["ue8m0"], E_ZERO)
    rows = []
    for p, q, alpha, beta in cases:
        product = multiply(p, q, operation.product_frac, zero_exp)
        rows.append((p.sign ^ q.sign, product.exp, abs(product.sig), *operand_fields(alpha), *operand_fields(beta)))
    seen = run_part(part, [*members(part.prod), *members(part.alpha), *members(part.beta)], members(part.term), rows)
    for (p, q, alpha, beta), term in zip(cases, seen, strict=True):
        assert [as_term(term, part.format)] == operation.terms([p], [q], [alpha], [beta]), (p, q, alpha, beta)


def as_term(term: tuple[int, ...], shape: TermFormat) -> Term:
    sign, exp, sig = term
    return Term(-sig if sign else sig, exp, shape.frac)


def significand(term: Term) -> tuple[Fraction, int]:
    """A term's significand and exponent, however many fraction bits hold it."""
    return Fraction(term.sig, 1 << term.frac), term.exp


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["ue4m3", pytest.param("ue8m0", marks=pytest.mark.long)])
def test_scaled_group_equals_golden_for_all_scales(scale: str) -> None:
    operation = GSTFDPA(a="e2m1", b="e2m3", c="fp32", L=2, G=2, F=35, rho="RZ-FP32", e_zero=E_ZERO, K_block=2, scale=scale)  # type: ignore[arg-type]
    a, b = operation.a, operation.b
    # Zero, cancelling, smallest, largest, most negative, of mixed signs.
    groups = [
        ((0, 0), (9, 9)),
        ((2, 10), (9, 9)),
        ((1, 0), (1, 5)),
        ((7, 7), (31, 31)),
        ((15, 15), (31, 31)),
        ((9, 6), (3, 2)),
    ]
    decoded = [([a.decode(code) for code in x], [b.decode(code) for code in y]) for x, y in groups]
    cases = [(*decoded[k % len(decoded)], *scales) for k, scales in enumerate(scale_pairs(operation.scale))]
    product = product_format(a, b, a.e_min + b.e_min)
    exps = ExpRange(product.exps.high, product.exps.high)
    group = TermFormat(exps, product.sig_bits + product.exps.span + 1, product.frac + product.exps.span)
    part = ScaleGroup(group, operation.scale, E_ZERO)
    rows = []
    for x, y, alpha, beta in cases:
        products = [multiply(p, q, 0, 0) for p, q in zip(x, y, strict=True)]
        total = sum(term.sig << (term.exp - product.exps.low) for term in products if term.sig)
        all_zero = not any(term.sig for term in products)
        rows.append((total < 0, abs(total), all_zero, *operand_fields(alpha), *operand_fields(beta)))
    ports = [part.sign, part.total, part.zero, *members(part.alpha), *members(part.beta)]
    seen = run_part(part, ports, members(part.term), rows)
    for (x, y, alpha, beta), term in zip(cases, seen, strict=True):
        (expected,) = operation.terms(x, y, [alpha], [beta])
        assert significand(as_term(term, part.format)) == significand(expected), (x, y, alpha, beta)


@pytest.mark.parametrize("scale", ["ue4m3", "ue8m0", "e5m2", "e4m3fnuz"])
def test_scales_change_a_products_special_as_in_golden(scale: str) -> None:
    keys: dict[str, Any] = {"a": "e5m2", "b": "e5m2", "c": "fp32", "L": 1, "F": 25, "rho": "RZ-FP32", "e_zero": E_ZERO}
    scale_format, e5m2 = FORMATS[scale], FORMATS["e5m2"]
    operation = STFDPA(**keys, K_block=1) if scale == "ue8m0" else GSTFDPA(**keys, G=1, K_block=1, scale=scale_format)
    one, zero, inf = e5m2.decode(0x3C), e5m2.decode(0), e5m2.decode(0x7C)
    pairs = [(one, one), (inf, one), (inf, one._replace(sign=1)), (inf, zero), (e5m2.decode(0x7D), one)]
    assert operation.special([inf], [zero], FORMATS["fp32"].decode(0), [one], [one]) == NAN
    codes = [scale_format.decode(code) for code in range(scale_format.codes)]
    some = [codes[code] for code in (0, 1, 0x7E, 0x7F, 0x80, 0xFF)]
    scales = [*itertools.product(codes, some), *itertools.product(some, codes)]
    part = ScaleSpecial(scale_format)
    cases = [(pair, *both) for pair in pairs for both in scales]
    c = FORMATS["fp32"].decode(0)
    rows, expected = [], []
    for (x, y), alpha, beta in cases:
        unscaled = sum_special([x], [y], c)
        flags = (unscaled == NAN, unscaled == 0, unscaled == 1)
        of_product = (x.sign ^ y.sign, not (x.sig and y.sig) and Cls.INFINITY not in (x.cls, y.cls))
        product = of_product if scale_format.infinity is not None else ()
        rows.append((*product, *flags, *operand_fields(alpha), *operand_fields(beta)))
        expected.append(operation.special([x], [y], c, [alpha], [beta]))
    own = [part.sign, part.zero] if scale_format.infinity is not None else []
    ports = [*own, *members(part.special), *members(part.alpha), *members(part.beta)]
    seen = run_part(part, ports, members(part.result), rows)
    for case, (nan, *infinities), special in zip(cases, seen, expected, strict=True):
        assert nan == (special == NAN), case
        if not nan:
            assert infinities == [special == 0, special == 1], case
    assert set(expected) == {None, NAN, 0, 1}
