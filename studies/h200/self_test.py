"""Whether engine and kernels can be trusted at all, before arithmetic is looked at: the engine on rows of the reference, and
every kernel on matrices of small integers, which any datapath multiplies and adds exactly."""

import hashlib
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.formats import FORMATS, Format
from golden.names import NVIDIA_TYPES
from golden.stimulus import Operands, Tiles
from hwtests.device import Device
from hwtests.nvidia.disassembly import expected_outside
from hwtests.nvidia.sparse_and_integer import MatrixInstruction, metadata_word, selected
from studies.h200.reference import read
from studies.sparse_and_integer.__main__ import Run

ENGINE = "engine"
"""Name of the engine's test among those of the kernels."""

LARGEST = 2
"""Elements of A and B are integers from −2 to 2, which every format has; c has as many as a product."""

TILES = 8

INTEGER_TYPES = {"s8": "int8", "u8": "uint8", "s32": "int32"}
"""PTX's names of golden's integer formats."""


def verdict_on_engine(device: Device) -> dict[str, Any]:
    """The device's engine against the reference's rows: status `done` or `failed`, and rows that differ by instruction."""
    wrong: dict[str, int] = {}
    compared = 0
    for rows in read():
        arrays = (None if x is None else device.xp.asarray(x) for x in rows.operands)
        on_device = Operands(*arrays)  # type: ignore[arg-type]
        got = device.to_host(device.dot(rows.instruction.chain, on_device))
        count = int(differing(got, rows.d, rows.instruction.operation).sum())
        compared += len(rows.d)
        if count:
            wrong[rows.instruction.name] = count
    detail = f"engine {device.engine} differs from the reference" if wrong else ""
    return {"status": "failed" if wrong else "done", "compared": compared, "wrong": wrong, "detail": detail}


def verdict_on_kernel(device: Device, instruction: Instruction) -> dict[str, Any]:
    """Every operand route of an instruction on small integers: status `done` or `failed`, and the first wrong element."""
    tiles, expected = integer_tiles(instruction)
    on_device = Tiles(*(None if x is None else device.xp.asarray(x) for x in vars(tiles).values()))
    programs = device.load(instruction)
    entry: dict[str, Any] = {
        "status": "done", "detail": "",
        "sha256": {program.route: program.sha256 for program in programs},
        "machine_code": {program.route: dict(program.machine_code) for program in programs},
        "expected_code": dict(programs[0].expected_code),
    }  # fmt: skip
    for program in programs:
        entry["detail"] = _wrong_layout(device.to_host(program.run(on_device)), expected, program.route)
        if entry["detail"]:
            return entry | {"status": "failed"}
    return entry


def verdict_on_matrix_instruction(run: Run, instruction: MatrixInstruction) -> dict[str, Any]:
    """The same of a sparse or integer instruction, under every selection of its metadata."""
    tiles, nibbles, expected = matrix_integer_tiles(instruction)
    ran = run(instruction, tiles, metadata_word(nibbles.astype(np.uint32)))
    detail = _wrong_layout(ran.d, expected, "")
    return {
        "status": "failed" if detail else "done", "detail": detail, "sha256": {"": ran.sha256},
        "machine_code": {"": ran.machine_code}, "expected_code": expected_outside(instruction),
    }  # fmt: skip


def _wrong_layout(got: Any, expected: Any, route: str) -> str:
    """The number of wrong results, and the first of them; empty if all are right."""
    if (got == expected).all():
        return ""
    tile, row, column = np.argwhere(got != expected)[0].tolist()
    found = f"{int(got[tile, row, column]):#x} in place of {int(expected[tile, row, column]):#x}"
    wrong = f"{int((got != expected).sum())} of {got.size} elements of small-integer tiles"
    return f"wrong layout{f' ({route})' if route else ''}: {wrong}, first [{tile}, {row}, {column}], {found}"


def integer_tiles(instruction: Instruction) -> tuple[Tiles, Any]:
    """Tiles of small integers, different for every instruction, and the codes of D, computed on integers."""
    i, rng = instruction, _draws(instruction.name)
    a, b = (rng.integers(-LARGEST, LARGEST + 1, (TILES, rows, i.k)) for rows in (i.m, i.n))
    c = rng.integers(-LARGEST * LARGEST, LARGEST * LARGEST + 1, (TILES, i.m, i.n))
    d = np.einsum("tik,tjk->tij", a, b) + c
    scales = [None, None]
    if i.scale is not None and i.block_size is not None:
        ones = [np.ones((TILES, rows, i.k // i.block_size), np.int64) for rows in (i.m, i.n)]
        scales = [codes(i.scale, array) for array in ones]
    return Tiles(codes(i.a, a), codes(i.b, b), codes(i.c, c), *scales), codes(i.d, d)


def matrix_integer_tiles(instruction: MatrixInstruction) -> tuple[Tiles, Any, Any]:
    """Tiles of small integers, as many for each selection, the metadata nibble of each tile, and the codes of D."""
    i, rng = instruction, _draws(instruction.name)
    m, n, k = i.shape
    selections: dict[int, tuple[int, ...]] = i.selections or {0: ()}
    nibbles = np.repeat(np.array(list(selections), np.uint8), TILES)
    lowest = [0 if kind == "u8" else -LARGEST for kind in i.types[1:3]]
    a = rng.integers(lowest[0], LARGEST + 1, (len(nibbles), m, i.stored_k))
    b = rng.integers(lowest[1], LARGEST + 1, (len(nibbles), n, k))
    c = rng.integers(-LARGEST * LARGEST, LARGEST * LARGEST + 1, (len(nibbles), m, n))
    paired = [x if not i.sparse else selected(x, selections[nibble]) for x, nibble in zip(b, nibbles.tolist(), strict=True)]
    d = np.einsum("tik,tjk->tij", a, np.stack(paired)) + c
    of_d, of_a, of_b = (FORMATS[INTEGER_TYPES.get(word) or NVIDIA_TYPES.get(word, word)] for word in i.types[:3])
    return Tiles(codes(of_a, a), codes(of_b, b), codes(of_d, c)), nibbles, codes(of_d, d)


def _draws(name: str) -> np.random.Generator:
    """Random numbers of an instruction's own."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def codes(operand: Format, values: Any) -> Any:
    """The codes of integers that a format has."""
    low, high = int(values.min()), int(values.max())
    table = np.array([operand.encode(value) for value in range(low, high + 1)], bits_dtype(operand))
    return table[values - low]
