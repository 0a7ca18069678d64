"""Writes the pages of the proofs from the outcome alone: a committed page of what is proved, and the site's page of each
design."""

from collections.abc import Mapping, Sequence
from typing import Any

from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.report import markdown


def document(outcome: Mapping[str, Any]) -> str:
    """The text of the committed page."""
    versions = ", ".join(f"{name} {number}" for name, number in outcome["versions"].items())
    return markdown.document(
        "What is proved",
        "Written by `make formal`; what is claimed and what is trusted stands in [formal.md](../guides/formal.md).",
        f"{outcome['date']}; {versions}; at most {outcome['seconds']:g} s for a question and solver.",
        *_added(outcome.get("added", ())),
        "## Operations",
        _totals(outcome["subjects"]),
        "## Steps",
        "Distinct questions; seconds of the solver's process.",
        _steps(outcome["questions"]),
        *_second([row for row in outcome["subjects"] if "second" in row]),
        "## Designs",
        "`make docs` writes a page with a row for each design, from `mmau/prove/proofs.json`. Not proved are:",
        markdown.bullets(" ".join(_row(target)) for target in outcome["subjects"] if target["verdict"] != PROVED),
    )


def designs_document(outcome: Mapping[str, Any]) -> str:
    """The page of the site that has a row for each design."""
    header = ("design", "operation", "built", "verdict", "obligations", "assumed", "not proved")
    return markdown.document(
        "Designs that are proved",
        "Obligations that are proved, of all; one that several designs share is counted in each of them. [What is "
        "proved](proofs.md) counts them.",
        markdown.table(header, map(_row, outcome["subjects"])),
    )


def _added(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence about the designs that `make formal-missing` added, if there are any."""
    said = ", ".join(f"{run['designs']} on {run['date']}" for run in runs)
    counted = "their questions count as others, also where another design has the same"
    return [f"Designs added by `make formal-missing`: {said}; {counted}."] if said else []


def _totals(targets: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for operation, kind in dict.fromkeys((target["operation"], target["kind"]) for target in targets):
        mine = [each["verdict"] for each in targets if (each["operation"], each["kind"]) == (operation, kind)]
        rows.append([operation, kind, str(len(mine)), *(str(mine.count(verdict)) for verdict in (PROVED, REFUTED, OPEN))])
    return markdown.table(("operation", "kind", "designs", "proved", "refuted", "open"), rows, numbers=range(2, 6))


def _steps(questions: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            row["step"], row["solver"], f"{row['asked']:,}", f"{row['proved']:,}", f"{row['refuted']:,}",
            f"{row['seconds']:.1f}", f"{row['longest']:.1f}",
        )
        for row in questions
    ]  # fmt: skip
    header = ("step", "solver", "asked", "proved", "refuted", "seconds", "longest")
    return markdown.table(header, rows, numbers=range(2, 7))


def _second(targets: Sequence[Mapping[str, Any]]) -> list[str]:
    """The part of the page about second opinions, if there are any."""
    if not targets:
        return []
    asked, confirmed, contradicted = (
        sum(row["second"][key] for row in targets) for key in ("asked", "confirmed", "contradicted")
    )
    rows = [
        (row["name"], _built(row), f"{row['second']['confirmed']} of {row['second']['asked']}",
         str(row["second"]["contradicted"]), ", ".join(row["second"]["solvers"]), row["second"]["date"])
        for row in targets
    ]  # fmt: skip
    return [
        "## Second opinions",
        "Written by `make formal-second`: each question of a design put to another solver than the one that decided it. Of "
        f"{asked:,} questions {confirmed:,} are confirmed and {contradicted} contradicted; the others are left open.",
        markdown.table(("design", "built", "confirmed", "contradicted", "by one of", "date"), rows, numbers=[3]),
    ]


def _built(target: Mapping[str, Any]) -> str:
    return str(target["built"]) if target["kind"] == "datapath" else f"{target['kind']}, {target['built']}"


def _row(target: Mapping[str, Any]) -> Sequence[str]:
    proved = sum(counts[0] for counts in target["steps"].values())
    missing = target["problem"] or "; ".join(target["not_proved"][:4]) + (" …" if len(target["not_proved"]) > 4 else "")
    obligations = f"{proved} of {target['obligations']}"
    return (
        target["name"], target["operation"], _built(target), target["verdict"], obligations, "; ".join(target["assumed"]),
        missing,
    )  # fmt: skip
