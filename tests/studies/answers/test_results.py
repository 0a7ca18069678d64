"""Reading an exploration's results, and the parts of a page that are made of them."""

import json
import re
from pathlib import Path

import pytest

from studies.answers.results import (
    cost_table,
    measured_with,
    number,
    percent,
    points_with,
    read_results,
    the_point,
    without_results,
)  # fmt: skip
from tests.studies.answers import sample


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = sample.round_down()
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert read_results(tmp_path) == records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]\n", "results.jsonl, line 1: must be a JSON object, got '[1]'"),
        ("{}\n", "record 0 must have the string name, got None"),
        ("", "a report needs at least one result record, got none"),
    ],
)
def test_results_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
        read_results(tmp_path)


def test_line_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"name"')
    with pytest.raises(ValueError, match=r"results\.jsonl, line 1: must be a JSON object: "):
        read_results(tmp_path)


def test_points_are_those_that_are_done_with_these_parameters() -> None:
    records = sample.encodings()
    found = points_with(records, F=24, encoding="sign-magnitude")
    assert [(each["parameters"]["truncation"], each["parameters"]["sticky"]) for each in found] == [
        ("RZ", False), ("RZ", True), ("RO", False),
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"^the results must hold a point that is done with {'F': 99}; run the space"):
        the_point(records, F=99)


def test_value_that_was_not_measured_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^F=24 .* has no cost\.power_mw; the page needs it$"):
        number(sample.encodings()[0], "cost", "power_mw")


def test_table_of_costs_has_dashes_and_verdicts() -> None:
    record = sample.round_down()[0]
    record["cost"]["delay_ns"] = None
    record["cosimulation"]["mismatches"] = 3
    header, _, row = cost_table([(["x"], record)], ["first"]).splitlines()
    assert header == "| first | cells | depth | area (µm²) | delay (ns) | energy (pJ) | circuit against its model |"
    assert row == "| x | 11,000 | 100 | 110,000 | – | 55.0 | 3 mismatches in 100 results |"


def test_sentences() -> None:
    records = sample.encodings()
    assert percent(110.0, 100.0) == "+10.0 %"
    assert measured_with(records) == (
        "Measured with yosys 0.70, cell library osu018; energy at 20 ns clock period, 0.1 activity. "
        "All units are combinational."
    )
    assert without_results(records).count("| invalid | sticky must be false |") == 6
    assert without_results(sample.round_down()) == ""
