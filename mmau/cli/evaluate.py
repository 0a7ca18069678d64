"""`mmau eval`: one dot product a row, from a file to a file; with `--explain` the steps of one of them."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arithmetic.integer_format import integer
from golden.arrays import bits_dtype, check_no_scales, check_shape, float_dtype, scale_codes
from golden.files import check_output, is_stdout, write_output
from golden.recordings.npz import ArrayHeader, npz_bytes, read_npz
from golden.units.controls import OPERANDS, ZERO_POINTS
from golden.units.operand_inputs import zeros_of
from golden.units.selection import CODE_BITS
from mmau import OK
from mmau.cli.json_objects import print_object
from mmau.cli.options import WHICH_DESIGN, names_design


def print_trace(model: golden.Instruction | golden.Unit, arrays: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    """Explain one row of the arrays: text or JSON to stdout, HTML to a file.

    Raises:
        ValueError: no such row, or several rows and none chosen by `--row`.
    """
    row = row_of(arrays, arguments.row)
    row.pop("random", None)  # a unit that takes it is refused
    trace = model.explain(**row)
    if arguments.html is not None:
        write_output(arguments.html, trace.html().encode(), _inputs(arguments))
    if arguments.json:
        print_object("explain", trace.as_dict())
    elif arguments.html is None:
        print(trace.text(), end="")
    elif not is_stdout(arguments.html):
        print(f"{trace.model}: d = {trace.format} {trace.d:#x}, explained in {arguments.html}")


def check_explain(arguments: argparse.Namespace) -> None:
    """Raise ValueError where options do not go together, or the page cannot be written."""
    if not arguments.explain:
        if arguments.row is not None or arguments.html is not None:
            raise ValueError("--row and --html go with --explain")
        if arguments.output is None:
            raise ValueError(
                "d has no file: give --output D.npz, - for stdout; or --explain for the steps of one dot product"
            )
        return
    if arguments.output is not None:
        raise ValueError("--explain shows one dot product and writes no --output; omit one")
    if arguments.engine is not None:
        raise ValueError("--explain shows the steps of the reference model and takes no --engine")
    if arguments.html is not None:
        if is_stdout(arguments.html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(arguments.html, _inputs(arguments))


def row_of(arrays: Mapping[str, Any], row: int | None) -> dict[str, Any]:
    """One dot product of arrays [..., K]; rows are counted over all leading axes, from 0.

    Raises:
        ValueError: as `print_trace`.
    """
    rows = int(np.prod(arrays["c"].shape, dtype=np.int64))
    if not rows:
        raise ValueError("the input has no row to explain")
    if row is None and rows != 1:
        raise ValueError(f"the input has {rows} rows: choose one with --row, from 0 to {rows - 1}")
    chosen = 0 if row is None else row
    if not 0 <= chosen < rows:
        raise ValueError(f"--row must be from 0 to {rows - 1}, got {chosen}")
    return {
        name: array.reshape(rows)[chosen] if name in ("c", "random") else array.reshape(rows, array.shape[-1])[chosen]
        for name, array in arrays.items()
    }


def _inputs(arguments: argparse.Namespace) -> list[Path]:
    return [path for path in (arguments.input, arguments.unit) if path is not None]


def run_eval(arguments: argparse.Namespace) -> int:
    """Run `mmau eval` and return its exit status."""
    model = chosen_model(arguments)
    check_explain(arguments)
    if arguments.explain:
        print_trace(model, input_arrays(model, arguments), arguments)
        return OK
    inputs = [path for path in (arguments.input, arguments.unit) if path is not None]
    to_stdout = is_stdout(arguments.output)
    if to_stdout and arguments.json:
        raise ValueError("--json and --output - both write to stdout; give --output a file")
    check_output(arguments.output, inputs)
    d = model.dot(**input_arrays(model, arguments), engine=arguments.engine)
    write_output(arguments.output, npz_bytes({"d": d}), inputs)
    named = {"arch": model.arch, "name": model.name} if isinstance(model, golden.Instruction) else {"unit": model.name}
    if arguments.json:
        print_object("eval", {**named, "results": d.size, "output": str(arguments.output)})
    else:
        line = f"{' '.join(named.values())}: {d.size} results in {'stdout' if to_stdout else arguments.output}"
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    return OK


def input_arrays(model: golden.Instruction | golden.Unit, arguments: argparse.Namespace) -> dict[str, Any]:
    """The input's arrays, which the model takes."""
    formats = operand_formats(model)

    def check(headers: Mapping[str, ArrayHeader]) -> None:
        check_dtypes(headers, formats)
        check_shapes(headers, model)

    given = further_inputs(model)
    return read_npz(arguments.input, (*model.operation.operands, *given), ("scale_a", "scale_b"), check)


def further_inputs(model: golden.Instruction | golden.Unit) -> tuple[str, ...]:
    """The arguments of `dot` that a unit's `[controls]` add."""
    keys = [control.key for control in model.controls] if isinstance(model, golden.Unit) else []
    return tuple(key for key in OPERANDS if key in keys)


def chosen_model(arguments: argparse.Namespace) -> golden.Instruction | golden.Unit:
    """The instruction or the unit that the options name.

    Raises:
        ValueError: they name none, both, or half of one.
    """
    if not names_design(arguments):
        raise ValueError(WHICH_DESIGN)
    if arguments.unit is not None:
        return golden.load_unit(arguments.unit)
    return golden.instruction(arguments.arch, arguments.instr)


def operand_formats(model: golden.Instruction | golden.Unit) -> dict[str, golden.Format]:
    """The format of each array of the input."""
    operation = model.operation
    found = {"a": model.a, "b": model.b, "c": operation.c}
    formats = {name: found[name] for name in operation.operands}
    if operation.scale_format is not None:
        formats |= dict.fromkeys(operation.scale_operands, operation.scale_format)
    widths = {"metadata": CODE_BITS, "mask": 1}
    if isinstance(model, golden.Unit) and model.random is not None:
        widths["random"] = model.random.width
    own = {key: formats[ZERO_POINTS[key]] for key in further_inputs(model) if key in ZERO_POINTS}
    own |= {
        key: integer(f"uint{width}", width, signed=False) for key, width in widths.items() if key in further_inputs(model)
    }
    return formats | own


def check_dtypes(headers: Mapping[str, ArrayHeader], formats: Mapping[str, golden.Format]) -> None:
    """Check that each array has the unsigned dtype of the format's width, or the format's floating-point dtype.

    A .npz file holds arrays of ml_dtypes as raw bytes, which do not show whether they were, say, bfloat16 or float16.

    Raises:
        ValueError: raw bytes. TypeError: another dtype.
    """
    for name, header in headers.items():
        if name not in formats:
            continue  # scales of an operation that has none: `check_shapes` refuses them
        operand, dtype = formats[name], header.dtype
        bits = bits_dtype(operand)
        if dtype.kind == "V" and dtype.names is None and dtype.itemsize == bits.itemsize:
            raise ValueError(
                f"{name} holds raw bytes ({dtype.str[1:]}), as np.savez writes arrays of ml_dtypes, which do not say their "
                f"format; save {name}.view(np.{bits}), the codes of {operand}"
            )
        if dtype not in (bits, float_dtype(operand)):
            raise TypeError(f"{name} must have dtype {accepted(operand)} for {operand}, got {dtype}")


def check_shapes(headers: Mapping[str, Any], model: golden.Instruction | golden.Unit) -> None:
    """Raise ValueError for wrong shapes and for missing or superfluous scales, as `dot` would, before data take memory.

    Only the headers of the arrays are read.
    """
    operation, shape = model.operation, headers["a"].shape
    K = model.k if isinstance(model, golden.Instruction) else shape[-1] if shape else 0
    if not K:
        raise ValueError(f"a must have shape [..., K] with K at least 1, got {shape}")
    lead = shape[:-1]
    further = further_inputs(model)
    if "random" in further:
        check_shape("random", headers["random"], lead, "that of a without K")
    else:
        (replace(model.on_differences, controls=()) if isinstance(model, golden.Unit) and further else model).chain_over(K)
    check_shape("a", headers["a"], (*lead, K), "the last axis is K")
    if "metadata" in further:
        check_shape("metadata", headers["metadata"], (*lead, K // 2), "a code for every 2 elements of a")
        check_shape("b", headers["b"], (*lead, 2 * K), "twice that of a")
    elif "b" in operation.operands:
        check_shape("b", headers["b"], (*lead, K), "that of a")
    if "mask" in further:
        check_shape("mask", headers["mask"], (*lead, K), "that of a")
    for name in further:
        if name in ZERO_POINTS:
            check_shape(name, headers[name], (*lead, zeros_of(operation, K)), "a zero point for each block")
    if "c" in operation.operands:
        check_shape("c", headers["c"], lead, "that of a without K")
    for name in ("scale_a", "scale_b"):
        if operation.block_size is None or name not in operation.scale_operands:
            check_no_scales(name, headers.get(name), operation)
        elif name not in headers:
            scale_codes(name, None, operation, (), "", None)  # refuses what is missing
        else:
            blocks = -(-K // operation.block_size)
            check_shape(name, headers[name], (*lead, blocks), f"one scale for every {operation.block_size} elements")


def accepted(operand: golden.Format) -> str:
    """The dtypes that a file can hold an operand in."""
    floats = float_dtype(operand)
    in_files = floats is not None and floats.kind == "f" and floats.itemsize > 1  # NumPy's own
    return f"{bits_dtype(operand)} or {floats}" if in_files else str(bits_dtype(operand))
