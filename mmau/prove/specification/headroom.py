"""TR-, GTR-, OC- and PS-FDPA as terms of their operands (golden/operations/tr_fdpa.py, gtr_fdpa.py, headroom_fdpa.py,
oc_fdpa.py, ps_fdpa.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.rounding import Mode
from golden.arithmetic.specials import factor_nan, invalid_nan, quiet_nan
from golden.operations import GTRFDPA, OCFDPA, PSFDPA, TRFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP, RoundedFDPA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.conversion import converted, leading_one, special_code
from mmau.prove.specification.fused import Decoded, decoded, decoded_operands, products, scaled
from mmau.prove.specification.numbers import Flag, Number, any_of, choose, total
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import lifted
from mmau.prove.specification.step_results import Aligned, Code, Operand, Result, Special, Term, Total
from mmau.prove.specification.steps import Subnormals, accumulate, addend, align, combine, decode, is_shifted_back, max_exp


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
    if operation.scale is not None:
        pairs = scaled(operation.scale, operation.K_block, parts, pairs, min(zero_exp, operation.scaled_exp_min), observer)
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


@dataclass(frozen=True)
class Summands:
    """The terms of a sum of finite operands, and what the result is for others.

    Attributes:
        products: the exact products, raised. c: the accumulator. special: whether a term is not finite.
        nan: the code of a NaN result.
    """

    products: list[Term]
    c: Term
    special: Special
    nan: Bits


def oc_fdpa(terms: Terms, operation: OCFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that OC-FDPA gives (golden: `OCFDPA.step`): the exact sum of the aligned terms, less one in the sign
    frame of c for every product of the other sign."""
    summands = summands_of(terms, operation, ports, observer)
    summed = [*summands.products, summands.c]
    largest = observer.value("sum_max_exp", max_exp(summed))
    aligned = [
        observer.value(f"sum_align_{k}", align(term, largest.e_max, operation.F, "RZ")) for k, term in enumerate(summed)
    ]
    missing = missing_increments(aligned)
    in_frame = observer.total_in_frame("sum_accumulate", aligned, missing, accumulate([*aligned, missing]))
    return _result(terms, operation, summands, in_frame, largest.e_max - operation.F, observer)


def missing_increments(aligned: Sequence[Aligned]) -> Aligned:
    """The error of the sum if terms are inverted instead of negated, in the sign frame of the last term: −1 for each term of
    the other sign, zeros included."""
    *others, frame = aligned
    zero, one = Number.constant(frame.sign.terms, 0), Number.constant(frame.sign.terms, 1)
    return Aligned(~frame.sign, total([choose(term.sign ^ frame.sign, one, zero) for term in others]))


def ps_fdpa(terms: Terms, operation: PSFDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """PS-FDPA (golden: `PSFDPA.step`): sums of groups, each rounded down at its own exponent, then at e_max."""
    summands = summands_of(terms, operation, ports, observer)
    groups = [summands.products[k : k + operation.P] for k in range(0, operation.L, operation.P)]
    sums = [truncated(f"group_{g}", group, operation.F, "RD", observer) for g, group in enumerate(groups)]
    c = summands.c
    largest = observer.value("sum_max_exp", max_exp([*sums, c]))
    is_dropped = below_the_grid(c, largest.e_max, operation.F)
    c = Term(c.sign, c.exp, choose(is_dropped, Number.constant(terms, 0), c.sig), c.frac)
    aligned = [
        observer.value(f"sum_align_{k}", align(term, largest.e_max, operation.F, "RD")) for k, term in enumerate([*sums, c])
    ]
    whole = observer.total("sum_accumulate", aligned, accumulate(aligned))
    return _result(terms, operation, summands, whole, largest.e_max - operation.F, observer)


def below_the_grid(c: Term, e_max: Number, F: int) -> Flag:
    """Whether all bits of c lie below the last bit that alignment keeps."""
    return c.exp < e_max - F


def summands_of(terms: Terms, operation: HeadroomFDPA, ports: Mapping[str, Bits], observer: Observer) -> Summands:
    """Steps decode and multiply (golden: `HeadroomFDPA.decoded`, `special`, `exact_products`). A zero product has e_zero
    less h, and so e_zero once it is raised with the others."""
    subnormals = {fmt: _subnormals(operation, fmt) for fmt in (operation.a, operation.b, operation.c)}
    a, b, c = operation.a, operation.b, operation.c
    x = decoded(terms, observer, "x", ports["a"], a, operation.L, subnormals[a])
    y = decoded(terms, observer, "y", ports["b"], b, operation.L, subnormals[b])
    z = observer.value("decode_z", decode(terms, c, ports["c"], subnormals[c]))
    pairs = products(operation, Decoded(x, y, z, [], []), observer, operation.e_zero - operation.h)
    c_term, c_special = observer.term("addend", *addend(z, c, operation.e_zero))
    specials = [special for _, special in pairs]
    special = observer.value("specials", combine([*specials, c_special]))
    nan = written_nan(terms, [*x, *y], specials, z, c)
    observer.when(special.finite)
    return Summands([lifted(term, operation.h) for term, _ in pairs], c_term, special, nan)


def _subnormals(operation: HeadroomFDPA, fmt: Format) -> Subnormals:
    return "±0" if operation.flush_inputs and fmt.e_min == FP32.e_min else "kept"


def written_nan(terms: Terms, factors: Sequence[Operand], specials: Sequence[Special], z: Operand, d: Format) -> Bits:
    """The code of a NaN result, by the first cause (golden: `HeadroomFDPA.special`)."""
    invalid = any_of([special.nan for special in specials])
    opposed = any_of([special.pos_inf for special in specials]) & any_of([special.neg_inf for special in specials])
    of_c = z.nan & ~(invalid | opposed)
    otherwise = terms.choice(of_c.bits, lambda: _quieted(terms, z, d), lambda: terms.number(invalid_nan(d), d.width))
    of_factor = any_of([factor.nan for factor in factors])
    return terms.choice(of_factor.bits, lambda: terms.number(factor_nan(d), d.width), lambda: otherwise)


def _quieted(terms: Terms, z: Operand, d: Format) -> Bits:
    """The code of a NaN c with its quiet bit set; z has the payload in its significand."""
    ones = terms.number((1 << (d.exp_bits + 1)) - 1, d.exp_bits + 1)  # the exponent and the quiet bit
    return terms.joined([z.sign.bits, ones, terms.part(z.sig.bits, d.man_bits - 2, 0)])


def _result(
    terms: Terms, operation: HeadroomFDPA, summands: Summands, summed: Total, lsb: Number, observer: Observer
) -> Bits:
    """Steps normalise, round and encode; what rounds to zero is +0, and then ρ drops low bits of the code (golden:
    `HeadroomFDPA.converted`)."""
    rho, d = operation.conversion, operation.d
    whole = converted(summed, lsb, rho, operation.overflow, operation.flush_results, canonical=True)
    code = terms.part(whole, rho.rounding_format.width - 1, rho.dropped_bits)
    special: Special = summands.special
    infinity = special_code(Special(Flag(terms, terms.number(0, 1)), special.pos_inf, special.neg_inf), d, 0)
    otherwise = terms.choice(special.nan.bits, lambda: summands.nan, lambda: infinity)
    result = terms.choice(special.finite.bits, lambda: code, lambda: otherwise)
    return observer.value("d", Result(Code(result))).code.bits
