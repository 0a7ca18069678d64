"""Estimates: they grow with the work, and follow what was measured here."""

import pytest

from mmau.explore.run.estimate import estimate_text, rough_seconds, seconds_of
from mmau.explore.run.point_tasks import distinct_tasks, parts_of
from mmau.jobs import DONE, Record, Task
from tests.mmau.explore.space.texts import MEASURED, SMALL, space_of

SPACE = space_of(SMALL + MEASURED)
TASKS = distinct_tasks([part for point in SPACE.points() for part in parts_of(SPACE, point)])


def recorded(task: Task, factor: float) -> Record:
    return Record(task, DONE, {}, "", factor * rough_seconds(task), None, None)


def test_larger_units_take_longer() -> None:
    costs = [task for task in TASKS if task.content["part"] == "cost"]
    assert rough_seconds(costs[0]) < rough_seconds(costs[-1])


def test_estimate_follows_the_times_of_the_same_part() -> None:
    rough = seconds_of(TASKS, [])
    assert rough == pytest.approx(sum(map(rough_seconds, TASKS)))
    assert seconds_of(TASKS, [recorded(task, 3.0) for task in TASKS]) == pytest.approx(3 * rough)
    costs = [task for task in TASKS if task.content["part"] == "cost"]
    others = rough - sum(map(rough_seconds, costs))
    assert seconds_of(TASKS, [recorded(costs[0], 2.0)]) == pytest.approx(others + 2 * (rough - others))
    assert seconds_of([], []) == 0


def test_estimate_is_printed_for_the_workers() -> None:
    assert estimate_text(240.0, 2) == "about 2 min 0 s on 2 workers"
    assert estimate_text(240.0, 1) == "about 4 min 0 s on 1 worker"


def test_tasks_are_in_the_order_that_workers_profit_from() -> None:
    """The longest work first, and accuracies of one workload side by side."""
    kinds = [task.content["part"] for task in TASKS]
    assert kinds.index("accuracy") > max(n for n, kind in enumerate(kinds) if kind != "accuracy")
    workloads = [task.content["workload"] for task in TASKS if task.content["part"] == "accuracy"]
    assert workloads == ["normal"] * 6 + ["properties"] * 6
