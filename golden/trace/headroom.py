"""The parts of a step of OC-FDPA and PS-FDPA: sums of groups, one sum with c, one rounding."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from golden import steps
from golden.formats import Cls, Decoded, Format
from golden.operations import OCFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.rounding import Mode
from golden.specials import NAN, product_special
from golden.specials import Special as SpecialResult
from golden.trace.parts import EventReader, class_text, reasons_of, rounding_record, special_record
from golden.trace.records import Exact, Sum

INVERTED = "RZ, one's complement in the sign frame of c"
"""How OC-FDPA truncates: magnitudes toward zero; −t becomes −t − 1 where its sign is not c's."""


class HeadroomParts(EventReader):
    """Reader of the events of one step, which identifies a term by the object that the step passed on."""

    def __init__(self, operation: HeadroomFDPA, products: Sequence[int]) -> None:
        super().__init__()
        self._operation, self._products = operation, products
        self._known: list[steps.Term] = []  # keeps them alive, so that ids stay theirs
        self._x: Sequence[Decoded] = ()
        self._y: Sequence[Decoded] = ()
        self._z = Decoded(0, 0, 0, Cls.ZERO)
        self._multiplied = self._groups = self._e = 0
        self._sums: list[steps.Term] = []  # of groups that have a product other than zero
        self._open: list[steps.Term] = []
        self._aligned: list[tuple[steps.Term, int, int]] = []
        self._framed: list[int] = []

    def _name(self, term: steps.Term, name: str, classes: str) -> None:
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

    def _addend(self, term: steps.Term, c: Decoded, *_: Any) -> None:
        self._name(term, "c", class_text(c))

    def _group_sum(self, term: steps.Term, products: Sequence[steps.Term]) -> None:
        self._name(term, f"group {self._groups - 1}", "")
        if any(product.sig for product in products):
            self._sums.append(term)

    def _max_exp(self, e: int, terms: Sequence[steps.Term]) -> None:
        self._open, self._aligned, self._framed, self._e = list(terms), [], [], e

    def _align(self, aligned: int, term: steps.Term, e_max: int, F: int, _: Mode) -> None:
        self._aligned.append((term, aligned, e_max - F))

    def _in_frame(self, framed: int, *_: Any) -> None:
        self._framed.append(framed)

    def _accumulate(self, total: int, _: Any) -> None:
        sign = -1 if self._framed and self._z.sign else 1
        values = [sign * framed for framed in self._framed] or [aligned for _, aligned, _ in self._aligned]
        lsb = self._aligned[0][2]
        terms = [
            self._term(known, term, Exact(value, lsb))
            for known, (term, _, _), value in zip(self._open, self._aligned, values, strict=True)
        ]
        of_group = not any(term.name == "c" for term in terms)
        of = f"products of group {self._groups}" if of_group else self._subject()
        self._groups += of_group
        self._parts.append(
            Sum(
                of=of,
                exponent="e_group" if of_group else "e_max",
                e=self._e,
                set_by=tuple(t.name for t, known in zip(terms, self._open, strict=True) if self._sets(known)),
                truncation=INVERTED if self._framed else "RD",
                terms=tuple(terms),
                total=Exact(sign * total, lsb),
            )
        )

    def _subject(self) -> str:
        return "products and c" if isinstance(self._operation, OCFDPA) else "groups and c"

    def _sets(self, term: steps.Term) -> bool:
        """Whether the term sets the largest exponent: it is not zero, or the sum of a group that is not all zeros."""
        return term.exp == self._e and (term.sig != 0 or any(term is group for group in self._sums))

    def _converted(self, code: int, total: int, lsb: int) -> None:
        operation, rho = self._operation, self._operation.conversion
        rounded = rho.rounded(total, lsb, operation.overflow, operation.flush_results)
        to = rho.rounding_format
        record = rounding_record(total, lsb, to, rho.mode, to, rounded, operation.flush_results)
        drops = record.note in ("", "subnormal") and rounded % (1 << rho.dropped_bits) != 0
        note = f"{record.note}; low {rho.dropped_bits} bits dropped".lstrip("; ") if drops else record.note
        self._parts.append(replace(record, format=rho.d.name, code=code, note=note))

    def _encode_special(self, code: int, special: SpecialResult, d: Format, _: int) -> None:
        pairs = [(f"a[{k}]·b[{k}]", p, q) for k, p, q in zip(self._products, self._x, self._y, strict=True)]
        with_nan = [pair for pair in pairs if Cls.NAN in (pair[1].cls, pair[2].cls)]
        reasons = reasons_of(with_nan or pairs, None if with_nan else self._z, product_special)
        products = [(text, reason) for text, reason in reasons if not text.startswith("c is")]
        signs = {reason for _, reason in products}
        invalid = NAN in signs or len(signs) > 1
        self._parts.append(special_record("d", products if invalid else reasons, special, d, code))
