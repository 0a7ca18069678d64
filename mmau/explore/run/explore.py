"""Explores a space: announces the tasks, evaluates the points as tasks, and updates files and records."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmau.explore.run import estimate, exploration_folder
from mmau.explore.run.genetic_search import searched
from mmau.explore.run.point_tasks import Part, distinct_tasks, parts_of
from mmau.explore.run.point_work import work
from mmau.explore.run.result_records import INVALID, is_verified, measures, record_of
from mmau.explore.space.constraints import broken_by_measures, of_cost
from mmau.explore.space.space import Space
from mmau.explore.space.space_points import Point
from mmau.jobs import Engine, Record, Store, run
from mmau.jobs.task import Limits, Work

SECONDS_A_TASK = 1800.0
"""Time limit of a task (s), some hundred times the time of a part of a usual unit: a tool that takes longer hangs."""

SECONDS_BETWEEN = 30.0
"""Between two times that results.jsonl is written while tasks run."""

INVALID_SHOWN = 3
"""Invalid points that are announced in full; all are in the records."""


@dataclass(frozen=True)
class Exploration:
    """The outcome of an exploration.

    Attributes:
        records: of all points and references that were evaluated or found invalid, in their order.
    """

    records: Sequence[dict[str, Any]]

    def count(self, status: str) -> int:
        """The number of points with a status."""
        return sum(record["status"] == status for record in self.records)

    @property
    def differing(self) -> list[str]:
        """Names of the points whose circuit differs from its model."""
        return [record["name"] for record in self.records if is_verified(record) is False]

    @property
    def not_done(self) -> list[dict[str, Any]]:
        """Records of the points that failed or timed out."""
        return [record for record in self.records if record["status"] not in ("done", INVALID)]


def explore(
    space: Space,
    folder: Path,
    engine: Engine,
    workers: int,
    *,
    seconds: float = SECONDS_A_TASK,
    retry: bool = False,
    say: Callable[[str], None] = lambda line: None,
    work: Work = work,
) -> Exploration:
    """Evaluate the points of a space; results in the folder are not computed again.

    Args:
        folder: of the exploration, as `mmau.explore.run.exploration_folder` has it.
        engine: carries out the tasks. workers: how many it has, for the estimate.
        seconds: limit for a task (wall time). retry: whether tasks that failed or timed out run again.
        say: prints a line of progress. work: the work function.

    Raises:
        ValueError: no point of the space is a unit, a limit is out of range, or the folder holds other files or is in use.
        OSError: the disk is full, or the folder cannot be written; finished tasks are stored.
        WorkerError: workers cannot be started or reached.
    """
    Limits(seconds)
    if space.search is None:
        check_any_valid(list(space.points()))
    exploration_folder.check(folder)
    with Store(folder / exploration_folder.STORE, exploration_folder.WHAT) as store:
        exploration_folder.prepare(folder, space.text)
        runner = _Runner(space, folder, store, engine, workers, seconds, retry, say, work)
        references = space.reference_points()
        if space.search is None:
            points = [*references, *space.points()]
            runner.announce(points)
            runner.evaluate(points)
        else:
            count = min(space.search.points, space.size)
            runner.announce([*references, *_spread(space, count)])
            runner.evaluate(references)
            searched(space, space.search, runner.evaluate)
        runner.keep_results()
        exploration_folder.remove_others(folder, runner.points)
        return Exploration(runner.records())


def check_any_valid(points: Iterable[Point]) -> None:
    """Raise ValueError where no point is a unit."""
    first = ""
    for point in points:
        if point.is_valid:
            return
        first = first or f"{point.name}: {point.message}"
    raise ValueError(f"no point of the space can be evaluated; the first one, {first}")


def _size(space: Space) -> str:
    """The number of points, as text."""
    sizes = " × ".join(f"{axis.label} {len(axis.values)}" for axis in space.axes)
    return f"{space.name}: {space.size:,} point{'s' * (space.size != 1)}{f' ({sizes})' * bool(sizes)}"


def _spread(space: Space, count: int) -> list[Point]:
    """`count` points, spread over the whole space."""
    chosen = (number * space.size // count for number in range(count))
    return [space.point(space.values(number)) for number in chosen]


@dataclass
class _Runner:
    """Evaluates lists of points, one after another; tasks that points share run once."""

    space: Space
    folder: Path
    store: Store
    engine: Engine
    workers: int
    seconds: float
    retry: bool
    say: Callable[[str], None]
    work: Work
    _points: dict[str, Point] = field(default_factory=dict)
    _parts: dict[str, list[Part]] = field(default_factory=dict)
    _outcomes: dict[str, Record] = field(default_factory=dict)
    _kept: float = field(default_factory=time.monotonic)

    def announce(self, points: Sequence[Point]) -> None:
        """Print the amount of work: of all points, or of as many points as a search evaluates."""
        tasks = distinct_tasks([part for point in points for part in parts_of(self.space, point)])
        known = [record for task in tasks if (record := self.store.find(task)) is not None]
        done = {record.task.key for record in known if record.done or not self.retry}
        seconds = estimate.seconds_of([task for task in tasks if task.key not in done], known)
        remaining = estimate.estimate_text(seconds, self.workers) if len(done) < len(tasks) else "nothing to do"
        search, references = self.space.search, len(self.space.references)
        beside = f", {references} reference{'s' * (references != 1)}" * bool(references)
        first = "" if search is None else f"a search evaluates at most {min(search.points, self.space.size):,}; "
        self.say(f"{_size(self.space)}{beside}: {first}{len(tasks):,} tasks, {len(done):,} of them done; {remaining}")

    def evaluate(self, points: Sequence[Point]) -> list[dict[str, Any]]:
        """The records of points that were not evaluated before.

        The cost comes first: a point whose costs exceed a limit is not evaluated further.
        """
        if not points:
            return []
        for point in points:
            self._points[point.name] = point
            self._parts[point.name] = parts_of(self.space, point)
            if point.is_valid:
                exploration_folder.write_unit(self.folder, point)
                exploration_folder.remove_verilog(self.folder, point)
        invalid = [point for point in points if not point.is_valid]
        for point in invalid[:INVALID_SHOWN]:
            self.say(f"invalid: {point.name}: {point.message}")
        if len(invalid) > INVALID_SHOWN:
            self.say(f"invalid: {len(invalid) - INVALID_SHOWN:,} more, each with its reason in {exploration_folder.RESULTS}")
        limits = of_cost(self.space.constraints)
        limited = [point for point in points if limits and point.kind == "point"]
        self._run(limited, ("cost",))
        for point in limited:
            costs = [part for part in self._parts[point.name] if part.kind == "cost"]
            found = [(part, self._outcomes[part.task.key]) for part in costs if part.task.key in self._outcomes]
            if broken_by_measures(limits, measures(found, point.unit)):
                self._parts[point.name] = costs
        self._run(points, ("cost", "cosimulation", "proof", "accuracy"))
        return [self._record(point) for point in points]

    @property
    def points(self) -> list[Point]:
        """All points that were evaluated, in their order."""
        return list(self._points.values())

    def records(self) -> list[dict[str, Any]]:
        """The records of all points whose requested parts have ended, in their order."""
        return [self._record(point) for point in self._points.values() if self._is_complete(point)]

    def keep_results(self) -> None:
        """Write the records."""
        exploration_folder.write_results(self.folder, self.records())
        self._kept = time.monotonic()

    def _run(self, points: Sequence[Point], kinds: Sequence[str]) -> None:
        parts = [part for point in points for part in self._parts[point.name] if part.kind in kinds]
        if not parts:
            return
        circuits: dict[str, list[Point]] = {}  # points may share one: a reference with the keys of a point
        for point in points:
            for part in self._parts[point.name]:
                if part.kind == "cosimulation":
                    circuits.setdefault(part.task.key, []).append(point)

        def on_record(record: Record) -> None:
            self._outcomes[record.task.key] = record
            if record.done:
                for point in circuits.get(record.task.key, ()):
                    self._write_verilog(point)
            if time.monotonic() - self._kept > SECONDS_BETWEEN:
                self.keep_results()

        records = run(
            distinct_tasks(parts), self.work, self.store,
            engine=self.engine, seconds=self.seconds, retry=self.retry, on_record=on_record,
        )  # fmt: skip
        self._outcomes |= {record.task.key: record for record in records}
        for key, sharing in circuits.items():
            for point in sharing:
                if key in self._outcomes and self._outcomes[key].done:
                    self._write_verilog(point)

    def _write_verilog(self, point: Point) -> None:
        """Write the Verilog of a point after its co-simulation, and again after its proof."""
        keys = {part.kind: part.task.key for part in self._parts[point.name]}
        simulated, proof = self._outcomes[keys["cosimulation"]], self._outcomes.get(keys.get("proof", ""))
        exploration_folder.write_verilog(self.folder, point, simulated, "proof" in keys and proof is None, proof)

    def _is_complete(self, point: Point) -> bool:
        return all(part.task.key in self._outcomes for part in self._parts[point.name])

    def _record(self, point: Point) -> dict[str, Any]:
        return record_of(self.space, point, self._parts[point.name], self._outcomes)
