"""`make formal-compare`: checks that the recorded proofs are valid: `python -m studies.proofs.compare OUTCOME.json
[--main-job] [--unit TEXT] [--jobs N]`.

The Verilog, the specification and the questions of each design are made again and compared with the record by their digests;
no solver is asked. Obligations stay in build/formal. If every recorded proof is valid, the code and the versions of the
comparison are written into the outcome: `mmau list` then shows it without reservation.
Exit status: 0 if all compared proofs are valid, else 1.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden.files import check_output, write_atomically
from mmau.jobs import Record, program
from mmau.jobs.provenance import sealed, unsealed
from mmau.prove.records import TEXTS, asked_by, made_of
from rtl.tools import MissingTool
from studies.proofs.__main__ import STORE, obligations
from studies.proofs.outcome import NOT_BEGUN, key_of
from studies.proofs.proved_designs import Target, add_options, chosen_targets


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, and print the reason for each invalid proof."""
    parser = argparse.ArgumentParser(
        prog="formal-compare", description="Compare the recorded proofs with the code of today."
    )
    parser.add_argument("outcome", type=Path, help="outcome of `make formal` (JSON)")
    add_options(parser)
    options = parser.parse_args(arguments)
    outcome = unsealed(options.outcome.read_bytes())
    chosen = chosen_targets(options)
    records = obligations(chosen, STORE, options.jobs)
    lines = compared(outcome["subjects"], chosen, records)
    if outcome["asked_by"] != asked_by():
        lines.append("the code that asks the solvers is not that of the record: run make formal")
    is_whole = not options.main_job and not options.unit
    if is_whole:
        lines += unknown(outcome["subjects"], chosen)
    for line in lines:
        print(line)
    print(f"{len(chosen)} designs compared with {options.outcome}; {len(lines)} differ")
    if lines or not is_whole:
        return int(bool(lines))
    check_output(options.outcome)
    write_atomically(options.outcome, sealed(outcome | {"made_of": dict(made_of())}).encode())
    return 0


def compared(rows: Sequence[Mapping[str, Any]], chosen: Sequence[Target], records: Sequence[Record | None]) -> list[str]:
    """A line for each target whose row is missing or has other texts than `records`."""
    recorded = {(row["kind"], row["design"]): row for row in rows}
    lines = []
    for target, record in zip(chosen, records, strict=True):
        row = recorded.get(key_of(target))
        problem = NOT_BEGUN if record is None else record.message
        if row is None:
            differs = "nothing is recorded of it"
        elif record is not None and record.done:
            others = [name for name in TEXTS if row.get(name) != record.result[name]]
            differs = f"proved for another text: {', '.join(others)}" if others else ""
        else:  # a target without obligations has no proof, neither in the record nor now
            differs = "" if row["problem"] == problem else problem
        if differs:
            lines.append(f"{target.kind} {target.design.name}, {target.design.implementation.encoding}: {differs}")
    return lines


def unknown(rows: Sequence[Mapping[str, Any]], chosen: Sequence[Target]) -> list[str]:
    """A line for each row without a target."""
    known = {key_of(target) for target in chosen}
    return [
        f"{row['kind']} {row['name']}: `make formal` no longer lists it"
        for row in rows
        if (row["kind"], row["design"]) not in known
    ]


if __name__ == "__main__":
    sys.exit(program("formal-compare", main, (MissingTool,)))
