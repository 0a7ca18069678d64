"""TR- and GTR-FDPA as terms of their operands (golden/operations/tr_fdpa.py, gtr_fdpa.py)."""

from collections.abc import Mapping, Sequence

from golden.operations import GTRFDPA, TRFDPA
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP, RoundedFDPA
from golden.rounding import Mode
from golden.specials import quiet_nan
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.specification.conversion import converted, leading_one, special_code
from mmau.formal.specification.fused import decoded_operands, products
from mmau.formal.specification.numbers import Number, choose
from mmau.formal.specification.observer import Observer
from mmau.formal.specification.step_results import Aligned, Code, Result, Term, Total
from mmau.formal.specification.steps import accumulate, addend, align, combine, is_shifted_back, max_exp


def tr_fdpa(terms: Terms, operation: TRFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that TR-FDPA gives: one group of products."""
    return rounded_dot(terms, operation, ports, observer)


def gtr_fdpa(terms: Terms, operation: GTRFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """GTR-FDPA: even and odd products summed separately; c far below the sum counts as 0."""
    return rounded_dot(terms, operation, ports, observer)


def rounded_dot(terms: Terms, operation: RoundedFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that golden's `RoundedFDPA.step` gives.

    Golden ignores zero products in e_dot. Here a zero product has an exponent that is at most that of every other product
    and of c, so the exponent of a sum is the same.
    """
    parts = decoded_operands(terms, operation, ports, observer)
    # 1. exact products, and c
    zero_exp = min(operation.product_exp_min, operation.c.e_min)
    pairs = products(operation, parts, observer, zero_exp, PRODUCT_OVERFLOW_EXP)
    c, c_special = observer.term("addend", *addend(parts.z, operation.c, operation.c.e_min))
    special = observer.value("specials", combine([*(s for _, s in pairs), c_special]))
    observer.when(special.finite)
    # 2. T, at the exponent of the products
    multiplied = [term for term, _ in pairs]
    if isinstance(operation, GTRFDPA):
        named = zip(("even", "odd"), (multiplied[::2], multiplied[1::2]), strict=True)
        groups = [truncated(name, group, operation.F, "RZ", observer) for name, group in named if group]
        dot = truncated("dot", groups, operation.F, operation.truncation, observer)
    else:
        dot = truncated("dot", multiplied, operation.F, "RZ", observer)
    # 3. the exponent of the sum with c
    largest = observer.value("out_max_exp", max_exp([dot, c]))
    if isinstance(operation, GTRFDPA):
        is_dropped = c.exp < largest.e_max - (operation.F + 1)
        c = Term(c.sign, c.exp, choose(is_dropped, Number.constant(terms, 0), c.sig), c.frac)
    # 4. T and c there, added
    lsb_frac = max(operation.F2 + 1, operation.F)
    aligned = []
    for k, (term, F) in enumerate(((dot, operation.F2 + 1), (c, operation.F))):
        part = observer.value(f"out_align_{k}", align(term, largest.e_max, F, operation.truncation))
        aligned.append(Aligned(part.sign, part.aligned.times_two_to(lsb_frac - F)))
    total = observer.total("out_accumulate", aligned, accumulate(aligned))
    # 5. normalise, truncate to F2 fraction bits, convert
    kept, lsb = normalised_truncated(total, largest.e_max - lsb_frac, operation.c.e_min, operation.F2, operation.truncation)
    code = converted(kept, lsb, operation.conversion, operation.overflow, operation.flush_results)
    otherwise = special_code(special, operation.d, quiet_nan(operation.d))
    d = terms.choice(special.finite.bits, lambda: code, lambda: otherwise)
    return observer.value("d", Result(Code(d))).code.bits


def truncated(name: str, summed: Sequence[Term], F: int, mode: Mode, observer: Observer) -> Term:
    """The sum of terms, each truncated to F fraction bits at the largest exponent: a term there (golden:
    `RoundedFDPA.truncated_sum`)."""
    largest = observer.value(f"{name}_max_exp", max_exp(summed))
    aligned = [observer.value(f"{name}_align_{k}", align(term, largest.e_max, F, mode)) for k, term in enumerate(summed)]
    total = observer.total(f"{name}_accumulate", aligned, accumulate(aligned))
    return Term(total.sign, largest.e_max, total.total, F)


def normalised_truncated(total: Total, lsb: Number, e_min: int, F2: int, mode: Mode) -> tuple[Total, Number]:
    """A total in units of 2^lsb, normalised at e_min or above and cut to F2 fraction bits, and the exponent of its last bit
    (golden: `RoundedFDPA.truncate`). A total that is cut to zero keeps its sign."""
    magnitude = total.total
    lead, lowest = leading_one(magnitude), Number.constant(lsb.terms, e_min) - lsb
    up = choose(lead < lowest, lowest, lead).within(0, max(lead.high, lowest.high))
    placed = magnitude.times_two_to(F2)
    kept = placed.shifted_right(up).within(0, (1 << (F2 + 1)) - 1)
    if mode == "RD":
        lost = ~is_shifted_back(kept, up, placed)
        kept = kept + choose(lost & total.sign, Number.constant(kept.terms, 1), Number.constant(kept.terms, 0))
    return Total(total.sign, kept), up + lsb - F2
