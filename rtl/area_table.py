"""The cost of every distinct datapath of the catalogue, in every encoding (`python -m rtl.area_table docs --jobs J`).

Measuring all of them takes hours. Every figure is kept as soon as it is known, so a run may be interrupted at any time, and
the next one goes on where it stopped; what is kept is measured again only where the circuit or the tool has changed.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from golden import Implementation, Operation, Unit, catalogue_units
from golden.catalogue import parameter_set_units
from golden.files import write_atomically
from golden.operations import EFDPA
from golden.unit import ENCODINGS, WAYS, operation_from_table
from rtl.cost import MissingTool, measure, tool_version
from rtl.datapath import Datapath
from rtl.discrete import DiscreteDatapath
from rtl.units import datapath
from rtl.verilog import YosysError, modules

Records = dict[str, dict[str, Any]]
"""Key of a design to its figures: those of `rtl.cost.Cost`, and the circuit and tool that they belong to."""

_FP16_4 = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 4}
TARGET_NAME = "fp16 L=4 F=24"
TARGET = operation_from_table({"operation": "T-FDPA", **_FP16_4, "F": 24, "rho": "RZ-FP32", "e_zero": -132})
"""The unit whose size others have published figures for."""

FMA_FP32 = operation_from_table({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"})

DISCRETE = operation_from_table({"operation": "E-FDPA", **_FP16_4, "rho": "RNE-FP32"})
"""Formats and L of the benchmark."""


@dataclass(frozen=True)
class Design:
    """What is measured: a unit, or the benchmark of separate multipliers and adders, built in one way."""

    name: str
    operation: Operation
    implementation: Implementation
    discrete: bool = False

    @property
    def key(self) -> str:
        """Its name among the records."""
        ways = [f"{key}={way}" for key, choices in WAYS.items() if (way := getattr(self.implementation, key)) != choices[0]]
        return " | ".join([self.name, self.implementation.encoding, *ways])

    def verilog(self) -> str:
        """Its Verilog, without names that do not matter to its cost."""
        if self.discrete:
            assert isinstance(self.operation, EFDPA)
            component: Datapath = DiscreteDatapath(self.operation, self.implementation)
        else:
            component = datapath(Unit(name=self.name, operation=self.operation, implementation=self.implementation))
        return modules(component, "unit")


def designs() -> list[Design]:
    """The target in every way to build it; then the benchmark and the catalogue's distinct datapaths in every encoding.

    A datapath whose a and b have each other's formats is the same one with its ports exchanged: it stands once. One datapath
    of each parameter set comes before the others, which have the same parameters in other formats; within both the smallest
    comes first.
    """
    named = [(TARGET_NAME, TARGET, False), ("four fp16 multipliers, four fp32 adders", DISCRETE, True)]
    first = {unit.operation for unit in parameter_set_units()}
    units = sorted(unmirrored(catalogue_units()), key=lambda unit: (unit.operation not in first, rough_size(unit.operation)))
    named += [(unit.name, unit.operation, False) for unit in units]
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    return [
        *(Design(TARGET_NAME, TARGET, implementation) for implementation in ways()),
        *(Design(name, operation, each, discrete) for name, operation, discrete in named for each in encoded),
    ]


def unmirrored(units: Sequence[Unit]) -> list[Unit]:
    """The units without those that an earlier one becomes when its a and b are exchanged."""
    kept: dict[Operation, Unit] = {}
    for unit in units:
        if replace(unit.operation, a=unit.operation.b, b=unit.operation.a) not in kept:
            kept[unit.operation] = unit
    return list(kept.values())


def ways() -> list[Implementation]:
    """In every encoding, every way to build one step that is not the default."""
    others = [{key: choice} for key, choices in WAYS.items() for choice in choices[1:]]
    return [Implementation(encoding=encoding, **other) for other in others for encoding in ENCODINGS]  # type: ignore[arg-type]


def rough_size(operation: Operation) -> int:
    """About how large a datapath is, to order by: partial products of the multipliers, and bits that are aligned."""
    x, y = operation.a, operation.b
    partial_products = (x.man_bits + 1) * (y.man_bits + 1)
    aligned = x.e_max + y.e_max - x.e_min - y.e_min if isinstance(operation, EFDPA) else 30
    return operation.length * (partial_products + 5 * aligned)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not yet known, for a number of minutes, and write `area.json` and `area.md`."""
    parser = argparse.ArgumentParser(prog="area", description="The cost of the catalogue's distinct datapaths.")
    parser.add_argument("folder", type=Path, help="where area.json and area.md are")
    parser.add_argument("--minutes", type=float, help="start no measurement after these")
    parser.add_argument("--jobs", type=int, default=1, help="measurements at a time")
    options = parser.parse_args(arguments)
    try:
        run(options.folder, options.minutes, options.jobs)
    except (MissingTool, YosysError, OSError, ValueError) as error:
        print(f"area: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("area: interrupted; what was measured is kept, run it again to go on", file=sys.stderr)
        return 2
    return 0


def run(folder: Path, minutes: float | None, jobs: int) -> None:
    """Bring both files up to date, as far as the time allows."""
    tool, all_designs = tool_version(), designs()
    kept = folder / "area.json"
    records: Records = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(up_to_date, design, records.get(design.key), tool): design for design in all_designs}
        try:
            for done, future in enumerate(ended(futures, minutes), 1):
                (record, seconds), design = future.result(), futures[future]
                if record != records.get(design.key):
                    records[design.key] = record
                    write_atomically(kept, (json.dumps(records, indent=1, sort_keys=True) + "\n").encode())
                    write_atomically(folder / "area.md", page(records).encode())
                    figures = f"{design.key}: {record['cells']} cells, {seconds:.0f} s"
                    print(f"{done}/{len(all_designs)} {figures}", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def up_to_date(design: Design, record: dict[str, Any] | None, tool: str) -> tuple[dict[str, Any], float]:
    """The design's record, measured where the one that is kept belongs to another circuit or tool, and the seconds taken."""
    started, text = time.monotonic(), design.verilog()
    belongs = {"circuit": hashlib.sha256(text.encode()).hexdigest()[:16], "tool": tool}
    if record is None or not belongs.items() <= record.items():
        record = belongs | asdict(measure(text, "unit"))
    return record, time.monotonic() - started


def ended(futures: Collection[Future[Any]], minutes: float | None) -> Iterator[Future[Any]]:
    """The futures as they end; when the minutes are over, only those that already run."""
    waiting = set(futures)
    try:
        for future in as_completed(futures, None if minutes is None else 60 * minutes):
            waiting.remove(future)
            yield future
    except TimeoutError:
        yield from [future for future in waiting if not future.cancel()]


def page(records: Records) -> str:
    """The text of `area.md`."""
    tools = sorted({record["tool"] for record in records.values()})
    lines = [PREFACE.format(tools=", ".join(tools) or "no tool yet"), "", "## Targets", "", *targets(records), ""]
    lines += ["## Ways to build", "", WAYS_NOTE, "", "| step | " + " | ".join(ENCODINGS) + " |"]
    lines.append("| --- |" + " ---: |" * len(ENCODINGS))
    lines += [row("all by default", [Design(TARGET_NAME, TARGET, Implementation(encoding=e)) for e in ENCODINGS], records)]
    built = [Design(TARGET_NAME, TARGET, implementation) for implementation in ways()]
    for start in range(0, len(built), len(ENCODINGS)):
        each = built[start : start + len(ENCODINGS)]
        lines.append(row(each[0].key.rsplit(" | ", 1)[1], each, records))
    lines += ["", "## Datapaths", "", TABLE_NOTE, "", "| datapath | operation | " + " | ".join(ENCODINGS) + " |"]
    lines.append("| --- | --- |" + " ---: |" * len(ENCODINGS))
    table = designs()[len(built) :]
    for start in range(0, len(table), len(ENCODINGS)):
        each = table[start : start + len(ENCODINGS)]
        operation = "benchmark" if each[0].discrete else described(each[0].operation)
        lines.append(row(f"{each[0].name} | {operation}", each, records))
    return "\n".join(lines) + "\n"


def row(label: str, each: Sequence[Design], records: Records) -> str:
    """A line of a table: the figures of one datapath in every encoding."""
    return f"| {label} | " + " | ".join(figure(records, design.key) for design in each) + " |"


def described(operation: Operation) -> str:
    """The operation with the parameters that its instruction's name does not show."""
    shown = {key: value for key, value in operation.parameters().items() if key in ("L", "P", "F", "F2", "G")}
    return " ".join([operation.name, *(f"{key}={value}" for key, value in shown.items())])


def figure(records: Records, key: str) -> str:
    """`cells · depth`, or a dash where a design has not been measured."""
    record = records.get(key)
    return "–" if record is None else f"{record['cells']:,} · {record['depth']}"


PREFACE = """# What the datapaths cost

Written by `make area` from `area.json`; do not edit. Measured with {tools}, combinational
(stages = 0), subnormals and specials included. Flow: `synth -flatten -noshare; abc -g cmos2; opt_clean` (nothing here can be
shared; looking for it takes as long as all the rest); a cell is a two-input NAND or NOR gate or an inverter, depth is the
number of cells on the longest path. Depth ranks designs; it is no time.
`mmau rtl --report` shows the same of any unit, by component."""

WHAT_IS_MISSING = """What the other encodings lack: sign-magnitude sums positive and negative terms apart, so every term
goes into two reductions, and their results into a third. Two's complement spends an incrementer on every term, whose
carries run before the sum's. Ones' complement has neither: its increments ride in the empty places of the carry-save rows.
The cut of an aligned term (RZ, RD) is made on its magnitude in every encoding, so the table does not show what two's
complement would save under RD."""

WAYS_NOTE = (
    """cells · depth of the first target when one step is built in another way (`[implementation]` in a unit's TOML)."""
)

TABLE_NOTE = """cells · depth, in each encoding of negative terms; a dash: not measured yet. A datapath whose a and b have
each other's formats is the same one with its ports exchanged, and stands once. A figure belongs to the circuit of the commit
that measured it; a run of `make area` without a time limit measures again whatever has changed since."""


def targets(records: Records) -> list[str]:
    """What was aimed at, and whether it is reached."""
    fma = next(unit.name for unit in catalogue_units() if unit.operation == FMA_FP32)
    name, discrete = TARGET_NAME, next(design.name for design in designs() if design.discrete)
    lines = [
        f"- {name}, RZ-FP32: at most 15,400 cells and depth 183 (Vortex's slice, without subnormal results: 15,385 · 183): "
        + verdicts(records, name, lambda record: record["cells"] <= 15_400 and record["depth"] <= 183),
        "- FMA fp32: at most 15,000 cells (CVFPU, with all rounding modes: 15,088 · 248): "
        + verdicts(records, fma, lambda record: record["cells"] <= 15_000),
    ]
    shares = []
    for encoding in ENCODINGS:
        fused, apart = (records.get(f"{kind} | {encoding}") for kind in (name, discrete))
        if fused and apart:
            share = fused["cells"] / apart["cells"]
            shares.append(f"{encoding} {share:.1%} ({'reached' if share <= 0.6 else 'missed'})")
    lines.append(
        f"- {name}, as a share of four multipliers and four adders of the same parts and encoding, at most 60 %: "
        + (", ".join(shares) or "not measured")
    )
    return [*lines, "", WHAT_IS_MISSING]


def verdicts(records: Records, name: str, reached: Callable[[dict[str, Any]], bool]) -> str:
    """The figures of a design in every encoding, each with whether it reaches the target."""
    texts = []
    for encoding in ENCODINGS:
        record = records.get(f"{name} | {encoding}")
        verdict = "not measured" if record is None else "reached" if reached(record) else "missed"
        texts.append(f"{encoding} {figure(records, f'{name} | {encoding}')} ({verdict})")
    return ", ".join(texts)


if __name__ == "__main__":
    sys.exit(main())
