"""Measures the vectors of `mmau cosim` on the mutants of a unit: `python -m mmau.mutation --unit UNIT.toml`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import golden
from cosim.build.errors import SimulationError
from golden import Unit
from golden.files import temporary_folder
from mmau.jobs import program
from mmau.mutation.outcome_table import is_clean, summary
from mmau.mutation.unit_work import MUTANTS, SEED, VECTORS, mutation_of
from rtl.tools import MissingTool
from rtl.yosys import YosysError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a unit's mutants and decide whether survivors are equal; return 0 if each is killed or proved equal, else 1."""
    parser = argparse.ArgumentParser(prog="python -m mmau.mutation", description="Mutants of a unit's generated Verilog.")
    parser.add_argument("--unit", type=Path, metavar="UNIT.toml")
    parser.add_argument("--arch")
    parser.add_argument("--instr", metavar="NAME")
    parser.add_argument("--mutants", type=int, default=MUTANTS, metavar="N", help=f"number of mutants (default: {MUTANTS})")
    parser.add_argument(
        "--vectors", type=int, default=VECTORS, metavar="N", help=f"vectors for each mutant (default: {VECTORS})"
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, metavar="S", help="seed of the vectors and of the choice of mutants (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print all results of each mutant as JSON")
    options = parser.parse_args(arguments)
    for name, value, least in (("mutants", options.mutants, 1), ("vectors", options.vectors, 1), ("seed", options.seed, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    unit = chosen_unit(options.unit, options.arch, options.instr)
    with temporary_folder("mmau-mutants-") as folder:
        found = mutation_of(unit, options.mutants, options.vectors, options.seed, Path(folder))
    print(json.dumps(found, indent=1) if options.json else summary(found))
    return 0 if is_clean({"units": [found]}) else 1


def chosen_unit(path: Path | None, arch: str | None, instr: str | None) -> Unit:
    """The unit that the options name.

    Raises:
        ValueError: they name none, half an instruction, or two.
    """
    if (path is None) is (arch is None) or (arch is None) is not (instr is None):
        raise ValueError("give either --unit UNIT.toml or --arch with --instr")
    if path is not None:
        return golden.load_unit(path)
    instruction = golden.instruction(str(arch), str(instr))
    return Unit(name=instruction.step_name, operation=instruction.operation)


if __name__ == "__main__":
    sys.exit(program("mutants", main, (MissingTool, SimulationError, YosysError)))
