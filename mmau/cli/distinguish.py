"""`mmau distinguish`: an input on which two units or instructions differ."""

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import bits_dtype
from golden.checks import check_least
from golden.stimulus import Operands
from golden.stimulus.shape import with_missing_ones
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau import DIFFERED, OK, UNDECIDED
from mmau.analysis.disclosure import disclosed, in_mode, is_disclosure
from mmau.cli.devices_under_test import chosen
from mmau.cli.json_objects import print_object
from mmau.cli.missing_modules import missing
from mmau.cli.program_devices import check_unused, program_of
from mmau.probe.distinguish import (
    DeviceDifference,
    Difference,
    Side,
    Verdict,
    distinguish,
    held_against,
    parameters_apart,
    parting,
    sides,
    text_of,
)
from mmau.prove.deadline import equality_in_time
from mmau.prove.decision import DIFFERENT, EQUAL


def proved(x: Side, y: Side, seconds: float) -> Verdict:
    """Compare two sides over the same products.

    Args:
        x, y: chains of whole steps. seconds: the limit for the proof, which then ends within a second.

    Raises:
        ModuleNotFoundError: the solver that builds the terms is not installed.

    Returns:
        True: equal. Operands [1, K]: an input on which the sides may differ. A text: the reason why it is not decided.
    """
    found = equality_in_time(x.chain.operation, y.chain.operation, (_steps(x), _steps(y)), seconds)
    if found.verdict == EQUAL:
        return True
    return _row(x, found.inputs) if found.verdict == DIFFERENT else found.reason


def _steps(side: Side) -> int:
    """The number of steps of a chain."""
    return int(side.shape.K // side.chain.operation.length)


def _row(side: Side, inputs: Mapping[str, int]) -> Operands:
    shape = side.shape

    def codes(port: str, operand: Format, count: int) -> np.ndarray:
        bits, mask = inputs.get(port, 0), (1 << operand.width) - 1
        return np.array([[bits >> operand.width * k & mask for k in range(count)]], bits_dtype(operand))

    scales = with_missing_ones(
        shape, *(None if shape.scale is None else codes(name, shape.scale, shape.blocks) for name in ("scale_a", "scale_b"))
    )
    a, b = codes("a", shape.a, shape.K), codes("b", shape.b, shape.K)
    return Operands(a, b, codes("c", shape.c, 1)[:, 0], **scales)


def run_distinguish(arguments: argparse.Namespace) -> int:
    """Run `mmau distinguish` and return its exit status."""
    check_least("vectors", arguments.vectors, 1)
    check_least("seed", arguments.seed, 0)
    if arguments.prove <= 0:
        raise ValueError(f"--prove must be a number of seconds above 0, got {arguments.prove}")
    check_unused(arguments)
    if (arguments.y is None) == (arguments.program is None):
        raise ValueError("give two to distinguish: X and Y, or X and --program CMD")
    if arguments.program is not None:
        return _against_program(arguments)
    if is_disclosure(arguments.x) and is_disclosure(arguments.y):
        return _disclosures(arguments)
    return _told_apart(arguments, chosen(arguments.x), chosen(arguments.y))


def _disclosures(arguments: argparse.Namespace) -> int:
    """Compare two disclosures, row by row; units of the same formats once for all rows."""
    if arguments.json:
        raise ValueError("--json goes with two models; give two units of the disclosures")
    tables, seen, ends = [disclosed(Path(word)) for word in (arguments.x, arguments.y)], dict[Any, int](), {OK}
    for key in sorted({*tables[0], *tables[1]}):
        row = f"lambda = {key[0]}, SEW = {key[1]}, W = {key[2]}"
        entries = [table.get(key) for table in tables]
        for (entry, side), other in zip(zip(entries, "xy", strict=True), reversed(entries), strict=True):
            formats = {_formats(unit) for unit in entry.units} if entry else set()
            more = formats - {_formats(unit) for unit in other.units} if other else formats
            for names in sorted(more):
                print(f"{row}: {side} alone has {', '.join(names)}")
                ends.add(DIFFERED)
        if None in entries:
            continue
        found = [f"G = {entry.G}, psm = {entry.psm}, rnd = {entry.rnd}" for entry in entries if entry]
        print(f"{row}: {found[0]}" + (" in both" if found[0] == found[1] else f" in x, {found[1]} in y"))
        of_x, of_y = ({_formats(unit): unit for unit in entry.units} for entry in entries if entry)
        for names in sorted({*of_x} & {*of_y}):
            pair = of_x[names], of_y[names]
            if pair not in seen:
                print(f"{', '.join(names)}: ", end="")
                seen[pair] = _told_apart(arguments, *(in_mode(unit, "RNE") for unit in pair))
            ends.add(seen[pair])
    return DIFFERED if DIFFERED in ends else UNDECIDED if UNDECIDED in ends else OK


def _formats(unit: Unit) -> tuple[str, str, str]:
    return unit.a.name, unit.b.name, unit.operation.c.name


def _told_apart(arguments: argparse.Namespace, first: Unit | Instruction, second: Unit | Instruction) -> int:
    """Compare two models."""
    x, y = sides(first, second)
    if x.chain == y.chain:
        if arguments.json:
            print_object("distinguish", {"equal": True})
        else:
            print("equal: both have the same steps with the same keys")
        return OK
    found = distinguish(x, y, arguments.vectors, arguments.seed, partial(_proved, seconds=arguments.prove))
    if isinstance(found, Difference):
        apart = parameters_apart(found)
        if arguments.json:
            parameters = [{key: _plain(value) for key, value in vars(one).items()} for one in apart]
            print_object("distinguish", _as_dict(found) | {"parameters": parameters})
        else:
            print(
                "".join(f"{line}\n" for line in ("parameters that differ:", *(one.line() for one in apart)) if apart), end=""
            )
            print(text_of(found), end="")
        return DIFFERED
    if arguments.json:
        seen = {"vectors": found.tried, "seed": arguments.seed}
        print_object("distinguish", {"equal": found.proved or None, **seen, **({"why": found.why} if found.why else {})})
    elif found.proved:
        print(f"equal: the specifications are proved equal for every input; {found.tried} vectors show no difference")
    else:
        print(f"no difference found in {found.tried} vectors of all classes, corners and features, seed {arguments.seed}")
        if found.why:
            print(f"not proved: {found.why}")
    return OK if found.proved else UNDECIDED


def _against_program(arguments: argparse.Namespace) -> int:
    """Compare a model with a program that has its operands."""
    model, _ = sides(chosen(arguments.x), chosen(arguments.x))
    with program_of(arguments, model.shape) as program:
        found = held_against(model, program, arguments.vectors, arguments.seed)
    if isinstance(found, DeviceDifference):
        if arguments.json:
            print_object("distinguish", found.as_dict())
        else:
            print(found.text(), end="")
        return DIFFERED
    if arguments.json:
        print_object("distinguish", {"equal": None, "vectors": found, "seed": arguments.seed})
    else:
        print(f"no difference found in {found} vectors of all classes, corners and features, seed {arguments.seed}")
    return UNDECIDED


def _proved(x: Side, y: Side, seconds: float) -> Verdict:
    """The verdict of the solvers, or the reason why none is installed."""
    try:
        return proved(x, y, seconds)
    except ModuleNotFoundError as error:
        return missing(str(error.name), "distinguish")


def _as_dict(found: Difference) -> dict[str, object]:
    named = zip(found.row._fields, found.row, strict=True)
    row = {name: np.asarray(array)[0].tolist() for name, array in named if array is not None}
    texts = [side.trace(found.row).text().splitlines()[1:] for side in (found.x, found.y)]
    return {
        "equal": False,
        "input": row,
        "x": {"name": found.x.name, "d": found.d[0]},
        "y": {"name": found.y.name, "d": found.d[1]},
        "parting": parting(*texts),
        "vectors": found.tried,
    }


def _plain(value: object) -> object:
    """A parameter's value for JSON: formats and roundings by their names."""
    return value if isinstance(value, bool | int | str | None) else str(value)
