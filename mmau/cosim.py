"""`mmau cosim`: designs against the golden model, in a simulator."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import golden
import rtl
from cosim import (
    CampaignError,
    Dut,
    ElaborationError,
    Report,
    Selection,
    SimulationError,
    coverage_job,
    main_job,
    run,
    run_many,
    summary,
)
from cosim.runner.run import file_name
from mmau import DIFFERED, OK, WRONG_REQUEST
from mmau.cosim_files import ReportFiles
from mmau.designs import chosen_design
from mmau.dut import SOURCE_OPTIONS, chosen_dut, dut_template
from mmau.recorded import of_report, said_of


def run_cosim(arguments: argparse.Namespace) -> int:
    """`mmau cosim`."""
    if arguments.dut_template is not None:
        try:
            print(dut_template(arguments), end="")
        except ElaborationError as error:
            raise ValueError(error) from error
        return OK
    design = chosen_design(arguments)
    if arguments.all + arguments.coverage + (design is not None) > 1:
        raise ValueError("give one of --all, --coverage and a unit, not several")
    of_one_unit = ("waves", "dut", "rtl_coverage", *SOURCE_OPTIONS)
    if design is None and (any(getattr(arguments, option) for option in of_one_unit) or arguments.vector is not None):
        raise ValueError(
            "--waves, --vector, --rtl-coverage, --dut, --top and --ports go with one unit: "
            "--unit UNIT.toml, or --arch and --instr"
        )
    waves = wave_file(design.name, arguments.sim) if design is not None and arguments.waves else None
    designs = chosen_job(arguments) if design is None else [design]
    files = ReportFiles(arguments, len(designs), inputs(arguments))
    errors: dict[str, str] = {}
    try:
        if design is None:
            reports = run_many(
                designs, os.cpu_count() or 1, work_dir=arguments.work, on_report=files.add, **common(arguments)
            )
        else:
            dut = chosen_dut(design, arguments)
            check_rtl_coverage(arguments, dut)
            here = {"dut": dut, "waves": waves, "work_dir": arguments.work, "processes": os.cpu_count() or 1}
            reports = [run(design, rtl_coverage=arguments.rtl_coverage is not None, **here, **common(arguments))]
    except CampaignError as error:
        reports, errors = error.reports, error.errors
    except (ElaborationError, SimulationError) as error:
        files.finish([], {} if design is None else {design.name: str(error)})
        raise ValueError(error) from error
    except (rtl.MissingTool, rtl.YosysError) as error:
        raise ValueError(error) from error
    status = show(reports, errors, arguments, waves)
    files.finish(reports, errors)
    return status


def check_rtl_coverage(arguments: argparse.Namespace, dut: Dut | None) -> None:
    """Raise ValueError where the file of `--rtl-coverage` would name Verilog that does not stay."""
    if arguments.rtl_coverage is not None and dut is None and arguments.work is None:
        raise ValueError("--rtl-coverage of a generated unit needs --work DIR, where its Verilog stays")


def common(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of one run and of many."""
    selection = Selection(tuple(arguments.only or ()), tuple(arguments.exclude or ()), arguments.vector)
    return {
        "vectors": arguments.vectors, "seed": arguments.seed, "simulator": arguments.sim, "selection": selection,
        "fail_fast": arguments.fail_fast, "progress": progress, "mode": arguments.mode,
    }  # fmt: skip


def progress(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


def inputs(arguments: argparse.Namespace) -> list[Path]:
    """The files that a run reads, which no report may overwrite."""
    named = [arguments.unit, arguments.ports, arguments.filelist, *(arguments.also or []), *(arguments.dut or [])]
    return [path for path in named if path is not None]


def show(reports: Sequence[Report], errors: Mapping[str, str], arguments: argparse.Namespace, waves: Path | None) -> int:
    """Print what the runs came to; the exit status."""
    passed = all(report.passed for report in reports) and not errors
    if arguments.json:
        found: dict[str, Any] = {"passed": passed, "seed": arguments.seed}
        found |= {"reports": [as_dict(report) for report in reports]}
        found |= {"errors": [{"unit": name, "message": message} for name, message in errors.items()]} if errors else {}
        print(json.dumps(found))
    else:
        print("\n".join([*said_of(reports), summary(reports, arguments.seed)]))  # the sums are the last line
        if waves is not None:
            print(f"waveform: {waves}")
        if arguments.work is not None:
            print(f"build and logs: {arguments.work}")
    if arguments.rtl_coverage is not None and any(report.rtl_coverage is None for report in reports):
        print("mmau cosim: no coverage of the RTL: the simulation broke off before it was written", file=sys.stderr)
    for name, message in errors.items():
        print(f"mmau cosim: {name}: {message}", file=sys.stderr)
    if errors:
        return WRONG_REQUEST
    return OK if passed else DIFFERED


def as_dict(report: Report) -> dict[str, Any]:
    """A report for JSON, with what is recorded of its Verilog."""
    known = of_report(report)
    return report.as_dict() | {"recorded": None if known is None else known.as_dict()}


def chosen_job(arguments: argparse.Namespace) -> Sequence[golden.Unit | rtl.Design]:
    """What is co-simulated where the options do not name it."""
    if arguments.all:
        return golden.catalogue_units()
    return coverage_job() if arguments.coverage else main_job()


def wave_file(name: str, simulator: str) -> Path:
    """Where `--waves` leaves a waveform."""
    return Path(file_name(name) + (".vcd" if simulator == "verilator" else ".fst"))
