"""Devices under test that a simulator runs: generated Verilog, user designs."""

import argparse
from pathlib import Path

import golden
import rtl
from cosim import ElaborationError, SimulationError
from cosim.bench.operand_widths import THE_UNITS
from cosim.dut.description import EACH, START_DONE
from cosim.dut.operand_formats import load_formats
from cosim.runner.vhdl_circuit import circuit_of
from cosim.volume.answers import Answers
from golden.device import Device
from golden.files import check_output
from golden.stimulus import OperandShape
from mmau.cli.user_design import described_dut
from mmau.probe.model import is_converted
from mmau.probe.start_models import possible_families, starts


def simulated(arguments: argparse.Namespace, model: golden.Unit | golden.Instruction | None, folder: Path) -> Device:
    """Verilog in volume mode: a user design, or generated from the model."""
    if arguments.dut is not None and arguments.rtl:
        raise ValueError("--rtl is the generated Verilog, --dut a user design; give one of them")
    if arguments.rtl and model is None:
        raise ValueError("--rtl goes with --unit, or --arch and --instr: it probes the Verilog of that unit or instruction")
    dut = None if arguments.dut is None else described_dut(arguments.dut)
    for output in (arguments.output, arguments.state):
        if dut is not None and output is not None:
            check_output(output, dut.files)
    shape = None if arguments.dut is None else load_formats(arguments.dut)
    if dut is not None and dut.widths != THE_UNITS:
        raise ValueError(
            f"{arguments.dut}: a design with [operands] cannot be probed: the probe needs every c and d of the unit"
        )
    if dut is not None and dut.has_inner_operands:
        raise ValueError(
            f"{arguments.dut}: a design with [beats] or [matrix], or of protocol {START_DONE!r} or {EACH!r}, is not probed"
        )
    unit = _step(model) if model is not None else None
    if unit is None:
        if shape is None:
            raise ValueError(f"{arguments.dut} must have a table [formats] with a, b, c, d and K, or --unit must give them")
        unit = stand_in(shape)
    elif shape is not None:
        raise ValueError(f"{arguments.dut} states its formats in [formats]; omit --unit, --arch and --instr")
    name = unit.name if dut is None else f"{dut.top} of {arguments.dut}"
    try:
        design = rtl.UnitDesign(unit)
        return Answers(design, None if dut is None else circuit_of(design, dut, folder), folder, f"Verilog of {name}")
    except (ElaborationError, SimulationError, rtl.MissingTool) as error:
        raise ValueError(error) from error


def _step(model: golden.Unit | golden.Instruction) -> golden.Unit:
    """The operation of one step of the Verilog."""
    return model.step if isinstance(model, golden.Unit) else golden.Unit(name=model.step_name, operation=model.operation)


def stand_in(shape: OperandShape) -> golden.Unit:
    """A unit with these operands, used for its ports alone.

    Raises:
        ValueError: no operation takes such operands in one step.
    """
    for family in possible_families(shape):
        for start in starts(family, shape):
            if start.operation.length == shape.K and not is_converted(family):
                return start.unit("design")
    raise ValueError("no operation takes operands and gives results of these formats in one step")
