"""Whether engine and kernels can be trusted at all, before arithmetic is looked at: the engine on rows of the reference, and
every kernel on matrices of small integers, which any datapath multiplies and adds exactly."""

import hashlib
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.formats import Format
from golden.stimulus import Operands, Tiles
from hwtests.device import Device
from hwtests.h200.reference import read

ENGINE = "engine"
"""Name of the engine's test among those of the kernels."""

LARGEST = 2
"""Elements of A and B are integers from −2 to 2, which every format has; c has as many as a product."""

TILES = 8


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
        got = device.to_host(program.run(on_device))
        if (got != expected).any():
            tile, row, column = np.argwhere(got != expected)[0].tolist()
            found = f"{int(got[tile, row, column]):#x} in place of {int(expected[tile, row, column]):#x}"
            route = f" ({program.route})" if program.route else ""
            wrong = f"{int((got != expected).sum())} of {got.size} elements of small-integer tiles"
            entry["status"] = "failed"
            entry["detail"] = f"wrong layout{route}: {wrong}, first [{tile}, {row}, {column}], {found}"
            return entry
    return entry


def integer_tiles(instruction: Instruction) -> tuple[Tiles, Any]:
    """Tiles of small integers, different for every instruction, and the codes of D, computed on integers."""
    i = instruction
    seed = int.from_bytes(hashlib.sha256(i.name.encode()).digest()[:8], "little")
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-LARGEST, LARGEST + 1, (TILES, rows, i.k)) for rows in (i.m, i.n))
    c = rng.integers(-LARGEST * LARGEST, LARGEST * LARGEST + 1, (TILES, i.m, i.n))
    d = np.einsum("tik,tjk->tij", a, b) + c
    scales = [None, None]
    if i.scale is not None and i.block_size is not None:
        ones = [np.ones((TILES, rows, i.k // i.block_size), np.int64) for rows in (i.m, i.n)]
        scales = [codes(i.scale, array) for array in ones]
    return Tiles(codes(i.a, a), codes(i.b, b), codes(i.c, c), *scales), codes(i.d, d)


def codes(operand: Format, values: Any) -> Any:
    """The codes of integers that a format has."""
    low, high = int(values.min()), int(values.max())
    table = np.array([operand.encode(value) for value in range(low, high + 1)], bits_dtype(operand))
    return table[values - low]
