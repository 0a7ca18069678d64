"""Models with one fault each: what a design gives that loses a sticky bit, ties the wrong way, or drops a carry.

A fault replaces one step of a golden operation; everything else of it stays as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from golden.formats import FP32, Cls, Format
from golden.operations import FTZAddMul, Operation
from golden.operations.ftz_addmul import flush_result
from golden.operations.ftz_addmul import flushed_add as golden_flushed_add
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA
from golden.rounding import Mode, shift_and_round
from golden.steps import Term, addend, align, dropped_bits, exact_sum

Round = Callable[[int, int, int, bool], int]
"""(magnitude, bits that go, bits that a result keeps, negative) to the magnitude that is left."""


def faulty(operation: Operation, **steps: Any) -> Operation:
    """The operation with some of its steps replaced."""
    replaced = type(f"Faulty{type(operation).__name__}", (type(operation),), steps)
    made: Operation = replaced(**{field.name: getattr(operation, field.name) for field in fields(operation)})
    return made


def faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    """Every fault of an operation, with its name."""
    yield from _rounding_faults(operation)
    yield from _sum_faults(operation)
    if isinstance(operation, TruncatedFDPA):
        yield from _alignment_faults(operation)
        if operation.sticky:
            yield from _sticky_faults(operation)
    if isinstance(operation, RoundedFDPA):
        yield from _second_sum_faults(operation)


def mode_of(operation: Operation) -> Mode:
    return operation.conversion.mode if isinstance(operation, FusedOperation) else "RNE"


def rounding_format(operation: Operation) -> Format:
    return operation.conversion.rounding_format if isinstance(operation, FusedOperation) else operation.d


def sticky_bits(operation: Operation) -> int:
    """How many bits a sum can have under the half of a result's last place that decide alone."""
    man_bits = rounding_format(operation).man_bits
    if isinstance(operation, TruncatedFDPA):
        return operation.F - man_bits
    if isinstance(operation, RoundedFDPA):
        return operation.F2 - man_bits - 1
    return man_bits if isinstance(operation, FTZAddMul) else 2 * man_bits


def is_up(mode: Mode, odd: bool, half: bool, sticky: bool, negative: bool) -> bool:
    """Whether the magnitude goes up; of RO, whether it becomes odd."""
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
        sticky_mask: which of the others are seen, the highest of them as bit 0.
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


def _rounding_faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    mode, d = mode_of(operation), rounding_format(operation)
    rounds: dict[str, Round] = {}
    if mode != "RZ":
        rounds["sticky lost"] = lambda m, s, w, n: rounded(mode, m, s, n, sticky_mask=0)
        rounds["half lost"] = lambda m, s, w, n: rounded(mode, m, s, n, half_bit=False)
    reach = sticky_bits(operation) if mode != "RZ" else 0
    for place in (place for place in range(reach) if place < 4 or place % 5 == 4):
        rounds[f"sticky without its bit {place}"] = lambda m, s, w, n, p=place: rounded(mode, m, s, n, sticky_mask=~(1 << p))
    for width in (width for width in (1, 2, 4, 8, 16, 32) if width < reach):
        rounds[f"sticky of {width} bits"] = lambda m, s, w, n, p=width: rounded(mode, m, s, n, sticky_mask=(1 << p) - 1)
    for bits in range(1, d.man_bits + 2):
        if mode not in ("RO", "RZ"):
            rounds[f"carry of rounding lost at {bits}"] = lambda m, s, w, n, b=bits: rounded(mode, m, s, n, up=carry_lost(b))
    for other in ("RZ", "RNE", "RD", "RU", "RO", "RNA"):
        if other != mode:
            rounds[f"{other} for {mode}"] = lambda m, s, w, n, o=other: rounded(o, m, s, n)
    if mode in ("RD", "RU"):
        rounds["direction without the sign"] = lambda m, s, w, n: rounded(mode, m, s, False)
    for name, choice in rounds.items():
        yield name, with_rounding(operation, choice)
    if not isinstance(operation, FTZAddMul) and not operation.flush_results:  # type: ignore[attr-defined]
        short = {"subnormals": lambda top, _: top < d.e_min, "the largest subnormals": lambda top, _: top == d.e_min - 1}
        for which, where in short.items():
            yield f"{which} one bit too short", with_rounding(operation, correct(mode), where)
    yield "largest binade one bit too short", with_rounding(operation, correct(mode), lambda top, _: top == d.e_max)


def correct(mode: Mode) -> Round:
    return lambda m, s, w, n: rounded(mode, m, s, n)


def with_rounding(
    operation: Operation, choice: Round, short: Callable[[int, int], bool] = lambda top, length: False
) -> Operation:
    """The operation with another rounding.

    Args:
        short: (exponent of the leading bit, bits of the total) to whether one bit less is kept.
    """
    d = rounding_format(operation)

    def code(total: int, exp: int, encode: Callable[[int, int], int]) -> int:
        if not total:
            return encode(total, exp)
        length = abs(total).bit_length()
        lsb = d.last_bit(total, exp) + short(length - 1 + exp, length)
        kept = choice(abs(total), lsb - exp, d.man_bits, total < 0)
        if kept == 0:
            return d.negative_zero if total < 0 else 0
        return encode(-kept if total < 0 else kept, lsb)

    if isinstance(operation, FusedOperation):
        flush, overflow = operation.flush_results, operation.overflow

        def converted(self: Any, total: int, exp: int) -> int:
            return code(total, exp, lambda v, e: d.encode_scaled(v, e, mode_of(operation), overflow, flush))

        return faulty(operation, converted=converted)

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

    return faulty(operation, rounded_sum=staticmethod(rounded_sum), flushed_add=staticmethod(flushed_add))


def without_carry(x: int, y: int, bit: int) -> int:
    """x + y, the carry into `bit` lost."""
    mask = (1 << bit) - 1
    return (((x >> bit) + (y >> bit)) << bit) + ((x & mask) + (y & mask) & mask)


def _sum_faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    """Of the one adder that takes the last addend, c, and of negative addends."""
    adders: dict[str, Callable[[Sequence[int], int], int]] = {
        "negative total one off": lambda parts, top: sum(parts) - (sum(parts) < 0),
        "last addend one off where it is negative": lambda parts, top: sum(parts) - (parts[-1] < 0),
        "first addend one off where it is negative": lambda parts, top: sum(parts) - (parts[0] < 0),
    }
    for below in range(-2, rounding_format(operation).man_bits - 1):

        def adder(parts: Sequence[int], top: int, below: int = below) -> int:
            return without_carry(sum(parts[:-1]), parts[-1], max(top - below, 0))

        adders[f"carry lost {below} below the largest term"] = adder
    for name, adder in adders.items():
        yield name, with_adder(operation, adder)
    for window in (2, 3, 4, 8):
        for keeps in (False, True):
            exact = not isinstance(operation, (TruncatedFDPA, RoundedFDPA))
            if exact and not (keeps and isinstance(operation, FTZAddMul)):
                yield from _window_faults(operation, window, keeps)


def with_adder(operation: Operation, adder: Callable[[Sequence[int], int], int]) -> Operation:
    """The operation with another adder: (addends, place of the leading bit of the largest) to their sum."""

    def total_of(parts: Sequence[int]) -> int:
        return adder(parts, max(abs(part).bit_length() for part in parts))

    if isinstance(operation, (TruncatedFDPA, RoundedFDPA)):
        return faulty(operation, accumulate=staticmethod(lambda aligned: total_of(list(aligned))))

    def summed(terms: Sequence[Term]) -> tuple[int, int]:
        lsb = min(term.exp - term.frac for term in terms)
        return total_of([align(term, lsb, 0, "RZ") for term in terms]), lsb

    return with_exact_sum(operation, summed)


def with_exact_sum(operation: Operation, summed: Callable[[Sequence[Term]], tuple[int, int]]) -> Operation:
    if isinstance(operation, FTZAddMul):

        def rounded_sum(terms: Sequence[Term], d: Format, negative_zero: bool) -> int:
            total, lsb = summed(terms)
            return d.encode_scaled(total, lsb, "RNE") if total else d.negative_zero if negative_zero else 0

        return with_rounded_sum(operation, rounded_sum)
    return faulty(operation, exact_sum=staticmethod(summed))


def _window_faults(operation: Operation, window: int, keeps: bool) -> Iterator[tuple[str, Operation]]:
    """Bits of one term that lie too far below the largest term are lost, or kept as one bit that is too high."""
    man_bits = rounding_format(operation).man_bits
    last = 0 if isinstance(operation, FTZAddMul) else operation.length - 1
    for place in sorted({0, last, -1}):

        def summed(terms: Sequence[Term], place: int = place) -> tuple[int, int]:
            lsb = min(term.exp - term.frac for term in terms)
            parts = [align(term, lsb, 0, "RZ") for term in terms]
            end = max(max(abs(part).bit_length() for part in parts) - man_bits - window, 0)
            if place < len(parts):
                kept = abs(parts[place]) >> end
                lost = abs(parts[place]) != kept << end
                kept = (kept | (keeps and lost)) << end
                parts[place] = -kept if parts[place] < 0 else kept
            return sum(parts), lsb

        what = "jammed" if keeps else "lost"
        yield f"bits of term {place} {what} {window} below a result's last", with_exact_sum(operation, summed)


def with_align(operation: Operation, change: Callable[[int, int, Term, int, int, Mode], int]) -> Operation:
    """The operation with another alignment: (number of the term, of how many, term, e_max, F, truncation) to the aligned
    term."""
    seen: list[Term] = []

    def max_exp(terms: Iterable[Term]) -> int:
        seen[:] = terms
        return max(term.exp for term in seen)

    def changed(term: Term, e_max: int, F: int, mode: Mode) -> int:
        number = next(number for number, other in enumerate(seen) if other is term)
        return change(number, len(seen), term, e_max, F, mode)

    return faulty(operation, max_exp=staticmethod(max_exp), align=staticmethod(changed))


def _alignment_faults(operation: TruncatedFDPA) -> Iterator[tuple[str, Operation]]:
    def finer(term: Term, e_max: int, F: int, mode: Mode) -> int:
        return align(term, e_max, F - 1, mode) << 1

    others: dict[str, Callable[[Term, int, int, Mode], int]] = {"one bit too short": finer}
    for other in ("RZ", "RD", "RU", "RNE", "RO"):
        if other != operation.truncation:
            others[other] = lambda term, e_max, F, mode, other=other: align(term, e_max, F, other)
    for bits in (5, 6) if operation.c.exp_bits == 8 else (5,):
        others[f"shift modulo {1 << bits}"] = lambda term, e_max, F, mode, bits=bits: shift_and_round(
            term.sig, term.frac - F + (e_max - term.exp) % (1 << bits), mode
        )
    for name, other_align in others.items():
        for place in ("first", "last product", "c"):

            def change(
                number: int,
                count: int,
                term: Term,
                e_max: int,
                F: int,
                mode: Mode,
                place: str = place,
                other: Any = other_align,
            ) -> int:
                where = {"first": 0, "last product": max(count - 2, 0), "c": count - 1}[place]
                return other(term, e_max, F, mode) if number == where else align(term, e_max, F, mode)

            yield f"alignment of {place}: {name}", with_align(operation, change)


def _sticky_faults(operation: TruncatedFDPA) -> Iterator[tuple[str, Operation]]:
    """What alignment cuts off one term is forgotten."""
    for name, place in {"the first product": 0, "the last product": -2, "c": -1}.items():

        def max_exp(terms: list[Term], place: int = place) -> int:
            e_max = max(term.exp for term in terms)
            term = terms[place]
            dropped = max(dropped_bits(term, e_max, operation.F), 0)
            terms[place] = term._replace(sig=shift_and_round(term.sig, dropped, operation.truncation) << dropped)
            return e_max

        yield f"sticky of {name} lost", faulty(operation, max_exp=staticmethod(max_exp))


def _second_sum_faults(operation: RoundedFDPA) -> Iterator[tuple[str, Operation]]:
    changes: dict[str, dict[str, Any]] = {
        f"{key}{by:+}": {key: getattr(operation, key) + by} for key in ("F", "F2") for by in (-1, 1)
    }
    for name, keys in changes.items():
        yield name, operation.changed(**keys)

    def align_with(which: str, mode: Mode) -> Any:
        def changed(term: Term, e_max: int, F: int, given: Mode) -> int:
            is_c = term.frac == operation.c.man_bits
            is_t = term.frac == operation.F and not is_c
            return align(term, e_max, F, mode if (is_c if which == "c" else is_t) else given)

        return staticmethod(changed)

    for which in ("c", "the dot product"):
        yield f"{which} cut toward zero", faulty(operation, align=align_with(which, "RZ"))

    def truncate(self: Any, total: int, lsb: int) -> tuple[int, int]:
        e_norm = max(abs(total).bit_length() - 1 + lsb, operation.c.e_min)
        return shift_and_round(total, e_norm - operation.F2 - lsb, "RZ"), e_norm - operation.F2

    yield "normalised sum cut toward zero", faulty(operation, truncate=truncate)
