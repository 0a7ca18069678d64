"""When mutants leave nothing to do, and the committed outcome."""

from dataclasses import replace
from typing import Any

import pytest

import golden
from golden import OPERATIONS, Implementation, Unit
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from mmau.jobs.provenance import ROOT
from mmau.mutation.bench import CRASHED, ENDLESS, KILLED, NOT_BUILT, SURVIVED
from mmau.mutation.outcome_table import is_clean
from mmau.mutation.unit_work import MUTANTS
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from rtl.designs.sample_units import mutated_units
from rtl.verilog.emit import to_verilog
from studies.mutants import __main__
from studies.mutants.__main__ import outcome_of, tasks

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
    assert is_clean(outcome(row(KILLED), row(SURVIVED, EQUAL), models=models, states=({"status": KILLED},)))


@pytest.mark.parametrize(
    "bad",
    [row(CRASHED), row(ENDLESS), row(NOT_BUILT), row(SURVIVED), row(SURVIVED, DIFFERENT), row(SURVIVED, UNDECIDED)],
    ids=lambda bad: " ".join([bad["status"], bad.get("settled", {}).get("verdict", "")]),
)
def test_what_has_shown_nothing_and_is_not_proved_equal_is_left_to_do(bad: dict[str, Any]) -> None:
    assert not is_clean(outcome(row(KILLED), bad))


def test_a_task_depends_on_the_sources_and_the_native_library_and_not_on_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(__main__, "mutated_units", lambda: mutated_units()[:1])
    made_with = {"commit": "1", "sources": "2", "library": "3", "processor": "4", "platform": "5"}
    (key,) = (task.key for task in tasks(10, made_with))
    for name in made_with:
        (other,) = (task.key for task in tasks(10, made_with | {name: "6"}))
        assert (other != key) is (name in ("sources", "library")), name


def test_parts_of_units_are_joined() -> None:
    unit = {"unit": "one", "operation": "FMA"}
    first = unit | {"mutants": [{"number": 1}], "models": ["model"], "states": ["state"]}
    second = unit | {"mutants": [{"number": 2}], "models": [], "states": []}
    other = first | {"unit": "two"}
    assert outcome_of([first, second, other], {})["units"] == [
        first | {"mutants": [{"number": 1}, {"number": 2}]},
        other,
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
