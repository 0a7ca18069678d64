"""Conversion of the recorded steps of an operation to the records of a trace.

This module does not repeat the operation's arithmetic. It derives only the bits that alignment dropped and the bits that
rounding examined, from the arguments and the result of a recorded step.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from golden.arithmetic import steps
from golden.arithmetic.conversion import Conversion
from golden.arithmetic.format import Cls, Decoded, Format
from golden.arithmetic.formats import FP32
from golden.arithmetic.rounding import Mode
from golden.arithmetic.specials import NAN, addend_special, combine, encode_special, product_special, scaled_special
from golden.arithmetic.specials import Special as SpecialResult
from golden.operations import Operation
from golden.operations.structure import C, Element, Structure
from golden.operations.tr_fdpa import NO_PRODUCT_EXP
from golden.trace.parts import (
    Event,
    EventReader,
    class_text,
    exact_sum_record,
    exact_value,
    infinity_text,
    node_name,
    reasons_of,
    reasons_of_term,
    rounded_record,
    rounding_record,
    special_record,
)
from golden.trace.records import Exact, Narrowing, Operand, Part, Rounding, Scaling, Step, Sum


def addition_record(title: str, x: int, y: int, operand: Format, d: int, nan: int) -> Step:
    """The record of the final addition of a converted chain, `golden.operations.ieee.add`."""
    names = ("sum of the products", "c")
    return Step(
        title=title,
        products=(),
        operands=tuple(Operand.of(name, code, operand) for name, code in zip(names, (x, y), strict=True)),
        parts=tuple(addition_parts(names, x, y, operand, d, nan)),
        d=Operand.of("d", d, operand),
    )


def addition_parts(names: Sequence[str], x: int, y: int, operand: Format, d: int, nan: int) -> list[Part]:
    """The parts of x + y in one format, rounded to nearest even, as `golden.operations.ieee.add` computes it."""
    p, q = operand.decode(x), operand.decode(y)
    special = combine((addend_special(p), addend_special(q)))
    if special is not None:
        found = [(name, reason) for name, z in zip(names, (p, q), strict=True) if (reason := addend_special(z)) is not None]
        reasons = [(f"{name} is {'NaN' if reason == NAN else infinity_text(reason)}", reason) for name, reason in found]
        return [special_record(" + ".join(names), reasons, special, operand, encode_special(special, operand, nan))]
    terms = [steps.addend(z, operand, operand.e_min) for z in (p, q)]
    total, lsb = steps.exact_sum(terms)
    named = [(name, class_text(z), term) for name, z, term in zip(names, (p, q), terms, strict=True)]
    of = " + ".join(names)
    return [exact_sum_record(of, named, total, lsb), rounding_record(total, lsb, operand, "RNE", operand, d)]


class MultiplyAddParts:
    """Reads the events of one step in order and returns its parts."""

    def __init__(self, structure: Structure, products: Sequence[int]) -> None:
        sums = [[node_name(structure, node, products) for node in each.nodes] for each in structure.sums]
        self._names = iter([(first, second) for first, second in sums])
        self._parts: list[Part] = []
        self._classes: list[str] = []
        self._sum: tuple[int, Sequence[steps.Term]] | None = None

    def of(self, events: Sequence[Event]) -> list[Part]:
        """The parts of the step."""
        for event in events:
            match event.step:
                case "multiply":
                    self._classes.append("·".join(class_text(x) for x in event.arguments[:2]))
                case "addend":
                    self._classes.append(class_text(event.arguments[0]))
                case "flushed_sum":
                    self._sum = event.result, event.arguments[0]
                case "fma" | "add":
                    self._operation(event)
        return self._parts

    def _operation(self, event: Event) -> None:
        """Record one multiply-add or addition, from the events noted since the last one."""
        names = next(self._names)
        of = " + ".join(names)
        if self._sum is None:
            self._parts.append(special_record(of, *_reasons(names, event.arguments), FP32, event.result))
        else:
            code, terms = self._sum
            named = list(zip(names, self._classes, terms, strict=True))
            total, lsb = steps.exact_sum(terms)
            self._parts.append(exact_sum_record(of, named, total, lsb))
            self._parts.append(rounding_record(total, lsb, FP32, "RNE", FP32, code, flush=True))
        self._sum, self._classes = None, []


def _reasons(names: tuple[str, str], codes: Sequence[int]) -> tuple[list[tuple[str, SpecialResult]], SpecialResult]:
    """The operands that determine a special result, and that result."""
    *factors, z = (steps.flushed(FP32.decode(code)) for code in codes)
    reasons = reasons_of([(names[0], factors[0], factors[1])], None, product_special) if len(factors) == 2 else []
    addends = [(names[1], z)] if len(factors) == 2 else list(zip(names, (*factors, z), strict=True))
    reasons += [(_addend_text(name, x), special) for name, x in addends if (special := addend_special(x)) is not None]
    found = {special for _, special in reasons}
    return reasons, NAN if len(found) > 1 else found.pop()


def _addend_text(name: str, x: Decoded) -> str:
    return f"{name} is NaN" if x.cls is Cls.NAN else f"{name} is {infinity_text(1 if x.sign else 0)}"


INVERTED = "RZ, one's complement in the sign frame of c"
"""How a trace says that terms are cut in the sign frame of c: magnitudes are cut toward zero, and −t becomes −t − 1 if its
sign is not c's."""


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
    operands = _operands("a", a, operation.a, products)
    operands += _operands("b", b, operation.b, products) if "b" in operation.operands else []
    operands += [Operand.of("c", c, operation.c)] if "c" in operation.operands else []
    for name, codes in (("scale_a", scale_a), ("scale_b", scale_b)):
        if operation.scale_format is not None and name in operation.scale_operands:
            operands += _operands(name, codes, operation.scale_format, range(len(codes)))
    return Step(
        title=title,
        products=tuple(products),
        operands=tuple(operands),
        parts=tuple(_parts(operation, products, arguments, inner)),
        d=Operand.of("d", step.result, operation.d),
    )


def _parts(operation: Operation, products: Sequence[int], arguments: tuple[Any, ...], events: Sequence[Event]) -> list[Part]:
    if operation.structure.widened is not None:
        return MultiplyAddParts(operation.structure, products).of(events)
    return _Parts(operation, products, arguments).of(events)


def _operands(name: str, codes: Sequence[int], operand: Format, places: Sequence[int]) -> list[Operand]:
    return [Operand.of(f"{name}[{k}]", code, operand) for k, code in zip(places, codes, strict=True)]


class _Parts(EventReader):
    """Reader of the events of one step, which identifies a term by the object that the step passed on.

    The sums of the structure are made in its order, so their number says which one an event belongs to.
    """

    def __init__(self, operation: Operation, products: Sequence[int], arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self._operation, self._products, self._arguments = operation, products, arguments
        self._structure = operation.structure
        self._elements = [node for node in self._structure.last.nodes if isinstance(node, Element)]
        self._x: Sequence[Decoded] = ()
        self._y: Sequence[Decoded] = ()
        self._z = Decoded(0, 0, 0, Cls.ZERO)
        self._known: list[steps.Term] = []  # keeps them alive, so that ids stay theirs
        self._totals: list[steps.Term] = []  # terms that are sums of something that is not zero
        self._multiplied = self._added = self._made = self._rounded_products = 0
        self._open: list[steps.Term] = []
        self._aligned: list[tuple[steps.Term, int, int]] = []
        self._framed: list[int] = []
        self._e = 0

    def _name(self, term: steps.Term, name: str, classes: str = "") -> None:
        self._names[id(term)] = (name, classes)
        self._known.append(term)

    def _decoded(self, operands: tuple[Sequence[Decoded], Sequence[Decoded], Decoded], *_: Any) -> None:
        self._x, self._y, self._z = operands

    def _multiply(self, product: steps.Term, x: Decoded, y: Decoded, *_: Any) -> None:
        k = self._products[self._multiplied]
        self._multiplied += 1
        self._name(product, f"a[{k}]·b[{k}]", f"{class_text(x)}·{class_text(y)}")

    def _raised(self, term: steps.Term, product: steps.Term, _: int) -> None:
        self._name(term, *self._names[id(product)])

    def _combined(self, term: steps.Term, *_: Any) -> None:
        if id(term) not in self._names:  # of two bits whether they differ: the product came just before it
            k = self._products[self._multiplied - 1]
            self._name(term, f"a[{k}]·b[{k}]", "xor")

    def _addend(self, term: steps.Term, c: Decoded, *_: Any) -> None:
        node = self._elements[self._added] if self._elements else C
        self._added += 1
        self._name(term, node_name(self._structure, node, self._products), class_text(c))

    def _of(self, node: Element) -> Decoded:
        return (self._x if node.operand == "a" else self._y)[0]

    def _scaled(self, term: steps.Term, product: steps.Term, alpha: Decoded, beta: Decoded) -> None:
        name, classes = self._names[id(product)]
        self._name(term, name, classes)
        self._scaling(name, exact_value(product), alpha, beta, term)

    def _group_term(self, term: steps.Term, _: Any, alpha: Decoded, beta: Decoded) -> None:
        products = self._parts[-1]
        assert isinstance(products, Sum)
        name = self._structure.sums[self._made - 1].total
        self._name(term, name)
        if alpha.sig and beta.sig and any(product.sig for product in products.terms):
            self._totals.append(term)
        self._scaling(name, products.total, alpha, beta, term)

    def _group_sum(self, term: steps.Term, products: Sequence[steps.Term]) -> None:
        self._name(term, self._structure.sums[self._made - 1].total)
        if any(product.sig for product in products):
            self._totals.append(term)

    def _scaling(self, name: str, before: Exact, alpha: Decoded, beta: Decoded, term: steps.Term) -> None:
        scale = self._operation.scale_format
        assert scale is not None
        factors = [
            Exact(steps.signed_sig(x), x.exp - scale.man_bits) if side in self._operation.scale_operands else None
            for side, x in (("scale_a", alpha), ("scale_b", beta))
        ]
        self._parts.append(
            Scaling(name=name, before=before, alpha=factors[0], beta=factors[1], exact=exact_value(term), exp=term.exp)
        )

    def _max_exp(self, e: int, terms: Sequence[steps.Term]) -> None:
        self._open, self._aligned, self._framed, self._e = list(terms), [], [], e
        nodes = self._structure.sums[self._made].nodes
        for term, node in zip(terms, nodes, strict=True):
            if id(term) not in self._names:  # the total of an earlier sum
                self._name(term, node_name(self._structure, node, self._products))
                if term.exp != NO_PRODUCT_EXP:
                    self._totals.append(term)

    def _align(self, aligned: int, term: steps.Term, e_max: int, F: int, _: Mode) -> None:
        self._aligned.append((term, aligned, e_max - F))

    def _in_frame(self, framed: int, *_: Any) -> None:
        self._framed.append(framed)

    def _accumulate(self, total: int, _: Any) -> None:
        of = self._structure.sums[self._made]
        sign = -1 if of.in_frame and self._z.sign else 1
        values = [sign * framed for framed in self._framed] or [aligned for _, aligned, _ in self._aligned]
        terms = [
            self._term(known, term, Exact(value, lsb))
            for known, (term, _, lsb), value in zip(self._open, self._aligned, values, strict=True)
        ]
        self._parts.append(
            Sum(
                of=of.of,
                exponent=of.exponent,
                e=self._e,
                set_by=tuple(t.name for t, known in zip(terms, self._open, strict=True) if self._sets(known)),
                truncation=INVERTED if of.in_frame else of.truncation or "",
                terms=tuple(terms),
                total=Exact(sign * total, min(lsb for _, _, lsb in self._aligned)),
            )
        )
        self._made += 1

    def _sets(self, term: steps.Term) -> bool:
        """Whether the term sets the largest exponent: it is not zero, or it is a sum whose terms cancelled."""
        return term.exp == self._e and (term.sig != 0 or any(term is total for total in self._totals))

    def _exact_sum(self, result: tuple[int, int], terms: Sequence[steps.Term]) -> None:
        of = self._structure.sums[self._made].of
        self._made += 1
        self._parts.append(exact_sum_record(of, [(*self._names[id(term)], term) for term in terms], *result))

    def _rounded_sum(self, code: int, terms: Sequence[steps.Term], d: Format, *_: Any) -> None:
        total, lsb = steps.exact_sum(terms)
        named = [(*self._names[id(term)], term) for term in terms]
        of = " + ".join(name for name, _, _ in named)
        self._parts += [exact_sum_record(of, named, total, lsb), rounding_record(total, lsb, d, "RNE", d, code)]

    def _truncate(self, result: tuple[int, int], total: int, lsb: int) -> None:
        cut = self._structure.last.cut
        assert cut is not None
        kept, last = result
        self._parts.append(rounded_record("truncate", "total", Exact(total, lsb), last, cut.truncation, kept))

    def _converted(self, code: int, total: int, lsb: int) -> None:
        rho, rounding = self._structure.rho, self._structure.last.rounding
        assert rho is not None
        assert rounding is not None
        exact, amount = self._amount(Exact(total, lsb))
        # The sticky amount is far below the bits that rounding examines, wherever the model places it.
        more = 2 * rounding.to.man_bits if amount else 0
        total, lsb = (exact.sig << more) + amount, exact.exp - more
        if rho.dropped_bits:
            self._parts.append(self._rounded_twice(rho, code, total, lsb, rounding.flushes))
            return
        record = rounding_record(total, lsb, rounding.to, rounding.mode, rho.d, code, rounding.flushes)
        self._parts.append(replace(record, exact=exact, amount=amount))

    def _rounded_twice(self, rho: Conversion, code: int, total: int, lsb: int, flushes: bool) -> Rounding:
        """The record of a conversion that drops low bits of what it has rounded."""
        rounded = rho.rounded(total, lsb, self._operation.overflow, flushes)  # type: ignore[attr-defined]
        to = rho.rounding_format
        record = rounding_record(total, lsb, to, rho.mode, to, rounded, flushes)
        drops = record.note in ("", "subnormal") and rounded % (1 << rho.dropped_bits) != 0
        note = f"{record.note}; low {rho.dropped_bits} bits dropped".lstrip("; ") if drops else record.note
        return replace(record, format=rho.d, code=code, note=note)

    def _amount(self, rounded: Exact) -> tuple[Exact, int]:
        """The rounded sum without the amount that `steps.add_sticky` added, and the sign of that amount (0: none)."""
        before = self._parts[-1]
        if not self._structure.sticky or not isinstance(before, Sum) or before.total.value == rounded.value:
            return rounded, 0
        return before.total, 1 if rounded.value > before.total.value else -1

    def _narrowed(self, code: int, total: int) -> None:
        operation = self._operation
        d = operation.d.value(code)
        assert d is not None
        rule = str(operation.parameters()["overflow"])
        self._parts.append(
            Narrowing(total=total, rule=rule, beyond=total - int(d * 2**-operation.d.e_min), format=operation.d, code=code)
        )

    def _flushed_product(self, code: int, x: Decoded, y: Decoded) -> None:
        self._rounded_products += 1
        last = self._parts[-1]
        if isinstance(last, Rounding) and last.code != code:
            self._parts[-1] = replace(last, code=code, note="subnormal, flushed to zero")

    def _flushed_add(self, code: int, x: int, y: int) -> None:
        d = self._operation.d
        assert d.nan is not None
        first, second = self._structure.sums[self._made].nodes
        names = tuple(node_name(self._structure, node, self._products) for node in (first, second))
        self._made += 1
        self._parts += addition_parts(names, x, y, d, code, d.nan)

    def _encode_special(self, code: int, special: SpecialResult, d: Format, _: int) -> None:
        if not self._structure.rounds_products:
            self._parts.append(special_record("d", self._reasons(), special, d, code))
            return
        k = self._rounded_products
        self._multiplied += 1  # without a step multiply
        x, y = self._operation.a.decode(self._arguments[0][k]), self._operation.b.decode(self._arguments[1][k])
        name = f"a[{self._products[k]}]·b[{self._products[k]}]"
        self._parts.append(special_record(name, reasons_of([(name, x, y)], None, product_special), special, d, code))

    def _reasons(self) -> list[tuple[str, SpecialResult]]:
        """The operands that determine a special result, by the operation's rules for products and NaNs."""
        if self._elements:
            alone = [(node_name(self._structure, node, self._products), self._of(node)) for node in self._elements]
            return [reason for name, x in alone for reason in reasons_of_term(name, x)]
        pairs = [(f"a[{k}]·b[{k}]", p, q) for k, p, q in zip(self._products, self._x, self._y, strict=True)]
        if self._structure.nan == "cause":
            return self._causes(pairs)
        of_product = getattr(self._operation, "product_special", product_special)
        scales = self._scales()
        signs = [alpha.sign ^ beta.sign for alpha, beta in scales] or [0] * len(pairs)
        pairs = [(name, p._replace(sign=p.sign ^ sign), q) for (name, p, q), sign in zip(pairs, signs, strict=True)]
        return [*reasons_of(pairs, self._z, of_product), *self._reasons_of_scales(pairs, scales)]

    def _causes(self, pairs: Sequence[tuple[str, Decoded, Decoded]]) -> list[tuple[str, SpecialResult]]:
        """The reasons where each cause has a NaN of its own: NaN factors, else invalid products, else all of them."""
        with_nan = [pair for pair in pairs if Cls.NAN in (pair[1].cls, pair[2].cls)]
        reasons = reasons_of(with_nan or pairs, None if with_nan else self._z, product_special)
        of_products = [(text, reason) for text, reason in reasons if not text.startswith("c is")]
        signs = {reason for _, reason in of_products}
        return of_products if NAN in signs or len(signs) > 1 else reasons

    def _scales(self) -> list[tuple[Decoded, Decoded]]:
        """The scales of each product of the step; none where the operation has none."""
        scale, size = self._operation.scale_format, self._operation.block_size
        if scale is None or size is None:
            return []
        alpha, beta = self._arguments[3:]
        return [(scale.decode(alpha[k // size]), scale.decode(beta[k // size])) for k in range(len(self._x))]

    def _reasons_of_scales(
        self, pairs: Sequence[tuple[str, Decoded, Decoded]], scales: Sequence[tuple[Decoded, Decoded]]
    ) -> list[tuple[str, SpecialResult]]:
        size, found = self._operation.block_size, list[tuple[str, SpecialResult]]()
        if size is None:
            return []
        products = [scaled_special((p, q, alpha._replace(sign=0), beta._replace(sign=0)))
                    for (_, p, q), (alpha, beta) in zip(pairs, scales, strict=True)]  # fmt: skip
        named = [(f"scale_{side}[{first // size}]", scales[first][n], combine(products[first : first + size]))
                 for n, side in enumerate("ab") for first in range(0, len(scales), size)]  # fmt: skip
        found += [(f"{name} is NaN", NAN) for name, scale, _ in named if scale.cls is Cls.NAN]
        others = [reason for _, reason in [*reasons_of(pairs, self._z, product_special), *found]]
        found += [(f"{name} is infinite", special) for name, scale, special in named
                  if scale.cls is Cls.INFINITY and special is not None]  # fmt: skip
        if any(reason != NAN for reason in others) or any(scale.cls is Cls.INFINITY for _, scale, _ in named):
            found += [(f"{name} is zero, under it an infinite product is 0·∞", NAN)
                      for name, scale, _ in named if scale.cls is Cls.ZERO]  # fmt: skip
        return found
