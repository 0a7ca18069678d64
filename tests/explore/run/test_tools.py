"""Figures depend on the tools that they come from, and on one that is not there."""

from pathlib import Path

import pytest

from explore.cost.liberty import LIBRARIES
from explore.run import tools
from explore.run.tools import MISSING, cost_tools
from rtl.tools import MissingTool


def test_missing_tools_are_told_apart_from_any_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_tool() -> str:
        raise MissingTool("no sta")

    monkeypatch.setattr(tools, "_sta", lambda: "OpenSTA 2.0.17")
    found = cost_tools({"fpga": ["ecp5"]})
    assert set(found) == {"yosys", "sta", "library", "ecp5"}
    assert found["sta"] == "OpenSTA 2.0.17"
    monkeypatch.setattr(tools, "_sta", no_tool)
    monkeypatch.setitem(LIBRARIES, "osu035", tmp_path / "none.lib")
    assert cost_tools({"library": "osu035"}) == {"yosys": found["yosys"], "sta": MISSING, "library": MISSING}


def test_library_is_known_by_its_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "cells.lib"
    monkeypatch.setattr(tools, "_sta", lambda: "1")
    monkeypatch.setitem(LIBRARIES, "osu018", path)
    told = []
    for text in ("one", "two"):
        path.write_text(text)
        tools._library.cache_clear()
        told.append(cost_tools({})["library"])
    tools._library.cache_clear()
    assert len({*told}) == 2
