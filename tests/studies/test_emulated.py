"""The page of emulators is what its program writes of the figures in it."""

import re
from typing import Any

import pytest

import golden
from studies import emulated
from studies.emulated import Row, page, version_of
from tests.docs.documents import ROOT

PAGE = (ROOT / "docs/evidence/emulated.md").read_text(encoding="utf-8")
LINE = re.compile(r"^\| ([\w-]+) \| `([\w.]+)` \| [\w-]+ \| ([\d,]+) \| ([\d,]+) \| (.+) \| ([\d-]+) \|$", re.MULTILINE)


def report(name: str, compared: str, differing: str, executable: str, date: str, status: str = "done") -> dict[str, Any]:
    """A campaign's report of one instruction."""
    counted = {"vectors": {"all": int(compared.replace(",", ""))}, "mismatches": {"all": int(differing.replace(",", ""))}}
    emulator = "" if executable == "Spike" else executable
    return {
        "instructions": {name: {"status": status, **counted}},
        "emulator": emulator,
        "runs": [{"started": date + " 12:00"}],
    }


ROWS = [Row(golden.instruction(arch, name), report(name, *rest)) for arch, name, *rest in LINE.findall(PAGE)]


def test_page_is_that_of_its_figures() -> None:
    assert len(ROWS) == 17
    assert page(ROWS) == PAGE


def test_campaign_that_is_not_done_gives_no_page() -> None:
    row = Row(ROWS[0].instruction, report(ROWS[0].instruction.name, "3", "0", "Spike", "2026-11-25", "running"))
    with pytest.raises(ValueError, match=rf"^every campaign must be done .* got {row.instruction.name}: running$"):
        page([row])
    with pytest.raises(ValueError, match=r"got no report$"):
        page([])


def test_version_is_asked_of_qemu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_tool(command: list[str], timeout: float) -> Any:
        assert command == ["/usr/bin/qemu-x", "--version"]
        return type("Done", (), {"check_returncode": lambda self: None, "stdout": "qemu-x version 1\nmore"})()

    monkeypatch.setattr(emulated, "run_tool", run_tool)
    assert version_of("/usr/bin/qemu-x -cpu max program {name}") == "qemu-x version 1"
    assert version_of("./spike-rows {name}") == ""
