"""The fused operations as terms of their operands (golden/operations/)."""

from collections.abc import Mapping

from formal.specification.conversion import converted, special_code
from formal.specification.keep import Keep
from formal.specification.steps import accumulate, addend, align, combine, decode, max_exp, multiply
from formal.specification.values import Code, Exponent, Operand, Result, Special, Term
from golden.formats import Format
from golden.operations.t_fdpa import TFDPA
from golden.specials import nvidia_nan
from rtl.verilog.terms import Bits, Terms


def element(terms: Terms, vector: Bits, k: int, width: int) -> Bits:
    """Element k of a vector."""
    return terms.part(vector, (k + 1) * width - 1, k * width)


def decoded(terms: Terms, keep: Keep, name: str, vector: Bits, fmt: Format, count: int) -> list[Operand]:
    """The elements of a vector."""
    return [
        keep.value(f"decode_{name}_{k}", decode(terms, fmt, element(terms, vector, k, fmt.width))) for k in range(count)
    ]


def t_fdpa(terms: Terms, operation: TFDPA, ports: Mapping[str, Bits], keep: Keep) -> Bits:
    """T-FDPA (golden: `TruncatedFDPA.step`)."""
    # 1. decode
    x = decoded(terms, keep, "x", ports["a"], operation.a, operation.L)
    y = decoded(terms, keep, "y", ports["b"], operation.b, operation.L)
    z = keep.value("decode_z", decode(terms, operation.c, ports["c"]))
    # 2. exact terms; one without a significand has exponent e_zero
    pairs = [
        keep.term(f"multiply_{k}", *multiply(p, q, operation.product_frac, operation.e_zero))
        for k, (p, q) in enumerate(zip(x, y, strict=True))
    ]
    pairs.append(keep.term("addend", *addend(z, operation.c, operation.e_zero)))
    return truncated_sum(terms, operation, [t for t, _ in pairs], [s for _, s in pairs], keep)


def truncated_sum(terms: Terms, operation: TFDPA, summed: list[Term], specials: list[Special], keep: Keep) -> Bits:
    """Steps 2 to 4 of T-FDPA."""
    special = keep.value("specials", combine(specials))
    keep.when(special.finite, summed)
    # 1. the largest exponent
    largest: Exponent = keep.value("sum_max_exp", max_exp(summed))
    # 2. align each term, add exactly
    aligned = [
        keep.value(f"sum_align_{k}", align(term, largest.e_max, operation.F, operation.truncation))
        for k, term in enumerate(summed)
    ]
    total = keep.value("sum_accumulate", accumulate(aligned))
    # 3. convert; a zero of either sign becomes +0
    code = converted(total, largest.e_max - operation.F, operation.conversion, operation.overflow, canonical=True)
    otherwise = special_code(special, operation.d, nvidia_nan(operation.d))
    d = terms.choice(special.finite.bits, lambda: code, lambda: otherwise)
    return keep.value("d", Result(Code(d))).code.bits
