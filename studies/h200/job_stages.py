"""The job's stages: which items each has, in which order, and what is done for one."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import golden
from golden import Instruction
from hwtests.conform.campaign_worker import record
from hwtests.conform.check import Check, check
from hwtests.conform.instruction_progress import Progress
from hwtests.device import first_line
from hwtests.nvidia.sparse_and_integer import by_name
from studies.h200.reference import of_floats
from studies.h200.self_test import ENGINE, verdict_on_engine, verdict_on_kernel, verdict_on_matrix_instruction
from studies.h200.state import STAGES, STOPPED, State
from studies.h200.timed_device import Bench
from studies.microbenchmarks.run import POINTS, benchmarks, measure, read_points, write_points, write_tables
from studies.sparse_and_integer.__main__ import instructions_of
from studies.sparse_and_integer.__main__ import record as record_tiles
from studies.sparse_and_integer.recorded_tiles import read as read_tiles

ARCH = "sm_90"

RECORDED_N = (8, 256)
"""N does not change the arithmetic of a wgmma: the smallest and the largest are recorded."""

EVIDENCE_ORDER = tuple(reversed(golden.EVIDENCE))
"""The most uncertain first."""

SELF_TEST, RECORDINGS, TILES, BENCHMARKS, VOLUME = STAGES

PREBUILD = "compiling ahead"
"""Key of its seconds among the stages' budgets."""

COLD_SECONDS = 120.0
"""Time limit of loading a kernel and running it the first time."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The request to a worker.

    Attributes:
        pattern: which instructions, benchmarks and instructions outside the catalogue, as a shell pattern.
        targets: results of each instruction at volume that all reach before one goes further.
        seed: of all inputs. ends: when the work must be over, by the clock of `time.monotonic`, which the processes of a
            machine share: a slow start takes nothing from what comes after the end.
        budgets: by stage, and for compiling ahead, its remaining seconds in this call; the last stage takes the rest.
        results: folder for files.
        state: what is known so far (`State` as JSON).
    """

    results: str
    ends: float
    budgets: dict[str, float] = field(default_factory=dict)
    pattern: str = "*"
    targets: tuple[int, ...] = (10**7, 10**8, 10**9)
    seed: int = 0
    state: dict[str, Any] = field(default_factory=dict)


def planned(pattern: str) -> dict[str, list[str]]:
    """By stage, the items in their order: FP8 `mma.sync` first, then by how uncertain the catalogue is."""
    entries = sorted((i for i in of_floats(ARCH) if fnmatchcase(i.name, pattern)), key=_uncertainty)
    recorded = [i.name for i in entries if not i.name.startswith("wgmma.") or i.n in RECORDED_N]
    outside = [i.name for i in instructions_of(ARCH) if fnmatchcase(i.name, pattern)]
    return {
        SELF_TEST: [ENGINE, *(i.name for i in entries), *outside],
        RECORDINGS: recorded,
        TILES: outside,
        BENCHMARKS: [b.name for b in benchmarks(ARCH) if fnmatchcase(b.name, pattern)],
        VOLUME: [i.name for i in entries],
    }


def _uncertainty(i: Instruction) -> tuple[bool, bool, int, int, str]:
    return (
        i.fp16_order is None,
        not i.name.startswith("mma."),
        EVIDENCE_ORDER.index(i.evidence),
        i.n,
        i.name,
    )


class TimeUp(Exception):
    """The time of the stage or of the call is up; finished items are recorded."""


class Stages:
    """The stages on one device.

    Args:
        emit: takes an event about an item, which it enters into the state: stage, name, entry, and `allow`.
    """

    def __init__(self, device: Bench, job: Job, emit: Callable[..., None]) -> None:
        self.device, self.job, self.emit = device, job, emit
        self.state, self.results = State(**job.state), Path(job.results)

    def run(self) -> None:
        """Every stage in its turn, each for its share of the time."""
        do = {
            SELF_TEST: self.self_test, RECORDINGS: self.recording, TILES: self.tiles, BENCHMARKS: self.benchmark,
        }  # fmt: skip
        for stage in STAGES:
            self.stage_ends = min(self.job.ends, time.monotonic() + self.job.budgets.get(stage, float("inf")))
            try:
                if stage == VOLUME:
                    self.volume()
                    continue
                for name in self.state.open_items(stage):
                    self._one(stage, name, do[stage])
            except TimeUp:
                continue

    def _one(self, stage: str, name: str, do: Callable[[str], dict[str, Any]]) -> None:
        """One item to its end; what only it cannot do is its status.

        Raises:
            TimeUp: the time is up, before it is begun or on the way.
        """
        self._check_time()
        if stage in (RECORDINGS, VOLUME) and not self._engine_status():
            raise TimeUp  # its test is still to come: the next call begins with it
        self._say(stage, name, self.state.entry(stage, name), allow=COLD_SECONDS)
        try:
            why_not = self._untrusted(stage, name)
            entry = {"status": "failed", "detail": why_not} if why_not else do(name)
        except ValueError as error:
            entry = self.state.entry(stage, name) | {"status": "failed", "detail": first_line(error)}
        except MemoryError as error:
            entry = self.state.entry(stage, name) | {"status": "failed", "detail": f"out of memory: {first_line(error)}"}
        self._say(stage, name, entry)

    def _say(self, stage: str, name: str, entry: dict[str, Any], **allow: float) -> None:
        self.state.done.setdefault(stage, {})[name] = entry
        self.emit(stage=stage, name=name, entry=entry, **allow)

    def _check_time(self) -> None:
        if time.monotonic() >= self.stage_ends:
            raise TimeUp

    def _untrusted(self, stage: str, name: str) -> str:
        """Why an item of a later stage is not worth running after the self-test; empty where it is."""
        tests = self.state.done.get(SELF_TEST, {})
        if stage in (RECORDINGS, TILES, VOLUME) and tests.get(name, {}).get("status") in ("failed", "hung", "crashed"):
            return f"not run: self-test {tests[name]['status']}: {tests[name]['detail']}"
        if stage == VOLUME and self._engine_status() != "done":
            return f"not run: self-test of the engine {tests[ENGINE]['status']}: {tests[ENGINE]['detail']}"
        return ""

    def _engine_status(self) -> str:
        """How the engine's self-test ended; empty where it has not."""
        status: str = self.state.entry(SELF_TEST, ENGINE)["status"]
        return status if status in ("done", *STOPPED) else ""

    def self_test(self, name: str) -> dict[str, Any]:
        """The engine, or one instruction's kernels."""
        if name == ENGINE:
            return verdict_on_engine(self.device)
        if name in (i.name for i in instructions_of(ARCH)):
            return verdict_on_matrix_instruction(self.device.run, by_name(ARCH, name))
        return verdict_on_kernel(self.device, golden.instruction(ARCH, name))

    def recording(self, name: str) -> dict[str, Any]:
        """Independence, all rows compared, all orders scored where there are some, and the recording written. With an engine
        that did not pass its test nothing is compared: the recording holds what the device gave."""
        instruction, progress = golden.instruction(ARCH, name), self._progress(RECORDINGS, name)
        trusted = self._engine_status() == "done"
        folder = self.results / "recordings"
        folder.mkdir(parents=True, exist_ok=True)

        def keep(stimulus: Any, d: Any) -> None:
            record(folder, self.device, instruction, self.job.seed, progress, stimulus, d)

        check(
            self.device, instruction, 0, self.job.seed, progress, lambda: None,
            loaded=lambda: self._say(RECORDINGS, name, asdict(progress), allow=COLD_SECONDS),
            mismatches=self.results / "mismatches", keep=keep, compare=trusted,
        )  # fmt: skip
        if not trusted and progress.status == "running":
            progress.detail = f"recorded and not compared: self-test of the engine {self._engine_status()}"
        progress.status = "done" if progress.status == "running" else progress.status
        return asdict(progress)

    def _progress(self, stage: str, name: str) -> Progress:
        entry = self.state.entry(stage, name)
        progress = Progress(**entry) if len(entry) > 2 else Progress()
        progress.status = "running"
        return progress

    def tiles(self, name: str) -> dict[str, Any]:
        """Raw tiles of an instruction outside the catalogue."""
        folder = self.results / "tiles"
        folder.mkdir(parents=True, exist_ok=True)
        path = record_tiles(folder, by_name(ARCH, name), self.device.run, self._about, self.job.seed)
        recorded = read_tiles(path)
        return {
            "status": "done", "detail": "", "file": path.name, "machine_code": recorded.machine_code,
            "unexpected_code": recorded.unexpected_code, "sha256": recorded.sha256,
        }  # fmt: skip

    @cached_property
    def _about(self) -> dict[str, str]:
        """The device, asked once: its own program takes a second."""
        return asdict(self.device.describe()) | self.device.evidence()

    def benchmark(self, name: str) -> dict[str, Any]:
        """Every point of a timed loop that is not measured yet."""
        folder = self.results / "microbenchmarks"
        folder.mkdir(parents=True, exist_ok=True)
        points = read_points(folder / POINTS)
        (benchmark,) = [b for b in benchmarks(ARCH) if b.name == name]
        for point in measure(benchmark, self.device.cycles, points):
            points.append(point)
            write_points(folder / POINTS, points)
            self._say(BENCHMARKS, name, {"status": "running", "detail": "", "points": len(points)})
            self._check_time()
        write_tables(folder, points, self.device.describe().device)
        of_it = [point for point in points if point.name == name]
        return {"status": "done", "detail": "", "points": len(of_it), "not_run": sum(bool(p.note) for p in of_it)}

    def volume(self) -> None:
        """All instructions to the first target in turn, then all to the next.

        Raises:
            TimeUp: as `_one`.
        """
        for target in self.job.targets:
            for name in self.state.open_items(VOLUME):
                if sum(self.state.entry(VOLUME, name).get("vectors", {}).values()) < target:
                    self._one(VOLUME, name, lambda name, target=target: self._to_target(name, target))  # type: ignore[misc]

    def _to_target(self, name: str, target: int) -> dict[str, Any]:
        instruction, progress = golden.instruction(ARCH, name), self._progress(VOLUME, name)

        def moved_on() -> None:
            progress.seconds = spent + time.monotonic() - started
            self._say(VOLUME, name, asdict(progress))
            self._check_time()

        started, spent = time.monotonic(), progress.seconds
        checks = Check(self.device, instruction, self.job.seed, progress, self.results / "mismatches-at-volume")
        self._say(VOLUME, name, asdict(progress), allow=COLD_SECONDS)
        checks.check_tiles(target, moved_on)
        progress.status = "done" if target == self.job.targets[-1] else "running"
        return asdict(progress)
