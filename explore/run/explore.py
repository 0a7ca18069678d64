"""Explores a space: announces what there is to do, evaluates its points as tasks, and keeps files and records up to date."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explore.run import estimate, output
from explore.run.parts import FORMAL, Part, distinct_tasks, parts_of
from explore.run.records import INVALID, is_verified, measures, record_of
from explore.run.search import searched
from explore.run.work import work
from explore.space.constraints import broken_by_measures, of_cost
from explore.space.points import Point
from explore.space.space import Space
from jobs import Engine, Record, Store, run
from jobs.engine import Limits, Work

SECONDS_A_TASK = 1800.0
"""Some hundred times what a part of a usual unit takes: a tool that is not done by then hangs."""

SECONDS_BETWEEN = 30.0
"""Between two times that results.jsonl is written while tasks run."""

INVALID_TOLD = 3
"""Invalid points that are announced in full; all are in the records."""


@dataclass(frozen=True)
class Exploration:
    """What came of a space.

    Attributes:
        records: of all points and references that were evaluated or found invalid, in their order.
    """

    records: Sequence[dict[str, Any]]

    def count(self, status: str) -> int:
        """How many points have a status."""
        return sum(record["status"] == status for record in self.records)

    @property
    def differing(self) -> list[str]:
        """Names of those whose circuit does not agree with its model."""
        return [record["name"] for record in self.records if is_verified(record) is False]

    @property
    def not_done(self) -> list[dict[str, Any]]:
        """Records of what failed or was out of time."""
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
    """Evaluate the points of a space; what is in the folder already is not done again.

    Args:
        folder: of the exploration, as `explore.run.output` has it.
        engine: carries out the tasks. workers: how many it has, for the estimate.
        seconds: limit for a task (wall time). retry: whether what failed or was out of time is tried again.
        say: called with each line that people should see. work: of a task.

    Raises:
        ValueError: no point of the space is a unit; a limit that is none; or the folder holds something else, or is in use.
        OSError: the disk is full, or the folder cannot be written; what is done is kept.
        WorkerError: workers cannot be started or reached.
    """
    Limits(seconds)
    if space.search is None:
        check_any_valid(list(space.points()))
    output.prepare(folder, space.text)
    with Store(folder / output.STORE, output.WHAT) as store:
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
    """How many points there are, in words."""
    sizes = " × ".join(f"{axis.label} {len(axis.values)}" for axis in space.axes)
    return f"{space.name}: {space.size:,} point{'s' * (space.size != 1)}{f' ({sizes})' * bool(sizes)}"


def _spread(space: Space, count: int) -> list[Point]:
    """So many points, spread over the whole space."""
    chosen = (number * space.size // count for number in range(count))
    return [space.point(space.values(number)) for number in chosen]


@dataclass
class _Runner:
    """Evaluates lists of points, one after another; what they share is done once."""

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
        """Say how much there is to do: of all points, or of as many as a search evaluates, which are the same work."""
        tasks = distinct_tasks([part for point in points for part in parts_of(self.space, point)])
        known = [record for task in tasks if (record := self.store.find(task)) is not None]
        done = {record.task.key for record in known if record.done or not self.retry}
        seconds = estimate.seconds_of([task for task in tasks if task.key not in done], known)
        left = estimate.told(seconds, self.workers) if len(done) < len(tasks) else "nothing to do"
        search, references = self.space.search, len(self.space.references)
        beside = f", {references} reference{'s' * (references != 1)}" * bool(references)
        first = "" if search is None else f"a search evaluates at most {min(search.points, self.space.size):,}; "
        self.say(f"{_size(self.space)}{beside}: {first}{len(tasks):,} tasks, {len(done):,} of them done; {left}")

    def evaluate(self, points: Sequence[Point]) -> list[dict[str, Any]]:
        """The records of points, of which none was evaluated before.

        Where costs alone are beyond a limit, nothing else is done of a point.
        """
        if not points:
            return []
        for point in points:
            self._points[point.name] = point
            self._parts[point.name] = parts_of(self.space, point)
            if point.is_valid:
                output.write_unit(self.folder, point)
                output.remove_verilog(self.folder, point)
        invalid = [point for point in points if not point.is_valid]
        for point in invalid[:INVALID_TOLD]:
            self.say(f"invalid: {point.name}: {point.message}")
        if len(invalid) > INVALID_TOLD:
            self.say(f"invalid: {len(invalid) - INVALID_TOLD:,} more, each with its reason in {output.RESULTS}")
        limits = of_cost(self.space.constraints)
        limited = [point for point in points if limits and point.kind == "point"]
        self._run(limited, ("cost",))
        for point in limited:
            costs = [part for part in self._parts[point.name] if part.kind == "cost"]
            found = [(part, self._outcomes[part.task.key]) for part in costs if part.task.key in self._outcomes]
            if broken_by_measures(limits, measures(found)):
                self._parts[point.name] = costs
        self._run(points, ("cost", "proof", FORMAL, "accuracy"))
        return [self._record(point) for point in points]

    def records(self) -> list[dict[str, Any]]:
        """Of all points so far of which everything is known that was wanted, in their order."""
        return [self._record(point) for point in self._points.values() if self._is_complete(point)]

    def keep_results(self) -> None:
        """Write the records."""
        output.write_results(self.folder, self.records())
        self._kept = time.monotonic()

    def _run(self, points: Sequence[Point], kinds: Sequence[str]) -> None:
        parts = [part for point in points for part in self._parts[point.name] if part.kind in kinds]
        if not parts:
            return
        circuits: dict[str, list[Point]] = {}  # points may share one: a reference with the keys of a point
        for point in points:
            for part in self._parts[point.name]:
                if part.kind == "proof":
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
        """Of a point whose co-simulation is done; once more when its proof is."""
        keys = {part.kind: part.task.key for part in self._parts[point.name]}
        simulated, proof = self._outcomes[keys["proof"]], self._outcomes.get(keys.get(FORMAL, ""))
        output.write_verilog(self.folder, point, simulated, FORMAL in keys and proof is None, proof)

    def _is_complete(self, point: Point) -> bool:
        return all(part.task.key in self._outcomes for part in self._parts[point.name])

    def _record(self, point: Point) -> dict[str, Any]:
        return record_of(self.space, point, self._parts[point.name], self._outcomes)
