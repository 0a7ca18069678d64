"""Conversion of the recorded steps of an operation to the records of a trace.

This module does not repeat the operation's arithmetic. It derives only the bits that alignment dropped and the bits that
rounding examined, from the arguments and the result of a recorded step.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from golden import steps
from golden.format import Cls, Decoded, Format
from golden.operations import Operation
from golden.operations.flushed_fma import FlushedFMA
from golden.operations.fused import FusedOperation
from golden.operations.gst_fdpa import GSTFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.idpa import IDPA
from golden.operations.tr_fdpa import NO_PRODUCT_EXP, RoundedFDPA
from golden.rounding import Mode
from golden.specials import NAN, product_special
from golden.specials import Special as SpecialResult
from golden.trace.addition_records import addition_names, addition_parts
from golden.trace.flushed import FlushedParts
from golden.trace.headroom import HeadroomParts
from golden.trace.parts import (
    EventReader,
    class_text,
    exact_sum_record,
    exact_value,
    reasons_of,
    rounded_record,
    rounding_record,
    special_record,
)
from golden.trace.records import Exact, Narrowing, Operand, Part, Rounding, Scaling, Step, Sum
from golden.trace.watch import Event


def step_record(operation: Operation, title: str, products: Sequence[int], events: Sequence[Event]) -> Step:
    """The record of one step of a chain, from its recorded events.

    Args:
        operation: the operation of this step, with its formats.
        title: its number and products, as text.
        products: the indices k of its products.
        events: the events of this step; the step itself is the last.
    """
    *inner, step = events
    arguments = (*step.arguments, (), ())[:5]  # scales may be omitted
    a, b, c, scale_a, scale_b = arguments
    operands = [
        *_operands("a", a, operation.a, products),
        *_operands("b", b, operation.b, products),
        Operand.of("c", c, operation.c),
    ]
    if operation.scale_format is not None:
        operands += _operands("scale_a", scale_a, operation.scale_format, range(len(scale_a)))
        operands += _operands("scale_b", scale_b, operation.scale_format, range(len(scale_b)))
    return Step(
        title=title,
        products=tuple(products),
        operands=tuple(operands),
        parts=tuple(_parts(operation, products, arguments, inner)),
        d=Operand.of("d", step.result, operation.d),
    )


def _parts(operation: Operation, products: Sequence[int], arguments: tuple[Any, ...], events: Sequence[Event]) -> list[Part]:
    if isinstance(operation, FlushedFMA):
        return FlushedParts(operation, products).of(events)
    if isinstance(operation, HeadroomFDPA):
        return HeadroomParts(operation, products).of(events)
    return _Parts(operation, products, arguments).of(events)


def _operands(name: str, codes: Sequence[int], operand: Format, places: Sequence[int]) -> list[Operand]:
    return [Operand.of(f"{name}[{k}]", code, operand) for k, code in zip(places, codes, strict=True)]


class _Parts(EventReader):
    """Reader of the events of one step, which identifies a term by the object that the step passed on."""

    def __init__(self, operation: Operation, products: Sequence[int], arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self._operation, self._products, self._arguments = operation, products, arguments
        self._sums: set[int] = set()  # ids of terms that are sums
        self._seen = 0
        self._groups = 0
        self._open: list[steps.Term] = []
        self._aligned: list[tuple[steps.Term, int, int, Mode, int]] = []
        self._e = 0
        self._rounded_products = 0
        self._additions = addition_names(products)

    def _multiply(self, product: steps.Term, x: Decoded, y: Decoded, *_: Any) -> None:
        k = self._products[self._seen]
        self._seen += 1
        self._names[id(product)] = (f"a[{k}]·b[{k}]", f"{class_text(x)}·{class_text(y)}")

    def _addend(self, term: steps.Term, c: Decoded, *_: Any) -> None:
        self._names[id(term)] = ("c", class_text(c))

    def _scaled(self, term: steps.Term, product: steps.Term, alpha: Decoded, beta: Decoded) -> None:
        name, classes = self._names[id(product)]
        self._names[id(term)] = (name, classes)
        self._scaling(name, exact_value(product), alpha, beta, term)

    def _group_term(self, term: steps.Term, _: Any, alpha: Decoded, beta: Decoded) -> None:
        products = self._parts[-1]
        assert isinstance(products, Sum)
        name = f"group {self._groups}"
        self._groups += 1
        self._names[id(term)] = (name, "")
        if alpha.sig and beta.sig and any(product.sig for product in products.terms):
            self._sums.add(id(term))
        self._scaling(name, products.total, alpha, beta, term)

    def _scaling(self, name: str, before: Exact, alpha: Decoded, beta: Decoded, term: steps.Term) -> None:
        scale = self._operation.scale_format
        assert scale is not None
        factors = [Exact(x.sig, x.exp - scale.man_bits) for x in (alpha, beta)]
        self._parts.append(
            Scaling(name=name, before=before, alpha=factors[0], beta=factors[1], exact=exact_value(term), exp=term.exp)
        )

    def _max_exp(self, e: int, terms: Sequence[steps.Term]) -> None:
        self._open, self._aligned, self._e = list(terms), [], e
        unknown = [term for term in terms if id(term) not in self._names]
        for place, term in enumerate(unknown):
            self._names[id(term)] = (self._name_of_sum(place), "")
            if term.exp != NO_PRODUCT_EXP:
                self._sums.add(id(term))

    def _name_of_sum(self, place: int) -> str:
        """The name of a term of TR- and GTR-FDPA that is a sum: T, or one of the groups, which come first."""
        sums = [part.of for part in self._parts if isinstance(part, Sum)]
        of_groups = self._operation.name == "GTR-FDPA" and "groups" not in sums
        return sums[place] if of_groups else "T"

    def _align(self, aligned: int, term: steps.Term, e_max: int, F: int, mode: Mode) -> None:
        self._aligned.append((term, e_max, F, mode, aligned))

    def _accumulate(self, total: int, _: Any) -> None:
        lsb = min(e_max - F for _, e_max, F, _, _ in self._aligned)
        modes = dict.fromkeys(mode for _, _, _, mode, _ in self._aligned)
        terms = [
            self._term(known, term, Exact(aligned, e_max - F))
            for known, (term, e_max, F, _, aligned) in zip(self._open, self._aligned, strict=True)
        ]
        self._parts.append(
            Sum(
                of=self._subject(),
                exponent=self._exponent(),
                e=self._e,
                set_by=tuple(t.name for t, known in zip(terms, self._open, strict=True) if self._sets(known)),
                truncation=", ".join(modes),
                terms=tuple(terms),
                total=Exact(total, lsb),
            )
        )

    def _sets(self, term: steps.Term) -> bool:
        """Whether the term sets the largest exponent: it is not zero, or it is a sum whose terms cancelled."""
        is_own = term.sig != 0 or id(term) in self._sums
        return is_own and term.exp == self._e

    def _subject(self) -> str:
        """A description of the summands."""
        names = [self._names[id(term)][0] for term in self._open]
        if isinstance(self._operation, RoundedFDPA) and "c" not in names:
            if names[0] == "even products":
                return "groups"
            if self._operation.name == "TR-FDPA":
                return "products"
            return ("even products", "odd products")[sum(isinstance(part, Sum) for part in self._parts)]
        return f"{'T' if 'T' in names else 'groups' if isinstance(self._operation, GSTFDPA) else 'products'} and c"

    def _exponent(self) -> str:
        if not isinstance(self._operation, RoundedFDPA):
            return "e_max"
        words = {"T and c": "e_out", "products": "e_dot", "groups": "e_dot"}
        return words.get(self._subject(), "e_max")

    def _exact_sum(self, result: tuple[int, int], terms: Sequence[steps.Term]) -> None:
        if self._operation.name == "GST-FDPA":
            of = f"products of group {self._groups}"
        else:
            of = "products and c"
        self._parts.append(exact_sum_record(of, [(*self._names[id(term)], term) for term in terms], *result))

    def _rounded_sum(self, code: int, terms: Sequence[steps.Term], d: Format, *_: Any) -> None:
        total, lsb = steps.exact_sum(terms)
        named = [(*self._names[id(term)], term) for term in terms]
        of = " + ".join(name for name, _, _ in named)
        self._parts += [exact_sum_record(of, named, total, lsb), rounding_record(total, lsb, d, "RNE", d, code)]

    def _truncate(self, result: tuple[int, int], total: int, lsb: int) -> None:
        operation = self._operation
        assert isinstance(operation, RoundedFDPA)
        kept, last = result
        self._parts.append(rounded_record("truncate", "total", Exact(total, lsb), last, operation.truncation, kept))

    def _converted(self, code: int, total: int, lsb: int) -> None:
        operation = self._operation
        assert isinstance(operation, FusedOperation)
        rho = operation.conversion
        exact, amount = self._amount(Exact(total, lsb))
        # The sticky amount is far below the bits that rounding examines, wherever the model places it.
        more = 2 * rho.rounding_format.man_bits if amount else 0
        total, lsb = (exact.sig << more) + amount, exact.exp - more
        record = rounding_record(total, lsb, rho.rounding_format, rho.mode, rho.d, code, operation.flush_results)
        self._parts.append(replace(record, exact=exact, amount=amount))

    def _amount(self, rounded: Exact) -> tuple[Exact, int]:
        """The rounded sum without the amount that `steps.add_sticky` added, and the sign of that amount (0: none)."""
        before = self._parts[-1]
        if not isinstance(before, Sum) or before.total.value == rounded.value:
            return rounded, 0
        return before.total, 1 if rounded.value > before.total.value else -1

    def _combined(self, term: steps.Term, *_: Any) -> None:
        if id(term) not in self._names:  # of two bits whether they differ: the product came just before it
            k = self._products[self._seen - 1]
            self._names[id(term)] = (f"a[{k}]·b[{k}]", "xor")

    def _narrowed(self, code: int, total: int) -> None:
        operation = self._operation
        assert isinstance(operation, IDPA)
        d = operation.d.value(code)
        assert d is not None
        beyond = total - int(d)
        self._parts.append(
            Narrowing(total=total, rule=operation.overflow, beyond=beyond, format=operation.d.name, code=code)
        )

    def _flushed_product(self, code: int, x: Decoded, y: Decoded) -> None:
        self._rounded_products += 1
        last = self._parts[-1]
        if isinstance(last, Rounding) and last.code != code:
            self._parts[-1] = replace(last, code=code, note="subnormal, flushed to zero")

    def _flushed_add(self, code: int, x: int, y: int) -> None:
        d = self._operation.d
        assert d.nan is not None
        self._parts += addition_parts(next(self._additions), x, y, d, code, d.nan)

    def _encode_special(self, code: int, special: SpecialResult, d: Format, _: int) -> None:
        if self._operation.name == "FTZ-AddMul":
            k = self._rounded_products
            x, y = self._operation.a.decode(self._arguments[0][k]), self._operation.b.decode(self._arguments[1][k])
            place = self._products[k]
            reasons = reasons_of([(f"a[{place}]·b[{place}]", x, y)], None, product_special)
            self._parts.append(special_record(f"a[{place}]·b[{place}]", reasons, special, d, code))
        else:
            self._parts.append(special_record("d", self._reasons(), special, d, code))

    def _reasons(self) -> list[tuple[str, SpecialResult]]:
        """The operands that determine a special result, by the operation's rule for a product."""
        operation, (a, b, c, scale_a, scale_b) = self._operation, self._arguments
        assert isinstance(operation, FusedOperation)
        x, y, z = operation.decoded(a, b, c)
        pairs = [(f"a[{k}]·b[{k}]", p, q) for k, p, q in zip(self._products, x, y, strict=True)]
        of_product = operation.product_special if isinstance(operation, RoundedFDPA) else product_special
        reasons = reasons_of(pairs, z, of_product)
        scale = operation.scale_format
        if scale is not None:
            scales = [(f"{name}[{n}]", code) for name, codes in (("scale_a", scale_a), ("scale_b", scale_b))
                      for n, code in enumerate(codes)]  # fmt: skip
            reasons += [(f"{name} is NaN", NAN) for name, code in scales if scale.decode(code).cls is Cls.NAN]
            if isinstance(operation, GSTFDPA) and any(reason != NAN for _, reason in reasons):
                reasons += [(f"{name} is zero, under it an infinite product is 0·∞", NAN)
                            for name, code in scales if scale.decode(code).cls is Cls.ZERO]  # fmt: skip
        return reasons
