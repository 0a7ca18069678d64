"""Bounds of numbers and parts of magnitudes, exhaustively in few bits."""

import pytest
from bitwuzla import TermManager

from mmau.prove.datapath.ranges import bounds, floor, is_one_below, to_odd
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.numbers import Number, width_of


@pytest.mark.parametrize("places", [1, 2, 3])
def test_retained_parts_of_a_magnitude(places: int) -> None:
    terms = Terms(TermManager())
    number = Number(terms, terms.free("number", 5), 0, 31)
    found = [floor(number, places).bits, to_odd(number, places).bits, is_one_below(number, places).bits]
    evaluation = Evaluation([bits.term for bits in found])
    for value in range(32):
        kept, lost = value >> places, value % (1 << places) != 0
        assert evaluation.of({number.bits.term: value}) == [kept, kept | lost, lost]


def test_nothing_is_left_above_the_last_bit() -> None:
    terms = Terms(TermManager())
    number = Number(terms, terms.free("number", 5), 0, 31)
    evaluation = Evaluation([floor(number, 5).bits.term, is_one_below(number, 9).bits.term])
    assert [evaluation.of({number.bits.term: value}) for value in (0, 1, 16)] == [[0, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(("low", "high"), [(0, 5), (0, 7), (-3, 2), (2, 6), (-4, 3)])
def test_bounds(low: int, high: int) -> None:
    terms = Terms(TermManager())
    width = width_of(low, high)
    number = Number(terms, terms.free("number", width), low, high)
    flags = bounds(number)
    evaluation = Evaluation([flag.bits.term for flag in flags])
    for code in range(1 << width):
        value = code - (1 << width) if low < 0 and code >> (width - 1) else code
        assert all(evaluation.of({number.bits.term: code})) == (low <= value <= high)
