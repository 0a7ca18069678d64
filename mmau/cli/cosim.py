"""`mmau cosim`: co-simulation of designs with the golden model."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cosim
import golden
import rtl
from cosim import (
    CampaignError,
    ElaborationError,
    Report,
    Request,
    Selection,
    SimulationError,
    run,
    run_many,
    summary,
)
from cosim.runner.run import file_name
from golden.files import temporary_folder
from mmau import DIFFERED, OK, WRONG_REQUEST
from mmau.cli.chosen_design import chosen_design
from mmau.cli.cosim_files import RecordedEvidence, ReportFiles, leave_error
from mmau.cli.json_objects import print_object
from mmau.cli.options import SOURCE_OPTIONS, WHICH_DESIGN
from mmau.cli.streams import progress

if TYPE_CHECKING:
    from cosim import Dut

ONE_DESIGN = {
    "waves": "--waves", "vector": "--vector", "rtl_coverage": "--rtl-coverage", "dut": "--dut", "mutants": "--mutants",
    **SOURCE_OPTIONS,
}  # fmt: skip
"""Options that need one design, by their names in the parsed arguments."""


def run_cosim(arguments: argparse.Namespace) -> int:
    """Run `mmau cosim` and return its exit status; an error is written into the report files too."""
    try:
        return _run(arguments)
    except Exception as error:
        leave_error(arguments, str(error) or type(error).__name__)
        raise


def _run(arguments: argparse.Namespace) -> int:
    if arguments.dut_template is not None:
        from mmau.cli.user_design import dut_template  # a generated design does without

        try:
            print(dut_template(arguments), end="")
        except ElaborationError as error:
            raise ValueError(error) from error
        return OK
    design = chosen_design(arguments)
    if arguments.all + arguments.coverage + (design is not None) > 1:
        raise ValueError("give one of --all, --coverage and a unit, not several")
    if arguments.slice is not None and not (arguments.all or arguments.coverage):
        raise ValueError("--slice is for --all and --coverage")
    given = [spelling for name, spelling in ONE_DESIGN.items() if was_given(getattr(arguments, name))]
    if design is None and given:
        raise ValueError(f"{given[0]} is for one design; {WHICH_DESIGN}")
    designs = chosen_job(arguments) if design is None else [design]
    recorded = RecordedEvidence(designs)
    dut = None if design is None else _chosen_dut(design, arguments)
    simulator = "ghdl" if dut is not None and dut.is_vhdl else arguments.sim
    waves = wave_file(design.name, simulator) if design is not None and arguments.waves else None
    files = ReportFiles(arguments, len(designs), inputs(arguments, dut), recorded)
    reports: list[Report] = []
    errors: dict[str, str] = {}
    mutants: list[dict[str, Any]] | None = None
    try:
        request = chosen_request(arguments)
        if design is None:
            reports = run_many(designs, request, jobs=os.cpu_count() or 1, on_report=files.add)
        else:
            check_rtl_coverage(arguments, dut)
            reports = [run(design, request, dut=dut, waves=waves, processes=os.cpu_count() or 1)]
            mutants = mutants_of(design, dut, reports[0], request) if arguments.mutants else None
    except CampaignError as error:
        reports, errors = error.reports, error.errors
    except (ElaborationError, SimulationError, rtl.MissingTool, rtl.YosysError, ValueError) as error:
        # The files say why the run ended, beside the designs that are done: none of an earlier run stays.
        of = "campaign" if design is None else f"{design.name}, mutants" if reports else design.name
        files.finish(reports or files.done, {of: str(error)})
        raise ValueError(error) from error
    status = show(reports, errors, arguments, waves, recorded, mutants)
    files.finish(reports, errors)
    return status


def _chosen_dut(design: rtl.Design, arguments: argparse.Namespace) -> "Dut | None":
    """The user design that options name; None where there are none."""
    if not any(getattr(arguments, name) for name in ("dut", *SOURCE_OPTIONS)):
        return None
    from mmau.cli.user_design import chosen_dut

    return chosen_dut(design, arguments)


def mutants_of(design: rtl.Design, dut: "Dut | None", report: Report, request: Request) -> list[dict[str, Any]]:
    """Run the first vectors of a run against the design's mutants of state and protocol.

    Raises:
        ValueError: the run failed: mutants of a wrong design show nothing.
    """
    if not report.passed:
        raise ValueError(f"--mutants is for a design that passes; this one fails: {report.failures[0]}")
    from cosim.volume.segments import DIRECTED  # most runs do without
    from mmau.mutation.missed_faults import judged_states

    with temporary_folder("mmau-mutants-") as folder:
        vectors, seed = min(request.vectors, DIRECTED), request.seed
        return judged_states(design, dut, vectors, seed, Path(folder), progress, request.selection)


def was_given(value: object) -> bool:
    """Whether an option without a default is on the command line, by its parsed value; 0 counts as given."""
    return value is not None and value is not False


def check_rtl_coverage(arguments: argparse.Namespace, dut: "Dut | None") -> None:
    """Raise ValueError where the file of `--rtl-coverage` would name Verilog of a temporary folder."""
    if arguments.rtl_coverage is not None and dut is None and arguments.work is None:
        raise ValueError("--rtl-coverage of a generated unit needs --work DIR, the folder for its Verilog")


def chosen_request(arguments: argparse.Namespace) -> Request:
    """The request that the options describe, of one design or of each of many."""
    return Request(
        vectors=arguments.vectors,
        seed=arguments.seed,
        selection=Selection(tuple(arguments.only or ()), tuple(arguments.exclude or ()), arguments.vector),
        fail_fast=arguments.fail_fast,
        simulator=arguments.sim,
        mode=arguments.mode,
        work_dir=arguments.work,
        strict=arguments.strict,
        rtl_coverage=arguments.rtl_coverage is not None,
        progress=progress,
    )


def inputs(arguments: argparse.Namespace, dut: "Dut | None") -> list[Path]:
    """The files that a run reads, which no report may overwrite. Files that a design includes are listed in its report
    instead."""
    named = [arguments.unit, arguments.ports, *(arguments.also or []), *(arguments.dut or [])]
    return [*(path for path in named if path is not None), *(() if dut is None else dut.files)]


def show(
    reports: Sequence[Report],
    errors: Mapping[str, str],
    arguments: argparse.Namespace,
    waves: Path | None,
    recorded: RecordedEvidence,
    mutants: list[dict[str, Any]] | None,
) -> int:
    """Print the results of the runs, and of the design's mutants where they were asked for; return the exit status."""
    passed = all(report.passed for report in reports) and not errors
    if arguments.json:
        found: dict[str, Any] = {"passed": passed, "seed": arguments.seed}
        found |= {"reports": [as_dict(report, recorded) for report in reports]}
        found |= {"errors": [{"unit": name, "message": message} for name, message in errors.items()]} if errors else {}
        found |= {} if mutants is None else {"mutants": mutants}
        print_object("cosim", found)
    else:
        if mutants is not None:
            from mmau.mutation.missed_faults import missed_lines

            for line in missed_lines(mutants):
                print(line)
        print("\n".join([*recorded.summary(reports), summary(reports, arguments.seed)]))  # the sums are the last line
        if waves is not None:
            print(f"waveform: {waves}")
        if arguments.work is not None:
            print(f"build and logs: {arguments.work}")
    if arguments.rtl_coverage is not None and any(report.rtl_coverage is None for report in reports):
        print("mmau cosim: no coverage of the RTL: the simulation ended before it wrote one", file=sys.stderr)
    for name, message in errors.items():
        print(f"mmau cosim: {name}: {message}", file=sys.stderr)
    if errors:
        return WRONG_REQUEST
    return OK if passed else DIFFERED


def as_dict(report: Report, recorded: RecordedEvidence) -> dict[str, Any]:
    """A report for JSON, with the recorded evidence for its Verilog."""
    known = recorded.of_report(report)
    return report.as_dict() | {"recorded": None if known is None else known.as_dict()}


def chosen_job(arguments: argparse.Namespace) -> Sequence[golden.Unit | rtl.Design]:
    """The designs that are co-simulated if the options name none."""
    if not (arguments.all or arguments.coverage):
        return cosim.main_job()
    designs = golden.catalogue_units() if arguments.all else cosim.coverage_job()
    if arguments.slice is None:
        return designs
    from rtl.designs.sample_units import slice_of  # one design does without

    chosen = slice_of(designs, arguments.slice, attrgetter("name"))
    progress(f"slice {arguments.slice}: {len(chosen)} of {len(designs)} designs")
    return chosen


def wave_file(name: str, simulator: str) -> Path:
    """The waveform file of `--waves`."""
    return Path(file_name(name) + (".vcd" if simulator == "verilator" else ".fst"))
