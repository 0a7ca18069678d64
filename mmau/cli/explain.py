"""`mmau eval --explain`: the steps of one dot product."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.files import check_output, is_stdout, write_output
from mmau.cli.json_objects import print_object


def print_trace(model: golden.Instruction | golden.Unit, arrays: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    """Explain one row of the arrays: text or JSON to stdout, HTML to a file.

    Raises:
        ValueError: no such row, or several rows and none chosen by `--row`.
    """
    trace = model.explain(**row_of(arrays, arguments.row))
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
        name: array.reshape(rows)[chosen] if name == "c" else array.reshape(rows, array.shape[-1])[chosen]
        for name, array in arrays.items()
    }


def _inputs(arguments: argparse.Namespace) -> list[Path]:
    return [path for path in (arguments.input, arguments.unit) if path is not None]
