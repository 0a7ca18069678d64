"""The twin: the operations of GPUs a second time, on exact rationals, to hold golden/ against.

Written from numerics.md, sections 3 to 6 and 9, with values and exponents as they stand there. Of golden/ it sees only the
attributes of a parameter object (`operation.L`, `operation.a.name` …).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import floor
from typing import Any

from tests.twin import rdna_twin, x86_twin
from tests.twin.rational import Fraction
from tests.twin.twin_numbers import (
    FIXED_POINT,
    INTEGER_ROUNDING,
    LAYOUTS,
    NAN,
    VALUES,
    Number,
    decode,
    encode,
    exponent_of,
    has_negative_zero,
    infinite,
    infinity_code,
    is_nan,
    keep,
    two_to,
)

IEEE = ("FMA", "MUL", "ADD", "CVT")
"""The operations of one product or none, rounded once as IEEE 754 says."""

Step = Callable[[Any, list[Number], list[Number], Number, list[Number], list[Number]], int]

NO_PRODUCT = -999
"""e_dot without a non-zero product (exponent value)."""

TINY = two_to(-4000)
"""The sticky bit of an aligned sum: smaller, beside it, than anything that rounding could see."""


def dot(
    operation: Any, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
) -> int:
    """Φ: the code of d for a whole dot product, chained with the operation's L."""
    L = min(len(a), length(operation))
    if operation.name == "IDPA" and operation.is_fixed:
        for k in range(0, len(a), L):
            c = fixed_point(operation, a[k : k + L], b[k : k + L], c)
        return c
    if operation.name in ("FTZ-FMA", "FTZ-EO-FMA", "IDPA"):
        for k in range(0, len(a), L):
            c = x86_twin.operation_step(operation, a[k : k + L], b[k : k + L], c)
        return c
    if operation.name in ("OC-FDPA", "PS-FDPA"):
        for k in range(0, len(a), L):
            c = rdna_twin.operation_step(operation, a[k : k + L], b[k : k + L], c)
        return c
    c_format = operation.c.name
    alpha, beta = (element_scales(operation, *each, len(a)) for each in (("a", scale_a), ("b", scale_b)))
    d = c
    for k in range(0, len(a), L):
        x, y = operands(operation, operation.a.name, a[k : k + L]), operands(operation, operation.b.name, b[k : k + L])
        z = operand(operation, c_format, d)
        step = STEPS[operation.name](operation, x, y, z, alpha[k : k + L], beta[k : k + L])
        if operation.name == "CVT" and operation.nan == "first" and is_nan(operation.a.name, a[k]):
            step = converted_nan(operation, a[k])
        elif operation.name in IEEE and operation.nan != "quiet" and is_nan(operation.d.name, step):
            layout = LAYOUTS[operation.d.name]
            read = (a[k], b[k], d) if operation.name == "FMA" else (a[k], b[k])
            if operation.nan == "b-c-a":
                read = (*read[1:], a[k])
            step = x86_twin.kept_nan(read, (layout.mantissa_bits, layout.exponent_bits))
        d = step
        c_format = operation.d.name
    return d


def fixed_point(operation: Any, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """IDPA whose c is a fixed-point number; a one with zeros below is no number where an element can be NaN or infinite."""
    (bits, places), names = FIXED_POINT[operation.c.name], (operation.a.name, operation.b.name)
    x, y = ([decode(name, code) for code in codes] for name, codes in zip(names, (a, b), strict=True))
    beyond, has_nar = 1 << bits, any(has_specials(name) for name in names)
    lowest = -beyond // 2
    if has_nar and (c == beyond // 2 or any(each.kind != "finite" for each in (*x, *y))):
        return beyond // 2
    products = (p.significand * q.significand * two_to(p.exponent + q.exponent) for p, q in zip(x, y, strict=True))
    total = (c - beyond if c >= beyond // 2 else c) + sum(products, Fraction(0)) * two_to(places)
    assert total.denominator == 1
    if operation.overflow == "saturate":
        total = max(Fraction(lowest + has_nar), min(Fraction(-lowest - 1), total))
    return int(total) % beyond


def has_specials(name: str) -> bool:
    """Whether a format has a NaN or an infinity."""
    return any(x.kind != "finite" for x in VALUES[name]) if name in VALUES else LAYOUTS[name].specials != "none"


def operand(operation: Any, name: str, code: int) -> Number:
    """The value that a step reads."""
    return operands(operation, name, [code])[0]


def operands(operation: Any, name: str, codes: Sequence[int]) -> list[Number]:
    """The values that a step reads; under `flush_inputs` the fraction of a subnormal, which is below 1, is absent."""
    if operation.name == "CVT" and operation.nar and name in FIXED_POINT:
        nar = 2 ** (FIXED_POINT[name][0] - 1)
        return [NAN if code == nar else decode(name, code) for code in codes]
    numbers = [decode(name, code) for code in codes]
    if operation.name == "FTZ-AddMul" or not operation.flush_inputs:
        return numbers
    return [each._replace(significand=Fraction(0)) if abs(each.significand) < 1 else each for each in numbers]


def length(operation: Any) -> int:
    length: int = 1 if operation.name in IEEE else operation.P if operation.name == "FTZ-AddMul" else operation.L
    return length


def element_scales(operation: Any, side: str, scales: Sequence[int], K: int) -> list[Number]:
    """The scale of every product: 1 on a side without scales, none where the operation has no scales."""
    if getattr(operation, "scale", None) is None:
        return []
    if operation.scales not in ("both", side):
        return [Number("finite", False, Fraction(1), 0)] * K
    return [decode(operation.scale.name, scales[k // operation.K_block]) for k in range(K)]


def same(operation: Any, got: int, expected: int) -> bool:
    """Equal codes; of FP64 and of CDNA's operations any NaN equals any NaN (numerics.md, section 3)."""
    d = operation.d.name
    one_nan = ("T-FDPA", "ST-FDPA", "GST-FDPA", "OC-FDPA", "PS-FDPA", "FTZ-FMA", "FTZ-EO-FMA", "IDPA")
    if operation.name not in one_nan and getattr(operation, "nan", "quiet") == "quiet" and is_nan(d, expected):
        return is_nan(d, got)
    return got == expected


def times(x: Number, y: Number) -> Number:
    """The exact product, exponents added, not renormalised."""
    if "nan" in (x.kind, y.kind):
        return NAN
    if "infinite" in (x.kind, y.kind):
        return NAN if x.is_zero or y.is_zero else infinite(x.negative != y.negative)
    return Number("finite", x.negative != y.negative, x.significand * y.significand, x.exponent + y.exponent)


def special_sum(terms: Sequence[Number]) -> Number | None:
    """The result if any term is not finite (numerics.md, section 3)."""
    signs = {term.negative for term in terms if term.kind == "infinite"}
    if len(signs) > 1 or any(term.kind == "nan" for term in terms):
        return NAN
    return infinite(signs.pop()) if signs else None


def special_code(d: str, special: Number, nan: int) -> int:
    has_infinity = LAYOUTS[d].specials in ("ieee", "p3109")
    return infinity_code(d, special.negative) if special.kind == "infinite" and has_infinity else nan


def any_nan_code(d: str) -> int:
    """Infinity's code and one; the only NaN of another format."""
    return infinity_code(d, False) + 1 if LAYOUTS[d].specials == "ieee" else only_nan_code(d)


def only_nan_code(d: str) -> int:
    layout = LAYOUTS[d]
    return layout.fields if layout.specials in ("nan for -0", "p3109") else layout.fields - 1


def nvidia_nan_code(d: str) -> int:
    """0x7FFFFFFF, 0x7FFF."""
    return LAYOUTS[d].fields - 1 if LAYOUTS[d].specials == "ieee" else only_nan_code(d)


def convert(operation: Any, value: Fraction) -> int:
    """ρ."""
    mode, target = str(operation.rho).split("-")
    return encode(target if target in LAYOUTS else target.lower(), value, mode, operation.overflow, operation.flush_results)


def truncated_sum(operation: Any, products: Sequence[Number], z: Number) -> int:
    """T-FDPA; a term without a significand has exponent e_zero."""
    terms = [*products, z]
    if special := special_sum(terms):
        return special_code(operation.d.name, special, nvidia_nan_code(operation.d.name))
    return aligned_sum(operation, [(t.significand, t.exponent if t.significand else operation.e_zero) for t in terms])


def aligned_sum(operation: Any, terms: Sequence[tuple[Fraction, int]]) -> int:
    """Steps 2 to 4 of T-FDPA on terms significand · 2^exponent; a zero result is +0."""
    e_max = max(exponent for _, exponent in terms)
    places = [operation.F + exponent - e_max for _, exponent in terms]  # a unit is 2^(e_max - F)
    aligned = [cut(sig, k, operation.truncation) for (sig, _), k in zip(terms, places, strict=True)]
    total = Fraction(sum(aligned))
    if total and operation.sticky and aligned != [sig * two_to(k) for (sig, _), k in zip(terms, places, strict=True)]:
        total += TINY if operation.truncation == "RD" or total > 0 else -TINY
    d = convert(operation, total * two_to(e_max - operation.F))
    return 0 if decode(operation.d.name, d).is_zero else d


@lru_cache(maxsize=2**18)
def cut(significand: Fraction, places: int, mode: str) -> int:
    """significand · 2^places, rounded to an integer."""
    return INTEGER_ROUNDING[mode](significand * two_to(places))


def t_fdpa(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    return truncated_sum(operation, [*map(times, x, y)], z)


def st_fdpa(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    return truncated_sum(
        operation, [times(times(p, s), times(q, t)) for p, q, s, t in zip(x, y, alpha, beta, strict=True)], z
    )


def gst_fdpa(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    products = [*map(times, x, y)]
    scaled = [times(product, times(s, t)) for product, s, t in zip(products, alpha, beta, strict=True)]
    if special := special_sum([*scaled, z]):
        return special_code(operation.d.name, special, nvidia_nan_code(operation.d.name))
    terms = [(z.significand, z.exponent if z.significand else operation.e_zero)]
    for k in range(0, len(products), operation.G):
        group = products[k : k + operation.G]
        dot_product = sum((p.value for p in group), Fraction(0))
        no_term = all(p.is_zero for p in group) or alpha[k].is_zero or beta[k].is_zero
        exponent = operation.e_zero if no_term else alpha[k].exponent + beta[k].exponent
        terms.append((dot_product * alpha[k].significand * beta[k].significand, exponent))
    return aligned_sum(operation, terms)


def e_fdpa(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    products = [*map(times, x, y)]
    if alpha:
        products = [times(p, times(s, t)) for p, s, t in zip(products, alpha, beta, strict=True)]
    terms = [*products, z]
    if special := special_sum(terms):
        return special_code(operation.d.name, special, any_nan_code(operation.d.name))
    total = sum((term.value for term in terms), Fraction(0))
    if total == 0 and operation.zero == "ieee":
        negative = [term.negative for term in terms]
        return zero_code(operation.d.name, any(negative) if str(operation.rho).startswith("RD-") else all(negative))
    return convert(operation, total)


def zero_code(d: str, negative: bool) -> int:
    """+0 or −0, the sign above exponent and mantissa."""
    return LAYOUTS[d].fields if negative and has_negative_zero(d) else 0


def tr_fdpa(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    """TR-FDPA, and GTR-FDPA, which differs in step 2 and in a small c."""
    F, grouped = operation.F, operation.name == "GTR-FDPA"
    products = [infinite(p.value < 0) if abs(p.value) >= two_to(128) else p for p in map(times, x, y)]
    if alpha:
        products = [times(p, times(s, t)) for p, s, t in zip(products, alpha, beta, strict=True)]
    if special := special_sum([*products, z]):
        return special_code(operation.d.name, special, any_nan_code(operation.d.name))
    groups = [products[0::2], products[1::2]] if grouped else [products]
    sums = [(truncated_dot(group, F), largest_exponent(group)) for group in groups]
    e_dot = max(exponent for _, exponent in sums)
    if grouped:
        T = sum(keep(total / two_to(e_dot), F, operation.truncation) for total, _ in sums) * two_to(e_dot)
    else:
        T = sums[0][0]
    e_c = z.exponent if z.significand else -126
    E = max(e_dot, e_c)
    c = Fraction(0) if grouped and e_c < E - F - 1 else z.value
    S = keep(T / two_to(E), operation.F2 + 1, operation.truncation) + keep(c / two_to(E), F, operation.truncation)
    S *= two_to(E)
    if S == 0:
        return 0
    normal = max(exponent_of(S), -126)
    kept = keep(S / two_to(normal), operation.F2, operation.truncation) * two_to(normal)
    if S < 0 and kept == 0:  # a tiny negative sum keeps its sign (section 3)
        return infinity_code(operation.d.name, True) - infinity_code(operation.d.name, False)
    return convert(operation, kept)


def largest_exponent(products: list[Number]) -> int:
    return max((p.exponent for p in products if p.significand), default=NO_PRODUCT)


def truncated_dot(products: list[Number], F: int) -> Fraction:
    unit = two_to(largest_exponent(products))
    return sum((keep(p.value / unit, F, "RZ") for p in products), Fraction(0)) * unit


def ieee_sum(d: str, terms: Sequence[Number]) -> int:
    """RNE of the exact sum; an exact zero is −0 only where every term is negative."""
    if special := special_sum(terms):
        return special_code(d, special, any_nan_code(d))
    total = sum((term.value for term in terms), Fraction(0))
    if total == 0:
        return zero_code(d, all(term.negative for term in terms))
    return encode(d, total, "RNE")


def fma(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    """An exact zero is that of both terms where they agree, else +0, rounding downward −0."""
    return rounded_once(operation, [times(x[0], y[0]), z])


def mul(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    return rounded_once(operation, [times(x[0], y[0])])


def add(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    return rounded_once(operation, [x[0], y[0]])


def cvt(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    return rounded_once(operation, [x[0]])


def converted_nan(operation: Any, code: int) -> int:
    """A NaN of a in the format of d, quiet: its fraction is a number in [0, 1), cut to the places of d."""
    layout, mode_and_target = LAYOUTS[operation.a.name], str(operation.rho).split("-")
    of_d = LAYOUTS[mode_and_target[1].lower()]
    field = code // 2**layout.dropped_bits % 2**layout.mantissa_bits
    kept = floor(Fraction(field, 2**layout.mantissa_bits) * 2**of_d.mantissa_bits)
    quiet = 2 ** (of_d.mantissa_bits - 1)
    negative = layout.signed and code // 2**layout.dropped_bits >= layout.fields
    exponent = 2 ** (of_d.exponent_bits + of_d.mantissa_bits) - 2**of_d.mantissa_bits
    return (of_d.fields * negative + exponent + quiet + kept % quiet) * 2**of_d.dropped_bits


def rounded_once(operation: Any, terms: Sequence[Number]) -> int:
    """The exact sum of one or two terms, rounded; a zero as `fma` says, of one term with its sign."""
    d = operation.d.name
    if special := special_sum(terms):
        return special_code(d, special, any_nan_code(d))
    total = sum(term.value for term in terms)
    if total:
        return convert(operation, total)
    agree = terms[0].negative == terms[-1].negative
    negative = terms[0].negative if agree else str(operation.rho).startswith("RD")
    return zero_code(d, negative)


def ftz_addmul(operation: Any, x: list[Number], y: list[Number], z: Number, alpha: list[Number], beta: list[Number]) -> int:
    plus_zero = Number("finite", False, Fraction(0), 0)
    subnormal_free = [[plus_zero if 0 < abs(p.significand) < 1 else p for p in side] for side in (x, y, [z])]
    sums = [flushed([times(p, q)]) for p, q in zip(subnormal_free[0], subnormal_free[1], strict=True)]
    while len(sums) > 1:
        sums = [flushed(sums[k : k + 2]) for k in range(0, len(sums), 2)]
    return fp32_code(flushed([subnormal_free[2][0], sums[0]]))


def flushed(terms: Sequence[Number]) -> Number:
    """RNE-FP32 of the sum, then 0 with its sign where its magnitude is below 2^−126."""
    z = decode("fp32", ieee_sum("fp32", terms))
    return z._replace(significand=Fraction(0)) if abs(z.value) < two_to(-126) else z


def fp32_code(z: Number) -> int:
    if z.kind != "finite":
        return special_code("fp32", z, any_nan_code("fp32"))
    return encode("fp32", z.value, "RNE") if z.significand else 2**31 * z.negative


STEPS: dict[str, Step] = {
    "FMA": fma,
    "FTZ-AddMul": ftz_addmul,
    "E-FDPA": e_fdpa,
    "T-FDPA": t_fdpa,
    "ST-FDPA": st_fdpa,
    "GST-FDPA": gst_fdpa,
    "TR-FDPA": tr_fdpa,
    "GTR-FDPA": tr_fdpa,
    "MUL": mul,
    "ADD": add,
    "CVT": cvt,
}
