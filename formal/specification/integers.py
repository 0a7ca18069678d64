"""IDPA as a term of its operands (golden/operations/idpa.py)."""

from collections.abc import Mapping

from formal.specification.fused import element
from formal.specification.keep import Keep
from formal.specification.numbers import Number, choose, total
from formal.specification.values import Code, Result, Word
from golden.formats import Format, IntegerFormat
from golden.operations import IDPA
from rtl.verilog.terms import Bits, Terms


def idpa(terms: Terms, operation: IDPA, ports: Mapping[str, Bits], keep: Keep) -> Bits:
    """IDPA (golden: `IDPA.step`): the sum whole where it saturates, its low bits where it wraps around."""
    a, b, d = operation.a, operation.b, operation.d
    # 1. exact terms
    products = []
    for k in range(operation.length):
        x, y = (integer(terms, element(terms, ports[name], k, fmt.width), fmt) for name, fmt in (("a", a), ("b", b)))
        product = x * y
        products.append(keep.integer(f"multiply_{k}", product.loosened(-1, product.high)))  # held with a sign, always
    c = integer(terms, ports["c"], operation.c)
    # 2. accumulate
    exact = total([*products, c])
    if operation.overflow == "wrap":
        word = keep.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(d.width))))
        return keep.value("d", Result(word.total)).code.bits
    bits = word_bits(operation)
    word = keep.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(bits))))
    held = Number(terms, word.total.bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    # 3. into the range of the result
    lowest, highest = -(1 << (d.width - 1)), (1 << (d.width - 1)) - 1
    above = choose(held > highest, Number.constant(terms, highest), held)
    narrowed = choose(held < lowest, Number.constant(terms, lowest), above).within(lowest, highest)
    return keep.value("d", Result(Code(narrowed.held_in(d.width)))).code.bits


def word_bits(operation: IDPA) -> int:
    """Bits that hold every sum: of products, each below 2^(bits of a and b), and c."""
    largest = operation.length << (operation.a.width + operation.b.width)
    return max(largest.bit_length(), operation.c.width) + 1


def integer(terms: Terms, code: Bits, fmt: Format) -> Number:
    """What a code of an integer format stands for."""
    if not isinstance(fmt, IntegerFormat):
        raise TypeError(f"an integer format was expected, got {fmt}")
    half = 1 << (fmt.width - 1)
    return Number(terms, code, *((-half, half - 1) if fmt.signed else (0, 2 * half - 1)))
