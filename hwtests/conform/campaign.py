"""A campaign: a worker process checks instructions one after another, the report is written to disk after every step, and
`summary` puts its findings into text.

A later run resumes from the report: run the same command again after an interruption, a time-out or a kernel that hung.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import golden
from golden.files import write_atomically
from hwtests.conform.campaign_worker import Job, is_open
from hwtests.conform.instruction_progress import Mismatch, Progress, text_of
from hwtests.conform.process import WorkerStopped, watched
from hwtests.device import DeviceError

REPORT_VERSION = 2

WORKER = (sys.executable, "-m", "hwtests.conform.campaign_worker")
"""The command of the worker on this machine's GPU."""

PROCESSOR_WORKER = (sys.executable, "-m", "hwtests.cpu.processor_worker")
"""The command of the worker on this machine's processor, without the architecture, its argument."""

PROGRAM_WORKER = (sys.executable, "-m", "hwtests.program_device")
"""The command of the worker on a program, without its arguments: architecture, command, form of its rows and patience."""

HANG_SECONDS = 120.0
"""Time without an event after which a worker counts as hung, unless it has announced a longer step (seconds); a step takes
seconds."""


@dataclass
class Report:
    """The state of a campaign: the device, the request, and the progress of every instruction.

    Attributes:
        device: description of the device and of the model's engine, from the worker; empty before the first event.
        runs: identity of the machine and the sources of every worker that was started (`hwtests.conform.campaign_worker`).
        seed, vectors: seed of the inputs, and number of results to compare for each instruction.
        instructions: progress by name, in the catalogue's order.
    """

    seed: int
    vectors: int
    device: dict[str, str]
    instructions: dict[str, Progress]
    runs: list[dict[str, str]] = field(default_factory=list)

    def complete(self) -> bool:
        """Whether every instruction has been checked to its end or given up."""
        return bool(self.instructions) and not any(is_open(p, self.vectors) for p in self.instructions.values())

    def agreed(self) -> bool:
        """Whether nothing differed, failed, depended on its place, hung or crashed, and every kernel consists of the
        expected instructions."""
        return all(
            p.status in ("running", "done", "absent") and not p.wrong() and not p.unexpected_code
            for p in self.instructions.values()
        )

    def to_json(self) -> dict[str, Any]:
        """The report as values for its JSON file."""
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
    """Read the report to resume from; a new one if the file does not exist.

    Raises:
        ValueError: the file is not a report, or has another seed.
        OSError: the file cannot be read.
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
        job: the job; its `done` is taken from the report. A worker that replaces a stopped one gets the remaining seconds.
        path: file of the report; differing rows are written beside it.
        show: called with a line for every step.
        worker: command of the worker.

    Raises:
        DeviceError: the job cannot run here; the message is the worker's.
        ValueError: the file is not a report, or has another seed.
        OSError: the report cannot be read or written.
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
    """The folder of the differing rows: `conform.mismatches` beside `conform.json`."""
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
    """Enter an event into the report; return the instruction that it is about.

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
    """A line about an instruction: `mma.…: 4,194,304 of at least 1,000,000,000 compared, 0 differ, 1.2 s, running`."""
    compared = f"{progress.total():,} of at least {vectors:,} compared, {progress.wrong():,} differ"
    return f"{name}: {compared}, {progress.seconds:.1f} s, {progress.status}"


def summary(report: Report) -> str:
    """Text about every instruction that did not fully agree, with its mismatches by class and the first of them simplified;
    then totals."""
    lines: list[str] = []
    for name, progress in report.instructions.items():
        lines += _about(report.device["arch"], name, progress)
    counts = [progress.status for progress in report.instructions.values()]
    compared = sum(progress.total() for progress in report.instructions.values())
    differ = sum(progress.wrong() for progress in report.instructions.values())
    lines.append(
        f"{counts.count('done')} of {len(counts)} instructions done: {compared:,} results compared, {differ:,} differ; "
        f"seed {report.seed}, {report.device['device']}"
    )
    if not report.complete():
        lines.append("not complete: run the same command again to resume")
    return "\n".join(lines)


def _about(arch: str, name: str, progress: Progress) -> list[str]:
    if progress.status not in ("running", "done"):
        return [f"{name}: {progress.status}: {progress.detail}"]
    found = [_other_code(name, route, code) for route, code in progress.unexpected_code.items()]
    if not progress.wrong():
        return found
    classes = ", ".join(f"{wrong:,} of {progress.vectors[cls]:,} in {cls}" for cls, wrong in progress.mismatches.items())
    lines = [*found, f"{name}: {progress.wrong():,} of {progress.total():,} differ: {classes}"]
    if progress.first is not None:
        lines.append(text_of(Mismatch(**progress.first), golden.instruction(arch, name)))
    return lines


def _other_code(name: str, route: str, code: dict[str, int]) -> str:
    held = ", ".join(f"{mnemonic} ×{count}" for mnemonic, count in code.items())
    return f"{name}{f' ({route})' if route else ''}: the kernel lacks the expected machine instructions; it contains {held}"
