"""When mutants leave nothing to do, and the committed outcome."""

from dataclasses import replace
from typing import Any

import pytest

import golden
from golden import OPERATIONS, Implementation, Unit
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from mmau.jobs.provenance import ROOT
from mmau.mutation.bench import CRASHED, ENDLESS, KILLED, NOT_BUILT, SURVIVED
from mmau.mutation.outcome_table import COLUMNS, is_clean
from mmau.mutation.unit_work import MUTANTS
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from rtl.designs.sample_units import mutated_units
from rtl.verilog.emit import to_verilog
from studies.mutants import __main__
from studies.mutants.__main__ import document, outcome_of, tasks

PAGE = ROOT / "docs" / "evidence" / "mutants.md"

OF_EACH_OPERATION = 200
"""Mutants, at least."""


def row(status: str, verdict: str | None = None, **keys: Any) -> dict[str, Any]:
    settled = {} if verdict is None else {"settled": {"verdict": verdict, "how": "so", "inputs": {}, "outputs": {}}}
    mutant = {"number": 1, "kind": "operator", "step": "top", "name": "one", "status": status, "mismatches": 0, "reason": ""}
    return mutant | settled | keys


def outcome(
    *rows: dict[str, Any], models: tuple[dict[str, Any], ...] = (), states: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    unit = {"unit": "u", "operation": "FMA", "mutants": list(rows), "models": list(models), "states": list(states)}
    return {"units": [unit]}


def test_mutants_that_are_killed_or_proved_equal_leave_nothing_to_do() -> None:
    models = ({"seen": True}, {"seen": False, "same": True})
    assert is_clean(outcome(row(KILLED), row(SURVIVED, EQUAL), models=models))


@pytest.mark.parametrize(
    "bad",
    [row(CRASHED), row(ENDLESS), row(NOT_BUILT), row(SURVIVED), row(SURVIVED, DIFFERENT), row(SURVIVED, UNDECIDED)],
    ids=lambda bad: " ".join([bad["status"], bad.get("settled", {}).get("verdict", "")]),
)
def test_what_has_shown_nothing_and_is_not_proved_equal_is_left_to_do(bad: dict[str, Any]) -> None:
    assert not is_clean(outcome(row(KILLED), bad))


def test_no_unit_no_mutant_and_an_unseen_model_are_left_to_do() -> None:
    assert not is_clean({"units": []})
    assert not is_clean(outcome())
    assert not is_clean(outcome(row(KILLED), models=({"seen": False, "same": False},)))


def test_a_fault_of_state_that_lived_is_left_to_do() -> None:
    assert is_clean(outcome(row(KILLED), states=({"status": KILLED},)))
    assert not is_clean(outcome(row(KILLED), states=({"status": KILLED}, {"status": SURVIVED})))


def test_kills_by_the_protocol_are_counted_apart() -> None:
    counted = dict(COLUMNS)["of these by the protocol alone"]
    assert counted(row(KILLED, reason="in_ready stayed low"))
    assert not counted(row(KILLED, mismatches=1, reason="in_ready stayed low"))
    assert not counted(row(CRASHED))


def test_a_task_depends_on_the_sources_and_the_native_library_and_not_on_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(__main__, "mutated_units", lambda: mutated_units()[:1])
    made_with = {"commit": "1", "sources": "2", "library": "3", "processor": "4", "platform": "5"}
    (key,) = (task.key for task in tasks(10, made_with))
    for name in made_with:
        (other,) = (task.key for task in tasks(10, made_with | {name: "6"}))
        assert (other != key) is (name in ("sources", "library")), name


def test_tasks_have_each_mutant_of_each_unit_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "mutated_units", lambda: mutated_units()[:2])
    parts = [task.content for task in tasks(50, {})]
    assert [(part["first"], part["last"]) for part in parts] == [(1, 22), (23, 44), (45, 50)] * 2
    assert len({task.key for task in tasks(50, {})}) == 6
    assert {part["mutants"] for part in parts} == {50}


def test_parts_of_units_are_joined() -> None:
    parts = [
        {
            "unit": name,
            "operation": "FMA",
            "mutants": [{"number": number}],
            "models": ["model"] if number == 1 else [],
            "states": ["state"] if number == 1 else [],
        }
        for name in ("one", "two")
        for number in (1, 2)
    ]
    assert outcome_of(parts, {})["units"] == [
        {
            "unit": name,
            "operation": "FMA",
            "mutants": [{"number": 1}, {"number": 2}],
            "models": ["model"],
            "states": ["state"],
        }
        for name in ("one", "two")
    ]


def without(unit: Unit, key: str) -> Unit:
    """The unit with the key of its implementation at the default."""
    default = getattr(Implementation(), key)
    return replace(unit, implementation=replace(unit.implementation, **{key: default}))


@pytest.mark.long
def test_each_value_of_each_option_is_that_of_a_unit_whose_verilog_it_changes() -> None:
    missing = {
        (key, value)
        for key, values in {"encoding": ENCODINGS, **CIRCUIT_CHOICES, **LATER_KEYS}.items()
        for value in values
        if value != getattr(Implementation(), key)
    }
    for unit in mutated_units():
        for key, value in missing & {(key, getattr(unit.implementation, key)) for key, _ in missing}:
            if to_verilog(unit, "unit") != to_verilog(without(unit, key), "unit"):
                missing.remove((key, value))
    assert missing == set()


def test_zeros_of_ieee_754_are_those_of_units_with_and_without_registers() -> None:
    built = {unit.implementation.stages > 0 for unit in mutated_units() if unit.operation.parameters().get("zero") == "ieee"}
    assert built == {False, True}


def test_a_page_says_of_which_sources_it_is() -> None:
    text = document(outcome_of([], {"commit": "c0ffee", "sources": "5eed"}))
    assert "\nMade on " in text
    assert "; sources of commit `c0ffee`, SHA-256 `5eed`.\n" in text


def rows_of(title: str) -> dict[str, list[int]]:
    """The numbers of a table of the committed page, by the first cell."""
    lines = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip().splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines[2:]]
    return {name: [int(number.replace(",", "")) for number in numbers] for name, *numbers in cells}


def test_the_committed_page_has_all_mutants_of_all_units_killed_or_proved_equal() -> None:
    operations, units = rows_of("By operation"), rows_of("By unit")
    assert [name for name in operations if name != "all"] == [
        name for name in OPERATIONS if any(i.operation.name == name for i in golden.instructions())
    ]
    assert [name for name in units if name != "all"] == [each.name for each in mutated_units()]
    assert {mutants for name, (mutants, *_) in units.items() if name != "all"} == {MUTANTS}
    for name, (mutants, killed, _, crashed, lived, equal, different, undecided) in {**operations, **units}.items():
        assert mutants >= (OF_EACH_OPERATION if name in operations else MUTANTS), name
        assert (crashed, different, undecided, killed + equal) == (0, 0, 0, mutants), name
        assert lived == equal, name
