"""The campaign: `python -m studies.cosim_campaign OUTCOME.json PAGE.md STORE`.

Each run's result is recorded in the folder STORE when the run ends (`jobs`), so that an interrupted campaign resumes;
results of other sources or versions do not count. At the end OUTCOME.json and its page are written: the results and, in
OUTCOME.json, the digests of the Verilog. With --operation they keep the entries of the other operations, each with its date,
commit and versions. STORE has the files of failed runs, with a waveform of the first mismatch. Exit status: 0, all
passed; 1, a run failed; 2, refused; 128 + signal, interrupted.
"""

import argparse
import sys
from pathlib import Path

from cosim.runner.needed_tools import check_tools
from golden import OPERATIONS
from golden.files import check_output, write_atomically
from mmau.jobs import Store, engine_for, program, run
from mmau.jobs.store import sealed
from rtl.tools import MissingTool
from studies.cosim_campaign.outcome import merged, not_run, outcome_of, page, read_outcome
from studies.cosim_campaign.tasks import VECTORS, campaign_units, made_with, simulate, tasks

SECONDS_A_TASK = 7200.0
"""Time limit of a task (s): a hundred times what a run takes, so that a task that reaches it would never end."""


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
    for name, messages in outcome["failures"].items():
        print(f"{name}: {'; '.join(messages)}")
    return int(not outcome["passed"])


if __name__ == "__main__":
    sys.exit(program("campaign", main, (MissingTool,)))
