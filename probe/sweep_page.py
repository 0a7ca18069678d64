"""The page of the sweep: how many units the probe recovered, and which it did not.

python -m probe.sweep_page docs/probing.json docs/probing-sweep.md
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from probe.sweep import KINDS, RECOVERED, catalogue, name_of, summary

RANDOM_UNITS = 1000
"""Units with random parameters of a whole sweep."""

TITLES = {"catalogue": "catalogue", "random": "random parameters"}

LATE = 1000
"""Vectors asked, beyond those of the validation that was passed, above which a unit is named."""


def expected(kind: str) -> list[str]:
    """The units of a whole sweep, in order."""
    count = len(catalogue()) if kind == "catalogue" else RANDOM_UNITS
    return [name_of(kind, number) for number in range(count)]


def page(state: dict[str, Any]) -> str:
    """The page as Markdown."""
    entries: dict[str, list[dict[str, Any]]] = state["entries"]
    done = {kind: {entry["unit"] for entry in entries[kind]} for kind in KINDS}
    missing = sum(unit not in done[kind] for kind in KINDS for unit in expected(kind))
    both = [(kind, entry) for kind in KINDS for entry in entries[kind]]
    sources = Counter(entry["sources"] for _, entry in both)
    lines = [
        "# The probe on units that are known",
        "",
        "`make probing` writes this page and [probing.json](probing.json), which has an entry for each unit; how it is done",
        f"and what the words mean is in [probing.md](probing.md). Every validation had {state['vectors']:,} vectors.",
        "The sweep is whole."
        if not missing
        else f"The sweep is not whole: units left, to which `make probing` goes on: {missing}.",
        "",
        "| units | tried | same | alike | wrong | unexplained | median asked | most asked | median seconds | most seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_line(TITLES[kind], entries[kind], len(expected(kind))) for kind in KINDS),
        "",
        "| operation | recovered, catalogue | recovered, random parameters |",
        "| --- | ---: | ---: |",
        *_operations(entries),
        "",
        "Sources of the probe (digest: entries): "
        + ", ".join(f"{digest}: {count}" for digest, count in sources.most_common())
        + ".",
        "",
        "## Not recovered",
        "",
        *([_missed(entry) for _, entry in both if entry["verdict"] not in RECOVERED] or ["None."]),
        "",
        "## Recovered late",
        "",
        f"A validation failed late, so that more than {LATE:,} vectors were asked.",
        "",
        *([f"- {e['unit']}, {e['operation']}: {e['asked']:,}" for _, e in both if e["asked"] > LATE] or ["None."]),
    ]
    return "\n".join(lines) + "\n"


def _line(title: str, entries: list[dict[str, Any]], total: int) -> str:
    s = summary(entries)
    if not s:
        return f"| {title} | 0 of {total:,} | | | | | | | | |"
    verdicts = " | ".join(str(s[word]) for word in ("same", "alike", "wrong", "unexplained"))
    asked = f"{s['median_asked']:,} | {s['largest_asked']:,}"
    return (
        f"| {title} | {s['units']:,} of {total:,} | {verdicts} | {asked} | {s['median_seconds']} | {s['largest_seconds']} |"
    )


def _operations(entries: dict[str, list[dict[str, Any]]]) -> list[str]:
    found = {kind: summary(entries[kind]).get("by_operation", {}) for kind in KINDS}
    names = sorted({name for by_operation in found.values() for name in by_operation})
    return [f"| {name} | " + " | ".join(found[kind].get(name, "—") for kind in KINDS) + " |" for name in names]


def _missed(entry: dict[str, Any]) -> str:
    keys = ", ".join(f"{key} = {value}" for key, value in entry["true"].items())
    found = f"{entry['found']}, which misses {entry['missed']}"
    return f"- {entry['unit']}, {entry['verdict']}: {entry['operation']} with {keys}; found {found}"


def main(argv: list[str]) -> None:
    """Write the page."""
    source, output = map(Path, argv)
    write_atomically(output, page(json.loads(source.read_text(encoding="utf-8"))).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
