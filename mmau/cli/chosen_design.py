"""The design that a command's options name."""

import argparse
import re
from dataclasses import replace
from typing import Any

import golden
import rtl
from golden.checks import check_int
from mmau.cli.options import names_design
from mmau.cli.streams import progress
from rtl.designs.tile import MAX_SIDE


def chosen_design(arguments: argparse.Namespace, cells: str | None = None) -> rtl.Design | None:
    """The design that the options of `mmau.cli.options.add_design_options` name; None where they name nothing.

    Args:
        cells: the library by which registers are placed for a clock; None: the default one.

    Raises:
        ValueError: half an instruction, both a file and an instruction, options that do not go with either, units that
            cannot share a datapath, a tile that cannot be built, or a clock that no stages meet.
    """
    named = names_design(arguments)
    if arguments.arch is None and any(
        option is not None for option in (arguments.tile, arguments.encoding, arguments.stages)
    ):
        raise ValueError("--tile, --encoding and --stages go with --arch and --instr; a unit file states its implementation")
    if arguments.also and arguments.unit is None:
        raise ValueError("--also goes with --unit")
    if arguments.unit is not None:
        units = tuple(golden.load_unit(path).step for path in (arguments.unit, *(arguments.also or [])))
        if len(units) > 1 and any(unit.implementation.clock_ns is not None for unit in units):
            raise ValueError("clock_ns goes with one unit, and not with --also; give all units the same stages")
        return rtl.MultiFormatDesign(units) if len(units) > 1 else rtl.UnitDesign(clocked(units[0], cells))
    if not named:
        return None
    return of_instruction(golden.instruction(arguments.arch, arguments.instr), arguments)


def clocked(unit: golden.Unit, cells: str | None) -> golden.Unit:
    """The unit with the stages and registers that its `clock_ns` needs, which it prints; one without that key as it is.

    Raises:
        ValueError: no stages meet the clock, or they cannot be measured.
    """
    if unit.implementation.clock_ns is None:
        return unit
    from rtl.cost.liberty import DEFAULT  # a unit without a clock does without

    try:
        met = rtl.meet_clock(unit, progress, cells or DEFAULT)
    except (rtl.MissingTool, rtl.CostError) as error:
        raise ValueError(error) from error
    progress(met.text())
    return met.unit


def of_instruction(instruction: golden.Instruction, arguments: argparse.Namespace) -> rtl.Design:
    """The datapath of one step of an instruction, or its tile, with the implementation options of the command line."""
    built: dict[str, Any] = {"stages": 0 if arguments.tile is None else 1}
    given = {"encoding": arguments.encoding, "stages": arguments.stages}
    built |= {key: value for key, value in given.items() if value is not None}
    implementation = golden.Implementation(**built)
    if arguments.tile is None:
        unit = golden.Unit(name=instruction.step_name, operation=instruction.operation, implementation=implementation)
        return rtl.UnitDesign(unit)
    size = re.fullmatch(r"(\d{1,9})x(\d{1,9})", arguments.tile, flags=re.ASCII)
    if size is None:
        raise ValueError(f"--tile must be rows x columns, like 2x4; got {arguments.tile!r}")
    m, n = int(size[1]), int(size[2])
    for key, side in (("m", m), ("n", n)):  # before an instruction of that size is made, whose own limits are wider
        check_int(f"{key} of a tile", side, 1, MAX_SIDE)
    return rtl.TileDesign(replace(instruction, m=m, n=n), implementation)
