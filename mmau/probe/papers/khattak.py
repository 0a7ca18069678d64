"""The tests of Khattak and Mikaitis, "Generalized Methodology for Determining Numerical Features of Hardware Floating-Point
Matrix Multipliers: Part I", section III (paper 002): vectors that follow from the formats alone.

p is the precision of results (their p_out), p_in that of a. Their j, a power of two that all operands share, is the smallest
one with which the formats hold them.
"""

from fractions import Fraction
from math import ceil, floor, log2

from mmau.probe.papers.asker import Asker
from mmau.probe.papers.operand_values import NotHeldError, Sum, Value, at, power, value_text
from mmau.probe.papers.paper import Answer, Known, Paper, Test, needed, rounding

ROUNDED_UP = 5
"""Extra bits up to which the rounding at alignment is asked for: it takes 2^n products."""


def subnormals_in(asker: Asker, known: Known) -> Answer:
    """Asks for the smallest subnormal of a times four, and for the smallest subnormal of c (Fasi et al., section 3.1.1)."""
    a, c = asker.shape.a, asker.shape.c
    asked = [Sum(0, ((power(a.e_min - a.man_bits), 4),)), Sum(power(c.e_min - c.man_bits), ())]
    kept = [d == one.exact for d, one in zip(asker.ask(*asked), asked, strict=True)]
    return Answer("yes" if all(kept) else "no" if not any(kept) else "a alone" if kept[0] else "c alone")


def subnormals_out(asker: Asker, known: Known) -> Answer:
    """Asks for half the smallest normal number of d as a product, or as near as products come (Fasi et al., sections 3.1.1
    and 3.3)."""
    lowest = power(max(asker.shape.d.e_min, asker.shape.a.e_min))
    asked = Sum(0, ((lowest, Fraction(1, 2)),))
    (d,) = asker.ask(asked)
    return Answer("yes" if d == asked.exact else "no" if d == 0 else f"d = {value_text(d)}")


def extra_alignment_bits(asker: Asker, known: Known) -> Answer:
    """III-C1: c = 1, and products that fill one unit in the last place, the smallest n bits below it."""
    return Answer(str(asker.aligned), asker.aligned)


def block_width(asker: Asker, known: Known) -> Answer:
    """III-D, algorithm 1: c and two products as far apart as a result is long, of which the last moves away."""
    return Answer(str(asker.width), asker.width)


def extra_carry_bits(asker: Asker, known: Known) -> Answer:
    """III-C3, algorithm 1: k - 1 products just below 2 and one of u, on a c whose last bits carry as often as they do. It
    ends at the width of a block."""
    (blocks,) = needed(known, "N_FMA")
    if blocks.count == 1:
        return Answer("0", 0)
    p, p_in = asker.precision, asker.shape.a.man_bits + 1
    large = 2 - power(1 - p_in)
    asked = []
    for k in range(2, blocks.count + 1):
        c = large + sum((power(i - p) for i in range(1, ceil(log2(k)) + 1)), Fraction(0))
        asked.append(Sum(c, ((large, 1),) * (k - 1) + ((power(1 - p), 1),)))
    bits = 0
    for k, (d, one) in enumerate(zip(_carried(asker, asked), asked, strict=True), 2):
        if d == one.exact:
            bits = floor(log2(k * (2 - power(1 - p_in))))
    return Answer(f"≥ {bits}" if bits else "0", bits)


def _carried(asker: Asker, asked: list[Sum]) -> list[Fraction | None]:
    """Products by their values, which may be split otherwise where a's factor alone cannot be so far from another."""
    by_value = [Sum(one.c, tuple(Fraction(p[0]) for p in one.products if isinstance(p, tuple))) for one in asked]
    return asker.first_held(asked, by_value)


def normalisation(asker: Asker, known: Known) -> Answer:
    """III-C2, by whether there are extra bits for carries and for alignment; where the paper's vectors show none, once more
    among the products, which some units add before c."""
    (carries,) = needed(known, "n_ecb")
    if not carries:
        return Answer("yes")
    (aligned,) = needed(known, "n_eab")
    p = asker.precision
    if not aligned.count:
        u = power(1 - p)
        asked, immediate = Sum(2 - u, (u, u, u)), Fraction(2)
    else:
        step = power(3 - p)
        asked, immediate = Sum(1 - step, (step + power(-p),) * 2), 1 + step
    (d,) = asker.ask_scaled(asked)
    if d == asked.exact:
        return Answer("yes" if aligned.count and _rounds_among_products(asker, known) else "no")
    return Answer("yes" if d in (immediate, 1 + power(3 - p) + power(2 - p)) else f"d = {value_text(d)}")


def _rounds_among_products(asker: Asker, known: Known) -> bool:
    """Whether 1 and twice half of u, three products of one block, or two and c, do not come to 1 + u: a sum that has extra
    bits for them and loses them was normalised, and rounded, in between."""
    (blocks,) = needed(known, "N_FMA")
    half = power(-asker.precision)
    asked = Sum(0, (1, half, half)) if blocks.count > 2 else Sum(half, (1, half))
    try:
        (d,) = asker.ask_scaled(asked)
    except NotHeldError:
        return False
    return d != asked.exact


def rounding_at_alignment(asker: Asker, known: Known) -> Answer:
    """III-B: asks for 1 and products of three quarters of the last retained bit of a term: two if n_eab ≤ 1, as in the
    paper, else 2^n_eab, so that rounding up shows in the result."""
    (aligned,) = needed(known, "n_eab")
    if aligned.open or aligned.count > ROUNDED_UP:
        raise NotHeldError(f"{aligned} extra bits: {f'2^{aligned.count}'} products and more")
    p, n = asker.precision, aligned.count
    count = max(2, 1 << n)
    kept = power(1 - p - n)
    rows = [Sum(sign, (sign * kept * 3 / 4,) * count) for sign in (1, -1)]
    positive, negative = asker.ask_scaled(*rows)
    found = rounding(positive, negative, Fraction(1), 1 + count * kept)
    return Answer("truncated" if found.text == "RZ" else found.text)


def rounding_of_block(asker: Asker, known: Known) -> Answer:
    """III-B: three products of 1 on c = 1 + u + 2u, which leave three quarters of the last bit of 4. With fewer than three
    products, which takes an extra bit, 1 and 2, or 3."""
    u, K = power(1 - asker.precision), asker.shape.K
    aligned = known.get("n_eab")
    if K < 3 and aligned is not None and not aligned.count:
        raise NotHeldError(f"takes three products without extra bits, K={K}")
    products = {1: (3,), 2: (1, 2)}.get(K, (1, 1, 1))
    rows = [Sum(sign * (1 + 3 * u), tuple(sign * r for r in products)) for sign in (1, -1)]
    positive, negative = asker.ask_scaled(*rows)
    return rounding(positive, negative, Fraction(4), 4 + 4 * u)


def rounding_of_blocks(asker: Asker, known: Known) -> Answer:
    """III-E: c = 1 + u, and in the second block alone a product of three quarters of u."""
    width = _second_block(asker, known)
    u = power(1 - asker.precision)
    rows = [Sum(sign * (1 + u), at(width, sign * 3 * u / 4)) for sign in (1, -1)]
    positive, negative = asker.ask_scaled(*rows)
    return rounding(positive, negative, 1 + u, 1 + 2 * u)


def order_of_blocks(asker: Asker, known: Known) -> Answer:
    """III-F: 1, -1 and 2^-(p+3) as c, the sum of the first block and that of the second, in three orders: the remainder
    shows which two meet first."""
    width = _second_block(asker, known)
    small = power(-asker.precision - 3)
    ways: tuple[tuple[Value, Value, Value], ...] = ((1, -1, small), (1, small, -1), (small, 1, -1))
    values = asker.ask_scaled(*(Sum(c, (first, *at(width - 1, second))) for c, first, second in ways))
    orders = ("(c + T1) + T2", "(c + T2) + T1", "c + (T1 + T2)")
    found = [order for order, d in zip(orders, values, strict=True) if d == small]
    return Answer(found[0] if len(found) == 1 else "none of the three" if not found else " or ".join(found))


def _second_block(asker: Asker, known: Known) -> int:
    """Where the second block begins."""
    (blocks,) = needed(known, "N_FMA")
    if blocks.open:
        raise NotHeldError(f"one block over K={asker.shape.K}")
    return int(blocks.count)


KHATTAK = Paper(
    "khattak",
    "Khattak, Mikaitis: Generalized Methodology for Determining Numerical Features, Part I (paper 002)",
    (
        Test("subnormals in", "III-A", "subnormal a and c", subnormals_in),
        Test("subnormals out", "III-A", "a product that is subnormal in d or in a", subnormals_out),
        Test("N_FMA", "III-D, algorithm 1", "products of one block", block_width),
        Test("n_eab", "III-C1", "extra bits for alignment", extra_alignment_bits),
        Test("n_ecb", "III-C3, algorithm 1", "extra bits for carries", extra_carry_bits),
        Test("I.Norm", "III-C2", "whether each sum is normalised at once", normalisation),
        Test("alignment", "III-B", "how a term loses bits at alignment", rounding_at_alignment),
        Test("RM-BFMA", "III-B", "how the sum of a block is rounded", rounding_of_block),
        Test("RM-MBFMA", "III-E", "how the sum of two blocks is rounded", rounding_of_blocks),
        Test("order of blocks", "III-F", "which two of c and the blocks' sums are added first", order_of_blocks),
    ),
)
