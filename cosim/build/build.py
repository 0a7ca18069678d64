"""Builds a design for a simulator, with the cache of compiled designs."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools.config import libs_dir
from cocotb_tools.runner import VerilatorControlFile, get_runner

from cosim.build.cache import (
    COVERAGE_ARGUMENTS,
    LAST_ARGUMENTS,
    MAKE_ARGUMENTS,
    PRECOMPILED,
    RUNTIME,
    TIMESCALE,
    VERILATOR_ARGUMENTS,
    Runtime,
    compiled,
    content_of,
    is_what_was_elaborated,
    new_folder,
    runtime_arguments,
)
from cosim.build.errors import simulation_error
from cosim.build.sources import Sources
from golden.cache import content_key
from golden.processes import ending, run_tool

OPTIMISE = ("OPT_FAST=-O1",)
"""Variables of Verilator's makefile: g++ needs a third less for a design than with its -Os, and cocotb hides the rest."""


class Commands:
    """Runs the programs of cocotb's runner in place of the runner's method, which leaves them running after an interruption.
    Their temporary files go into the run's folder, because a killed compiler leaves them behind.

    Attributes:
        give_up: called repeatedly while a program runs; when it returns True, the program is killed.
    """

    def __init__(self, runner: Any, folder: Path) -> None:
        self._runner, self._folder = runner, folder
        self.give_up: Callable[[], bool] | None = None

    def __call__(self, commands: Sequence[Sequence[str]], cwd: Path, log: TextIO | None = None) -> None:
        """Run the commands one after another.

        Raises:
            RuntimeError: one of them fails; the message names its exit status or signal.
        """
        stderr = None if log is None else subprocess.STDOUT
        env = self._runner.env | {"TMPDIR": str(self._folder)}
        run = partial(run_tool, give_up=self.give_up, cwd=cwd, env=env, stdout=log, stderr=stderr)
        for command in commands:
            further = (*OPTIMISE, *MAKE_ARGUMENTS) if command[0] == "make" else ()
            if further:
                run([*command, *further, PRECOMPILED])  # where it fails, every file is compiled with the headers
            result = run([*command, *further])
            if result.returncode:
                raise RuntimeError(ending(Path(command[0]).name, result.returncode))


@dataclass(frozen=True)
class Built:
    """A design that is built and ready for simulation.

    Attributes:
        sources: sources of the build. runner: cocotb's runner. commands: runs the runner's programs.
        folder: folder of the run. stays: whether it remains after the run.
    """

    simulator: str
    sources: Sources
    runner: Any
    commands: Commands
    folder: Path
    stays: bool


def build(simulator: str, sources: Sources, folder: Path, waves: bool, stays: bool, rtl_coverage: bool = False) -> Built:
    """Build the design, or take the built program from the cache.

    Args:
        rtl_coverage: whether Verilator counts the executed lines and changed bits of the sources, without the wrapper.

    Raises:
        SimulationError: the simulator cannot build the design, or a file of it changed meanwhile.
    """
    runner: Any = get_runner(simulator)
    commands = Commands(runner, folder)
    runner._execute_cmds = commands
    built = Built(simulator, sources, runner, commands, folder, stays)
    if simulator != "verilator":
        for library in (folder / "build").glob("*.cf"):  # GHDL's, with units of an earlier run
            library.unlink()
        _compile(built, waves, sources.arguments, [])
        sources.check_unchanged()
        return built
    program = folder / "build" / sources.top
    new_folder(program.parent)
    further = COVERAGE_ARGUMENTS if rtl_coverage else ()
    key = program_key(sources, waves, rtl_coverage)
    if key is not None and compiled().fetch(key, program.parent):
        return built
    depends = {"waves": waves, "arguments": [*runtime_arguments(sources), *further, *OPTIMISE]}
    runtime = Runtime(program.parent, (RUNTIME,), depends)
    given = (*sources.arguments, *sources.verilator_args)
    arguments = (*VERILATOR_ARGUMENTS, *further, *given, *LAST_ARGUMENTS)
    control = _control_file(sources, folder)
    with runtime.shared():
        _compile(built, waves, arguments, [VerilatorControlFile(control)])
        sources.check_unchanged()
    if key is not None and is_what_was_elaborated(sources, program.parent, program.parent, [control]):
        compiled().store(key, [program])
    return built


def program_key(sources: Sources, waves: bool, rtl_coverage: bool) -> str | None:
    """The program's key in the cache; None where its dependencies are not fully known.

    A program that counts coverage contains the paths of its files, so the key includes them.
    """
    content = content_of(sources)
    if content is None:
        return None
    how = {
        "compiler": [*VERILATOR_ARGUMENTS, *LAST_ARGUMENTS, *OPTIMISE],
        "waves": waves,
        "cocotb": version("cocotb"),
        "libraries": str(libs_dir),
    }
    if rtl_coverage:
        how |= {"coverage": COVERAGE_ARGUMENTS, "counted": [str(file.resolve()) for file in counted_files(sources)]}
    return content_key(content | how)


def counted_files(sources: Sources) -> list[Path]:
    """The files whose coverage is counted: all but the wrapper around a user design."""
    return list(sources.files[:-1] if sources.read else sources.files)


def _compile(built: Built, waves: bool, arguments: Sequence[str], first: Sequence[Any]) -> None:
    """Build with cocotb's runner.

    Args:
        first: files that precede the sources.
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
    """Write Verilator's control file: the testbench accesses the ports, and the wrapper's lines count for no coverage."""
    control = folder / "ports.vlt"
    lines = [f'public_flat_rw -module "{sources.top}" -var "{name}"' for name in sources.ports]
    lines += [f'coverage_off -file "{file.resolve()}"' for file in sources.files if file not in counted_files(sources)]
    control.write_text("\n".join(["`verilator_config", *lines, ""]), encoding="utf-8")
    return control
