"""Devices under test from the options of a command: models, their Verilog, user designs, instructions of this machine."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import golden
import rtl
from cosim import ElaborationError, SimulationError
from cosim.bench.operand_widths import THE_UNITS
from cosim.dut.operand_formats import load_formats
from cosim.volume.answers import Answers
from golden.cache import content_key
from golden.checks import check_int
from golden.files import temporary_folder
from golden.program import RowProgram
from golden.stimulus import OperandShape
from golden.unit_file import unit_to_toml
from hwtests.dot import DeviceDot
from hwtests.source_digest import sources
from mmau.cli.programs import check_unused, program_of, shape_of
from mmau.cli.user_design import described_dut
from mmau.probe.device_under_test import DeviceUnderTest, dut_of_instruction, dut_of_unit
from mmau.probe.model import is_converted
from mmau.probe.start_models import possible_families, starts

WHICH = (
    "no device is named; give --unit UNIT.toml, --arch A --instr NAME, --dut DUT.toml, --device ARCH:NAME, "
    "--program CMD or --recording FILE.npz"
)

MAX_K = 1 << 16
"""Largest K of a unit that is probed: its questions are thousands of rows of this length."""


@contextmanager
def chosen_device(arguments: argparse.Namespace) -> Iterator[DeviceUnderTest]:
    """A context with the device under test that the options name.

    Raises:
        ValueError: no device is named, options exclude each other, or a design cannot be built or connected.
    """
    if arguments.K is not None:
        check_int("-K", arguments.K, 1, MAX_K)
    check_unused(arguments)
    if arguments.program is not None:
        if arguments.device is not None or arguments.rtl:
            raise ValueError("--program goes without --device and --rtl: it is the device")
        if arguments.K is not None and arguments.unit is None:
            raise ValueError("-K goes with --unit; --formats has K")
        with program_of(arguments, shape_of(arguments, arguments.K)) as program:
            yield dut_of_program(program)
        return
    model = _model(arguments)
    simulated = arguments.dut is not None or arguments.rtl
    if arguments.device is not None:
        if model is not None or simulated or arguments.K is not None:
            raise ValueError("--device ARCH:NAME goes without --arch, --unit, --dut, --rtl and -K; omit them")
        yield dut_of_device(arguments.device)
    elif simulated:
        if arguments.K is not None:
            raise ValueError("-K goes with the model of a unit; Verilog takes the products of one step")
        with temporary_folder("mmau-probe-") as folder:
            yield _simulated(arguments, model, Path(folder))
    elif isinstance(model, golden.Unit):
        yield replace(dut_of_unit(model, arguments.K), identity=_digest([unit_to_toml(model), sources()]))
    elif model is not None:
        if arguments.K is not None:
            raise ValueError("-K goes with --unit; the K of an instruction is fixed")
        yield replace(dut_of_instruction(model), identity=_digest([sources()]))
    else:
        raise ValueError(WHICH)


def dut_of_program(program: RowProgram) -> DeviceUnderTest:
    """A program that answers rows."""
    return DeviceUnderTest(
        name=f"program {program.name}", shape=program.shape, dot=program.dot, identity=_digest(program.identity())
    )


def _model(arguments: argparse.Namespace) -> golden.Unit | golden.Instruction | None:
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None and by_name == (None, None):
        return golden.load_unit(arguments.unit)
    if arguments.unit is None and None not in by_name:
        return golden.instruction(arguments.arch, arguments.instr)
    if arguments.unit is None and by_name == (None, None):
        return None
    raise ValueError(WHICH)


def dut_of_device(word: str) -> DeviceUnderTest:
    """An instruction of this machine's processor or GPU, run in hardware.

    Raises:
        ValueError: not `ARCH:NAME`, or no such instruction, or this machine does not have it.
    """
    arch, colon, name = word.partition(":")
    if not colon:
        raise ValueError(f"--device must be ARCH:NAME, like x86-avx512:vdpbf16ps; got {word!r}")
    instruction = golden.instruction(arch, name)
    shape = dut_of_instruction(instruction).shape
    device = DeviceDot(instruction)
    return DeviceUnderTest(
        name=f"this machine's {instruction.arch} {name}", shape=shape, dot=device.dot, identity=_digest(device.identity())
    )


def _simulated(
    arguments: argparse.Namespace, model: golden.Unit | golden.Instruction | None, folder: Path
) -> DeviceUnderTest:
    """Verilog in volume mode: a user design, or generated from the model."""
    if arguments.dut is not None and arguments.rtl:
        raise ValueError("--rtl is the generated Verilog, --dut a user design; give one of them")
    if arguments.rtl and model is None:
        raise ValueError("--rtl goes with --unit, or --arch and --instr: it probes the Verilog of that unit or instruction")
    dut = None if arguments.dut is None else described_dut(arguments.dut)
    shape = None if arguments.dut is None else load_formats(arguments.dut)
    if dut is not None and dut.widths != THE_UNITS:
        raise ValueError(
            f"{arguments.dut}: a design with [operands] cannot be probed: the probe needs every c and d of the unit"
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
        answers = Answers(rtl.UnitDesign(unit), dut, folder)
    except (ElaborationError, SimulationError, rtl.MissingTool) as error:
        raise ValueError(error) from error
    shape = dut_of_unit(unit, unit.operation.length).shape
    identity = _digest([unit_to_toml(unit), *answers.identity()])
    return DeviceUnderTest(name=f"Verilog of {name}", shape=shape, dot=answers.dot, identity=identity)


def _step(model: golden.Unit | golden.Instruction) -> golden.Unit:
    """The operation of one step of the Verilog."""
    return model.step if isinstance(model, golden.Unit) else golden.Unit(name=model.step_name, operation=model.operation)


def _digest(parts: Sequence[str]) -> str:
    """The identity of a device under test from all that its answers follow from."""
    return content_key({"parts": list(parts)})


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
