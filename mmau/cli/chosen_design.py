"""The design that a command's options name."""

import argparse
import re
from dataclasses import replace
from typing import Any

import golden
import rtl
from golden.checks import check_int
from golden.units.unit import MAX_SIDE, Array
from mmau.cli.options import names_design
from mmau.cli.streams import progress
from rtl.designs.product_design import ProductDesign, SumsDesign


def chosen_design(arguments: argparse.Namespace, cells: str | None = None) -> rtl.Design | None:
    """The design that the options of `mmau.cli.options.add_design_options` name; None where they name nothing.

    Args:
        cells: the library by which registers are placed for a clock; None: the default one.

    Raises:
        ValueError: half an instruction, both a file and an instruction, options that do not go with either, units that
            cannot share a datapath, a tile that cannot be built, or a clock that no stages meet.
    """
    named = names_design(arguments)
    if arguments.arch is None and any(option is not None for option in (arguments.encoding, arguments.stages)):
        raise ValueError("--encoding and --stages go with --arch and --instr; a unit file states its implementation")
    if arguments.also and arguments.unit is None:
        raise ValueError("--also goes with --unit")
    if arguments.unit is not None:
        whole = golden.load_unit(arguments.unit)
        if arguments.tile is not None or whole.array is not None:
            if arguments.also:
                raise ValueError("--also goes without --tile and [array]: an array has datapaths of one unit")
            return rtl.TileDesign.of_unit(clocked(with_array(whole, arguments.tile), cells))
        of_user = getattr(arguments, "dut", None)
        if whole.controls and not arguments.also:
            return rtl.ControlledDesign.of(whole) if of_user else rtl.as_design(clocked(whole, cells))
        if whole.sums is not None and not arguments.also:
            return ProductDesign(whole, lengths=(whole.usual_K,)) if of_user else SumsDesign.of(clocked(whole, cells))
        units = tuple(unit.step for unit in (whole, *map(golden.load_unit, arguments.also or [])))
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
        met = rtl.meet_clock(unit if cells is None else in_cells(unit, cells), progress, cells or DEFAULT)
    except (rtl.MissingTool, rtl.CostError) as error:
        raise ValueError(error) from error
    progress(met.text())
    return replace(unit, implementation=met.unit.implementation)


def in_cells(unit: golden.Unit, cells: str) -> golden.Unit:
    """The unit with another cell library in place of the one that it names."""
    return replace(unit, implementation=replace(unit.implementation, library=cells))


def of_instruction(instruction: golden.Instruction, arguments: argparse.Namespace) -> rtl.Design:
    """The datapath of one step of an instruction, or its tile, with the implementation options of the command line."""
    built: dict[str, Any] = {"stages": 0 if arguments.tile is None else 1}
    given = {"encoding": arguments.encoding, "stages": arguments.stages}
    built |= {key: value for key, value in given.items() if value is not None}
    implementation = golden.Implementation(**built)
    if arguments.tile is None:
        unit = golden.Unit(name=instruction.step_name, operation=instruction.operation, implementation=implementation)
        return rtl.UnitDesign(unit)
    m, n = sides_of(arguments.tile)
    return rtl.TileDesign(replace(instruction, m=m, n=n), implementation)


def with_array(unit: golden.Unit, tile: str | None) -> golden.Unit:
    """The unit with an array of the sides of `--tile`, if it is given; otherwise its own."""
    if tile is None:
        return unit
    rows, columns = sides_of(tile)
    steps = unit.usual_K // unit.operation.length
    array = Array(rows=rows, columns=columns, steps=steps) if unit.array is None else unit.array
    built = unit.implementation
    if not built.stages and built.clock_ns is None:
        built = replace(built, stages=1)
    return replace(unit, implementation=built, array=replace(array, rows=rows, columns=columns))


def sides_of(tile: str) -> tuple[int, int]:
    """Rows and columns of `--tile`."""
    size = re.fullmatch(r"(\d{1,9})x(\d{1,9})", tile, flags=re.ASCII)
    if size is None:
        raise ValueError(f"--tile must be rows x columns, like 2x4; got {tile!r}")
    m, n = int(size[1]), int(size[2])
    for key, side in (("m", m), ("n", n)):  # before an instruction of that size is made, whose own limits are wider
        check_int(f"{key} of a tile", side, 1, MAX_SIDE)
    return m, n
