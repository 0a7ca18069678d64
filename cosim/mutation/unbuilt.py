"""Mutants that are no Verilog: Verilator says so of the file with all of them, and halves of it say which they are."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cosim.compile.errors import SimulationError
from cosim.dut.log import first_error
from cosim.mutation.design import TOP, MutatedUnit
from cosim.mutation.sample import Mutant
from rtl.tools import run_tool


def unbuilt(mutated: MutatedUnit, folder: Path) -> dict[int, str]:
    """The number of each mutant that Verilator does not take, and its first error.

    Args:
        folder: for files.

    Raises:
        SimulationError: it does not take the Verilog without any mutant either.
    """
    return _among(mutated, mutated.mutants, folder)


def _among(mutated: MutatedUnit, mutants: Sequence[Mutant], folder: Path) -> dict[int, str]:
    error = _error(mutated.with_only(mutants), folder)
    if error is None:
        return {}
    if not mutants:
        raise SimulationError(f"verilator cannot build {mutated.unit.name}: {error}")
    if len(mutants) == 1:
        _among(mutated, [], folder)
        return {mutants[0].number: error}
    half = len(mutants) // 2
    return _among(mutated, mutants[:half], folder) | _among(mutated, mutants[half:], folder)


def _error(mutated: MutatedUnit, folder: Path) -> str | None:
    """The first error of Verilator, None where there is none."""
    file = folder / "read.v"
    file.write_text(mutated.text, encoding="utf-8")
    command = ["verilator", "--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", TOP, str(file)]
    result = run_tool(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return first_error(result.stdout) if result.returncode else None
