"""Estimates of the time of tasks before they start."""

import tomllib
from collections import defaultdict
from collections.abc import Sequence
from math import exp, log

from mmau.jobs import Record, Task
from mmau.jobs.progress_line import duration

ROW_PRODUCTS = 4e6
"""Products of an accuracy workload that a second takes, at least: of one core of a server of 2021, as all here."""

WORKLOAD, COST, CIRCUIT = 1.0, 2.5, 2.0
"""Seconds that a part takes on the smallest unit."""

COST_A_PRODUCT, COSIMULATION_A_PRODUCT, PROOF_A_PRODUCT = 0.9, 0.35, 0.1
"""Seconds that each product of a unit adds."""

VECTORS = 2e5
"""Co-simulated vectors that a second takes, of a unit of eight products."""


def rough_seconds(task: Task) -> float:
    """Processor time of a task on such a core, within a factor of a few."""
    content = task.content
    length = int(tomllib.loads(content["unit"]).get("L", 1))
    if content["part"] == "cost":
        return COST + COST_A_PRODUCT * length
    if content["part"] == "proof":
        return CIRCUIT + PROOF_A_PRODUCT * length
    if content["part"] == "cosimulation":
        return CIRCUIT + COSIMULATION_A_PRODUCT * length + int(content["vectors"]) / VECTORS * length / 8
    return WORKLOAD + int(content["rows"]) * length / ROW_PRODUCTS


def seconds_of(waiting: Sequence[Task], known: Sequence[Record]) -> float:
    """The estimated processor time of tasks (s).

    Args:
        known: records of finished tasks, whose times correct the estimates of tasks of the same part.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    for record in known:
        if record.done and record.seconds > 0:
            ratios[_kind(record.task)].append(log(record.seconds / rough_seconds(record.task)))
    corrected = {kind: exp(sum(each) / len(each)) for kind, each in ratios.items()}
    return sum(rough_seconds(task) * corrected.get(_kind(task), 1.0) for task in waiting)


def estimate_text(seconds: float, workers: int) -> str:
    """The estimate as text."""
    return f"about {duration(seconds / workers)} on {workers} worker{'s' * (workers != 1)}"


def _kind(task: Task) -> str:
    workload = task.content.get("workload", "")
    return f"{task.content['part']} {workload}"
