"""Prove that the specification of each operation is golden's own step, executed on symbolic integers.

    python -m studies.specification_proofs TABLE.md STORE [--seconds 25]

The folder STORE records finished operations (`mmau.jobs`), so that an interrupted run of the same sources resumes. The exit
status is 1 if a specification is refuted.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bitwuzla import Term

from golden import OPERATIONS, Operation
from golden.files import write_atomically
from golden.stimulus import OperandShape, generate
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import digest_of_sources
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.deciding import Comparison
from mmau.prove.user_design.operand_cases import CaseParts, cases_of
from mmau.prove.user_design.row_evaluation import Column
from mmau.report import markdown
from studies.golden_mutants.boundary_rows import UNITS, operation_of
from studies.symbolic.model_copy import Change, Modules, unchanged
from studies.symbolic.model_term import model_term, symbolic_golden

ROWS = 600
"""Number of rows of operands that show which values may be equal."""

SEED = 1

QUESTION = 5.0
"""Seconds of this process for the proof of one guess."""


@dataclass(frozen=True)
class Agreement:
    """Whether the specification of an operation is golden's step.

    Attributes:
        verdict: `PROVED`, `REFUTED` or `OPEN`. decided: the cases that are proved. reason: why it is open.
        inputs: packed operands on which the two differ, or golden raises an error, if refuted.
    """

    verdict: str
    decided: tuple[str, ...] = ()
    reason: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)


def agreement(operation: Operation, seconds: float, change: Change = unchanged) -> Agreement:
    """Prove that golden's step raises no error and gives the specification's d, for all operands, or find operands.

    Args:
        seconds: seconds of this process for all questions; the last one may take some seconds longer.
        change: change of golden's source; none by default.
    """
    with deep_stack() as manager:  # no term may outlive its manager
        limits = Limits(time.process_time() + seconds, QUESTION, time.process_time)
        return _agreement(Terms(manager), operation, limits, symbolic_golden(change))


def _agreement(terms: Terms, operation: Operation, limits: Limits, modules: Modules) -> Agreement:
    ports, parts = free_ports(terms, operation), CaseParts()
    d, error = model_term(terms, operation, ports, modules)
    variables = [bits.term for bits in ports.values()]
    raises = ask(terms.manager, [terms.is_nonzero(error.bits)], limits, variables)
    if raises.verdict == "sometimes":
        return Agreement(REFUTED, inputs=dict(zip(ports, raises.values, strict=True)))
    specified = SPECIFICATIONS[type(operation)](terms, operation, ports, parts)
    rows = _rows(operation, ports)
    decision = Comparison(terms, d, specified, terms.differs, cases_of(terms, parts), rows).decision(limits)
    if decision.verdict == "sometimes":
        return Agreement(REFUTED, inputs={port: decision.values.get(bits.term, 0) for port, bits in ports.items()})
    if decision.verdict == "never" and raises.verdict == "never":
        return Agreement(PROVED, decision.decided)
    return Agreement(OPEN, decision.decided, "; ".join(decision.open) or "whether golden raises an error")


def free_ports(terms: Terms, operation: Operation) -> Mapping[str, Bits]:
    """A variable for each of the packed operands."""
    widths = {"a": operation.length * operation.a.width, "b": operation.length * operation.b.width, "c": operation.c.width}
    if operation.scale_format is not None:
        width = operation.scales_per_step * operation.scale_format.width
        widths |= {"scale_a": width, "scale_b": width}
    return {name: terms.free(name, width) for name, width in widths.items()}


def _rows(operation: Operation, ports: Mapping[str, Bits]) -> dict[Term, Column]:
    """Packed operands from the stimulus of co-simulation."""
    a, b, c, *scales = generate(OperandShape.of_operation(operation), ROWS, SEED).operands
    formats = (operation.a, operation.b, operation.c, operation.scale_format, operation.scale_format)
    found = {}
    for (_, bits), codes, fmt in zip(ports.items(), (a, b, c, *scales), formats, strict=False):
        assert codes is not None
        assert fmt is not None
        column = np.empty(len(codes), dtype=object)
        column[:] = [
            sum(code << (k * fmt.width) for k, code in enumerate(row)) for row in codes.reshape(len(codes), -1).tolist()
        ]
        found[bits.term] = column
    return found


SOURCES = (
    "golden/*.py", "golden/arithmetic/*.py", "golden/chains/*.py", "golden/operations/*.py", "golden/stimulus/**/*.py",
    "mmau/prove/specification/*.py",
    "studies/symbolic/*.py", "mmau/prove/user_design/*.py", "mmau/prove/netlist/terms.py",
)  # fmt: skip
"""The sources that decide a verdict, besides the solver."""

FULL_SIZE: tuple[Mapping[str, Any], ...] = (
    {"operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 16, "F": 25, "rho": "RZ-FP32", "e_zero": -133},
    {"operation": "T-FDPA", "a": "e4m3", "b": "e4m3", "c": "fp32", "L": 32, "F": 13, "rho": "RZ-E8M13", "e_zero": -133},
    {"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 8, "F": 24, "F2": 31},
)  # fmt: skip
"""Operations of published instructions, at the size that they have there."""


def proved(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one task: the verdict on one operation."""
    return asdict(agreement(operation_of(OPERATIONS, content["keys"]), content["seconds"]))


def prove_all(written: Path, store_folder: Path, seconds: float) -> int:
    """Prove what is not in the store yet, and write the table.

    Returns:
        Exit status: 1 where one is refuted or failed.
    """
    depends = {"sources": digest_of_sources(SOURCES)}
    tasks = [Task(name_of(keys), {"keys": dict(keys), "seconds": seconds}, depends) for keys in (*UNITS, *FULL_SIZE)]
    with Store(store_folder, "proofs of specifications") as store:
        records = run(tasks, proved, store, workers=1, retry=True, unit="operations")
    failed = [f"{record.task.name}: {record.message}" for record in records if not record.done]
    results = {record.task.name: record.result for record in records if record.done}
    refuted = [f"{name}: refuted by {found['inputs']}" for name, found in results.items() if found["verdict"] == REFUTED]
    for line in failed + refuted:
        print(line)
    if not failed:
        write_atomically(written, page(results).encode())
    return int(bool(failed or refuted))


def name_of(keys: Mapping[str, Any]) -> str:
    """The name of an operation in the table."""
    return " ".join(str(value) if key == "operation" else f"{key}={value}" for key, value in keys.items())


def page(results: Mapping[str, Any]) -> str:
    """The text of the page, in Markdown, without times: another run with the same verdicts gives the same text."""
    count = {verdict: sum(found["verdict"] == verdict for found in results.values()) for verdict in (PROVED, REFUTED, OPEN)}
    rows = [(name, found["verdict"], found["reason"].partition(":")[0]) for name, found in results.items()]
    return markdown.document(
        "The specification is golden",
        f"""\
`make formal-golden` writes this page. \
Golden's step, its own Python, is executed on symbolic integers, which gives a term of the
operands; a solver shows that this term is the specification that datapaths are proved against, for all operands, and that
golden raises no error ([formal.md](../guides/formal.md#the-specification-is-golden)). Of {len(results)} operations
{count[PROVED]} are proved, {count[REFUTED]} refuted, {count[OPEN]} open.""",
        markdown.table(("operation", "verdict", "case that is open"), rows),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove every operation."""
    parser = argparse.ArgumentParser(prog="specification_proofs", description="Prove that specifications are golden's step.")
    parser.add_argument("table", type=Path, help="the file to write")
    parser.add_argument("store", type=Path, help="the folder of finished tasks")
    parser.add_argument("--seconds", type=float, default=25.0, help="of the CPU for one operation (default: %(default)g)")
    options = parser.parse_args(arguments)
    return program("specification_proofs", lambda: prove_all(options.table, options.store, options.seconds))


if __name__ == "__main__":
    sys.exit(main())
