"""Variants of units with a table [sums]: a unit that is wrong in one key is one of them."""

import pytest

from golden.stimulus import OperandShape, generate
from golden.variants.keys import sum_variants
from golden.variants.variant import Model, Rows
from tests.sum_units import SUM_UNITS

SOUGHT = {name: sums for name, sums in SUM_UNITS.items() if not {"tree"} & sums.wrong.keys() and name != "rounded products"}
"""Those whose wrong key has a neighbouring value: no tree of places, and no other format of a node."""


@pytest.mark.parametrize(
    "name", [next(iter(SOUGHT)), *(pytest.param(each, marks=pytest.mark.slow) for each in list(SOUGHT)[1:])]
)
def test_a_wrong_key_of_sums_is_a_variant(name: str) -> None:
    unit, wrong = SOUGHT[name].unit(), SOUGHT[name].unit(is_wrong=True)
    rows = generate(OperandShape.of(unit, unit.usual_K), 300, 3).operands
    expected, got = unit.dot(*rows), wrong.dot(*rows)
    model, given = Model.of(unit, unit.usual_K), Rows(*rows, got, expected)
    assert model.results(given).tolist() == expected.tolist()
    fitting = [each.words for each in sum_variants(model) if each.results(given).tolist() == got.tolist()]
    (key, value), own = next(iter(SOUGHT[name].wrong.items())), SOUGHT[name].sums
    assert f"{key} is {value}, not {own[key]}" in fitting
