"""`mmau disclose`: what an implementer of RISC-V's integrated matrix extension publishes of the arithmetic of units."""

import argparse
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path

from golden.arithmetic.formats import UE8M0
from golden.checks import check_choice, check_int, check_least
from golden.files import write_atomically
from golden.program import TEXT
from golden.stimulus import OperandShape, chunks
from golden.stimulus.shape import concatenated
from golden.text import mmau_version
from golden.units.unit import Unit
from golden.units.unit_file import load_unit, unit_to_toml
from mmau import OK
from mmau.analysis.disclosure import FILE, FRM, LAMBDAS, in_mode, table_of, text_of, toml_of
from mmau.analysis.microscaling import scaled_dot, scaled_shape
from mmau.cli.riscv_arch_test import Tile, matrix_test
from mmau.cli.vectors import CHUNK, MOST_VECTORS, facts, header, text, with_results


def vectors_of(unit: Unit, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """The unit's golden vectors in each mode of frm, as files by name."""
    for mode, name in FRM.items():
        model = in_mode(unit, mode)
        shape = OperandShape.of(model)
        parts = with_results(model, chunks(shape, count, seed, CHUNK), seed)
        yield f"{unit.name}-{name}.txt", b"".join(text(model, facts(model, shape, None, count, seed), parts))


def scaled_vectors_of(unit: Unit, block: int, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """The same of rows under E8M0 scales of blocks of so many elements."""
    shape = scaled_shape(unit, block)
    formats = {"a": shape.a, "b": shape.b, "scale_a": UE8M0, "scale_b": UE8M0, "c": shape.c, "d": shape.d}
    about = f"a[{shape.K}] {shape.a}, b[{shape.K}] {shape.b}, scale_a[2], scale_b[2] ue8m0, c, d {shape.d}; seed {seed}"
    for mode, name in FRM.items():
        title = f"## {unit.name}, frm = {name}, under scales of {block} elements, as the draft's fp_scaled_gemm"
        lines = [f"{title}: {about}\n".encode()]
        for part in chunks(shape, count, seed, CHUNK):
            codes = part.operands._asdict() | {"d": scaled_dot(in_mode(unit, mode), part.operands, block)}
            lines.append(TEXT.question([(codes[operand], of) for operand, of in formats.items()]))
        yield f"{unit.name}-mx{block}-{name}.txt", b"".join(lines)


def tests_of(unit: Unit, lambdas: Sequence[int], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Tests of the unit for riscv-arch-test, in each mode of frm, under the least lambda that it has."""
    for mode, name in FRM.items():
        model = in_mode(unit, mode)
        tile = Tile.of(model, lambdas)
        shape = OperandShape.of(model, tile.K)
        rows = concatenated([*chunks(shape, count, seed, CHUNK)]).operands
        has_flags = getattr(model.operation, "flags", False)
        d, flags = model.dot(*rows, flags=True) if has_flags else (model.dot(*rows), None)
        yield (
            f"{unit.name}-{name}.S",
            matrix_test(tile, header(model, facts(model, shape, None, count, seed)), rows, d, flags),
        )


def run_disclose(arguments: argparse.Namespace) -> int:
    """Run `mmau disclose` and return its exit status."""
    check_least("--seed", arguments.seed, 0)
    check_int("--vectors", arguments.vectors, 1, MOST_VECTORS)
    sizes = sorted(set(arguments.lambdas or LAMBDAS))
    for size in sizes:
        check_choice("--lambda", str(size), [str(each) for each in LAMBDAS])
    units = [load_unit(path) for path in arguments.units]
    names = [unit.name for unit in units]
    if len(set(names)) < len(names):
        raise ValueError(f"units of a disclosure must have names of their own, got {', '.join(names)}")
    for name in names:
        if Path(f"{name}.toml").name != f"{name}.toml":
            raise ValueError(f"names of a disclosure's units are those of its files: they have no folder, got {name!r}")
    table = table_of(units, sizes)
    for unit in units if arguments.blocks else ():
        scaled_shape(unit, arguments.blocks[0])  # refuses a unit before anything is written
    for unit in units if arguments.riscv_arch_test else ():
        Tile.of(unit, sizes)
    print(text_of(table), end="")
    folder = arguments.output
    if folder is None:
        return OK
    folder.mkdir(parents=True, exist_ok=True)
    digests: dict[str, dict[str, str]] = {}
    for unit in units:
        write_atomically(folder / f"{unit.name}.toml", unit_to_toml(unit).encode())
        digests[unit.name] = {}
        scaled = [scaled_vectors_of(unit, block, arguments.vectors, arguments.seed) for block in arguments.blocks]
        tests = [tests_of(unit, sizes, arguments.vectors, arguments.seed)] if arguments.riscv_arch_test else []
        for name, content in chain(vectors_of(unit, arguments.vectors, arguments.seed), *scaled, *tests):
            write_atomically(folder / name, content)
            digests[unit.name][name] = sha256(content).hexdigest()
    write_atomically(folder / FILE, toml_of(table, digests, f"mmau {mmau_version()}").encode())
    counts = f"{len(units)} units, {len(table)} rows, {arguments.vectors} vectors of each unit in each mode of frm"
    print(f"{folder / FILE}: {counts}")
    return OK
