"""The page of what is proved, made of the outcome alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from formal.outcome import OPEN, PROVED, REFUTED


def document(outcome: Mapping[str, Any]) -> str:
    """The page that is committed."""
    subjects, questions = outcome["subjects"], outcome["questions"]
    versions = ", ".join(f"{name} {number}" for name, number in outcome["versions"].items())
    lines = [
        "# What is proved",
        "",
        "Written by `make formal`; what is claimed and what is trusted stands in [formal.md](formal.md).",
        "",
        f"{outcome['date']}; {versions}; at most {outcome['seconds']:g} s for a question and solver.",
        "",
        "## Operations",
        "",
        *_totals(subjects),
        "",
        "## Steps",
        "",
        "Distinct questions; seconds of the solver's process.",
        "",
        "| step | solver | asked | proved | refuted | seconds | longest |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in questions:
        lines.append(
            f"| {row['step']} | {row['solver']} | {row['asked']:,} | {row['proved']:,} | {row['refuted']:,} "
            f"| {row['seconds']:.1f} | {row['longest']:.1f} |"
        )
    lines += [
        "",
        "## Designs",
        "",
        "Obligations that are proved, of all; one that several designs share is counted in each of them.",
        "",
        "| design | operation | built | verdict | obligations | assumed | not proved |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *map(_row, subjects),
    ]
    return "\n".join(lines) + "\n"


def _totals(subjects: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| operation | kind | designs | proved | refuted | open |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for operation, kind in dict.fromkeys((subject["operation"], subject["kind"]) for subject in subjects):
        mine = [each["verdict"] for each in subjects if (each["operation"], each["kind"]) == (operation, kind)]
        counts = [mine.count(verdict) for verdict in (PROVED, REFUTED, OPEN)]
        lines.append(f"| {operation} | {kind} | {len(mine)} | {' | '.join(map(str, counts))} |")
    return lines


def _row(subject: Mapping[str, Any]) -> str:
    proved = sum(counts[0] for counts in subject["steps"].values())
    missing = subject["problem"] or "; ".join(subject["not_proved"][:4]) + (" …" if len(subject["not_proved"]) > 4 else "")
    how = subject["built"] if subject["kind"] == "datapath" else f"{subject['kind']}, {subject['built']}"
    return (
        f"| {subject['name']} | {subject['operation']} | {how} | {subject['verdict']} "
        f"| {proved} of {subject['obligations']} | {'; '.join(subject['assumed'])} | {missing} |"
    )
