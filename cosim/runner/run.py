"""Build a design in a simulator, run the testbench in it, and bring back the report."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools.runner import VerilatorControlFile, get_runner

from cosim.bench.stimulus import specification_of
from cosim.runner.dut import DesignUnderTest, check_sources, port_names, write_generated
from cosim.runner.job import JOB_VARIABLE, write_job
from cosim.runner.report import Report
from cosim.runner.runtime import keep_runtime, place_runtime
from cosim.runner.tools import check_tools
from golden import Unit
from golden.checks import check_choice
from rtl.designs.design import Design, as_design
from rtl.tools import in_parallel, run_tool, supervised

SIMULATORS = ("verilator", "icarus")

VERILATOR_ARGUMENTS = (
    "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",  # speed; nothing here asserts
    "-Wno-fatal",  # lint is not this program's business
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are looked at, so everything else may be optimised away
    "--output-split", "10000000",  # one C++ file: several would want precompiled headers, which g++ does not find
)  # fmt: skip

LOG_TAIL = 30
"""Lines of a simulator's log that an error shows."""

Progress = Callable[[str], None]


class SimulationError(Exception):
    """The simulator could not build the design, or broke off; the message ends with its own last lines."""


def run(
    design: Unit | Design,
    vectors: int = 20000,
    seed: int = 0,
    simulator: str = "verilator",
    waves: Path | None = None,
    dut: DesignUnderTest | None = None,
    work_dir: Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Co-simulate one design with its golden model.

    Args:
        design: what is simulated: a unit, or a `MultiFormatDesign` or a `TileDesign`.
        vectors, seed: of the stimulus (golden.stimulus); the same ones give the same run.
        simulator: one of `SIMULATORS`.
        waves: where to leave a waveform (VCD from Verilator, FST from Icarus), or None.
        dut: Verilog of one's own that should be the design; None generates it.
        work_dir: where to build; None builds in a temporary folder and leaves nothing.
        progress: called with a line at every step.

    Raises:
        ValueError: a bad argument, a unit that no datapath can hold, or Verilog with other ports.
        MissingTool: a program is not installed. SimulationError: the simulator failed. YosysError: no Verilog came of it.
    """
    check_choice("simulator", simulator, SIMULATORS)
    if vectors < 1:
        raise ValueError(f"vectors must be at least 1, got {vectors}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    if waves is not None and not waves.absolute().parent.is_dir():
        raise ValueError(f"waves must go into an existing folder, got {waves}")
    check_tools(simulator)
    chosen = as_design(design)
    specification_of(chosen).check_count(vectors)
    return supervised(lambda: _run(chosen, vectors, seed, simulator, waves, dut, work_dir, progress or (lambda line: None)))


def run_many(
    designs: Sequence[Unit | Design],
    jobs: int = 2,
    vectors: int = 20000,
    seed: int = 0,
    simulator: str = "verilator",
    progress: Progress | None = None,
) -> list[Report]:
    """`run` for each design, `jobs` of them at a time; reports in their order.

    Raises:
        As `run`, for the first that cannot be run; the others are ended, or not started any more.
    """
    common: dict[str, Any] = {"vectors": vectors, "seed": seed, "simulator": simulator, "progress": progress}
    return in_parallel([partial(run, design, **common) for design in designs], jobs)


def _run(
    design: Design,
    vectors: int,
    seed: int,
    simulator: str,
    waves: Path | None,
    dut: DesignUnderTest | None,
    work_dir: Path | None,
    say: Progress,
) -> Report:
    """`run`, with arguments that are good."""
    with _folder(work_dir) as folder:
        if dut is None:
            dut = write_generated(design, folder)
        check_sources(dut)
        names = port_names(design, dut.ports)
        job_file, job = write_job(folder, design, vectors, seed, simulator, names)
        say(f"{design.name}: building with {simulator}")
        runner = _build(simulator, dut, folder, names, waves is not None)
        say(f"{design.name}: {vectors:,} vectors")
        _simulate(runner, dut, folder, job_file, waves is not None)
        _check_ports(dut, Path(job.ports_file))
        report = _read_report(Path(job.report_file), folder)
        if waves is not None:
            _keep(_wave_file(simulator, dut, folder), waves)
    say(f"{design.name}: {'passed' if report.passed else 'FAILED: ' + report.failures[0]}")
    return report


@contextmanager
def _folder(work_dir: Path | None) -> Iterator[Path]:
    if work_dir is not None:
        work_dir.mkdir(parents=True, exist_ok=True)
        yield work_dir.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="mmau-cosim-") as folder:
        yield Path(folder)


def _build(simulator: str, dut: DesignUnderTest, folder: Path, names: dict[str, str], waves: bool) -> Any:
    """A cocotb runner with the design built."""
    runner: Any = get_runner(simulator)
    runner._execute_cmds = partial(_execute, runner)
    build_dir = folder / "build"
    sources: list[Any] = [source.resolve() for source in dut.sources]
    arguments: tuple[str, ...] = ()
    if simulator == "verilator":
        arguments = VERILATOR_ARGUMENTS
        sources.insert(0, VerilatorControlFile(_public_ports(dut, names, folder)))
        place_runtime(build_dir, waves)
    log = folder / "build.log"
    try:
        runner.build(
            sources=sources,
            hdl_toplevel=dut.top,
            build_dir=build_dir,
            build_args=list(arguments),
            always=True,
            waves=waves,
            timescale=("1ns", "1ps"),
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise SimulationError(f"{simulator} could not build {dut.top}: {error}\n{_tail(log)}") from error
    if simulator == "verilator":
        keep_runtime(build_dir, waves)
    return runner


def _execute(runner: Any, commands: Sequence[Sequence[str]], cwd: Path, log: TextIO | None = None) -> None:
    """Runs the runner's commands, in place of its own method, which leaves them running where it is interrupted."""
    stderr = None if log is None else subprocess.STDOUT
    for command in commands:
        result = run_tool(command, cwd=cwd, env=runner.env, stdout=log, stderr=stderr)
        if result.returncode:
            raise RuntimeError(f"{Path(command[0]).name} exited with status {result.returncode}")


def _public_ports(dut: DesignUnderTest, names: dict[str, str], folder: Path) -> Path:
    """Tells Verilator which signals the testbench will ask for."""
    control = folder / "ports.vlt"
    lines = [f'public_flat_rw -module "{dut.top}" -var "{name}"' for name in names.values()]
    control.write_text("\n".join(["`verilator_config", *lines, ""]), encoding="utf-8")
    return control


def _simulate(runner: Any, dut: DesignUnderTest, folder: Path, job_file: Path, waves: bool) -> None:
    log = folder / "simulation.log"
    try:
        runner.test(
            test_module="cosim.runner.testbench",
            hdl_toplevel=dut.top,
            hdl_toplevel_lang="verilog",
            build_dir=folder / "build",
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            extra_env={JOB_VARIABLE: str(job_file)},
            waves=waves,
            timescale=("1ns", "1ps"),
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise SimulationError(f"the simulation of {dut.top} broke off: {error}\n{_tail(log)}") from error


def _check_ports(dut: DesignUnderTest, ports_file: Path) -> None:
    if ports_file.is_file():
        problems = ports_file.read_text(encoding="utf-8")
        raise ValueError(
            f"design {dut.top} does not have the ports that it must: {problems}; [ports] in a ports file renames"
        )


def _read_report(report_file: Path, folder: Path) -> Report:
    if not report_file.is_file():
        raise SimulationError(f"the simulation ended without a report\n{_tail(folder / 'simulation.log')}")
    return Report.from_json(report_file.read_text(encoding="utf-8"))


def _wave_file(simulator: str, dut: DesignUnderTest, folder: Path) -> Path:
    return folder / "dump.vcd" if simulator == "verilator" else folder / "build" / f"{dut.top}.fst"


def _keep(file: Path, target: Path) -> None:
    """Copy a file, which may be large, so that nothing half-written is ever seen."""
    part = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(file, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _tail(log: Path) -> str:
    if not log.is_file():
        return "(it left no log)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL:])
