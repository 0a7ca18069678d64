"""Explores a space: announces the tasks, evaluates the points as tasks, all or those that a search asks for, and updates the
files and records of its folder."""

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from golden.checks import listed
from golden.files import write_atomically
from mmau.explore.columns import value_of
from mmau.explore.design_space import (
    POINT,
    Axis,
    Choice,
    Point,
    Search,
    Space,
    Value,
    arithmetic_of,
)
from mmau.explore.estimation import FILE, Estimates, estimate
from mmau.explore.records import is_right, is_verified
from mmau.explore.tasks import (
    INVALID,
    REPORT,
    WRITING,
    Part,
    distinct_tasks,
    estimate_text,
    measures,
    parts_of,
    proof_of,
    record_of,
    rough_seconds,
    sample_of,
    seconds_of,
    timed_by,
)
from mmau.explore.work import VERILOG, renamed, work
from mmau.jobs import Engine, Record, Store, Task, run
from mmau.jobs.runs import duration
from mmau.jobs.task import Limits, Work
from mmau.signals import Ended
from rtl.cost.cost_columns import NETLIST, SAIF
from rtl.verilog.emit import with_paragraph

LEAVING = (*WRITING, "proof", "cost")
"""The kinds of parts whose results are in a file of a point."""

ROUNDS = 50
"""Generations without a new point after which the search has converged."""


def searched(space: Space, search: Search, evaluate: Callable[[Sequence[Point]], list[dict[str, Any]]]) -> None:
    """Evaluate the points that a search asks for, at most `search.points` different ones.

    Args:
        evaluate: the records of points, none of which was evaluated before.

    Raises:
        ModuleNotFoundError: optuna is not installed. ValueError: no point of a whole generation has all objectives.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(population_size=search.population, seed=search.seed)
    directions = [{"min": "minimize", "max": "maximize"}[side] for side in search.objectives.values()]
    study = optuna.create_study(sampler=sampler, directions=directions)
    known: dict[tuple[Value | Choice, ...], dict[str, Any]] = {}
    without_new = 0
    while len(known) < min(search.points, space.size) and without_new < ROUNDS:
        trials = [study.ask() for _ in range(search.population)]
        asked = [tuple(_suggested(trial, axis) for axis in space.axes) for trial in trials]
        new = [values for values in dict.fromkeys(asked) if values not in known][: search.points - len(known)]
        without_new = 0 if new else without_new + 1
        known |= zip(new, evaluate([space.point(values) for values in new]), strict=True)
        check_objectives(search, list(known.values()))
        for trial, values in zip(trials, asked, strict=True):
            found = objectives(search, known.get(values))
            if found is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, found)


def objectives(search: Search, record: dict[str, Any] | None) -> list[float] | None:
    """The objectives' values for a point. None where the point is not evaluated or not done, exceeds a limit, has a circuit
    that differs from its model, or lacks a value: a training that diverged has no loss."""
    if record is None or not is_right(record) or record.get("beyond"):
        return None
    found = [value for name in search.objectives if (value := value_of(name, record)) is not None]
    return found if len(found) == len(search.objectives) else None


def check_objectives(search: Search, records: Sequence[dict[str, Any]]) -> None:
    """Raise ValueError where points are done but one objective has no value in any of them, for example because a tool is
    missing."""
    done = [record for record in records if record["status"] == "done"]
    missing = [name for name in search.objectives if all(value_of(name, record) is None for record in done)]
    if done and missing:
        raise ValueError(
            f"a search needs its objectives, and no point has {', '.join(missing)}, as {done[0]['name']}: {_why(done[0])}"
        )


def _why(record: dict[str, Any]) -> str:
    missing = (record.get("cost") or {}).get("missing") or {}
    return "; ".join(f"{column}: {reason}" for column, reason in missing.items()) or "it is not measured"


def _suggested(trial: Any, axis: Axis) -> Value | Choice:
    """A value of an axis: numbers in order are near each other, everything else is a choice."""
    numbers = sorted(value for value in axis.values if isinstance(value, int) and not isinstance(value, bool))
    last = len(axis.values) - 1
    if len(numbers) == len(axis.values):
        return numbers[int(trial.suggest_int(axis.key, 0, last))]
    return axis.values[int(trial.suggest_categorical(axis.key, list(range(last + 1))))]


STORE, RESULTS, SPACE = "store", "results.jsonl", "space.toml"
"""Names in the folder of an exploration."""

FOLDERS = ("units", "verilog", "netlists")
"""Folders in it, with files of each point; the last one only where they are asked for."""

WHAT = "explore"
"""The kind of results in the store of an exploration."""

SECONDS_A_TASK = 1800.0
"""Time limit of a task (s), some hundred times the time of a part of a usual unit: a tool that takes longer hangs."""

SECONDS_BETWEEN = 30.0
"""Seconds between two times that results.jsonl is written while tasks run."""

MOST_SAMPLED = 0.5
"""Most of the waiting tasks, as a share, that are carried out before their time is estimated."""

INVALID_SHOWN = 3
"""Invalid points that are announced in full; all are in the records."""


class Exploration(NamedTuple):
    """The outcome of an exploration.

    Attributes:
        records: the records of all points and references that were evaluated or found invalid, in their order.
        estimates: of a strategy that estimates.
    """

    records: Sequence[dict[str, Any]]
    estimates: Estimates | None = None

    def count(self, status: str) -> int:
        """The number of points and references with a status."""
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
        folder: the folder of the exploration, as `mmau.explore.explore` has it.
        engine: carries out the tasks. workers: how many it has, for the estimate.
        seconds: limit for a task (wall time). retry: whether tasks that failed or timed out run again.
        say: prints a line of progress. work: the work function.

    Raises:
        Ended: after a signal; `RESULTS` then holds what there is of each point.
        ValueError: no point of the space is a unit, a limit is out of range, or the folder holds other files or is in use.
        OSError: the disk is full, or the folder cannot be written; finished tasks are stored.
        WorkerError: workers cannot be started or reached.
    """
    Limits(seconds)
    if space.strategy is None:
        check_any_valid(list(space.points()))
    check_folder(folder)
    with Store(folder / STORE, WHAT) as store:
        for name in ("units", "verilog"):
            (folder / name).mkdir(exist_ok=True)
        write_atomically(folder / SPACE, space.text.encode())
        references = space.reference_points()
        evaluation = _Evaluation(
            space,
            folder,
            store,
            partial(run, work=work, store=store, engine=engine, seconds=seconds, retry=retry, weight=rough_seconds),
            seconds,
            say,
        )
        for warning in space.warnings:
            say(f"warning: {warning}")
        estimates: Estimates | None = None
        (folder / FILE).unlink(missing_ok=True)  # of another strategy
        points = list(space.points()) if space.strategy is None else _spread(space, min(space.strategy.points, space.size))
        try:
            evaluation.announce([*references, *points], workers, retry)
            if space.strategy is None:
                evaluation.evaluate([*references, *points])
            else:
                evaluation.evaluate(references)
                if isinstance(space.strategy, Search):
                    searched(space, space.strategy, evaluation.evaluate)
                else:
                    estimates = estimate(space, space.strategy, evaluation.evaluate, evaluation.accuracy, say)
                    write_atomically(folder / FILE, estimates.csv())
        except Ended:
            evaluation.keep_results(unfinished=True)
            raise
        evaluation.keep_results()
        evaluation.remove_others()
        return Exploration(evaluation.records(), estimates)


def check_folder(folder: Path) -> None:
    """Raise ValueError where the folder holds something else than an exploration."""
    found = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    if found and STORE not in found:
        shown = listed(found[:3]) + (" …" if len(found) > 3 else "")
        raise ValueError(
            f"{folder} must be an empty folder or that of an exploration, and holds {shown}; name another folder"
        )


def check_any_valid(points: Iterable[Point]) -> None:
    """Raise ValueError where no point is a unit."""
    first = ""
    for point in points:
        if point.is_valid:
            return
        first = first or f"{point.name}: {point.message}"
    raise ValueError(f"no point of the space can be evaluated; the first one, {first}")


def size_of(space: Space, points: Sequence[Point]) -> str:
    """How many points and references there are, and how many of them a strategy evaluates."""
    sizes = " × ".join(f"{axis.label} {len(axis.values)}" for axis in space.axes if len(axis.values) > 1)
    count = space.size if space.strategy is not None else sum(point.kind == POINT for point in points)
    size = f"{count:,} point{'s' * (count != 1)}{f' ({sizes})' * bool(sizes)}"
    references = len(space.references)
    beside = f", {references} reference{'s' * (references != 1)}" * bool(references)
    if space.strategy is None:
        return f"{size}{beside}"
    what = "a search evaluates" if isinstance(space.strategy, Search) else "costs are estimated from those of"
    return f"{size}{beside}: {what} at most {min(space.strategy.points, space.size):,}"


def _spread(space: Space, count: int) -> list[Point]:
    """`count` points, spread over the whole space."""
    chosen = (number * space.size // count for number in range(count))
    return [space.point(space.values(number)) for number in chosen]


class _Evaluation:
    """Evaluates lists of points, one after another; tasks that points share run once.

    Args:
        store: the results of this run and of earlier ones. carry_out: `mmau.jobs.run` with its engine, store and limits.
        limit: the longest time of a task (s).
    """

    def __init__(
        self,
        space: Space,
        folder: Path,
        store: Store,
        carry_out: Callable[..., list[Record]],
        limit: float,
        say: Callable[[str], None],
    ) -> None:
        self._space, self._folder, self._store, self._say = space, folder, store, say
        self._carry_out, self._limit = carry_out, limit
        self._points: dict[str, Point] = {}
        self._parts: dict[str, list[Part]] = {}
        self._sharing: dict[str, list[Point]] = {}  # by tasks that leave files: a reference may have the keys of a point
        self._outcomes: dict[str, Record] = {}
        self._kept = time.monotonic()

    def announce(self, points: Sequence[Point], workers: int, retry: bool) -> None:
        """Say how much work there is: for all points, or for as many as a strategy evaluates. Where none of a kind of tasks
        is known, one of them is carried out before the time is estimated, unless those are most of the work, or a strategy
        has yet to choose the points."""
        is_open = self._space.strategy is not None
        if not is_open:
            self._register(points)
        tasks = distinct_tasks([part for point in points for part in parts_of(self._space, point)])
        known = [record for task in tasks if (record := self._known(task)) is not None]
        done = {record.task.key for record in known if record.done or not retry}
        waiting = [task for task in tasks if task.key not in done]
        others = self._store.count - len(known)
        kept = f" ({others:,} stored results are of other points, or of other sources or tools)" * bool(others)
        counts = f"{len(tasks):,} tasks, {len(done):,} of them done{kept}"
        first = f"{self._space.name}: {size_of(self._space, points)}{';' if is_open else ':'} {counts}"
        sample = [] if is_open else sample_of(waiting, known)
        if sample and len(sample) <= MOST_SAMPLED * len(waiting):
            self._say(f"{first}; one task of each of {len(sample)} kinds first, to estimate the time")
            known += self._carry_out(sample, on_record=self._note)
            sampled = {task.key for task in sample}
            waiting = [task for task in waiting if task.key not in sampled]
            first = f"{len(waiting):,} tasks are left"
        seconds = timed_by(known, self._limit)
        self._carry_out = partial(self._carry_out, weight=seconds)
        work = estimate_text(seconds_of(waiting, seconds), workers) if waiting else "nothing to do"
        self._say(f"{first}; {work}; then the report, about {duration(REPORT)}")

    def _note(self, record: Record) -> None:
        self._outcomes[record.task.key] = record
        for point in self._sharing.get(record.task.key, ()):
            self._write_files(point)

    def _known(self, task: Task) -> Record | None:
        return self._outcomes.get(task.key) or self._store.find(task)

    def _register(self, points: Sequence[Point]) -> None:
        """Note the parts of points that are new, with what is stored of them, and write their files: a run that is
        interrupted reports all that is known."""
        for point in points:
            if point.name in self._points:
                continue
            self._points[point.name] = point
            self._parts[point.name] = parts_of(self._space, point)
            if point.is_valid:
                _write(self._folder / "units" / f"{point.file_name}.toml", point.toml)
                for path in (self._verilog(point), *self._netlists(point).values()):
                    path.unlink(missing_ok=True)  # of another unit or of other sources
                for part in self._parts[point.name]:
                    if part.kind in LEAVING:
                        self._sharing.setdefault(part.task.key, []).append(point)
                    if (record := self._known(part.task)) is not None:
                        self._note(record)

    def evaluate(self, points: Sequence[Point]) -> list[dict[str, Any]]:
        """The records of points that were not evaluated before."""
        if not points:
            return []
        self._register(points)
        invalid = [point for point in points if not point.is_valid]
        for point in invalid[:INVALID_SHOWN]:
            self._say(f"invalid: {point.name}: {point.message}")
        if len(invalid) > INVALID_SHOWN:
            self._say(f"invalid: {len(invalid) - INVALID_SHOWN:,} more, each with its reason in {RESULTS}")
        self._run(points)
        return [self._record(point) for point in points]

    def accuracy(self, points: Sequence[Point], columns: Sequence[str]) -> list[Mapping[str, Any]]:
        """`accuracy` of a record, for each point, of the workloads that columns name; equal arithmetics once."""
        of_point = [None if point.unit is None else arithmetic_of(point.unit) for point in points]
        parts = {}
        for point, arithmetic in zip(points, of_point, strict=True):
            if columns and arithmetic not in parts:
                known = [part for part in parts_of(self._space, point) if part.kind == "accuracy"]
                parts[arithmetic] = [part for part in known if any(_is_of(part.workload, name) for name in columns)]
        records = self._carry_out(distinct_tasks([part for each in parts.values() for part in each]))
        self._outcomes |= {record.task.key: record for record in records}
        tables = {
            arithmetic: measures([(part, self._outcomes[part.task.key]) for part in each], None)["accuracy"] or {}
            for arithmetic, each in parts.items()
        }
        return [tables.get(arithmetic, {}) for arithmetic in of_point]

    def records(self, unfinished: bool = False) -> list[dict[str, Any]]:
        """The records of all points whose requested parts have ended, or of those that have not, too, in their order."""
        return [
            self._record(point)
            for point in self._points.values()
            if unfinished or all(part.task.key in self._outcomes for part in self._parts[point.name])
        ]

    def keep_results(self, unfinished: bool = False) -> None:
        """Write the records, one a line, as of `records`."""
        records = self.records(unfinished)
        lines = (json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n" for record in records)
        write_atomically(self._folder / RESULTS, lines)
        self._kept = time.monotonic()

    def remove_others(self) -> None:
        """Remove the files of points that the space has no longer; their results stay stored."""
        names = {point.file_name for point in self._points.values() if point.is_valid}
        for path in (path for folder in FOLDERS for path in (self._folder / folder).glob("*")):
            if path.stem not in names:
                path.unlink()

    def _run(self, points: Sequence[Point]) -> None:
        def on_record(record: Record) -> None:
            self._note(record)
            if time.monotonic() - self._kept > SECONDS_BETWEEN:
                self.keep_results()

        if parts := [part for point in points for part in self._parts[point.name]]:
            self._carry_out(distinct_tasks(parts), on_record=on_record)

    def _write_files(self, point: Point) -> None:
        """Write the Verilog of a point, and its mapped netlists with their activity, where they are known."""
        writing = [part.task.key for part in self._parts[point.name] if part.kind in WRITING]
        if any(key in self._outcomes and self._outcomes[key].done for key in writing):
            self._write_verilog(point)
        self._write_netlists(point)

    def _write_verilog(self, point: Point) -> None:
        """Write the Verilog of a point, its evidence in the header, after its co-simulation and again after its proof."""
        keys = {part.kind: part.task.key for part in self._parts[point.name]}
        writing = next(keys[kind] for kind in WRITING if kind in keys)
        simulated, proof = self._outcomes[writing], self._outcomes.get(keys.get("proof", ""))
        if simulated.folder is None:
            raise ValueError(f"{point.name}: the finished task has no Verilog; remove {self._folder} to begin anew")
        text = renamed((simulated.folder / VERILOG).read_text(encoding="utf-8"), point.name)
        is_waiting = "proof" in keys and proof is None
        _write(self._verilog(point), with_paragraph(text, known_of(simulated, is_waiting, proof)))

    def _write_netlists(self, point: Point) -> None:
        """Write the mapped netlists with their activity, of a point that was measured with `saif`."""
        records = (self._outcomes.get(part.task.key) for part in self._parts[point.name] if part.kind == "cost")
        for folder in (record.folder for record in records if record is not None and record.folder is not None):
            for name, path in self._netlists(point).items():
                if (folder / name).is_file():
                    path.parent.mkdir(exist_ok=True)
                    _write(path, (folder / name).read_text(encoding="utf-8"))

    def _netlists(self, point: Point) -> dict[str, Path]:
        """Where the files that a measurement with `saif` leaves are kept, by their names."""
        return {name: self._folder / "netlists" / f"{point.file_name}{Path(name).suffix}" for name in (NETLIST, SAIF)}

    def _verilog(self, point: Point) -> Path:
        return self._folder / "verilog" / f"{point.file_name}.v"

    def _record(self, point: Point) -> dict[str, Any]:
        return record_of(self._space, point, self._parts[point.name], self._outcomes)


def _is_of(workload: str, column: str) -> bool:
    return bool(workload) and column.startswith(f"accuracy.{workload}.")


def known_of(record: Record, is_waiting: bool, proof: Record | None) -> tuple[str, str]:
    """The lines about simulation and proof in the header of a point."""
    if record.result is None:
        return "Simulated: no.", "Proved: no."
    received, mismatches = record.result["received"], record.result["mismatches"]
    found = proof_of(record.result, proof) or {"proved": None, "reason": "not asked"}
    reason = "its proof has not ended" if is_waiting else found["reason"]
    proved = f"for all inputs, {found['obligations']} obligations" if found["proved"] else f"no; {reason}"
    return f"Simulated: {received:,} vectors in Verilator, {mismatches:,} mismatches.", f"Proved: {proved}."


def _write(path: Path, text: str) -> None:
    """Write a file, unless it exists with this content."""
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)


WORKER = 700 << 20
"""Bytes of a worker with what it starts, Yosys or a compiler, on a unit of a few products."""

PRODUCT = 24 << 20
"""Bytes that each product of a unit adds."""

MEMORY = Path("/proc/meminfo")
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))
"""Files with the memory limit of a control group, such as a container's, and with the memory in use (bytes)."""


def workers_for(points: list[Point], wanted: int | None = None) -> int:
    """The number of workers: `wanted`, or one per core, but no more than fit into memory with the largest of the points.

    Raises:
        ValueError: fewer than one is wanted.
    """
    if wanted is not None and wanted < 1:
        raise ValueError(f"workers must be at least 1, got {wanted}")
    cores = len(os.sched_getaffinity(0)) if wanted is None else wanted
    free = available_bytes()
    return cores if free is None else max(1, min(cores, free // bytes_of(points)))


def bytes_of(points: list[Point]) -> int:
    """The memory of a worker on the largest of the points (bytes)."""
    lengths = [point.unit.operation.length for point in points if point.unit is not None]
    return WORKER + PRODUCT * max(lengths, default=1)


def available_bytes() -> int | None:
    """Memory that is free for programs (bytes); None where the system does not report it."""
    found = []
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text(encoding="ascii").splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) << 10)
    except (OSError, KeyError, ValueError):
        pass
    try:
        limit, used = (int(path.read_text(encoding="ascii")) for path in LIMITS)
        found.append(max(0, limit - used))
    except (OSError, ValueError):  # no limit is the word `max`
        pass
    return min(found, default=None)
