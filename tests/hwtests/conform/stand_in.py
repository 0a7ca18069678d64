"""A device for tests of the machinery: both it and its `model` compute the same cheap integer arithmetic, unless a fault is
planted. It claims nothing about any hardware.

    python -m tests.hwtests.conform.stand_in FAULT

is a worker on it, for campaigns in their own process.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.native.nvrtc import CompileError
from golden.stimulus import Operands, OperandShape, Tiles, volume
from hwtests import on_host
from hwtests.conform.campaign_worker import main
from hwtests.device import Description, DeviceError
from hwtests.nvidia.gpu_comparison import FIXED, LABELS
from hwtests.tally import NAN_CODES, OTHER_NANS, Tally, tally

Fault = Callable[[Instruction, Tiles, Any], Any]
"""(instruction, tiles, right results) → the results that the device gives."""


def arithmetic(instruction: Instruction, tiles: Tiles) -> Any:
    """c + Σ a_k·b_k (times the scales) of the codes as integers, modulo the width of d."""
    a, b = (scaled(instruction.chain, *pair) for pair in ((tiles.a, tiles.scale_a), (tiles.b, tiles.scale_b)))
    return (np.einsum("tmk,tnk->tmn", a, b) + tiles.c).astype(bits_dtype(instruction.d))


def scaled(chain: Any, codes: Any, scales: Any) -> Any:
    codes = codes.astype(np.uint64)
    return codes if scales is None else codes * np.repeat(scales.astype(np.uint64), chain.operation.block_size, axis=-1)


class Program:
    machine_code = {"STAND.IN": 1}  # noqa: RUF012
    expected_code = {"STAND.IN": 1}  # noqa: RUF012
    sha256 = "0" * 64

    def __init__(self, instruction: Instruction, fault: Fault | None, route: str = "") -> None:
        self.instruction, self.fault, self.route = instruction, fault, route

    def run(self, tiles: Tiles) -> Any:
        right = arithmetic(self.instruction, tiles)
        return right if self.fault is None else self.fault(self.instruction, tiles, right)


class StandIn:
    """A Device of architecture sm_90."""

    xp = np
    engine = "stand-in"

    def __init__(self, fault: Fault | None = None, largest_batch: int | None = None) -> None:
        self.fault, self.largest_batch = fault, largest_batch
        self.batches: list[int] = []

    def describe(self) -> Description:
        return Description("stand-in, not a device", "sm_90", "none", "none", "none")

    def evidence(self) -> dict[str, str]:
        return {"uuid": "none"}

    def load(self, instruction: Instruction) -> tuple[Program, ...]:
        routes = ("", "A from registers") if instruction.name.startswith("wgmma.") else ("",)
        return tuple(Program(instruction, self.fault, route) for route in routes)

    def dot(self, chain: Any, rows: Operands) -> Any:
        a, b = scaled(chain, rows.a, rows.scale_a), scaled(chain, rows.b, rows.scale_b)
        return ((a * b).sum(axis=-1) + rows.c).astype(bits_dtype(chain.operation.d))

    def compare(self, instruction: Instruction, program: Any, seed: int, first: int, count: int) -> Tally:
        if self.largest_batch is not None and count > self.largest_batch:
            raise MemoryError("too large")
        self.batches.append(count)
        tiles, labels = on_host.tiles_of(instruction, seed, first, count)
        expected = arithmetic(instruction, tiles)
        return tally(instruction, tiles, labels, on_host.NAMES, first, program.run(tiles), expected)

    def to_host(self, array: Any) -> Any:
        return array


def with_negative_c(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """One too many where c is negative."""
    sign = tiles.c >> (instruction.c.storage_bits - 1)
    return d + sign.astype(d.dtype)


def at_the_right(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """One too many in the last column: results depend on j."""
    d = d.copy()
    d[:, :, -1] += 1
    return d


def hang(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """Only bf16 hangs."""
    if instruction.a.name == "bf16":
        time.sleep(600)
    return d


def crash(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """Only bf16 crashes."""
    if instruction.a.name == "bf16":
        raise RuntimeError("an illegal instruction was encountered")
    return d


def fail(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """Only bf16 cannot be compiled."""
    if instruction.a.name == "bf16":
        raise CompileError("NVRTC refuses a kernel for sm_90a:\n a long log")
    return d


def babble(instruction: Instruction, tiles: Tiles, d: Any) -> Any:
    """Writes more to standard error than a pipe holds."""
    print("warning: " * 100_000, file=sys.stderr, flush=True)
    return d


def no_device(_: str | None) -> StandIn:
    raise DeviceError("no usable CUDA device on this machine: driver too old")


FAULTS: dict[str, Fault | None] = {
    "none": None, "negative-c": with_negative_c, "hang": hang, "crash": crash, "fail": fail, "babble": babble,
}  # fmt: skip


def fill_tiles(i: Instruction, corners: Any, seed: Any, first: Any, count: Any, *arrays: Any) -> None:
    """The work of the GPU's kernel of that name, on NumPy's arrays: the operands, then the labels of their classes."""
    assert corners.tobytes() == volume.corner_table(OperandShape.of(i), int(seed)).blob
    made, labels = on_host.tiles_of(i, int(seed), int(first), int(count))
    for array, codes in zip(arrays, (*vars(made).values(), labels), strict=True):
        if codes is not None:
            array[...] = codes
        else:
            assert array == 0


def write_counts(found: Tally, counters: Any, differences: Any, m: int, n: int) -> None:
    """Write what the GPU's kernel compare_tiles leaves: counters in its layout, and the first differences by place."""
    for at, counted in ((0, found.compared), (LABELS, found.wrong)):
        for name, results in counted.items():
            counters[at + on_host.NAMES.index(name)] = results
    fixed = found.negative_zeros, len(found.differences), found.nans.pop(OTHER_NANS, 0)
    counters[2 * LABELS : 2 * LABELS + len(FIXED)] = fixed
    for place, (code, results) in enumerate(found.nans.items()):
        counters[2 * LABELS + len(FIXED) + place] = int(code, 16)
        counters[2 * LABELS + len(FIXED) + NAN_CODES + place] = results
    for place, x in enumerate(found.differences[: len(differences)]):
        differences[place] = (x.tile * m * n + x.row * n + x.column, x.got, x.expected)


if __name__ == "__main__":
    fault = sys.argv[1]
    if fault == "slow-start":
        time.sleep(5.0)
        fault = "none"
    sys.exit(main(no_device if fault == "no-device" else lambda _: StandIn(FAULTS[fault])))
