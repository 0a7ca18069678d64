"""Builds a design in a simulator."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools.runner import VerilatorControlFile, get_runner

from cosim.bench.timing import Timing
from cosim.dut.connection import connect, operands_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import INSTANCE, compiler_arguments, elaborated_ports
from cosim.dut.generated import write_generated
from cosim.dut.wrapper import WRAPPER, wrapper
from cosim.runner.errors import ending, simulation_error
from cosim.runner.runtime import keep_runtime, place_runtime
from cosim.runner.save_file import instance_ports
from rtl.designs.design import Design
from rtl.tools import run_tool

SIMULATORS = ("verilator", "icarus")

VERILATOR_ARGUMENTS = (
    "-O3",
    "--x-assign", "unique", "--x-initial", "unique",  # registers start as the run says, see `power_ups`
    "-Wno-fatal",  # lint is not this program's business
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are looked at, so everything else may be optimised away
    "--output-split", "10000000",  # one C++ file: several would want precompiled headers, which g++ does not find
)  # fmt: skip

ASSERTIONS = ("--assert", "--no-assert-case")
"""A design of one's own fails by its own assertions. `unique` and `priority` only warn, by the standard, and glitches in
combinational logic break them."""

NO_ASSERTIONS = ("--noassert",)
"""A generated design has none."""

TIMESCALE = ("1ns", "1ps")


@dataclass(frozen=True)
class Sources:
    """What the simulator gets.

    Attributes:
        files: in order. top: the top module, whose ports have this project's names. ports: these names.
        arguments: of the compiler. verilator_args: further ones, of Verilator alone. timing: how it is driven.
        instances: within the top module, to their ports; what a waveform shows first.
    """

    files: tuple[Path, ...]
    top: str
    ports: tuple[str, ...]
    arguments: tuple[str, ...]
    verilator_args: tuple[str, ...]
    timing: Timing
    instances: Mapping[str, Sequence[str]]


class Commands:
    """Runs the programs that cocotb's runner wants run, in place of its own method, which leaves them running where it is
    interrupted. Their temporary files go into the run's folder: a compiler that is killed leaves its own.

    Attributes:
        give_up: asked now and then while a program runs; where it answers True, the program is killed.
    """

    def __init__(self, runner: Any, folder: Path) -> None:
        self._runner, self._folder = runner, folder
        self.give_up: Callable[[], bool] | None = None

    def __call__(self, commands: Sequence[Sequence[str]], cwd: Path, log: TextIO | None = None) -> None:
        """Run them one after another.

        Raises:
            RuntimeError: one of them ends badly; the message says how.
        """
        stderr = None if log is None else subprocess.STDOUT
        env = self._runner.env | {"TMPDIR": str(self._folder)}
        for command in commands:
            result = run_tool(command, give_up=self.give_up, cwd=cwd, env=env, stdout=log, stderr=stderr)
            if result.returncode:
                raise RuntimeError(ending(Path(command[0]).name, result.returncode))


@dataclass(frozen=True)
class Built:
    """A design that is ready to be simulated.

    Attributes:
        sources: what it was built of. runner: cocotb's. commands: how that one runs programs.
        folder: of the run. stays: whether it is kept.
    """

    simulator: str
    sources: Sources
    runner: Any
    commands: Commands
    folder: Path
    stays: bool


def sources_of(design: Design, dut: Dut | None, folder: Path) -> Sources:
    """The generated design, or a wrapper around one's own that gives it the same ports.

    Raises:
        ElaborationError: Verilator cannot read the design. PortMismatch: its ports do not fit its description.
    """
    if dut is None:
        ports = tuple(port.name for port in design.ports)
        source = write_generated(design, folder)
        instances = instance_ports(source.read_text(encoding="utf-8"))
        return Sources((source,), "unit", ports, (), NO_ASSERTIONS, Timing.of_design(design), instances)
    operands = operands_of(design)
    connection = connect(dut, operands, elaborated_ports(dut))
    text = wrapper(dut, operands, connection)
    around = folder / f"{WRAPPER}.sv"
    around.write_text(text, encoding="utf-8")
    ports = (*(operand.name for operand in operands), *dut.timing.controls)
    arguments, own = tuple(compiler_arguments(dut)), {INSTANCE: [port.name for port in connection.ports]}
    further = (*ASSERTIONS, *dut.verilator_args)
    return Sources((*dut.sources, around), WRAPPER, ports, arguments, further, dut.timing, own)


def build(simulator: str, sources: Sources, folder: Path, waves: bool, stays: bool) -> Built:
    """Build the design.

    Raises:
        SimulationError: the simulator cannot build it.
    """
    runner: Any = get_runner(simulator)
    commands = Commands(runner, folder)
    runner._execute_cmds = commands
    build_dir, log = folder / "build", folder / "build.log"
    files: list[Any] = [source.resolve() for source in sources.files]
    arguments = sources.arguments
    if simulator == "verilator":
        arguments = (*VERILATOR_ARGUMENTS, *arguments, *sources.verilator_args)
        files.insert(0, VerilatorControlFile(_public_ports(sources, folder)))
        place_runtime(build_dir, waves)
    try:
        runner.build(
            sources=files,
            hdl_toplevel=sources.top,
            build_dir=build_dir,
            build_args=list(arguments),
            always=True,
            waves=waves,
            timescale=TIMESCALE,
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise simulation_error(f"{simulator} cannot build {sources.top}: {error}", log, stays) from error
    if simulator == "verilator":
        keep_runtime(build_dir, waves)
    return Built(simulator, sources, runner, commands, folder, stays)


def _public_ports(sources: Sources, folder: Path) -> Path:
    """Tells Verilator which signals the testbench will ask for."""
    control = folder / "ports.vlt"
    lines = [f'public_flat_rw -module "{sources.top}" -var "{name}"' for name in sources.ports]
    control.write_text("\n".join(["`verilator_config", *lines, ""]), encoding="utf-8")
    return control
