"""`mmau cosim`: designs against the golden model, in a simulator."""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import golden
import rtl
from cosim import ElaborationError, SimulationError, coverage_job, main_job, run, run_many, summary
from mmau import DIFFERED, OK
from mmau.designs import chosen_design
from mmau.dut import SOURCE_OPTIONS, chosen_dut, dut_template


def run_cosim(arguments: argparse.Namespace) -> int:
    """`mmau cosim`."""

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if arguments.dut_template is not None:
        try:
            print(dut_template(arguments), end="")
        except ElaborationError as error:
            raise ValueError(error) from error
        return OK
    design = chosen_design(arguments)
    if arguments.all + arguments.coverage + (design is not None) > 1:
        raise ValueError("give one of --all, --coverage and a unit, not several")
    of_one_unit = ("waves", "dut", *SOURCE_OPTIONS)
    if design is None and any(getattr(arguments, option) for option in of_one_unit):
        raise ValueError("--waves, --dut, --top and --ports go with one unit: --unit UNIT.toml, or --arch and --instr")
    common: dict[str, Any] = {"vectors": arguments.vectors, "seed": arguments.seed, "simulator": arguments.sim}
    waves = None
    try:
        if design is None:
            reports = run_many(chosen_job(arguments), jobs=os.cpu_count() or 1, progress=progress, **common)
        else:
            waves = wave_file(design.name, arguments.sim) if arguments.waves else None
            reports = [run(design, dut=chosen_dut(design, arguments), waves=waves, progress=progress, **common)]
    except (rtl.MissingTool, rtl.YosysError, ElaborationError, SimulationError) as error:
        raise ValueError(error) from error
    passed = all(report.passed for report in reports)
    if arguments.json:
        print(json.dumps({"passed": passed, "seed": arguments.seed, "reports": [report.as_dict() for report in reports]}))
    else:
        print(summary(reports, arguments.seed))
        if waves is not None:
            print(f"waveform: {waves}")
    return OK if passed else DIFFERED


def chosen_job(arguments: argparse.Namespace) -> Sequence[golden.Unit | rtl.Design]:
    """What is co-simulated where the options do not name it."""
    if arguments.all:
        return golden.catalogue_units()
    return coverage_job() if arguments.coverage else main_job()


def wave_file(name: str, simulator: str) -> Path:
    """Where `--waves` leaves a waveform."""
    return Path(re.sub(r"[^\w.-]+", "_", name) + (".vcd" if simulator == "verilator" else ".fst"))
