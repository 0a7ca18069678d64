"""The one error of a measurement of cost, whichever tool failed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from golden.files import write_atomically
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.timing import TimingError
from rtl.yosys import YosysError


class CostError(Exception):
    """A tool failed or did not end in time, or what it wrote cannot be trusted; the message says where its log is."""


@contextmanager
def one_message(name: str, logs: Path | None = None) -> Iterator[None]:
    """A context that turns the errors of a tool or of its reader into a `CostError`.

    Args:
        name: name of the unit.
        logs: folder for the log of a tool that fails; None discards the log.
    """
    try:
        yield
    except (YosysError, TimingError) as error:
        raise CostError(f"{name}: {error}{kept_log(error.log, name, logs)}") from error
    except NetlistError as error:
        raise CostError(str(error)) from error


def kept_log(log: str, name: str, logs: Path | None) -> str:
    """Write a log into the folder, if there is one, and return a phrase that says where it is."""
    if logs is None:
        return ""
    path = logs / f"{re.sub(r'[^A-Za-z0-9=._-]+', '_', name)}.log"
    write_atomically(path, log.encode())
    return f"; its log is {path}"
