"""A cell of a paper's table beside what this project gives for it."""

from collections.abc import Iterable
from typing import NamedTuple


class Cell(NamedTuple):
    """A value of a paper, that of this project, and the reason where they are not the same."""

    where: str
    paper: str
    model: str
    agrees: bool
    reason: str = ""


def equal(where: str, paper: object, model: object, reason: str = "") -> Cell:
    """A cell that agrees where both read the same."""
    return Cell(where, str(paper), str(model), str(paper) == str(model), reason)


def checked(found: Iterable[Cell]) -> int:
    """Print the cells that differ, and the counts; the exit status: 1 where one differs without a reason."""
    counts, status = {"the same": 0, "explained": 0, "not explained": 0}, 0
    for cell in found:
        kind = "the same" if cell.agrees else "explained" if cell.reason else "not explained"
        counts[kind] += 1
        if not cell.agrees:
            print(f"{cell.where}: paper {cell.paper}, model {cell.model}: {cell.reason or 'NOT EXPLAINED'}")
        status |= kind == "not explained"
    print(", ".join(f"{count} cells {kind}" for kind, count in counts.items()))
    return status
