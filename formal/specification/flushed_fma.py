"""FTZ-FMA and FTZ-EO-FMA as terms of their operands (golden/operations/flushed_fma.py, ftz_fma.py, ftz_eo_fma.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from formal.specification.fma import LIFT, first_nan, rounded_sum
from formal.specification.fused import decoded, element
from formal.specification.keep import Keep
from formal.specification.numbers import Flag
from formal.specification.rounded_sums import Rounding, lifted
from formal.specification.steps import Subnormals, addend, decode, multiply
from formal.specification.values import Code, Result, Special, Term
from golden.conversion import conversion
from golden.formats import FP32, Format
from golden.operations import FTZEOFMA, FTZFMA
from golden.operations.flushed_fma import FlushedFMA
from golden.specials import invalid_nan
from rtl.verilog.terms import Bits, Terms

FLUSHED = Rounding(conversion("RNE-FP32"), "tiny")
"""Of every sum."""


@dataclass(frozen=True)
class Product:
    """An exact product, what it is where it is not finite, and its factors' codes in fp32, each with whether it is NaN."""

    term: Term
    special: Special
    nans: list[tuple[Flag, Bits]]


def ftz_fma(terms: Terms, operation: FTZFMA, ports: Mapping[str, Bits], keep: Keep) -> Bits:
    """FTZ-FMA (golden: `FTZFMA.step`)."""
    products, d = multiplied(terms, operation, ports, keep), ports["c"]
    for k in operation.product_order:
        d = fma(terms, f"add_{k}_0", products[k], d, keep)
    return keep.value("d", Result(Code(d))).code.bits


def ftz_eo_fma(terms: Terms, operation: FTZEOFMA, ports: Mapping[str, Bits], keep: Keep) -> Bits:
    """FTZ-EO-FMA (golden: `FTZEOFMA.step`)."""
    products = multiplied(terms, operation, ports, keep)
    # 1. two chains
    zero = Bits(terms.number(0, FP32.width).term, FP32.width)  # a term like any other code
    chains = [zero, zero]
    for k in operation.product_order:
        chains[k % 2] = fma(terms, f"add_{k - k % 2}_{k % 2}", products[k], chains[k % 2], keep)
    # 2. their sum
    total = add(terms, "add_sums_0", chains[0], chains[1], keep)
    # 3. accumulate
    return keep.value("d", Result(Code(add(terms, "add_c_0", ports["c"], total, keep)))).code.bits


def multiplied(terms: Terms, operation: FlushedFMA, ports: Mapping[str, Bits], keep: Keep) -> list[Product]:
    """The products. An element that is subnormal in fp32 too is a zero of its sign; fp16's are normal numbers there."""
    fmt, length = operation.a, operation.length
    subnormals: Subnormals = "±0" if fmt.e_min == FP32.e_min else "kept"
    x, y = (decoded(terms, keep, name, ports[port], fmt, length, subnormals) for name, port in (("x", "a"), ("y", "b")))
    products = []
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        pair = multiply(p, q, operation.product_frac, 2 * FP32.e_min)
        term, special = keep.term(f"multiply_{k}", *pair)
        codes = [widened_nan(terms, element(terms, ports[port], k, fmt.width), fmt) for port in ("a", "b")]
        products.append(Product(term, special, [(p.nan, codes[0]), (q.nan, codes[1])]))
    return products


def widened_nan(terms: Terms, code: Bits, fmt: Format) -> Bits:
    """A NaN of fp16 or bf16 in fp32: its sign, its payload at the top of the mantissa (golden: `flushed_fma.widened`)."""
    sign, payload = terms.part(code, fmt.width - 1, fmt.width - 1), terms.part(code, fmt.man_bits - 1, 0)
    exponent = terms.number((1 << FP32.exp_bits) - 1, FP32.exp_bits)
    return terms.joined([sign, exponent, payload, terms.number(0, FP32.man_bits - fmt.man_bits)])


def fma(terms: Terms, name: str, product: Product, code: Bits, keep: Keep) -> Bits:
    """A product and a code of fp32 added (golden: `FlushedFMA.fma`)."""
    z, pair = decoded_term(terms, name, "z", code, keep)
    pairs = [(lifted(product.term, FP32.man_bits + LIFT), product.special), pair]
    return with_first_nan(name, pairs, [*product.nans, z], keep)


def add(terms: Terms, name: str, x: Bits, y: Bits, keep: Keep) -> Bits:
    """Two codes of fp32 added (golden: `FlushedFMA.add`)."""
    p, p_pair = decoded_term(terms, name, "x", x, keep)
    q, q_pair = decoded_term(terms, name, "y", y, keep)
    return with_first_nan(name, [p_pair, q_pair], [p, q], keep)


def decoded_term(
    terms: Terms, name: str, side: str, code: Bits, keep: Keep
) -> tuple[tuple[Flag, Bits], tuple[Term, Special]]:
    """A code of fp32, with whether it is NaN; and as a term."""
    z = keep.value(f"{name}_decode_{side}", decode(terms, FP32, code, "±0"))
    pair = keep.term(f"{name}_term_{side}", *addend(z, FP32, FP32.e_min))
    return (pair[1].nan, code), pair


def with_first_nan(name: str, pairs: Sequence[tuple[Term, Special]], nans: Sequence[tuple[Flag, Bits]], keep: Keep) -> Bits:
    """The rounded sum of two terms, or the first of these NaNs."""
    code, special = rounded_sum(name, pairs, FLUSHED, f"{name}_specials", keep)
    terms = special.nan.terms
    nan = first_nan(nans, FP32, terms.number(invalid_nan(FP32), FP32.width))
    return terms.choice(special.nan.bits, lambda: nan, lambda: code)
