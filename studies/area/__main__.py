"""The cost of every distinct datapath of the catalogue, in every encoding (`python -m studies.area docs STORE --jobs J`).

Measuring all of them takes most of an hour. Every figure is recorded in the folder STORE as soon as it is measured (`jobs`),
so that a run can be interrupted at any time, and the next one resumes. A design with the same circuit, flow and tool as a
recorded figure, in STORE or in the table, is not measured again.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from golden import Implementation, Operation
from golden.files import write_atomically
from golden.units.unit import ENCODINGS
from mmau.jobs import Engine, Processes, Store, Task, program
from mmau.jobs import run as run_tasks
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.report import markdown
from rtl.cost.flow import FLAT, JOINED, measure, measure_joined, tool_version
from rtl.tools import MissingTool
from studies.area.designs import (
    DISCRETE_NAME,
    EXACT_NAME,
    FMA_FP32,
    FMA_NAME,
    TARGET,
    TARGET_NAME,
    Row,
    datapath_rows,
    exact_rows,
    other_choices,
    other_fma,
    row_from_table,
    row_of,
    rows,
    shared_rows,
)

Records = dict[str, dict[str, Any]]
"""Key of a row to its figures: those of `rtl.cost.flow.Cost`, and the circuit, flow and tool that they belong to."""


def page(records: Records) -> str:
    """The text of `area.md`."""
    tools = sorted({record["tool"] for record in records.values()})
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    others = other_choices()
    built = [encoded, *(others[start : start + len(ENCODINGS)] for start in range(0, len(others), len(ENCODINGS)))]
    choices = []
    for implementations in built:
        each = [row_of(TARGET_NAME, TARGET, implementation) for implementation in implementations]
        label = each[0].key.removeprefix(f"{TARGET_NAME} | {ENCODINGS[0]}").removeprefix(" | ")
        choices.append([label or "all by default", *figures(each, records)])
    shared, *apart = shared_rows()
    together = [[each[0].name, *figures(each, records)] for each in (shared, *apart)]
    together.append(["one for all, as a share of the sum", *shares(records, shared, apart)])
    datapaths = [[each[0].name, described(each[0].design.operation), *figures(each, records)] for each in datapath_rows()]
    return markdown.document(
        "What the datapaths cost",
        PREFACE.format(tools=", ".join(tools) or "no tool yet"),
        "## Targets",
        *targets(records),
        "## Choices",
        CHOICES_NOTE,
        encodings_table(["step"], choices),
        FMA_CHOICES.format(choices=fma_choices(records)),
        EXACT_CHOICES.format(choices=built_figures(EXACT_NAME, exact_rows(), records)),
        "## Several formats on one datapath",
        SHARED_NOTE,
        encodings_table(["datapath"], together),
        "## Datapaths",
        TABLE_NOTE,
        encodings_table(["datapath", "operation"], datapaths),
    )


def encodings_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose last columns are the encodings of negative terms."""
    first = len(header)
    return markdown.table([*header, *ENCODINGS], rows, numbers=range(first, first + len(ENCODINGS)))


def figures(each: Sequence[Row], records: Records) -> list[str]:
    """The figures of one datapath as text, one for each row given."""
    return [figure(records, row.key) for row in each]


def fma_choices(records: Records) -> str:
    """The figures of the FMA with every other choice that matters to it."""
    built = [row_of(FMA_NAME, FMA_FP32, implementation) for implementation in (Implementation(), *other_fma())]
    return built_figures(FMA_NAME, built, records)


def built_figures(name: str, built: Sequence[Row], records: Records) -> str:
    """The figures of a design in the usual encoding, each after the choices that are not the default."""
    start = f"{name} | {Implementation().encoding}"
    ways = [(row.key.removeprefix(start).removesuffix(" | joined").removeprefix(" | "), row.key) for row in built]
    return ", ".join(f"{way.replace(' | ', ' and ') or 'by default'} {figure(records, key)}" for way, key in ways)


def shares(records: Records, shared: Sequence[Row], apart: Sequence[Sequence[Row]]) -> list[str]:
    """In each encoding, the cells of the shared datapath as a share of the sum of the separate datapaths; a dash if not
    measured."""
    texts = []
    for place, row in enumerate(shared):
        keys = [row.key, *(each[place].key for each in apart)]
        if not all(key in records for key in keys):
            texts.append("–")
            continue
        one, *others = (records[key]["cells"] for key in keys)
        texts.append(f"{one / sum(others):.1%}")
    return texts


def described(operation: Operation) -> str:
    """The operation with the parameters that its instruction's name does not show."""
    shown = {key: value for key, value in operation.parameters().items() if key in ("L", "P", "F", "F2", "G")}
    return " ".join([operation.name, *(f"{key}={value}" for key, value in shown.items())])


def figure(records: Records, key: str) -> str:
    """`cells · depth`, or a dash where a design has not been measured."""
    record = records.get(key)
    return "–" if record is None else f"{record['cells']:,} · {record['depth']}"


PREFACE = """Written by `make area` from `area.json`; do not edit. The figures come from {tools}, for combinational datapaths
(stages = 0) with subnormals and specials. A cell is a two-input NAND or NOR gate or an inverter; depth is the number
of cells on the longest path. Depth ranks designs; it is not a delay. `mmau rtl --report` shows the same for any unit,
by component.

The designs under "Targets" and "Choices" are mapped as one circuit, by
`synth -flatten -noshare; abc -g cmos2; opt_clean`. The published figures come from the same flow without `-noshare`,
where Yosys also searches for operations that could share a circuit. A datapath that uses all its parts in every cycle
has none, and the search takes longer than everything else."""

ARCHITECTURES = """Where the cells and levels of both designs are, and what else was tried:
[architectures.md](architectures.md)."""

WHY_OTHERS_COST_MORE = """Why the other encodings cost more: sign-magnitude sums positive and negative terms apart, so
that every term enters two reductions, whose results enter a third. Two's complement needs an incrementer for every
term, whose carries run before those of the sum. Ones' complement needs neither, because its increments fill empty
places of the carry-save rows. An aligned term is truncated (RZ, RD) on its magnitude in every encoding, so the table
does not show what two's complement would save under RD."""

CHOICES_NOTE = (
    """Cells · depth of the first target with another choice for one step (`[implementation]` in a unit's TOML)."""
)

FMA_CHOICES = """Of the FMA in fp32, in ones' complement, whose last adder is 77 bits wide: {choices}."""

EXACT_CHOICES = """Of E-FDPA in fp16 with L = 4, in ones' complement, whose sum has some 280 bits, mapped as the datapaths
below: {choices}."""

SHARED_NOTE = """Cells · depth, mapped as the datapaths in the next section. All formats share the multipliers, the
aligners and everything after them; each format has its own decoders."""

TABLE_NOTE = """Cells · depth, in each encoding of negative terms. Each component is mapped by itself, then the
components are joined: `synth -noshare -hieropt; abc -g cmos2; opt_clean; flatten; opt_clean`. This flow is many times
faster than the one above, which takes minutes for a datapath; its paths are longer. The first row is the first
target, for comparison.

Two datapaths that differ only in exchanged formats of a and b are one row. A dash means: not measured yet. A figure
belongs to the circuit of the commit that measured it; `make area` measures again what has changed since."""


GOALS = ((TARGET_NAME, 12_500, 120), (FMA_NAME, 13_000, 150))
"""Designs, each with the cells and the depth that one way of building it should reach together."""


def goal(records: Records, name: str, cells: int, depth: int) -> str:
    """Whether a measured way to build a design reaches both figures; the one of the fewest cells, and of the least depth."""
    built = {key: record for key, record in records.items() if key.startswith(f"{name} | ") and not key.endswith("joined")}
    wanted = f"{name}: {cells:,} cells at depth {depth} in one design: "
    if not built:
        return wanted + "not measured"
    fewest = min(built, key=lambda key: (built[key]["cells"], built[key]["depth"]))
    shallowest = min(built, key=lambda key: (built[key]["depth"], built[key]["cells"]))
    reached = any(record["cells"] <= cells and record["depth"] <= depth for record in built.values())
    ways = [f"{figure(records, key)} ({key.removeprefix(f'{name} | ')})" for key in (fewest, shallowest)]
    return f"{wanted}{'reached' if reached else 'missed'}; fewest cells {ways[0]}, least depth {ways[1]}"


def targets(records: Records) -> list[str]:
    """The targets, and whether they are reached."""
    lines = [
        f"{TARGET_NAME}, RZ-FP32: at most 15,400 cells and depth 183 "
        "(Vortex's slice, without subnormal results: 15,385 · 183): "
        + verdicts(records, TARGET_NAME, lambda record: record["cells"] <= 15_400 and record["depth"] <= 183),
        "FMA fp32: at most 15,000 cells (CVFPU, with all rounding modes: 15,088 · 248): "
        + verdicts(records, FMA_NAME, lambda record: record["cells"] <= 15_000),
    ]
    found = []
    for encoding in ENCODINGS:
        fused, apart = (records.get(f"{kind} | {encoding}") for kind in (TARGET_NAME, DISCRETE_NAME))
        if fused and apart:
            share = fused["cells"] / apart["cells"]
            found.append(f"{encoding} {share:.1%} ({'reached' if share <= 0.6 else 'missed'})")
    lines.append(
        f"{TARGET_NAME}, as a share of four multipliers and four adders of the same parts and encoding, at most 60 %: "
        + (", ".join(found) or "not measured")
    )
    lines += [goal(records, *each) for each in GOALS]
    return [markdown.bullets(lines), ARCHITECTURES, WHY_OTHERS_COST_MORE]


def verdicts(records: Records, name: str, reached: Callable[[dict[str, Any]], bool]) -> str:
    """The figures of a design in every encoding, each with whether it reaches the target."""
    texts = []
    for encoding in ENCODINGS:
        record = records.get(f"{name} | {encoding}")
        verdict = "not measured" if record is None else "reached" if reached(record) else "missed"
        texts.append(f"{encoding} {figure(records, f'{name} | {encoding}')} ({verdict})")
    return ", ".join(texts)


SOURCES = (*GOLDEN, "rtl/**/*.py")
"""The sources that decide a circuit."""

MOST_MINUTES = 10_000
"""Largest number of minutes of a run: a week."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not yet known, for a number of minutes, and write `area.json` and `area.md`."""
    parser = argparse.ArgumentParser(prog="area", description="The cost of the catalogue's distinct datapaths.")
    parser.add_argument("folder", type=Path, help="where area.json and area.md are")
    parser.add_argument("store", type=Path, help="the folder of recorded figures")
    parser.add_argument("--minutes", type=float, help="start no measurement after these")
    parser.add_argument("--jobs", type=int, default=1, help="measurements at a time")
    options = parser.parse_args(arguments)
    return program("area", lambda: run_checked(options.folder, options.store, options.minutes, options.jobs), (MissingTool,))


def run_checked(folder: Path, store: Path, minutes: float | None, jobs: int) -> int:
    """Check the options, then call `run` for all rows."""
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    if minutes is not None and not 0 <= minutes <= MOST_MINUTES:
        raise ValueError(f"--minutes must be a number from 0 to {MOST_MINUTES}, a week, got {minutes}")
    if not folder.is_dir():
        raise ValueError(f"the folder {folder} does not exist: create it, or name another")
    return run(folder, store, rows(), minutes, Processes(jobs))


def run(folder: Path, store_folder: Path, all_rows: Sequence[Row], minutes: float | None, engine: Engine) -> int:
    """Bring `area.json` and `area.md` up to date as far as the time allows; figures of designs that have left are
    dropped.

    Returns:
        Exit status: 1 if a design could not be measured.
    """
    tool, recorded, started = tool_version(), read(folder / "area.json"), time.monotonic()
    known = {row.key: recorded[row.key] for row in all_rows if row.key in recorded}
    with Store(store_folder, "area") as store:
        written = run_tasks(circuit_tasks(all_rows), write, store, engine=engine, retry=True, unit="circuits")
        circuits = {record.task.name: record.result for record in written if record.done}
        measurable = [row for row in all_rows if row.key in circuits]
        tasks = [task for row in measurable if (task := cost_task(row, circuits[row.key], tool, known.get(row.key)))]
        remaining = None if minutes is None else max(0.0, 60 * minutes - (time.monotonic() - started))
        measured = run_tasks(tasks, cost, store, engine=engine, start_within=remaining, retry=True, unit="measurements")
    for record in measured:
        if record.done:
            known[record.task.name] = record.result
    keep(known, folder)
    return int(not all(record.done for record in [*written, *measured]))


def circuit_tasks(all_rows: Sequence[Row]) -> list[Task]:
    """Tasks to find out which circuits the rows are."""
    depends = {"sources": digest_of_sources(SOURCES)}
    return [Task(row.key, {"circuit of": row.as_table()}, depends) for row in all_rows]


def write(content: dict[str, Any], folder: Path) -> str:
    """The work of one: the digest of the row's Verilog."""
    return digest(row_from_table(content["circuit of"]).verilog())


def cost_task(row: Row, circuit: str, tool: str, record: dict[str, Any] | None) -> Task | None:
    """The task that measures a row; None where its record has the same circuit, flow and tool."""
    belongs = {"circuit": circuit, "flow": digest(JOINED if row.joined else FLAT), "tool": tool}
    if record is not None and belongs.items() <= record.items():
        return None
    return Task(row.key, {"cost of": row.as_table()}, belongs)


def cost(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one: the row's record."""
    row = row_from_table(content["cost of"])
    text = row.verilog()
    belongs = {"circuit": digest(text), "flow": digest(JOINED if row.joined else FLAT), "tool": tool_version()}
    return belongs | asdict(measure_joined(text, "unit") if row.joined else measure(text, "unit"))


def keep(records: Records, folder: Path) -> None:
    """Write `area.json` and `area.md`."""
    write_atomically(folder / "area.json", (json.dumps(records, indent=1, sort_keys=True) + "\n").encode())
    write_atomically(folder / "area.md", page(records).encode())


def read(path: Path) -> Records:
    """The rows of an earlier run; none if there is no such file.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(record, dict) for record in found.values()):
        raise ValueError(f"{path} must hold the records that make area writes; remove it to measure all again")
    return found


def digest(text: str) -> str:
    """A short digest of a text, by which texts are distinguished."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
