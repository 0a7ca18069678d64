"""A device for rehearsals of the whole job: it computes what the model computes, unless a fault is planted. It claims
nothing about any hardware.

    python -m tests.studies.h200.stand_in FAULT

is a worker on it.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from golden import Instruction
from golden.chain import Chain
from golden.engines import Batch, run
from golden.stimulus import Operands, Tiles
from hwtests import on_host
from hwtests.device import Description, Program
from hwtests.nvidia.sparse_and_integer import MatrixInstruction, integer_dot, metadata_word
from hwtests.tally import Tally
from studies.h200.job_worker import main
from studies.microbenchmarks.run import PointError
from studies.microbenchmarks.timed_loops import Benchmark
from studies.sparse_and_integer.__main__ import Ran
from studies.sparse_and_integer.hypotheses import Hypothesis, dense, expected

Fault = Callable[[Instruction, str, Tiles, Any], Any]
"""(instruction, operand route, tiles, right results) → the results that the device gives."""


def dot(chain: Chain, rows: Operands) -> Any:
    return run(None, chain, Batch(*rows))


class ModelProgram:
    machine_code = {"STAND.IN": 1}  # noqa: RUF012
    expected_code = {"STAND.IN": 1}  # noqa: RUF012
    sha256 = "0" * 64

    def __init__(self, instruction: Instruction, route: str, fault: Fault) -> None:
        self.instruction, self.route, self.fault = instruction, route, fault

    def run(self, tiles: Tiles) -> Any:
        return self.fault(self.instruction, self.route, tiles, on_host.model(self.instruction.chain, tiles, dot))


class ModelDevice:
    """A Bench of architecture sm_90.

    Args:
        largest_batch: tiles that fit its memory.
    """

    xp = np
    engine = "native"

    def __init__(self, fault: Fault, largest_batch: int = 1 << 20, wrong_engine: bool = False) -> None:
        self.fault, self.largest_batch, self.wrong_engine = fault, largest_batch, wrong_engine

    def describe(self) -> Description:
        return Description("golden model, not a device", "sm_90", "none", "none", "none")

    def evidence(self) -> dict[str, str]:
        return {"driver": "none", "uuid": "none"}

    def prebuild(self, seconds: float) -> int:
        return 0

    def load(self, instruction: Instruction) -> tuple[ModelProgram, ...]:
        routes = ("", "A from registers") if instruction.name.startswith("wgmma.") else ("",)
        return tuple(ModelProgram(instruction, route, self.fault) for route in routes)

    def dot(self, chain: Chain, rows: Operands) -> Any:
        d = dot(chain, rows)
        return d ^ 1 if self.wrong_engine else d

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        if count > self.largest_batch:
            raise MemoryError("out of memory allocating 1,024 bytes")
        return on_host.compare(instruction, program, seed, first, count, dot)

    def to_host(self, array: Any) -> Any:
        return array

    def run(self, instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        if not instruction.sparse:
            a, b, *_ = (np.ascontiguousarray(x) for x in tiles.rows(np)[:2])
            return Ran(integer_dot(instruction, a, b, tiles.c), {}, "0" * 64)
        d, chain = np.empty_like(tiles.c), dense(instruction).chain
        order = chain.fp16_order
        for nibble, positions in instruction.selections.items():
            of_it = metadata == metadata_word(nibble)
            chosen = Tiles(tiles.a[of_it], tiles.b[of_it], tiles.c[of_it])
            d[of_it] = expected(instruction, Hypothesis(instruction.stored_k, False, order), chosen, positions)
        return Ran(d, {}, "0" * 64)

    def cycles(self, benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        if ilp * warps > 48:
            raise PointError("218 registers a thread leave room for 9 warps")
        return [20 * 1024 * ilp] * warps


def right(instruction: Instruction, route: str, tiles: Tiles, d: Any) -> Any:
    return d


def only_bf16(change: Callable[[Any], Any]) -> Fault:
    """A fault of bf16 alone, and only beyond the self-test's few tiles where it is none of layout."""

    def fault(instruction: Instruction, route: str, tiles: Tiles, d: Any) -> Any:
        return change(d) if instruction.a.name == "bf16" else d

    return fault


def hang(d: Any) -> Any:
    time.sleep(600)
    return d


def die(d: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)
    return d


def crash(d: Any) -> Any:
    raise RuntimeError("an illegal instruction was encountered")


def swap_columns(d: Any) -> Any:
    d = d.copy()
    d[:, :, [0, 1]] = d[:, :, [1, 0]]
    return d


def one_ulp(instruction: Instruction, route: str, tiles: Tiles, d: Any) -> Any:
    """bf16 rounds up where its result's last bit is one and its exponent is large; small integers are right."""
    return np.where((d >> 23 & 0xFF) > 0x90, d | 1, d) if instruction.a.name == "bf16" else d


def wrong_registers(instruction: Instruction, route: str, tiles: Tiles, d: Any) -> Any:
    """A from registers lies wrong."""
    return swap_columns(d) if route else d


class SlowDevice(ModelDevice):
    """Takes its time."""

    def cycles(self, benchmark: Benchmark, ilp: int, warps: int) -> list[int]:
        time.sleep(0.05)
        return super().cycles(benchmark, ilp, warps)


def once(fault: Fault) -> Fault:
    """A fault that is gone the second time the worker meets it: in the file MMAU_ONCE it leaves a mark."""

    def wrapped(instruction: Instruction, route: str, tiles: Tiles, d: Any) -> Any:
        mark = os.environ["MMAU_ONCE"]
        if instruction.a.name != "bf16" or os.path.exists(mark):
            return d
        with open(mark, "w", encoding="utf-8"):
            return fault(instruction, route, tiles, d)

    return wrapped


DEVICES: dict[str, Callable[[], ModelDevice]] = {
    "none": lambda: ModelDevice(right),
    "slow": lambda: SlowDevice(right),
    "hang": lambda: ModelDevice(only_bf16(hang)),
    "hang-once": lambda: ModelDevice(once(only_bf16(hang))),
    "killed": lambda: ModelDevice(only_bf16(die)),
    "crash": lambda: ModelDevice(only_bf16(crash)),
    "memory": lambda: ModelDevice(right, largest_batch=7),
    "no-memory": lambda: ModelDevice(right, largest_batch=0),
    "layout": lambda: ModelDevice(only_bf16(swap_columns)),
    "route": lambda: ModelDevice(wrong_registers),
    "arithmetic": lambda: ModelDevice(one_ulp),
    "engine": lambda: ModelDevice(right, wrong_engine=True),
}

if __name__ == "__main__":
    sys.exit(main(DEVICES[sys.argv[1]]))
