"""The worker of a campaign: a process of its own, so that the campaign survives a kernel that hangs or crashes the driver.

It reads a job as one JSON object from standard input and writes events as lines of JSON: `device` once, `plan` once, then
`progress` for every step of every instruction, and `error` before it gives up. `python -m hwtests.conform.worker` runs on
this machine's NVIDIA GPU.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import golden
from golden import Instruction, recording
from golden.stimulus import Stimulus
from hwtests.conform.check import Progress, check
from hwtests.device import Device, DeviceError

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a worker is asked for.

    Attributes:
        arch: the architecture that the device must have, None for any. pattern: which instructions, as a shell pattern.
        vectors: results to compare of each. seed: of all inputs.
        record: folder for recordings, None for none.
        seconds: after so long no further instruction is begun and the one at hand stops; None for no limit.
        done: progress of earlier runs, by instruction.
    """

    arch: str | None
    pattern: str
    vectors: int
    seed: int
    record: str | None = None
    seconds: float | None = None
    done: dict[str, dict[str, Any]] = field(default_factory=dict)


class TimeLimitReached(Exception):
    """The job's seconds are spent; what was done is kept."""


def chosen(arch: str, pattern: str) -> list[Instruction]:
    """The instructions of an architecture whose name fits a pattern.

    Raises:
        ValueError: none does.
    """
    found = [entry for entry in golden.instructions(arch) if fnmatchcase(entry.name, pattern)]
    if not found:
        raise ValueError(f"no instruction of {arch} fits the pattern {pattern!r}; `mmau list --arch {arch}` shows them all")
    return found


def run_job(job: Job, open_device: Callable[[], Device], emit: Emit) -> None:
    """Run a job, one instruction after another.

    Raises:
        DeviceError, ValueError, MemoryError, OSError: what stops the whole job.
    """
    started = time.monotonic()
    device = open_device()
    about = device.describe()
    emit({"event": "device", **asdict(about), "engine": device.engine})
    if job.arch is not None and golden.architecture(job.arch) != about.arch:
        raise DeviceError(
            f"--arch says {golden.architecture(job.arch)}, but this machine's GPU, {about.device}, is {about.arch}"
        )
    plan = chosen(about.arch, job.pattern)
    emit({"event": "plan", "instructions": [entry.name for entry in plan]})
    for entry in plan:
        progress = Progress(**job.done.get(entry.name, {}))
        if not is_open(progress, job.vectors) and not lacks_recording(entry, progress, job.record):
            continue
        progress.status = "running"

        def report(name: str = entry.name, progress: Progress = progress) -> None:
            emit({"event": "progress", "instruction": name, **asdict(progress)})
            if job.seconds is not None and time.monotonic() - started > job.seconds:
                raise TimeLimitReached

        emit({"event": "progress", "instruction": entry.name, **asdict(progress)})
        try:
            results = check(device, entry, job.vectors, job.seed, progress, report)
            if results is not None:
                if job.record is not None:
                    record(Path(job.record), device, entry, job.seed, progress, *results)
                progress.status = "done"
                report()
        except TimeLimitReached:
            return


def is_open(progress: Progress, vectors: int) -> bool:
    """Whether an instruction still has results to compare."""
    return progress.status == "running" or (progress.status == "done" and progress.total() < vectors)


def lacks_recording(instruction: Instruction, progress: Progress, folder: str | None) -> bool:
    """Whether an instruction was checked in full but its recording is still to be made."""
    if folder is None or progress.status != "done":
        return False
    return recording.file_name(instruction.arch, instruction.name) not in recording.read_index(Path(folder))


def record(
    folder: Path, device: Device, instruction: Instruction, seed: int, progress: Progress, stimulus: Stimulus, d: Any
) -> None:
    """Write what the device gave for the stimulus, whether the model agrees or not."""
    about = device.describe()
    header = recording.Header(
        version=recording.VERSION, arch=instruction.arch, instruction=instruction.name, device=about.device,
        driver=about.driver, runtime=about.runtime, compiler=about.compiler, machine_code=progress.machine_code,
        date=datetime.now(UTC).date().isoformat(), seed=seed, names=stimulus.names,
    )  # fmt: skip
    recording.write(folder, recording.Recording(header, stimulus.operands, d, stimulus.label))


def main(open_device: Callable[[], Device]) -> int:
    """Read the job, run it, write events; returns the exit status."""
    job = Job(**json.load(sys.stdin))

    def emit(event: dict[str, Any]) -> None:
        print(json.dumps(event), flush=True)

    try:
        run_job(job, open_device, emit)
    except (DeviceError, ValueError, OSError) as error:
        emit({"event": "error", "message": str(error)})
        return 2
    except MemoryError as error:
        emit({"event": "error", "message": f"out of memory, even with one tile at a time: {error}"})
        return 2
    return 0


if __name__ == "__main__":
    from hwtests.nvidia.device import CudaDevice

    sys.exit(main(CudaDevice))
