"""Operands made from the values that their products should have."""

from collections.abc import Mapping
from fractions import Fraction

import golden
from tests.golden.inputs import Operands
from tests.twin.twin_numbers import exponent_of, two_to

Values = Mapping[int, Fraction]
"""Product k → its exact value, ± a power of two; the products that are not named are zero."""


def exact_code(operand: golden.Format, value: Fraction) -> int:
    """The code of a value that the format holds exactly."""
    code = operand.encode(value)
    assert operand.value(code) == value, f"{operand} cannot hold {value}"
    return code


def products(instruction: golden.Instruction, values: Values, c: Fraction = Fraction(0)) -> Operands:
    """Operands whose k-th product, scales included, is values[k].

    An exponent is halved between the two operands; under scales, the first product of a block gives its scales their
    exponent, and the others of the block are made relative to it.
    """
    K, block_size = instruction.k, instruction.block_size
    a, b = [0] * K, [0] * K
    blocks = K // block_size if block_size else 0
    scale_exponents = [0] * blocks
    taken: set[int] = set()
    for k, value in values.items():
        exponent = exponent_of(value)
        if block_size:
            block = k // block_size
            if block not in taken:
                taken.add(block)
                scale_exponents[block] = exponent
            exponent -= scale_exponents[block]
        assert abs(value) == two_to(exponent_of(value))
        a[k] = exact_code(instruction.a, two_to(exponent // 2))
        b[k] = exact_code(instruction.b, two_to(exponent - exponent // 2) * (1 if value > 0 else -1))
    scales: tuple[list[int], list[int]] = ([], [])
    if instruction.scale is not None:
        scales = (
            [exact_code(instruction.scale, two_to(e // 2)) for e in scale_exponents],
            [exact_code(instruction.scale, two_to(e - e // 2)) for e in scale_exponents],
        )
    return Operands(a, b, exact_code(instruction.c, c), *scales)
