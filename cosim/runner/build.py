"""Builds a design in a simulator."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools.config import libs_dir
from cocotb_tools.runner import VerilatorControlFile, get_runner

from cosim.compile.arguments import COVERAGE_ARGUMENTS, TIMESCALE, VERILATOR_ARGUMENTS, runtime_arguments
from cosim.compile.cache import content_key, fetch, store
from cosim.compile.content import content_of
from cosim.compile.errors import ending, simulation_error
from cosim.compile.runtime import RUNTIME, Runtime
from cosim.compile.sources import Sources
from cosim.dut.wrapper import WRAPPER
from rtl.tools import run_tool

SIMULATORS = ("verilator", "icarus")


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


def build(simulator: str, sources: Sources, folder: Path, waves: bool, stays: bool, rtl_coverage: bool = False) -> Built:
    """Build the design, or take it from the cache where the same has been built before.

    Args:
        rtl_coverage: whether Verilator counts what is executed of the sources, the wrapper aside.

    Raises:
        SimulationError: the simulator cannot build it.
    """
    runner: Any = get_runner(simulator)
    commands = Commands(runner, folder)
    runner._execute_cmds = commands
    built = Built(simulator, sources, runner, commands, folder, stays)
    if simulator != "verilator":
        _compile(built, waves, sources.arguments, [])
        return built
    program = folder / "build" / sources.top
    program.parent.mkdir(parents=True, exist_ok=True)
    further = COVERAGE_ARGUMENTS if rtl_coverage else ()
    key = program_key(sources, folder, waves, rtl_coverage)
    if key is not None and fetch(key, program.parent):
        return built
    depends = {"waves": waves, "arguments": [*runtime_arguments(sources), *further]}
    runtime = Runtime(program.parent, (RUNTIME,), depends)
    runtime.place()
    arguments = (*VERILATOR_ARGUMENTS, *further, *sources.arguments, *sources.verilator_args)
    _compile(built, waves, arguments, [VerilatorControlFile(_control_file(sources, folder))])
    runtime.keep()
    if key is not None:
        store(key, [program])
    return built


def program_key(sources: Sources, folder: Path, waves: bool, rtl_coverage: bool) -> str | None:
    """The name under which the program is kept; None where all that it depends on cannot be known.

    A program that counts coverage names the files that it is of, so that they count by their paths too.
    """
    content = content_of(sources, folder)
    if content is None:
        return None
    how = {"compiler": VERILATOR_ARGUMENTS, "waves": waves, "cocotb": version("cocotb"), "libraries": str(libs_dir)}
    if rtl_coverage:
        how |= {"coverage": COVERAGE_ARGUMENTS, "counted": [str(file.resolve()) for file in counted_files(sources)]}
    return content_key(content | how)


def counted_files(sources: Sources) -> list[Path]:
    """Those whose coverage is counted: all but the wrapper, which is no part of a design of one's own."""
    return [file for file in sources.files if sources.top != WRAPPER or file != sources.files[-1]]


def _compile(built: Built, waves: bool, arguments: Sequence[str], first: Sequence[Any]) -> None:
    """Build by cocotb's runner.

    Args:
        first: files before the sources.
    """
    sources, log = built.sources, built.folder / "build.log"
    try:
        built.runner.build(
            sources=[*first, *(source.resolve() for source in sources.files)],
            hdl_toplevel=sources.top,
            build_dir=built.folder / "build",
            build_args=list(arguments),
            always=True,
            waves=waves,
            timescale=TIMESCALE,
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        message = f"{built.simulator} cannot build {sources.top}: {error}"
        raise simulation_error(message, log, built.stays) from error


def _control_file(sources: Sources, folder: Path) -> Path:
    """Tells Verilator which signals the testbench will ask for, and that the wrapper's lines are not the design's."""
    control = folder / "ports.vlt"
    lines = [f'public_flat_rw -module "{sources.top}" -var "{name}"' for name in sources.ports]
    lines += [f'coverage_off -file "{file.resolve()}"' for file in sources.files if file not in counted_files(sources)]
    control.write_text("\n".join(["`verilator_config", *lines, ""]), encoding="utf-8")
    return control
