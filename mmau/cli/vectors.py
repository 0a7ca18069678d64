"""`mmau vectors`: rows of the stimulus with the results that they must give, as text or as arrays."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from golden.arrays import BitArray
from golden.chain import ChainTable
from golden.checks import check_int, check_least
from golden.files import check_output, is_stdout, write_output
from golden.instruction import Instruction
from golden.npz import npz_bytes
from golden.program import TEXT
from golden.stimulus import OperandShape, Stimulus, chunks, complete_rows
from golden.stimulus.shape import concatenated
from golden.text import mmau_version
from golden.unit import Unit
from golden.unit_file import unit_to_toml
from mmau import OK
from mmau.cli.evaluate import chosen_model, operand_formats
from mmau.cli.json_objects import print_object
from mmau.cli.riscv_arch_test import check_arch, test_of

CHUNK = 4096
"""Vectors that are made and written at a time."""

MOST_VECTORS = 10**8
"""Vectors of one file: some gigabytes."""


def run_vectors(arguments: argparse.Namespace) -> int:
    """Run `mmau vectors` and return its exit status."""
    model = chosen_model(arguments)
    inputs = [path for path in (arguments.unit,) if path is not None]
    to_stdout = is_stdout(arguments.output)
    if to_stdout and arguments.json:
        raise ValueError("--json and -o - both write to stdout; give -o a file")
    check_output(arguments.output, inputs)
    check_least("--seed", arguments.seed, 0)
    shape = OperandShape.of_instruction(model) if isinstance(model, Instruction) else OperandShape.of_unit(model)
    level = None if arguments.vectors is not None else arguments.level or 1
    count = arguments.vectors if level is None else complete_rows(shape, level)
    check_int("--vectors", count, 1, MOST_VECTORS)
    kind = arguments.format or ("npz" if arguments.output.suffix == ".npz" else "text")
    about = facts(model, shape, level, count, arguments.seed)
    parts = with_results(model, chunks(shape, count, arguments.seed, CHUNK))
    if kind == "riscv-arch-test":
        made: bytes | Iterator[bytes] = test_of(check_arch(model), header(model, about), count, parts)
    else:
        made = text(model, about, parts) if kind == "text" else npz(model, about, parts)
    write_output(arguments.output, made, inputs)
    if arguments.json:
        print_object("vectors", {**about, "format": kind, "output": str(arguments.output)})
    else:
        line = f"{model.label}: {count} vectors in {'stdout' if to_stdout else arguments.output}"
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    return OK


def facts(model: Instruction | Unit, shape: OperandShape, level: int | None, count: int, seed: int) -> dict[str, Any]:
    """The origin of the vectors, for JSON."""
    of_model = {"arch": model.arch, "name": model.name} if isinstance(model, Instruction) else {"unit": model.name}
    return {**of_model, "K": shape.K, "vectors": count, "level": level, "seed": seed, "version": mmau_version()}


def with_results(
    model: Instruction | Unit, parts: Iterator[Stimulus]
) -> Iterator[tuple[Stimulus, BitArray]]:  # fmt: skip
    """Rows, and the d of each."""
    for stimulus in parts:
        yield stimulus, model.dot(*stimulus.operands)


def text(
    model: Instruction | Unit, about: dict[str, Any], parts: Iterator[tuple[Stimulus, BitArray]]
) -> Iterator[bytes]:  # fmt: skip
    """The text format, in chunks of bytes: header lines that begin with #, then one vector per line."""
    yield "".join(f"{line}\n" for line in header(model, about)).encode()
    formats = {**operand_formats(model), "d": model.operation.d}
    in_order = [name for name in ("a", "b", "scale_a", "scale_b", "c", "d") if name in formats]
    for stimulus, d in parts:
        codes = {**stimulus.operands._asdict(), "d": d}
        yield TEXT.question([(codes[name], formats[name]) for name in in_order])


def header(model: Instruction | Unit, about: dict[str, Any]) -> list[str]:
    """The comment at the top of the file. Without the first # of each line it is the unit's file."""
    formats, operation = operand_formats(model), model.operation
    counts = {"a": about["K"], "b": about["K"]}
    if operation.block_size is not None:
        counts |= dict.fromkeys(("scale_a", "scale_b"), -(-about["K"] // operation.block_size))
    order = [name for name in ("a", "b", "scale_a", "scale_b") if name in formats]
    columns = [f"{name}[0] … {name}[{counts[name] - 1}] {formats[name]}" for name in order]
    nan = "a NaN is this one" if operation.nan_is_fixed() else "any NaN may stand for a NaN"
    lines = [
        f"## mmau {about['version']}: test vectors of {model.label}, one a line",
        f"## {', '.join(columns)}, c {formats['c']}, d {operation.d}: hexadecimal codes; {nan}",
        f"## seed = {about['seed']}",
        f"## level = {about['level']}" if about["level"] else f"## vectors = {about['vectors']}",
    ]
    if isinstance(model, Instruction) and model.fp16_order is not None:
        lines.append(
            f"## runs as fp16 work, products in the order {model.fp16_order}, c last; the unit below is one step of it"
        )
    elif isinstance(model, Instruction) and model.is_paired:
        lines.append("## every product and every sum of two is rounded by itself; the unit below does each of them")
    elif step_unit(model).sums is not None:
        lines.append(f"## sums of {about['K']} products and c, added as [sums] says")
    elif step_unit(model).chain != ChainTable():
        lines.append(f"## steps of {operation.length} products, chained as [chain] says")
    elif about["K"] > operation.length:
        lines.append(f"## d of {operation.length} products is c of the next {operation.length}")
    return [*lines, *(f"# {line}".rstrip() for line in unit_to_toml(step_unit(model)).splitlines())]


def step_unit(model: Instruction | Unit) -> Unit:
    """The unit that computes one step; all of the chain where a table [chain] describes it."""
    if isinstance(model, Unit):
        return model
    if model.chain_table is not None and model.fp16_order is None and not model.chain.is_plain:
        return Unit(name=model.label, operation=model.operation, chain=model.chain_table)
    return Unit(name=model.step_name, operation=model.operation)


def npz(model: Instruction | Unit, about: dict[str, Any], parts: Iterator[tuple[Stimulus, BitArray]]) -> bytes:
    """A .npz file: a, b, c [, scale_a, scale_b], d, the label of each row's class, and `metadata`, JSON in UTF-8."""
    made = list(parts)
    stimulus = concatenated([part for part, _ in made])
    arrays = {name: codes for name, codes in stimulus.operands._asdict().items() if codes is not None}
    arrays |= {"d": np.concatenate([d for _, d in made]), "label": stimulus.label}
    metadata = {**about, "unit_toml": unit_to_toml(step_unit(model)), "classes": stimulus.names}
    return npz_bytes({**arrays, "metadata": np.frombuffer(json.dumps(metadata).encode(), np.uint8)})
