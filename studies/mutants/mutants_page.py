"""Writes the page docs/evidence/mutants.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from mmau.formal.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from mmau.mutation.bench import KILLED
from mmau.mutation.mutations import KINDS
from mmau.mutation.outcome_table import Row, counts_table, grouped, models_table, settled
from mmau.mutation.state_mutants import KINDS as STATE_KINDS
from mmau.report import markdown

FEW = 10
"""Most differing results with which a mutant counts as narrowly killed ("held by a thread" on the page)."""


def document(outcome: Mapping[str, Any]) -> str:
    """The text of the page."""
    units = outcome["units"]
    mutants = [
        {**mutant, "unit": unit["unit"], "operation": unit["operation"]} for unit in units for mutant in unit["mutants"]
    ]
    states = [{**state, "unit": unit["unit"]} for unit in units for state in unit["states"]]
    thread = [row for row in mutants if is_held_by_a_thread(row)]
    open_ones = [row for row in mutants if settled(row) in (DIFFERENT, UNDECIDED)]
    how = Counter(str(row["settled"]["how"]) for row in mutants if settled(row) == EQUAL)
    parts = [
        "Written by `make mutants`; [mutation.md](../guides/mutation.md) says what the kinds are and how survivors\n"
        "are settled.",
        f"{outcome['vectors']:,} vectors of seed {outcome['seed']} went to each mutant, those of `mmau cosim`. "
        f"The mutants were drawn with seed {outcome['seed']}.",
        _of_run(outcome),
    ]
    for title, key, order in GROUPS:
        parts += [f"## By {title}", counts_table(grouped(mutants, itemgetter(key), order), key)]
    parts += [
        "## How survivors were proved equal",
        markdown.table(("compared", "mutants"), [(name, str(count)) for name, count in how.most_common()], numbers=(1,)),
        "## Survivors that are not proved equal",
        markdown.bullets(f"{row['unit']}: {_code(row['name'])} ({settled(row)})" for row in open_ones),
        f"## Held by a thread: at most {FEW} of {outcome['vectors']:,} results differ",
        markdown.bullets(f"{row['mismatches']} in {row['unit']}: {_code(row['name'])}" for row in thread),
        *(_of_states(states) if states else ()),
        "## Mutants of the golden model",
        "Each is what the RTL is expected to give, beside RTL that is right.",
        models_table(units),
    ]
    return markdown.document("Mutants", *parts)


def _of_run(run: Mapping[str, Any]) -> str:
    """The day of a run, its versions and sources."""
    made_with, versions = run["made_with"], ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    sources = f"sources of commit `{made_with['commit']}`, SHA-256 `{made_with['sources']}`"
    return f"Made on {run['date']} with {versions}; {sources}."


def _of_states(states: Sequence[Row]) -> list[str]:
    """The mutants of state and protocol, by kind, and those that lived."""
    return [
        "## State and protocol",
        "What the units keep, count and wait for, and their handshake, in a wrapper around each.",
        counts_table(grouped(states, itemgetter("kind"), STATE_KINDS), "kind"),
        markdown.bullets(f"{row['unit']}: {row['words']}" for row in states if row["status"] != KILLED),
    ]


GROUPS: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("operation", "operation", ()),
    ("kind", "kind", KINDS),
    ("step of the datapath", "step", ()),
    ("unit", "unit", ()),
)
"""The groupings of mutants: heading, key of a mutant, and the order of groups, if it is fixed."""


def is_held_by_a_thread(row: Row) -> bool:
    """Whether only a few results show a mutant, in a run that it did not stop."""
    return row["status"] == KILLED and not row["reason"] and row["mismatches"] <= FEW


def _code(name: str) -> str:
    """A mutant's name as code, shortened."""
    return "`" + (name if len(name) <= 160 else name[:157] + "...").replace("`", "'") + "`"
