"""The pairwise maximum: proved with its gaps; wrong comparisons, selections and gaps refuted."""

from collections.abc import Callable
from typing import Any

import pytest

from golden import Operation, Unit
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from mmau.prove.counterexample import vector
from mmau.prove.datapath.max_exp import PairwiseProof, is_comparison
from mmau.prove.datapath.unit_questions import unit_questions
from tests.mmau.prove.datapath.test_unit_questions import faulty
from tests.mmau.prove.provable_units import OPERATIONS, SMALL, not_proved, unit_of, verilog_of
from tests.volume import one_in

SECONDS = 30.0


def in_pairs(operation: Operation, encoding: str = "ones-complement") -> Unit:
    return unit_of(operation, encoding, max_exp="pairwise")


@pytest.mark.slow
def test_a_small_unit_is_proved() -> None:
    names = {each.name.removeprefix("sum_max_exp ") for each in unit_questions(in_pairs(SMALL))}
    assert {"comparison", "largest", "selects", "selected", "one", "gap"} <= names
    assert not_proved(in_pairs(SMALL)) == []


@pytest.mark.long
@pytest.mark.parametrize("k", range(len(OPERATIONS)), ids=lambda k: f"{OPERATIONS[k].name} {OPERATIONS[k].a}")
def test_units_with_every_key_changed_are_proved(k: int) -> None:
    keys = {key: choices[-1] for key, choices in CIRCUIT_CHOICES.items()}
    assert not_proved(unit_of(OPERATIONS[k], ENCODINGS[k % 3], **keys)) == []


@pytest.mark.long
@pytest.mark.parametrize("L", [1, 2])
def test_one_product_and_two(L: int) -> None:
    grouped = next(operation for operation in OPERATIONS if operation.name == "GTR-FDPA")
    assert not_proved(in_pairs(grouped.changed(L=L))) == []


FAULTS = {
    "a defeat that counts as a win": (r"(assign \S+  = )~ (wins_0_1;)", r"\1\2"),
    "a defeat that is overlooked": (r"(assign \S+  = \| \{) \S+ , ", r"\1 "),
    "a difference of the wrong two": (r"(\$signed\(exp_0\) - \$signed\()exp_1", r"\1exp_2"),
    "an exponent that is never selected": (r"(\? 6'h00 : )exp_1;", r"\g<1>6'h00;"),
    "the gap of another exponent": (r"(\$signed\(exp_2\) - \$signed\()exp_0", r"\1exp_1"),
}
"""A pattern of the Verilog, and what it becomes in the first place where it stands in max_exp."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(3, FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_is_refuted_and_replayed(fault: str) -> None:
    unit = in_pairs(SMALL)
    verilog = faulty(verilog_of(SMALL, max_exp="pairwise"), *FAULTS[fault], "max_exp")
    names = not_proved(unit, verilog)
    found = next(filter(None, (vector(unit, verilog, name, SECONDS) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.got != found.expected


def _without(name: str) -> Callable[..., Any]:
    sound = PairwiseProof._fact

    def fact(self: PairwiseProof, called: str, *rest: Any) -> Any:
        made = sound(self, called, *rest)
        return [] if called == name else made

    return fact


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selects", "selected", "one", "gap"])
def test_every_part_of_the_argument_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PairwiseProof, "_fact", _without(name))
    assert not_proved(in_pairs(SMALL))


@pytest.mark.slow
def test_an_exponent_that_the_argument_leaves_out_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one of all but the first exponent is selected does not follow."""
    sound = PairwiseProof.selection

    def without_first(self: PairwiseProof) -> Any:
        kept, self._selected = self._selected, [~self._selected[0] & self._selected[0], *self._selected[1:]]
        try:
            return sound(self)
        finally:
            self._selected = kept

    monkeypatch.setattr(PairwiseProof, "selection", without_first)
    assert not_proved(in_pairs(SMALL))


def test_which_wires_are_cut() -> None:
    assert is_comparison("sum_max_exp.wins_0_12")
    assert not is_comparison("sum_max_exp.exp_0")
    assert not is_comparison("sum_accumulate.wins_0_1")
