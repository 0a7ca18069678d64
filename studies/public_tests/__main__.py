"""python -m studies.public_tests PAGE: audit the eight public tests and write the page."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.report.markdown import document, table
from mmau.testing.tolerance_audit import CAUGHT, RIGHT, Audit
from studies.public_tests.audited_tests import public_tests

KERNELS = (
    "zero output", "K tail missing", "F - 1", "promotion missing", "scales swapped", "operand b transposed",
    "fp16 accumulator", "one lane missing",
)  # fmt: skip


LEGEND = """\
`make public-tests` writes this page. It runs the tolerances of eight public tests on kernels that are wrong on
purpose (`mmau.testing.audit`). **P**: the test lets the wrong kernel pass. **=**: the wrong kernel gives the right bits
on the test's data, so that nothing could be seen. A dash: the kernel has no such part. In the column of the right
kernel, P is right."""

SOURCES = """\
The facts are transcribed from the links; what they do not state, or was not found, was assumed, as the last column
says. The projects' code was not run: shapes, distributions and tolerances are theirs, kernels and references are
this project's."""


def page(audits: list[tuple[Mapping[str, Any], Audit]]) -> str:
    """The page of the tests' facts and what each lets pass."""
    rows = [[facts["name"], *(_shown(found, kernel) for kernel in (RIGHT, *KERNELS))] for facts, found in audits]
    facts_rows = [
        [
            f"[{facts['name']}]({facts['link']})", "x".join(map(str, facts["shape"])), _distribution(facts),
            _tolerance(facts), "; ".join(facts["assumed"]) + (f" ({facts['note']})" if "note" in facts else ""),
        ]
        for facts, _ in audits
    ]  # fmt: skip
    return document(
        "What public tests of matrix products let pass",
        LEGEND,
        table(["test", "right kernel", *KERNELS], rows),
        SOURCES,
        table(["test", "M x N x K", "operands", "tolerance", "assumed"], facts_rows),
    )


def _shown(found: Audit, kernel: str) -> str:
    outcome = found.outcomes.get(kernel, "-")
    return "caught" if outcome == CAUGHT else outcome


def _distribution(facts: Mapping[str, Any]) -> str:
    scales = f", scales {facts['scales']}" if "scales" in facts else ""
    return f"{facts['factor']:g}·{facts['distribution']}, {facts['instruction'].split('.')[-1]}{scales}"


def _tolerance(facts: Mapping[str, Any]) -> str:
    if facts["rule"] == "calc_diff":
        return f"calc_diff < {facts['limit']:g}"
    return f"atol {facts['atol']:g}, rtol {facts['rtol']:g}"


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]), page([(test.facts, test.audited()) for test in public_tests()]).encode())
