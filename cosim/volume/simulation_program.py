"""Compile a design into a program that sends vectors and compares results, and run it."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import golden.native
from cosim.build.cache import (
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
from cosim.build.errors import SimulationError, place_in_log, simulation_error
from cosim.build.sources import Sources
from golden.cache import content_key
from golden.processes import ending, run_tool
from golden.text import printable

NATIVE = Path(__file__).parent / "native"
"""The folder of the C++ sources: model.cpp is compiled for each design, all.cpp and stops.cpp once."""

INCLUDE = Path(golden.native.__file__).parent / "include"
"""The folder of libmmau's headers."""

OPTIMISE = ("OPT_FAST=-Os", "OPT_SLOW=-Os", "OPT_GLOBAL=-O2")
"""Options for make: optimisation of the design, of its initialisation, and of Verilator's runtime library."""

DEFINES = ("-DVL_USER_FINISH", "-DVL_USER_STOP", "-DVL_USER_FATAL")
"""Macros for Verilator's runtime library: stops.cpp defines these functions."""

PREFIX = "Vmmau"
"""Prefix of the classes that Verilator generates; model.cpp uses the top one."""

_PORT = re.compile(r"^ *VL_(IN|OUT)(?:8|16|64|W)?\(&(\w+),(\d+),(\d+)(?:,\d+)?\);", re.MULTILINE)
"""A port in the header that Verilator writes: direction, name, highest and lowest bit."""


LOG = "volume.log"
"""Name of the log of Verilator and the compiler."""

FROM_THE_DESIGN = r"^\[\S+\] %(Error|Fatal): "
"""The line that $error and $fatal print, with their text, before they end the simulation."""

PRINTED = 4096
"""Characters from the end of a program's messages that are reported where it breaks off."""


@dataclass(frozen=True)
class Broken:
    """A program run that broke off without an outcome.

    Attributes:
        how: the exit status or signal, as text. log: the end of the program's messages.
    """

    how: str
    log: str


def build_program(sources: Sources, folder: Path, stays: bool = False) -> Path:
    """Build the program of a design in `folder`, or take it from the cache, and return its path.

    Args:
        sources: the design. Its top module may have more inputs than the operands and controls; the program's option --set
            holds them at a value.
        stays: whether the folder remains after the run, with the log of a failure.

    Raises:
        SimulationError: Verilator or the compiler fails, or a file of the design changed meanwhile.
    """
    build = folder / "volume"
    new_folder(build)
    program = build / "volume"
    key = program_key(sources)
    if key is not None and compiled().fetch(key, build):
        return program
    log = folder / LOG
    with log.open("w", encoding="utf-8") as stream:
        # C++ allows the compiler to remove an endless loop; a design's must stay.
        flags = f"-std=c++17 -fno-finite-loops -I{NATIVE} -I{INCLUDE} {' '.join(DEFINES)}"
        verilate = [
            "verilator", "--cc", "--exe", "--prefix", PREFIX, "--top-module", sources.top, "--Mdir", str(build),
            "--timescale", "/".join(TIMESCALE), "-CFLAGS", flags, "-LDFLAGS", "-ldl -lpthread", "-o", program.name,
            *VERILATOR_ARGUMENTS, *sources.arguments, *sources.verilator_args, *LAST_ARGUMENTS,
            *(str(NATIVE / name) for name in ("model.cpp", "all.cpp", "stops.cpp")),
            *(str(file.resolve()) for file in sources.files),
        ]  # fmt: skip
        _run(verilate, folder, stream, sources.top, stays)
        (build / "ports.inc").write_text(_ports((build / f"{PREFIX}.h").read_text(encoding="utf-8")), encoding="utf-8")
        objects = (RUNTIME, "all.o", "stops.o")
        runtime = Runtime(build, objects, {"how": _how(), "arguments": runtime_arguments(sources)})
        make = ["make", "-j", "2", "-C", str(build), "-f", f"{PREFIX}.mk", *OPTIMISE, *MAKE_ARGUMENTS]
        with runtime.shared():
            run_tool(
                [*make, PRECOMPILED], cwd=folder, stdout=stream, stderr=subprocess.STDOUT
            )  # where it fails, the next tells
            _run(make, folder, stream, sources.top, stays)
    sources.check_unchanged()
    if key is not None and is_what_was_elaborated(sources, build, folder):
        compiled().store(key, [program])
    return program


def program_key(sources: Sources) -> str | None:
    """The program's key in the cache; None where its dependencies are not fully known."""
    content = content_of(sources)
    if content is None:
        return None
    return content_key(content | _how())


def _how() -> dict[str, Any]:
    """The compiler options and native sources of every program."""
    return {"compiler": [*VERILATOR_ARGUMENTS, *LAST_ARGUMENTS, *OPTIMISE, *DEFINES], "native": _native_sources()}


def run_program(
    program: Path, plan: Path, arguments: Sequence[str], give_up: Callable[[], bool] | None = None
) -> dict[str, Any] | Broken:
    """Run a program to its end.

    Args:
        plan: the file from `cosim.volume.design_plan.write_plan`.
        arguments: options of the program, see native/options.cpp.
        give_up: called repeatedly; when it returns True, the program is killed.

    Returns:
        The outcome that native/json.cpp writes, or `Broken`.

    Raises:
        SimulationError: the program refuses the request.
    """
    command = [str(program), str(plan), *arguments]
    result = run_tool(command, give_up=give_up, errors="replace")
    if result.returncode == 2:
        raise SimulationError(f"{program.name} refuses: {result.stderr.strip()}")
    if result.returncode:
        return Broken(ending("the simulation", result.returncode), printable(result.stderr[-PRINTED:]))
    outcome: dict[str, Any] = json.loads(result.stdout)
    printed = place_in_log(printable(result.stderr), FROM_THE_DESIGN)
    if outcome["stopped_by"] == "design" and printed is not None:
        outcome["stopped"] = outcome["stopped"].partition("%Error: ")[0] + printed
    return outcome


def _run(command: Sequence[str], folder: Path, log: Any, top: str, stays: bool) -> None:
    result = run_tool(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    if result.returncode:
        what = ending(Path(command[0]).name, result.returncode)
        raise simulation_error(f"verilator cannot build {top}: {what}", folder / LOG, stays)


def _ports(header: str) -> str:
    """The text of ports.inc for model.cpp: a line for each port of a Verilated class."""
    lines = [
        f"MMAU_PORT({name}, {int(high) - int(low) + 1}, {'true' if direction == 'IN' else 'false'})"
        for direction, name, high, low in _PORT.findall(header)
    ]
    return "\n".join([*lines, ""])


def _native_sources() -> dict[str, str]:
    """The text of each native source and header, by file name."""
    files = [
        *sorted(NATIVE.iterdir()),
        INCLUDE / "mmau.h",
        INCLUDE / "mmau" / "formats.hpp",
        INCLUDE / "mmau" / "portable.hpp",
    ]
    return {file.name: file.read_text(encoding="utf-8") for file in files}
