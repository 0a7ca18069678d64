"""`mmau compare`: one input on every unit of the catalogue, side by side."""

import argparse
from dataclasses import replace

import numpy as np

import golden
from golden.arrays import bits_dtype, to_bits
from golden.files import check_output, is_stdout, write_output
from golden.program import files_of
from golden.stimulus import Operands
from mmau import OK
from mmau.analysis.side_by_side import Asked, Comparison, Input, codes_for, compare, described, number, value_of
from mmau.cli.evaluate import chosen_model, input_arrays, row_of
from mmau.cli.json_objects import print_object
from mmau.cli.program_devices import check_unused, program_of, shape_of

VALUES = ("a", "b", "c", "scale_a", "scale_b")


def run_compare(arguments: argparse.Namespace) -> int:
    """Run `mmau compare` and return its exit status."""
    if arguments.html is not None:
        if is_stdout(arguments.html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        program = [] if arguments.program is None else files_of(arguments.program)
        check_output(arguments.html, [*program, *([] if arguments.input is None else [arguments.input])])
    check_unused(arguments)
    given = _from_file(arguments) if arguments.input is not None else _from_text(arguments)
    on = {golden.architecture(arch) for arch in arguments.on} or set(golden.ARCHITECTURES)
    found = compare(given, [i for i in golden.instructions() if i.arch in on])
    if arguments.program is not None:
        found = replace(found, asked=_asked(given, arguments))
    if arguments.html is not None:
        write_output(arguments.html, found.html().encode())
    if arguments.json:
        print_object("compare", found.as_dict())
    elif arguments.html is None or not is_stdout(arguments.html):
        _print(found, arguments)
    return OK


def _asked(given: Input, arguments: argparse.Namespace) -> Asked:
    """The program's result, asked twice.

    Raises:
        ValueError: its formats do not hold the input, or it misbehaves (ProgramError).
    """
    shape = shape_of(arguments)
    codes = codes_for(given, shape)
    if codes is None:
        raise ValueError(f"the formats of the program do not hold the input: {described(given)}")
    order = [name for name in ("a", "b", "c", "scale_a", "scale_b") if name in codes]
    formats = {"a": shape.a, "b": shape.b, "c": shape.c, "scale_a": shape.scale, "scale_b": shape.scale}
    rows = Operands(**{name: np.array([codes[name]], bits_dtype(formats[name])) for name in order})  # type: ignore[arg-type]
    with program_of(arguments, shape) as program:
        d, again = (int(program.dot(rows)[0]) for _ in range(2))
    if d != again:
        raise ValueError(
            f"the program {program.command!r} must give the same result whenever it is asked, and gave {d:#x} first, "
            f"then {again:#x}"
        )
    return Asked(program.command, shape, value_of(d, shape.d))


def _print(found: Comparison, arguments: argparse.Namespace) -> None:
    print(found.text(arguments.traces), end="")
    if arguments.html is not None:
        print(f"\nevery step of each: {arguments.html}")


def _from_text(arguments: argparse.Namespace) -> Input:
    """The numbers of the options.

    Raises:
        ValueError: a, b or c is missing, or options are given that belong to --input.
    """
    of_codes = (arguments.row,) if arguments.program is not None else (arguments.row, arguments.arch, arguments.instr)
    if of_codes != (None,) * len(of_codes):
        raise ValueError("--arch, --instr and --row describe the arrays of --input; give --input V.npz, or omit them")
    for name in ("a", "b", "c"):
        if getattr(arguments, name) is None:
            raise ValueError(f"--{name} is missing: give --a, --b and --c, as --a=-2^13,0.5, or --input V.npz")
    a, b, scale_a, scale_b = (_numbers(getattr(arguments, name)) for name in ("a", "b", "scale_a", "scale_b"))
    return Input(a, b, number(arguments.c), scale_a, scale_b)


def _numbers(text: str | None) -> tuple[float, ...]:
    return () if text is None else tuple(number(word.strip()) for word in text.split(","))


def _from_file(arguments: argparse.Namespace) -> Input:
    """The numbers that one row of codes represents in the formats of `--arch` and `--instr`.

    Raises:
        ValueError: numbers are given as well as a file, or the file has no such row. OSError: the file cannot be read.
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
