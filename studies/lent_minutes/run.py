"""Runs the list once: its items one after another, each in its own process and for its share of the time."""

import sys
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hwtests.conform.process import DeadlinePassed, WorkerStopped, watched
from hwtests.device import DeviceError
from studies.lent_minutes.items import ITEMS, Item
from studies.lent_minutes.records import DONE, RUNNING, STOPPED, Records

WORKER = (sys.executable, "-m", "studies.lent_minutes.worker")

GRACE_SECONDS = 3.0
"""Seconds that a worker has to end by itself when its time is up; then it is killed."""

HANG_SECONDS = 30.0
"""Seconds without a message after which a worker counts as hanging, unless it announced a longer step."""

START_SECONDS = 120.0
"""Seconds that a worker's first message may take: a driver's first call on a fresh machine takes long."""

MOST_STOPS = 3
"""Number of workers in a row that hang or crash without a finished unit, after which an item ends for this call."""


def run_list(
    folder: Path, seconds: float, show: Callable[[str], None], retry: bool = False, worker: Sequence[str] = WORKER
) -> Records:
    """Continue the list for this many seconds, from the records of a folder.

    Args:
        retry: whether units that failed, hung or crashed are tried again.

    Raises:
        DeviceError: the list cannot run here. ValueError, OSError: as `Records`, or the seconds are too few.
    """
    if not seconds > GRACE_SECONDS:  # NaN is not either
        raise ValueError(f"--seconds must be more than {GRACE_SECONDS:g}, got {seconds:g}")
    ends = time.monotonic() + seconds - GRACE_SECONDS
    records = Records(folder)
    before = len(records.runs)
    for number, item in enumerate(ITEMS):
        if retry:
            open_again(records, item)
        later = [other for other in ITEMS[number + 1 :] if open_units(records, other) or retry]
        left = ends - time.monotonic()
        if not open_units(records, item) or left <= 0:
            continue
        share = item.share / (item.share + sum(other.share for other in later))
        try:
            _run_item(records, item, time.monotonic() + share * left, show, worker)
        except DeviceError as error:
            if len(records.runs) == before:  # no worker of this call has come as far as the device
                raise
            show(f"{item.name}: not run: {error}")
    return records


def open_units(records: Records, item: Item) -> list[str]:
    """The units of an item that are still to be dealt with."""
    return [unit for unit in item.units() if records.is_open(item.name, unit)]


def first_open(records: Records) -> Item | None:
    """The first item that has units without an outcome."""
    return next((item for item in ITEMS if open_units(records, item)), None)


def open_again(records: Records, item: Item) -> None:
    """Record that the units of an item that stopped are to be tried again."""
    for unit in item.units():
        entry = records.entry(item.name, unit)
        if entry["status"] in STOPPED:
            records.add(item=item.name, unit=unit, entry=entry | {"status": RUNNING, "detail": ""})


def _run_item(records: Records, item: Item, ends: float, show: Callable[[str], None], worker: Sequence[str]) -> None:
    """An item until its units are done or its time is up, whatever its workers do.

    Raises:
        DeviceError: no worker could begin.
    """
    stops = 0
    while open_units(records, item) and time.monotonic() < ends and stops < MOST_STOPS:
        before = len(open_units(records, item))
        stopped = _run_worker(records, item, ends, show, worker)
        if stopped is None:
            return
        show(f"{item.name}: {stopped}")
        stops = 1 if len(open_units(records, item)) < before - 1 else stops + 1


def _run_worker(records: Records, item: Item, ends: float, show: Callable[[str], None], worker: Sequence[str]) -> str | None:
    """One worker; returns where it hung or crashed, None where it ended well or the time was up."""
    units = {unit: records.entry(item.name, unit) for unit in open_units(records, item)}
    files = {name: b64encode(content).decode() for name, content in records.files.items()}
    request = {"item": item.name, "units": units, "files": files, "ends": ends}
    current = ""
    events = watched(worker, request, HANG_SECONDS, cold=START_SECONDS, deadline=ends + GRACE_SECONDS)
    with closing(events):
        try:
            for event in events:
                current = _enter(records, item, event, show) or current
        except DeadlinePassed:
            show(f"{item.name}: {current or 'the worker'}: still at work when its time was up, and cut off")
        except WorkerStopped as stopped:
            if not current:
                raise DeviceError(f"the worker {stopped.status} before its first unit: {stopped.reason}") from None
            entry = records.entry(item.name, current) | {"status": stopped.status, "detail": stopped.reason}
            records.add(item=item.name, unit=current, entry=entry)
            return f"{current}: {stopped.status}: {stopped.reason}"
    return None


def _enter(records: Records, item: Item, event: dict[str, Any], show: Callable[[str], None]) -> str:
    """Record an event; returns the unit that it is about, empty where it is about none.

    Raises:
        DeviceError: the worker reports an error, or the records are of another device.
    """
    kind = event.pop("event")
    if kind == "error":
        raise DeviceError(event["message"])
    if kind == "machine":
        if records.machine and records.machine != event["machine"]:
            raise DeviceError(
                f"the results are of another device or software, {records.machine}; this is {event['machine']}: name "
                "another folder"
            )
        if not records.runs:
            show(f"{event['machine']['device']}, driver {event['run'].get('driver', event['machine']['driver'])}")
    records.add(**{"item": item.name} if kind == "unit" else {}, **event)
    if kind != "unit":
        return ""
    if event["entry"]["status"] != RUNNING:
        show(f"{item.name}: {event['unit']}: {line_of(event['entry'])}")
    return str(event["unit"])


def line_of(entry: dict[str, Any]) -> str:
    """The findings of a unit in a line."""
    words = [entry["status"]]
    if "vectors" in entry:
        words.append(f"{sum(entry['vectors'].values()):,} compared, {wrong_results(entry):,} differ")
    elif "converted" in entry:
        words.append(f"{entry['converted']:,} converted, {wrong_results(entry):,} differ")
    if "products_per_second" in entry:
        words.append(f"{entry['products_per_second']:.3g} products a second")
        words.append(f"{entry['times_the_card']:.3g} times as long as the card's own product of fp32")
    words += [entry[key] for key in ("refused", "detail") if entry.get(key)]
    return ", ".join(words)


def wrong_results(entry: dict[str, Any]) -> int:
    """Results of a unit that differ from golden's."""
    return sum(sum(entry.get(key, {}).values()) for key in ("mismatches", "differ", "wrong"))


def is_bad(entry: dict[str, Any]) -> bool:
    """Whether a unit failed, or found something that differs."""
    layout = entry.get("layout", {})
    return bool(entry["status"] in STOPPED or wrong_results(entry) or entry.get("unexpected_code") or layout.get("detail"))


def summary(records: Records) -> str:
    """The progress of each item, and every unit with a fault."""
    lines = []
    for item in ITEMS:
        entries = records.units.get(item.name, {})
        lines += [f"{item.name}: {unit}: {line_of(entry)}" for unit, entry in entries.items() if is_bad(entry)]
        done = sum(entry["status"] == DONE for entry in entries.values())
        lines.append(f"{item.name}: {done:,} of {len(item.units()):,} done")
    return "\n".join(lines)
