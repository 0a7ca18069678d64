"""A counter-example sent through a simulation of the Verilog, and explained like any mismatch."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cosim.bench.selection import Selection
from cosim.dut.description import Dut
from cosim.dut.generated import dut_like
from cosim.runner.in_cocotb import replay
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.tools import check_tools
from golden import Unit
from rtl.designs.unit_design import UnitDesign
from rtl.tools import supervised

CLASS = "counter-example"
"""What the report calls the class of the vector."""


def replayed(unit: Unit, inputs: Mapping[str, int], design: Dut | str) -> Report:
    """One vector, co-simulated in Verilator; its results are explained where they are not golden's.

    Args:
        unit: what the design should be.
        inputs: codes of the operand ports, packed, for as many results as the design gives at once.
        design: one's own, or the Verilog of the unit's combinational datapath, its top module called `unit`.

    Raises:
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
    """
    check_tools("verilator", True)
    return supervised(lambda: _replayed(unit, inputs, design))


def _replayed(unit: Unit, inputs: Mapping[str, int], design: Dut | str) -> Report:
    with tempfile.TemporaryDirectory(prefix="mmau-replay-") as name:
        folder = Path(name)
        if isinstance(design, str):
            unit = replace(unit, implementation=replace(unit.implementation, stages=0))
            source = folder / "unit.v"
            source.write_text(design, encoding="utf-8")
            dut = dut_like(UnitDesign(unit), [source], "unit")
        else:
            dut = design
        request = Request(
            vectors=1, seed=0, simulator="verilator", mode="cocotb", selection=Selection(), fail_fast=False, work_dir=None,
            waves=None, dut=dut, progress=lambda line: None, processes=1, rtl_coverage=False,
        )  # fmt: skip
        transfer = {port: f"{value:#x}" for port, value in inputs.items()}
        row = {"vector": 0, "product": 0, "element": 0, "label": 0, "transfers": [transfer]}
        whole = UnitDesign(unit)
        return replay(whole, request, folder, {"row": row, "classes": {0: CLASS}}).explained(whole)
