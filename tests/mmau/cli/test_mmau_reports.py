"""`mmau cosim`: which vectors are sent, the reports that are written, and what is left of a run that cannot be finished."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from golden.units.unit_file import unit_from_table
from mmau.cli import main
from rtl import UnitDesign, to_verilog
from tests.cosim.runner.test_html_report import Reader
from tests.cosim.runner.test_report import read
from tests.mmau.cli.unit_texts import TINY

pytestmark = [pytest.mark.simulator, pytest.mark.needs("icarus")]

VECTORS = ["--vectors", "600", "--seed", "5"]


@pytest.fixture(scope="module")
def neighbour() -> str:
    """The Verilog of a unit that has a fraction bit fewer."""
    return to_verilog(unit_from_table(tomllib.loads(TINY.replace("F = 9", "F = 8"))), "other")


@pytest.fixture
def differing(neighbour: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A request for other Verilog than the unit's, in the simulator that builds fast."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY)
    Path("other.v").write_text(neighbour)
    return ["cosim", "--unit", "tiny.toml", "--dut", "other.v", "--top", "other", "--sim", "icarus"]


def outcome(argv: list[str], capsys: pytest.CaptureFixture[str], status: int = 1) -> dict[str, Any]:
    """The report of a run, but for how long it took."""
    assert main.main([*argv, "--json"]) == status
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    return {key: value for key, value in report.items() if key not in ("seconds", "vectors_per_second")}


def test_seed_repeats_a_run_exactly(differing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    first = outcome([*differing, *VECTORS], capsys)
    assert first["mismatches"] > 10
    assert outcome([*differing, *VECTORS], capsys) == first
    assert outcome([*differing, "--vectors", "600", "--seed", "6"], capsys)["groups"] != first["groups"]


def test_one_vector_is_sent_again(differing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    group = outcome([*differing, *VECTORS], capsys)["groups"][-1]
    wanted = group["mismatches"][-1]
    again = outcome([*differing, *VECTORS, "--vector", str(wanted["vector"])], capsys)
    assert (again["sent"], again["left_out"], again["mismatches"]) == (1, 599, 1)
    ((mismatch,),) = [each["mismatches"] for each in again["groups"]]
    assert {**mismatch, "time": 0} == {**wanted, "time": 0}


@pytest.mark.long
def test_some_classes_alone(differing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    whole = outcome([*differing, *VECTORS], capsys)
    only = outcome([*differing, *VECTORS, "--only", "ties", "--only", "normal"], capsys)
    rest = outcome([*differing, *VECTORS, "--exclude", "ties", "--exclude", "normal"], capsys)
    assert only["classes"] == {name: whole["classes"][name] for name in ("normal", "ties")}
    assert only["sent"] + rest["sent"] == whole["sent"]
    assert only["mismatches"] + rest["mismatches"] == whole["mismatches"]


@pytest.mark.long
def test_fail_fast_ends_with_the_first_mismatch(differing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    report = outcome([*differing, *VECTORS, "--fail-fast"], capsys)
    first = report["groups"][0]["mismatches"][0]["vector"]
    assert (report["mismatches"], report["sent"]) == (1, first + 1)
    assert report["stopped"] == f"stopped at the first mismatch, vector {first}"


def test_reports_are_written_beside_the_table(differing: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([*differing, *VECTORS, "--junit", "j.xml", "--html", "r.html", "--work", "kept"]) == 1
    captured = capsys.readouterr()
    assert "to repeat the first of group 0 alone: the same command with --vector " in captured.out
    (failure,) = read(Path("j.xml").read_bytes()).getElementsByTagName("failure")
    page = Reader(Path("r.html").read_text())
    assert failure.getAttribute("message") in page.text
    assert f"FAILED: {failure.getAttribute('message')}" in captured.out
    assert captured.out.splitlines()[-1] == "build and logs: kept"
    assert {path.name for path in Path("kept").iterdir()} >= {"build.log", "simulation.log", "build"}


def test_design_that_cannot_be_built_ends_with_status_2_and_the_log(
    differing: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = Path("other.v")
    source.write_text(source.read_text().replace("endmodule", "  localparam int unsigned N = 1;\nendmodule", 1))
    assert main.main([*differing, "--junit", "j.xml", "--html", "r.html", "--work", "kept"]) == 2
    captured = capsys.readouterr()
    first, log = captured.err.splitlines()[-2:]
    assert first.startswith("mmau cosim: icarus cannot build mmau_dut: iverilog exited with status ")
    assert "other.v:" in first
    assert log == f"log: {tmp_path / 'kept' / 'build.log'}"
    (error,) = read(Path("j.xml").read_bytes()).getElementsByTagName("error")
    assert f"mmau cosim: {error.getAttribute('message')}" == first
    assert "tiny: not run" in Reader(Path("r.html").read_text()).text


@pytest.mark.parametrize("wrong", ["ports", "vectors"])
@pytest.mark.attack("reports of co-simulation")
def test_no_report_of_an_earlier_run_stays(wrong: str, differing: list[str]) -> None:
    """The design of the earlier run was right; ports that do not fit, and a selection without vectors, left its files."""
    Path("j.xml").write_text('<testsuites><testsuite tests="1" failures="0"/></testsuites>')
    Path("r.html").write_text("tiny: passed")
    if wrong == "ports":
        Path("other.v").write_text("module other(input x, output y); assign y = x; endmodule\n")
    request = [*differing, "--vectors", "1", *(["--only", "specials"] if wrong == "vectors" else [])]
    assert main.main([*request, "--junit", "j.xml", "--html", "r.html"]) == 2
    (error,) = read(Path("j.xml").read_bytes()).getElementsByTagName("error")
    assert ("does not fit" if wrong == "ports" else "is selected") in error.getAttribute("message")
    assert "tiny: not run" in Reader(Path("r.html").read_text()).text


@pytest.mark.attack("reports")
def test_error_after_a_failed_run_leaves_its_report(differing: list[str]) -> None:
    """--mutants is for designs that pass; the mismatches of one that does not stay in the files."""
    assert main.main([*differing, *VECTORS, "--mutants", "--junit", "j.xml", "--ucis", "u.xml"]) == 2
    suites = read(Path("j.xml").read_bytes())
    assert len(suites.getElementsByTagName("failure")) == 1
    assert "--mutants is for a design that passes" in suites.getElementsByTagName("error")[0].getAttribute("message")
    assert 'testStatus="false"' in Path("u.xml").read_text()


@pytest.mark.attack("reports")
def test_campaign_that_breaks_off_keeps_what_is_done(differing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_from_table(tomllib.loads(TINY))
    dut = cosim.dut_like(UnitDesign(unit), (Path("other.v"),), "other")
    failed = cosim.run(unit, vectors=600, seed=5, dut=dut, simulator="icarus")

    def broken(designs: object, request: object, jobs: int, on_report: Callable[[cosim.Report], None]) -> list[cosim.Report]:
        on_report(failed)
        raise ValueError("none of the 20 vectors is selected")

    monkeypatch.setattr("mmau.cli.cosim.run_many", broken)
    assert main.main(["cosim", "--junit", "j.xml", "--ucis", "u.xml"]) == 2
    suites = read(Path("j.xml").read_bytes())
    assert [len(suites.getElementsByTagName(kind)) for kind in ("testcase", "failure", "error")] == [2, 1, 1]
    assert 'testStatus="false"' in Path("u.xml").read_text()


FULL = """
mount -t tmpfs -o size=$1 none "$2" || exit 77
export TMPDIR="$2"
shift 2
"$@"
status=$?
ls -A "$TMPDIR" >&2
exit $status
"""


@pytest.mark.parametrize(
    "size", [pytest.param("8k", id="before the build"), pytest.param("60k", marks=pytest.mark.long, id="in the simulation")]
)
def test_full_disk_is_one_message(size: str, differing: list[str], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*differing[:3], "--sim", "icarus", "--vectors", "20", "--junit", "j.xml"]
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", FULL, "bash", size, str(disk)]
    done = subprocess.run(
        [*namespace, sys.executable, "-m", "mmau", *command], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a file system of one's own cannot be mounted here")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]  # nothing is left behind, else it would be listed after it
    assert last.startswith("mmau cosim: ")
    assert "no space is left on the disk of" in last or "No space left on device" in last
    assert str(disk) in last
