"""Models of OC-FDPA and PS-FDPA, whose products have headroom, with one fault each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from golden.formats import Cls, Decoded
from golden.operations import Operation
from golden.rounding import Mode, shift_and_round
from golden.specials import NAN, addend_special, combine, factor_nan, first_nan, invalid_nan, product_special
from golden.steps import Term, align, raised
from golden.variants.faulty_steps import Align, aligned_in, one_bit_short, with_short_shift


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
