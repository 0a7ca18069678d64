"""The text of the table of costs."""

from collections.abc import Callable, Sequence
from typing import Any

from golden import Implementation, Operation
from golden.units.unit import ENCODINGS
from mmau.report import markdown
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
    row_of,
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
