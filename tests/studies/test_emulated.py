"""The page of emulators: it keeps what was compared before, and hides nothing that differs or is not whole."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import golden
from hwtests.device import DeviceError
from mmau.jobs.provenance import ROOT
from studies import emulated
from studies.emulated import Line, arithmetic, lines_of, page, reported, version_of

COMMITTED = ROOT / "docs" / "evidence" / "emulated.md"
ARITHMETIC, OF_SPIKE = (
    arithmetic(golden.instruction(*key)) for key in (("armv9-sme", "fmopa.za.s.s"), ("riscv-zvbdota", "vfwbdota.vv.bf16.k8"))
)
FMOPA = Line("armv9-sme", "fmopa.za.s.s", "FMA", ARITHMETIC, 10_000_000, 0, "qemu-aarch64 version 11.1.3", "2026-11-25")
SPIKE = Line("riscv-zvbdota", "vfwbdota.vv.bf16.k8", "T-FDPA", OF_SPIKE, 10_000_000, 0, "Spike", "2026-11-25")


def of(name: str) -> str:
    """The arithmetic of an instruction of SME."""
    return arithmetic(golden.instruction("armv9-sme", name))


def report(folder: Path, line: Line, status: str = "done") -> None:
    progress = {"status": status, "vectors": {"kind": line.results}, "mismatches": {"kind": line.differing}}
    about = {
        "device": {"arch": line.arch}, "runs": [{"started": f"{line.date}T01:02:03"}], "emulator": line.executable,
        "instructions": {line.instruction: progress},
    }  # fmt: skip
    (folder / f"{line.arch}.{line.instruction}.outcome").write_text(json.dumps(about))


def test_committed_page_is_that_of_its_lines() -> None:
    assert page(lines_of(COMMITTED)) == COMMITTED.read_text(encoding="utf-8")
    assert all(line.differing == 0 for line in lines_of(COMMITTED))


def test_page_keeps_the_lines_of_a_page_before_and_takes_the_later_of_two_that_differ(tmp_path: Path) -> None:
    before = tmp_path / "page.md"
    before.write_text(page([SPIKE, FMOPA]), encoding="utf-8")
    later = FMOPA._replace(results=20_000_000, differing=3, date="2026-11-27")
    report(tmp_path, later)
    found = page([*lines_of(before), *reported(tmp_path)])
    before.write_text(found, encoding="utf-8")
    assert list(lines_of(before)) == [later, SPIKE]
    assert "**30,000,000 results of 2 instructions compared, 3 differ.**" in found
    assert page([FMOPA, FMOPA._replace(results=5)]) == page([FMOPA])
    assert page([FMOPA, FMOPA._replace(results=5, differing=1)]) != page([FMOPA])


@pytest.mark.attack("pages of evidence")
@pytest.mark.parametrize(
    "changed",
    [FMOPA._replace(model="T-FDPA"), FMOPA._replace(instruction="fmopa.za.s.q"), FMOPA._replace(arithmetic="0" * 12)],
    ids=["model", "name", "parameters"],
)
def test_line_of_another_model_is_not_kept(changed: Line, tmp_path: Path) -> None:
    sound, other = (" | ".join(line.cells) for line in (FMOPA, changed))
    (tmp_path / "page.md").write_text(page([SPIKE, FMOPA]).replace(sound, other), encoding="utf-8")
    assert list(lines_of(tmp_path / "page.md")) == [SPIKE]


@pytest.mark.attack("pages of evidence")
def test_campaign_that_is_not_whole_has_no_line(tmp_path: Path) -> None:
    report(tmp_path, FMOPA, "crashed")
    with pytest.raises(ValueError, match=r"^every campaign must be done .*, got fmopa\.za\.s\.s: crashed$"):
        list(reported(tmp_path))
    with pytest.raises(ValueError, match=r"^every campaign must be done before its page is written, got no report$"):
        page([])


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Runs the program with a campaign that only reports; returns the instructions that were asked."""

    def main(*programs: str) -> list[str]:
        found: list[str] = []

        def campaign(i: Any, command: str, folder: Path, vectors: int) -> None:
            if "dies" in command and len(found) == 2:
                raise DeviceError("the program died")
            found.append(i.name)
            report(folder, Line(i.arch, i.name, i.operation.name, arithmetic(i), vectors, 0, "QEMU", "2026-11-27"))

        monkeypatch.setattr(emulated, "campaign", campaign)
        monkeypatch.setattr("sys.argv", ["emulated", str(tmp_path / "page.md"), str(tmp_path / "reports"), *programs])
        emulated.main()
        return found

    return main


@pytest.mark.slow
def test_what_the_page_has_is_not_asked_again(asked: Callable[..., list[str]], tmp_path: Path) -> None:
    few = FMOPA._replace(instruction="fmopa.za.d.d", arithmetic=of("fmopa.za.d.d"), results=100)
    wrong = FMOPA._replace(instruction="fmopa.za.h.h", arithmetic=of("fmopa.za.h.h"), differing=1)
    (tmp_path / "page.md").write_text(page([FMOPA, few, wrong]), encoding="utf-8")
    names = asked("armv9-sme=qemu sme {name}")
    assert "fmopa.za.s.s" not in names
    assert {"fmopa.za.d.d", "fmopa.za.h.h"} < set(names)
    lines = {line.instruction: line for line in lines_of(tmp_path / "page.md")}
    assert lines["fmopa.za.s.s"] == FMOPA
    assert lines["fmopa.za.d.d"].results == emulated.VECTORS
    assert len(lines) == len(names) + 1


def test_run_that_breaks_off_leaves_a_page_of_what_is_done(asked: Callable[..., list[str]], tmp_path: Path) -> None:
    with pytest.raises(DeviceError):
        asked("armv9-sme=dies")
    assert len(list(lines_of(tmp_path / "page.md"))) == 2


def test_version_is_asked_of_qemu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_tool(command: list[str], timeout: float) -> Any:
        assert command == ["/usr/bin/qemu-x", "--version"]
        return type("Done", (), {"check_returncode": lambda self: None, "stdout": "qemu-x version 1\nmore"})()

    monkeypatch.setattr(emulated, "run_tool", run_tool)
    assert version_of("/usr/bin/qemu-x -cpu max program {name}") == "qemu-x version 1"
    assert version_of("./spike-rows {name}") == ""
