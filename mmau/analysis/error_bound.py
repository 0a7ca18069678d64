"""Bounds of errors: an instrumented arithmetic keeps a ledger of what each step of a row may lose, and a search looks for
rows whose errors come close to their bounds. It starts from given rows and changes them bit by bit."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP32, Cls, Decoded, Format
from golden.arithmetic.steps import max_exp
from golden.operations import Operation
from golden.stimulus import Row
from mmau.analysis.adverse_rows import Arithmetic, changed

INPUT_FTZ = "input FTZ"
ADD_MUL = "add/mul"
OUTPUT_FTZ = "output FTZ"
FUSED_SUMMATION = "fused summation"
SUM_WITH_C = "sum with c"
OUTPUT_ROUNDING = "output rounding"

SOURCES = (INPUT_FTZ, ADD_MUL, OUTPUT_FTZ, FUSED_SUMMATION, SUM_WITH_C, OUTPUT_ROUNDING)
"""The paper's sources; `sum with c` is the second summation of TR- and GTR-FDPA, which table 9 counts in the first."""

HALF = Fraction(1, 2)


@dataclass
class Ledger:
    """The bound of the error of one row.

    Attributes:
        bounds: by source, added up over all steps. paper: the whole bound by the formula of table 9.
        finite: whether every step's result is a finite number; otherwise there is no bound.
    """

    bounds: dict[str, Fraction] = field(default_factory=dict)
    paper: Fraction = Fraction(0)
    finite: bool = True
    exponents: list[int] = field(default_factory=list)

    def add(self, source: str, bound: Fraction, in_paper: Fraction | None = None) -> None:
        """Add the share of a source; `in_paper` is its share in table 9, where that differs."""
        if bound:
            self.bounds[source] = self.bounds.get(source, Fraction(0)) + bound
        self.paper += bound if in_paper is None else in_paper

    @property
    def total(self) -> Fraction:
        """The bound of the whole row."""
        return sum(self.bounds.values(), Fraction(0))


class Bounded:
    """An instrumented arithmetic: each row gives its result and a ledger.

    Raises:
        ValueError: an operation on integers, which is exact within the range of int32.
    """

    def __init__(self, arithmetic: Arithmetic) -> None:
        operation = arithmetic.chain.operation
        if operation.structure.is_integer:
            raise ValueError(f"{operation.name} is exact arithmetic on integers and has no error bound")
        self.arithmetic = arithmetic
        self._ledger = Ledger()
        self._chain = replace(arithmetic.chain, operation=self._watched(operation))

    def __call__(self, row: Row) -> tuple[int, Ledger]:
        """d, from the model, and the bound of its error."""
        self._ledger = Ledger()
        d = self._chain(row.a, row.b, row.c, row.scale_a, row.scale_b)
        if self._chain.fp16_order is not None:
            self._note_rounding("RNE", self.arithmetic.d, self.arithmetic.d, d)
        return d, self._ledger

    def share(self, row: Row) -> Fraction | None:
        """|d − exact| divided by the bound; None where there is no bound.

        Raises:
            ValueError: the bound is 0 and the error is not.
        """
        errors = self.error(row)
        if errors is None:
            return None
        error, bound = errors
        if not bound:
            if error:
                raise ValueError(f"{self.arithmetic.name} errs by {float(error):g} where nothing may be lost: {row}")
            return Fraction(0)
        return error / bound

    def error(self, row: Row) -> tuple[Fraction, Fraction] | None:
        """The pair (|d − exact|, its bound); None where d, the exact value or the bound is not finite."""
        exact = self.arithmetic.exact(row)
        if exact is None:
            return None
        d, ledger = self(row)
        value = self.arithmetic.d.value(d)
        return None if value is None or not ledger.finite else (abs(value - exact), ledger.total)

    def _watched(self, operation: Operation) -> Operation:
        outer, cls, structure = self, type(operation), operation.structure

        def noted_max_exp(terms: Any) -> int:
            e = max_exp(terms)
            outer._ledger.exponents.append(e)
            return e

        def step(self: Any, a: Any, b: Any, c: int, scale_a: Any = (), scale_b: Any = ()) -> int:
            outer._ledger.exponents.clear()
            d: int = cls.step(self, a, b, c, scale_a, scale_b)
            outer._note_step(operation, self.c, (a, b, c, scale_a, scale_b), d)
            return d

        steps: dict[str, Any] = {"max_exp": staticmethod(noted_max_exp), "step": step}
        if structure.rounds_products:
            steps |= {"flushed_product": self._noted_product(cls), "flushed_add": staticmethod(self._noted_add(operation))}
        if structure.widened is not None:
            steps |= {
                "flushed_sum": staticmethod(self._noted_sum(operation)),
                "fma": self._noted_fma(cls),
                "add": self._noted_last_add(cls),
            }
        return operation.with_steps(**steps)

    def _note_step(self, o: Operation, c_format: Format, codes: tuple[Any, ...], d: int) -> None:
        """The sources of a whole step; those of its parts are in the ledger by now."""
        cls, rho = o.d.decode(d).cls, o.structure.rho
        if cls >= Cls.INFINITY or _may_have_saturated(o, d):
            self._ledger.finite = False
            return
        if o.structure.flushed and o.structure.widened is None:  # else each multiply-add has noted its operands
            self._note_flushed_inputs(o, c_format, codes)
        if rho is not None:
            self._note_sums(o, d)
            self._note_conversion(rho, d)
            rounding = o.structure.last.rounding
            if rounding is not None and rounding.flushes and cls is Cls.ZERO:
                self._ledger.add(OUTPUT_FTZ, power_of_two(o.d.e_min))

    def _note_sums(self, o: Operation, d: int) -> None:
        """Each term that alignment cuts, inverts or drops may lose a unit of the last place that it retains."""
        structure, exponents, ledger = o.structure, self._ledger.exponents, self._ledger
        last = structure.last
        if last.cut is not None:
            # Terms of groups are bounded as if they were cut at the exponent of T, which is the largest of theirs.
            *_, e_dot, e_out = exponents
            terms = sum(len(each.terms) for each in structure.sums[:-1])
            of_c, of_t = (power_of_two(e_out - (term.F or 0)) for term in reversed(last.terms))
            unit = power_of_two(e_dot - (structure.sums[0].terms[0].F or 0))
            result_exp = max(o.d.decode(d).exp, o.c.e_min)
            ledger.add(FUSED_SUMMATION, terms * unit, (o.length + 1) * of_c)
            ledger.add(SUM_WITH_C, of_c + of_t + power_of_two(result_exp - last.cut.F), Fraction(0))
            return
        for exp, each in zip(exponents, (each for each in structure.sums if not each.is_exact), strict=True):
            unit = power_of_two(exp - (each.terms[0].F or 0))
            ledger.add(FUSED_SUMMATION, len(each.terms) * unit)
            if structure.sticky and each.rounding is not None:  # the sticky amount lies this far below
                ledger.add(FUSED_SUMMATION, unit * power_of_two(-each.rounding.to.man_bits - 2))

    def _note_conversion(self, rho: Conversion, d: int) -> None:
        self._note_rounding(rho.mode, rho.rounding_format, rho.d, d)
        if rho.dropped_bits:
            self._note_rounding("RZ", rho.d, rho.d, d)

    def _note_rounding(self, mode: str, precision: Format, d_format: Format, d: int, source: str = OUTPUT_ROUNDING) -> None:
        decoded = d_format.decode(d)
        if decoded.cls >= Cls.INFINITY:
            self._ledger.finite = False
        ulp = power_of_two(decoded.exp - precision.man_bits)
        self._ledger.add(source, ulp * HALF if mode in ("RNE", "RNA") else ulp)

    def _note_flushed_inputs(self, o: Operation, c_format: Format, codes: tuple[Any, ...]) -> None:
        """Add the bounds of flushed operands: the format's smallest normal number; for a product, times the other factor.
        OC- and PS-FDPA keep subnormals of some formats, for which the bounds are larger than need be."""
        a, b, c, scale_a, scale_b = codes
        addends = [(o.a, code) for code in a] + [(o.b, code) for code in b] if o.structure.adds_elements else []
        addends += [(c_format, c)] if "c" in o.operands else []
        for form, code in addends:
            if form.decode(code).cls is Cls.SUBNORMAL:
                self._ledger.add(INPUT_FTZ, power_of_two(form.e_min))
        if o.structure.adds_elements:
            return
        for k, (p, q) in enumerate(zip(map(o.a.decode, a), map(o.b.decode, b), strict=True)):
            if Cls.SUBNORMAL in (p.cls, q.cls):
                factor = _magnitude(p, o.a) * _magnitude(q, o.b)
                if o.scale_format is not None and o.block_size is not None:
                    for scales in (scale_a, scale_b):
                        factor *= o.scale_format.value(scales[k // o.block_size]) or 0
                self._ledger.add(INPUT_FTZ, factor)

    def _noted_product(self, cls: Any) -> Any:
        outer = self

        def flushed_product(self: Operation, x: Decoded, y: Decoded) -> int:
            code: int = cls.flushed_product(self, x, y)
            outer._note_binary(code, bool(x.sig and y.sig))
            return code

        return flushed_product

    def _noted_add(self, operation: Any) -> Any:
        def flushed_add(x: int, y: int) -> int:
            code: int = operation.flushed_add(x, y)
            p, q = FP32.value(x), FP32.value(y)
            self._note_binary(code, p is None or q is None or p + q != 0)
            return code

        return flushed_add

    def _noted_sum(self, operation: Any) -> Any:
        def flushed_sum(terms: Sequence[Any], negative_zero: bool) -> int:
            code: int = operation.flushed_sum(terms, negative_zero)
            self._note_binary(code, operation.exact_sum(terms)[0] != 0)
            return code

        return flushed_sum

    def _noted_fma(self, cls: type[Operation]) -> Any:
        outer = self

        def fma(self: Any, x: int, y: int, z: int) -> int:
            p, q, r = map(FP32.decode, (x, y, z))
            if Cls.SUBNORMAL in (p.cls, q.cls):
                outer._ledger.add(INPUT_FTZ, _magnitude(p, FP32) * _magnitude(q, FP32))
            if r.cls is Cls.SUBNORMAL:
                outer._ledger.add(INPUT_FTZ, power_of_two(FP32.e_min))
            return int(cls.fma(self, x, y, z))  # type: ignore[attr-defined]

        return fma

    def _noted_last_add(self, cls: type[Operation]) -> Any:
        outer = self

        def add(self: Any, x: int, y: int) -> int:
            for code in (x, y):
                if FP32.decode(code).cls is Cls.SUBNORMAL:
                    outer._ledger.add(INPUT_FTZ, power_of_two(FP32.e_min))
            return int(cls.add(self, x, y))  # type: ignore[attr-defined]

        return add

    def _note_binary(self, code: int, is_nonzero: bool) -> None:
        """One rounded and flushed product or sum; `is_nonzero` says whether its exact value is not 0."""
        self._note_rounding("RNE", FP32, FP32, code, ADD_MUL)
        if is_nonzero and FP32.decode(code).cls is Cls.ZERO:
            self._ledger.add(OUTPUT_FTZ, power_of_two(FP32.e_min))


def _may_have_saturated(o: Operation, d: int) -> bool:
    """Whether d is the largest finite number of an operation that also returns it for sums beyond the range."""
    rho = o.structure.rho
    if rho is None or getattr(o, "overflow", "infinity") == "infinity":
        return False
    return d & ~o.d.negative_zero == rho.stored(rho.rounding_format.max_finite)


def _magnitude(x: Decoded, operand: Format) -> Fraction:
    """The magnitude of an operand; for a subnormal one the upper bound 2^e_min, the format's smallest normal number."""
    if x.cls is Cls.SUBNORMAL:
        return power_of_two(operand.e_min)
    return x.sig * power_of_two(x.exp - operand.man_bits)


STARTS = 4
"""Number of rows that the search continues from: the rows with the largest known shares of their bounds."""


def shares(bounded: Bounded, rows: Iterable[Row]) -> list[tuple[Fraction, Row]]:
    """Each row that has a bound, with its error divided by that bound."""
    found = ((bounded.share(row), row) for row in rows)
    return [(share, row) for share, row in found if share is not None]


def searched(bounded: Bounded, start: Sequence[tuple[Fraction, Row]], steps: int, seed: int) -> tuple[Fraction, Row]:
    """The largest share of a bound found by changing rows bit by bit, beginning with the given rows of largest share.

    The search also continues from a row whose share equals the previous one, so that plateaus are crossed.
    """
    rng = random.Random(seed)
    best = sorted(start, key=lambda found: found[0], reverse=True)[:STARTS]
    for n in range(steps):
        place = n % len(best)
        row = changed(best[place][1], bounded.arithmetic, rng)
        share = bounded.share(row)
        if share is not None and share >= best[place][0]:
            best[place] = (share, row)
    return max(best, key=lambda found: found[0])
