"""Signals and errors of long-running programs: one line, and an exit status for each cause."""

import sys
from collections.abc import Callable

from mmau.jobs.processes import WorkerError
from mmau.signals import Ended, raised_as_ended


def program(name: str, main: Callable[[], int], errors: tuple[type[Exception], ...] = ()) -> int:
    """The exit status of a program: main's; 2 after an error, 128 + signal after a signal, each with one line on stderr.

    Args:
        name: of the program, printed before each line.
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
