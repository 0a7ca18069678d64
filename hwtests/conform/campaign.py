"""A campaign: instructions checked one after another by a worker process, its report kept on disk after every step.

The report is also what a later run resumes from: run the same command again, and it goes on where it stopped, whether it was
interrupted, out of time, or a kernel hung.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from hwtests.conform.check import Progress
from hwtests.conform.worker import Job, is_open
from hwtests.device import DeviceError

REPORT_VERSION = 1

WORKER = (sys.executable, "-m", "hwtests.conform.worker")
"""The command of the worker on this machine's GPU."""

ROOT = Path(__file__).resolve().parents[2]
"""Where a worker finds the packages, from whatever folder the campaign is run."""

HANG_SECONDS = 120.0
"""A worker that says nothing for so long hangs; a step takes seconds, compiling the largest kernel two."""


@dataclass
class Report:
    """What a campaign knows: the device, the request, and the progress of every instruction.

    Attributes:
        device: description of the device and the model's engine, as the worker gave it; empty before the first event.
        seed, vectors: of the request. instructions: progress by name, in the catalogue's order.
    """

    seed: int
    vectors: int
    device: dict[str, str]
    instructions: dict[str, Progress]

    def complete(self) -> bool:
        """Whether every instruction has been dealt with."""
        return bool(self.instructions) and not any(is_open(p, self.vectors) for p in self.instructions.values())

    def agreed(self) -> bool:
        """Whether nothing differed, depended on its place, hung or crashed so far."""
        return all(p.status in ("running", "done") and not p.wrong() for p in self.instructions.values())

    def to_json(self) -> dict[str, Any]:
        """The report as it is written."""
        return {
            "version": REPORT_VERSION,
            "seed": self.seed,
            "vectors": self.vectors,
            "device": self.device,
            "complete": self.complete(),
            "agreed": self.agreed(),
            "instructions": {name: asdict(progress) for name, progress in self.instructions.items()},
        }


def load_report(path: Path, seed: int, vectors: int) -> Report:
    """The report to resume from, a new one where there is none.

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
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no conformance report: {error}; name another file or remove it") from error
    if version != REPORT_VERSION or found_seed != seed:
        raise ValueError(
            f"{path} is a report of version {version} with seed {found_seed}, this run is version {REPORT_VERSION} "
            f"with seed {seed}: name another file or remove it"
        )
    return Report(seed, vectors, device, instructions)


def run_campaign(
    job: Job, path: Path, show: Callable[[str], None], worker: Sequence[str] = WORKER, hang_seconds: float = HANG_SECONDS
) -> Report:
    """Run or resume a campaign.

    Args:
        job: what to do; its `done` is taken from the report.
        path: the report. show: gets a line for every step.

    Raises:
        DeviceError: the job cannot run here, in the worker's words. ValueError, OSError: as `load_report`.
    """
    report = load_report(path, job.seed, job.vectors)
    while True:
        done = {name: asdict(progress) for name, progress in report.instructions.items()}
        current = _run_worker(replace(job, done=done), report, path, show, worker, hang_seconds)
        if current is None:
            return report
        show(f"{current}: {report.instructions[current].status}; going on with the next")


def _run_worker(
    job: Job, report: Report, path: Path, show: Callable[[str], None], worker: Sequence[str], hang_seconds: float
) -> str | None:
    """Run one worker to its end; returns the instruction that it hung or crashed on, None where it ended well."""
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        worker, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=os.environ | {"PYTHONPATH": python_path}
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(asdict(job)))
            process.stdin.close()
            current, status = None, "crashed"
            try:
                for event in _events(process, hang_seconds):
                    current = _enter(event, report, show) or current
                    write_atomically(path, (json.dumps(report.to_json(), indent=1) + "\n").encode())
            except TimeoutError:
                status = "hung"
        finally:
            process.kill()
        log = process.stderr.read().strip() if process.stderr is not None else ""
        code = process.wait()
    if code == 0:
        return None
    reason = f"no sign of life for {hang_seconds:g} s" if status == "hung" else _last_line(log) or f"exit status {code}"
    if current is None:
        raise DeviceError(f"the conformance worker {status} before its first instruction: {reason}")
    report.instructions[current].status, report.instructions[current].detail = status, reason
    write_atomically(path, (json.dumps(report.to_json(), indent=1) + "\n").encode())
    return current


def _last_line(log: str) -> str:
    return log.splitlines()[-1] if log else ""


def _events(process: "subprocess.Popen[str]", hang_seconds: float) -> Iterator[dict[str, Any]]:
    """The worker's events until it ends.

    Raises:
        TimeoutError: nothing came for too long.
    """
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=hang_seconds)
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            process.wait(timeout=hang_seconds)
            return
        yield json.loads(line)


def _enter(event: dict[str, Any], report: Report, show: Callable[[str], None]) -> str | None:
    """Put an event into the report; returns the instruction it is about.

    Raises:
        DeviceError: the worker reports an error, or the report is of another device.
    """
    kind = event.pop("event")
    if kind == "error":
        raise DeviceError(event["message"])
    if kind == "device":
        if report.device and report.device != event:
            raise DeviceError(
                f"the report is of another device or software, {report.device}; this is {event}: name another file"
            )
        report.device = event
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
    """`mma.…: 4,194,304 of 1,000,000,000 compared, 0 differ, 1.2 s, running`."""
    compared = f"{progress.total():,} of {vectors:,} compared, {progress.wrong():,} differ"
    return f"{name}: {compared}, {progress.seconds:.1f} s, {progress.status}"
