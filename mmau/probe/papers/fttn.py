"""The tests of FTTN: X. Li et al., "Feature-Targeted Testing for Numerical Properties of NVIDIA & AMD Matrix Accelerators",
section III (paper 003), in the order in which they depend on each other.

The paper gives T_3_bits_fin_rnd, T_rnd_dir and T_blk_fma_width as figures and leaves many operands open; these are operands
that do what its text says. p is the precision of results, u = 2^-(p-1) the last bit of 1.
"""

from fractions import Fraction

from mmau.probe.papers.asker import Asker
from mmau.probe.papers.operand_values import NotHeldError, Sum, at, power, value_text
from mmau.probe.papers.paper import Answer, Known, Paper, Test, needed, rounding

YES, NO = "yes", "no"


def t_si_no(asker: Asker, known: Known) -> Answer:
    """A subnormal of a, times four: a normal number."""
    return _passes(asker, Sum(0, ((power(asker.shape.a.e_min - 1), 4),)))


def t_ni_so(asker: Asker, known: Known) -> Answer:
    """The smallest normal number of a, halved: a subnormal."""
    return _passes(asker, Sum(0, ((power(asker.shape.a.e_min), Fraction(1, 2)),)))


def t_sa(asker: Asker, known: Known) -> Answer:
    """A subnormal c, all else zero: half the smallest normal number."""
    return _passes(asker, Sum(power(asker.shape.c.e_min - 1), ()))


def _passes(asker: Asker, asked: Sum) -> Answer:
    (d,) = asker.ask(asked)
    return Answer({asked.exact: YES, Fraction(0): NO}.get(d, f"d = {value_text(d)}") if d is not None else "d is not finite")


def t_1_bit(asker: Asker, known: Known) -> Answer:
    """1 - u/2: it takes one bit more than 1 has."""
    asked = Sum(1, (-power(-asker.precision),))
    (d,) = asker.ask_scaled(asked)
    return Answer(YES if d == asked.exact else NO, d == asked.exact)


def t_rnd_dir(asker: Asker, known: Known) -> Answer:
    """Half of u added to 1, whose last bit is even, and to 1 + u, whose last bit is odd; both signs."""
    u = power(1 - asker.precision)
    lows = [sign * (1 + odd * u) for odd in (0, 1) for sign in (1, -1)]
    values = asker.ask_scaled(*(Sum(low, ((u if low > 0 else -u) / 2,)) for low in lows))
    away = []
    for d, low in zip(values, lows, strict=True):
        if d not in (low, low + (u if low > 0 else -u)):
            return Answer(f"d = {', '.join(map(value_text, values))}")
        away.append(d != low)
    mode = DIRECTIONS.get((away[0], away[1], away[2], away[3]))
    return Answer(mode or f"away from zero in {sum(away)} of 4", mode)


DIRECTIONS = {
    (False, False, False, False): "truncate",
    (False, False, True, True): "RTN-TE",
    (True, False, True, False): "up",
    (False, True, False, True): "down",
    (True, True, True, True): "RTN, ties away",
}
"""Rounding modes by their ties: whether 1, -1, 1 + u and -(1 + u) round away from zero (its table II)."""


def t_3_bits_fin_rnd(asker: Asker, known: Known) -> Answer:
    """Asks for subtractions from 1 that each need one more extra bit: u/2, u/4 and u/8 where sums are truncated. Where they
    are rounded to nearest: u/2; 3u/4, which gives u/2 without the second bit; and 3u/8, a tie without the third."""
    (mode,) = needed(known, "T_rnd_dir")
    u = power(1 - asker.precision)
    if mode not in ("truncate", "RTN-TE"):
        raise NotHeldError(f"the paper has it for truncation and RTN-TE, not for {mode}")
    below = 1 - u / 2
    parts = (u / 2, u / 4, u / 8) if mode == "truncate" else (u / 2, 3 * u / 4, 3 * u / 8)
    expected = (below, below, below) if mode == "truncate" else (below, 1 - u, below)
    values = asker.ask_scaled(*(Sum(1, (-part,)) for part in parts))
    kept = [d == wanted for d, wanted in zip(values, expected, strict=True)]
    bits = kept.index(False) if False in kept else 3
    return Answer(f"{bits}, {mode}", bits)


def t_prod(asker: Asker, known: Known) -> Answer:
    """(1 + u)·1.75, which ends in 110 below the last bit, of both signs."""
    p, p_in = asker.precision, asker.shape.a.man_bits + 1
    if 2 * p_in <= p:
        raise NotHeldError(f"a product has at most {2 * p_in} bits, a result {p}")
    if p_in < p:
        raise NotHeldError(f"1 + 2^-{p - 1} is no {asker.shape.a}")
    u = power(1 - p)
    positive, negative = asker.ask(*(Sum(0, ((sign * (1 + u), Fraction(7, 4)),)) for sign in (1, -1)))
    return rounding(positive, negative, Fraction(7, 4) + u, Fraction(7, 4) + 2 * u)


def t_blk_fma_width(asker: Asker, known: Known) -> Answer:
    """Asks for a first product 1, c = u/2, and another u/2 in one place after another: both halves count while the place is
    in c's block. Where products cannot be so far apart, c is 1 and the first product u/2."""
    half = _half(asker, known)
    places = range(1, asker.shape.K)
    values = asker.first_held(
        [Sum(half, (1, *at(place - 1, half))) for place in places],
        [Sum(1, (half, *at(place - 1, half))) for place in places],
    )
    whole = [d == 1 + 2 * half for d in values]
    width = 1 + (whole.index(False) if False in whole else len(whole))
    return Answer(f"{'' if False in whole else '≥ '}{width}", width)


def t_pres_extra_acc(asker: Asker, known: Known) -> Answer:
    """Asks for 1, u/2 and u/2 in one block: the result is 1 + u if the sum of the first two retains its extra bit."""
    half = _half(asker, known)
    (d,) = asker.first_held([Sum(half, (1, half))], [Sum(1, (half, half))])
    return Answer(
        {Fraction(1): NO, 1 + 2 * half: YES}.get(d, f"d = {value_text(d)}") if d is not None else "d is not finite"
    )


def t_acc_order(asker: Asker, known: Known) -> Answer:
    """1 in each place of a block, small numbers in the others, which it swallows one by one and not together: whether their
    place decides."""
    bits, width = needed(known, "T_3_bits_fin_rnd", "T_blk_fma_width")
    if width == 1:
        raise NotHeldError("a block of one product")
    extra = min(bits, 2)  # three stand for all that rounding takes
    small = power(-asker.precision - extra)
    count = min(4 << extra >> 1, asker.shape.K, width)
    rows = [Sum(1, (small,) * count)]
    rows += [Sum(small, (*(small,) * place, 1, *(small,) * (count - place - 1))) for place in range(count)]
    values = set(asker.ask_scaled(*rows))
    return Answer(NO if len(values) == 1 else YES)


def _half(asker: Asker, known: Known) -> Fraction:
    """u/2, which the tests of the block need a bit for."""
    if not known.get("T_1_bit"):
        raise NotHeldError("needs the extra bit that T_1_bit looks for")
    return power(-asker.precision)


FTTN = Paper(
    "fttn",
    "Li et al.: FTTN, Feature-Targeted Testing for Numerical Properties (paper 003)",
    (
        Test("T_si_no", "III-B", "a subnormal operand, a normal result", t_si_no),
        Test("T_ni_so", "III-B", "normal operands, a subnormal product", t_ni_so),
        Test("T_sa", "III-B", "a subnormal c", t_sa),
        Test("T_1_bit", "III-B", "whether there is an extra bit", t_1_bit),
        Test("T_rnd_dir", "III-B, table II", "where ties go", t_rnd_dir),
        Test("T_3_bits_fin_rnd", "III-B", "extra bits up to three, and the final rounding", t_3_bits_fin_rnd),
        Test("T_prod", "III-B", "how a product is rounded that d cannot hold", t_prod),
        Test("T_blk_fma_width", "III-B", "products that are added before anything is rounded", t_blk_fma_width),
        Test("T_pres_extra_acc", "III-B", "whether sums inside a block retain the extra bits", t_pres_extra_acc),
        Test("T_acc_order", "III-B", "whether the places decide the order of a block", t_acc_order),
    ),
)
