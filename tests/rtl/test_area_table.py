"""The table of costs: what it holds, that it resumes, and that the committed page is what the committed figures say."""

import json
from pathlib import Path

import pytest

from golden import catalogue_units
from golden.unit import ENCODINGS
from rtl import area_table
from rtl.area_table import Records, designs, main, page
from rtl.cost import Cost

DOCS = Path(__file__).parents[2] / "docs"


def measured(monkeypatch: pytest.MonkeyPatch, interrupt_after: int = 10**6) -> list[str]:
    """Stands in for Yosys: what was measured, as it happens."""
    seen: list[str] = []

    def measure(text: str, top: str) -> Cost:
        if len(seen) == interrupt_after:
            raise KeyboardInterrupt
        seen.append(text)
        return Cost(cells=len(text), transistors=4 * len(text), depth=7, registers=0)

    monkeypatch.setattr(area_table, "measure", measure)
    monkeypatch.setattr(area_table, "tool_version", lambda: "a tool 1")
    monkeypatch.setattr(area_table, "designs", lambda: ALL[:9])
    monkeypatch.setattr(area_table.Design, "verilog", lambda design: f"// {design.key}")
    return seen


ALL = designs()


def test_every_distinct_datapath_stands_in_it_in_every_encoding() -> None:
    keys = [design.key for design in ALL]
    assert len(keys) == len(set(keys)) == (2 + len(catalogue_units())) * len(ENCODINGS)


def test_an_interrupted_run_keeps_what_it_has_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = measured(monkeypatch, interrupt_after=4)
    assert main([str(tmp_path)]) == 2
    assert "what was measured is kept" in capsys.readouterr().err
    assert len(first) == len(json.loads((tmp_path / "area.json").read_text())) == 4
    second = measured(monkeypatch)
    assert main([str(tmp_path)]) == 0
    assert first + second == [f"// {design.key}" for design in ALL[:9]]
    assert main([str(tmp_path)]) == 0
    assert len(second) == 5, "nothing is measured twice"


def test_a_changed_circuit_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch)
    assert main([str(tmp_path)]) == 0
    again = measured(monkeypatch)
    monkeypatch.setattr(area_table.Design, "verilog", lambda design: f"// {design.key}" + "'" * (design.key == ALL[5].key))
    assert main([str(tmp_path)]) == 0
    assert again == [f"// {ALL[5].key}'"]


def test_no_time_measures_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = measured(monkeypatch)
    assert main([str(tmp_path), "--minutes", "-1"]) == 0
    assert seen == []


def test_targets_are_judged() -> None:
    fused, apart = (f"{design.name} | ones-complement" for design in (ALL[0], ALL[len(ENCODINGS)]))
    records: Records = {
        fused: {"cells": 15_401, "depth": 183, "tool": "t"},
        apart: {"cells": 20_000, "depth": 500, "tool": "t"},
    }
    assert "ones-complement 15,401 · 183 (missed)" in page(records)
    assert "ones-complement 77.0% (missed)" in page(records)
    records[fused]["cells"] = 12_000
    assert "ones-complement 12,000 · 183 (reached)" in page(records)
    assert "ones-complement 60.0% (reached)" in page(records)
    assert "twos-complement – (not measured)" in page(records)


def test_the_committed_page_is_what_the_committed_figures_say() -> None:
    records = json.loads((DOCS / "area.json").read_text(encoding="utf-8"))
    assert records.keys() <= {design.key for design in ALL}
    assert (DOCS / "area.md").read_text(encoding="utf-8") == page(records)
