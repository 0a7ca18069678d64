"""The golden operations rebuilt from steps that can be replaced by faulty ones: rounding, adder, alignment."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from golden.arithmetic.formats import FP32, Cls, Format
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arithmetic.steps import Term, addend, align, exact_sum
from golden.operations import Operation
from golden.operations.ftz_addmul import flush_result
from golden.operations.ftz_addmul import flushed_add as golden_flushed_add
from golden.operations.structure import Rounding

Round = Callable[[int, int, bool], int]
"""A rounding: (magnitude, number of dropped bits, negative) → rounded magnitude."""


def rounding_of(operation: Operation) -> Rounding:
    """The rounding of the last sum."""
    rounding = operation.structure.last.rounding
    assert rounding is not None
    return rounding


def is_up(mode: Mode, odd: bool, half: bool, sticky: bool, negative: bool) -> bool:
    """Whether the magnitude is incremented; for RO, whether it becomes odd."""
    inexact = half or sticky
    if mode in ("RNE", "RNA"):
        return half and (sticky or odd or mode == "RNA")
    return inexact and (mode == "RO" or (mode == "RD" and negative) or (mode == "RU" and not negative))


def rounded(
    mode: Mode, magnitude: int, shift: int, negative: bool, *, sticky_mask: int = -1, half_bit: bool = True,
    up: Callable[[int], int] = lambda kept: kept + 1,
) -> int:  # fmt: skip
    """Round a magnitude as hardware does, from its last bit, the next one (half) and the others together (sticky).

    Args:
        sticky_mask: the sticky bits that are seen, the highest of them as bit 0.
        half_bit: whether the half is seen.
        up: the incrementer.
    """
    if shift <= 0:
        return magnitude << -shift
    kept, rest = magnitude >> shift, magnitude & ((1 << shift) - 1)
    half = half_bit and bool(rest >> (shift - 1))
    others = rest & ((1 << (shift - 1)) - 1)
    seen = any(others >> (shift - 2 - place) & 1 and sticky_mask >> place & 1 for place in range(shift - 1))
    if not is_up(mode, bool(kept & 1), half, seen, negative):
        return kept
    return kept | 1 if mode == "RO" else up(kept)


def carry_lost(bits: int) -> Callable[[int], int]:
    """An incrementer whose carry out of its low bits is lost."""
    return lambda kept: (kept >> bits << bits) | ((kept + 1) & ((1 << bits) - 1))


def correct(mode: Mode) -> Round:
    """The rounding without a fault."""
    return partial(rounded, mode)


def with_rounding(
    operation: Operation, choice: Round, short: Callable[[int, int], bool] = lambda top, length: False
) -> Operation:
    """The operation with another rounding.

    Args:
        short: (exponent of the leading bit, bits of the total) to whether the result has one bit less.
    """
    structure, rounding = operation.structure, rounding_of(operation)
    d, to_plus_zero = rounding.to, structure.nan == "cause"
    unbounded = to_plus_zero and rounding.flushes

    def code(total: int, exp: int, encode: Callable[[int, int], int]) -> int:
        if not total:
            return encode(total, exp)
        length = abs(total).bit_length()
        lsb = d.last_bit(total, exp, unbounded) + short(length - 1 + exp, length)
        kept = choice(abs(total), lsb - exp, total < 0)
        if to_plus_zero:
            return encode(-kept if total < 0 else kept, lsb)
        if kept == 0:
            return d.negative_zero if total < 0 else 0
        return encode(-kept if total < 0 else kept, lsb)

    if structure.rho is not None:
        fused: Any = operation

        def converted(self: Any, total: int, exp: int) -> int:
            if to_plus_zero:
                return code(total, exp, fused.converted)
            return code(total, exp, lambda v, e: d.encode_scaled(v, e, rounding.mode, fused.overflow, rounding.flushes))

        return operation.with_steps(converted=converted)

    def rounded_sum(terms: Sequence[Term], d: Format, negative_zero: bool) -> int:
        total, lsb = exact_sum(terms)
        if total == 0:
            return d.negative_zero if negative_zero else 0
        return code(total, lsb, lambda v, e: d.encode_scaled(v, e, "RNE"))

    return with_rounded_sum(operation, rounded_sum)


def with_rounded_sum(operation: Operation, rounded_sum: Callable[[Sequence[Term], Format, bool], int]) -> Operation:
    """FTZ-AddMul with other roundings of its products and of its sums."""

    def flushed_add(x: int, y: int) -> int:
        p, q = FP32.decode(x), FP32.decode(y)
        if max(p.cls, q.cls) >= Cls.INFINITY:
            return golden_flushed_add(x, y)
        terms = [addend(z, FP32, FP32.e_min) for z in (p, q)]
        return flush_result(rounded_sum(terms, FP32, bool(p.sign and q.sign)))

    return operation.with_steps(rounded_sum=staticmethod(rounded_sum), flushed_add=staticmethod(flushed_add))


def without_carry(x: int, y: int, bit: int) -> int:
    """x + y, the carry into `bit` lost."""
    mask = (1 << bit) - 1
    return (((x >> bit) + (y >> bit)) << bit) + ((x & mask) + (y & mask) & mask)


def carry_into_last_addend_lost(below: int, parts: Sequence[int], top: int) -> int:
    """The sum whose last adder loses its carry into the bit that many positions below the largest term's leading bit."""
    return without_carry(sum(parts[:-1]), parts[-1], max(top - below, 0))


def with_adder(operation: Operation, adder: Callable[[Sequence[int], int], int]) -> Operation:
    """The operation with another adder: a function (addends, place of the leading bit of the largest) → sum."""

    def total_of(parts: Sequence[int]) -> int:
        return adder(parts, max(abs(part).bit_length() for part in parts))

    if operation.structure.is_aligned:
        return operation.with_steps(accumulate=staticmethod(lambda aligned: total_of(list(aligned))))

    def summed(terms: Sequence[Term]) -> tuple[int, int]:
        lsb = min(term.exp - term.frac for term in terms)
        return total_of([align(term, lsb, 0, "RZ") for term in terms]), lsb

    return with_exact_sum(operation, summed)


def with_exact_sum(operation: Operation, summed: Callable[[Sequence[Term]], tuple[int, int]]) -> Operation:
    if operation.structure.rounds_products:

        def rounded_sum(terms: Sequence[Term], d: Format, negative_zero: bool) -> int:
            total, lsb = summed(terms)
            return d.encode_scaled(total, lsb, "RNE") if total else d.negative_zero if negative_zero else 0

        return with_rounded_sum(operation, rounded_sum)
    return operation.with_steps(exact_sum=staticmethod(summed))


def with_align(operation: Operation, change: Callable[[int, int, Term, int, int, Mode], int]) -> Operation:
    """The operation with another alignment: a function (number of the term, number of terms, term, e_max, F, truncation) →
    aligned term."""
    seen: list[Term] = []

    def max_exp(terms: Iterable[Term]) -> int:
        seen[:] = terms
        return max(term.exp for term in seen)

    def changed(term: Term, e_max: int, F: int, mode: Mode) -> int:
        number = next(number for number, other in enumerate(seen) if other is term)
        return change(number, len(seen), term, e_max, F, mode)

    return operation.with_steps(max_exp=staticmethod(max_exp), align=staticmethod(changed))


Align = Callable[[Term, int, int, Mode], int]


def one_bit_short(term: Term, e_max: int, F: int, mode: Mode) -> int:
    return align(term, e_max, F - 1, mode) << 1


def aligned_in(other: Mode, term: Term, e_max: int, F: int, mode: Mode) -> int:
    return align(term, e_max, F, other)


def with_short_shift(bits: int, term: Term, e_max: int, F: int, mode: Mode) -> int:
    """The alignment whose shift amount has only `bits` bits."""
    return shift_and_round(term.sig, term.frac - F + (e_max - term.exp) % (1 << bits), mode)
