"""Steps of the specification against golden's own, exhaustively where they are small."""

from itertools import product
from random import Random
from typing import Any

import pytest
from bitwuzla import TermManager

from golden.arithmetic.conversion import CONVERSIONS
from golden.arithmetic.formats import FORMATS, Cls, Format, IntegerFormat
from golden.arithmetic.rounding import MODES, OVERFLOWS, shift_and_round
from golden.arithmetic.specials import NAN
from golden.arithmetic.specials import combine as golden_combine
from golden.arithmetic.steps import Term as GoldenTerm
from golden.arithmetic.steps import align as golden_align
from golden.arithmetic.steps import flushed, is_truncated
from golden.operations import IDPA, TRFDPA
from mmau.prove.evaluation import Evaluation, evaluate
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.conversion import converted, leading_one, rounded
from mmau.prove.specification.headroom import normalised_truncated
from mmau.prove.specification.idpa import idpa, integer
from mmau.prove.specification.numbers import Flag, Number, width_of
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Aligned, Special, Term, Total
from mmau.prove.specification.steps import accumulate, align, align_lost, combine, decode, multiply

FLOATS = [fmt for fmt in FORMATS.values() if not isinstance(fmt, IntegerFormat) and fmt.width <= 8]


def free(terms: Terms, name: str, low: int, high: int) -> Number:
    return Number(terms, terms.free(name, width_of(low, high)), low, high)


def signed(value: int, bits: Bits) -> int:
    return value - (1 << bits.width) if value >> (bits.width - 1) else value


@pytest.mark.parametrize("fmt", FLOATS, ids=str)
@pytest.mark.parametrize("subnormals", ["kept", "±0", "+0"])
def test_decode_of_every_code(fmt: Format, subnormals: str) -> None:
    terms = Terms(TermManager())
    code = terms.free("code", fmt.width)
    x = decode(terms, fmt, code, subnormals)  # type: ignore[arg-type]
    parts = [x.sign.bits, x.exp.bits, x.sig.bits, x.zero.bits, x.inf.bits, x.nan.bits]
    decoded = Evaluation([part.term for part in parts])
    for value in range(fmt.codes):
        wanted = fmt.decode(value)
        if subnormals != "kept" and wanted.cls is Cls.SUBNORMAL:
            wanted = flushed(wanted)
            wanted = wanted._replace(sign=0) if subnormals == "+0" else wanted
        sign, exp, sig, zero, inf, nan = decoded.of({code.term: value})
        assert (zero, inf, nan) == (wanted.cls is Cls.ZERO, wanted.cls is Cls.INFINITY, wanted.cls is Cls.NAN)
        if wanted.cls < Cls.INFINITY:
            read = signed(exp, x.exp.bits) if x.exp.is_signed else exp
            assert (sign, read, sig) == (wanted.sign, wanted.exp, wanted.sig), hex(value)


@pytest.mark.parametrize("mode", ["RZ", "RD", "RO"])
@pytest.mark.parametrize("F", [0, 2, 5])
def test_align(mode: str, F: int) -> None:
    terms = Terms(TermManager())
    sign, exp, sig = Flag(terms, terms.free("sign", 1)), free(terms, "exp", -3, 2), free(terms, "sig", 0, 15)
    e_max = free(terms, "e_max", -3, 4)
    given = align(Term(sign, exp, sig, 3), e_max, F, mode)  # type: ignore[arg-type]
    aligned = Evaluation([given.aligned.bits.term])
    for s, e, m, top in product(range(2), range(-3, 3), range(16), range(-3, 5)):
        if top < e:
            continue
        values = {sign.bits.term: s, exp.bits.term: e & 7, sig.bits.term: m, e_max.bits.term: top & 15}
        (found,) = aligned.of(values)
        wanted = golden_align(GoldenTerm(-m if s else m, e, 3), top, F, mode)  # type: ignore[arg-type]
        assert (-found if s else found) == wanted


@pytest.mark.parametrize("mode", ["RZ", "RD"])
@pytest.mark.parametrize("F", [0, 2, 3, 5])
def test_alignment_that_tells_what_it_drops(mode: str, F: int) -> None:
    terms = Terms(TermManager())
    sign, exp, sig = Flag(terms, terms.free("sign", 1)), free(terms, "exp", -3, 2), free(terms, "sig", 0, 15)
    e_max = free(terms, "e_max", -3, 4)
    given = align_lost(Term(sign, exp, sig, 3), e_max, F, mode)  # type: ignore[arg-type]
    parts, told = Evaluation([given.sign.bits.term, given.aligned.bits.term, given.lost.bits.term]), 0
    for s, e, m, top in product(range(2), range(-3, 3), range(16), range(-3, 5)):
        if top < e:
            continue
        values = {sign.bits.term: s, exp.bits.term: e & 7, sig.bits.term: m, e_max.bits.term: top & 15}
        negative, magnitude, lost = parts.of(values)
        term = GoldenTerm(-m if s else m, e, 3)
        assert (negative, -magnitude if s else magnitude) == (s, golden_align(term, top, F, mode))  # type: ignore[arg-type]
        assert lost == is_truncated(term, top, F)
        told += lost
    assert told > 200


def test_accumulate() -> None:
    terms = Terms(TermManager())
    summands = [Aligned(Flag(terms, terms.free(f"s{k}", 1)), free(terms, f"m{k}", 0, 3)) for k in range(3)]
    total = accumulate(summands)
    summed = Evaluation([total.sign.bits.term, total.total.bits.term])
    for values in product(range(2), range(4), repeat=3):
        pairs = list(zip(values[::2], values[1::2], strict=True))
        given = {
            part.term: value
            for term, (s, m) in zip(summands, pairs, strict=True)
            for part, value in ((term.sign.bits, s), (term.aligned.bits, m))
        }
        wanted = sum(-m if s else m for s, m in pairs)
        assert summed.of(given) == [wanted < 0, abs(wanted)]


def test_combine() -> None:
    terms = Terms(TermManager())
    specials = [Special(*(Flag(terms, terms.free(f"{name}{k}", 1)) for name in "npm")) for k in range(2)]
    result = combine(specials)
    combined = Evaluation([result.nan.bits.term, result.pos_inf.bits.term, result.neg_inf.bits.term])
    kinds: list[tuple[Any, tuple[int, int, int]]] = [(None, (0, 0, 0)), (NAN, (1, 0, 0)), (0, (0, 1, 0)), (1, (0, 0, 1))]
    for first, second in product(kinds, kinds):
        given = {
            flag.bits.term: value
            for special, (_, values) in zip(specials, (first, second), strict=True)
            for (_, flag), value in zip(special.parts(), values, strict=True)
            if isinstance(flag, Flag)
        }
        wanted = golden_combine([first[0], second[0]])
        assert tuple(combined.of(given)) == dict(kinds)[wanted]


@pytest.mark.parametrize("mode", MODES)
def test_rounding_of_every_magnitude(mode: str) -> None:
    terms = Terms(TermManager())
    twice, below, sign = free(terms, "twice", 0, 31), Flag(terms, terms.free("below", 1)), Flag(terms, terms.free("sign", 1))
    result = rounded(twice, below, sign, mode)  # type: ignore[arg-type]
    evaluation = Evaluation([result.bits.term])
    for value, lost, negative in product(range(32), range(2), range(2)):
        given = {twice.bits.term: value, below.bits.term: lost, sign.bits.term: negative}
        (found,) = evaluation.of(given)
        exact = 4 * value + 2 * lost  # two more bits below; the upper one shows that something was lost
        assert found == abs(shift_and_round(-exact if negative else exact, 3, mode))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", list(CONVERSIONS))
@pytest.mark.parametrize("flush", [False, True])
def test_conversion(name: str, flush: bool) -> None:
    rho, random = CONVERSIONS[name], Random(name)
    for overflow in OVERFLOWS:
        terms = Terms(TermManager())
        sign, magnitude = Flag(terms, terms.free("sign", 1)), free(terms, "total", 0, (1 << 30) - 1)
        lsb = free(terms, "lsb", rho.rounding_format.e_min - 40, rho.rounding_format.e_max - 10)
        code = Evaluation([converted(Total(sign, magnitude), lsb, rho, overflow, flush).term])
        for _ in range(60):
            value = random.getrandbits(30) >> random.randrange(30)
            exp = random.choice(
                [lsb.low, lsb.high, random.randint(lsb.low, lsb.low + 60), random.randint(lsb.low, lsb.high)]
            )
            negative = random.getrandbits(1) if value else 0
            given = {
                sign.bits.term: negative, magnitude.bits.term: value, lsb.bits.term: exp & ((1 << lsb.bits.width) - 1)
            }  # fmt: skip
            wanted = rho.encode(-value if negative else value, exp, overflow, flush)
            assert code.of(given) == [wanted], (value, exp, negative)


def test_leading_one() -> None:
    terms = Terms(TermManager())
    number = free(terms, "x", 0, 300)
    lead = Evaluation([leading_one(number).bits.term])
    for value in range(301):
        assert lead.of({number.bits.term: value}) == [max(0, value.bit_length() - 1)]


def test_a_large_product_is_an_infinity() -> None:
    fmt, terms = FORMATS["e4m3"], Terms(TermManager())
    codes = terms.free("x", 8), terms.free("y", 8)
    x, y = (decode(terms, fmt, code) for code in codes)
    _, special = multiply(x, y, 6, -12, overflow_exp=5)
    infinities = Evaluation([special.pos_inf.bits.term, special.neg_inf.bits.term])
    random, overflows = Random(1), 0
    for _ in range(500):
        p, q = random.getrandbits(8), random.getrandbits(8)
        first, second = fmt.value(p), fmt.value(q)
        if first is None or second is None:
            continue
        exact = first * second
        overflows += abs(exact) >= 32
        assert infinities.of({codes[0].term: p, codes[1].term: q}) == [exact >= 32, exact <= -32]
    assert overflows > 20


F2 = 3


@pytest.mark.parametrize("mode", ["RZ", "RD"])
def test_truncation_where_the_sum_is_normalised(mode: str) -> None:
    operation = TRFDPA(a="fp16", b="fp16", c="fp32", L=1, F=24, F2=F2, truncation=mode)  # type: ignore[arg-type]
    terms, e_min = Terms(TermManager()), operation.c.e_min
    sign, magnitude = Flag(terms, terms.free("sign", 1)), Number(terms, terms.free("total", 6), 0, 63)
    low, high = e_min - 4, e_min + 2
    lsb = Number(terms, terms.free("lsb", width_of(low, high)), low, high)
    kept, exp = normalised_truncated(Total(sign, magnitude), lsb, e_min, F2, mode)  # type: ignore[arg-type]
    evaluation = Evaluation([kept.total.bits.term, exp.bits.term])
    for negative, value, place in product(range(2), range(64), range(low, high + 1)):
        if negative and not value:
            continue
        given = {
            sign.bits.term: negative, magnitude.bits.term: value, lsb.bits.term: place & ((1 << lsb.bits.width) - 1)
        }  # fmt: skip
        found_total, found_exp = evaluation.of(given)
        wanted, last = operation.truncate(-value if negative else value, place)
        assert found_total == abs(wanted)
        if value:  # of a zero no exponent counts
            assert found_exp == last & ((1 << exp.bits.width) - 1)


@pytest.mark.parametrize("name", ["int8", "uint8"])
def test_every_code(name: str) -> None:
    fmt, terms = FORMATS[name], Terms(TermManager())
    code = terms.free("code", fmt.width)
    number = integer(terms, code, fmt)
    widened = number.held_in(16).term
    for value in range(fmt.codes):
        assert evaluate([widened], {code.term: value})[widened] == int(fmt.value(value) or 0) & 0xFFFF


@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
def test_sums_at_the_ends_of_the_range(overflow: str) -> None:
    operation = IDPA(a="int8", b="int8", c="int32", L=1, overflow=overflow)  # type: ignore[arg-type]
    terms = Terms(TermManager())
    ports = {name: terms.free(name, width) for name, width in (("a", 8), ("b", 8), ("c", 32))}
    d = idpa(terms, operation, ports, Observer())
    seen = set()
    for a in (0, 1, 127, 128, 255):
        for b in (1, 127, 128):
            for c in (0, 0x7FFFFFFF, 0x80000000, 0x7FFFC000, 0x80003F80, 0x7FFFBFFF):
                given = {ports["a"].term: a, ports["b"].term: b, ports["c"].term: c}
                found = evaluate([d.term], given)[d.term]
                assert found == operation.step([a], [b], c)
                seen.add(found)
    assert {0x7FFFFFFF, 0x80000000} <= seen
