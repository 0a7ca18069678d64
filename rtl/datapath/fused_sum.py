"""Steps max_exp, align and accumulate of any sum of terms. A sum has a name, which its components and registers bear."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amaranth import Cat, Const, Signal, Value

from golden import Implementation
from rtl.datapath.fused_records import AlignedTerm, AlignedTerms, Lost, MaxExponent, SignedTotal, TotalRows
from rtl.datapath.step import Build
from rtl.steps.accumulate import Accumulate, AccumulateRows, AccumulateTotal
from rtl.steps.align import Align, Truncation, aligned_width
from rtl.steps.interfaces import ExpRange, Term, TermFormat
from rtl.steps.max_exp import MaxExp, PairwiseMaxExp


@dataclass(frozen=True)
class Precision:
    """The bits that alignment retains of a term.

    Attributes:
        F: fraction bits at the largest exponent.
        truncation: how the bits below are dropped.
        tells_lost: whether the rounding of the sum needs to know that a 1 bit was lost; equal for all terms.
    """

    F: int
    truncation: Truncation
    tells_lost: bool = False


def max_exp(build: Build, name: str, terms: Sequence[Term], implementation: Implementation) -> MaxExponent:
    """Step max_exp: the largest exponent of the terms."""
    ranges = [term.format.exps for term in terms]
    # Every term bounds the largest exponent from below.
    largest = ExpRange(max(exps.low for exps in ranges), max(exps.high for exps in ranges))
    pairwise = implementation.max_exp == "pairwise"
    component = PairwiseMaxExp(ranges, largest) if pairwise else MaxExp(ranges, largest)
    build.place(f"{name}_max_exp", component)
    build.assign(*(port.eq(term.exp) for port, term in zip(component.exps, terms, strict=True)))
    gaps = tuple(component.gaps) if isinstance(component, PairwiseMaxExp) else ()
    return MaxExponent(name, component.e_max, gaps, largest)


def fixed_exp(name: str, exp: int) -> MaxExponent:
    """A constant that replaces the largest exponent: with a large enough F the sum is exact."""
    exps = ExpRange(exp, exp)
    return MaxExponent(name, Const(exp, exps.shape), (), exps)


def without_loss(terms: Sequence[TermFormat]) -> Precision:
    """The bits with which no term loses one: from the largest exponent down to the lowest bit of any term."""
    return Precision(max(term.exps.high for term in terms) - min(term.exps.low - term.frac for term in terms), "RZ")


def lifted(term: Term, places: int) -> Term:
    """The same number, written with an exponent larger by `places` and as many more fraction bits."""
    fmt = term.format
    exps = fmt.exps + ExpRange(places, places)
    exp: Value = term.exp + places
    if len(exp) > exps.shape.width:  # the sum of a narrow exponent and a constant has bits that no exponent needs
        exp = exp[: exps.shape.width].as_signed()
    return replace(term, exp=exp, format=replace(fmt, exps=exps, frac=fmt.frac + places))


def align(build: Build, largest: MaxExponent, terms: Sequence[Term], precisions: Sequence[Precision]) -> AlignedTerms:
    """Step align: every term at the largest exponent, truncated to its own `Precision`, in units of the finest F."""
    F = max(precision.F for precision in precisions)
    aligned, lost = [], []
    for k, (term, precision) in enumerate(zip(terms, precisions, strict=True)):
        gap_given, tells_lost = bool(largest.gap), precision.tells_lost
        component = Align(term.format, largest.exps, precision.F, precision.truncation, gap_given, tells_lost)
        build.place(f"{largest.name}_align_{k}", component)
        build.drive(component.term, term)
        if largest.gap:
            build.assign(component.gap.eq(largest.gap[k]))
        else:
            build.assign(component.e_max.eq(largest.exp))
        finer = Const(0, F - precision.F)
        bits = aligned_width(term.format, F, precision.truncation)
        carry = None if term.carry is None else Cat(finer, component.carry)
        aligned.append(AlignedTerm(component.sign, Cat(finer, component.aligned), bits, carry))
        if tells_lost:
            lost.append(component.lost)
    total_bits = sum(1 << max(term.format.sig_bits - term.format.frac + F, 0) for term in terms).bit_length()
    if not lost:
        return AlignedTerms(largest.name, tuple(aligned), F, total_bits)
    any_lost = Signal(name=f"{largest.name}_lost")
    build.assign(any_lost.eq(Cat(lost).any()))
    return AlignedTerms(largest.name, tuple(aligned), F, total_bits, any_lost, precisions[0].truncation == "RD")


def accumulate(
    build: Build,
    largest: MaxExponent,
    aligned: AlignedTerms,
    implementation: Implementation,
    normalised: bool,
) -> SignedTotal:
    """Step accumulate: the exact sum of the aligned terms.

    Args:
        normalised: whether the total is normalised next, so that its leading zeros may be anticipated.
    """
    anticipates = normalised and implementation.leading_zeros == "anticipate"
    terms, carry = _addends(aligned)
    component = Accumulate(
        [len(magnitude) for _, magnitude in terms],
        aligned.total_bits + aligned.halves,
        implementation.encoding,
        implementation.reduction,
        anticipates,
        implementation.adder,
        0 if carry is None else len(carry),
    )
    build.place(f"{aligned.name}_accumulate", component)
    _drive_terms(build, component, terms, carry)
    return _signed_total(largest, aligned, component)


def accumulate_rows(build: Build, aligned: AlignedTerms, implementation: Implementation) -> TotalRows:
    """The first part of step accumulate: the terms reduced to the operands of the last adder."""
    terms, carry = _addends(aligned)
    widths, carry_bits = [len(magnitude) for _, magnitude in terms], 0 if carry is None else len(carry)
    total_bits, encoding = aligned.total_bits + aligned.halves, implementation.encoding
    component = AccumulateRows(widths, total_bits, encoding, implementation.reduction, carry_bits)
    build.place(f"{aligned.name}_accumulate_rows", component)
    _drive_terms(build, component, terms, carry)
    increment, frame = (component.increment, component.frame) if encoding == "ones-complement" else (None, None)
    rows = (component.row_0, component.row_1)
    return TotalRows(aligned.name, rows, increment, frame, aligned.F, aligned.total_bits, aligned.lost, aligned.rounded_down)


def accumulate_total(
    build: Build, largest: MaxExponent, reduced: TotalRows, implementation: Implementation, normalised: bool
) -> SignedTotal:
    """The second part of step accumulate: the last adder.

    Args:
        normalised: whether the total is normalised next, so that its leading zeros may be anticipated.
    """
    anticipates = normalised and implementation.leading_zeros == "anticipate"
    total_bits = reduced.total_bits + reduced.halves
    component = AccumulateTotal(total_bits, implementation.encoding, anticipates, implementation.adder)
    build.place(f"{reduced.name}_accumulate", component)
    build.assign(component.row_0.eq(reduced.row[0]), component.row_1.eq(reduced.row[1]))
    if reduced.increment is not None and reduced.frame is not None:
        build.assign(component.increment.eq(reduced.increment), component.frame.eq(reduced.frame))
    return _signed_total(largest, reduced, component)


def _addends(aligned: AlignedTerms) -> tuple[list[tuple[Value, Value]], Value | None]:
    """Sign and magnitude of every term, and the second row of the first one, if it has one."""
    terms: list[tuple[Value, Value]] = [(term.sign, term.aligned) for term in aligned.terms]
    if aligned.lost is not None and aligned.halves:
        terms = _with_half(terms, aligned.lost)
    return terms, aligned.terms[0].carry


def _drive_terms(
    build: Build, component: Accumulate | AccumulateRows, terms: Sequence[tuple[Value, Value]], carry: Value | None
) -> None:
    for (sign, magnitude), (term_sign, term_magnitude) in zip(component.terms, terms, strict=True):
        build.assign(sign.eq(term_sign), magnitude.eq(term_magnitude))
    if carry is not None:
        build.assign(component.carry_0.eq(carry))


def _signed_total(
    largest: MaxExponent, summed: AlignedTerms | TotalRows, component: Accumulate | AccumulateTotal
) -> SignedTotal:
    zeros = component.zeros if component.anticipates else None
    total_format = TermFormat(largest.exps, summed.total_bits, summed.F)
    if summed.lost is None:
        return SignedTotal(summed.name, component.sign, component.total, zeros, total_format)
    halves = summed.halves
    total = component.total[1:] if halves else component.total
    lost = Lost(summed.lost & (component.sign | total.any()), summed.lost & component.sign if halves else None)
    return SignedTotal(summed.name, component.sign, total, zeros, total_format, lost)


def _with_half(terms: Sequence[tuple[Value, Value]], lost: Value) -> list[tuple[Value, Value]]:
    """The terms with one place more below, where one half is added if anything was lost.

    What terms lose toward minus infinity is positive, so that a negative sum is smaller than its total by less than any bit:

        total        −1 0 1 1 0         −22
        with half    −1 0 1 0 1 1       −21.5: 21, and a one below that stands for ones in all places
        total        +1 0 1 1 0
        with half    +1 0 1 1 0 1       22, and a one that stands for the sticky bit alone
    """
    return [*((sign, Cat(Const(0, 1), magnitude)) for sign, magnitude in terms), (Const(0, 1), lost)]
