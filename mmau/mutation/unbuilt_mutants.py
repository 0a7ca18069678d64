"""Mutants that are no Verilog: Verilator refuses the file with all mutants, and bisection finds them."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cosim.build.errors import SimulationError
from cosim.dut.tool_log import first_error
from golden.processes import run_tool
from mmau.mutation.mutated_unit import TOP, MutatedUnit
from mmau.mutation.sample import Mutant


def unbuilt(mutated: MutatedUnit, folder: Path) -> dict[int, str]:
    """The number of each mutant that Verilator refuses, and its first error.

    Args:
        folder: for files.

    Raises:
        SimulationError: it also refuses the Verilog without any mutant.
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
    """The first error of Verilator; None if there is none."""
    file = folder / "read.v"
    file.write_text(mutated.text, encoding="utf-8")
    command = ["verilator", "--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", TOP, str(file)]
    result = run_tool(command, cwd=folder, stderr=subprocess.STDOUT)
    return first_error(result.stdout) if result.returncode else None
