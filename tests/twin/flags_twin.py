"""Exception flags a second time, on exact rationals, from numerics.md, section 14.

Of golden/ it sees only the attributes of a parameter object, as the twin does.
"""

from collections.abc import Sequence
from typing import Any

from tests.twin import twin
from tests.twin.rational import Fraction
from tests.twin.twin_numbers import INTEGER_ROUNDING, LAYOUTS, Number, decode, exponent_of, is_nan, two_to

BITS = {"NX": 1, "UF": 2, "OF": 4, "DZ": 8, "NV": 16}


def flagged_dot(operation: Any, a: Sequence[int], b: Sequence[int], c: int) -> tuple[int, int]:
    """d, and the flags of all steps of a chain."""
    L, raised, c_format = min(len(a), twin.length(operation)), 0, operation.c.name
    for k in range(0, len(a), L):
        x, y = a[k : k + L], b[k : k + L]
        d = twin.dot(operation.changed(c=c_format) if k else operation, x, y, c)
        for flag in step_flags(operation, x, y, c_format, c, d):
            raised |= BITS[flag]
        c, c_format = quieted(operation.d.name, d), operation.d.name
    return c, raised


def quieted(name: str, code: int) -> int:
    """A result, of which a NaN is quiet, as an operand of the next step."""
    return code | 2 ** (LAYOUTS[name].mantissa_bits - 1) if is_nan(name, code) else code


def step_flags(operation: Any, a: Sequence[int], b: Sequence[int], c_format: str, c: int, d: int) -> set[str]:
    """The names of the flags that one step raises whose result is d."""
    x = [(operation.a.name, code) for code in a]
    y = [(operation.b.name, code) for code in b]
    z = [(c_format, c)] if operation.name in ("FMA", "E-FDPA") else []
    factors = [] if operation.name in ("ADD", "CVT") else [*zip(x, y, strict=True)]
    addends = {"ADD": x + y, "CVT": x}.get(operation.name, z)
    if is_invalid(operation, factors, addends):
        return {"NV"}
    terms = [twin.times(number(operation, p), number(operation, q)) for p, q in factors]
    terms += [number(operation, term) for term in addends]
    if any(term.kind != "finite" for term in terms):
        return set()
    return rounding(operation, sum((term.value for term in terms), Fraction(0)), d)


def number(operation: Any, coded: tuple[str, int]) -> Number:
    return twin.operand(operation, *coded)


def is_invalid(operation: Any, factors: Any, addends: Any) -> bool:
    """A signalling NaN; 0·∞, beside a quiet NaN by the key; infinities of both signs and no NaN."""
    read = [coded for pair in factors for coded in pair] + addends
    if any(is_signalling(*coded) for coded in read):
        return True
    has_nan = any(is_nan(*coded) for coded in read)
    pairs = [(number(operation, p), number(operation, q)) for p, q in factors]
    if any("infinite" in (p.kind, q.kind) and (p.is_zero or q.is_zero) for p, q in pairs):
        return not has_nan or bool(operation.beside_nan == "invalid")
    terms = [twin.times(*pair) for pair in pairs] + [number(operation, term) for term in addends]
    return not has_nan and len({term.negative for term in terms if term.kind == "infinite"}) == 2


def is_signalling(name: str, code: int) -> bool:
    """A NaN of IEEE 754 whose first bit of the fraction is 0."""
    layout = LAYOUTS[name]
    fraction = code // 2**layout.dropped_bits % 2**layout.mantissa_bits
    return layout.specials == "ieee" and is_nan(name, code) and fraction < 2**layout.mantissa_bits / 2


def rounding(operation: Any, total: Fraction, d: int) -> set[str]:
    """The flags of a finite sum whose result is d."""
    result = decode(operation.d.name, d)
    if result.kind == "finite" and result.value == total:
        return set()
    mode, target = operation.rho.split("-")
    layout = LAYOUTS[target.lower()]
    unit = two_to(exponent_of(total) - layout.mantissa_bits)
    rounded = INTEGER_ROUNDING[mode](total / unit) * unit
    raised = {"NX"}
    if abs(rounded if operation.tininess == "after" else total) < two_to(1 - layout.bias):
        raised.add("UF")
    if abs(rounded) >= two_to(2**layout.exponent_bits - 1 - layout.bias):
        raised.add("OF")
    return raised
