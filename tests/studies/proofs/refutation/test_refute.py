"""A question refuted from its text: the answer of a solver counts only with lemmas that the checker accepts."""

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from mmau.formal.obligations.unit_questions import unit_questions
from studies.proofs.refutation import refute
from studies.proofs.refutation.refute import Refutation, refutation
from tests.mmau.formal.obligations.test_unit_questions import FAULTS, faulty
from tests.mmau.formal.provable_units import SMALL, unit_of, verilog_of

COMMUTES = """(set-logic QF_BV)
(declare-const v0 (_ BitVec 4))
(declare-const v1 (_ BitVec 4))
(assert (distinct (bvmul v0 v1) (bvmul v1 v0)))
"""


def test_a_product_commutes(tmp_path: Path) -> None:
    found = refutation(COMMUTES, tmp_path, 30.0)
    assert found.lemmas
    assert found.reason == ""


def test_what_can_be_true_is_not_refuted(tmp_path: Path) -> None:
    can_be = COMMUTES.replace("(bvmul v1 v0)", "(bvmul v1 v1)")
    found = refutation(can_be, tmp_path, 30.0)
    assert (found.lemmas, found.reason) == (None, "the solver says: s SATISFIABLE")


@pytest.mark.parametrize(
    ("lemmas", "reason"),
    [("0\n", "lemma 1 does not follow from what stands before it: "), ("", "the lemmas do not end in a contradiction"),
     ("d 2 0\n", "the lemmas do not end in a contradiction")],
    ids=["contradiction at once", "no lemmas", "only taken back"],
)  # fmt: skip
def test_a_solver_that_lies_is_not_believed(
    lemmas: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says of what can be true that it cannot, with made-up lemmas."""

    def lying(command: list[Any], timeout: float) -> CompletedProcess[str]:
        (tmp_path / "lemmas.drat").write_text(lemmas, encoding="ascii")
        return CompletedProcess(command, 0, "s UNSATISFIABLE\n", "")

    monkeypatch.setattr(refute, "run_tool", lying)
    found = refutation(COMMUTES.replace("(bvmul v1 v0)", "(bvmul v1 v1)"), tmp_path, 30.0)
    assert (found.lemmas, found.reason) == (None, reason)


def test_a_solver_that_crashes_refutes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refute, "run_tool", lambda command, timeout: CompletedProcess(command, -11, "", ""))
    assert refutation(COMMUTES, tmp_path, 30.0) == Refutation(None, "the solver says: nothing", 180)


@pytest.mark.slow
def test_steps_of_a_unit_are_refuted_and_none_of_its_faults(tmp_path: Path) -> None:
    """The sum is left out: its lemmas are tens of thousands."""
    sound = [each for each in unit_questions(unit_of(SMALL)) if "accumulate" not in each.name]
    found = {each.name: refutation(each.text, tmp_path, 60.0) for each in sound}
    assert {"decode_x_0", "multiply_0", "d"} <= found.keys()
    assert {name: each.reason for name, each in found.items() if each.lemmas is None} == {}
    wrong = unit_questions(unit_of(SMALL), faulty(verilog_of(SMALL), *FAULTS["a product of significands"]))
    reasons = {refutation(each.text, tmp_path, 60.0).reason for each in wrong if each.name.startswith("multiply")}
    assert "the solver says: s SATISFIABLE" in reasons
