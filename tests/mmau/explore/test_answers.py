"""answers.md and arrays.json: fronts and winners against a search over all points, and limits that nothing keeps."""

import tomllib
from typing import Any

import pytest

from mmau.explore.answers import answers, arrays, representatives
from mmau.explore.design_space import Asked, Constraint, Question
from mmau.explore.records import is_candidate
from tests.mmau.explore import sample


def rows_under(text: str, head: str) -> list[list[str]]:
    """The rows of the tables under a heading, without their first two lines."""
    part = text.partition(f"\n{head}")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    heads = [number - 1 for number, line in enumerate(lines) if line.startswith("| ---")]
    kept = [line for number, line in enumerate(lines) if number not in heads and number - 1 not in heads]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in kept]


def done() -> list[dict[str, Any]]:
    return [record for record in sample.records() if record["status"] == "done" and record["kind"] == "point"]


SNR = "accuracy.normal.arithmetic_snr_db"

AT_LEAST_100 = Constraint(f"min_{SNR}", SNR, 100.0, None)


def on_front(text: str) -> set[str]:
    """The names of the points that the table marks."""
    return {row[0] for row in rows_under(text, "## The points") if row[-1].startswith("front")}


def test_front_is_of_the_points_that_no_other_beats_in_area_and_accuracy() -> None:
    right = [record for record in sample.records() if is_candidate(record)]

    def place(record: dict[str, Any], workload: str) -> tuple[float, float]:
        return record["cost"]["area_um2"], -record["accuracy"][workload]["arithmetic_snr_db"]

    def is_beaten(one: dict[str, Any], workload: str) -> bool:
        (area, error), others = place(one, workload), [place(other, workload) for other in right]
        return any(x <= area and y <= error and (x, y) != (area, error) for x, y in others)

    wanted = {one["name"] for one in right for workload in ("normal", "outliers") if not is_beaten(one, workload)}
    assert on_front(answers(sample.records(), "t")) == wanted


def test_every_point_that_is_measured_stands_in_the_table_with_its_figures() -> None:
    records = sample.records()
    for record in records[:20]:
        record["beyond"] = "area_um2 = 9 is above max_area_um2 = 8"
    rows = {row[0]: row for row in rows_under(answers(records, "t"), "## The points")}
    assert {record["name"] for record in done()} <= {*rows}
    assert rows[records[6]["name"]][1] == "112,000"
    assert "beyond a limit" in rows[records[6]["name"]][-1]
    assert "circuit is wrong" in rows[records[0]["name"]][-1]
    assert rows[records[-1]["name"]][-1] == "reference"


def test_winner_of_a_question_is_the_best_of_those_that_keep_its_limits() -> None:
    none = Constraint("max_delay_ns", "delay_ns", 0.5, None)
    coarse = Question("coarse", None, (Constraint("max_F", "F", 12, "F"),), {"encoding": "sign-magnitude"})
    asked = Asked((AT_LEAST_100,), (Question("fast", "delay_ns", (AT_LEAST_100,)), Question("none", None, (none,)), coarse))
    records = sample.records()
    for record in records:  # a limit of the space hides nothing from a question
        record["beyond"] = "some limit"
    found = {row[0]: row for row in rows_under(answers(records, "t", asked), "## Questions")}
    kept = [record for record in done() if record["accuracy"]["normal"]["arithmetic_snr_db"] >= 100]
    kept = [record for record in kept if not record["cosimulation"]["mismatches"]]
    assert kept
    snr = "SNR of arithmetic alone, normal"
    smallest = min(kept, key=lambda record: (record["cost"]["area_um2"], record["name"]))
    assert found[f"least area; {snr} ≥ 100 dB"][1] == smallest["name"]
    fastest = min(kept, key=lambda record: (record["cost"]["delay_ns"], record["name"]))
    row = found[f"**fast**: least delay; {snr} ≥ 100 dB"]
    assert row[1:3] == [fastest["name"], f"delay {fastest['cost']['delay_ns']:.4g} ns; {snr} 108.4 dB"]
    assert found["**none**: least area; delay ≤ 0.5 ns"][1:] == ["none", "–", "–"]
    assert found["**coarse**: least area; F ≤ 12; encoding = sign-magnitude"][1] == "L=4 F=10 sign-magnitude"


def test_points_slower_than_their_clock_win_nothing() -> None:
    records = sample.records()
    asked = Asked((), (Question("small"),))
    (row,) = rows_under(answers(records, "t", asked), "## Questions")
    for record in records:
        if record["name"] == row[1]:
            record["late"] = "delay_ns = 9 is above clock_ns = 1"
    (other,) = rows_under(answers(records, "t", asked), "## Questions")
    assert other[1] != row[1]


def equal_within(error: float) -> list[dict[str, Any]]:
    """Three points whose ratios differ by 0.3 dB, with a standard error."""
    records = [record for record in done() if record["axes"]["encoding"] == "ones-complement"][2:5]
    for number, record in enumerate(records):
        for workload in ("normal", "outliers"):
            measured = record["accuracy"][workload]
            measured["arithmetic_snr_db"] = 20.0 + 0.3 * number
            measured["snr_standard_error_db"] = {"arithmetic": error}
    return records


@pytest.mark.parametrize(("error", "marked"), [(0.1, 0), (0.2, 2)])
def test_points_that_differ_by_chance_are_marked(error: float, marked: int) -> None:
    """Standard errors of a difference are 0.14 and 0.28 dB: neighbours differ by 2.1 and 1.1 of them."""
    text = answers(equal_within(error), "t")
    notes = [row[-1] for row in rows_under(text, "## The points")]
    assert len(notes) == 3
    assert sum("≈ " in note for note in notes) == marked


def test_area_that_mapping_spreads_as_much_is_about_equal() -> None:
    records = equal_within(0.5)
    for record, area in zip(records, (100.0, 101.0, 150.0), strict=True):
        record["cost"] |= {"area_um2": area, "wanted": {"library": "asap7", "clock_ns": 1.0, "activity": 0.1}}
    (row,) = rows_under(answers(records, "t", Asked((), (Question("small"),))), "## Questions")
    assert (row[1], row[-1]) == (records[0]["name"], records[1]["name"])
    assert "| area (µm², ±4 %) |" in answers(records, "t")


def test_what_a_key_changes_is_of_points_that_differ_in_it_alone() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    rows = rows_under(answers(records, "t"), "## What each key changes")
    of = {row[0]: row for row in rows}
    assert of["14 → 22"][1:3] == ["4", "+33 %"]  # (22 + 10) / (14 + 10), whatever L and the encoding are
    assert of["14 → 22"][-1] == "+48.2"
    assert of["4 → 8"][1:3] == ["4", "+100 %"]
    assert of["ones-complement → sign-magnitude"][1:3] == ["4", "+10 %"]


def test_costs_many_times_as_large_are_a_factor() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    for record in records:
        record["cost"]["area_um2"] *= 40 if record["axes"]["F"] == 22 else 1
    (row,) = [row for row in rows_under(answers(records, "t"), "## What each key changes") if row[0] == "14 → 22"]
    assert row[2] == "× 53.3"


def test_few_words_are_compared_each_with_each() -> None:
    records = done()[:3]
    for record, name in zip(records, ("one", "two", "three"), strict=True):
        record["axes"] = {"formats": name}
        record["cosimulation"] = None
    found = [row[0] for row in rows_under(answers(records, "t"), "## What each key changes")]
    assert found == ["one → two", "one → three", "two → three"]


def test_costs_in_other_cells_do_not_compete() -> None:
    records = done()[4:8]
    for number, record in enumerate(records):
        record["cost"]["wanted"]["library"] = ("asap7", "osu018")[number % 2]
        record["cost"]["area_um2"] *= (0.01, 1)[number % 2]
    names = [record["name"] for record in records]
    assert on_front(answers(records, "t")) == {*names}


def test_interrupted_run_says_what_is_missing() -> None:
    records = [*done()[4:6], sample.without_result("L=4 F=99", "unfinished", "not measured: cost", 99)]
    said = answers(records, "t")
    assert "3 points, 2 measured." in said
    assert "Not measured to the end, since the run was interrupted: L=4 F=99; report.html says why." in said


def test_tables_are_narrow_and_have_no_names_of_columns() -> None:
    text = answers(sample.records(), "t", Asked((AT_LEAST_100,)))
    for line in text.partition("\n## The units\n")[0].splitlines():
        assert line.count(" | ") <= 8, line
        assert not any(word in line for word in ("snr_db", "accuracy.", "cost.", "_um2", "p99")), line


def test_every_named_point_has_its_file() -> None:
    text = answers(sample.records(), "t", Asked((AT_LEAST_100,)))
    named = on_front(text) | {row[1] for row in rows_under(text, "## The best of each")}
    named |= {row[1] for row in rows_under(text, "## Questions")}
    units = text.partition("\n## The units\n")[2]
    assert named
    assert all(f"\n{name}:\n" in units for name in named)
    for block in units.split("```toml\n")[1:]:
        assert tomllib.loads(block.partition("```")[0])


def test_representatives_of_many_points_are_on_the_front() -> None:
    records = sample.records()
    kept, said = representatives(records, 3)
    assert {record["name"] for record in kept} <= on_front(answers(records, "t"))
    assert said == f", 3 of {len(records)} points, along the front of cost and accuracy"
    assert representatives(records, 1000) == (records, "")


def test_arrays_hold_what_a_model_of_a_system_needs() -> None:
    record = done()[0]
    assert arrays([record]) == []
    record["cost"] |= {"array_area_um2": 10.0, "array_utilisation": {"fc": 0.5}}
    (found,) = arrays([record])
    assert (found["name"], found["area_um2"], found["utilisation"]) == (record["name"], 10.0, {"fc": 0.5})
    assert found["wanted"]["clock_ns"] == 20.0
