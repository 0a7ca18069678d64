"""`--program "CMD ARGS"`: a program as a device, in every command that takes one."""

import argparse
from pathlib import Path

import golden
from cosim.dut.operand_formats import formats_from_table, load_formats
from golden.device import formats_of
from golden.operations.base import MAX_LENGTH
from golden.program import FORMS, PATIENCE, RowProgram
from golden.stimulus import OperandShape
from mmau.cli import options
from mmau.cli.streams import progress

WHICH = (
    "the formats of the program are not known; give --formats 'a=fp16 b=fp16 c=fp32 d=fp32 K=16', --unit UNIT.toml, "
    "or --arch A --instr NAME"
)


def check_unused(arguments: argparse.Namespace) -> None:
    """Raise ValueError where options of a program come without one."""
    for option in ("formats", "program_form", "patience"):
        if arguments.program is None and getattr(arguments, option, None) is not None:
            raise ValueError(f"--{option.replace('_', '-')} goes with --program CMD")


def program_of(arguments: argparse.Namespace, shape: OperandShape) -> RowProgram:
    """The program of the options, over operands of a shape."""
    form = FORMS[arguments.program_form or "text"]
    patience = PATIENCE if arguments.patience is None else arguments.patience
    return RowProgram(arguments.program, shape, form, patience, progress)


def shape_of(arguments: argparse.Namespace, K: int | None = None) -> OperandShape:
    """The formats of a program, from --formats, a unit, an instruction, or a file with a table [formats].

    Args:
        K: products of a row, for a unit.

    Raises:
        ValueError: none of them is given, or two are.
    """
    dut: Path | None = getattr(arguments, "dut", None)
    unit: Path | None = getattr(arguments, "unit", None)
    by_name = (arguments.arch, arguments.instr) != (None, None)
    given = [arguments.formats is not None, unit is not None, by_name, dut is not None]
    if sum(given) > 1:
        raise ValueError("give the formats of the program once: by --formats, --unit, --arch with --instr, or --dut")
    if arguments.formats is not None:
        return shape_of_text(arguments.formats)
    if unit is not None:
        loaded = golden.load_unit(unit)
        return formats_of(loaded, K)
    if by_name and options.names_design(argparse.Namespace(unit=None, arch=arguments.arch, instr=arguments.instr)):
        return formats_of(golden.instruction(arguments.arch, arguments.instr))
    shape = None if dut is None else load_formats(dut)
    if shape is None:
        raise ValueError(WHICH)
    return shape


def shape_of_text(text: str) -> OperandShape:
    """The formats of `a=fp16 b=fp16 c=fp32 d=fp32 K=16`.

    Raises:
        ValueError: a word without =, a key twice, or a key as `load_formats` has it.
    """
    table: dict[str, str | int] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"--formats must be words like a=fp16, K=16 (K at most {MAX_LENGTH}), got {word!r}")
        if key in table:
            raise ValueError(f"--formats must say {key} once, got {key}={table[key]} and {word}")
        table[key] = int(value) if value.isascii() and value.isdecimal() else value
    return formats_from_table(table)
