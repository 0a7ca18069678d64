"""Check the units of examples/units, which no list of the project names: `python -m studies.own_units PAGE.md STORE`.

Of each unit's step the model is compared with the twin, exact rational arithmetic written apart; the Verilog is
co-simulated, proved and measured; and the Verilog of a wrong unit is co-simulated as if it were its own. The folder STORE
keeps each result as it comes (`mmau.jobs`), so that an interrupted run resumes; `--minutes` ends one early. PAGE.md says
what was run and what was not. Exit status 1 if anything is not as it must be.
"""

import argparse
import copy
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import golden
from cosim.dut.generated import dut_like, write_generated
from cosim.runner.run import run as co_simulated
from golden import Unit
from golden.files import check_output, read_toml, temporary_folder, write_atomically
from golden.stimulus import Operands, OperandShape, generate
from golden.units.controls import ZERO_POINTS
from golden.units.own_formats import with_files
from golden.units.unit_file import unit_from_table
from golden.variants.keys import one_off
from mmau.explore.work import co_simulate, cost_of, prove_unit
from mmau.jobs import Record, Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, provenance
from mmau.report import markdown
from rtl.cost.mapped_netlist import chosen_steps
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.identity import TOP
from rtl.designs.unit_design import as_design
from rtl.tools import MissingTool
from tests.twin import stochastic_twin, sums_twin, twin, zero_points_twin
from tests.twin.own_numbers import learn

UNITS = Path("examples/units")

ROWS, SLICE = 1_000_000, 100_000
"""Rows that the model and the twin compute, and those of one task."""

VECTORS, WRONG_VECTORS, SEED = 1_000_000, 20_000, 1

PROOF_SECONDS = 900.0

SECONDS_A_TASK = 7200.0

SOURCES = (*GOLDEN, "rtl/**/*.py", "cosim/**/*.py", "cosim/volume/native/*", "mmau/prove/**/*.py", "tests/twin/*.py",
           "studies/own_units.py")  # fmt: skip
"""The sources that decide a result."""


def tables() -> dict[str, dict[str, Any]]:
    """The parsed files of the units by name, with the values of formats by table in place of their files."""
    return {path.stem: with_files(read_toml(path), path.parent) for path in sorted(UNITS.glob("*.toml"))}


def tasks(depends: Mapping[str, str]) -> list[Task]:
    """All tasks, unit by unit, small ones first: what the circuit of each is asked, and slices of rows."""
    units = dict(sorted(tables().items(), key=lambda item: unit_from_table(item[1]).usual_K))
    parts = ("cosimulation", "wrong", "proof", "cost", *(f"rows {k}" for k in range(ROWS // SLICE)))
    return [
        Task(f"{name}, {part}", {"unit": name, "table": table, "part": part}, depends)
        for name, table in units.items()
        for part in parts
    ]


def step_of(table: dict[str, Any]) -> Unit:
    """One step of the unit of a file; of several modes all."""
    unit = unit_from_table(table)
    return unit if unit.controls else unit.step  # which go without a chain


def work(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one task."""
    golden.set_threads(1)
    table = content["table"]
    unit = step_of(table)
    match content["part"].split():
        case ["cosimulation"]:
            return co_simulate(unit, VECTORS, SEED, folder) or {}
        case ["proof"]:
            return prove_unit(unit, PROOF_SECONDS)
        case ["cost"]:
            return cost_of(unit, {}, folder)
        case ["rows", number]:
            return compared(unit, table, SLICE, int(number))
        case _:
            return found_wrong(unit, table)


def compared(unit: Unit, table: Mapping[str, Any], count: int, seed: int) -> dict[str, Any]:
    """The model's results for rows of the stimulus beside those of the twin, which knows formats by the table alone; of
    several modes these share the rows."""
    learn(table)
    modes = [step for _, step in chosen_steps(unit)]
    found = [_compared(mode, (count + k) // len(modes), seed) for k, mode in enumerate(modes)]
    first = next((each for _, _, each in found if each), "")
    return {"rows": sum(rows for rows, _, _ in found), "differ": sum(differ for _, differ, _ in found), "first": first}


def _compared(unit: Unit, count: int, seed: int) -> tuple[int, int, str]:
    operation, K = unit.operation, unit.usual_K
    rows = generate(OperandShape.of(unit, K), count, seed).operands
    inputs, differ, first = drawn_inputs(unit, rows, seed), 0, ""
    for row, got in enumerate(results(unit, rows, inputs).tolist()):
        a, b, c = rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row])
        scales = [() if x is None else x[row].tolist() for x in (rows.scale_a, rows.scale_b)]
        if unit.random is not None and unit.random.random is not None:
            variant, drawn = stochastic_twin.variant_of(operation, unit.random.random.half), int(inputs["random"][row])
            expected = stochastic_twin.dot(operation, variant, unit.random.width, drawn, a, b, c, *scales)
        elif unit.sums is None:
            zeros = {name: codes[row].tolist() for name, codes in inputs.items() if name in ZERO_POINTS}
            expected = zero_points_twin.dot(operation, zeros, a, b, c, *scales)
        else:
            expected = sums_twin.dot(unit.sums, operation, a, b, c, *scales)
        if not twin.same(operation, got, expected):
            differ += 1
            first = first or f"row {row} of seed {seed}: {operation.d.describe(got)}, twin {operation.d.describe(expected)}"
    return count, differ, first


def drawn_inputs(unit: Unit, rows: Operands, seed: int) -> dict[str, Any]:
    """The operands that `[controls]` add, for rows; and a longer b where metadata select those of the rows from it."""
    return unit.drawn_inputs(rows.b, np.random.default_rng(seed))


def results(unit: Unit, rows: Operands, inputs: Mapping[str, Any]) -> Any:
    """The model's results for rows."""
    c = rows.c if "c" in unit.operation.operands else None
    return unit.dot(**{**rows._asdict(), "c": c, **inputs})


def wrong_tables(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Units that differ in one key: in each format of their own, in ρ before random bits, or in the node of [sums]."""
    for name, form in table.get("formats", {}).items():
        for key in form:
            changed: dict[str, Any] = copy.deepcopy(dict(table))
            own = changed["formats"][name]
            if key in ("bias", "fraction"):
                own[key] += 1
            elif key == "values":
                own[key][1:3] = own[key][2:0:-1]
            else:
                continue
            yield f"{key} of {name}", changed
    if any(control["key"] == "random" for control in table.get("controls", {}).values()):
        rho = f"RD-{table['rho'].partition('-')[2]}"
        yield f"rho = {rho}", {**table, "rho": rho}
    node = table.get("sums", {}).get("node")
    if node is not None:
        mode = "RNE" if node.startswith("RZ") else "RZ"
        yield (
            f"node = {mode}-{node.partition('-')[2]}",
            {**table, "sums": {**table["sums"], "node": f"{mode}-{node.partition('-')[2]}"}},
        )


def found_wrong(unit: Unit, table: Mapping[str, Any]) -> dict[str, Any]:
    """Co-simulate the Verilog of the first unit near this one whose model differs in some row of the stimulus, of several
    modes of the last.

    Raises:
        ValueError: there is none.
    """
    last = chosen_steps(unit)[-1][1]
    rows = generate(OperandShape.of(last, last.usual_K), WRONG_VECTORS, SEED).operands
    inputs = drawn_inputs(last, rows, SEED)
    d = results(last, rows, inputs)
    near: Iterable[tuple[str, Unit]] = ((words, step_of(changed)) for words, changed in wrong_tables(table))
    if unit.sums is None:
        near = chain(near, ((words, replace(unit, operation=other)) for words, other in one_off(unit.operation)))
    for words, wrong in near:
        changed = chosen_steps(wrong)[-1][1]
        if wrong.operation.d == unit.operation.d and (results(changed, rows, inputs) != d).any():
            with temporary_folder("mmau-own-units-") as folder:
                design = ControlledDesign.of(unit) if unit.controls else as_design(unit)
                source = write_generated(as_design(wrong), Path(folder))
                dut, mode = dut_like(design, [source], TOP), "volume" if unit.sums is None else "cocotb"
                report = co_simulated(design, vectors=WRONG_VECTORS, seed=SEED, mode=mode, dut=dut)
            return {"changed": words, "vectors": report.received, "mismatches": report.mismatches}
    raise ValueError(f"{unit.name}: no unit near it differs in {WRONG_VECTORS} rows")


def page(records: Sequence[Record], made_with: Mapping[str, str]) -> str:
    """The text of the page, of the records that there are."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for record in records:
        found[record.task.content["unit"]][record.task.content["part"]] = record.result if record.done else record.message
    rows = [row_of(name, table, found[name]) for name, table in tables().items()]
    wrong = problems(records)
    left = [f"{name}: {', '.join(parts)}" for name in tables() if (parts := not_run(found[name]))]
    return markdown.document(
        "Units that no list names",
        f"""\
`make own-units` writes this page. Each file of [examples/units](../../examples/units/hif8.toml) is a unit that somebody
published or proposed, in formats of the project or of its own. Of one step of each: rows of the stimulus through the
model and through a second implementation on exact rationals, written apart (`tests/twin`); its Verilog in volume mode;
its proof, step by step; its cells and depth; and {WRONG_VECTORS:,} vectors through the Verilog of a unit that is wrong in
one key, which must fail. {ROWS:,} rows and {VECTORS:,} vectors are wanted of each.""",
        f"Sources of commit `{made_with['commit']}`, SHA-256 `{made_with['sources']}`. "
        "Files that are newer are not in the table.",
        markdown.table(HEADER, rows, numbers=(2, 3, 5, 6)),
        "## What failed",
        markdown.bullets(wrong),
        "## What was not run",
        markdown.bullets(left),
    )


HEADER = (
    "unit",
    "operation",
    "rows, differing",
    "vectors, mismatches",
    "proof",
    "cells",
    "depth",
    "wrong design: mismatches",
)


def row_of(name: str, table: Mapping[str, Any], parts: Mapping[str, Any]) -> tuple[str, ...]:
    """The line of a unit; a dash where nothing was run."""
    done = {part: found for part, found in parts.items() if not isinstance(found, str)}
    slices = [found for part, found in done.items() if part.startswith("rows ")]
    simulated, proof, cost, wrong = (done.get(part) for part in ("cosimulation", "proof", "cost", "wrong"))
    proved = proof and ("proved" if proof["proved"] else proof["reason"].partition(":")[0])
    return (
        f"[{name}](../../examples/units/{name}.toml)",
        "sums of " * ("sums" in table) + str(table["operation"]),
        f"{sum(each['rows'] for each in slices):,}, {sum(each['differ'] for each in slices)}" if slices else "-",
        f"{simulated['received']:,}, {simulated['mismatches']}" if simulated else "-",
        f"{proved}, {proof['obligations']} obligations" if proof else "-",
        f"{cost['cells']:,}" if cost else "-",
        f"{cost['depth']}" if cost else "-",
        f"{wrong['changed']}: {wrong['mismatches']:,}" if wrong else "-",
    )


def not_run(parts: Mapping[str, Any]) -> list[str]:
    """What a unit has no result of."""
    rows = sum(found["rows"] for part, found in parts.items() if part.startswith("rows ") and not isinstance(found, str))
    left = [f"{ROWS - rows:,} rows"] if rows < ROWS else []
    names = {"cosimulation": "co-simulation", "proof": "proof", "cost": "cost", "wrong": "wrong design"}
    return left + [words for part, words in names.items() if isinstance(parts.get(part, ""), str)]


def problems(records: Sequence[Record]) -> list[str]:
    """What is not as it must be: a result that differs, a refuted or open proof, a wrong design that passes, a task without
    a result."""
    found = []
    for record in records:
        result, part = record.result, record.task.content["part"]
        if not record.done:
            found.append(f"{record.task.name}: {record.status}: {record.message}")
        elif part == "proof" and result["proved"] is not True:
            found.append(f"{record.task.name}: {result['reason']}")
        elif part == "wrong" and not result["mismatches"]:
            found.append(f"{record.task.name}: {result['changed']} passes")
        elif result.get("differ") or (part == "cosimulation" and (result["mismatches"] or result["received"] < VECTORS)):
            found.append(f"{record.task.name}: {result.get('first') or result['first_mismatch']}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the store lacks, and write the page."""
    parser = argparse.ArgumentParser(prog="own_units", description="Check the units of examples/units.")
    parser.add_argument("page", type=Path, help="the page to write")
    parser.add_argument("store", type=Path, help="the folder of results")
    parser.add_argument("--jobs", type=int, help="tasks at a time (default: one for each core)")
    parser.add_argument("--minutes", type=float, help="after which no task is started")
    options = parser.parse_args(arguments)
    return program("own_units", lambda: checked(options), (MissingTool,))


def checked(options: argparse.Namespace) -> int:
    """The exit status."""
    check_output(options.page)
    made_with = provenance(SOURCES)
    depends = {key: made_with[key] for key in ("sources", "library", "numpy")}
    within = None if options.minutes is None else 60 * options.minutes
    with Store(options.store, "own-units") as store:
        records = run(
            tasks(depends), work, store, workers=options.jobs, seconds=SECONDS_A_TASK, start_within=within, retry=True
        )
    write_atomically(options.page, page(records, made_with).encode())
    for line in problems(records):
        print(line)
    return int(bool(problems(records)))


if __name__ == "__main__":
    sys.exit(main())
