"""Models with one fault each: a lost sticky bit, a wrong tie, a dropped carry.

A fault replaces one step of a golden operation; all other steps are unchanged.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from golden.arithmetic.formats import Cls, Decoded
from golden.arithmetic.rounding import MODES, Mode, shift_and_round
from golden.arithmetic.specials import NAN, addend_special, combine, factor_nan, first_nan, invalid_nan, product_special
from golden.arithmetic.steps import Term, align, dropped_bits, raised
from golden.operations import Operation
from golden.operations.ieee import is_zero_negative
from golden.variants.faulty_steps import (
    Align,
    Round,
    aligned_in,
    carry_into_last_addend_lost,
    carry_lost,
    correct,
    one_bit_short,
    rounded,
    rounding_of,
    with_adder,
    with_align,
    with_exact_sum,
    with_rounding,
    with_short_shift,
)
from golden.variants.processor_faults import flushed_faults, integer_faults
from golden.variants.variant import Model, Rows, Variant, of_model


def headroom_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    """Faults of the products' exponents, of alignment, of the frame or of the dropped c, and of NaNs."""
    yield "products of 2 and more count one exponent higher", operation.with_steps(raised=staticmethod(_normalised))
    for name, change in _alignments(operation).items():
        yield name, operation.with_steps(align=staticmethod(change))
    if operation.structure.last.in_frame:
        for name, in_frame in _FRAMES.items():
            yield name, operation.with_steps(in_frame=staticmethod(in_frame))
        yield "zeros are not inverted", operation.with_steps(in_frame=staticmethod(_zeros_kept))
    else:
        for name, dropped in _DROPS.items():
            if name != "c dropped by its magnitude" or _cuts_subnormal_c(operation):
                yield name, _with_drop(operation, dropped)
    for name, special in _SPECIALS.items():
        yield name, operation.with_steps(special=special)


# 1. exponents and alignment


def _normalised(product: Term, h: int) -> Term:
    term = raised(product, h)
    is_high = abs(product.sig) >= 2 << product.frac
    return term._replace(exp=term.exp + 1, frac=term.frac + 1) if is_high else term


def _alignments(operation: Any) -> dict[str, Align]:
    """Wrong alignments of c, or of all products (in PS-FDPA of both their alignments), by name."""
    own = operation.structure.last.truncation
    others: dict[str, Align] = {"one bit too short": one_bit_short}
    others |= {f"in {mode}": partial(aligned_in, mode) for mode in ("RZ", "RD", "RU", "RNE") if mode != own}
    a, b, c = operation.a, operation.b, operation.c
    span = max(a.e_max + b.e_max + operation.h, c.e_max) - min(a.e_min + b.e_min + operation.h, c.e_min)
    short = (bits for bits in (5, 6) if span >= 1 << bits)  # no shift is longer than the span
    others |= {f"by a shift modulo {1 << bits}": partial(with_short_shift, bits) for bits in short}
    found: dict[str, Align] = {}
    # In PS-FDPA a c whose shift exceeds F counts as 0: a shift amount that holds F suits every other one.
    suits_c = {f"by a shift modulo {1 << bits}" for bits in (5, 6) if 1 << bits > operation.F and own == "RD"}
    for name, other in others.items():
        for of_c in (False, True):
            if of_c and name in suits_c:
                continue

            def change(term: Term, e_max: int, F: int, mode: Mode, other: Align = other, of_c: bool = of_c) -> int:
                is_c = term.frac == operation.c.man_bits
                return (other if is_c == of_c else align)(term, e_max, F, mode)

            found[f"alignment of {'c' if of_c else 'products'} {name}"] = change
    return found


# 2. the frame of OC-FDPA


_FRAMES: dict[str, Callable[[int, bool], int]] = {
    "negated, not inverted": lambda aligned, opposite: -abs(aligned) if opposite else abs(aligned),
    "inverted in the frame +": lambda aligned, opposite: ~abs(aligned) if aligned < 0 else abs(aligned),
    "one too much where inverted": lambda aligned, opposite: ~abs(aligned) - 1 if opposite else abs(aligned),
    "never inverted": lambda aligned, opposite: abs(aligned),
}


def _zeros_kept(aligned: int, opposite: bool) -> int:
    return ~abs(aligned) if opposite and aligned else abs(aligned)


# 3. the c of PS-FDPA that lies below the grid

_DROPS: dict[str, Callable[[Term, int], bool]] = {
    "c never dropped": lambda c, grid: False,
    "c dropped one exponent lower": lambda c, grid: c.exp < grid - 1,
    "c dropped one exponent higher": lambda c, grid: c.exp < grid + 1,
    "c dropped by its magnitude": lambda c, grid: shift_and_round(abs(c.sig), grid - c.exp + c.frac, "RZ") == 0,
}


def _cuts_subnormal_c(operation: Any) -> bool:
    """Whether the grid's unit can lie between the last bit of a subnormal c and the exponent that counts for it, that of the
    smallest normal number."""
    a, b, c = operation.a, operation.b, operation.c
    highest = c.e_min + operation.F  # of e_max
    reached = range(a.e_min + b.e_min + operation.h, a.e_max + b.e_max + operation.h + 1)
    above = range(highest - c.man_bits + 1, highest + 1)
    return any(e_max in above for e_max in (*reached, operation.e_zero, c.e_min))


def _with_drop(operation: Any, dropped: Callable[[Term, int], bool]) -> Operation:
    """The operation with another rule for a c below the grid: (c, exponent of the grid's unit) to whether it counts as 0."""
    last: list[Term] = []

    def max_exp(terms: Iterable[Term]) -> int:
        last[:] = terms
        return max(term.exp for term in last)

    def aligned(term: Term, e_max: int, F: int, mode: Mode) -> int:
        c = last[-1]
        if term.frac != operation.c.man_bits or c.frac != operation.c.man_bits:
            return align(term, e_max, F, mode)
        return 0 if dropped(c, e_max - F) else align(c, e_max, F, mode)

    made: Operation = operation.with_steps(max_exp=staticmethod(max_exp), align=staticmethod(aligned))
    return made


# 4. NaN


def _causes(self: Any, x: Sequence[Decoded], y: Sequence[Decoded], c: int) -> dict[str, int | None]:
    """The NaN code of each cause that applies, by the cause's name."""
    pairs = [(p, q) for p, q in zip(x, y, strict=True) if Cls.NAN not in (p.cls, q.cls)]
    return {
        "factor": factor_nan(self.d) if len(pairs) < len(x) else None,
        "invalid": invalid_nan(self.d) if combine(product_special(p, q) for p, q in pairs) == NAN else None,
        "c": first_nan((c,), self.d),
    }


def _own(operation: Any) -> Any:
    """The class whose step a fault replaces."""
    return type(operation).__mro__[1]


def _in_order(*order: str) -> Any:
    """The method `special` with the causes in that order."""

    def special(self: Any, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, c: int) -> int | None:
        causes = _causes(self, x, y, c)
        nan = next((causes[cause] for cause in order if causes[cause] is not None), None)
        return _own(self).special(self, x, y, z, c) if nan is None else nan

    return special


def _changed(change: Callable[[Any, int, int], int]) -> Any:
    """The method `special` with another NaN where c is one that the result keeps: (operation, result, c) to the code."""

    def special(self: Any, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, c: int) -> int | None:
        found: int | None = _own(self).special(self, x, y, z, c)
        causes = _causes(self, x, y, c)
        of_c = causes["c"] is not None and causes["factor"] is None and causes["invalid"] is None
        return change(self, int(found or 0), c) if of_c else found

    return special


def _opposite_infinity(self: Any, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, c: int) -> int | None:
    """An infinite c wins against an infinite product."""
    if addend_special(z) in (0, 1) and combine(map(product_special, x, y)) in (0, 1):
        return c
    found: int | None = _own(self).special(self, x, y, z, c)
    return found


_SPECIALS: dict[str, Any] = {
    "NaN c before all": _in_order("c", "factor", "invalid"),
    "NaN c before an invalid product": _in_order("factor", "c", "invalid"),
    "invalid product before a NaN factor": _in_order("invalid", "factor", "c"),
    "NaN c not made quiet": _changed(lambda operation, found, c: c),
    "payload of a NaN c lost": _changed(lambda operation, found, c: invalid_nan(operation.d)),
    "sign of a NaN c lost": _changed(lambda operation, found, c: found & ~operation.d.negative_zero),
    "infinite c before an infinite product": _opposite_infinity,
}


def fault_variants(operation: Operation) -> Iterator[Variant[Rows]]:
    """Every fault of an operation; `Variant.operation` is the operation that has it."""
    for name, changed in _faults(operation):
        yield replace(of_model(name, Model.of(changed, changed.length)), operation=changed)


def _faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    structure = operation.structure
    if structure.widened is not None:
        yield from flushed_faults(operation)
        return
    if structure.is_integer:
        yield from integer_faults(operation)
        return
    yield from _rounding_faults(operation)
    yield from _sum_faults(operation)
    if structure.is_aligned_once:
        yield from _alignment_faults(operation)
        if structure.sticky:
            yield from _sticky_faults(operation)
    if structure.last.cut is not None:
        yield from _second_sum_faults(operation)
    if structure.headroom is not None:
        yield from headroom_faults(operation)
    if structure.is_exact_dot_product and structure.zero == "ieee":
        yield from _zero_faults(operation)


ZERO_SIGNS: dict[str, Callable[[Sequence[int], Mode], bool]] = {
    "follows any term for all, and all for any": lambda signs, mode: all(signs) if mode == "RD" else any(signs),
    "follows c alone": lambda signs, _: bool(signs[-1]),
    "follows the products alone": lambda signs, mode: is_zero_negative(signs[:-1], mode),
    "without the first product": lambda signs, mode: is_zero_negative(signs[1:], mode),
    "without the last product": lambda signs, mode: is_zero_negative([*signs[:-2], signs[-1]], mode),
    "is always negative": lambda *_: True,
    "is that of another mode": lambda signs, mode: is_zero_negative(signs, "RNE" if mode == "RD" else "RD"),
}
"""Wrong rules for the sign of an exact sum of zero; each is a function of the signs of the products and of c (the last) and
of the mode."""


def _zero_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    def with_sign(is_negative: Callable[[Sequence[int], Mode], bool]) -> Any:
        def step(self: Any, a: Sequence[int], b: Sequence[int], c: int, *scales: Sequence[int]) -> int:
            d: int = type(operation).step(self, a, b, c, *scales)
            negative_zero: int = self.d.negative_zero
            x, y, z = self.decoded(a, b, c)
            products = [self.multiply(p, q, self.product_frac, self.product_exp_min) for p, q in zip(x, y, strict=True)]
            if d not in (0, negative_zero) or self.exact_sum([*products, self.addend(z, self.c, self.c.e_min)])[0]:
                return d
            signs = [*(p.sign ^ q.sign for p, q in zip(x, y, strict=True)), z.sign]
            return negative_zero if is_negative(signs, self.conversion.mode) else 0

        return step

    for name, is_negative in ZERO_SIGNS.items():
        yield f"sign of a zero {name}", operation.with_steps(step=with_sign(is_negative))


def sticky_bits(operation: Operation) -> int:
    """The largest number of bits of a sum below half of a result's last place."""
    man_bits, structure = rounding_of(operation).to.man_bits, operation.structure
    if structure.last.cut is not None:
        return structure.last.cut.F - man_bits - 1
    F = structure.last.terms[-1].F
    if F is not None:
        return F - man_bits
    return man_bits if structure.rounds_products else 2 * man_bits


def _rounding_faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    rounding = rounding_of(operation)
    mode, d = rounding.mode, rounding.to
    rounds: dict[str, Round] = {}
    if mode != "RZ":
        rounds["sticky lost"] = partial(rounded, mode, sticky_mask=0)
        rounds["half lost"] = partial(rounded, mode, half_bit=False)
    reach = sticky_bits(operation) if mode != "RZ" else 0
    for place in (place for place in range(reach) if place < 4 or place % 5 == 4):
        rounds[f"sticky without its bit {place}"] = partial(rounded, mode, sticky_mask=~(1 << place))
    for width in (width for width in (1, 2, 4, 8, 16, 32) if width < reach):
        rounds[f"sticky of {width} bits"] = partial(rounded, mode, sticky_mask=(1 << width) - 1)
    for bits in range(1, d.man_bits + 2):
        if mode not in ("RO", "RZ"):
            rounds[f"carry of rounding lost at {bits}"] = partial(rounded, mode, up=carry_lost(bits))
    for other in MODES:
        if other != mode:
            rounds[f"{other} for {mode}"] = partial(rounded, other)
    if mode in ("RD", "RU"):
        rounds["direction without the sign"] = lambda magnitude, shift, negative: rounded(mode, magnitude, shift, False)
    for name, choice in rounds.items():
        yield name, with_rounding(operation, choice)
    if not rounding.flushes:
        short = {"subnormals": lambda top, _: top < d.e_min, "the largest subnormals": lambda top, _: top == d.e_min - 1}
        for which, where in short.items():
            yield f"{which} one bit too short", with_rounding(operation, correct(mode), where)
    yield "largest binade one bit too short", with_rounding(operation, correct(mode), lambda top, _: top == d.e_max)


def _sum_faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    """Faults of the adder that takes the last addend, c, and faults with negative addends."""
    adders: dict[str, Callable[[Sequence[int], int], int]] = {
        "negative total one off": lambda parts, top: sum(parts) - (sum(parts) < 0),
        "last addend one off where it is negative": lambda parts, top: sum(parts) - (parts[-1] < 0),
        "first addend one off where it is negative": lambda parts, top: sum(parts) - (parts[0] < 0),
    }
    if operation.structure.last.in_frame:  # in the sign frame of c, which is never negative there
        del adders["last addend one off where it is negative"]
    for below in range(-2, rounding_of(operation).to.man_bits - 1):
        adders[f"carry lost {below} below the largest term"] = partial(carry_into_last_addend_lost, below)
    for name, adder in adders.items():
        yield name, with_adder(operation, adder)
    for window in (2, 3, 4, 8):
        for keeps in (False, True):
            if not operation.structure.is_aligned and not (keeps and operation.structure.rounds_products):
                yield from _window_faults(operation, window, keeps)


def _window_faults(operation: Operation, window: int, keeps: bool) -> Iterator[tuple[str, Operation]]:
    """Bits of one term that lie too far below the largest term are lost, or replaced by one bit that is too high."""
    man_bits = rounding_of(operation).to.man_bits
    last = 0 if operation.structure.rounds_products else operation.length - 1
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


def _alignment_faults(operation: Operation) -> Iterator[tuple[str, Operation]]:
    others: dict[str, Align] = {"one bit too short": one_bit_short}
    for other in ("RZ", "RD", "RU", "RNE", "RO"):
        if other != operation.structure.last.truncation:
            others[other] = partial(aligned_in, other)
    for bits in (5, 6) if operation.c.exp_bits == 8 else (5,):
        others[f"shift modulo {1 << bits}"] = partial(with_short_shift, bits)
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
                other: Align = other_align,
            ) -> int:
                where = {"first": 0, "last product": max(count - 2, 0), "c": count - 1}[place]
                return other(term, e_max, F, mode) if number == where else align(term, e_max, F, mode)

            yield f"alignment of {place}: {name}", with_align(operation, change)


def _sticky_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    """The bits that alignment cuts off one term are lost without a sticky bit."""
    for name, place in {"the first product": 0, "the last product": -2, "c": -1}.items():

        def max_exp(terms: list[Term], place: int = place) -> int:
            e_max = max(term.exp for term in terms)
            term = terms[place]
            dropped = max(dropped_bits(term, e_max, operation.F), 0)
            terms[place] = term._replace(sig=shift_and_round(term.sig, dropped, operation.truncation) << dropped)
            return e_max

        yield f"sticky of {name} lost", operation.with_steps(max_exp=staticmethod(max_exp))


def _second_sum_faults(operation: Any) -> Iterator[tuple[str, Operation]]:
    changes: dict[str, dict[str, Any]] = {
        f"{key}{by:+}": {key: getattr(operation, key) + by} for key in ("F", "F2") for by in (-1, 1)
    }
    for name, keys in changes.items():
        yield name, operation.changed(**keys)

    def cut_toward_zero(which: str) -> Any:
        def changed(term: Term, e_max: int, F: int, given: Mode) -> int:
            is_c = term.frac == operation.c.man_bits
            is_t = term.frac == operation.F and not is_c
            return align(term, e_max, F, "RZ" if (is_c if which == "c" else is_t) else given)

        return staticmethod(changed)

    for which in ("c", "the dot product"):
        yield f"{which} cut toward zero", operation.with_steps(align=cut_toward_zero(which))

    def truncate(self: Any, total: int, lsb: int) -> tuple[int, int]:
        e_norm = max(abs(total).bit_length() - 1 + lsb, operation.c.e_min)
        return shift_and_round(total, e_norm - operation.F2 - lsb, "RZ"), e_norm - operation.F2

    yield "normalised sum cut toward zero", operation.with_steps(truncate=truncate)
