"""Whether engine and kernels can be trusted at all, before arithmetic is looked at: the engine on rows of the reference, and
every kernel on matrices of small integers, which any datapath multiplies and adds exactly."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.formats import Format
from golden.stimulus import Operands, Tiles
from hwtests.device import Device
from studies.lent_minutes.reference import read

ENGINE = "engine"
"""Name of the engine's test among those of the kernels."""

LARGEST = 2
"""Largest element of A and B. Elements are integers from −2 to 2, restricted to 0 to 2 in unsigned formats and to 0 and 1
for single bits. Elements of c go up to the square."""

TILES = 8


def verdict_on_engine(device: Device, moved_on: Callable[[], None]) -> dict[str, Any]:
    """The device's engine against the reference's rows: status `done` or `failed`, and rows that differ by instruction.

    Args:
        moved_on: called after each arithmetic, whose kernel may have to be compiled.
    """
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
        moved_on()
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
    a, b = (
        rng.integers(-LARGEST if of.signed else 0, min(LARGEST, (1 << of.width) - 1) + 1, (TILES, rows, i.k))
        for of, rows in ((i.a, i.m), (i.b, i.n))
    )
    c = rng.integers(-LARGEST * LARGEST, LARGEST * LARGEST + 1, (TILES, i.m, i.n))
    d = np.einsum("tik,tjk->tij", *(a, b) if ".xor." not in i.name else (a, 1 - b)) + c
    if ".xor." in i.name:  # bits that differ: those of a and not b, and of b and not a
        d += np.einsum("tik,tjk->tij", 1 - a, b)
    scales = [None, None]
    if i.scale is not None and i.block_size is not None:
        ones = [np.ones((TILES, rows, i.k // i.block_size), np.int64) for rows in (i.m, i.n)]
        scales = [codes(i.scale, array) for array in ones]
    return Tiles(codes(i.a, a), codes(i.b, b), codes(i.c, c), *scales), codes(i.d, d)


def _draws(name: str) -> np.random.Generator:
    """Random numbers of an instruction's own."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def codes(operand: Format, values: Any) -> Any:
    """The codes of integers that a format has."""
    low, high = int(values.min()), int(values.max())
    table = np.array([operand.encode(value) for value in range(low, high + 1)], bits_dtype(operand))
    return table[values - low]
