"""Build a design in a simulator, run the testbench in it, and bring back the report."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools.runner import VerilatorControlFile, get_runner

from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.dut.connection import connect, operands_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import compiler_arguments, elaborated_ports
from cosim.dut.generated import write_generated
from cosim.dut.wrapper import WRAPPER, wrapper
from cosim.runner.job import JOB_VARIABLE, Job, write_job
from cosim.runner.report import Report
from cosim.runner.runtime import keep_runtime, place_runtime
from cosim.runner.tools import check_tools
from cosim.runner.save_file import instance_ports, write_save_file
from golden import Unit
from golden.checks import check_choice
from golden.files import check_output
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.tools import in_parallel, run_tool, supervised

SIMULATORS = ("verilator", "icarus")

VERILATOR_ARGUMENTS = (
    "-O3", "--noassert",  # speed; nothing here asserts
    "--x-assign", "unique", "--x-initial", "unique",  # registers start as the run says, see `power_ups`
    "-Wno-fatal",  # lint is not this program's business
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are looked at, so everything else may be optimised away
    "--output-split", "10000000",  # one C++ file: several would want precompiled headers, which g++ does not find
)  # fmt: skip

VERILATOR_SEEDS = 2**31 - 2
"""Verilator takes seeds from 1 to this."""

SECOND_POWER_UP = 1000
"""Vectors of the second simulation: it is there for what registers hold before their reset."""

MIN_POWER_UP = 50
"""A run of so few vectors that the second simulation would have fewer than these has one only."""

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
    dut: Dut | None = None,
    work_dir: Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Co-simulate one design with its golden model.

    Args:
        design: what is simulated: a unit, or a `MultiFormatDesign` or a `TileDesign`.
        vectors, seed: of the stimulus (golden.stimulus); the same ones give the same run.
        simulator: one of `SIMULATORS`.
        waves: where to leave a waveform (VCD from Verilator, FST from Icarus), or None; beside it a save file for GTKWave.
        dut: Verilog of one's own that should be the design; None generates it.
        work_dir: where to build; None builds in a temporary folder and leaves nothing.
        progress: called with a line at every step.

    Raises:
        ValueError: a bad argument, a unit that no datapath can hold, or Verilog with other ports (`PortMismatch`).
        MissingTool: a program is not installed. SimulationError: the simulator failed. YosysError: no Verilog came of it.
    """
    check_choice("simulator", simulator, SIMULATORS)
    if vectors < 1:
        raise ValueError(f"vectors must be at least 1, got {vectors}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    if waves is not None and not waves.absolute().parent.is_dir():
        raise ValueError(f"waves must go into an existing folder, got {waves}")
    if waves is not None:
        check_output(waves)
    check_tools(simulator)
    chosen = as_design(design)
    specification_of(chosen, dut.results if dut else 1).check_count(vectors)
    if dut is not None:
        dut.compare.check(chosen.operation.d)
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
    dut: Dut | None,
    work_dir: Path | None,
    say: Progress,
) -> Report:
    """`run`, with arguments that are good."""
    with _folder(work_dir) as folder:
        say(f"{design.name}: building with {simulator}")
        built = _sources(design, dut, folder)
        runner = _build(simulator, built, folder, waves is not None)
        say(f"{design.name}: {vectors:,} vectors")
        parts: list[Report] = []
        for share, (first, plusargs) in zip(*power_ups(built.timing, vectors, seed), strict=True):
            job = Job(
                design=design.as_table(),
                vectors=share,
                seed=first,
                simulator=simulator,
                timing=built.timing.as_table(),
                compare=asdict(dut.compare) if dut else {},
                results=dut.results if dut else 1,
                report_file=str(folder / "report.json"),
            )
            _simulate(runner, built, folder, write_job(folder, job), plusargs, waves is not None and not parts)
            parts.append(_read_report(Path(job.report_file), folder))
            if waves is not None and len(parts) == 1:
                _keep(_wave_file(simulator, built, folder), waves)
                if waves.is_file():  # a device or a FIFO has nothing beside it
                    write_save_file(waves.resolve(), built.top, built.instances)
        report = replace(Report.joined(parts), seed=seed)
    say(f"{design.name}: {'passed' if report.passed else 'FAILED: ' + report.failures[0]}")
    return report


@dataclass(frozen=True)
class Built:
    """What the simulator gets.

    Attributes:
        sources: files in order. top: the top module, whose ports have this project's names. ports: these names.
        arguments: of the compiler. timing: how it is driven.
        instances: within the top module, to their ports; for a waveform.
    """

    sources: tuple[Path, ...]
    top: str
    ports: tuple[str, ...]
    arguments: tuple[str, ...]
    timing: Timing
    instances: Mapping[str, Sequence[str]]


def _sources(design: Design, dut: Dut | None, folder: Path) -> Built:
    """The generated design, or a wrapper around one's own that gives it the same ports."""
    if dut is None:
        ports = tuple(port.name for port in design.ports)
        source = write_generated(design, folder)
        instances = instance_ports(source.read_text(encoding="utf-8"))
        return Built((source,), "unit", ports, (), Timing.of_design(design), instances)
    operands = operands_of(design)
    connection = connect(dut, operands, elaborated_ports(dut))
    text = wrapper(dut, operands, connection)
    around = folder / f"{WRAPPER}.sv"
    around.write_text(text, encoding="utf-8")
    ports = (*(operand.name for operand in operands), *dut.timing.controls)
    instances = {"dut": [port.name for port in connection.ports]}
    return Built((*dut.sources, around), WRAPPER, ports, tuple(compiler_arguments(dut)), dut.timing, instances)


def power_ups(timing: Timing, vectors: int, seed: int) -> tuple[list[int], list[tuple[int, list[str]]]]:
    """How the vectors are shared among simulations, each of which begins with other contents of the registers.

    Returns:
        Vectors of each simulation; its seed, and the arguments that tell Verilator how registers begin: at random, or as
        ones. Icarus takes no notice of them, for it begins with X.
    """
    at_random = (seed, ["+verilator+rand+reset+2", f"+verilator+seed+{seed % VERILATOR_SEEDS + 1}"])
    as_ones = (seed + 1, ["+verilator+rand+reset+1"])
    second = min(vectors // 2, SECOND_POWER_UP)
    if timing.protocol == "combinational" or second < MIN_POWER_UP:
        return [vectors], [at_random]
    return [vectors - second, second], [at_random, as_ones]


@contextmanager
def _folder(work_dir: Path | None) -> Iterator[Path]:
    if work_dir is not None:
        work_dir.mkdir(parents=True, exist_ok=True)
        yield work_dir.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="mmau-cosim-") as folder:
        yield Path(folder)


def _build(simulator: str, dut: Built, folder: Path, waves: bool) -> Any:
    """A cocotb runner with the design built."""
    runner: Any = get_runner(simulator)
    runner._execute_cmds = partial(_execute, runner, folder)
    build_dir = folder / "build"
    sources: list[Any] = [source.resolve() for source in dut.sources]
    arguments = dut.arguments
    if simulator == "verilator":
        arguments = (*VERILATOR_ARGUMENTS, *arguments)
        sources.insert(0, VerilatorControlFile(_public_ports(dut, folder)))
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


def _execute(runner: Any, folder: Path, commands: Sequence[Sequence[str]], cwd: Path, log: TextIO | None = None) -> None:
    """Runs the runner's commands, in place of its own method, which leaves them running where it is interrupted.

    Their temporary files go into the run's folder: a compiler that is killed leaves its own.
    """
    stderr = None if log is None else subprocess.STDOUT
    for command in commands:
        result = run_tool(command, cwd=cwd, env=runner.env | {"TMPDIR": str(folder)}, stdout=log, stderr=stderr)
        if result.returncode:
            raise RuntimeError(f"{Path(command[0]).name} exited with status {result.returncode}")


def _public_ports(dut: Built, folder: Path) -> Path:
    """Tells Verilator which signals the testbench will ask for."""
    control = folder / "ports.vlt"
    lines = [f'public_flat_rw -module "{dut.top}" -var "{name}"' for name in dut.ports]
    control.write_text("\n".join(["`verilator_config", *lines, ""]), encoding="utf-8")
    return control


def _simulate(runner: Any, dut: Built, folder: Path, job_file: Path, plusargs: Sequence[str], waves: bool) -> None:
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
            plusargs=list(plusargs),
            waves=waves,
            timescale=("1ns", "1ps"),
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise SimulationError(f"the simulation of {dut.top} broke off: {error}\n{_tail(log)}") from error


def _read_report(report_file: Path, folder: Path) -> Report:
    if not report_file.is_file():
        raise SimulationError(f"the simulation ended without a report\n{_tail(folder / 'simulation.log')}")
    return Report.from_json(report_file.read_text(encoding="utf-8"))


def _wave_file(simulator: str, dut: Built, folder: Path) -> Path:
    return folder / "dump.vcd" if simulator == "verilator" else folder / "build" / f"{dut.top}.fst"


def _keep(file: Path, target: Path) -> None:
    """Copy a file, which may be large, as `golden.files.write_atomically` writes: nothing half-written is ever seen, of a
    symlink the target is written, a device or a FIFO is written through."""
    check_output(target)
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file():
        with file.open("rb") as stream, target.open("wb", buffering=0) as device:
            shutil.copyfileobj(stream, device)
        return
    part = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(file, part)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _tail(log: Path) -> str:
    if not log.is_file():
        return "(it left no log)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL:])
