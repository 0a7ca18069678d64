"""A counter-example replayed in a simulation of the Verilog, and explained like any mismatch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cosim.diagnosis.explain import explanation_of
from cosim.dut.description import Dut
from cosim.dut.generated import dut_like
from cosim.runner.needed_tools import check_tools
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.simulate import replay
from golden import Unit
from golden.files import temporary_folder
from golden.processes import supervised
from rtl.designs.unit_design import UnitDesign

CLASS = "counter-example"
"""The class name of the vector in reports."""


def replayed(unit: Unit, inputs: Mapping[str, int] | Sequence[Mapping[str, int]], design: Dut | str) -> Report:
    """One vector, or several one after the other, co-simulated; results unlike golden's are explained.

    Args:
        unit: the specification of the design.
        inputs: codes of the operand ports, packed, for as many results as the design gives at once.
        design: a user design, or the Verilog of the unit's combinational datapath, its top module called `unit`.

    Raises:
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
    """
    is_vhdl = isinstance(design, Dut) and design.is_vhdl
    check_tools("ghdl" if is_vhdl else "verilator", not is_vhdl)
    sent = [inputs] if isinstance(inputs, Mapping) else inputs
    return supervised(lambda: _replayed(unit, sent, design))


def _replayed(unit: Unit, sent: Sequence[Mapping[str, int]], design: Dut | str) -> Report:
    with temporary_folder("mmau-replay-") as name:
        folder = Path(name)
        if isinstance(design, str):
            unit = replace(unit, implementation=unit.implementation.combinational)
            source = folder / "unit.v"
            source.write_text(design, encoding="utf-8")
            dut = dut_like(UnitDesign(unit), [source], "unit")
        else:
            dut = design
        request = Request(vectors=len(sent), dut=dut)
        transfers = [{port: f"{value:#x}" for port, value in inputs.items()} for inputs in sent]
        same = {"product": 0, "element": 0, "label": 0}
        rows = [{"vector": number, "transfers": [transfer], **same} for number, transfer in enumerate(transfers)]
        whole = UnitDesign(unit)
        found = replay(whole, request, folder, {"rows": rows, "classes": {0: CLASS}})
        explanation = explanation_of(found.outcome, found.minimised, whole)
        return Report.of_run(whole, found, request.runs_in, request.seed, explanation)
