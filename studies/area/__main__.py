"""The cost of every distinct datapath of the catalogue, in every encoding (`python -m studies.area docs STORE --jobs J`).

Measuring all of them takes most of an hour. Every figure is recorded in the folder STORE as soon as it is measured (`jobs`),
so that a run can be interrupted at any time, and the next one resumes. A design with the same circuit, flow and tool as a
recorded figure, in STORE or in the table, is not measured again.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.jobs import Engine, Processes, Store, Task, program
from mmau.jobs import run as run_tasks
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from rtl.cost.flow import FLAT, JOINED, measure, measure_joined, tool_version
from rtl.tools import MissingTool
from studies.area.area_page import Records, page
from studies.area.designs import Row, row_from_table, rows

SOURCES = (*GOLDEN, "rtl/**/*.py")
"""The sources that decide a circuit."""

MOST_MINUTES = 10_000
"""Largest number of minutes of a run: a week."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not yet known, for a number of minutes, and write `area.json` and `area.md`."""
    parser = argparse.ArgumentParser(prog="area", description="The cost of the catalogue's distinct datapaths.")
    parser.add_argument("folder", type=Path, help="where area.json and area.md are")
    parser.add_argument("store", type=Path, help="the folder of recorded figures")
    parser.add_argument("--minutes", type=float, help="start no measurement after these")
    parser.add_argument("--jobs", type=int, default=1, help="measurements at a time")
    options = parser.parse_args(arguments)
    return program("area", lambda: run_checked(options.folder, options.store, options.minutes, options.jobs), (MissingTool,))


def run_checked(folder: Path, store: Path, minutes: float | None, jobs: int) -> int:
    """Check the options, then call `run` for all rows."""
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    if minutes is not None and not 0 <= minutes <= MOST_MINUTES:
        raise ValueError(f"--minutes must be a number from 0 to {MOST_MINUTES}, a week, got {minutes}")
    if not folder.is_dir():
        raise ValueError(f"the folder {folder} does not exist: create it, or name another")
    return run(folder, store, rows(), minutes, Processes(jobs))


def run(folder: Path, store_folder: Path, all_rows: Sequence[Row], minutes: float | None, engine: Engine) -> int:
    """Bring `area.json` and `area.md` up to date as far as the time allows; figures of designs that have left are
    dropped.

    Returns:
        Exit status: 1 if a design could not be measured.
    """
    tool, recorded, started = tool_version(), read(folder / "area.json"), time.monotonic()
    known = {row.key: recorded[row.key] for row in all_rows if row.key in recorded}
    with Store(store_folder, "area") as store:
        written = run_tasks(circuit_tasks(all_rows), write, store, engine=engine, retry=True, unit="circuits")
        circuits = {record.task.name: record.result for record in written if record.done}
        measurable = [row for row in all_rows if row.key in circuits]
        tasks = [task for row in measurable if (task := cost_task(row, circuits[row.key], tool, known.get(row.key)))]
        remaining = None if minutes is None else max(0.0, 60 * minutes - (time.monotonic() - started))
        measured = run_tasks(tasks, cost, store, engine=engine, start_within=remaining, retry=True, unit="measurements")
    for record in measured:
        if record.done:
            known[record.task.name] = record.result
    keep(known, folder)
    return int(not all(record.done for record in [*written, *measured]))


def circuit_tasks(all_rows: Sequence[Row]) -> list[Task]:
    """Tasks to find out which circuits the rows are."""
    depends = {"sources": digest_of_sources(SOURCES)}
    return [Task(row.key, {"circuit of": row.as_table()}, depends) for row in all_rows]


def write(content: dict[str, Any], folder: Path) -> str:
    """The work of one: the digest of the row's Verilog."""
    return digest(row_from_table(content["circuit of"]).verilog())


def cost_task(row: Row, circuit: str, tool: str, record: dict[str, Any] | None) -> Task | None:
    """The task that measures a row; None where its record has the same circuit, flow and tool."""
    belongs = {"circuit": circuit, "flow": digest(JOINED if row.joined else FLAT), "tool": tool}
    if record is not None and belongs.items() <= record.items():
        return None
    return Task(row.key, {"cost of": row.as_table()}, belongs)


def cost(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one: the row's record."""
    row = row_from_table(content["cost of"])
    text = row.verilog()
    belongs = {"circuit": digest(text), "flow": digest(JOINED if row.joined else FLAT), "tool": tool_version()}
    return belongs | asdict(measure_joined(text, "unit") if row.joined else measure(text, "unit"))


def keep(records: Records, folder: Path) -> None:
    """Write `area.json` and `area.md`."""
    write_atomically(folder / "area.json", (json.dumps(records, indent=1, sort_keys=True) + "\n").encode())
    write_atomically(folder / "area.md", page(records).encode())


def read(path: Path) -> Records:
    """The rows of an earlier run; none if there is no such file.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(record, dict) for record in found.values()):
        raise ValueError(f"{path} must hold the records that make area writes; remove it to measure all again")
    return found


def digest(text: str) -> str:
    """A short digest of a text, by which texts are distinguished."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
