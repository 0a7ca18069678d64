"""docs/mutants.md: what became of every mutant, by operation and by kind."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim.mutation.bench import CRASHED, ENDLESS, KILLED, NOT_BUILT, SURVIVED
from cosim.mutation.mutations import KINDS
from rtl.verilog.equivalence import DIFFERENT, EQUAL, UNDECIDED

Row = Mapping[str, Any]
"""A mutant, or a unit with its mutants, as `cosim.mutation.work` gives it."""

FEW = 10
"""Results that differ, of all vectors, up to which a mutant counts as held by a thread."""

COLUMNS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("mutants", lambda row: True),
    ("killed", lambda row: row["status"] == KILLED),
    ("of these by the protocol alone", lambda row: row["status"] == KILLED and not row["mismatches"]),
    ("crashed or never ended", lambda row: row["status"] in (CRASHED, ENDLESS)),
    ("not built", lambda row: row["status"] == NOT_BUILT),
    ("lived", lambda row: row["status"] == SURVIVED),
    ("of these equal, proved", lambda row: settled(row) == EQUAL),
    ("different", lambda row: settled(row) == DIFFERENT),
    ("undecided", lambda row: settled(row) == UNDECIDED),
)
"""Heading of each column of counts, and which mutants it counts."""

WHERE_ANY = ("not built",)
"""Columns that are there where they count any."""


def settled(row: Row) -> str | None:
    """How a survivor was settled; None for one that was killed."""
    found = row.get("settled")
    return None if found is None else str(found["verdict"])


def is_accounted_for(row: Row) -> bool:
    """Whether nothing is left to do about a mutant: results or the protocol showed it, or it is proved equal. One that
    crashed, never ended or was not built has shown nothing."""
    return row["status"] == KILLED or (row["status"] == SURVIVED and settled(row) == EQUAL)


def is_held_by_a_thread(row: Row) -> bool:
    """Whether only a few results show a mutant, of a run that it did not stop."""
    return row["status"] == KILLED and not row["reason"] and row["mismatches"] <= FEW


def counts_table(groups: Mapping[str, Sequence[Row]], first: str) -> list[str]:
    """A Markdown table: a line for each group of mutants, and one for all."""
    everything = [row for rows in groups.values() for row in rows]
    columns = [(heading, wanted) for heading, wanted in COLUMNS if heading not in WHERE_ANY or any(map(wanted, everything))]
    lines = [f"| {first} | " + " | ".join(heading for heading, _ in columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for name, rows in [*groups.items(), ("all", everything)]:
        counts = [sum(map(wanted, rows)) for _, wanted in columns]
        lines.append(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |")
    return lines


def grouped(rows: Sequence[Row], key: Callable[[Row], str], order: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Rows by a key, in a given order or in that of their first appearance."""
    found: dict[str, list[Row]] = {name: [] for name in order}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return {name: group for name, group in found.items() if group}


def models_table(units: Sequence[Row]) -> list[str]:
    """A Markdown table of the golden model's mutants, a line for each operation."""
    lines = ["| operation | mutants of the model | shown by the RTL | the same for every input, proved | unseen |"]
    lines.append("| --- |" + " ---: |" * 4)
    for operation, of_it in grouped(units, lambda unit: str(unit["operation"])).items():
        models = [model for unit in of_it for model in unit["models"]]
        seen = sum(model["seen"] for model in models)
        same = sum(bool(model.get("same")) for model in models)
        lines.append(f"| {operation} | {len(models)} | {seen} | {same} | {len(models) - seen - same} |")
    return lines


def summary(unit: Row) -> str:
    """One unit's mutants in a few lines: counts by kind, and what is not settled."""
    mutants = unit["mutants"]
    lines = [f"{unit['unit']}: {len(mutants)} mutants, {unit['vectors']:,} vectors of seed {unit['seed']}", ""]
    lines += counts_table(grouped(mutants, lambda row: str(row["kind"]), KINDS), "kind")
    for row in mutants:
        if settled(row) in (DIFFERENT, UNDECIDED):
            inputs = ", ".join(f"{port} = {value:#x}" for port, value in row["settled"]["inputs"].items())
            lines += ["", f"{settled(row)}: {row['name']}", f"  {inputs or row['settled']['how']}"]
    lines += ["", *models_table([unit])]
    return "\n".join(lines)


def document(outcome: Mapping[str, Any]) -> str:
    """The whole page."""
    units, made_with = outcome["units"], outcome["made_with"]
    mutants = [
        {**mutant, "unit": unit["unit"], "operation": unit["operation"]} for unit in units for mutant in unit["mutants"]
    ]
    thread = [row for row in mutants if is_held_by_a_thread(row)]
    left = [row for row in mutants if settled(row) in (DIFFERENT, UNDECIDED)]
    how = Counter(str(row["settled"]["how"]) for row in mutants if settled(row) == EQUAL)
    parts = [
        "# Mutants",
        "",
        "Written by `make mutants`; [mutation.md](mutation.md) says what the kinds are and how survivors are settled.",
        "",
        f"{outcome['vectors']:,} vectors of seed {outcome['seed']} went to each mutant, those of `mmau cosim`. "
        f"The mutants were drawn with seed {outcome['seed']}. Made on {outcome['date']} with "
        + ", ".join(f"{name} {version}" for name, version in outcome["versions"].items())
        + ".",
        f"Sources of commit `{made_with['commit']}`, SHA-256 `{made_with['sources']}`.",
        "",
        "## By operation",
        "",
        *counts_table(grouped(mutants, lambda row: str(row["operation"])), "operation"),
        "",
        "## By kind",
        "",
        *counts_table(grouped(mutants, lambda row: str(row["kind"]), KINDS), "kind"),
        "",
        "## By step of the datapath",
        "",
        *counts_table(grouped(mutants, lambda row: str(row["step"])), "step"),
        "",
        "## By unit",
        "",
        *counts_table(grouped(mutants, lambda row: str(row["unit"])), "unit"),
        "",
        "## How survivors were proved equal",
        "",
        "| compared | mutants |",
        "| --- | ---: |",
        *(f"| {name} | {count} |" for name, count in how.most_common()),
        "",
        "## Survivors that are not proved equal",
        "",
        *([f"- {row['unit']}: {_cell(row['name'])} ({settled(row)})" for row in left] or ["None."]),
        "",
        f"## Held by a thread: at most {FEW} of {outcome['vectors']:,} results differ",
        "",
        *([f"- {row['mismatches']} in {row['unit']}: {_cell(row['name'])}" for row in thread] or ["None."]),
        "",
        "## Mutants of the golden model",
        "",
        "Each is what the RTL is expected to give, beside RTL that is right.",
        "",
        *models_table(units),
        "",
    ]
    return "\n".join(parts)


def _cell(name: str) -> str:
    """A mutant's name as code, shortened."""
    return "`" + (name if len(name) <= 160 else name[:157] + "...").replace("`", "'") + "`"
