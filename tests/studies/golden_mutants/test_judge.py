"""Who notices a mutation: every witness that can, and none that is not asked."""

from typing import Any

import pytest

from studies.golden_mutants import __main__
from studies.golden_mutants.__main__ import Reason, problems
from studies.golden_mutants.boundary_rows import BoundaryUnit, boundary_units
from studies.golden_mutants.judge import LITERALS, NATIVE, RECORDED, SPECIFICATION, TWIN, Judge, Verdict, reference_modules
from studies.golden_mutants.mutations import mutations
from studies.golden_mutants.witnesses import SPECIFYING, WRONG, Specified, golden_results, operation_or_none
from studies.symbolic.model_copy import copied, unchanged
from tests.golden.native.native_rows import needs_native
from tests.volume import one_in

pytestmark = needs_native

UNNOTICED = {
    "operations.tr_fdpa.RoundedFDPA.product_special: "
    "`if (p.sig * q.sig).bit_length() + lsb > PRODUCT_OVERFLOW_EXP` → `if False`": "TR-FDPA",
    "operations.tr_fdpa.RoundedFDPA.step: `if total < 0 and kept == 0` → `if False`": "TR-FDPA",
    "operations.gtr_fdpa.GTRFDPA.drops_c: `c_exp < e_out - self.F - 1` → `c_exp <= e_out - self.F - 1`": "GTR-FDPA",
    "operations.t_fdpa.TruncatedFDPA.step: `0 if self.d.decode(d).cls is Cls.ZERO else d` → `d`": "T-FDPA",
}
"""Mutations that comparisons with random rows do not notice, and their operations."""


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, UNNOTICED))
def test_what_random_rows_do_not_show(name: str) -> None:
    assert set(judged(name, UNNOTICED[name]).noticed) == {RECORDED, TWIN, NATIVE, SPECIFICATION}


def judged(name: str, operation: str) -> Verdict:
    """The verdict on a mutation of an operation's file, on the rows of that operation."""
    units = [unit for unit in boundary_units() if unit.keys["operation"] == operation]
    (mutation,) = (each for module in reference_modules() for each in mutations(module) if each.name == name)
    return Judge(units).verdict(mutation)


@pytest.mark.slow
def test_a_constant_that_the_specification_imports_is_for_the_literals() -> None:
    found = judged("operations.tr_fdpa.PRODUCT_OVERFLOW_EXP: `128` → `129`", "TR-FDPA")
    assert set(found.noticed) == {RECORDED, TWIN, NATIVE, LITERALS}
    assert found.is_complete


@pytest.mark.slow
def test_what_nobody_can_notice() -> None:
    found = judged("rounding.shift_and_round: `shift <= 0` → `shift < 0`", "IDPA")
    assert found.noticed == {}
    assert found.missing == [RECORDED, TWIN, NATIVE, SPECIFICATION]


def test_a_mutant_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = boundary_units()[0]

    class Endless:
        def step(self, *operands: Any) -> int:
            while True:
                pass

    monkeypatch.setattr("studies.golden_mutants.witnesses.SECONDS", 0.01)
    assert next(golden_results(Endless(), unit)) == WRONG


def test_a_specification_that_cannot_be_made() -> None:
    unit, modules = boundary_units()[0], copied(unchanged, *SPECIFYING)
    assert Specified(modules, unit, None).d(unit.rows[0]) == WRONG
    assert Specified(modules, unit, operation_or_none(modules, unit)).d(unit.rows[0]) == unit.rows[0].d
    assert operation_or_none(modules, BoundaryUnit({"operation": "T-FDPA"}, unit.rows)) is None


RESULTS: dict[str, Any] = {
    "golden.arithmetic.steps": {
        "mutations": {
            "steps.f: `1` → `2`": {"noticed": [RECORDED, NATIVE, SPECIFICATION, TWIN], "missing": []},
            "steps.f: `1` → `0`": {"noticed": [RECORDED, NATIVE, SPECIFICATION], "missing": [TWIN]},
        },
        "not entered": ["_validate"],
    }
}


def test_what_is_not_noticed_needs_a_reason_and_a_reason_needs_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "REASONS", ())
    assert problems(RESULTS) == ["steps.f: `1` → `0`: not noticed by twin"]
    reason = Reason("because", frozenset({TWIN}), (r"steps\.f: `1` → `0`",))
    monkeypatch.setattr(__main__, "REASONS", (reason,))
    assert problems(RESULTS) == []
    other = Reason("because", frozenset({NATIVE}), (r"steps\.f: `1` → `0`", r"steps\.g: .*"))
    monkeypatch.setattr(__main__, "REASONS", (reason, other))
    assert problems(RESULTS) == [
        r"no mutation that is not noticed needs steps\.f: `1` → `0`", r"no mutation that is not noticed needs steps\.g: .*"
    ]  # fmt: skip


def test_a_function_that_no_row_enters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "REASONS", ())
    assert problems({"golden.arithmetic.steps": {"mutations": {}, "not entered": ["_validate", "g"]}}) == [
        "no row enters steps.g"
    ]
