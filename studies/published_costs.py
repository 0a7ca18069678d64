"""Published ratios beside ours (`python -m studies.published_costs docs/evidence/explore/cost.json STORE`).

Absolute figures of different processes and flows say nothing about each other; a ratio of two designs in one flow does,
where both sides compare the same thing. Measured figures are recorded in the folder STORE, so that a run may be interrupted.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden import Implementation, Unit
from golden.files import write_atomically
from mmau.jobs import Processes, Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.report import markdown
from rtl.cost import timing
from rtl.cost.cost_columns import measure, tool_versions
from rtl.cost.cost_request import CostRequest
from rtl.cost.liberty import library
from rtl.cost.synthesis import TOP, synthesise
from rtl.tools import MissingTool
from studies.area.designs import DISCRETE, DISCRETE_NAME, TARGET, TARGET_NAME, DiscreteDesign, Row

FUSED, DISCRETE_KEY = "fused", "discrete"

COLUMNS = {
    "cells": "gates",
    "depth": "depth",
    "area_um2": "area (µm²)",
    "delay_ns": "delay (ns)",
    "energy_pj": "energy of a step (pJ)",
}
"""The compared designs, and their names on the page."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the figures that are not recorded yet, and write the outcome."""
    parser = argparse.ArgumentParser(prog="cost", description="Published ratios beside ours.")
    parser.add_argument("outcome", type=Path, help="the .json file; the page is the .md file beside it")
    parser.add_argument("store", type=Path, help="the folder of recorded figures")
    options = parser.parse_args(arguments)
    return program("cost", lambda: run_all(options.outcome, options.store), (MissingTool,))


def run_all(outcome: Path, store_folder: Path) -> int:
    """Both sides of every comparison; exit status 1 where one could not be measured."""
    depends = {
        "tools": tool_versions(),
        "sources": digest_of_sources(
            (*GOLDEN, "rtl/**/*.py", *(f"rtl/cost/{name}.py" for name in ("liberty", "synthesis", "timing")))
        ),
    }
    tasks = [Task(name, {"side": name}, depends) for name in (FUSED, DISCRETE_KEY)]
    with Store(store_folder, "cost") as store:
        records = run(tasks, side, store, engine=Processes(1), retry=True, unit="designs")
    if not all(record.done for record in records):
        return 1
    found = {record.task.name: record.result for record in records}
    write_atomically(outcome, (json.dumps(found, indent=1, sort_keys=True) + "\n").encode())
    write_atomically(outcome.with_suffix(".md"), page(found).encode())
    return 0


def side(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one: the figures of one side."""
    if content["side"] == FUSED:
        found = measure(Unit(name=TARGET_NAME, operation=TARGET), {}, folder)
        return {key: found[key] for key in (*COLUMNS, "tools", "wanted")}
    return discrete_side()


def discrete_side() -> dict[str, Any]:
    """The benchmark of separate multipliers and adders, which is no unit: as `measure`, without the check by vectors."""
    wanted = CostRequest()
    cells = library(wanted.library)
    whole = synthesise(Row(DISCRETE_NAME, DiscreteDesign(DISCRETE, Implementation())).verilog(), cells, wanted.limit)
    assert whole.mapped is not None
    timed = timing.analyse(whole.mapped.verilog, TOP, cells, False, wanted.clock_ns, wanted.activity, wanted.limit)
    energy = round(1e3 * timed.power * wanted.clock_ns, 6)
    figures = (whole.gates.cells, whole.gates.depth, whole.mapped.area, timed.delay, energy)
    return dict(zip(COLUMNS, figures, strict=True))


def page(found: Mapping[str, Any]) -> str:
    """The text of the page."""
    fused, discrete = found[FUSED], found[DISCRETE_KEY]
    rows = []
    for column, label in COLUMNS.items():
        one, other = fused[column], discrete[column]
        rows.append((label, f"{one:,.6g}", f"{other:,.6g}", f"{1 - one / other:.1%}"))
    tools = ", ".join(sorted(fused["tools"].values()))
    return markdown.document(
        "Costs beside published ones",
        PREFACE.format(fused=TARGET_NAME, discrete=DISCRETE_NAME, **fused["wanted"], tools=tools),
        markdown.table(("", "fused", "discrete", "fused takes less"), rows, numbers=(1, 2, 3)),
        PUBLISHED,
    )


PREFACE = """\
`make cost` measures this page's figures and writes it; do not edit it. [area.md](../area.md) has the gates of every
datapath of the catalogue. [explore-cost.md](../../guides/explore-cost.md) explains the columns and the measurement.

Absolute figures of different processes, libraries and flows say nothing about each other. A ratio of two designs that
went through one flow does, where both sides compare the same thing. So only ratios stand beside each other here.

## Fused against discrete

{fused}, every product and c summed at once, against the same dot product from {discrete} in a chain,
made of the same components (`studies/area/baseline.py`).
Combinational, {library} cells, {clock_ns:g} ns clock, each net changes
{activity:g} times in a cycle; {tools}. The fused side computed its vectors as the golden model does; the discrete one is
no unit and was not held to one."""

PUBLISHED = """\
PDPU (Li, Fang, Wang: arXiv 2302.01876) states in its abstract up to 43 % less area, 64 % less latency and 70 % less
power than existing implementations, for a fused posit dot product in 28 nm. The comparison is of the same kind: one
fused datapath against separate units. It is not the same one. Posit operands need decoders and encoders of variable
fields around every separate unit, which floating-point ones do not, and "up to" names the best of its cases.

## Where the same comparison cannot be made

- **Online align-and-add** (Alexandridis, Dimitrakopoulos: arXiv 2410.21959) states in its abstract 3 % to 23 % less
  area and 4 % to 26 % less power for multi-term adders that find the largest exponent, align and add in one tree of
  operators, against those that do it one after the other. This project builds the second way alone (`max_exp`, `align`,
  `accumulate`): the first, tried on two designs, took more cells or more than twice the depth
  ([architectures.md](../architectures.md#tried-and-not-in-the-project)).
- **TransDot** (Wang, Nie, Lin, Shi, Li: arXiv 2605.07245) states in its abstract 37.3 % more area than FPnew on average
  for 1.46 times (FP16) and 2.92 times (FP8) the area efficiency in dot products with FP32 accumulation. Both sides are
  one unit that also multiplies and adds FP32 by itself. The datapath of several formats here ([area.md](../area.md))
  sums dot products alone, so neither side of that ratio can be built from it.
- **MXDOTP** (İslamoğlu, Bertaccini, Prasad, Conti, Garofalo, Benini: arXiv 2505.13159) states in its abstract 5.1 % more
  area of a cluster of eight cores for a unit that sums eight MXFP8 products. Cores and memories are in that ratio; what
  the formats of one unit share is not stated there.

The figures of all four papers are those of their abstracts; no others were looked up."""


if __name__ == "__main__":
    sys.exit(main())
