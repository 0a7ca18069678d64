"""IDPA as a term of its operands (golden/operations/idpa.py)."""

from collections.abc import Mapping

from golden.arithmetic.formats import Format, IntegerFormat
from golden.operations import IDPA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import element
from mmau.prove.specification.numbers import Number, choose, total
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Code, Result, Word


def idpa(terms: Terms, operation: IDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """IDPA (golden: `IDPA.step`): the exact sum if the operation saturates, its low bits if it wraps around."""
    a, b, d = operation.a, operation.b, operation.d
    # 1. exact terms, always encoded with a sign, in all bits of the datapath's port: the sum reads them all, although the
    # product of two bits needs fewer
    products, bounds = [], (-1, (1 << (a.width + b.width - (a.signed or b.signed))) - 1)
    for k in range(operation.length):
        x, y = (integer(terms, element(terms, ports[name], k, fmt.width), fmt) for name, fmt in (("a", a), ("b", b)))
        product = x * y if operation.combination == "multiply" else differing(x, y)
        products.append(observer.integer(f"multiply_{k}", product.loosened(*bounds)))
    c = integer(terms, ports["c"], operation.c)
    # 2. accumulate
    exact = total([*products, c])
    if operation.overflow == "wrap":
        word = observer.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(d.width))))
        return observer.value("d", Result(word.total)).code.bits
    bits = word_bits(operation)
    word = observer.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(bits))))
    held = Number(terms, word.total.bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    # 3. into the range of the result
    lowest, highest = -(1 << (d.width - 1)), (1 << (d.width - 1)) - 1
    above = choose(held > highest, Number.constant(terms, highest), held)
    narrowed = choose(held < lowest, Number.constant(terms, lowest), above).within(lowest, highest)
    return observer.value("d", Result(Code(narrowed.held_in(d.width)))).code.bits


def differing(x: Number, y: Number) -> Number:
    """1 where two bits differ, else 0."""
    one, zero = Number.constant(x.terms, 1), Number.constant(x.terms, 0)
    return choose(x.equals(y), zero, one)


def word_bits(operation: IDPA) -> int:
    """Bits that hold every sum: of products, each below 2^(bits of a and b), and c."""
    largest = operation.length << (operation.a.width + operation.b.width)
    return max(largest.bit_length(), operation.c.width) + 1


def integer(terms: Terms, code: Bits, fmt: Format) -> Number:
    """The integer value of a code."""
    if not isinstance(fmt, IntegerFormat):
        raise TypeError(f"an integer format was expected, got {fmt}")
    half = 1 << (fmt.width - 1)
    return Number(terms, code, *((-half, half - 1) if fmt.signed else (0, 2 * half - 1)))
