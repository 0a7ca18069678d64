"""answers.md and arrays.json: fronts and winners against a search over all points, and limits that nothing keeps."""

import tomllib
from typing import Any

from mmau.explore.answers import answers, arrays, representatives
from mmau.explore.design_space import Constraint
from mmau.explore.records import is_candidate
from tests.mmau.explore import sample


def rows_under(text: str, head: str) -> list[list[str]]:
    """The rows of the table under a heading, without its first two lines."""
    part = text.partition(f"\n## {head}")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if line.startswith("|")][
        2:
    ]


def done() -> list[dict[str, Any]]:
    return [record for record in sample.records() if record["status"] == "done" and record["kind"] == "point"]


def test_front_is_of_the_points_that_no_other_beats_in_area_and_error() -> None:
    right = [record for record in sample.records() if is_candidate(record)]

    def place(record: dict[str, Any], workload: str) -> tuple[float, float]:
        return record["cost"]["area_um2"], record["accuracy"][workload]["relative_error"]["p99"]

    def is_beaten(one: dict[str, Any], workload: str) -> bool:
        (area, error), others = place(one, workload), [place(other, workload) for other in right]
        return any(x <= area and y <= error and (x, y) != (area, error) for x, y in others)

    wanted = {one["name"] for one in right for workload in ("normal", "outliers") if not is_beaten(one, workload)}
    assert {row[0] for row in rows_under(answers(sample.records(), "t"), "The front")} == wanted


def test_winner_under_each_limit_is_the_smallest_that_keeps_it() -> None:
    limits = [
        Constraint("min_accuracy.normal.arithmetic_snr_db", "accuracy.normal.arithmetic_snr_db", 100.0, None),
        Constraint("max_delay_ns", "cost.delay_ns", 0.5, None),
    ]
    found = dict(rows_under(answers(sample.records(), "t", limits), "The smallest area under each limit"))
    kept = [record for record in done() if record["accuracy"]["normal"]["arithmetic_snr_db"] >= 100]
    assert kept
    smallest = min(kept, key=lambda record: (record["cost"]["area_um2"], record["name"]))
    assert found["accuracy.normal.arithmetic_snr_db ≥ 100.0"] == smallest["name"]
    assert found["cost.delay_ns ≤ 0.5"] == "none"


def test_every_named_point_has_its_file() -> None:
    text = answers(sample.records(), "t")
    named = {row[0] for row in rows_under(text, "The front")} | {row[1] for row in rows_under(text, "The best of each")}
    units = text.partition("\n## The units\n")[2]
    assert named
    assert all(f"\n{name}:\n" in units for name in named)
    for block in units.split("```toml\n")[1:]:
        assert tomllib.loads(block.partition("```")[0])


def test_representatives_of_many_points_are_on_the_front() -> None:
    records = sample.records()
    kept, said = representatives(records, 3)
    names = {row[0] for row in rows_under(answers(records, "t"), "The front")}
    assert {record["name"] for record in kept} <= names
    assert said == f", 3 of {len(records)} points, along the front of area and error"
    assert representatives(records, 1000) == (records, "")


def test_arrays_hold_what_a_model_of_a_system_needs() -> None:
    record = done()[0]
    assert arrays([record]) == []
    record["cost"] |= {"array_area_um2": 10.0, "array_utilisation": {"fc": 0.5}}
    (found,) = arrays([record])
    assert (found["name"], found["area_um2"], found["utilisation"]) == (record["name"], 10.0, {"fc": 0.5})
    assert found["wanted"]["clock_ns"] == 20.0
