"""The page of the campaign: how many mutations each witness noticed, and what is not noticed, and why."""

from collections.abc import Mapping
from typing import Any

from mmau.report import markdown
from studies.golden_mutants.boundary_rows import boundary_units
from studies.golden_mutants.judge import WITNESSES
from studies.golden_mutants.unnoticed import REASONS, reason_of

Results = Mapping[str, Mapping[str, Any]]
"""Module to the result of its task."""


def page(results: Results) -> str:
    """The text of the page, in Markdown."""
    judged = {module: result["mutations"] for module, result in results.items() if result["mutations"]}
    rows = [_row(module.removeprefix("golden."), mutations) for module, mutations in judged.items()]
    every = {name: found for result in results.values() for name, found in result["mutations"].items()}
    return markdown.document(
        "What notices a change of golden",
        introduction(),
        markdown.table(HEADER, [*rows, _row("all", every)], numbers=range(1, len(HEADER))),
        "## What is not noticed, and why",
        *_reasons(every),
        "## What no row enters",
        "These functions compute no step: they check keys, describe formats and units, or serve chains.",
        ", ".join(f"`{module.removeprefix('golden.')}.{place}`" for module, result in results.items()
                  for place in result["not entered"]) + ".",
    )  # fmt: skip


HEADER = ("module of golden", "mutations", *WITNESSES, "not noticed by all")


def introduction() -> str:
    """The paragraphs on how the run was made."""
    units = boundary_units()
    rows = sum(len(unit.rows) for unit in units)
    return f"""\
`make golden-mutants` writes this page. \
It changes golden's reference in one place at a time: a comparison, a constant, an operator, a
branch, a part of a condition, the default of a key. Each change is held to the {rows:,} boundary rows of {len(units)}
operations (`studies/golden_mutants/boundary_rows.json`), and these should notice it: the recorded results, the second
implementation on fractions (twin), the native engine, and the specification that proofs are made against, built while golden
is changed. What the specification imports from golden changes there too; such constants are held to literals
(`studies/golden_mutants/literals.py`), and where these notice a change, the specification is not asked. A mutant that cannot
be loaded, raises an error or does not end is noticed by all."""


def _row(module: str, mutations: Mapping[str, Any]) -> list[str]:
    counts = [sum(witness in found["noticed"] for found in mutations.values()) for witness in WITNESSES]
    return [
        module,
        *(f"{n:,}" for n in (len(mutations), *counts, sum(bool(found["missing"]) for found in mutations.values()))),
    ]


def _reasons(every: Mapping[str, Any]) -> list[str]:
    """A paragraph and a list for each reason."""
    parts = []
    for reason in REASONS:
        names = [name for name, found in every.items() if found["missing"] and reason_of(name, found["missing"]) is reason]
        parts += [f"**{reason.text}** ({len(names)})", markdown.bullets(names)]
    return parts
