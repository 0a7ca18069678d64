"""The page of the proofs, made from the outcome alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from mmau.formal.verdicts import OPEN, PROVED, REFUTED, step_of
from mmau.report import markdown
from studies.proofs.opinions import sections


def document(
    outcome: Mapping[str, Any], second: Mapping[str, Any] | None = None, refuted: Mapping[str, Any] | None = None
) -> str:
    """The page that is committed.

    Args:
        outcome: of `make formal`. second: of `make formal-second`, if there is any. refuted: of `make formal-refutations`.
    """
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
        *([] if second is None else sections(second, outcome["subjects"])),
        *([] if refuted is None else _refutations(refuted)),
        "## Designs",
        "Obligations that are proved, of all; one that several designs share is counted in each of them.",
        _designs(outcome["subjects"]),
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


def _refutations(refuted: Mapping[str, Any]) -> list[str]:
    """The part of the page about refutations that were checked, by step."""
    steps: dict[str, list[Any]] = {}
    for _, name, lemmas, _ in refuted["questions"]:
        counts = steps.setdefault(step_of(name), [0, 0, 0])
        counts[0] += 1
        counts[1] += lemmas is not None
        counts[2] += lemmas or 0
    asked, found, _ = map(sum, zip(*steps.values(), strict=True))
    rows = [(step, *(f"{count:,}" for count in counts)) for step, counts in sorted(steps.items())]
    return [
        "## Refutations checked here",
        f"Written by `make formal-refutations` ({refuted['date']}; {refuted['solver']}, {refuted['seconds']:g} s for each "
        f"attempt): of {asked:,} distinct questions that were tried {found:,} are refuted by lemmas that this "
        "project's own checker accepts, about clauses that it makes of the question's text; for these no solver need be "
        "believed.",
        markdown.table(("step", "questions", "refuted", "lemmas"), rows, numbers=range(1, 4)),
    ]


def _designs(targets: Sequence[Mapping[str, Any]]) -> str:
    header = ("design", "operation", "built", "verdict", "obligations", "assumed", "not proved")
    return markdown.table(header, map(_row, targets))


def _row(target: Mapping[str, Any]) -> Sequence[str]:
    proved = sum(counts[0] for counts in target["steps"].values())
    missing = target["problem"] or "; ".join(target["not_proved"][:4]) + (" …" if len(target["not_proved"]) > 4 else "")
    how = target["built"] if target["kind"] == "datapath" else f"{target['kind']}, {target['built']}"
    obligations = f"{proved} of {target['obligations']}"
    return (
        target["name"], target["operation"], how, target["verdict"], obligations, "; ".join(target["assumed"]), missing,
    )  # fmt: skip
