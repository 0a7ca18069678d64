"""`mmau order`: the order of `golden.gemm` that gives every element of a product that a kernel computed."""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FORMATS, FP32, Format
from golden.arrays import BitArray, bits_dtype
from golden.files import write_atomically
from mmau import DIFFERED, OK
from mmau.cli.json_objects import print_object
from mmau.probe.product_order import FoundOrder, GivenProduct, find_order

DTYPES = {
    "float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "ue8m0",
    "int8": "int8", "int32": "int32",
}  # fmt: skip
"""The format of each dtype that says one."""

SHOWN = 5
"""Number of unexplained elements that are listed."""


def run_order(arguments: argparse.Namespace) -> int:
    """Run `mmau order` and return its exit status."""
    names = (arguments.format, arguments.format, arguments.output_format)
    read = [_read(path, name) for path, name in zip((arguments.a, arguments.b, arguments.d), names, strict=True)]
    (a, of_a), (b, of_b), (d, of_d) = read
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or d.shape != (a.shape[0], b.shape[1]):
        raise ValueError(
            f"A must be [M, K], B [K, N] and D [M, N]; got {a.shape}, {b.shape} and {d.shape}: sampled rows of A and "
            f"columns of B are enough, whole along K"
        )
    c, c_format = (None, FP32) if arguments.c is None else _read(arguments.c, "fp32")
    scales = [
        None if path is None else _read(path, arguments.scale_format) for path in (arguments.scale_a, arguments.scale_b)
    ]
    if (scales[0] is None) != (scales[1] is None):
        raise ValueError("--scale-a and --scale-b must be given together")
    bias = None if arguments.bias is None else _read(arguments.bias, "fp32")[0]
    for what, array, shape in (("C", c, d.shape), ("the bias", bias, d.shape[1:])):
        if array is not None and array.shape != shape:
            raise ValueError(f"{what} must have shape {shape}, as D says, got {array.shape}")
    scale_a, scale_b = (None if read is None else read[0] for read in scales)
    given = GivenProduct(
        a=a, b=b, d=d, c=c, c_format=c_format, formats=(of_a, of_b, of_d), scale_a=scale_a, scale_b=scale_b,
        bias=bias, alpha=arguments.alpha, beta=arguments.beta,
    )  # fmt: skip
    models = _models(arguments, given, None if scales[0] is None else scales[0][1])
    found = find_order(given, models, arguments.seconds)
    if arguments.output is not None and found.order is not None:
        unit = None if arguments.unit is None else Path(os.path.relpath(arguments.unit, arguments.output.parent))
        write_atomically(arguments.output, order_toml(found.order, unit).encode())
    if arguments.json:
        print_object("order", _as_dict(found, arguments.unit))
    else:
        for line in _lines(found, arguments):
            print(line)
    return OK if found.order is not None else DIFFERED


def _models(
    arguments: argparse.Namespace, given: GivenProduct, scale: Format | None
) -> Sequence[golden.Instruction | golden.Unit]:
    """The unit, the named instruction, or those of the part that take the formats.

    Raises:
        ValueError: an unknown part, or an instruction with --unit.
    """
    if arguments.unit is not None:
        if arguments.instr is not None:
            raise ValueError("--instr names an instruction of --part; leave it out with --unit")
        return [golden.load_unit(arguments.unit)]
    part = golden.part(arguments.part)
    if arguments.instr:
        return [golden.instruction(part.arch, arguments.instr)]
    a, b, _ = given.formats
    return candidates(part.arch, a, b, None if scale is FP32 else scale)


def candidates(arch: str, a: Format, b: Format, scale: Format | None = None) -> list[golden.Instruction]:
    """The instructions of an architecture that may have multiplied two formats, each arithmetic once; for fp32 also those
    of tf32 and bf16. `scale`: the format of the scales that the instruction takes."""
    formats = [(a, b)] + ([(FORMATS[name],) * 2 for name in ("tf32", "bf16")] if a == b == FP32 else [])
    entries = [entry for entry in golden.instructions(arch) if (entry.a, entry.b) in formats and entry.scale == scale]
    entries.sort(key=lambda entry: (not entry.name.startswith(("wgmma.m64n128", "tcgen05.m128n128")), -entry.k))
    seen: dict[Any, golden.Instruction] = {}
    for entry in entries:
        seen.setdefault((entry.chain, entry.k), entry)
    return list(seen.values())


def order_toml(order: golden.GemmOrder, unit: Path | None = None) -> str:
    """The text of the gemm.toml of an order of an instruction, or of the unit in a file."""
    lines = [f"unit = {json.dumps(str(unit))}"]
    if isinstance(order.model, golden.Instruction):
        lines = [f'instruction = "{order.model.arch}:{order.model.name}"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in order.chosen.items()]
    return "\n".join(lines) + "\n"


def _read(path: Path, name: str | None) -> tuple[BitArray, Format]:
    """The codes of a matrix in a .npy file, and their format.

    Raises:
        ValueError: no array, or codes whose format neither their dtype nor the caller says.
    """
    try:
        array = np.load(path, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{path}: not a .npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: must be a .npy file with one array, not a .npz")
    said = DTYPES.get(str(array.dtype))
    if said is None and name is None:
        raise ValueError(
            f"{path}: dtype {array.dtype} does not say a format: give --format, or --output-format for D, as bf16"
        )
    made = golden.FORMATS.get(said or str(name))
    if made is None or array.dtype.itemsize != bits_dtype(made).itemsize:
        raise ValueError(
            f"{path}: dtype {array.dtype} holds no codes of {name}; the formats are {', '.join(golden.FORMATS)}"
        )
    return np.ascontiguousarray(array).view(bits_dtype(made)), made


def _lines(found: FoundOrder, arguments: argparse.Namespace) -> list[str]:
    part = None if arguments.part is None else golden.part(arguments.part)
    lines = [f"{part.name} is {part.target}, read as {part.arch}: {part.note}"] if part is not None and part.note else []
    if found.order is not None:
        return [
            *lines,
            f"this order gives every element, of {found.tried:,} that were tried:",
            order_toml(found.order, arguments.unit).rstrip(),
        ]
    lines.append(
        f"none of {found.tried:,} orders gives every element"
        + ("" if found.exhausted else "; the time was up before all were tried")
    )
    if found.nearest is not None:
        order, right = found.nearest
        lines += [f"the nearest gives {right:,} of {found.unexplained.size:,}:", order_toml(order, arguments.unit).rstrip()]
    places = np.argwhere(found.unexplained).tolist()
    shown = ", ".join(f"D[{i}, {j}]" for i, j in places[:SHOWN])
    more = f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
    lines.append(f"elements that none of the nearest orders gives: {shown or 'none: each is given by one of them'}{more}")
    return lines


def _as_dict(found: FoundOrder, unit: Path | None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "order": None if found.order is None else order_toml(found.order, unit), "tried": found.tried,
        "exhausted": found.exhausted,
        "unexplained": np.argwhere(found.unexplained).tolist(),
    }  # fmt: skip
    if found.nearest is not None:
        made["nearest"] = {"order": order_toml(found.nearest[0], unit), "elements": found.nearest[1]}
    return made
