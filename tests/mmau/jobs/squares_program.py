"""A program of long work, for tests that end it: `python -m tests.mmau.jobs.squares_program FOLDER TASKS SECONDS [WORK]`."""

import sys
from pathlib import Path

from mmau.jobs import Record, Store, Task, program, run
from tests.mmau.jobs import works


def main() -> int:
    folder, tasks, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    work = getattr(works, sys.argv[4]) if len(sys.argv) > 4 else works.slow_square
    pids = {"pids": f"{folder}.pids"} if len(sys.argv) > 4 else {}
    wanted = [Task(f"x = {x}", {"x": x, "seconds": seconds} | pids) for x in range(tasks)]

    def tell(record: Record) -> None:
        print(record.task.name, flush=True)

    with Store(folder, "squares") as store:
        records = run(wanted, work, store, workers=2, on_record=tell)
    print(sum(record.result for record in records if record.done), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(program("squares", main))
