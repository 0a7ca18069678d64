"""The campaign: `python -m cosim.campaign OUTCOME.json PAGE.md STORE`.

Each run's result is kept in the folder STORE as it comes (`jobs`), so that an interrupted campaign goes on where it was;
what other sources or versions have computed does not count. At the end OUTCOME.json and its page say what came of it, and
OUTCOME.json of which Verilog; with --operation they keep what they say of other operations, each of which has its own date,
commit and versions. The files of what did not pass, with a waveform of its first mismatch, are in STORE. Exit status: 0, all
passed; 1, something did not; 2, refused; 128 + signal, interrupted.
"""

import argparse
import sys
from pathlib import Path

from cosim.campaign.outcome import merged, not_run, outcome_of, page, read_outcome
from cosim.campaign.tasks import VECTORS, made_with, simulate, tasks
from cosim.campaign.units import campaign_units
from cosim.runner.tools import check_tools
from golden import OPERATIONS
from golden.files import check_output, write_atomically
from jobs import Store, engine_for, program, run
from jobs.contents import sealed
from rtl.tools import MissingTool

SECONDS_A_TASK = 7200.0
"""A hundred times what a run takes: one that is not done by then never ends."""


def main() -> int:
    """Run what is not yet known, then write both files."""
    parser = argparse.ArgumentParser(prog="campaign", description="Volume co-simulation of every operation.")
    parser.add_argument("outcome", type=Path, help="where OUTCOME.json goes")
    parser.add_argument("page", type=Path, help="where its page goes, Markdown")
    parser.add_argument("store", type=Path, help="the folder of results")
    parser.add_argument("--vectors", type=int, default=VECTORS, help="at least so many of each operation")
    names = [name for name in OPERATIONS if any(unit.operation.name == name for unit in campaign_units())]
    parser.add_argument(
        "--operation", action="append", choices=names, metavar="NAME", help="these alone; OUTCOME.json keeps the others"
    )
    parser.add_argument("--jobs", type=int, help="runs at a time; one a core by default")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, whose workers run in place of processes")
    options = parser.parse_args()
    if options.vectors < 1:
        raise ValueError(f"--vectors must be at least 1, got {options.vectors}")
    for output in (options.outcome, options.page):
        check_output(output)
    before = read_outcome(options.outcome) if options.operation else None
    check_tools("verilator", False)
    engine = engine_for(options.scheduler, options.jobs)
    with_what = made_with()
    wanted = tasks(with_what, options.vectors, only=options.operation)
    with Store(options.store, "campaign-cosim") as store:
        records = run(
            wanted, simulate, store, engine=engine, seconds=SECONDS_A_TASK, retry=True,
            unit="vectors", amount=lambda task: int(task.content["vectors"]),
        )  # fmt: skip
    outcome = outcome_of(records, with_what)
    if before is not None:
        outcome = merged(before, outcome)
    write_atomically(options.outcome, sealed(outcome).encode())
    write_atomically(options.page, page(outcome, not_run(outcome)).encode())
    for name, said in outcome["failures"].items():
        print(f"{name}: {'; '.join(said)}")
    return int(not outcome["passed"])


if __name__ == "__main__":
    sys.exit(program("campaign", main, (MissingTool,)))
