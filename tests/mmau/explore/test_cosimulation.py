"""The Verilog that is handed out is the text that was simulated, and a circuit that is wrong is none that was verified."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cosim.build.errors import SimulationError
from cosim.runner.report import Report
from golden import Unit
from golden.units.unit_file import unit_from_table, unit_to_toml
from mmau.explore import work as work_module
from mmau.explore.records import is_verified
from mmau.explore.work import VERILOG, co_simulate, renamed, work
from rtl.designs.identity import verilog_digest
from rtl.verilog.emit import to_verilog
from tests.cosim.runner.reports import failed, passed
from tests.volume import one_in

TEXT = """
name = "unit"
operation = "T-FDPA"
a = "e2m1"
b = "e2m1"
c = "fp16"
L = 1
F = 3
rho = "RZ-FP16"
e_zero = -20
"""


MODES = {"format": {"key": "formats", "values": {"0": "e2m1", "1": {"a": "e2m1", "b": "e2m1", "L": 1}}}}


def unit(name: str, **tables: Any) -> Unit:
    return unit_from_table(tomllib.loads(TEXT) | {"name": name} | tables)


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, ["F=3 L=1", 'the "new" one', "a\\b", "unit"]))
def test_renamed_verilog_is_that_of_the_unit_of_that_name(name: str) -> None:
    for tables in ({}, {"controls": MODES}):
        assert renamed(to_verilog(unit("unit", **tables)), name) == to_verilog(unit(name, **tables))


@pytest.mark.slow
def test_verilog_alone_where_no_vectors_are_wanted(tmp_path: Path) -> None:
    assert work({"part": "verilog", "unit": unit_to_toml(unit("unit"))}, tmp_path) is None
    assert (tmp_path / VERILOG).read_text() == to_verilog(unit("unit"))


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize(
    "tables",
    [
        {"operation": "FMA", "a": "e4m3ieee", "b": "e4m3ieee", "c": "e4m3ieee", "rho": "RNE-E4M3IEEE", "flags": True},
        {
            "sums": {"node": "RNE-e8m10", "tree": "pairwise", "group": 2, "c": "last"},
            "operation": "E-FDPA",
            "L": 1,
            "c": "fp32",
        },
    ],
    ids=["flags", "a program of additions"],
)
def test_unit_that_is_simulated_in_its_own_way(tables: dict[str, Any], tmp_path: Path) -> None:
    given = {key: value for key, value in tomllib.loads(TEXT).items() if key in ("name", "a", "b", "c")} | tables
    found = co_simulate(unit_from_table(given).step, 300, 0, tmp_path)
    assert found is not None
    assert (found["received"], found["mismatches"]) == (300, 0)
    assert found["verilog"] == verilog_digest((tmp_path / VERILOG).read_text())


def simulated(report: Report, monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any] | None:
    """The record of a report."""

    def run(given: Unit, *arguments: Any, work_dir: Path, **options: Any) -> Report:
        (work_dir / VERILOG).write_text("module unit\n")
        return report

    monkeypatch.setattr(work_module, "run", run)
    return co_simulate(unit("unit"), 100, 7, folder)


def test_run_that_passes_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    report = passed()
    found = simulated(report, monkeypatch, tmp_path)
    assert found is not None
    assert {key: found[key] for key in ("vectors", "sent", "received", "mismatches", "seed", "verilog")} == {
        "vectors": report.vectors, "sent": report.sent, "received": report.received, "mismatches": 0, "seed": 7,
        "verilog": report.verilog,
    }  # fmt: skip
    assert (tmp_path / VERILOG).read_text() == "module unit\n"


@pytest.mark.slow
def test_mismatches_are_counted_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = simulated(failed(), monkeypatch, tmp_path)
    assert found is not None
    assert found["mismatches"] == failed().mismatches > 0
    assert is_verified({"cosimulation": found, "proof": None}) is False
    assert (tmp_path / "report.json").is_file()


def test_run_that_is_wrong_without_a_mismatch_is_no_co_simulation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dataclasses import replace

    surplus = replace(passed(), surplus=2)
    with pytest.raises(SimulationError, match=r"^2 results came out that no vector asked for$"):
        simulated(surplus, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [((9, 9, 9, 0), True), ((9, 9, 9, 1), False), ((9, 9, 8, 0), False), ((9, 8, 8, 0), False), ((0, 0, 0, 0), None)],
)
def test_verified_is_what_was_sent_came_back_and_agreed(counts: tuple[int, ...], verdict: bool | None) -> None:
    told = dict(zip(("vectors", "sent", "received", "mismatches"), counts, strict=True))
    assert is_verified({"cosimulation": told, "proof": None}) is verdict
    assert is_verified({"cosimulation": None, "proof": None}) is None
