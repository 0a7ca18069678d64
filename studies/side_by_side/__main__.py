"""Published designs beside ours (`python -m studies.side_by_side docs/evidence/side-by-side.json STORE DESIGNS`).

Every row is recorded in the folder STORE as soon as it is measured, so that a run may be interrupted. DESIGNS is the folder
of `studies.side_by_side.sources`.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cosim import ElaborationError
from golden.checks import listed as names
from golden.files import write_atomically
from golden.unit_file import unit_to_toml
from mmau.jobs import Processes, Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from rtl.cost.cost_columns import tool_versions
from rtl.tools import MissingTool
from studies.side_by_side.listing import Listing, listing
from studies.side_by_side.measured import row
from studies.side_by_side.side_page import page
from studies.side_by_side.sources import described

_FOLDERS = re.compile(r"(?<![^\s:])/?(?:[^\s:/]+/)+(?=[^\s:/]+\.\w+)")
"""The folders before the name of a file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows that are not recorded yet, and write the outcome and the page."""
    parser = argparse.ArgumentParser(prog="side-by-side", description="Published designs beside ours.")
    parser.add_argument("outcome", type=Path, help="the .json file; the page is the .md file beside it")
    parser.add_argument("store", type=Path, help="the folder of recorded rows")
    parser.add_argument("designs", type=Path, help="the folder of the published designs' descriptions")
    parser.add_argument("--minutes", type=float, help="start no row after these")
    options = parser.parse_args(arguments)

    def work() -> int:
        return run_all(options.outcome, options.store, options.designs, listing(), options.minutes)

    return program("side-by-side", work, (MissingTool, ElaborationError))


def run_all(outcome: Path, store_folder: Path, designs: Path, listed: Listing, minutes: float | None = None) -> int:
    """Measure the rows that can be, and write the page of them.

    Returns:
        Exit status: 1 where a row failed, and then nothing is written.

    Raises:
        ValueError: the last page has rows that this one would not have, or a description is refused.
    """
    tools, tasks, own = tool_versions(), list[Task](), dict[str, tuple[str, ...]]()
    depends = _depends(tools)
    for group in listed.groups:
        for published in group.published:
            found = described(published, group.unit, designs)
            if found is not None:
                own[published.key] = found.own
                content = {"unit": unit_to_toml(group.unit), "dut": str(found.path.resolve())}
                tasks.append(Task(published.key, content, {**depends, "files": found.digest}))
        tasks += [Task(group.row_of(build), {"unit": unit_to_toml(unit)}, depends) for build, unit in group.builds.items()]
    _check_rows(outcome, {task.name for task in tasks}, designs)
    within = None if minutes is None else 60 * minutes
    with Store(store_folder, "side-by-side") as store:
        records = run(tasks, row, store, engine=Processes(1), retry=True, start_within=within, unit="designs")
    if not all(record.done for record in records):
        return 1
    rows = {record.task.name: kept(record.result, own.get(record.task.name, ())) for record in records}
    _check_rows(outcome, set(rows), designs)
    found_all = {"tools": tools, "rows": rows}
    write_atomically(outcome, (json.dumps(found_all, indent=1, sort_keys=True) + "\n").encode())
    write_atomically(outcome.with_suffix(".md"), page(listed, rows, tools).encode())
    return 0


def kept(result: Mapping[str, Any], own: Sequence[str]) -> dict[str, Any]:
    """A row as the outcome has it: reasons without the folders of one machine, and the first of many complaints alone."""
    reason = _FOLDERS.sub("", " ".join(line.strip() for line in str(result["reason"]).splitlines()[:2]))
    return {**result, "reason": reason, "own": list(own)}


def _depends(tools: dict[str, str]) -> dict[str, Any]:
    patterns = (*GOLDEN, "rtl/**/*.py", "cosim/**/*.py", "mmau/formal/**/*.py", "studies/side_by_side/measured.py")
    return {"tools": tools, "sources": digest_of_sources(patterns)}


def _check_rows(outcome: Path, wanted: set[str], designs: Path) -> None:
    """Raise ValueError where the page would lose a row without a word."""
    before = set(json.loads(outcome.read_text(encoding="utf-8"))["rows"]) if outcome.exists() else set()
    lost = sorted(before - wanted)
    if lost:
        raise ValueError(
            f"{outcome} has rows that this run would not have: {names(lost)}; describe them in {designs} as KEY/dut.toml, "
            f"give the run more time, or remove {outcome.name} to write a page without them"
        )


if __name__ == "__main__":
    sys.exit(main())
