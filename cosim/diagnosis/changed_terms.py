"""Changes of the terms and of their common exponent: decode, multiply, max_exp and align."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cosim.diagnosis.changed_model import Change, Model, stepped
from golden import Cls, Decoded, Operation, steps
from golden.operations.fused import FusedOperation
from golden.operations.structure import Product
from golden.operations.t_fdpa import TruncatedFDPA
from golden.rounding import Mode, shift_and_round
from golden.specials import Special, combine
from golden.steps import Term

WORD = 64
"""Width of an integer in which a hand-written design may hold an aligned term (bits)."""

WRAPS = (8, 16, 32, 64, 128, 256)
"""Distances at which a shifter that is too short wraps around (places)."""


def largest_exponent(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    """One term is missing in the search for the largest exponent. Its left shift may overflow a word of the design."""
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


def shifts(model: Model) -> Iterator[Change]:
    """Alignment by another distance."""

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


def zero_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
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


def product_overflow(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
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
    yield stepped(model, words, special=special)


def missing_terms(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    """One term is missing in the sum and in e_max, while its NaN or infinity still counts."""
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


def decoding(model: Model) -> Iterator[Change]:
    """Subnormals at the exponent of a stored 0."""

    def lowered(x: Decoded) -> Decoded:
        return x._replace(exp=x.exp - 1) if x.cls is Cls.SUBNORMAL else x

    for names in (("a", "b"), ("a",), ("b",), ("c",)):

        def decoded(
            self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int, names: Sequence[str] = names
        ) -> tuple[list[Decoded], list[Decoded], Decoded]:
            x, y, z = FusedOperation.decoded(self, a, b, c)
            return (
                list(map(lowered, x)) if "a" in names else x,
                list(map(lowered, y)) if "b" in names else y,
                lowered(z) if "c" in names else z,
            )

        yield stepped(model, f"the exponent of a subnormal {' or '.join(names)} is one too small", decoded=decoded)


def products(model: Model, operation: FusedOperation) -> Iterator[Change]:
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
        z = self.d.decode(FusedOperation.converted(self, product.sig, product.exp - frac))
        return product if z.cls is Cls.INFINITY else steps.addend(z, self.d, zero_exp)

    if operation.structure.is_aligned:
        yield stepped(model, "a product of 2 or more is renormalised before alignment", multiply=renormalised)
        words = "a product of 2 or more is renormalised before alignment, and loses its last bit"
        yield stepped(model, words, multiply=shortened)
        yield stepped(model, "products are normalised before alignment, subnormals too", multiply=normalised)
    if operation.product_frac + 1 > operation.d.man_bits:  # else they fit
        yield stepped(model, f"products are rounded to {operation.d} before they are added", multiply=rounded)
