"""The page of the sweep: how many units the probe recovered, and which it did not.

python -m studies.probe_sweep.probe_sweep_page docs/evidence/probing.json docs/evidence/probing-sweep.md
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.report import markdown
from studies.probe_sweep.__main__ import KINDS, RECOVERED, count_of, name_of, summary

RANDOM_UNITS = 1100
"""Units with random parameters of a whole sweep."""

TITLES = {
    "catalogue": "catalogue", "random": "random parameters", "chains": "random, with a table [chain]",
    "tables": "each table [chain]",
}  # fmt: skip

LIMIT = 60
"""Seconds within which a unit under a table [chain] should be found."""

LATE = 1000
"""Vectors asked, beyond those of the validation that was passed, above which a unit is named."""


INTRODUCTION = """\
`make probing` writes this page and [probing.json](probing.json), which has an entry for each unit; how it is done
and what the words mean: [probing.md](../guides/probing.md). Each validation had {vectors:,} vectors.
{whole}"""


def expected(kind: str) -> list[str]:
    """The units of a whole sweep, in order."""
    return [name_of(kind, number) for number in range(count_of(kind, RANDOM_UNITS))]


def page(state: dict[str, Any]) -> str:
    """The page as Markdown."""
    entries: dict[str, list[dict[str, Any]]] = {kind: state["entries"].get(kind, []) for kind in KINDS}
    done = {kind: {entry["unit"] for entry in entries[kind]} for kind in KINDS}
    missing = sum(unit not in done[kind] for kind in KINDS for unit in expected(kind))
    both = [(kind, entry) for kind in KINDS for entry in entries[kind]]
    sources = Counter(entry["sources"] for _, entry in both)
    header = (
        "units", "tried", "same", "alike", "wrong", "unexplained", "median asked", "most asked", "median seconds",
        "most seconds",
    )  # fmt: skip
    slow = sum(e["seconds"] > LIMIT or e["verdict"] not in RECOVERED for e in entries["tables"])
    whole = "The sweep is whole."
    if missing:
        whole = f"The sweep is not whole: units left, to which `make probing` goes on: {missing}."
    return markdown.document(
        "The probe on units that are known",
        INTRODUCTION.format(vectors=state["vectors"], whole=whole),
        markdown.table(
            header, [_row(TITLES[kind], entries[kind], len(expected(kind))) for kind in KINDS], numbers=range(1, 10)
        ),
        _operations(entries),
        "## Each table [chain]",
        f"Of two operations with published parameters, under each table; {slow} of {len(entries['tables'])} took more than "
        f"{LIMIT} s of one core or were not found. Seconds include the validation.",
        markdown.table(
            ("unit", "verdict", "asked", "seconds"),
            [[e["unit"], e["verdict"], f"{e['asked']:,}", str(e["seconds"])] for e in entries["tables"]],
            numbers=(2, 3),
        ),
        "Sources of the probe (digest: entries): "
        + ", ".join(f"{digest}: {count}" for digest, count in sources.most_common())
        + ".",
        "## Not recovered",
        markdown.bullets(_missed(entry) for _, entry in both if entry["verdict"] not in RECOVERED),
        "## Recovered late",
        f"A validation failed late, so that more than {LATE:,} vectors were asked.",
        markdown.bullets(f"{e['unit']}, {e['operation']}: {e['asked']:,}" for _, e in both if e["asked"] > LATE),
    )


def _row(title: str, entries: list[dict[str, Any]], total: int) -> list[str]:
    s = summary(entries)
    if not s:
        return [title, f"0 of {total:,}", *[""] * 8]
    verdicts = (str(s[word]) for word in ("same", "alike", "wrong", "unexplained"))
    asked = (f"{s['median_asked']:,}", f"{s['largest_asked']:,}")
    return [
        title, f"{s['units']:,} of {total:,}", *verdicts, *asked, str(s["median_seconds"]), str(s["largest_seconds"]),
    ]  # fmt: skip


def _operations(entries: dict[str, list[dict[str, Any]]]) -> str:
    found = {kind: summary(entries[kind]).get("by_operation", {}) for kind in KINDS}
    names = sorted({name for by_operation in found.values() for name in by_operation})
    header = ("operation", *(f"recovered, {TITLES[kind]}" for kind in KINDS))
    return markdown.table(
        header, [[name, *(found[kind].get(name, "—") for kind in KINDS)] for name in names], numbers=range(1, 1 + len(KINDS))
    )


def _missed(entry: dict[str, Any]) -> str:
    keys = ", ".join(f"{key} = {value}" for key, value in entry["true"].items())
    found = f"{entry['found']}, which misses {entry['missed']}"
    return f"{entry['unit']}, {entry['verdict']}: {entry['operation']} with {keys}; found {found}"


def main(argv: list[str]) -> None:
    """Write the page."""
    source, output = map(Path, argv)
    write_atomically(output, page(json.loads(source.read_text(encoding="utf-8"))).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
