"""`mmau vectors`: rows of the stimulus with the results that they must give, as text or as arrays."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import ChainTable
from golden.checks import check_int, check_least
from golden.files import check_output, is_stdout, write_output
from golden.program import TEXT
from golden.recordings.npz import npz_bytes
from golden.stimulus import OperandShape, Stimulus, chunks, complete_rows
from golden.stimulus.shape import concatenated
from golden.stimulus.volume import corner_table
from golden.text import mmau_version
from golden.units.controls import ZERO_POINTS
from golden.units.instruction import Instruction
from golden.units.operand_inputs import zeros_of
from golden.units.unit import Unit
from golden.units.unit_file import unit_to_toml
from mmau import OK
from mmau.cli.evaluate import chosen_model, operand_formats
from mmau.cli.json_objects import print_object
from mmau.cli.riscv_arch_test import check_arch, test_of

CHUNK = 4096
"""Vectors that are made and written at a time."""

BEFORE_C = ("a", "b", "metadata", "mask", "scale_a", "scale_b", "zero_a", "zero_b")
"""The columns of vectors, each of an operand that is there, in front of c, random and d."""

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
    shape = OperandShape.of(model)
    kind = arguments.format or ("npz" if arguments.output.suffix == ".npz" else "text")
    if kind == "corners":
        if arguments.level is not None or arguments.vectors is not None or arguments.json:
            raise ValueError("--format corners writes the whole table, no vectors; leave out --level, --vectors and --json")
        table = corner_table(shape, arguments.seed)
        level: int | None = 2
        count: int = len(table)
        made: bytes | Iterator[bytes] = table.file
    else:
        level = None if arguments.vectors is not None else arguments.level or 1
        count = arguments.vectors if level is None else complete_rows(shape, level)
        check_int("--vectors", count, 1, MOST_VECTORS)
    about = facts(model, shape, level, count, arguments.seed)
    parts = with_results(model, chunks(shape, count, arguments.seed, CHUNK), arguments.seed)
    if kind == "riscv-arch-test":
        of_test = ((stimulus, further["d"]) for stimulus, further in parts)
        made = test_of(check_arch(model), header(model, about), count, of_test)
    elif kind != "corners":
        made = text(model, about, parts) if kind == "text" else npz(model, about, parts)
    write_output(arguments.output, made, inputs)
    if arguments.json:
        print_object("vectors", {**about, "format": kind, "output": str(arguments.output)})
    else:
        what = "corners" if kind == "corners" else "vectors"
        line = f"{model.label}: {count} {what} in {'stdout' if to_stdout else arguments.output}"
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    return OK


def facts(model: Instruction | Unit, shape: OperandShape, level: int | None, count: int, seed: int) -> dict[str, Any]:
    """The origin of the vectors, for JSON."""
    of_model = {"arch": model.arch, "name": model.name} if isinstance(model, Instruction) else {"unit": model.name}
    return {**of_model, "K": shape.K, "vectors": count, "level": level, "seed": seed, "version": mmau_version()}


def with_results(
    model: Instruction | Unit, parts: Iterator[Stimulus], seed: int
) -> Iterator[tuple[Stimulus, dict[str, BitArray]]]:
    """Rows, and of each d and what it took beside them: the operands that `[controls]` add, and a longer b."""
    rng, formats = np.random.default_rng([seed, 1]), operand_formats(model)
    for stimulus in parts:
        drawn = model.drawn_inputs(stimulus.operands.b, rng) if isinstance(model, Unit) else {}
        drawn = {name: codes.astype(bits_dtype(formats[name])) for name, codes in drawn.items()}
        yield stimulus, {**drawn, "d": model.dot(**{**stimulus.operands._asdict(), **drawn})}


def text(
    model: Instruction | Unit, about: dict[str, Any], parts: Iterator[tuple[Stimulus, dict[str, BitArray]]]
) -> Iterator[bytes]:
    """The text format, in chunks of bytes: header lines that begin with #, then one vector per line."""
    yield "".join(f"{line}\n" for line in header(model, about)).encode()
    formats = {**operand_formats(model), "d": model.operation.d}
    in_order = [name for name in (*BEFORE_C, "c", "random", "d") if name in formats]
    for stimulus, further in parts:
        codes = {**stimulus.operands._asdict(), **further}
        yield TEXT.question([(codes[name], formats[name]) for name in in_order])


def header(model: Instruction | Unit, about: dict[str, Any]) -> list[str]:
    """The comment at the top of the file. Without the first # of each line it is the unit's file."""
    formats, operation = operand_formats(model), model.operation
    counts = {"a": about["K"], "b": about["K"]}
    if operation.block_size is not None:
        counts |= dict.fromkeys(operation.scale_operands, -(-about["K"] // operation.block_size))
    if "metadata" in formats:
        counts |= {"b": 2 * about["K"], "metadata": about["K"] // 2}
    counts |= {"mask": about["K"]} | dict.fromkeys(ZERO_POINTS, zeros_of(operation, about["K"]))
    order = [name for name in BEFORE_C if name in formats]
    columns = [f"{name}[0] … {name}[{counts[name] - 1}] {formats[name]}" for name in order]
    nan = "a NaN is this one" if operation.nan_is_fixed() else "any NaN may stand for a NaN"
    columns += [f"{name} {formats[name]}" for name in ("c", "random") if name in formats]
    lines = [
        f"## mmau {about['version']}: test vectors of {model.label}, one a line",
        f"## {', '.join(columns)}, d {operation.d}: hexadecimal codes; {nan}",
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


def npz(model: Instruction | Unit, about: dict[str, Any], parts: Iterator[tuple[Stimulus, dict[str, BitArray]]]) -> bytes:
    """A .npz file: a, b, c [, scale_a, scale_b] [, metadata] [, mask] [, zero_a] [, zero_b] [, random], d, the label of each
    row's class, and in JSON `metadata`, or where that is an operand `about`."""
    made = list(parts)
    stimulus = concatenated([part for part, _ in made])
    read = (*model.operation.operands, *model.operation.scale_operands)
    arrays = {name: codes for name, codes in stimulus.operands._asdict().items() if codes is not None and name in read}
    about_name = "about" if "metadata" in made[0][1] else "metadata"
    arrays |= {name: np.concatenate([further[name] for _, further in made]) for name in made[0][1]}
    arrays["label"] = stimulus.label
    described = {**about, "unit_toml": unit_to_toml(step_unit(model)), "classes": stimulus.names}
    return npz_bytes({**arrays, about_name: np.frombuffer(json.dumps(described).encode(), np.uint8)})
