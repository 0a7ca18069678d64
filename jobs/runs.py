"""Runs tasks: what is kept is not done again, what ends is kept at once."""

from collections.abc import Callable, Iterable
from contextlib import closing

from jobs.engine import Engine, Limits, Work, name_of
from jobs.processes import Processes
from jobs.progress import Progress
from jobs.store import Record, Store
from jobs.task import Task


def run(
    tasks: Iterable[Task],
    work: Work,
    store: Store,
    *,
    workers: int | None = None,
    engine: Engine | None = None,
    seconds: float | None = None,
    start_within: float | None = None,
    retry: bool = False,
    on_record: Callable[[Record], None] = lambda record: None,
    unit: str = "tasks",
    amount: Callable[[Task], int] = lambda task: 1,
) -> list[Record]:
    """Carry out the tasks that the store has no outcome of.

    Args:
        tasks: no two of them with one key.
        work: a function at the top of a module: content and an empty folder for files in, JSON out. It runs in a worker.
        workers: processes; None for one a core.
        engine: what carries the tasks out, in place of worker processes.
        seconds: limit for each task (wall time); None for none.
        start_within: seconds after which no task is started any more; None for none.
        retry: whether tasks run again that are kept as failed, crashed or timed out.
        on_record: called with each new record once it is stored.
        unit, amount: what the progress counts, and how many of it a task is.

    Returns:
        A record for each task that has an outcome, in their order.

    Raises:
        ValueError: two tasks have one key, a limit is none, or another process cannot find the work function.
        WorkerError: worker processes cannot be started.
        OSError: a disk is full, or the store cannot be written. What is done is kept then, as after a signal.
    """
    wanted, limits = distinct(tasks), Limits(seconds, start_within)
    chosen = Processes(workers) if engine is None else engine
    progress = Progress(store.what, unit, sum(amount(task) for task in wanted.values()))
    for message in store.damaged:
        progress.say(message)
    told = len(store.damaged)
    records: dict[str, Record] = {}
    for key, task in wanted.items():
        record = store.find(task)
        if record is not None and (record.done or not retry):
            records[key] = record
            progress.found(record, amount(task))
    for message in store.damaged[told:]:
        progress.say(message)
    waiting = [task for key, task in wanted.items() if key not in records]
    if waiting:
        with store.scratch() as scratch, closing(chosen.outcomes(name_of(work), waiting, limits, scratch)) as outcomes:
            for outcome in outcomes:
                store.check_space(outcome)
                record = records[outcome.task.key] = store.keep(outcome)
                progress.ended(record, amount(outcome.task))
                on_record(record)
    progress.tell(last=True)
    return [records[key] for key in wanted if key in records]


def distinct(tasks: Iterable[Task]) -> dict[str, Task]:
    """The tasks by their keys.

    Raises:
        ValueError: two have one key.
    """
    found: dict[str, Task] = {}
    for task in tasks:
        other = found.setdefault(task.key, task)
        if other is not task:
            raise ValueError(
                f"tasks {other.name} and {task.name} have the same content: the result of one would count twice"
            )
    return found
