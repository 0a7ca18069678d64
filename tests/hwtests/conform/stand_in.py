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
from golden.stimulus import Tiles
from hwtests.conform.worker import main
from hwtests.device import Description, DeviceError

Fault = Callable[[Instruction, Tiles, Any], Any]
"""(instruction, tiles, right results) → the results that the device gives."""


def arithmetic(instruction: Instruction, tiles: Tiles) -> Any:
    """c + Σ a_k·b_k (times the scales) of the codes as integers, modulo the width of d."""
    i = instruction
    a, b = tiles.a.astype(np.uint64), tiles.b.astype(np.uint64)
    if tiles.scale_a is not None:
        assert tiles.scale_b is not None
        assert i.block_size is not None
        a = a * np.repeat(tiles.scale_a.astype(np.uint64), i.block_size, axis=2)
        b = b * np.repeat(tiles.scale_b.astype(np.uint64), i.block_size, axis=2)
    products = np.einsum("tmk,tnk->tmn", a, b)
    return (products + tiles.c).astype(bits_dtype(i.d))


class Program:
    machine_code = {"STAND.IN": 1}  # noqa: RUF012

    def __init__(self, instruction: Instruction, fault: Fault | None) -> None:
        self.instruction, self.fault = instruction, fault

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

    def load(self, instruction: Instruction) -> Program:
        return Program(instruction, self.fault)

    def model(self, instruction: Instruction, tiles: Tiles) -> Any:
        if tiles.c.shape[1:] == (instruction.m, instruction.n):
            if self.largest_batch is not None and len(tiles) > self.largest_batch:
                raise MemoryError("too large")
            self.batches.append(len(tiles))
        return arithmetic(instruction, tiles)

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


def no_device() -> StandIn:
    raise DeviceError("no usable CUDA device on this machine: driver too old")


FAULTS: dict[str, Fault | None] = {"none": None, "negative-c": with_negative_c, "hang": hang, "crash": crash}

if __name__ == "__main__":
    fault = sys.argv[1]
    sys.exit(main(no_device if fault == "no-device" else lambda: StandIn(FAULTS[fault])))
