"""Compiles a design into a program that sends vectors by itself, and runs it."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import golden.native
from cosim.compile.arguments import TIMESCALE, VERILATOR_ARGUMENTS, runtime_arguments
from cosim.compile.cache import content_key, fetch, store
from cosim.compile.content import content_of
from cosim.compile.errors import SimulationError, ending, simulation_error
from cosim.compile.runtime import RUNTIME, Runtime
from cosim.compile.sources import Sources
from rtl.tools import run_tool

NATIVE = Path(__file__).parent / "native"
"""The C++ sources: model.cpp is compiled for each design, all.cpp and stops.cpp once."""

INCLUDE = Path(golden.native.__file__).parent / "include"
"""libmmau's headers."""

OPTIMISE = ("OPT_FAST=-Os", "OPT_SLOW=-Os", "OPT_GLOBAL=-O2")
"""For make: of the design, of its initialisation, and of Verilator's runtime library."""

DEFINES = ("-DVL_USER_FINISH", "-DVL_USER_STOP", "-DVL_USER_FATAL")
"""For Verilator's runtime library: stops.cpp has these functions."""

PREFIX = "Vmmau"
"""Of the classes that Verilator writes; model.cpp names the first of them."""

_PORT = re.compile(r"^ *VL_(IN|OUT)(?:8|16|64|W)?\(&(\w+),(\d+),(\d+)(?:,\d+)?\);", re.MULTILINE)
"""A port in the header that Verilator writes: direction, name, highest and lowest bit."""


LOG = "volume.log"
"""What Verilator and the compiler print."""

SAID = 4096
"""Characters of what a program printed that are kept where it breaks off."""


@dataclass(frozen=True)
class Broken:
    """A program that left no outcome.

    Attributes:
        how: it ended, in words. log: the end of what it printed.
    """

    how: str
    log: str


def build_program(sources: Sources, folder: Path, stays: bool = False) -> Path:
    """The program of a design, in `folder`; from the cache where the same has been built before.

    Args:
        sources: the design. Its top module may have more inputs than the operands and controls: the program's option --set
            holds them at a value.
        stays: whether the folder is kept, with the log of a failure.

    Raises:
        SimulationError: Verilator or the compiler fails.
    """
    build = folder / "volume"
    build.mkdir(parents=True, exist_ok=True)
    program = build / "volume"
    key = program_key(sources, folder)
    if key is not None and fetch(key, build):
        return program
    log = folder / LOG
    with log.open("w", encoding="utf-8") as stream:
        # A design's loop without end stays one: C++ would allow the compiler to leave it out.
        flags = f"-std=c++17 -fno-finite-loops -I{NATIVE} -I{INCLUDE} {' '.join(DEFINES)}"
        verilate = [
            "verilator", "--cc", "--exe", "--prefix", PREFIX, "--top-module", sources.top, "--Mdir", str(build),
            "--timescale", "/".join(TIMESCALE), "-CFLAGS", flags, "-LDFLAGS", "-ldl -lpthread", "-o", program.name,
            *VERILATOR_ARGUMENTS, *sources.arguments, *sources.verilator_args,
            *(str(NATIVE / name) for name in ("model.cpp", "all.cpp", "stops.cpp")),
            *(str(file.resolve()) for file in sources.files),
        ]  # fmt: skip
        _run(verilate, folder, stream, sources.top, stays)
        (build / "ports.inc").write_text(_ports((build / f"{PREFIX}.h").read_text(encoding="utf-8")), encoding="utf-8")
        objects = (RUNTIME, "all.o", "stops.o")
        runtime = Runtime(build, objects, {"how": _how(), "arguments": runtime_arguments(sources)})
        runtime.place()
        _run(["make", "-j", "2", "-C", str(build), "-f", f"{PREFIX}.mk", *OPTIMISE], folder, stream, sources.top, stays)
        runtime.keep()
    if key is not None:
        store(key, [program])
    return program


def program_key(sources: Sources, folder: Path) -> str | None:
    """The name under which the program is kept; None where all that it depends on cannot be known."""
    content = content_of(sources, folder)
    if content is None:
        return None
    return content_key(content | _how())


def _how() -> dict[str, Any]:
    """What all designs are compiled with."""
    return {"compiler": [*VERILATOR_ARGUMENTS, *OPTIMISE, *DEFINES], "native": _native_sources()}


def run_program(
    program: Path, plan: Path, arguments: Sequence[str], give_up: Callable[[], bool] | None = None
) -> dict[str, Any] | Broken:
    """Run a program to its end.

    Args:
        plan: as `cosim.volume.plan.write_plan` wrote it.
        arguments: its options: native/options.cpp.
        give_up: asked once a second; where it answers True, the program is killed.

    Returns:
        Its outcome, as native/json.cpp writes it; or how it ended without one.

    Raises:
        SimulationError: the program refuses the request.
    """
    command = [str(program), str(plan), *arguments]
    result = run_tool(command, give_up=give_up, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
    if result.returncode == 2:
        raise SimulationError(f"{program.name} refuses: {result.stderr.strip()}")
    if result.returncode:
        return Broken(ending("the simulation", result.returncode), result.stderr[-SAID:])
    outcome: dict[str, Any] = json.loads(result.stdout)
    return outcome


def _run(command: Sequence[str], folder: Path, log: Any, top: str, stays: bool) -> None:
    result = run_tool(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    if result.returncode:
        what = ending(Path(command[0]).name, result.returncode)
        raise simulation_error(f"verilator cannot build {top}: {what}", folder / LOG, stays)


def _ports(header: str) -> str:
    """A line for each port of a Verilated class, as model.cpp includes them."""
    lines = [
        f"MMAU_PORT({name}, {int(high) - int(low) + 1}, {'true' if direction == 'IN' else 'false'})"
        for direction, name, high, low in _PORT.findall(header)
    ]
    return "\n".join([*lines, ""])


def _native_sources() -> dict[str, str]:
    """What is compiled beside a design."""
    files = [
        *sorted(NATIVE.iterdir()),
        INCLUDE / "mmau.h",
        INCLUDE / "mmau" / "formats.hpp",
        INCLUDE / "mmau" / "portable.hpp",
    ]
    return {file.name: file.read_text(encoding="utf-8") for file in files}
