"""A campaign: instructions checked one after another by a worker process, its report written to disk after every step.

A later run resumes from the report: run the same command again after an interruption, a time-out or a kernel that hung.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from hwtests.conform.campaign_worker import Job, is_open
from hwtests.conform.instruction_progress import Progress
from hwtests.conform.process import WorkerStopped, watched
from hwtests.device import DeviceError

REPORT_VERSION = 2

WORKER = (sys.executable, "-m", "hwtests.conform.campaign_worker")
"""The command of the worker on this machine's GPU."""

PROCESSOR_WORKER = (sys.executable, "-m", "hwtests.cpu.processor_worker")
"""The same on this machine's processor; the architecture follows."""

PROGRAM_WORKER = (sys.executable, "-m", "hwtests.program_device")
"""The same on a program; the architecture, the command, the form of its rows and the patience with it follow."""

HANG_SECONDS = 120.0
"""A worker that says nothing for so long hangs, unless it announced a longer step; a step takes seconds."""


@dataclass
class Report:
    """The state of a campaign: the device, the request, and the progress of every instruction.

    Attributes:
        device: description of the device and the model's engine, as the worker gave it; empty before the first event.
        runs: for every worker that was started what tells its machine and sources (`hwtests.source_digest`).
        seed, vectors: of the request. instructions: progress by name, in the catalogue's order.
    """

    seed: int
    vectors: int
    device: dict[str, str]
    instructions: dict[str, Progress]
    runs: list[dict[str, str]] = field(default_factory=list)

    def complete(self) -> bool:
        """Whether every instruction has been dealt with."""
        return bool(self.instructions) and not any(is_open(p, self.vectors) for p in self.instructions.values())

    def agreed(self) -> bool:
        """Whether nothing differed, failed, depended on its place, hung or crashed, and kernels hold what they must."""
        return all(
            p.status in ("running", "done", "absent") and not p.wrong() and not p.unexpected_code
            for p in self.instructions.values()
        )

    def to_json(self) -> dict[str, Any]:
        """The report as it is written."""
        return {
            "version": REPORT_VERSION,
            "seed": self.seed,
            "vectors": self.vectors,
            "device": self.device,
            "runs": self.runs,
            "complete": self.complete(),
            "agreed": self.agreed(),
            "instructions": {name: asdict(progress) for name, progress in self.instructions.items()},
        }


def load_report(path: Path, seed: int, vectors: int) -> Report:
    """The report to resume from; a new one if the file does not exist.

    Raises:
        ValueError: not a report, or one of another seed. OSError: it cannot be read.
    """
    if not path.exists():
        return Report(seed, vectors, {}, {})
    try:
        text = json.loads(path.read_text(encoding="utf-8"))
        version, found_seed = text["version"], text["seed"]
        instructions = {str(name): Progress(**progress) for name, progress in text["instructions"].items()}
        device = {str(key): str(value) for key, value in text["device"].items()}
        runs = [{str(key): str(value) for key, value in run.items()} for run in text["runs"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no conformance report: {error}; name another file or remove it") from error
    if version != REPORT_VERSION or found_seed != seed:
        raise ValueError(
            f"{path} is a report of version {version} with seed {found_seed}, this run is version {REPORT_VERSION} "
            f"with seed {seed}: name another file or remove it"
        )
    return Report(seed, vectors, device, instructions, runs)


def run_campaign(
    job: Job, path: Path, show: Callable[[str], None], worker: Sequence[str] = WORKER, hang_seconds: float = HANG_SECONDS
) -> Report:
    """Run or resume a campaign.

    Args:
        job: what to do; its `done` is taken from the report. A worker that is started after another one stopped gets the
            remaining seconds.
        path: the report; rows that differ are written beside it. show: gets a line for every step.

    Raises:
        DeviceError: the job cannot run here, in the worker's words. ValueError, OSError: as `load_report`.
    """
    started = time.monotonic()
    report = load_report(path, job.seed, job.vectors)
    if job.retry:
        for progress in report.instructions.values():
            progress.open_again()
    while True:
        left = None if job.seconds is None else job.seconds - (time.monotonic() - started)
        done = {name: asdict(progress) for name, progress in report.instructions.items()}
        now = replace(job, done=done, seconds=left, mismatches=str(mismatch_folder(path)))
        current = _run_worker(now, report, path, show, worker, hang_seconds)
        if current is None:
            return report
        show(f"{current}: {report.instructions[current].status}; continuing with the next")
        if job.seconds is not None and time.monotonic() - started > job.seconds:
            return report


def mismatch_folder(path: Path) -> Path:
    """The folder of the rows that differ: `conform.mismatches` beside `conform.json`."""
    return path.with_suffix(".mismatches")


def _run_worker(
    job: Job, report: Report, path: Path, show: Callable[[str], None], worker: Sequence[str], hang_seconds: float
) -> str | None:
    """Run one worker to its end; returns the instruction that it hung or crashed on, None where it ended well."""
    current = None
    events = watched(worker, asdict(job), hang_seconds)
    try:
        for event in events:
            current = _enter(event, report, show) or current
            write_atomically(path, (json.dumps(report.to_json(), indent=1) + "\n").encode())
    except WorkerStopped as stopped:
        if current is None:
            raise DeviceError(
                f"the conformance worker {stopped.status} before its first instruction: {stopped.reason}"
            ) from None
        report.instructions[current].status, report.instructions[current].detail = stopped.status, stopped.reason
        write_atomically(path, (json.dumps(report.to_json(), indent=1) + "\n").encode())
        return current
    finally:
        events.close()
    return None


def _enter(event: dict[str, Any], report: Report, show: Callable[[str], None]) -> str | None:
    """Put an event into the report; returns the instruction it is about.

    Raises:
        DeviceError: the worker reports an error, or the report is of another device or of other sources.
    """
    kind = event.pop("event")
    if kind == "error":
        raise DeviceError(event["message"])
    if kind == "device":
        run = event.pop("run")
        if report.device and report.device != event:
            raise DeviceError(
                f"the report is of another device or software, {report.device}; this is {event}: name another file"
            )
        if report.runs and report.runs[-1].get("sources") != run.get("sources"):
            raise DeviceError(
                "the models or kernels have changed since this report was written, so its counts do not hold for them: "
                "name another file"
            )
        report.device = event
        report.runs.append(run)
        show(f"{event['device']} ({event['arch']}), driver {event['driver']}, model on {event['engine']}")
    elif kind == "plan":
        for name in event["instructions"]:
            report.instructions.setdefault(name, Progress())
    else:
        name = str(event.pop("instruction"))
        report.instructions[name] = Progress(**event)
        show(line_of(name, report.instructions[name], report.vectors))
        return name
    return None


def line_of(name: str, progress: Progress, vectors: int) -> str:
    """`mma.…: 4,194,304 of at least 1,000,000,000 compared, 0 differ, 1.2 s, running`."""
    compared = f"{progress.total():,} of at least {vectors:,} compared, {progress.wrong():,} differ"
    return f"{name}: {compared}, {progress.seconds:.1f} s, {progress.status}"
