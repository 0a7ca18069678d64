"""FTZ-FMA and FTZ-EO-FMA as terms of their operands (golden/operations/flushed_fma.py, ftz_fma.py, ftz_eo_fma.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.specials import invalid_nan
from golden.operations import FTZEOFMA, FTZFMA
from golden.operations.flushed_fma import FlushedFMA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fma import LIFT, first_nan, rounded_sum
from mmau.prove.specification.fused import decoded, element
from mmau.prove.specification.numbers import Flag
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import Rounding, lifted
from mmau.prove.specification.step_results import Code, Result, Special, Term
from mmau.prove.specification.steps import Subnormals, addend, decode, multiply

FLUSHED = Rounding(conversion("RNE-FP32"), "tiny")
"""The rounding of every sum."""


@dataclass(frozen=True)
class Product:
    """An exact product, its flags for results that are not finite, and its factors' codes in fp32, each with a NaN flag."""

    term: Term
    special: Special
    nans: list[tuple[Flag, Bits]]


def ftz_fma(terms: Terms, operation: FTZFMA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that FTZ-FMA gives (golden: `FTZFMA.step`)."""
    products, d = multiplied(terms, operation, ports, observer), ports["c"]
    for k in operation.product_order:
        d = fma(terms, f"add_{k}_0", products[k], d, observer)
    return observer.value("d", Result(Code(d))).code.bits


def ftz_eo_fma(terms: Terms, operation: FTZEOFMA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that FTZ-EO-FMA gives (golden: `FTZEOFMA.step`)."""
    products = multiplied(terms, operation, ports, observer)
    # 1. two chains
    zero = Bits(terms.number(0, FP32.width).term, FP32.width)  # the first sum is a term like any other code
    chains = [zero, zero]
    for k in operation.product_order:
        chains[k % 2] = fma(terms, f"add_{k - k % 2}_{k % 2}", products[k], chains[k % 2], observer)
    # 2. their sum
    total = add(terms, "add_sums_0", chains[0], chains[1], observer)
    # 3. accumulate
    return observer.value("d", Result(Code(add(terms, "add_c_0", ports["c"], total, observer)))).code.bits


def multiplied(terms: Terms, operation: FlushedFMA, ports: Mapping[str, Bits], observer: Observer) -> list[Product]:
    """The products of all pairs. An element that is subnormal in fp32 too is a zero of its sign; fp16's subnormals are
    normal in fp32."""
    fmt, length = operation.a, operation.length
    subnormals: Subnormals = "±0" if fmt.e_min == FP32.e_min else "kept"
    x, y = (decoded(terms, observer, name, ports[port], fmt, length, subnormals) for name, port in (("x", "a"), ("y", "b")))
    products = []
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        pair = multiply(p, q, operation.product_frac, 2 * FP32.e_min)
        term, special = observer.term(f"multiply_{k}", *pair)
        codes = [widened_nan(terms, element(terms, ports[port], k, fmt.width), fmt) for port in ("a", "b")]
        products.append(Product(term, special, [(p.nan, codes[0]), (q.nan, codes[1])]))
    return products


def widened_nan(terms: Terms, code: Bits, fmt: Format) -> Bits:
    """A NaN of fp16 or bf16 in fp32: its sign, its payload at the top of the mantissa (golden: `flushed_fma.widened`)."""
    sign, payload = terms.part(code, fmt.width - 1, fmt.width - 1), terms.part(code, fmt.man_bits - 1, 0)
    exponent = terms.number((1 << FP32.exp_bits) - 1, FP32.exp_bits)
    return terms.joined([sign, exponent, payload, terms.number(0, FP32.man_bits - fmt.man_bits)])


def fma(terms: Terms, name: str, product: Product, code: Bits, observer: Observer) -> Bits:
    """A product and a code of fp32 added (golden: `FlushedFMA.fma`)."""
    z, pair = decoded_term(terms, name, "z", code, observer)
    pairs = [(lifted(product.term, FP32.man_bits + LIFT), product.special), pair]
    return with_first_nan(name, pairs, [*product.nans, z], observer)


def add(terms: Terms, name: str, x: Bits, y: Bits, observer: Observer) -> Bits:
    """Two codes of fp32 added (golden: `FlushedFMA.add`)."""
    p, p_pair = decoded_term(terms, name, "x", x, observer)
    q, q_pair = decoded_term(terms, name, "y", y, observer)
    return with_first_nan(name, [p_pair, q_pair], [p, q], observer)


def decoded_term(
    terms: Terms, name: str, side: str, code: Bits, observer: Observer
) -> tuple[tuple[Flag, Bits], tuple[Term, Special]]:
    """An operand of fp32: its code with a NaN flag, and the term that it represents."""
    z = observer.value(f"{name}_decode_{side}", decode(terms, FP32, code, "±0"))
    pair = observer.term(f"{name}_term_{side}", *addend(z, FP32, FP32.e_min))
    return (pair[1].nan, code), pair


def with_first_nan(
    name: str, pairs: Sequence[tuple[Term, Special]], nans: Sequence[tuple[Flag, Bits]], observer: Observer
) -> Bits:
    """The rounded sum of two terms, or the first NaN of the given codes."""
    code, special = rounded_sum(name, pairs, FLUSHED, f"{name}_specials", observer)
    terms = special.nan.terms
    nan = first_nan(nans, FP32, terms.number(invalid_nan(FP32), FP32.width))
    return terms.choice(special.nan.bits, lambda: nan, lambda: code)
