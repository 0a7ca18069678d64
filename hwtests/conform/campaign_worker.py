"""The worker of a campaign: a separate process, so that the campaign survives a kernel that hangs or crashes the driver.

It receives a job and sends events: `device` once, `plan` once, then `progress` for every step of every instruction, and
`error` before it gives up (`hwtests/conform/process.py` is the other side).
`python -m hwtests.conform.campaign_worker` runs on this machine's GPU.
"""

import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import golden
from golden import Instruction
from golden.commit import commit
from golden.processes import Channel
from golden.recordings import recording, recording_index
from golden.stimulus import Stimulus
from hwtests.amd import kernels as amd
from hwtests.conform.check import check
from hwtests.conform.instruction_progress import Progress
from hwtests.conform.process import COLD_SECONDS
from hwtests.device import AbsentError, Device, DeviceError, first_line
from hwtests.nvidia import kernels as nvidia

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("golden", "hwtests")
SUFFIXES = (".py", ".toml", ".c", ".h", ".hpp", ".cpp", ".inc")


@cache
def sources() -> str:
    """SHA-256 over the paths and contents of all sources of the packages that a device runs."""
    total = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in SUFFIXES:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(ROOT).as_posix()} {digest}\n".encode())
    return total.hexdigest()


OWN_LICENCE = "Apache-2.0"
"""Licence of the rows that this project records."""

Emit = Callable[..., None]
"""Sends an event: called with its name, and with its content as keywords."""

OpenDevice = Callable[[str | None], Device]
"""Opens the device; called with the architecture that it must have, None for any."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The request to a worker.

    Attributes:
        arch: the architecture that the device must have, None for any.
        pattern: shell pattern of the instructions' names.
        vectors: results to compare for each instruction.
        seed: seed of all inputs.
        record: folder for recordings, None for none.
        who: name of the person who records.
        mismatches: folder for differing rows, None for none.
        retry: whether instructions that hung, crashed or failed are tried again.
        seconds: time after which no further instruction is begun and the current one stops; None for no limit.
        done: progress of earlier runs, by instruction.
    """

    arch: str | None
    pattern: str
    vectors: int
    seed: int
    record: str | None = None
    who: str = recording.OWN
    mismatches: str | None = None
    retry: bool = False
    seconds: float | None = None
    done: dict[str, dict[str, Any]] = field(default_factory=dict)


class TimeLimitReached(Exception):
    """The job's time has run out; the finished steps are recorded."""


def chosen(arch: str, pattern: str) -> list[Instruction]:
    """The instructions of an architecture whose name matches a pattern, except those without a kernel.

    Raises:
        ValueError: no instruction matches.
    """
    entries = golden.instructions(arch) + golden.sparse_instructions(arch)
    found = [entry for entry in entries if fnmatchcase(entry.name, pattern) and can_run(entry)]
    if not found:
        raise ValueError(f"no instruction of {arch} fits the pattern {pattern!r}; `mmau list --arch {arch}` shows them all")
    return found


def can_run(instruction: Instruction) -> bool:
    """Whether this project can run the instruction: there is a kernel, or a processor has it."""
    return instruction.arch in golden.PROCESSORS or nvidia.is_nvidia(instruction) or amd.has_kernel(instruction)


def run_job(job: Job, open_device: OpenDevice, emit: Emit) -> None:
    """Run a job, one instruction after another.

    Raises:
        DeviceError, ValueError, OSError: an error that stops the whole job.
    """
    started = time.monotonic()
    device = open_device(job.arch)
    about = device.describe()
    emit("device", **asdict(about), engine=device.engine, run=run_of(device))
    if job.arch is not None and golden.architecture(job.arch) != about.arch:
        raise DeviceError(
            f"--arch says {golden.architecture(job.arch)}, but this machine's GPU, {about.device}, is {about.arch}"
        )
    plan = chosen(about.arch, job.pattern)
    emit("plan", instructions=[entry.name for entry in plan])
    for entry in plan:
        progress = Progress(**job.done.get(entry.name, {}))
        recorded = has_recording(entry, job.record)
        if not is_open(progress, job.vectors) and (recorded or progress.status != "done"):
            continue
        progress.status = "running"

        def say(name: str = entry.name, progress: Progress = progress, **allow: float) -> None:
            emit("progress", instruction=name, **asdict(progress), **allow)

        def report(say: Callable[..., None] = say) -> None:
            say()
            if job.seconds is not None and time.monotonic() - started > job.seconds:
                raise TimeLimitReached

        say(allow=COLD_SECONDS)
        try:
            check_one(job, device, entry, progress, report, say, None if recorded else Path(str(job.record)))
            report()
        except TimeLimitReached:
            return


def check_one(
    job: Job,
    device: Device,
    entry: Instruction,
    progress: Progress,
    report: Callable[[], None],
    loaded: Callable[[], None],
    folder: Path | None,
) -> None:
    """Check one instruction to its end. An error of this instruction alone becomes its status, and the job goes on.

    Args:
        report, loaded: callbacks, as `check` takes them.
        folder: folder for the recording; None for no recording.

    Raises:
        OSError: a file cannot be written.
        TimeLimitReached: raised by `report`.
    """

    def keep(stimulus: Stimulus, d: Any) -> None:
        assert folder is not None
        recording_index.write(folder, recorded(device, entry, job.seed, progress, stimulus, d, job.who))

    try:
        check(
            device, entry, job.vectors, job.seed, progress, report,
            loaded=loaded,
            mismatches=None if job.mismatches is None else Path(job.mismatches),
            keep=None if folder is None else keep,
        )  # fmt: skip
        if progress.status == "running":
            progress.status = "done"
    except AbsentError as error:
        progress.status, progress.detail = "absent", first_line(error)
    except ValueError as error:
        progress.status, progress.detail = "failed", first_line(error)
    except MemoryError as error:
        progress.status, progress.detail = "failed", f"out of memory, even with one tile at a time: {first_line(error)}"


def run_of(device: Device) -> dict[str, str]:
    """The identity of this run: machine, time and sources."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return device.evidence() | {"started": now, "commit": commit(), "sources": sources()}


def is_open(progress: Progress, vectors: int) -> bool:
    """Whether an instruction still has results to compare."""
    return progress.status == "running" or (progress.status == "done" and progress.total() < vectors)


def has_recording(instruction: Instruction, folder: str | None) -> bool:
    """Whether an instruction has its recording in a folder, or needs none."""
    if folder is None:
        return True
    return recording.file_name(instruction.arch, instruction.name) in recording_index.read_index(Path(folder))


def recorded(
    device: Device,
    instruction: Instruction,
    seed: int,
    progress: Progress,
    stimulus: Stimulus,
    d: Any,
    who: str = recording.OWN,
) -> recording.Recording:
    """The recording of a device's results for the stimulus, whether or not the model agrees."""
    about = device.describe()
    header = recording.Header(
        version=recording.VERSION, arch=instruction.arch, instruction=instruction.name, kind="silicon", device=about.device,
        driver=about.driver, runtime=about.runtime, compiler=about.compiler, machine_code=progress.machine_code,
        date=datetime.now(UTC).date().isoformat(), seed=seed, names=stimulus.names, who=who, licence=OWN_LICENCE,
    )  # fmt: skip
    return recording.Recording(header, stimulus.operands, d, stimulus.label)


def main(open_device: OpenDevice) -> int:
    """Receive the job, run it and send its events; return the exit status."""
    channel = Channel()
    job = Job(**channel.receive())
    try:
        run_job(job, open_device, channel.send)
    except (DeviceError, ValueError, OSError) as error:
        channel.send("error", message=str(error))
        return 2
    return 0


if __name__ == "__main__":
    from hwtests.devices import open_device

    sys.exit(main(open_device))
