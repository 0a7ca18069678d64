"""The multiplier and the addend against golden's steps."""

import itertools

import pytest

from golden import FORMATS, Cls
from golden.arithmetic.formats import Decoded
from golden.arithmetic.specials import NAN, addend_special, product_special
from golden.arithmetic.steps import Term, addend, multiply
from rtl.steps.multiply import Addend, Multiply
from tests.rtl.simulate import outputs

E_ZERO = -77


def operand_inputs(name: str, decoded: Decoded) -> dict[str, int]:
    sign, exp, sig, cls = decoded
    flags = {"zero": cls is Cls.ZERO, "inf": cls is Cls.INFINITY, "nan": cls is Cls.NAN}
    return {f"{name}.sign": sign, f"{name}.exp": exp, f"{name}.sig": sig} | {f"{name}.{k}": int(v) for k, v in flags.items()}


def special_flags(special: object) -> tuple[int, int, int]:
    """nan, pos_inf, neg_inf, as the part should flag them; NaN may come with an infinity flag beside it."""
    return (int(special == NAN), int(special == 0), int(special == 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"), [("e2m1", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e4m3"), ("e5m2", "e2m1"), ("e4m3", "e3m2")]
)
def test_product_equals_golden_for_every_pair_of_codes(a: str, b: str) -> None:
    a_format, b_format = FORMATS[a], FORMATS[b]
    pairs = list(itertools.product(range(a_format.codes), range(b_format.codes)))
    component = Multiply(a_format, b_format, E_ZERO)
    inputs = [operand_inputs("x", a_format.decode(p)) | operand_inputs("y", b_format.decode(q)) for p, q in pairs]
    prod, special = component.prod, component.special
    seen = outputs(
        component,
        inputs,
        lambda get: (
            get(prod.sign),
            get(prod.exp),
            get(prod.sig),
            get(special.nan),
            get(special.pos_inf),
            get(special.neg_inf),
        ),
    )
    frac = a_format.man_bits + b_format.man_bits
    for (p, q), (sign, exp, sig, nan, pos_inf, neg_inf) in zip(pairs, seen, strict=True):
        x, y = a_format.decode(p), b_format.decode(q)
        expected = product_special(x, y)
        assert nan == (expected == NAN)
        if expected is None:
            assert Term(-sig if sign else sig, exp, frac) == multiply(x, y, frac, E_ZERO)
        if expected != NAN:
            assert (nan, pos_inf, neg_inf) == special_flags(expected)


def test_addend_equals_golden_for_every_code() -> None:
    c = FORMATS["e5m2"]
    component = Addend(c, E_ZERO)
    term, special = component.term, component.special
    seen = outputs(
        component,
        [operand_inputs("z", c.decode(code)) for code in range(c.codes)],
        lambda get: (
            get(term.sign),
            get(term.exp),
            get(term.sig),
            get(special.nan),
            get(special.pos_inf),
            get(special.neg_inf),
        ),
    )
    for code, (sign, exp, sig, *flags) in enumerate(seen):
        z = c.decode(code)
        assert tuple(flags) == special_flags(addend_special(z))
        if z.cls < Cls.INFINITY:
            assert Term(-sig if sign else sig, exp, c.man_bits) == addend(z, c, E_ZERO)
