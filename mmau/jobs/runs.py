"""Runs tasks: stored results are not computed again, new ones are stored at once; `program` ends a program that does so."""

import sys
from collections.abc import Callable, Iterable
from contextlib import closing

from mmau.jobs.processes import Processes, WorkerError
from mmau.jobs.progress_line import Progress
from mmau.jobs.store import Record, Store
from mmau.jobs.task import Engine, Limits, Task, Work, name_of
from mmau.signals import Ended, raised_as_ended


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
    """Execute the tasks without an outcome in the store.

    Args:
        tasks: with distinct keys.
        work: a function at the top of a module (see `Work`). It runs in a worker.
        workers: processes; None for one per core.
        engine: executes the tasks in place of worker processes.
        seconds: limit for each task (wall time); None for none.
        start_within: seconds after which no more tasks are started; None for no limit.
        retry: whether tasks that failed, crashed or timed out run again.
        on_record: called with each new record once it is stored.
        unit, amount: the items that the progress counts, and the number of them in a task.

    Returns:
        A record for each task that has an outcome, in their order.

    Raises:
        ValueError: two tasks have one key, a limit is out of range, or another process cannot find the work function.
        WorkerError: worker processes cannot be started.
        OSError: a disk is full, or the store cannot be written; finished tasks are stored, as after a signal.
    """
    wanted, limits = distinct(tasks), Limits(seconds, start_within)
    chosen = Processes(workers) if engine is None else engine
    progress = Progress(store.what, unit, sum(amount(task) for task in wanted.values()))
    for message in store.damaged:
        progress.say(message)
    reported = len(store.damaged)
    records: dict[str, Record] = {}
    for key, task in wanted.items():
        record = store.find(task)
        if record is not None and (record.done or not retry):
            records[key] = record
            progress.found(record, amount(task))
    for message in store.damaged[reported:]:
        progress.say(message)
    waiting = [task for key, task in wanted.items() if key not in records]
    if waiting:
        with store.scratch() as scratch, closing(chosen.outcomes(name_of(work), waiting, limits, scratch)) as outcomes:
            for outcome in outcomes:
                store.check_space(outcome)
                record = records[outcome.task.key] = store.keep(outcome)
                progress.ended(record, amount(outcome.task))
                on_record(record)
    progress.show(last=True)
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
            raise ValueError(f"tasks {other.name} and {task.name} have the same content; give each task once")
    return found


def program(name: str, main: Callable[[], int], errors: tuple[type[Exception], ...] = ()) -> int:
    """The exit status of a program: main's; 2 after an error, 128 + signal after a signal, each with one line on stderr.

    Args:
        name: the name of the program, printed before each line.
        main: runs the program.
        errors: exceptions reported as one line besides ValueError, OSError and WorkerError.
    """
    reported: tuple[type[Exception], ...] = (ValueError, OSError, WorkerError, *errors)
    try:
        with raised_as_ended() as signals:
            signals.leaves_nothing = False
            return main()
    except Ended as ended:
        print(f"{name}: {ended}; finished tasks are stored, run it again to resume", file=sys.stderr)
        return 128 + ended.signum
    except reported as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
