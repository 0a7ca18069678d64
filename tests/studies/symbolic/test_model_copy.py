"""Copies of golden: as golden computes, or as its changed source does, and the process's own golden stays as it is."""

import sys

import pytest

import golden
from golden.operations import GTRFDPA, TFDPA
from studies.symbolic.model_copy import copied, operation_in
from tests.studies.symbolic.changes import UNNOTICED, replaced


def test_a_copy_is_another_golden() -> None:
    before = dict(sys.modules)
    modules = copied()
    assert {name: module for name, module in sys.modules.items() if name in before} == before
    operation = TFDPA(a="e2m1", b="e3m2", c="fp16", L=3, F=9, rho="RNE-FP16", e_zero=-20)  # type: ignore[arg-type]
    mine = operation_in(modules, operation)
    assert type(mine) is not TFDPA
    assert mine.step([1, 2, 3], [3, 4, 5], 6) == operation.step([1, 2, 3], [3, 4, 5], 6)
    assert "golden.catalogue" not in modules
    assert sys.modules["golden"] is golden


def test_a_changed_copy_computes_otherwise() -> None:
    operation = GTRFDPA(a="bf16", b="bf16", c="fp32", L=1, F=24, F2=31)  # type: ignore[arg-type]
    row = ([0x3F80], [0x3F80], 0xB300_0000)  # 1 − 2^−25
    changed = operation_in(copied(replaced(*UNNOTICED["GTR-FDPA: c is dropped at F + 1"])), operation)
    assert (operation.step(*row), changed.step(*row)) == (0x3F7F_FFFF, 0x3F80_0000)


def test_an_error_leaves_golden_as_it_is() -> None:
    with pytest.raises(ValueError, match=r"^golden\.arithmetic\.steps must have 'no such text' once, got 0 times$"):
        copied(replaced("golden.arithmetic.steps", "no such text", ""))
    assert sys.modules["golden"] is golden
