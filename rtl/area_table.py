"""The cost of every distinct datapath of the catalogue, in every encoding (`python -m rtl.area_table docs --jobs J`).

Measuring all of them takes most of an hour. Every figure is kept as soon as it is known, so a run may be interrupted at any
time, and the next one goes on where it stopped; only what has another circuit or tool by then is measured again.
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
from rtl.cost import MissingTool, measure, measure_joined, tool_version
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

FMA_NAME = "FMA fp32"
FMA_FP32 = operation_from_table({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"})

DISCRETE_NAME = "four fp16 multipliers, four fp32 adders"
DISCRETE = operation_from_table({"operation": "E-FDPA", **_FP16_4, "rho": "RNE-FP32"})
"""Formats and L of the benchmark."""


@dataclass(frozen=True)
class Design:
    """What is measured: a unit, or the benchmark of separate multipliers and adders, built in one way.

    Attributes:
        name, operation, implementation: as a unit's.
        discrete: whether it is the benchmark.
        joined: whether its components are mapped by themselves and joined, or all as one.
    """

    name: str
    operation: Operation
    implementation: Implementation
    discrete: bool = False
    joined: bool = False

    @property
    def key(self) -> str:
        """Its name among the records."""
        ways = [f"{key}={way}" for key, choices in WAYS.items() if (way := getattr(self.implementation, key)) != choices[0]]
        return " | ".join([self.name, self.implementation.encoding, *ways, *(["joined"] if self.joined else [])])

    def verilog(self) -> str:
        """Its Verilog, without names that do not matter to its cost."""
        if self.discrete:
            assert isinstance(self.operation, EFDPA)
            component: Datapath = DiscreteDatapath(self.operation, self.implementation)
        else:
            component = datapath(Unit(name=self.name, operation=self.operation, implementation=self.implementation))
        return modules(component, "unit")


def designs() -> list[Design]:
    """All that is measured."""
    return [*target_designs(), *(design for row in table_rows() for design in row)]


def target_designs() -> list[Design]:
    """In every encoding: the target, built in every way; the benchmark; the FMA."""
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    return [
        *(Design(TARGET_NAME, TARGET, implementation) for implementation in (*encoded, *ways())),
        *(Design(DISCRETE_NAME, DISCRETE, implementation, discrete=True) for implementation in encoded),
        *(Design(FMA_NAME, FMA_FP32, implementation) for implementation in encoded),
    ]


def table_rows() -> list[list[Design]]:
    """The target, then the catalogue's distinct datapaths, each in every encoding.

    A datapath whose a and b have each other's formats is the same one with its ports exchanged: it stands once. One datapath
    of each parameter set comes before the others, which have the same parameters in other formats; within both the smallest
    comes first.
    """
    first = {unit.operation for unit in parameter_set_units()}
    units = sorted(unmirrored(catalogue_units()), key=lambda unit: (unit.operation not in first, rough_size(unit.operation)))
    named = [(TARGET_NAME, TARGET), *((unit.name, unit.operation) for unit in units)]
    return [
        [Design(name, operation, Implementation(encoding=encoding), joined=True) for encoding in ENCODINGS]
        for name, operation in named
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
        run(options.folder, designs(), options.minutes, options.jobs)
    except (MissingTool, YosysError, OSError, ValueError) as error:
        print(f"area: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("area: interrupted; what was measured is kept, run it again to go on", file=sys.stderr)
        return 2
    return 0


def run(folder: Path, all_designs: Sequence[Design], minutes: float | None, jobs: int) -> None:
    """Bring both files up to date, as far as the time allows; what is kept of other designs is dropped."""
    tool, kept, keys = tool_version(), folder / "area.json", {design.key for design in all_designs}
    records: Records = {key: record for key, record in read(kept).items() if key in keys}
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


def read(kept: Path) -> Records:
    """What an earlier run kept; nothing where there is no such file.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(record, dict) for record in found.values()):
        raise ValueError(f"{kept} is not what make area wrote; remove it to measure all again")
    return found


def up_to_date(design: Design, record: dict[str, Any] | None, tool: str) -> tuple[dict[str, Any], float]:
    """The design's record, measured where the one that is kept belongs to another circuit or tool, and the seconds taken."""
    started, text = time.monotonic(), design.verilog()
    belongs = {"circuit": hashlib.sha256(text.encode()).hexdigest()[:16], "tool": tool}
    if record is None or not belongs.items() <= record.items():
        record = belongs | asdict(measure_joined(text, "unit") if design.joined else measure(text, "unit"))
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
    head = "".join(f" {encoding} |" for encoding in ENCODINGS)
    rule = " ---: |" * len(ENCODINGS)
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    built = [encoded, *(ways()[start : start + len(ENCODINGS)] for start in range(0, len(ways()), len(ENCODINGS)))]
    lines = [PREFACE.format(tools=", ".join(tools) or "no tool yet"), "", "## Targets", "", *targets(records), ""]
    lines += ["## Ways to build", "", WAYS_NOTE, "", f"| step |{head}", f"| --- |{rule}"]
    for implementations in built:
        each = [Design(TARGET_NAME, TARGET, implementation) for implementation in implementations]
        label = each[0].key.removeprefix(f"{TARGET_NAME} | {ENCODINGS[0]}").removeprefix(" | ")
        lines.append(row(label or "all by default", each, records))
    lines += ["", "## Datapaths", "", TABLE_NOTE, "", f"| datapath | operation |{head}", f"| --- | --- |{rule}"]
    lines += [row(f"{each[0].name} | {described(each[0].operation)}", each, records) for each in table_rows()]
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
(stages = 0), subnormals and specials included. A cell is a two-input NAND or NOR gate or an inverter, depth is the number of
cells on the longest path. Depth ranks designs; it is no time. `mmau rtl --report` shows the same of any unit, by component.

Targets and ways to build are measured in the flow in which others have published figures, all as one circuit:
`synth -flatten -noshare; abc -g cmos2; opt_clean`. (Without `-noshare` Yosys looks for operations that could share a
circuit. A datapath that uses all its parts in every cycle has none, and the search takes longer than all the rest.)"""

WHAT_IS_MISSING = """What the other encodings lack: sign-magnitude sums positive and negative terms apart, so every term
goes into two reductions, and their results into a third. Two's complement spends an incrementer on every term, whose
carries run before the sum's. Ones' complement has neither: its increments ride in the empty places of the carry-save rows.
The cut of an aligned term (RZ, RD) is made on its magnitude in every encoding, so the table does not show what two's
complement would save under RD."""

WAYS_NOTE = (
    """cells · depth of the first target when one step is built in another way (`[implementation]` in a unit's TOML)."""
)

TABLE_NOTE = """cells · depth, in each encoding of negative terms. Each component is mapped by itself, then all are joined:
`synth -noshare -hieropt; abc -g cmos2; opt_clean; flatten; opt_clean`. That is many times faster than the flow above, which
takes minutes a datapath; paths come out longer. The first row is the first target, for comparison.

A datapath whose a and b have each other's formats is the same one with its ports exchanged, and stands once. A dash: not
measured yet. A figure belongs to the circuit of the commit that measured it; `make area` measures again whatever has
changed since."""


def targets(records: Records) -> list[str]:
    """What was aimed at, and whether it is reached."""
    lines = [
        f"- {TARGET_NAME}, RZ-FP32: at most 15,400 cells and depth 183 "
        "(Vortex's slice, without subnormal results: 15,385 · 183): "
        + verdicts(records, TARGET_NAME, lambda record: record["cells"] <= 15_400 and record["depth"] <= 183),
        "- FMA fp32: at most 15,000 cells (CVFPU, with all rounding modes: 15,088 · 248): "
        + verdicts(records, FMA_NAME, lambda record: record["cells"] <= 15_000),
    ]
    shares = []
    for encoding in ENCODINGS:
        fused, apart = (records.get(f"{kind} | {encoding}") for kind in (TARGET_NAME, DISCRETE_NAME))
        if fused and apart:
            share = fused["cells"] / apart["cells"]
            shares.append(f"{encoding} {share:.1%} ({'reached' if share <= 0.6 else 'missed'})")
    lines.append(
        f"- {TARGET_NAME}, as a share of four multipliers and four adders of the same parts and encoding, at most 60 %: "
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
