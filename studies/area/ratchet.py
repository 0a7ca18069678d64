"""The ratchet: a small fixed set of units whose cells may not grow (`python -m studies.area.ratchet`)."""

import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from golden import Unit
from golden.units.unit_file import unit_from_table
from rtl.cost.flow import measure
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from rtl.yosys import YosysError

ALLOWED_GROWTH = 0.03
"""Growth in cells that is allowed, as a share of the committed figure."""


@dataclass(frozen=True)
class Committed:
    """A unit of the set.

    Attributes:
        unit: what is measured.
        cells: the committed figure.
    """

    unit: Unit
    cells: int


@dataclass(frozen=True)
class Measured:
    """A unit of the set, and its cells now."""

    committed: Committed
    cells: int

    @property
    def verdict(self) -> str:
        """`ok`, `GROWN` beyond what is allowed, or `shrunk`."""
        if self.cells > self.committed.cells * (1 + ALLOWED_GROWTH):
            return "GROWN"
        return "shrunk" if self.cells < self.committed.cells else "ok"


def committed_units() -> list[Committed]:
    """The set, from ratchet.toml beside this file."""
    table = tomllib.loads((files(__package__) / "ratchet.toml").read_text(encoding="utf-8"))
    committed = []
    for entry in table["unit"]:
        cells = entry.pop("cells")
        committed.append(Committed(unit_from_table(entry), cells))
    return committed


def cells_of(unit: Unit) -> int:
    """The cells of a unit, counted by the flow of `rtl.cost.flow`."""
    return measure(to_verilog(UnitDesign(unit), "unit"), "unit").cells


def check(committed: Sequence[Committed], cells: Callable[[Unit], int] = cells_of) -> tuple[int, str]:
    """Measure the set.

    Args:
        committed: the set.
        cells: how a unit is measured.

    Returns:
        Exit status (1 where a unit has grown too much) and a text with the table.
    """
    measured = [Measured(entry, cells(entry.unit)) for entry in committed]
    lines = [f"{'unit':<28}{'committed':>10}{'now':>10}{'change':>10}"]
    for entry in measured:
        before, now = entry.committed.cells, entry.cells
        lines.append(f"{entry.committed.unit.name:<28}{before:>10}{now:>10}{now / before - 1:>10.1%}  {entry.verdict}")
    verdicts = {entry.verdict for entry in measured}
    if "shrunk" in verdicts:
        lines.append("units have shrunk: lower their figures in studies/area/ratchet.toml, so that the gain is kept")
    if "GROWN" in verdicts:
        lines.append(
            f"units have grown by more than {ALLOWED_GROWTH:.0%}: make them smaller, or raise their figures and say why"
        )
    return int("GROWN" in verdicts), "\n".join(lines)


def main() -> int:
    """Check the set; the exit status is 1 where a unit has grown, 2 where a tool is missing or fails."""
    try:
        status, text = check(committed_units())
    except (MissingTool, YosysError) as error:
        print(f"ratchet: {error}", file=sys.stderr)
        return 2
    print(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
