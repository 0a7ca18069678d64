"""`mmau explore`: accuracy, cost, co-simulation and proof of every unit of a design space, as tables, plots and a page."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mmau.explore.report_files
import rtl
from cosim.runner.needed_tools import check_tools
from golden.checks import listed
from mmau import DIFFERED, OK, WRONG_REQUEST
from mmau.cli.json_objects import print_object
from mmau.cli.missing_modules import missing
from mmau.explore.design_space import Search, Space
from mmau.explore.estimation import FILE
from mmau.explore.explore import RESULTS, Exploration, workers_for
from mmau.explore.explore import explore as explore_space
from mmau.explore.space_file import load_space
from mmau.explore.tasks import UNFINISHED
from mmau.jobs import Cluster, Engine, engine_for
from mmau.jobs.processes import WorkerError
from mmau.signals import Ended

NEEDED = {"pyarrow": "tables as Parquet", "plotly": "the report", "matplotlib": "plots"}
"""Packages of the extra `explore` and their use; checked before the exploration begins."""


def run_explore(arguments: argparse.Namespace) -> int:
    """Run `mmau explore` and return its exit status."""
    space = load_space(arguments.space)
    check_packages(space)
    try:
        if space.cosimulation is not None:
            check_tools("verilator")
        engine, workers = chosen_engine(arguments, space)
        found = explore_space(
            space, arguments.out, engine, workers, seconds=arguments.seconds, retry=arguments.retry, say=say
        )
    except Ended:
        report_unfinished(space, arguments.out)
        raise
    except (rtl.MissingTool, WorkerError) as error:
        raise ValueError(error) from error
    files = [str(arguments.out / RESULTS)]
    estimates: Sequence[str] = ()
    if found.estimates is not None:
        estimates = found.estimates.sentences()
        files.append(str(arguments.out / FILE))
    files += map(str, report(space, found.records, arguments.out, estimates))
    show(found, files, arguments)
    if found.not_done:
        return WRONG_REQUEST
    return DIFFERED if found.differing else OK


def report(space: Space, records: Sequence[Mapping[str, Any]], folder: Path, estimates: Sequence[str] = ()) -> list[Path]:
    """Write the files of the report."""
    return mmau.explore.report_files.write(
        records, folder, title=space.name, space=space.text, asked=space.asked, estimates=estimates
    )


def report_unfinished(space: Space, folder: Path) -> None:
    """Write the report of what an interrupted run has measured, and say what is missing."""
    path = folder / RESULTS
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    if not records:
        return
    say("interrupted: writing the report of what there is; another signal ends this")
    try:
        report(space, records, folder)
    except Ended:
        say(f"the report was not written: {path} is newer than all other files in {folder}; run this again to go on")
        raise
    open_points = [record["name"] for record in records if record["status"] == UNFINISHED]
    say(
        f"{len(open_points):,} of {len(records):,} points are not measured to the end: {listed(open_points[:SHOWN])}"
        + " …" * (len(open_points) > SHOWN)
        + f"; the report in {folder} says what is missing; run this again to go on"
    )


SHOWN = 5
"""Names of points that a message has."""


def check_packages(space: Space) -> None:
    """Raise ValueError where a package is missing that the exploration needs at its end."""
    needed = dict(NEEDED)
    if isinstance(space.strategy, Search):
        needed["optuna"] = "a search"
    if space.accuracy is not None and any(workload.network is not None for workload in space.accuracy.checked):
        needed["torch"] = "the workload network"
    for package, what in needed.items():
        if find_spec(package) is None:
            raise ValueError(f"{what}: {missing(package, 'explore')}")


def chosen_engine(arguments: argparse.Namespace, space: Space) -> tuple[Engine, int]:
    """The engine of the tasks, and its number of workers."""
    points = [] if space.strategy is not None else list(space.points())
    here = workers_for([*points, *space.reference_points()], arguments.jobs)
    engine = engine_for(arguments.scheduler, here)
    return engine, engine.workers if isinstance(engine, Cluster) else here


def show(found: Exploration, files: list[str], arguments: argparse.Namespace) -> None:
    """Print the counts, the points that are not done, and the files."""
    counts = {status: found.count(status) for status in ("done", "invalid", "failed", "timed out")}
    if arguments.json:
        not_done = {record["name"]: f"{record['status']}: {record['message']}" for record in found.not_done}
        shown: dict[str, Any] = {"counts": counts, "not_done": not_done, "differing": found.differing, "files": files}
        print_object("explore", shown)
        return
    print(", ".join(f"{count:,} {status}" for status, count in counts.items() if count))
    for record in found.not_done:
        print(f"{record['name']} {record['status']}: {record['message'].partition(chr(10))[0]}", file=sys.stderr)
    for name in found.differing:
        print(f"{name}: its circuit differs from the golden model", file=sys.stderr)
    if found.not_done:
        print("run again with --retry to repeat the failed tasks", file=sys.stderr)
    print("\n".join(files))


def say(line: str) -> None:
    """Print a line of progress to stderr."""
    print(f"mmau explore: {line}", file=sys.stderr, flush=True)
