"""Golden's constants are those of docs/numerics.md, also where other implementations import them."""

import sys
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import pytest

from golden import FORMATS, OPERATIONS
from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.operations import tr_fdpa
from studies.golden_mutants import judge


def test_constants_are_those_of_the_written_rules() -> None:
    assert list(judge.differences(sys.modules)) == []


def test_every_constant_is_written_down() -> None:
    assert set(judge.FORMATS) == {*FORMATS, "e8m13"}
    assert len(CONVERSIONS | FP64_CONVERSIONS | TWO_STEP_CONVERSIONS) == len(judge.MODES) * 4 + 2
    for name, operation in OPERATIONS.items():
        defaulted = {key.name for key in fields(operation) if key.default is not MISSING}
        assert set(judge.defaults_of(name, operation.unit_keys())) == defaulted, name


@pytest.mark.parametrize("name", ["NO_PRODUCT_EXP", "PRODUCT_OVERFLOW_EXP"])
def test_a_wrong_constant_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tr_fdpa, name, getattr(tr_fdpa, name) + 1)
    assert list(judge.differences(sys.modules)) == ["a constant of TR-FDPA or of FTZ-FMA"]


def test_a_wrong_nan_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_ones(d: Any) -> int:
        return (1 << d.width) - 1

    wrong: Callable[[Any], int] = all_ones
    monkeypatch.setattr("golden.arithmetic.specials.nvidia_nan", wrong)
    assert list(judge.differences(sys.modules)) == [f"nvidia_nan of {name}" for name in ("fp32", "fp16", "bf16")]
