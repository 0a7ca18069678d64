"""The work of a campaign with a simulator that misbehaves, or with a datapath that is wrong."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from cosim.build import sources
from cosim.dut.generated import write_generated
from cosim.runner import in_volume
from cosim.volume import simulation_program
from golden.operations import TFDPA
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign
from studies.cosim_campaign.tasks import simulate

CRASHING, HANGING, KILLING = 1, 2, 3
"""Seeds: the simulator ends by SIGSEGV; it never ends; the worker is ended."""


def simulate_badly(content: dict[str, Any], folder: Path) -> Any:
    """Another program in the place of the simulator, for some seeds."""

    def run_program(path: Path, plan: Path, arguments: Sequence[str], give_up: Callable[[], bool] | None = None) -> Any:
        if content["seed"] == KILLING:
            os.abort()
        script = folder / "simulator"
        script.write_text(f"#!/bin/sh\n{'kill -SEGV $$' if content['seed'] == CRASHING else 'exec sleep 654'}\n")
        script.chmod(0o755)
        return simulation_program.run_program(script, plan, arguments, give_up)

    bad = content["seed"] in (CRASHING, HANGING, KILLING)
    with mock.patch.object(in_volume, "run_program", run_program if bad else simulation_program.run_program):
        return simulate(content, folder)


def simulate_wrong(content: dict[str, Any], folder: Path) -> Any:
    """The datapath has one fraction bit less than its model."""

    def write_wrong(design: Design, to: Path) -> Path:
        assert isinstance(design, UnitDesign)
        operation = design.unit.operation
        assert isinstance(operation, TFDPA)
        return write_generated(UnitDesign(replace(design.unit, operation=replace(operation, F=operation.F - 1))), to)

    with mock.patch.object(sources, "write_generated", write_wrong):
        return simulate(content, folder)
