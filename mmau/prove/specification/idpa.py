"""IDPA as a term of its operands (golden/operations/idpa.py)."""

from collections.abc import Mapping

from bitwuzla import Kind

from golden.arithmetic.formats import Format, IntegerFormat
from golden.operations import IDPA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import decoded, element
from mmau.prove.specification.numbers import Flag, Number, any_of, choose, total
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Code, Operand, Result, Word


def idpa(terms: Terms, operation: IDPA, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """IDPA (golden: `IDPA.step`): the exact sum if the operation saturates, its low bits if it wraps around."""
    a, b, d = operation.a, operation.b, operation.d
    # 1. exact terms, always encoded with a sign, in all bits of the datapath's port: the sum reads them all, although the
    # product of two bits needs fewer
    products, specials = [], list[Flag]()
    if operation.is_fixed:
        of_a, of_b = (
            decoded(terms, observer, x, ports[n], f, operation.length) for x, n, f in (("x", "a", a), ("y", "b", b))
        )
        for k, (p, q) in enumerate(zip(of_a, of_b, strict=True)):
            products.append(observer.integer(f"multiply_{k}", fixed_product(operation, p, q)))
        specials = [flag for each in (*of_a, *of_b) for flag in (each.inf, each.nan)]
    else:
        bounds = (-1, (1 << (a.width + b.width - (a.signed or b.signed))) - 1)
        for k in range(operation.length):
            x, y = (integer(terms, element(terms, ports[name], k, fmt.width), fmt) for name, fmt in (("a", a), ("b", b)))
            product = x * y if operation.combination == "multiply" else differing(x, y)
            products.append(observer.integer(f"multiply_{k}", product.loosened(*bounds)))
    c = integer(terms, ports["c"], operation.c)
    # 2. accumulate
    exact = total([*products, c])

    def result(code: Bits) -> Bits:
        """d: the code of a sum of numbers, else that of no number."""
        if operation.nar is not None:
            nar = terms.number(operation.nar, d.width)
            is_nar = any_of([*specials, Flag(terms, terms.truth(terms.equal(ports["c"], nar)))])
            number = code
            code = terms.choice(is_nar.bits, lambda: nar, lambda: number)
        return observer.value("d", Result(Code(code))).code.bits

    if operation.overflow == "wrap":
        word = observer.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(d.width))))
        return result(word.total.bits)
    bits = word_bits(operation)
    word = observer.word("sum_accumulate", [*products, c], Word(Code(exact.held_in(bits))))
    held = Number(terms, word.total.bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    # 3. into the range of the result
    lowest, highest = -(1 << (d.width - 1)) + (operation.nar is not None), (1 << (d.width - 1)) - 1
    above = choose(held > highest, Number.constant(terms, highest), held)
    narrowed = choose(held < lowest, Number.constant(terms, lowest), above).within(lowest, highest)
    return result(narrowed.held_in(d.width))


def fixed_product(operation: IDPA, x: Operand, y: Operand) -> Number:
    """A product in units of the last place of c, in all bits that a product has."""
    a, b, terms = operation.a, operation.b, x.sig.terms
    places, sig = (x.exp - a.e_min) + (y.exp - b.e_min), x.sig * y.sig
    width = operation.product_bits + 1
    moved = terms.apply(Kind.BV_SHL, [sig.held_in(width), places.held_in(width)], width)
    zeros = operation.product_exp_min - operation.product_frac - operation.c.e_min
    magnitude = Number.read(terms, moved, 0, (1 << operation.product_bits - zeros) - 1, signed=False).times_two_to(zeros)
    bound = 1 << operation.product_bits
    return choose(x.sign ^ y.sign, -magnitude, magnitude).loosened(-bound, bound - 1)


def differing(x: Number, y: Number) -> Number:
    """1 where two bits differ, else 0."""
    one, zero = Number.constant(x.terms, 1), Number.constant(x.terms, 0)
    return choose(x.equals(y), zero, one)


def word_bits(operation: IDPA) -> int:
    """Bits that hold every sum: of products, each below 2^(bits of a product), and c."""
    largest = operation.length << operation.product_bits
    return max(largest.bit_length(), operation.c.width) + 1


def integer(terms: Terms, code: Bits, fmt: Format) -> Number:
    """The integer value of a code."""
    if not isinstance(fmt, IntegerFormat):
        raise TypeError(f"an integer format was expected, got {fmt}")
    half = 1 << (fmt.width - 1)
    return Number(terms, code, *((-half, half - 1) if fmt.signed else (0, 2 * half - 1)))
