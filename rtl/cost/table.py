"""The cost of every distinct datapath of the catalogue, in every encoding (`python -m rtl.cost.table docs --jobs J`).

Measuring all of them takes most of an hour. Every figure is kept as soon as it is known, so a run may be interrupted at any
time, and the next one goes on where it stopped; only what has another circuit or tool by then is measured again.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from rtl.cost.designs import Row, rows
from rtl.cost.flow import FLAT, JOINED, measure, measure_joined, tool_version
from rtl.cost.page import Records, page
from rtl.tools import MissingTool
from rtl.verilog.emit import YosysError

MOST_MINUTES = 10_000
"""A week."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not yet known, for a number of minutes, and write `area.json` and `area.md`."""
    parser = argparse.ArgumentParser(prog="area", description="The cost of the catalogue's distinct datapaths.")
    parser.add_argument("folder", type=Path, help="where area.json and area.md are")
    parser.add_argument("--minutes", type=float, help="start no measurement after these")
    parser.add_argument("--jobs", type=int, default=1, help="measurements at a time")
    options = parser.parse_args(arguments)
    try:
        if options.jobs < 1 or not 0 <= (options.minutes or 0) <= MOST_MINUTES:
            raise ValueError(
                f"--jobs must be at least 1 and --minutes from 0 to {MOST_MINUTES}, got {options.jobs} and {options.minutes}"
            )
        if not options.folder.is_dir():
            raise ValueError(f"there must be a folder {options.folder}, and there is none")
        run(options.folder, rows(), options.minutes, options.jobs)
    except (MissingTool, YosysError, OSError, ValueError) as error:
        print(f"area: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("area: interrupted; what was measured is kept, run it again to go on", file=sys.stderr)
        return 2
    return 0


def run(folder: Path, all_rows: Sequence[Row], minutes: float | None, jobs: int) -> None:
    """Bring both files up to date, as far as the time allows; what is kept of other designs is dropped."""
    tool, keys = tool_version(), {row.key for row in all_rows}
    records: Records = {key: record for key, record in read(folder / "area.json").items() if key in keys}
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(up_to_date, row, records.get(row.key), tool): row for row in all_rows}
        try:
            for done, future in enumerate(ended(futures, minutes), 1):
                (record, seconds), row = future.result(), futures[future]
                if record != records.get(row.key):
                    records[row.key] = record
                    keep(records, folder)
                    figures = f"{row.key}: {record['cells']} cells, {seconds:.0f} s"
                    print(f"{done}/{len(all_rows)} {figures}", file=sys.stderr, flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    keep(records, folder)


def keep(records: Records, folder: Path) -> None:
    """Write both files."""
    write_atomically(folder / "area.json", (json.dumps(records, indent=1, sort_keys=True) + "\n").encode())
    write_atomically(folder / "area.md", page(records).encode())


def read(kept: Path) -> Records:
    """What an earlier run kept; nothing where there is no such file.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(record, dict) for record in found.values()):
        raise ValueError(f"{kept} is not what make area wrote; remove it to measure all again")
    return found


def up_to_date(row: Row, record: dict[str, Any] | None, tool: str) -> tuple[dict[str, Any], float]:
    """The row's record, measured where the one that is kept belongs to another circuit or tool, and the seconds taken."""
    started, text = time.monotonic(), row.verilog()
    belongs = {"circuit": digest(text), "flow": digest(JOINED if row.joined else FLAT), "tool": tool}
    if record is None or not belongs.items() <= record.items():
        record = belongs | asdict(measure_joined(text, "unit") if row.joined else measure(text, "unit"))
    return record, time.monotonic() - started


def digest(text: str) -> str:
    """Tells texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ended(futures: Collection[Future[Any]], minutes: float | None) -> Iterator[Future[Any]]:
    """The futures as they end; when the minutes are over, only those that already run."""
    waiting = set(futures)
    try:
        for future in as_completed(futures, None if minutes is None else 60 * minutes):
            waiting.remove(future)
            yield future
    except TimeoutError:
        yield from [future for future in waiting if not future.cancel()]


if __name__ == "__main__":
    sys.exit(main())
