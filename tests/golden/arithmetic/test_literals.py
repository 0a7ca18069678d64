"""Golden's constants are those of docs/numerics.md, also where other implementations import them."""

import sys
from dataclasses import MISSING, fields

from golden import FORMATS, OPERATIONS
from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from studies.golden_mutants import judge


def test_constants_are_those_of_the_written_rules() -> None:
    assert list(judge.differences(sys.modules)) == []


def test_every_constant_is_written_down() -> None:
    assert set(judge.FORMATS) == {*FORMATS, "e8m13"}
    assert len(CONVERSIONS | FP64_CONVERSIONS | TWO_STEP_CONVERSIONS) == len(judge.MODES) * 4 + 2
    for name, operation in OPERATIONS.items():
        defaulted = {key.name for key in fields(operation) if key.default is not MISSING}
        assert set(judge.defaults_of(name, operation.unit_keys())) == defaulted, name
