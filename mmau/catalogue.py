"""`mmau list` and `mmau eval`: the instructions of the catalogue."""

import argparse
import json
from typing import Any

import numpy.typing as npt

import golden
from golden.arrays import bits_dtype
from golden.files import read_npz, write_npz
from golden.text import table
from mmau import OK


def run_list(arguments: argparse.Namespace) -> int:
    """`mmau list`."""
    entries = golden.instructions(arguments.arch)
    if arguments.json:
        print(json.dumps({"instructions": [entry.as_dict() for entry in entries]}))
        return OK
    rows = [("arch", "instruction", "operation", "parameters", "evidence")]
    rows += [(e.arch, e.name, e.operation.name, parameter_text(e), e.evidence) for e in entries]
    print(table(rows))
    return OK


def parameter_text(entry: golden.Instruction) -> str:
    """The parameters that the name of an instruction does not show: `L=16 F=25 rho=RZ-FP32 …`."""
    shown = {key: value for key, value in entry.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    if entry.fp16_order is not None:
        shown["fp16_order"] = entry.fp16_order
    return " ".join(f"{key}={value}" for key, value in shown.items())


def run_eval(arguments: argparse.Namespace) -> int:
    """`mmau eval`."""
    instruction = golden.instruction(arguments.arch, arguments.instr)
    arrays = read_npz(arguments.input, ("a", "b", "c"), ("scale_a", "scale_b"))
    formats = {"a": instruction.a, "b": instruction.b, "c": instruction.c}
    if instruction.scale is not None:
        formats |= {"scale_a": instruction.scale, "scale_b": instruction.scale}
    operands = {name: saved_bits(array, formats.get(name)) for name, array in arrays.items()}
    d = instruction.dot(**operands, engine=arguments.engine)
    write_npz(arguments.output, {"d": d})
    if arguments.json:
        print(
            json.dumps(
                {"arch": instruction.arch, "name": instruction.name, "results": d.size, "output": str(arguments.output)}
            )
        )
    else:
        print(f"{instruction.arch} {instruction.name}: {d.size} results in {arguments.output}")
    return OK


def saved_bits(array: npt.NDArray[Any], operand: golden.Format | None) -> npt.NDArray[Any]:
    """An array as it was before it was saved: .npz keeps an ml_dtypes array as raw bytes (dtype void) of its width."""
    if operand is not None and array.dtype.kind == "V" and array.dtype.itemsize == operand.storage_bits // 8:
        return array.view(bits_dtype(operand))
    return array
