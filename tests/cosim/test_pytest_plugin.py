"""The fixture `mmau_cosim`: its call of `cosim.run`, the output of a failing test, and no cost for other tests."""

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
    """The arguments of the calls of `cosim.run`, which returns a report with one mismatch."""
    made: list[tuple[Any, dict[str, Any]]] = []

    def run(design: Any, **options: Any) -> cosim.Report:
        made.append((design, options))
        return run_through(scoreboard(), lambda row, code: code ^ (row == 3))

    importlib.import_module("mmau.cli.cosim")  # takes `run` from cosim when it is first imported: not this one
    monkeypatch.setattr("cosim.runner.run.run", run)
    return made


def test_paths_start_at_the_folder_of_the_test(mmau_cosim: Cosimulation, calls: list[Any]) -> None:
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
    assert (first[0], first[1]) == (unit, {"dut": dut, "simulator": "icarus", "waves": None})
    assert second[1] == {"dut": None, "waves": None}


def test_failure_shows_table_and_mismatch_and_junit_has_the_seed(
    mmau_cosim: Cosimulation, calls: list[Any], capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    report = mmau_cosim(unit=golden.load_unit(LANES / "unit.toml"), seed=5)
    assert not report.passed
    shown = capsys.readouterr().out
    assert shown == cosim.summary([report], report.seed) + "\n"
    assert report.first_mismatch is not None
    assert report.first_mismatch in shown
    assert dict(request.node.user_properties) == {
        "mmau_seed": report.seed, "mmau_vectors": 200, "mmau_received": 200, "mmau_mismatches": 1,
    }  # fmt: skip


def test_fixture_comes_with_the_installation() -> None:
    (entry,) = metadata.entry_points(group="pytest11", name="cosim.pytest_plugin")
    assert entry.value == "cosim.pytest_plugin"


@pytest.mark.slow
def test_loading_the_plugin_imports_nothing_of_the_models() -> None:
    program = (
        "import sys, cosim.pytest_plugin\n"
        "print([name for name in ('golden', 'rtl', 'numpy', 'amaranth', 'cocotb') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
