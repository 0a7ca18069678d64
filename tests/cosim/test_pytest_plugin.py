"""The fixture `mmau_cosim`: what it hands to `cosim.run`, what a failing test shows, and that it costs others nothing."""

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import cosim
import golden
from cosim.pytest_plugin import Cosimulation
from tests.cosim.bench.test_scoreboard import run_through, scoreboard

LANES = Path(__file__).parents[1] / "third_party" / "lanes"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """What `cosim.run` was called with; it answers with a report of a run in which one result differs."""
    made: list[tuple[Any, dict[str, Any]]] = []

    def run(design: Any, **options: Any) -> cosim.Report:
        made.append((design, options))
        return run_through(scoreboard(), lambda row, code: code ^ (row == 3))

    importlib.import_module("mmau.cosim")  # takes `run` from cosim when it is first imported: not this one
    monkeypatch.setattr(cosim, "run", run)
    return made


def test_paths_count_from_the_tests_own_folder(mmau_cosim: Cosimulation, calls: list[Any]) -> None:
    mmau_cosim(
        "../third_party/lanes/dut.toml", unit=Path("../third_party/lanes/unit.toml"), vectors=7, seed=9, waves="w.vcd"
    )
    ((design, options),) = calls
    assert design == golden.load_unit(LANES / "unit.toml")
    assert options["dut"].top == "dot4_lanes"
    assert (options["vectors"], options["seed"], options["waves"]) == (7, 9, Path(__file__).parent / "w.vcd")


def test_objects_and_options_are_handed_on(mmau_cosim: Cosimulation, calls: list[Any]) -> None:
    unit, dut = golden.load_unit(LANES / "unit.toml"), cosim.load_dut(LANES / "dut.toml")
    mmau_cosim(dut, unit=unit, simulator="icarus")
    mmau_cosim(unit=unit)
    (first, second) = calls
    assert (first[0], first[1]["dut"], first[1]["simulator"], first[1]["vectors"]) == (unit, dut, "icarus", 20000)
    assert second[1]["dut"] is None


def test_failure_shows_table_and_mismatch_and_junit_has_the_seed(
    mmau_cosim: Cosimulation, calls: list[Any], capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    report = mmau_cosim(unit=golden.load_unit(LANES / "unit.toml"), seed=5)
    assert not report.passed
    shown = capsys.readouterr().out
    assert shown == cosim.summary([report], 5) + "\n"
    assert report.first_mismatch is not None
    assert report.first_mismatch in shown
    assert dict(request.node.user_properties) == {
        "mmau_seed": report.seed, "mmau_vectors": 200, "mmau_received": 200, "mmau_mismatches": 1,
    }  # fmt: skip


def test_fixture_comes_with_the_installation() -> None:
    (entry,) = metadata.entry_points(group="pytest11", name="cosim.pytest_plugin")
    assert entry.value == "cosim.pytest_plugin"


def test_loading_the_plugin_imports_nothing_of_the_models() -> None:
    program = (
        "import sys, cosim.pytest_plugin\n"
        "print([name for name in ('golden', 'rtl', 'numpy', 'amaranth', 'cocotb') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
