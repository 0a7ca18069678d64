"""Variants of the steps of an operation: the golden model with one of its step functions replaced.

The reference engine computes them, a row in some ten microseconds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from golden import Cls, Decoded, Operation
from golden.arithmetic import steps
from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arithmetic.specials import Special, combine, quiet_nan, scaled_special
from golden.arithmetic.steps import Term
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.operations import EFDPA, TFDPA, FTZAddMul
from golden.operations.base import EXPONENT_LIMIT
from golden.operations.fused import FusedOperation
from golden.operations.ieee import add
from golden.operations.structure import Product
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA
from golden.variants.float_unit import float_unit_variants
from golden.variants.variant import Codes, Model, Rows, Variant, multiply_add, of_model, stepped


def step_variants(model: Model) -> Iterator[Variant[Rows]]:
    """Every variant of a step that is tried."""
    operation: Any = model.operation
    structure = operation.structure
    if structure.rho is not None:
        yield from decoding(model)
        yield from products(model, operation)
        yield from rounding(model, operation)
        yield from addend_last(model)
        yield from float_unit_variants(model, operation)
    if structure.is_aligned_once:
        yield from largest_exponent(model, operation)
        yield from shifts(model)
        yield from zero_terms(model, operation)
        yield from product_overflow(model, operation)
        yield from missing_terms(model, operation)
        yield from accumulators(model, operation)
    if structure.last.cut is not None:
        yield from two_steps(model, operation)
    if structure.last.in_frame:
        yield from frames(model)
    if structure.is_exact_dot_product:
        yield from truncated_terms(model, operation)
    if structure.rounds_products:
        yield from flushing(model)


WORD = 64
"""Width of an integer in which a hand-written design may hold an aligned term (bits)."""

WRAPS = (8, 16, 32, 64, 128, 256)
"""Distances at which the shift amount of too narrow a shifter wraps around (places)."""


def largest_exponent(model: Model, operation: TruncatedFDPA) -> Iterator[Variant[Rows]]:
    """Variants in which one term is left out of the search for the largest exponent, so that its left shift may overflow a
    word of the design."""
    names = _products_of(operation)
    count = len(names)
    for place, name in (*enumerate(names), (count, "c")):
        if count == 1 and place == 0:
            continue
        without = lambda self, terms, place=place: steps.max_exp([*terms[:place], *terms[place + 1 :]])  # noqa: E731
        yield stepped(model, f"e_max leaves out {name}", max_exp=without)
        words = f"e_max leaves out {name}, and a term shifted left loses what is above {WORD} bits"
        yield stepped(model, words, max_exp=without, align=_align_in_a_word, accumulate=_sum_in_a_word)
    floor = lambda self, terms: max(self.e_zero, steps.max_exp(terms))  # noqa: E731
    yield stepped(model, "e_max is never below e_zero, also where no term is zero", max_exp=floor)
    yield stepped(model, "e_max is that of c alone", max_exp=lambda self, terms: terms[-1].exp)


def _align_in_a_word(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
    shift = e_max - term.exp + term.frac - F
    magnitude = 0 if abs(shift) >= WORD else shift_and_round(abs(term.sig), shift, "RZ") & (1 << WORD) - 1
    return -magnitude if term.sig < 0 else magnitude


def shifts(model: Model) -> Iterator[Variant[Rows]]:
    """Variants that align by another distance."""

    def farther(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
        return steps.align(term, e_max + 1, F, mode)

    def nearer(self: Operation, term: Term, e_max: int, F: int, mode: Mode) -> int:
        return steps.align(term, e_max - 1, F, mode)

    yield stepped(model, "alignment shifts every term one place too far", align=farther)
    yield stepped(model, "alignment shifts every term one place too little", align=nearer)
    for places in WRAPS:

        def wrapping(self: Operation, term: Term, e_max: int, F: int, mode: Mode, places: int = places) -> int:
            return steps.align(term._replace(exp=e_max - (e_max - term.exp) % places), e_max, F, mode)

        yield stepped(model, f"alignment shifts by the distance modulo {places}", align=wrapping)


def _sum_in_a_word(self: Operation, aligned: Iterable[int]) -> int:
    half = 1 << (WORD - 1)
    return (steps.accumulate(aligned) + half) % (2 * half) - half


def zero_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Variant[Rows]]:
    def product(self: Operation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        return steps.multiply(x, y, frac, x.exp + y.exp)

    yield stepped(model, "a zero product keeps the exponents of its factors, not e_zero", multiply=product)
    yield stepped(
        model, "a zero c keeps its exponent, not e_zero", addend=lambda self, z, c, zero_exp: steps.addend(z, c, c.e_min)
    )
    if operation.structure.scales_groups:
        own: Any = type(operation)

        def group(self: Any, pairs: Any, alpha: Decoded, beta: Decoded) -> Term:
            term: Term = own.group_term(self, pairs, alpha, beta)
            return term if term.sig else term._replace(exp=self.e_zero)

        yield stepped(model, "a group whose products cancel has exponent e_zero", group_term=group)


def product_overflow(model: Model, operation: TruncatedFDPA) -> Iterator[Variant[Rows]]:
    """Variants of the result of a product that is too large for d by itself."""
    exact = type(operation).special

    def special(
        self: TruncatedFDPA, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, *scales: Sequence[Decoded]
    ) -> Special | None:
        terms = [steps.multiply(p, q, self.product_frac, 0) for p, q in zip(x, y, strict=True)]
        lead = self.product_frac + self.d.e_max + 1
        large = [int(t.sig < 0) for t in terms if abs(t.sig).bit_length() + t.exp > lead]
        return combine([exact(self, x, y, z, scales[0], scales[1]), *large])  # type: ignore[list-item]

    words = f"a product beyond the largest finite {operation.d} is an infinity"
    yield stepped(model, words, special=special)


def missing_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Variant[Rows]]:
    """Variants in which one term is left out of the sum and of e_max, while its NaN or infinity still counts."""
    exact = type(operation).terms

    def without(place: int) -> Callable[..., list[Term]]:
        def terms(self: TruncatedFDPA, *vectors: Sequence[Decoded]) -> list[Term]:
            found = exact(self, *vectors)
            found[place] = Term(0, self.e_zero, 0)
            return found

        return terms

    for place, name in enumerate(_products_of(operation)):
        yield stepped(model, f"{name} is left out of the sum, its NaN and infinity are not", terms=without(place))
    nothing = staticmethod(lambda z, c, zero_exp: Term(0, zero_exp, 0))
    yield stepped(model, "c is left out of the sum, its NaN and infinity are not", addend=nothing)


def _products_of(operation: TruncatedFDPA) -> list[str]:
    """Descriptions of the terms that are added to c."""
    structure = operation.structure
    *terms, _ = structure.last.nodes
    return [f"product {node.k}" if isinstance(node, Product) else structure.sums[n].total for n, node in enumerate(terms)]


def decoding(model: Model) -> Iterator[Variant[Rows]]:
    """Variants in which subnormals are decoded with a stored exponent of 0."""

    def lowered(x: Decoded) -> Decoded:
        return x._replace(exp=x.exp - 1) if x.cls is Cls.SUBNORMAL else x

    own: Any = type(model.operation)
    for names in (names for names in (("a", "b"), ("a",), ("b",), ("c",)) if set(names) <= set(model.operation.operands)):

        def decoded(
            self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int, names: Sequence[str] = names
        ) -> tuple[list[Decoded], list[Decoded], Decoded]:
            x, y, z = own.decoded(self, a, b, c)
            return (
                list(map(lowered, x)) if "a" in names else x,
                list(map(lowered, y)) if "b" in names else y,
                lowered(z) if "c" in names else z,
            )

        yield stepped(model, f"the exponent of a subnormal {' or '.join(names)} is one too small", decoded=decoded)


def products(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    own = type(operation)

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

    def rounded(self: FusedOperation, x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
        product = steps.multiply(x, y, frac, zero_exp)
        z = self.d.decode(own.converted(self, product.sig, product.exp - frac))
        return product if z.cls is Cls.INFINITY else steps.addend(z, self.d, zero_exp)

    if operation.structure.is_aligned:
        yield stepped(model, "a product of 2 or more is renormalised before alignment", multiply=renormalised)
        words = "a product of 2 or more is renormalised before alignment, and loses its last bit"
        yield stepped(model, words, multiply=shortened)
        yield stepped(model, "products are normalised before alignment, subnormals too", multiply=normalised)
    if operation.product_frac + 1 > operation.d.man_bits:  # else they fit
        yield stepped(model, f"products are rounded to {operation.d} before they are added", multiply=rounded)


GUARDS = 8
"""Largest number of bits above F of an accumulator that is too narrow."""


def accumulators(model: Model, operation: TruncatedFDPA) -> Iterator[Variant[Rows]]:
    for bits in range(operation.F + 1, operation.F + 1 + GUARDS):

        def wrapped(self: Operation, aligned: Any, bits: int = bits) -> int:
            half = 1 << bits
            return (steps.accumulate(aligned) + half) % (2 * half) - half

        yield stepped(
            model,
            f"the accumulator has {bits - operation.F} bits above its fraction and a sign, and wraps",
            accumulate=wrapped,
        )

    def keeps_its_sign(rows: Rows) -> Codes:
        seen: list[int] = []

        def noted(self: FusedOperation, total: int, lsb: int) -> int:
            seen.append(type(operation).converted(self, total, lsb))
            return seen[-1]

        noting = model.with_operation(operation.with_steps(converted=noted))
        found = []
        for row in range(len(rows)):
            seen.clear()
            d = int(noting.results(rows.of(slice(row, row + 1)))[0])
            found.append(seen[-1] if d == 0 and seen else d)
        return np.array(found, rows.expected.dtype)

    yield Variant("a negative result that rounds to zero is -0", keeps_its_sign)


def rounding(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    rounded, own = operation.conversion.rounding_format, type(operation)

    def without_sticky(self: FusedOperation, total: int, lsb: int) -> int:
        guard = rounded.last_bit(total, lsb) - 1
        if total and guard > lsb:
            return own.converted(self, shift_and_round(total, guard - lsb, "RZ"), guard)
        return own.converted(self, total, lsb)

    def without_carry(self: FusedOperation, total: int, lsb: int) -> int:
        code = own.converted(self, total, lsb)
        last = rounded.last_bit(total, lsb)
        carried = total and abs(shift_and_round(total, last - lsb, self.conversion.mode)) >> (rounded.man_bits + 1)
        return code - (1 << self.d.man_bits) if carried else code

    yield stepped(model, "rounding does not see what lies below its guard bit", converted=without_sticky)
    yield stepped(model, "a carry out of rounding is lost", converted=without_carry)


def addend_last(model: Model) -> Iterator[Variant[Rows]]:
    """Variants in which the products are summed and rounded without c, and c is added in a second rounding."""
    operation, d = model.operation, model.operation.d
    conversion = operation.structure.rho
    has_c = "c" in operation.operands and operation.c is d
    if conversion is None or not has_c or model.chain.fp16_order is not None or model.around:
        return
    addition = multiply_add(model, conversion if conversion.rounding_format is d else rounding_to("RNE", d))  # times one

    def results(rows: Rows) -> Codes:
        sums = model.results(replace(rows, c=rows.c * 0))[:, None]
        return run(None, addition, Batch(sums, np.full_like(sums, d.encode(1)), rows.c))

    yield Variant("c is added after the sum of the products has been rounded", results)


def truncated_terms(model: Model, operation: EFDPA) -> Iterator[Variant[Rows]]:
    common = {f.name for f in fields(TFDPA)}
    keys: dict[str, Any] = {f.name: getattr(operation, f.name) for f in fields(operation) if f.name in common}
    for F in range(operation.d.man_bits, operation.d.man_bits + 16):
        other = replace(model, chain=Chain(TFDPA(**keys, F=F, e_zero=-EXPONENT_LIMIT)))
        yield of_model(f"terms are cut to {F} fraction bits at the largest exponent", other)


def two_steps(model: Model, operation: RoundedFDPA) -> Iterator[Variant[Rows]]:
    def two_terms(self: Operation, terms: Sequence[Term], place: int) -> int:
        return terms[place].exp if len(terms) == 2 else steps.max_exp(terms)

    yield stepped(model, "e_out leaves out c", max_exp=lambda self, terms: two_terms(self, terms, 0))
    yield stepped(model, "e_out leaves out T", max_exp=lambda self, terms: two_terms(self, terms, 1))
    yield stepped(model, "the sum with c is not cut to F2 bits", truncate=lambda self, total, lsb: (total, lsb))
    yield stepped(model, "c counts however small it is", drops_c=lambda self, c_exp, e_out: False)
    yield stepped(
        model, "c counts as 0 where it is far below e_out", drops_c=lambda self, c_exp, e_out: c_exp < e_out - self.F - 1
    )
    yield stepped(
        model,
        "a product of 2^128 or more is not an infinity",
        product_special=lambda self, *factors: scaled_special(factors),
    )
    rounded_down = lambda self, term, e, F, mode: steps.align(term, e, F, "RD")  # noqa: E731
    yield stepped(model, "products are cut toward minus infinity, not toward zero", align=rounded_down)
    yield stepped(
        model,
        "T and c are cut toward zero at e_out, their sum toward minus infinity",
        align=lambda self, term, e, F, mode: steps.align(term, e, F, "RZ"),
    )


def frames(model: Model) -> Iterator[Variant[Rows]]:
    negated = lambda self, aligned, opposite: -abs(aligned) if opposite else abs(aligned)  # noqa: E731
    yield stepped(model, "products of the other sign than c are negated, not inverted", in_frame=negated)
    yield stepped(
        model,
        "zero products of the other sign than c count as 0, not as −1",
        in_frame=lambda self, aligned, opposite: steps.in_frame(aligned, opposite and aligned != 0),
    )
    yield stepped(
        model,
        "negative terms are inverted whatever the sign of c",
        in_frame=lambda self, aligned, opposite: steps.in_frame(aligned, aligned < 0),
    )


def flushing(model: Model) -> Iterator[Variant[Rows]]:
    def unflushed_add(self: FTZAddMul, x: int, y: int) -> int:
        return add(x, y, self.d, quiet_nan(self.d))

    yield stepped(model, "sums are not flushed", flushed_add=unflushed_add)
