"""The tests of Fasi, Higham, Mikaitis and Pranesh, "Numerical Behavior of NVIDIA Tensor Cores", section 3 (paper 004).

Their constants are those of V100, binary16 in and binary32 out: 2^-24 is 2^-p here, p the precision of results. Their
section 3.2 adapts them to a unit with n extra bits; the comment of each test says what it does with n. The five operands
are c and
four products.
"""

from fractions import Fraction

from golden.arithmetic.formats import FP16
from mmau.probe.papers.asker import Asker
from mmau.probe.papers.operand_values import NotHeldError, Sum, power, value_text
from mmau.probe.papers.paper import Answer, Known, Paper, Test, rounding

PRODUCTS = 4
"""Number of products of their equation (2)."""

ORDER, NORMALISATION = "rounding errors and order", "normalisation in addition"
"""Tests that later ones depend on."""


def extra_bits(asker: Asker, known: Known) -> Answer:
    """Asks for 1 and c = -1 + 2^-p, which shows whether there is an extra bit, then for 1 + 2^-q - 1 with q = p, p + 1, …
    until the small term is lost."""
    p = asker.precision
    asker.ask_scaled(Sum(-1 + power(-p), (1,)))
    return Answer(str(asker.extra))


def subnormal_operands(asker: Asker, known: Known) -> Answer:
    """The smallest subnormal of a, times four."""
    a = asker.shape.a
    return _kept(asker, Sum(0, ((power(a.e_min - a.man_bits), 4),)))


def subnormal_c(asker: Asker, known: Known) -> Answer:
    """The smallest subnormal of c, all products zero."""
    c = asker.shape.c
    return _kept(asker, Sum(power(c.e_min - c.man_bits), ()))


def subnormal_results(asker: Asker, known: Known) -> Answer:
    """Subnormals of a's format made from normal numbers: by a product, and by a difference."""
    smallest = power(asker.shape.a.e_min)
    return _kept(asker, Sum(0, ((smallest, Fraction(1, 2)),)), Sum(-smallest / 2, ((smallest, 1),)))


def subnormals_in_hardware(asker: Asker, known: Known) -> Answer:
    """Asks for 2 and a subnormal of b that is three quarters of the last bit of 2."""
    p, b = asker.precision, asker.shape.b
    subnormal = 3 * power(b.e_min - b.man_bits)
    small = 3 * power(-p)
    (d,) = asker.ask(Sum(0, ((small / subnormal, subnormal), 2)))
    names = {Fraction(2): "rounded down", 2 + power(2 - p): "rounded up"}
    return Answer(f"subnormal {names[d]}" if d in names else f"d = {value_text(d)}")


def _kept(asker: Asker, *asked: Sum) -> Answer:
    values = asker.ask(*asked)
    if all(d == one.exact for d, one in zip(values, asked, strict=True)):
        return Answer("kept")
    return Answer("lost" if not any(values) else "d = " + ", ".join(map(value_text, values)))


def exact_products(asker: Asker, known: Known) -> Answer:
    """Four times (1 - 2^-p_in)², of which p_in is the precision of a."""
    p, p_in = asker.precision, asker.shape.a.man_bits + 1
    if 2 * p_in + 2 > p + 2:
        raise NotHeldError(f"a product has {2 * p_in} bits, a result {p}")
    factor = 1 - power(-p_in)
    places = min(PRODUCTS, asker.shape.K)
    asked = Sum(0, ((factor, factor),) * places)
    (d,) = asker.ask(asked)
    return Answer("exact" if d == asked.exact else f"d = {value_text(d)}")


def exact_products_binary16(asker: Asker, known: Known) -> Answer:
    """Two products that d's format cannot hold and whose sum it holds."""
    p, p_in = asker.precision, asker.shape.a.man_bits + 1
    if asker.shape.d != FP16 or 2 * p_in <= p:
        raise NotHeldError("d is not binary16, or it holds every product")
    factor = 1 - power(-p_in)
    asked = Sum(0, ((factor, factor), (factor, power(-p_in))))
    (d,) = asker.ask(asked)
    return Answer("exact" if d == asked.exact else f"d = {value_text(d)}")


def errors_and_order(asker: Asker, known: Known) -> Answer:
    """1 in each of five places, 2^-(p+n) in the others (their 2^-24, and 2^-25 where n = 1)."""
    small = power(-asker.precision - asker.extra.count)
    places = min(PRODUCTS, asker.shape.K)
    asked = [Sum(1, (small,) * places)]
    asked += [Sum(small, (*(small,) * place, 1, *(small,) * (places - place - 1))) for place in range(places)]
    values = asker.ask_scaled(*asked)
    if all(d == 1 for d in values):
        return Answer("from the largest", "largest")
    if len(set(values)) == 1:
        return Answer(f"any order, d = {value_text(values[0])}", "any")
    lost = ["c", *(f"r{place + 1}" for place in range(places))]
    first = ", ".join(name for name, d in zip(lost, values, strict=True) if d == 1)
    return Answer(f"depends on the order; 1 swallows the others as {first or 'none'}", "order")


def rounding_of_additions(asker: Asker, known: Known) -> Answer:
    """2 and three quarters of its last bit, of both signs; 2 in c's place where products cannot be so far apart."""
    p = asker.precision
    small = 3 * power(-p)
    positive, negative = asker.first_held(
        [Sum(0, (sign * 2, sign * small)) for sign in (1, -1)], [Sum(sign * 2, (sign * small,)) for sign in (1, -1)]
    )
    return rounding(positive, negative, Fraction(2), 2 + power(2 - p))


def rounding_to_binary16(asker: Asker, known: Known) -> Answer:
    """Three quarters of the smallest subnormal of d."""
    d_format = asker.shape.d
    if d_format != FP16:
        raise NotHeldError("d is not binary16")
    smallest = power(d_format.e_min - d_format.man_bits)
    (d,) = asker.ask(Sum(0, (smallest / 2, smallest / 4)))
    names = {smallest: "RN or RU", Fraction(0): "RZ or RD"}
    return Answer(names[d] if d in names else f"d = {value_text(d)}")


def normalisation_in_addition(asker: Asker, known: Known) -> Answer:
    """Asks for c = 1 - 2^-p and four times 2^-p. A sum that is normalised when it reaches 1 loses the remaining products.

    With n extra bits it loses only what is below 2^-(p-1+n): two products, of which the first completes 1 and all but the
    last bit of what shows in a result, and the second is 2^-(p+n).
    """
    p, n = asker.precision, _finite_extra(asker)
    products = (power(-p),) * PRODUCTS
    if n or asker.shape.K < PRODUCTS:
        small = power(-p - n)
        products = (3 * power(-p) - small, small)
    (d,) = asker.ask_scaled(Sum(1 - power(-p), products))
    if d == 1:
        return Answer("after each addition", "each")
    return Answer(
        "at the end" if known.get(ORDER) in ("largest", "any") else "at the end, or the smaller added first", "end"
    )


def normalisation_in_subtraction(asker: Asker, known: Known) -> Answer:
    """c = -1 + 2^-p, 1 and -2^-p: without normalisation c loses its last bit, and the last product is lost.

    With n extra bits c keeps it, and the last product is -2^-(p+n).
    """
    p, n = asker.precision, _finite_extra(asker)
    if asker.extra.open:
        raise NotHeldError(f"{asker.extra} extra bits: nothing is lost at alignment")
    (d,) = asker.ask_scaled(Sum(-1 + power(-p), (1, -power(-p - n))))
    late = power(1 - p) if not n else power(-p)
    return Answer("none before the end" if d == late else f"normalised, d = {value_text(d)}")


def carry_bits(asker: Asker, known: Known) -> Answer:
    """Two carry bits: c = 1 + 3·2^-(p-1) and 1, 1, 1, 2^-(p-1), in four orders, give the exact sum. Three: five numbers
    between 1 and 1.875 sum to 8."""
    if known.get(NORMALISATION) == "each":
        return Answer("none: each sum is normalised")
    last = power(1 - asker.precision)
    c = 1 + 3 * last
    asked = [Sum(c, (*(1,) * place, last, *(1,) * (3 - place))) for place in range(4)]
    two = all(d == one.exact for d, one in zip(asker.ask_scaled(*asked), asked, strict=True))
    parts = [1 + sum((power(-i) for i in range(1, length)), Fraction(0)) for length in (1, 2, 3, 4)]
    (d,) = asker.ask_scaled(Sum(parts[3], tuple(parts)))
    if d != 8:
        return Answer(f"{'2' if two else 'fewer than 2'}; 8 overflows to {value_text(d)}")
    return Answer("3" if two else "fewer than 2")


def final_rounding(asker: Asker, known: Known) -> Answer:
    """The carry test with 1 in the place of its last bit: three quarters of the last bit of 5 are left to round."""
    last = power(1 - asker.precision)
    asked = [Sum(sign * (1 + 3 * last), (sign,) * PRODUCTS) for sign in (1, -1)]
    positive, negative = asker.ask_scaled(*asked)
    return rounding(positive, negative, Fraction(5), 5 + 4 * last)


def monotonicity(asker: Asker, known: Known) -> Answer:
    """Asks for c = 1 - 2^-p and for c = 1 with the same products, four times 2^-p: the first result must not be larger.

    With n extra bits the products are 2^n + 1 times 2^-(p+n), which c = 1 loses, and one that fills up all but their
    share of the last
    bit.
    """
    p, n = asker.precision, _finite_extra(asker)
    products: tuple[Fraction, ...] = (power(-p),) * PRODUCTS
    if n or asker.shape.K < PRODUCTS:
        count = (1 << n) + 1
        if count >= asker.shape.K:
            raise NotHeldError(f"{n} extra bits take {count + 1} products, K={asker.shape.K}")
        small = power(-p - n)
        products = (2 * power(-p) - small, *(small,) * count)
    less, more = asker.ask_scaled(Sum(1 - power(-p), products), Sum(1, products))
    if less is None or more is None:
        return Answer(f"d = {value_text(less)} and {value_text(more)}")
    if less > more:
        return Answer(f"violated: {value_text(less)} above {value_text(more)}")
    return Answer("no violation")


def _finite_extra(asker: Asker) -> int:
    """n, 0 where there is no end to them: their own constants then."""
    return 0 if asker.extra.open else asker.extra.count


FASI = Paper(
    "fasi",
    "Fasi, Higham, Mikaitis, Pranesh: Numerical Behavior of NVIDIA Tensor Cores (paper 004)",
    (
        Test("extra bits in the alignment", "3.1.4", "retained bits of a term below the result's last", extra_bits),
        Test("subnormal operands", "3.1.1", "the smallest subnormal of a, times 4", subnormal_operands),
        Test("subnormal c", "3.1.1", "the smallest subnormal of c, alone", subnormal_c),
        Test("subnormal results", "3.1.1, 3.3", "half the smallest normal number of a", subnormal_results),
        Test("subnormals in hardware", "3.1.1", "a subnormal of b, rounded where it is added to 2", subnormals_in_hardware),
        Test("exact products", "3.1.2", "products of as many bits as can be", exact_products),
        Test("exact products, binary16", "3.1.2", "products that d's format cannot hold", exact_products_binary16),
        Test(ORDER, "3.1.2", "1 in each place, numbers that it swallows elsewhere", errors_and_order),
        Test("rounding of additions", "3.1.3", "2 and three quarters of its last bit", rounding_of_additions),
        Test("rounding to binary16", "3.1.3", "three quarters of the smallest subnormal of d", rounding_to_binary16),
        Test(NORMALISATION, "3.1.4", "a sum that comes to 1 before all are added", normalisation_in_addition),
        Test("normalisation in subtraction", "3.1.4", "a difference that cancels", normalisation_in_subtraction),
        Test("extra bits for carries", "3.1.4", "sums that carry twice and three times", carry_bits),
        Test(
            "final rounding", "3.1.4", "rounding of the bits that carries leave below the result's last bit", final_rounding
        ),
        Test("monotonicity", "3.1.4", "the same products on a larger c", monotonicity),
    ),
)
