"""The specification of what a tile of converted operands does beside its steps, against golden."""

from itertools import product
from random import Random

import pytest
from bitwuzla import TermManager

from golden.arithmetic.formats import E4M3, E5M2, FP16, FP32, Format
from golden.arithmetic.specials import nvidia_nan
from golden.chains.chain import to_fp16 as golden_fp16
from golden.operations.ieee import add
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.fma import addition, to_fp16
from mmau.prove.specification.observer import Observer

EDGES = (0, 1, 2)
"""Distances of codes from zero, the least normal number, the largest number and infinity."""


@pytest.mark.parametrize("source", [E4M3, E5M2], ids=str)
def test_every_code_is_converted_as_golden_converts_it(source: Format) -> None:
    terms = Terms(TermManager())
    code = terms.free("code", source.width)
    specified = Evaluation([to_fp16(terms, source, code).term])
    for value in range(1 << source.width):
        assert specified.of({code.term: value}) == [golden_fp16(source, value)], hex(value)


def codes(fmt: Format) -> list[int]:
    """Codes at the ends of the ranges, with either sign, and random ones."""
    infinity = fmt.signed_infinity(0)
    ends = [place + k for place in (0, 1 << fmt.man_bits, infinity) for k in EDGES]
    ends += [infinity - 1, infinity + (1 << fmt.man_bits) - 1]
    random = Random(7)
    ends += [random.getrandbits(fmt.width - 1) for _ in range(8)]
    return [sign << (fmt.width - 1) | code for code in ends for sign in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("fmt", [FP16, FP32], ids=str)
def test_the_addition_is_goldens_but_for_the_sign_of_two_negative_zeros(fmt: Format) -> None:
    terms = Terms(TermManager())
    ports = {name: terms.free(name, fmt.width) for name in "xy"}
    specified = Evaluation([addition(terms, fmt, ports, Observer()).term])
    for x, y in product(codes(fmt), repeat=2):
        expected = 0 if x == y == fmt.negative_zero else add(x, y, fmt, nvidia_nan(fmt))
        (found,) = specified.of({ports["x"].term: x, ports["y"].term: y})
        assert found == expected, (hex(x), hex(y))
