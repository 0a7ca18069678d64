"""The text of the table of costs."""

from collections.abc import Callable, Sequence
from typing import Any

from golden import Implementation, Operation
from golden.unit import ENCODINGS
from rtl.cost.designs import (
    DISCRETE_NAME,
    FMA_NAME,
    TARGET,
    TARGET_NAME,
    Row,
    datapath_rows,
    other_choices,
    row_of,
    shared_rows,
)

Records = dict[str, dict[str, Any]]
"""Key of a row to its figures: those of `rtl.cost.flow.Cost`, and the circuit, flow and tool that they belong to."""


def page(records: Records) -> str:
    """The text of `area.md`."""
    tools = sorted({record["tool"] for record in records.values()})
    head = "".join(f" {encoding} |" for encoding in ENCODINGS)
    rule = " ---: |" * len(ENCODINGS)
    encoded = [Implementation(encoding=encoding) for encoding in ENCODINGS]
    others = other_choices()
    built = [encoded, *(others[start : start + len(ENCODINGS)] for start in range(0, len(others), len(ENCODINGS)))]
    lines = [PREFACE.format(tools=", ".join(tools) or "no tool yet"), "", "## Targets", "", *targets(records), ""]
    lines += ["## Choices", "", CHOICES_NOTE, "", f"| step |{head}", f"| --- |{rule}"]
    for implementations in built:
        each = [row_of(TARGET_NAME, TARGET, implementation) for implementation in implementations]
        label = each[0].key.removeprefix(f"{TARGET_NAME} | {ENCODINGS[0]}").removeprefix(" | ")
        lines.append(line(label or "all by default", each, records))
    lines += ["", "## Several formats on one datapath", "", SHARED_NOTE, "", f"| datapath |{head}", f"| --- |{rule}"]
    shared, *apart = shared_rows()
    lines += [line(each[0].name, each, records) for each in (shared, *apart)]
    lines.append("| one for all, as a share of the sum | " + " | ".join(shares(records, shared, apart)) + " |")
    lines += ["", "## Datapaths", "", TABLE_NOTE, "", f"| datapath | operation |{head}", f"| --- | --- |{rule}"]
    lines += [line(f"{each[0].name} | {described(each[0].design.operation)}", each, records) for each in datapath_rows()]
    return "\n".join(lines) + "\n"


def shares(records: Records, shared: Sequence[Row], apart: Sequence[Sequence[Row]]) -> list[str]:
    """In each encoding, the cells of the shared datapath as a share of all the others'; a dash where not measured."""
    texts = []
    for place, row in enumerate(shared):
        keys = [row.key, *(each[place].key for each in apart)]
        if not all(key in records for key in keys):
            texts.append("–")
            continue
        one, *others = (records[key]["cells"] for key in keys)
        texts.append(f"{one / sum(others):.1%}")
    return texts


def line(label: str, each: Sequence[Row], records: Records) -> str:
    """A line of a table: the figures of one datapath in every encoding."""
    return f"| {label} | " + " | ".join(figure(records, row.key) for row in each) + " |"


def described(operation: Operation) -> str:
    """The operation with the parameters that its instruction's name does not show."""
    shown = {key: value for key, value in operation.parameters().items() if key in ("L", "P", "F", "F2", "G")}
    return " ".join([operation.name, *(f"{key}={value}" for key, value in shown.items())])


def figure(records: Records, key: str) -> str:
    """`cells · depth`, or a dash where a design has not been measured."""
    record = records.get(key)
    return "–" if record is None else f"{record['cells']:,} · {record['depth']}"


PREFACE = """# What the datapaths cost

Written by `make area` from `area.json`; do not edit. The figures come from {tools}, for combinational datapaths
(stages = 0) with subnormals and specials. A cell is a two-input NAND or NOR gate or an inverter; depth is the number
of cells on the longest path. Depth ranks designs; it is not a delay. `mmau rtl --report` shows the same for any unit,
by component.

The designs under "Targets" and "Choices" are mapped as one circuit, by
`synth -flatten -noshare; abc -g cmos2; opt_clean`. The published figures come from the same flow without `-noshare`,
where Yosys also searches for operations that could share a circuit. A datapath that uses all its parts in every cycle
has none, and the search takes longer than everything else."""

WHY_OTHERS_COST_MORE = """Why the other encodings cost more: sign-magnitude sums positive and negative terms apart, so
that every term enters two reductions, whose results enter a third. Two's complement needs an incrementer for every
term, whose carries run before those of the sum. Ones' complement needs neither, because its increments fill empty
places of the carry-save rows. An aligned term is truncated (RZ, RD) on its magnitude in every encoding, so the table
does not show what two's complement would save under RD."""

CHOICES_NOTE = (
    """Cells · depth of the first target with another choice for one step (`[implementation]` in a unit's TOML)."""
)

SHARED_NOTE = """Cells · depth, mapped as the datapaths in the next section. All formats share the multipliers, the
aligners and everything after them; each format has its own decoders."""

TABLE_NOTE = """Cells · depth, in each encoding of negative terms. Each component is mapped by itself, then the
components are joined: `synth -noshare -hieropt; abc -g cmos2; opt_clean; flatten; opt_clean`. This flow is many times
faster than the one above, which takes minutes for a datapath; its paths are longer. The first row is the first
target, for comparison.

Two datapaths that differ only in exchanged formats of a and b are one row. A dash means: not measured yet. A figure
belongs to the circuit of the commit that measured it; `make area` measures again what has changed since."""


def targets(records: Records) -> list[str]:
    """What was aimed at, and whether it is reached."""
    lines = [
        f"- {TARGET_NAME}, RZ-FP32: at most 15,400 cells and depth 183 "
        "(Vortex's slice, without subnormal results: 15,385 · 183): "
        + verdicts(records, TARGET_NAME, lambda record: record["cells"] <= 15_400 and record["depth"] <= 183),
        "- FMA fp32: at most 15,000 cells (CVFPU, with all rounding modes: 15,088 · 248): "
        + verdicts(records, FMA_NAME, lambda record: record["cells"] <= 15_000),
    ]
    found = []
    for encoding in ENCODINGS:
        fused, apart = (records.get(f"{kind} | {encoding}") for kind in (TARGET_NAME, DISCRETE_NAME))
        if fused and apart:
            share = fused["cells"] / apart["cells"]
            found.append(f"{encoding} {share:.1%} ({'reached' if share <= 0.6 else 'missed'})")
    lines.append(
        f"- {TARGET_NAME}, as a share of four multipliers and four adders of the same parts and encoding, at most 60 %: "
        + (", ".join(found) or "not measured")
    )
    return [*lines, "", WHY_OTHERS_COST_MORE]


def verdicts(records: Records, name: str, reached: Callable[[dict[str, Any]], bool]) -> str:
    """The figures of a design in every encoding, each with whether it reaches the target."""
    texts = []
    for encoding in ENCODINGS:
        record = records.get(f"{name} | {encoding}")
        verdict = "not measured" if record is None else "reached" if reached(record) else "missed"
        texts.append(f"{encoding} {figure(records, f'{name} | {encoding}')} ({verdict})")
    return ", ".join(texts)
