"""`mmau compare`: one input on every unit of the catalogue, side by side."""

import argparse
import json

import numpy as np

import golden
from analysis.comparison import Comparison, compare
from analysis.values import Input, number, value_of
from golden.arrays import to_bits
from golden.files import check_output, is_stdout, write_output
from mmau import OK
from mmau.evaluate import chosen_model, input_arrays
from mmau.explain import row_of

VALUES = ("a", "b", "c", "scale_a", "scale_b")


def run_compare(arguments: argparse.Namespace) -> int:
    """`mmau compare`."""
    if arguments.html is not None:
        if is_stdout(arguments.html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(arguments.html, () if arguments.input is None else (arguments.input,))
    given = _from_file(arguments) if arguments.input is not None else _from_text(arguments)
    on = {golden.architecture(arch) for arch in arguments.on} or set(golden.ARCHITECTURES)
    found = compare(given, [i for i in golden.instructions() if i.arch in on])
    if arguments.html is not None:
        write_output(arguments.html, found.html().encode())
    if arguments.json:
        print(json.dumps(found.as_dict()))
    elif arguments.html is None or not is_stdout(arguments.html):
        _say(found, arguments)
    return OK


def _say(found: Comparison, arguments: argparse.Namespace) -> None:
    print(found.text(arguments.traces), end="")
    if arguments.html is not None:
        print(f"\nevery step of each: {arguments.html}")


def _from_text(arguments: argparse.Namespace) -> Input:
    """The numbers of the options.

    Raises:
        ValueError: a, b or c is missing, or options that belong to --input are there.
    """
    if arguments.row is not None or arguments.arch is not None or arguments.instr is not None:
        raise ValueError(
            "--arch, --instr and --row say what the arrays of --input are; give --input V.npz, or leave them out"
        )
    for name in ("a", "b", "c"):
        if getattr(arguments, name) is None:
            raise ValueError(f"--{name} is missing: give --a, --b and --c, as --a=-2^13,0.5, or --input V.npz")
    a, b, scale_a, scale_b = (_numbers(getattr(arguments, name)) for name in ("a", "b", "scale_a", "scale_b"))
    return Input(a, b, number(arguments.c), scale_a, scale_b)


def _numbers(text: str | None) -> tuple[float, ...]:
    return () if text is None else tuple(number(word.strip()) for word in text.split(","))


def _from_file(arguments: argparse.Namespace) -> Input:
    """The numbers that one row of codes stands for in the formats of `--arch` and `--instr`.

    Raises:
        ValueError: numbers beside a file, or no such row. OSError: the file cannot be read.
    """
    if any(getattr(arguments, name) is not None for name in VALUES):
        raise ValueError("give the numbers either by --a, --b and --c or by --input, not both")
    model = chosen_model(arguments)
    if not isinstance(model, golden.Instruction):
        raise TypeError("--input of compare goes with --arch and --instr")
    row = row_of(input_arrays(model, arguments), arguments.row)
    formats = {"a": model.a, "b": model.b, "c": model.c, "scale_a": model.scale, "scale_b": model.scale}
    values: dict[str, tuple[float, ...]] = {}
    for name, array in row.items():
        operand = formats[name]
        assert operand is not None
        values[name] = tuple(value_of(code, operand) for code in np.atleast_1d(to_bits(name, array, operand)).tolist())
    return Input(values["a"], values["b"], values["c"][0], values.get("scale_a", ()), values.get("scale_b", ()))
