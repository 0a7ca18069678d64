"""Changes of a step of the operation: golden's model with another function in the place of one of its own.

The reference engine computes them, a row in some ten microseconds, so `diagnose` tries them on few rows first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from cosim.diagnosis.model import Change, Codes, Model, Rows
from golden import Cls, Decoded, Operation, steps
from golden.chain import Chain
from golden.engines import Batch, run
from golden.operations import EFDPA, FMA, GSTFDPA, TFDPA, FTZAddMul
from golden.operations.base import EXPONENT_LIMIT
from golden.operations.fused import FusedOperation
from golden.operations.ieee import add
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA
from golden.rounding import Mode, shift_and_round
from golden.specials import Special, combine, product_special, quiet_nan
from golden.steps import Term

WORD = 64
"""Width of an integer in which a hand-written design may hold an aligned term (bits)."""

WRAPS = (8, 16, 32, 64, 128, 256)
"""Distances at which a shifter that is too short may begin again (places)."""

GUARDS = 8
"""How many bits above F an accumulator that is too narrow may have."""


def step_changes(model: Model) -> Iterator[Change]:
    """Every change of a step that is tried."""
    operation = model.operation
    if isinstance(operation, FusedOperation):
        yield from _decoding(model)
        yield from _products(model, operation)
        yield from _rounding(model, operation)
        yield from _addend_last(model)
    if isinstance(operation, TruncatedFDPA):
        yield from _largest_exponent(model, operation)
        yield from _shifts(model)
        yield from _zero_terms(model, operation)
        yield from _product_overflow(model, operation)
        yield from _missing_terms(model, operation)
        yield from _accumulators(model, operation)
    if isinstance(operation, RoundedFDPA):
        yield from _two_steps(model, operation)
    if isinstance(operation, EFDPA):
        yield from _truncated_terms(model, operation)
    if isinstance(operation, FTZAddMul):
        yield from _flushing(model)


def _stepped(model: Model, words: str, **replaced: Callable[..., Any]) -> Change:
    """A change of some steps; each is called as a method."""
    other = model.with_operation(model.operation.with_steps(**replaced))
    return Change(words, lambda rows: other.results(rows, "reference"))


# Terms, and the exponent that they are aligned to


def _largest_exponent(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    """One term that is left out when the largest exponent is looked for. Shifted left it may leave a word of the design."""
    names = _products_of(operation)
    count = len(names)
    for place, name in (*enumerate(names), (count, "c")):
        if count == 1 and place == 0:
            continue
        without = lambda self, terms, place=place: steps.max_exp([*terms[:place], *terms[place + 1 :]])  # noqa: E731
        yield _stepped(model, f"e_max leaves out {name}", max_exp=without)
        words = f"e_max leaves out {name}, and a term shifted left loses what is above {WORD} bits"
        yield _stepped(model, words, max_exp=without, align=_align_in_a_word, accumulate=_sum_in_a_word)
    floor = lambda self, terms: max(self.e_zero, steps.max_exp(terms))  # noqa: E731
    yield _stepped(model, "e_max is never below e_zero, also where no term is zero", max_exp=floor)
    yield _stepped(model, "e_max is that of c alone", max_exp=lambda self, terms: terms[-1].exp)


def _align_in_a_word(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
    shift = e_max - term.exp + term.frac - F
    magnitude = 0 if abs(shift) >= WORD else shift_and_round(abs(term.sig), shift, "RZ") & (1 << WORD) - 1
    return -magnitude if term.sig < 0 else magnitude


def _shifts(model: Model) -> Iterator[Change]:
    """Alignment by another distance."""

    def farther(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
        return steps.align(term, e_max + 1, F, mode)

    def nearer(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
        return steps.align(term, e_max - 1, F, mode)

    yield _stepped(model, "alignment shifts every term one place too far", align=farther)
    yield _stepped(model, "alignment shifts every term one place too little", align=nearer)
    for places in WRAPS:

        def wrapping(self: Operation, term: Term, e_max: int, F: int, mode: Mode, places: int = places) -> int:
            return steps.align(term._replace(exp=e_max - (e_max - term.exp) % places), e_max, F, mode)

        yield _stepped(model, f"alignment shifts by the distance modulo {places}", align=wrapping)


def _sum_in_a_word(self: Operation, aligned: Iterable[int]) -> int:
    half = 1 << (WORD - 1)
    return (steps.accumulate(aligned) + half) % (2 * half) - half


def _zero_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    def product(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        return steps.multiply(x, y, frac, x.exp + y.exp)

    yield _stepped(model, "a zero product keeps the exponents of its factors, not e_zero", multiply=product)
    yield _stepped(
        model, "a zero c keeps its exponent, not e_zero", addend=lambda self, z, c, zero_exp: steps.addend(z, c, c.e_min)
    )
    if isinstance(operation, GSTFDPA):

        def group(self: GSTFDPA, pairs: Any, alpha: Decoded, beta: Decoded) -> Term:
            term = GSTFDPA.group_term(self, pairs, alpha, beta)
            return term if term.sig else term._replace(exp=self.e_zero)

        yield _stepped(model, "a group whose products cancel has exponent e_zero", group_term=group)


def _product_overflow(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    """A product too large for d by itself."""
    exact = type(operation).special

    def special(
        self: TruncatedFDPA, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, *scales: Sequence[Decoded]
    ) -> Special | None:
        terms = [steps.multiply(p, q, self.product_frac, 0) for p, q in zip(x, y, strict=True)]
        lead = self.product_frac + self.d.e_max + 1
        large = [int(t.sig < 0) for t in terms if abs(t.sig).bit_length() + t.exp > lead]
        return combine([exact(self, x, y, z, scales[0], scales[1]), *large])  # type: ignore[list-item]

    words = f"a product beyond the largest finite {operation.d} is an infinity"
    yield _stepped(model, words, special=special)


def _missing_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    """One term that is left out of the sum and of e_max, though its NaN or infinity counts."""
    exact = type(operation).terms

    def without(place: int) -> Callable[..., list[Term]]:
        def terms(self: TruncatedFDPA, *vectors: Sequence[Decoded]) -> list[Term]:
            found = exact(self, *vectors)
            found[place] = Term(0, self.e_zero, 0)
            return found

        return terms

    for place, name in enumerate(_products_of(operation)):
        yield _stepped(model, f"{name} is left out of the sum, its NaN and infinity are not", terms=without(place))
    nothing = staticmethod(lambda z, c, zero_exp: Term(0, zero_exp, 0))
    yield _stepped(model, "c is left out of the sum, its NaN and infinity are not", addend=nothing)


def _products_of(operation: TruncatedFDPA) -> list[str]:
    """The terms that meet c, in words."""
    if isinstance(operation, GSTFDPA):
        return [f"group {n}" for n in range(operation.length // operation.G)]
    return [f"product {n}" for n in range(operation.length)]


def _decoding(model: Model) -> Iterator[Change]:
    """Subnormals at the exponent that their stored 0 would have."""

    def lowered(x: Decoded) -> Decoded:
        return x._replace(exp=x.exp - 1) if x.cls is Cls.SUBNORMAL else x

    def operands(self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int) -> Any:
        x, y, z = FusedOperation.decoded(self, a, b, c)
        return list(map(lowered, x)), list(map(lowered, y)), z

    def addend(self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int) -> Any:
        x, y, z = FusedOperation.decoded(self, a, b, c)
        return x, y, lowered(z)

    yield _stepped(model, "the exponent of a subnormal a or b is one too small", decoded=operands)
    yield _stepped(model, "the exponent of a subnormal c is one too small", decoded=addend)


def _products(model: Model, operation: FusedOperation) -> Iterator[Change]:
    def renormalised(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        product = steps.multiply(x, y, frac, zero_exp)
        above = abs(product.sig).bit_length() - 1 - frac
        return product._replace(exp=product.exp + above, frac=frac + above) if above > 0 else product

    def shortened(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        product = renormalised(self, x, y, frac, zero_exp)
        sig = shift_and_round(product.sig, product.frac - frac, "RZ")
        return Term(sig, product.exp, frac)

    def normalised(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        product = steps.multiply(x, y, frac, zero_exp)
        above = abs(product.sig).bit_length() - 1 - frac
        return product._replace(exp=product.exp + above, frac=frac + above) if product.sig else product

    def rounded(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        product = steps.multiply(x, y, frac, zero_exp)
        assert isinstance(self, FusedOperation)
        z = self.d.decode(FusedOperation.converted(self, product.sig, product.exp - frac))
        return product if z.cls is Cls.INFINITY else steps.addend(z, self.d, zero_exp)

    if not isinstance(operation, (EFDPA, FMA)):
        yield _stepped(model, "a product of 2 or more is renormalised before alignment", multiply=renormalised)
        words = "a product of 2 or more is renormalised before alignment, and loses its last bit"
        yield _stepped(model, words, multiply=shortened)
        yield _stepped(model, "products are normalised before alignment, subnormals too", multiply=normalised)
    if operation.product_frac + 1 > operation.d.man_bits:  # else they fit
        yield _stepped(model, f"products are rounded to {operation.d} before they are added", multiply=rounded)


# The sum and its rounding


def _accumulators(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    for bits in range(operation.F + 1, operation.F + 1 + GUARDS):

        def wrapped(self: Operation, aligned: Any, bits: int = bits) -> int:
            half = 1 << bits
            return (steps.accumulate(aligned) + half) % (2 * half) - half

        yield _stepped(
            model,
            f"the accumulator has {bits - operation.F} bits above its fraction and a sign, and wraps",
            accumulate=wrapped,
        )

    def keeps_its_sign(rows: Rows) -> Codes:
        seen: list[int] = []

        def noted(self: FusedOperation, total: int, lsb: int) -> int:
            seen.append(FusedOperation.converted(self, total, lsb))
            return seen[-1]

        chain = model.with_operation(operation.with_steps(converted=noted))
        found = []
        for row in range(len(rows)):
            seen.clear()
            d = int(chain.results(rows.of(slice(row, row + 1)), "reference")[0])
            found.append(seen[-1] if d == 0 and seen else d)
        return np.array(found, rows.expected.dtype)

    yield Change("a negative result that rounds to zero is -0", keeps_its_sign)


def _rounding(model: Model, operation: FusedOperation) -> Iterator[Change]:
    rounded = operation.conversion.rounding_format

    def without_sticky(self: FusedOperation, total: int, lsb: int) -> int:
        guard = rounded.last_bit(total, lsb) - 1
        if total and guard > lsb:
            return FusedOperation.converted(self, shift_and_round(total, guard - lsb, "RZ"), guard)
        return FusedOperation.converted(self, total, lsb)

    def without_carry(self: FusedOperation, total: int, lsb: int) -> int:
        code = FusedOperation.converted(self, total, lsb)
        last = rounded.last_bit(total, lsb)
        carried = total and abs(shift_and_round(total, last - lsb, self.conversion.mode)) >> (rounded.man_bits + 1)
        return code - (1 << self.d.man_bits) if carried else code

    yield _stepped(model, "rounding does not see what lies below its guard bit", converted=without_sticky)
    yield _stepped(model, "a carry out of rounding is lost", converted=without_carry)


def _addend_last(model: Model) -> Iterator[Change]:
    """The products summed and rounded from zero, then c added to that in one more rounding."""
    operation, d = model.operation, model.operation.d
    if not isinstance(operation, FusedOperation) or operation.c is not d or not isinstance(model.chain, Chain):
        return
    keys: dict[str, Any] = {key: getattr(operation, key) for key in FusedOperation.own_keys}
    rho = operation.conversion.name if operation.conversion.rounding_format is d else None
    addition = Chain(FMA(a=d, b=d, c=d, rho=rho, **keys))  # times one

    def results(rows: Rows) -> Codes:
        sums = model.results(replace(rows, c=rows.c * 0))[:, None]
        return run(None, addition, Batch(sums, np.full_like(sums, d.encode(1)), rows.c))

    yield Change("c is added after the sum of the products has been rounded", results)


def _truncated_terms(model: Model, operation: EFDPA) -> Iterator[Change]:
    keys: dict[str, Any] = {f.name: getattr(operation, f.name) for f in fields(operation)}
    for F in range(operation.d.man_bits, operation.d.man_bits + 16):
        other = replace(model, chain=Chain(TFDPA(**keys, F=F, e_zero=-EXPONENT_LIMIT)))
        yield Change(f"terms are cut to {F} fraction bits at the largest exponent", other.results)


def _two_steps(model: Model, operation: RoundedFDPA) -> Iterator[Change]:
    def two_terms(self: Operation, terms: Sequence[Term], place: int) -> int:
        return terms[place].exp if len(terms) == 2 else steps.max_exp(terms)

    yield _stepped(model, "e_out leaves out c", max_exp=lambda self, terms: two_terms(self, terms, 0))
    yield _stepped(model, "e_out leaves out T", max_exp=lambda self, terms: two_terms(self, terms, 1))
    yield _stepped(model, "the sum with c is not cut to F2 bits", truncate=lambda self, total, lsb: (total, lsb))
    yield _stepped(model, "c counts however small it is", drops_c=lambda self, c_exp, e_out: False)
    yield _stepped(
        model, "c counts as 0 where it is far below e_out", drops_c=lambda self, c_exp, e_out: c_exp < e_out - self.F - 1
    )
    yield _stepped(
        model, "a product of 2^128 or more is not an infinity", product_special=lambda self, x, y: product_special(x, y)
    )
    rounded_down = lambda self, term, e, F, mode: steps.align(term, e, F, "RD")  # noqa: E731
    yield _stepped(model, "products are cut toward minus infinity, not toward zero", align=rounded_down)
    yield _stepped(
        model,
        "T and c are cut toward zero at e_out, their sum toward minus infinity",
        align=lambda self, term, e, F, mode: steps.align(term, e, F, "RZ"),
    )


def _flushing(model: Model) -> Iterator[Change]:
    def unflushed_add(self: FTZAddMul, x: int, y: int) -> int:
        return add(x, y, self.d, quiet_nan(self.d))

    yield _stepped(model, "sums are not flushed", flushed_add=unflushed_add)
