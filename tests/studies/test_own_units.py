"""The check of examples/units: units equal the twin in some rows, what is wrong is seen, the page says what was run."""

from typing import Any

import pytest

from mmau.jobs import DONE, FAILED, Record, Task
from studies.own_units import ROWS, SLICE, VECTORS, compared, page, problems, step_of, tables, tasks, wrong_tables

TABLES = tables()
MADE_WITH = {"commit": "0" * 40, "sources": "1" * 64}


@pytest.mark.parametrize("name", TABLES)
def test_unit_equals_the_twin(name: str) -> None:
    found = compared(step_of(TABLES[name]), TABLES[name], 40, seed=7)
    assert (found["rows"], found["differ"], found["first"]) == (40, 0, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if "formats" in table])
def test_twin_sees_a_format_with_one_key_wrong(name: str) -> None:
    for words, wrong in wrong_tables(TABLES[name]):
        found = compared(step_of(wrong), TABLES[name], 300, seed=7)
        assert found["differ"], words
        assert found["first"].startswith("row ")


def records(**changed: Any) -> list[Record]:
    """Records of all tasks, each as it must be but for those of parts that are changed."""
    right: dict[str, Any] = {
        "rows": {"rows": SLICE, "differ": 0, "first": ""},
        "cosimulation": {"received": VECTORS, "mismatches": 0, "first_mismatch": None},
        "proof": {"proved": True, "reason": "", "obligations": 9},
        "cost": {"cells": 100, "depth": 10},
        "wrong": {"changed": "F = 24 for 25", "vectors": 20, "mismatches": 5},
    }
    found = []
    for task in tasks({}):
        part = task.content["part"].split()[0]
        result = {**right, **changed}[part]
        found.append(record(task, result))
    return found


def record(task: Task, result: Any) -> Record:
    """A record of a task that has the result; of one that failed where it is a text."""
    is_done = not isinstance(result, str)
    return Record(task, DONE if is_done else FAILED, result if is_done else None, "" if is_done else result, 1.0, None, None)


def test_page_of_all_units_as_they_must_be() -> None:
    found = records()
    assert not problems(found)
    text = page(found, MADE_WITH)
    assert f"| {ROWS:,}, 0 | {VECTORS:,}, 0 | proved, 9 obligations | 100 | 10 | F = 24 for 25: 5 |" in text
    assert text.endswith("## What failed\n\nNone.\n\n## What was not run\n\nNone.\n")


@pytest.mark.parametrize(
    ("part", "result", "said"),
    [
        ("rows", {"rows": SLICE, "differ": 1, "first": "row 3"}, "row 3"),
        ("cosimulation", {"received": VECTORS, "mismatches": 2, "first_mismatch": "a = 1"}, "a = 1"),
        ("cosimulation", {"received": VECTORS - 1, "mismatches": 0, "first_mismatch": None}, "None"),
        ("proof", {"proved": None, "reason": "not decided: late", "obligations": 9}, "not decided: late"),
        ("wrong", {"changed": "F = 24", "vectors": 20, "mismatches": 0}, "F = 24 passes"),
        ("cost", "no tool", "failed: no tool"),
    ],
)
def test_what_is_not_as_it_must_be_is_said(part: str, result: Any, said: str) -> None:
    found = records(**{part: result})
    wrong = [record for record in found if record.task.content["part"].startswith(part)]
    assert problems(found) == [f"{record.task.name}: {said}" for record in wrong]


def test_page_says_what_was_not_run() -> None:
    found = [record for record in records() if record.task.content["part"] == "rows 0"]
    name = next(iter(TABLES))
    assert f"- {name}: {ROWS - SLICE:,} rows, co-simulation, proof, cost, wrong design\n" in page(found, MADE_WITH)
