"""report.html as text: what it holds, and that nothing leaves its place."""

import base64
import hashlib
import html
import json
import lzma
import math
import re
from typing import Any

import pytest

from mmau.explore.accuracy import check_workload
from mmau.explore.answers import answers
from mmau.explore.design_space import Asked, Constraint, Question
from mmau.explore.html_report import data, page
from mmau.explore.styles import SHAPES, Styles
from mmau.explore.tasks import with_costs_per_product
from mmau.report.figures import COLOURS
from tests.mmau.explore import sample

NO_BREAK = "\u00a0"


@pytest.fixture(scope="module")
def text() -> str:
    return page(sample.records(), sample.TITLE, sample.SPACE)


def parts(text: str) -> tuple[str, list[str]]:
    """The page without its scripts, and the scripts with their tags."""
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL), re.findall(r"<script.*?</script>", text, re.DOTALL)


@pytest.mark.slow
def test_names_leave_their_places_nowhere(text: str) -> None:
    outside, scripts = parts(text)
    assert len(scripts) == 3  # the data, plotly, and the page's own
    assert "alert(1)" in outside  # in the list of messages
    assert "<b>" not in outside
    assert sample.HOSTILE not in text
    assert json.loads(scripts[0].removeprefix('<script type="application/json" id="data">').removesuffix("</script>"))


@pytest.mark.slow
def test_policy_allows_these_scripts_alone_and_no_request(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    _, scripts = parts(text)
    packed, own = (re.sub(r"^<script[^>]*>|</script>$", "", script) for script in scripts[1:])
    run = [lzma.decompress(base64.b64decode(packed)).decode(), own]
    assert "plotly.js v" in run[0][:200]
    assert len(text.encode()) < 4.9e6 / 3
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [f"'sha256-{each}'" for each in hashes]
    assert "connect-src" not in rules


def test_everything_is_inside(text: str) -> None:
    outside, _ = parts(text)
    assert re.findall(r'(?:src|href)="(?!#)', outside) == []
    assert "{{" not in outside
    assert "@import" not in outside
    assert "url(" not in outside


def test_messages_are_listed(text: str) -> None:
    outside, _ = parts(text)
    assert "F must be an integer from 1 to 128, got 0" in outside
    assert "synthesis took more than 600 s; log: logs/F=120.txt" in outside
    assert (
        "Points: 27; instructions of the catalogue beside them: 1. Together: 25 done, 1 invalid, 1 failed, 1 timed out."
        in outside
    )
    assert "co-simulated without a mismatch: 22; not co-simulated: 2." in outside
    assert "Circuits that differ from their models: 1." in outside
    assert "Cost measured with: yosys 0.70." in outside
    assert "Asked for" not in outside
    assert "at a clock of 20 ns, the default, as the space names none" in outside
    assert "OpenSTA (`sta`) was not found" in outside


@pytest.mark.slow
def test_page_says_how_far_estimates_are_off_and_what_no_cost_has() -> None:
    said = page(sample.records(), sample.TITLE, sample.SPACE, estimates=["Estimates of the area are off by 2 %."])
    assert "<p>Estimates of the area are off by 2 %.</p>" in said
    assert "without wires and a clock tree" in said


@pytest.mark.slow
def test_plot_of_unequal_L_begins_per_product_and_says_so() -> None:
    records = sample.records()
    sentence = (
        "A step takes 4, 8 or 16 products. For equal work compare costs per product: the plots begin with area of the "
        "datapath per product."
    )
    assert (data(records)["x"], data(records)["steps"]) == ("cost.area_um2", [])
    assert sentence not in page(records, sample.TITLE, sample.SPACE)
    for record in records:
        if record["cost"]:
            record["cost"] = with_costs_per_product(record["cost"], record["parameters"]["L"])
    found = data(records)
    assert found["x"] == "cost.area_um2_per_product"
    assert found["steps"] == ["cost.cells", "cost.area_um2", "cost.energy_pj"]  # on these the plot warns
    assert sentence in page(records, sample.TITLE, sample.SPACE)


def test_plot_begins_with_what_is_limited_and_has_its_line() -> None:
    column = "accuracy.outliers.ulp.mean"
    asked = Asked((Constraint(f"max_{column}", column, 3.0, None),), (), ("energy_pj",))
    found = data(sample.records(), asked)
    assert (found["x"], found["y"]) == ("cost.energy_pj", column)
    assert found["limits"] == [{"key": column, "at": 3.0, "text": "error, mean, outliers ≤ 3 ulp"}]
    assert column in found["chosen"]
    titles = {each["key"]: each["title"] for each in found["columns"]}
    assert titles[column] == "error, mean, outliers (ulp)"


def test_points_beyond_a_limit_say_so_in_words() -> None:
    records = sample.records()
    records[4]["beyond"] = "accuracy.normal.arithmetic_snr_db = 84.28 is below min_… = 100"
    column = "accuracy.normal.arithmetic_snr_db"
    asked = Asked((Constraint(f"min_{column}", column, 100.0, None),))
    said = page(records, "t", "", asked).partition('<script type="application/json"')[0]
    assert "84.28 dB: not SNR of arithmetic alone, normal ≥ 100 dB" in said
    assert "snr_db" not in said


@pytest.mark.slow
def test_questions_stand_before_points_in_words() -> None:
    column = "accuracy.normal.arithmetic_snr_db"
    limit = Constraint(f"min_{column}", column, 25.0, None)
    said = page(sample.records(), "t", "", Asked((), (Question("cheapest", "area_um2", (limit,), {"L": 4}),)))
    question = "cheapest: least area; SNR of arithmetic alone, normal ≥ 25 dB; L = 4"
    assert -1 < said.find(question) < said.find("Points that are not done")


@pytest.mark.slow
def test_page_has_what_the_answers_have() -> None:
    records = [record for record in sample.records() if record["status"] == "done"]
    for record in records:
        record["cost"]["energy_unit_delay_pj"] = 12 * record["cost"]["energy_pj"] if record["cost"]["energy_pj"] else None
    asked = Asked((), (Question("small"),), workloads=(check_workload("normal"),), cost=("clock_ns",))
    said, _ = parts(page(records, "t", "", asked))
    text = html.unescape(re.sub(r"<[^>]*>", "\n", said))
    wanted = answers(records, "t", asked)
    premises = wanted.partition("## What was measured\n")[2].partition("\n## ")[0]
    costs = wanted.partition("## How far to trust the costs\n")[2].partition("\n## ")[0]
    sentences = [line.removeprefix("- ") for line in (premises + costs).splitlines() if line.startswith("- ")]
    assert len(sentences) == 8
    for sentence in sentences:
        assert sentence in text
    assert "takes 12 to 12 times the energy" in text
    rows = re.findall(r"<tr><td>(1[02]\u00a0→\u00a0\d+)</td>(.*?)</tr>", said)
    shown = {change: re.findall(r"<td[^>]*>([^<]*)</td>", cells) for change, cells in rows}
    changes = wanted.partition("## What each key changes")[2].partition("\n## ")[0]
    assert len(shown) == 5
    for change, cells in shown.items():
        assert f"| {' | '.join([change, *cells]).replace(NO_BREAK, ' ')} |" in changes
    assert "Asked for: clock_ns 20.0." in text


def test_values_have_their_uncertainty_and_empty_ones_a_reason() -> None:
    records = sample.records()[2:4]
    records[0]["accuracy"]["normal"]["snr_standard_error_db"] = {"arithmetic": 0.12}
    records[0]["cost"] |= {"array_area_um2": 5.0}
    first, second = data(records)["points"]
    assert first["errors"] == {"accuracy.normal.arithmetic_snr_db": 0.24}
    assert "cost.array_area_um2" not in first["missing"]
    assert second["missing"]["cost.array_area_um2"] == "the point has no array"


def test_page_and_plots_give_a_point_one_colour_and_shape() -> None:
    records = sample.records()[2:8]
    for record, form in zip(records, ("bf16", "e4m3", "MXFP4", "NVFP4", "bf16", "e4m3"), strict=True):
        record["axes"] = {"F": record["axes"]["F"], "format": form}
    found, styles = data(records), Styles(records)
    assert [value for value, _ in found["styles"]["axes.format"]] == ["bf16", "e4m3", "MXFP4", "NVFP4"], "as they come"
    for record in records:
        colour = dict(found["styles"]["axes.F"])[record["axes"]["F"]]
        place = [value for value, _ in found["styles"]["axes.format"]].index(record["axes"]["format"])
        style = styles.of(record | sample.verified(10))
        assert style["edgecolors"] == COLOURS[int(colour.removeprefix("--")) - 1]
        assert style["marker"] == SHAPES[place]


@pytest.mark.parametrize(("value", "sent"), [(math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (3, 3)])
def test_values_that_json_lacks_are_sent_as_text(value: float, sent: object) -> None:
    record: dict[str, Any] = {"name": "x", "kind": "point", "status": "done", "parameters": {}, "cost": {"cells": value}}
    assert data([record])["points"][0]["values"] == [sent]
