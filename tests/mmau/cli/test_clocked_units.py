"""Units that ask for a clock, on the command line: what is found is told, built, and refused where it cannot be."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rtl
from golden import Unit, cache
from mmau.cli import main
from rtl.cost import timing
from rtl.cost.liberty import library
from rtl.cost.placer import Placer
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit

SMALL = """
name = "small"
operation = "T-FDPA"
L = 1
F = 6
rho = "RZ-FP16"
e_zero = -20
a = "e2m1"
b = "e2m1"
c = "fp16"
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[float]:
    """The shortest clock period of the small unit with one register."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "user_folder", folder.joinpath)
        yield Placer(small_unit()).delay_of(2)


def written(tmp_path: Path, clock_ns: float, text: str = SMALL) -> str:
    path = tmp_path / "unit.toml"
    path.write_text(f"{text}\n[implementation]\nclock_ns = {clock_ns}\n")
    return str(path)


@needs_yosys
@needs_library
@needs_sta
@pytest.mark.costly
def test_stages_are_found_once_told_built_and_reported(
    clock: float, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output, asked, meet_clock = tmp_path / "unit.v", list[str](), rtl.meet_clock

    def counted(unit: Unit, progress: Any, cells: str) -> rtl.MetClock:
        asked.append(unit.name)
        return meet_clock(unit, progress, cells)

    monkeypatch.setattr(rtl, "meet_clock", counted, raising=False)
    assert main.main(["rtl", "--unit", written(tmp_path, clock), "-o", str(output), "--report", "--json"]) == 0
    captured = capsys.readouterr()
    assert f"small: clock_ns = {clock:g} is met by 2 stages: registers = [" in captured.err
    assert "worst slack 0.000 ns" in captured.err
    found = json.loads(captured.out)
    assert found["latency"] == 2
    assert asked == ["small"]
    assert [len(point["stages"]) for point in found["report"]["curve"]] == [0, 1, 2]
    text = output.read_text()
    assert "//   stages = 2" in text
    assert "clock_ns" not in text
    assert "in_valid" in text


@needs_yosys
@needs_library
@needs_sta
@pytest.mark.long
def test_a_cell_library_of_ones_own_places_and_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same cells in a file of one's own: the area is that of osu018, the load of an output a little less."""
    (tmp_path / "mine.lib").write_text(library("osu018").text)
    command = ["rtl", "--unit", written(tmp_path, 5.0), "--report"]
    assert main.main(command) == 0
    usual = capsys.readouterr()
    assert main.main([*command, "--library", str(tmp_path / "mine.lib")]) == 0
    own = capsys.readouterr()
    areas = [[line for line in each.out.splitlines() if line.startswith("area")] for each in (usual, own)]
    assert areas[0] == [line.replace("mine", "osu018") for line in areas[1]]
    assert "area and energy against delay, in mine cells, without wires and a clock tree:" in areas[1]
    assert usual.err != own.err, "delays are measured anew"


def test_missing_tool_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "which", lambda name: None)
    monkeypatch.setattr("rtl.cost.placer.library", lambda name: None)
    output = tmp_path / "unit.v"
    assert main.main(["rtl", "--unit", written(tmp_path, 5.0), "-o", str(output)]) == 2
    assert capsys.readouterr().err == (
        "mmau rtl: delay and power need OpenSTA's program sta, which is not there; install Debian's package opensta\n"
    )
    assert not output.exists()
