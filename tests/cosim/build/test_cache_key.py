"""What a compiled design depends on, as Verilator read it; the folder of a build, what builds share, and a full disk."""

import secrets
import shutil
from collections import namedtuple
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

from cosim.bench.protocol import Timing
from cosim.build.build import build, program_key
from cosim.build.cache import HEADER, PRECOMPILED, RUNTIME, Runtime, is_what_was_elaborated, new_folder
from cosim.build.errors import full_disk, simulation_error
from cosim.build.sources import Sources, sources_of
from cosim.dut.description import Dut, load_dut
from cosim.dut.files_read import files_read
from cosim.runner.run import run
from cosim.volume import simulation_program
from cosim.volume.simulation_program import build_program
from golden import load_unit
from mmau.jobs import Outcome, Store, Task
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.cosim.bench.test_scoreboard import T_UNIT

SIMD = Path(__file__).parent.parent.parent / "third_party" / "simd"
LANES = SIMD.parent / "lanes"
DESIGN = UnitDesign(load_unit(SIMD / "unit.toml").step)

FAULT = ("e_max = exponents[L];", "e_max = exponents[0];")
"""The largest exponent without that of c."""

Key = Callable[[Sources], str | None]

TOP = """
`ifdef WITH_HEADER
`include "header.svh"
`endif
`include "always.svh"
module top(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c, output logic [31:0] d);
  below found(.*);
endmodule
"""

BELOW = """
module below(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c, output logic [31:0] d);
  assign d = c;
endmodule
"""


@pytest.fixture(autouse=True)
def verilator() -> None:
    use_packaged_verilator()


@pytest.fixture(params=["cocotb", "volume"])
def key(request: pytest.FixtureRequest) -> Key:
    """The key of a design in either mode."""
    if request.param == "cocotb":
        return lambda sources: program_key(sources, False, False)
    return simulation_program.program_key


@pytest.mark.simulator
def test_macros_and_parameters_are_part_of_the_key(key: Key, tmp_path: Path) -> None:
    """Designs from the same sources with different macros have different keys."""
    sources = sources_of(DESIGN, load_dut(SIMD / "dut.toml"), tmp_path)

    def with_arguments(*arguments: str) -> str | None:
        return key(replace(sources, arguments=arguments))

    keys = {with_arguments(), with_arguments("-DBUG_RESULT_OF_THE_OTHER"), with_arguments("-GL=3"), None}
    assert len(keys) == 4
    assert with_arguments("-GL=3") == with_arguments("-GL=3")


def found_by_itself(folder: Path, *verilator_args: str) -> Dut:
    """A design of whose files only the top module is listed: Verilator finds the others in two include folders."""
    near, far = folder / "near", folder / "far"
    for each in (near, far):
        each.mkdir(exist_ok=True)
    files = {folder / "top.sv": TOP, far / "below.sv": BELOW, far / "always.svh": "", far / "header.svh": ""}
    for path, text in files.items():
        if not path.exists():
            path.write_text(text)
    return Dut(top="top", sources=(folder / "top.sv",), include=(near, far), verilator_args=verilator_args)


CHANGES: dict[str, tuple[str, str]] = {
    "a module that Verilator finds itself": ("far/below.sv", BELOW.replace("= c", "= ~c")),
    "a file that an argument brings in": ("far/header.svh", "// other"),
    "an included file": ("far/always.svh", "// other"),
    "a file in a nearer folder": ("near/always.svh", ""),
    "a module in a nearer folder": ("near/below.sv", BELOW),
    "a module under an ending that is tried first": ("far/below.v", BELOW.replace("logic", "wire")),
}


@pytest.mark.simulator
@pytest.mark.attack("compiled designs that are stale")
def test_all_that_verilator_reads_is_part_of_the_key(tmp_path: Path) -> None:
    dut = found_by_itself(tmp_path, "-DWITH_HEADER")

    def key() -> str | None:
        return simulation_program.program_key(sources_of(DESIGN, dut, tmp_path))

    before = key()
    assert before is not None
    for what, (name, text) in CHANGES.items():
        path = tmp_path / name
        was = path.read_text() if path.exists() else None
        path.write_text(text)
        assert key() != before, what
        path.unlink() if was is None else path.write_text(was)
    assert key() == before


@pytest.mark.simulator
@pytest.mark.attack("compiled designs that are stale")
def test_missing_module_that_appears_changes_the_key(tmp_path: Path) -> None:
    """With a warning waived, a module that no file holds is an empty one, until there is a file."""
    dut = found_by_itself(tmp_path, "-Wno-MODMISSING")
    (tmp_path / "far" / "below.sv").unlink()
    before = simulation_program.program_key(sources_of(DESIGN, dut, tmp_path))
    (tmp_path / "far" / "below.sv").write_text(BELOW)
    assert simulation_program.program_key(sources_of(DESIGN, dut, tmp_path)) != before


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[], Sources]:
    """A design that was compiled in the folder, as far as the listings of the compilers tell."""
    names = [tmp_path / name for name in ("below.sv", "verilated_std.sv")]
    listing = "".join(f'S 1 2 3 4 5 6 "x" "{name}"\n' for name in names)
    (tmp_path / "Vtop__verFiles.dat").write_text(f'C "--cc"\n{listing}T 1 2 3 4 5 6 "x" "{tmp_path / "made.cpp"}"\n')
    for name in names:
        name.write_text(BELOW)
    return lambda: Sources((), "top", (), (), (), Timing.of_design(DESIGN), {}, files_read(tmp_path, tmp_path))


def test_file_that_changed_while_the_design_was_compiled_is_noticed(compiled: Callable[[], Sources], tmp_path: Path) -> None:
    sources = compiled()
    assert list(sources.read) == [str(tmp_path / "below.sv"), str(tmp_path / "verilated_std.sv")]
    assert is_what_was_elaborated(sources, tmp_path, tmp_path)
    changed = {path: file._replace(changed=file.changed - 1) for path, file in sources.read.items()}
    assert not is_what_was_elaborated(replace(sources, read=changed), tmp_path, tmp_path), "changed and changed back"
    (tmp_path / "below.sv").write_text("")
    assert not is_what_was_elaborated(sources, tmp_path, tmp_path)
    (tmp_path / "below.sv").unlink()
    assert not is_what_was_elaborated(sources, tmp_path, tmp_path)


def test_design_that_includes_a_header_is_not_kept(compiled: Callable[[], Sources], tmp_path: Path) -> None:
    """Verilator writes `systemc_header into its C++ and lists no file for it; the compiler does."""
    sources = compiled()
    library = f"Vtop.o: Vtop.cpp Vtop.h \\\n {tmp_path}/verilated.h\n"
    (tmp_path / "Vtop__ALL.d").write_text(library)
    assert is_what_was_elaborated(sources, tmp_path, tmp_path)
    (tmp_path / "Vtop__ALL.d").write_text(f"{library[:-1]} \\\n ../table.h\n")
    assert not is_what_was_elaborated(sources, tmp_path, tmp_path)


@pytest.mark.simulator
@pytest.mark.attack("compiled designs that are stale")
def test_c_source_of_a_design_is_compiled_anew(tmp_path: Path) -> None:
    dut = found_by_itself(tmp_path)
    (tmp_path / "more.cpp").write_text("")
    more = replace(dut, sources=(*dut.sources, tmp_path / "more.cpp"))
    assert simulation_program.program_key(sources_of(DESIGN, more, tmp_path)) is None


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
@pytest.mark.attack("compiled designs that are stale")
def test_fault_in_a_file_that_verilator_finds_itself_is_found(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lanes with one file of three listed, before and after a fault in another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rtl = tmp_path / "rtl"
    shutil.copytree(LANES / "rtl", rtl)
    dut = load_dut(LANES / "dut.toml")
    package, core, top = (rtl / name for name in ("fdpa_pkg.sv", "fdpa_core.sv", "dot4_lanes.sv"))
    dut = replace(dut, sources=(package, top), include=(*dut.include, rtl))
    unit = load_unit(LANES / "unit.toml")
    assert run(unit, vectors=200, mode=mode, dut=dut).passed
    name = "mmau_dut" if mode == "cocotb" else "volume"
    assert len(list((tmp_path / "cache").rglob(name))) == 1, "the design that is sound is kept"
    text = core.read_text()
    assert FAULT[0] in text
    core.write_text(text.replace(*FAULT))
    assert not run(unit, vectors=200, mode=mode, dut=dut).passed


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
