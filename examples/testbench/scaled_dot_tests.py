"""A testbench of one's own: a dot product of Volta with a power of two behind it, held to a specification of both."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

import golden
from cosim import bench
from golden.stimulus import OperandShape, chunks

VOLTA = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")


class ScaledDot(bench.Specification):
    """d = 2**shift · dot(a, b, c). What leaves fp32's normal numbers becomes an infinity or a zero."""

    def chunks(self, count: int, seed: int, engine: str | None = None) -> Iterator[bench.Chunk]:
        rng = np.random.default_rng(seed)
        for stimulus in chunks(OperandShape.of(VOLTA), count, seed, 4096):
            a, b, c, *_ = stimulus.operands
            shift = rng.integers(256, size=len(stimulus), dtype=np.uint8)
            yield bench.user_rows(
                {"a": (a, VOLTA.a), "b": (b, VOLTA.b), "c": (c, VOLTA.c), "shift": (shift, bench.Bits(8))},
                VOLTA.d,
                self.model,
                engine,
                stimulus.label,
                stimulus.names,
            ).chunk()

    def model(self, ports: Mapping[str, Any], engine: str | None) -> Any:
        dot = VOLTA.dot(ports["a"], ports["b"], ports["c"], engine=engine)
        sign, exponent = dot & 0x8000_0000, (dot >> 23 & 0xFF).astype(int)
        scaled = exponent + ports["shift"].view(np.int8)
        moved = (sign | scaled << 23 | dot & 0x7F_FFFF).astype(np.uint32)
        cases = [exponent == 255, (exponent == 0) | (scaled <= 0), scaled >= 255]
        return np.select(cases, [dot, sign, sign | 0x7F80_0000], moved).astype(np.uint32)


TIMING = bench.Timing("valid", reset="asynchronous")


def pins_of(dut: Any) -> dict[str, Any]:
    """The design's signals under the names that driver and monitor know, and those of the specification's ports."""
    operands = {
        "a": bench.Lanes([dut.a_i[k] for k in range(4)]),
        "b": bench.Lanes([dut.b_i[k] for k in range(4)]),
        "c": dut.c_i,
    }
    controls = {"clk": dut.clk, "rst": bench.Inverted(dut.rst_n), "in_valid": dut.valid_i, "out_valid": dut.valid_o}
    return {**operands, "shift": dut.shift_i, "d": dut.d_o, **controls}


@cocotb.test()
async def every_vector_agrees(dut: Any) -> None:
    scoreboard = bench.Scoreboard(ScaledDot(), count=5000, seed=1, on_mismatch=lambda result: dut._log.error(str(result)))
    await bench.exercise(pins_of(dut), TIMING, scoreboard, seed=1)
    assert not scoreboard.failures, scoreboard.failures


@cocotb.test()
async def every_vector_agrees_under_a_clock_of_my_own(dut: Any) -> None:
    shifts = Counter[int]()

    def count(result: bench.Result) -> None:
        shifts[result.vector.transfers[0]["shift"]] += 1

    pins, scoreboard = pins_of(dut), bench.Scoreboard(ScaledDot(), count=2000, seed=2, on_result=count)
    driver = bench.Driver(pins, TIMING, scoreboard, bench.Stalls("in"), scoreboard.vectors())
    monitor = bench.Monitor(pins, TIMING, scoreboard, bench.Stalls("out"))
    Clock(dut.clk, 10, "ns").start()
    dut.rst_n.value = dut.valid_i.value = 0
    await FallingEdge(dut.clk)
    dut.rst_n.value = 1
    while not driver.done or scoreboard.waiting:
        await FallingEdge(dut.clk)
        driver.drive()
        monitor.drive()
        await ReadOnly()  # everything has settled: what the rising edge will do is seen
        monitor.sample(driver.sample())
        assert monitor.waited < 100, "the design gives no results"
    assert not scoreboard.failures, scoreboard.failures
    assert len(shifts) == 256
