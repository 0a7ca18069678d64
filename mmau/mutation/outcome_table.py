"""Tables of mutants: counts of killed mutants, by the protocol alone or otherwise, and the fate of the others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmau.mutation.bench import CRASHED, ENDLESS, KILLED, NOT_BUILT, SURVIVED
from mmau.mutation.missed_faults import missed_lines
from mmau.mutation.mutations import KINDS
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from mmau.report import markdown

Row = Mapping[str, Any]
"""A mutant, or a unit with its mutants, as `mmau.mutation.unit_work` returns it."""


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
"""Heading of each column of counts, and the mutants that it counts."""

WHERE_ANY = ("not built",)
"""Columns that are omitted if all their counts are 0."""


def settled(row: Row) -> str | None:
    """The settlement of a survivor; None for a killed mutant."""
    found = row.get("settled")
    return None if found is None else str(found["verdict"])


def is_accounted_for(row: Row) -> bool:
    """Whether a mutant is accounted for: results or the protocol showed it, or it is proved equal. A mutant that crashed,
    never ended or was not built is not."""
    return row["status"] == KILLED or (row["status"] == SURVIVED and settled(row) == EQUAL)


def counts_table(groups: Mapping[str, Sequence[Row]], first: str) -> str:
    """A Markdown table: a line for each group of mutants, and one for all."""
    everything = [row for rows in groups.values() for row in rows]
    columns = [(heading, wanted) for heading, wanted in COLUMNS if heading not in WHERE_ANY or any(map(wanted, everything))]
    lines = [
        [name, *(f"{sum(map(wanted, rows)):,}" for _, wanted in columns)]
        for name, rows in [*groups.items(), ("all", everything)]
    ]
    return markdown.table([first, *(heading for heading, _ in columns)], lines, numbers=range(1, len(columns) + 1))


def grouped(rows: Sequence[Row], key: Callable[[Row], str], order: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Rows by a key, in a given order or in that of their first appearance."""
    found: dict[str, list[Row]] = {name: [] for name in order}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return {name: group for name, group in found.items() if group}


def models_table(units: Sequence[Row]) -> str:
    """A Markdown table of the golden model's mutants, a line for each operation."""
    lines = []
    for operation, of_it in grouped(units, lambda unit: str(unit["operation"])).items():
        models = [model for unit in of_it for model in unit["models"]]
        seen = sum(model["seen"] for model in models)
        same = sum(bool(model.get("same")) for model in models)
        lines.append((operation, *map(str, (len(models), seen, same, len(models) - seen - same))))
    header = ("operation", "mutants of the model", "shown by the RTL", "the same for every input, proved", "unseen")
    return markdown.table(header, lines, numbers=range(1, 5))


def summary(unit: Row) -> str:
    """The mutants of one unit in a few lines: counts by kind, and the mutants whose equality is open."""
    mutants = unit["mutants"]
    lines = [f"{unit['unit']}: {len(mutants)} mutants, {unit['vectors']:,} vectors of seed {unit['seed']}", ""]
    lines.append(counts_table(grouped(mutants, lambda row: str(row["kind"]), KINDS), "kind"))
    for row in mutants:
        if settled(row) in (DIFFERENT, UNDECIDED):
            inputs = ", ".join(f"{port} = {value:#x}" for port, value in row["settled"]["inputs"].items())
            lines += ["", f"{settled(row)}: {row['name']}", f"  {inputs or row['settled']['how']}"]
    lines += ["", models_table([unit]), "", *missed_lines(unit["states"])]
    return "\n".join(lines)


def is_clean(outcome: Mapping[str, Any]) -> bool:
    """Whether every mutant is accounted for: there are units with mutants, each mutant is killed or proved equal, each
    mutant of state is killed, and each mutant of a model is seen or proved the same."""
    units = outcome["units"]
    models = [model for unit in units for model in unit["models"]]
    return (
        bool(units)
        and all(unit["mutants"] and all(map(is_accounted_for, unit["mutants"])) for unit in units)
        and all(state["status"] == KILLED for unit in units for state in unit["states"])
        and all(model["seen"] or model.get("same") for model in models)
    )
