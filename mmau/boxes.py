"""The black boxes that a command's options name: models, their Verilog, one's own, this machine's instructions."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import golden
import rtl
from cosim import ElaborationError, SimulationError, load_dut
from cosim.dut.formats import load_formats
from cosim.volume.answers import Answers
from golden.stimulus import OperandShape
from hwtests.dot import DeviceDot
from probe.box import Box, box_of_instruction, box_of_unit
from probe.model import CONVERTED, possible_families, starts

WHICH = "say what to probe: --arch with --instr, --unit, --dut, --device, or --recording"


@contextmanager
def chosen_box(arguments: argparse.Namespace) -> Iterator[Box]:
    """The box that the options name, for as long as it is needed.

    Raises:
        ValueError: none, or options that do not go together; or a design that cannot be built or connected.
    """
    model = _model(arguments)
    simulated = arguments.dut is not None or arguments.rtl
    if arguments.device is not None:
        if model is not None or simulated or arguments.K is not None:
            raise ValueError("--device ARCH:NAME says itself what to probe: leave --arch, --unit, --dut, --rtl and -K out")
        yield box_of_device(arguments.device)
    elif simulated:
        if arguments.K is not None:
            raise ValueError("-K goes with the model of a unit; Verilog takes the products of one step")
        with TemporaryDirectory(prefix="mmau-probe-") as folder:
            yield _simulated(arguments, model, Path(folder))
    elif isinstance(model, golden.Unit):
        yield box_of_unit(model, arguments.K)
    elif model is not None:
        if arguments.K is not None:
            raise ValueError("-K goes with --unit; an instruction has its own")
        yield box_of_instruction(model)
    else:
        raise ValueError(WHICH)


def _model(arguments: argparse.Namespace) -> golden.Unit | golden.Instruction | None:
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None and by_name == (None, None):
        return golden.load_unit(arguments.unit)
    if arguments.unit is None and None not in by_name:
        return golden.instruction(arguments.arch, arguments.instr)
    if arguments.unit is None and by_name == (None, None):
        return None
    raise ValueError(WHICH)


def box_of_device(word: str) -> Box:
    """An instruction of this machine's processor or GPU, run by the machine itself.

    Raises:
        ValueError: not `ARCH:NAME`, or no such instruction, or this machine does not have it.
    """
    arch, colon, name = word.partition(":")
    if not colon:
        raise ValueError(f"--device must be ARCH:NAME, like x86-avx512:vdpbf16ps; got {word!r}")
    instruction = golden.instruction(arch, name)
    shape = box_of_instruction(instruction).shape
    return Box(name=f"this machine's {instruction.arch} {name}", shape=shape, dot=DeviceDot(instruction).dot)


def _simulated(arguments: argparse.Namespace, model: golden.Unit | golden.Instruction | None, folder: Path) -> Box:
    """Verilog in volume mode: of one's own, or generated from the model."""
    if arguments.dut is not None and arguments.rtl:
        raise ValueError("--rtl is the generated Verilog, and --dut one's own; give one of them")
    if arguments.rtl and model is None:
        raise ValueError("--rtl goes with --unit, or --arch and --instr: the Verilog of what they name is probed")
    dut = None if arguments.dut is None else load_dut(arguments.dut)
    shape = None if arguments.dut is None else load_formats(arguments.dut)
    unit = _step(model) if model is not None else None
    if unit is None:
        if shape is None:
            raise ValueError(f"{arguments.dut} must have a table [formats] with a, b, c, d and K, or --unit must say them")
        unit = stand_in(shape)
    elif shape is not None:
        raise ValueError(f"the formats of {arguments.dut} are said by its [formats]; leave --unit, --arch and --instr out")
    name = unit.name if dut is None else f"{dut.top} of {arguments.dut}"
    try:
        answers = Answers(rtl.UnitDesign(unit), dut, folder)
    except (ElaborationError, SimulationError, rtl.MissingTool) as error:
        raise ValueError(error) from error
    return Box(name=f"Verilog of {name}", shape=box_of_unit(unit, unit.operation.length).shape, dot=answers.dot)


def _step(model: golden.Unit | golden.Instruction) -> golden.Unit:
    """What one step of Verilog computes."""
    return model.step if isinstance(model, golden.Unit) else golden.Unit(name=model.step_name, operation=model.operation)


def stand_in(shape: OperandShape) -> golden.Unit:
    """A unit with these operands, whose ports and nothing else are those of a design.

    Raises:
        ValueError: no operation takes such operands in one step.
    """
    for family in possible_families(shape):
        for start in starts(family, shape):
            if start.operation.length == shape.K and family != CONVERTED:
                return start.unit("design")
    raise ValueError("no operation takes operands and gives results of these formats in one step")
