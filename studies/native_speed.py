"""The native engine's speed beside MMA-Sim's and PyTorch's: `python -m studies.native_speed [report.json]`.

Products a second on the same inputs (the class `normal`), all limited to the same cores, in one run; how long one call from
Python takes; and how many times as long as PyTorch's fp32 matmul a `golden.gemm` of that size takes. The exit status is 1
where a target is missed.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arrays import float_dtype
from golden.files import write_atomically
from golden.native.library import isa
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from mmau.jobs.provenance import processor
from studies import mma_sim

ROWS = 1 << 17
SECONDS = 0.5
"""How long each is repeated at least; the best repetition counts."""

TARGETS = (
    ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", 190.0),
    ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", 120.0),
    ("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32", 120.0),
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0", 120.0),
    ("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0", 120.0),
    ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", 120.0),
    ("gfx942", "v_mfma_f32_16x16x16_f16", 20.0),
    ("gfx942", "v_mfma_f32_16x16x16_bf16", 20.0),
    ("gfx942", "v_mfma_f32_16x16x8_xf32", 20.0),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", 20.0),
    ("gfx908", "v_mfma_f32_16x16x16f16", 20.0),
    ("gfx908", "v_mfma_f32_16x16x8bf16", 20.0),
    ("gfx90a", "v_mfma_f32_16x16x16f16", 3.0),
    ("sm_90", "mma.m16n8k16.f64.f64.f64.f64", 2.0),
    ("gfx942", "v_mfma_f32_16x16x4_f32", 1.0),
)
"""Instructions, and how many times MMA-Sim's speed is wanted."""

GEMM_SIZE = 2048
"""M, N and K of the whole matrix products."""

GEMM_TARGETS = (
    ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", 15.0),
    ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", 15.0),
    ("gfx942", "v_mfma_f32_16x16x16_bf16", 40.0),
)
"""Instructions, and how many times as long as PyTorch's fp32 matmul `golden.gemm` may take."""

RATES = (
    ("gfx1100", "v_wmma_f32_16x16x16_f16_w32", 400.0),
    ("gfx1100", "v_wmma_bf16_16x16x16_bf16_w64", 400.0),
    ("gfx1201", "v_wmma_f32_16x16x16_f16_w32", 400.0),
    ("gfx1201", "v_wmma_f16_16x16x16_f16_w64", 400.0),
)
"""Instructions that MMA-Sim does not have, and how many million products a second are wanted."""

CALL_MICROSECONDS = 10.0
"""Longest that one m16n8k16 call may take."""

CALLS = 100
"""Calls a repetition: few, so that some repetitions pass undisturbed where the machine has other work."""


def best_seconds(run: Callable[[], Any]) -> float:
    """The shortest of the repetitions."""
    run()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def normal_operands(instruction: golden.Instruction) -> Operands:
    """Rows of the class `normal`."""
    draws = GeneratorDraws(np.random.default_rng(1))
    return CLASSES["normal"](OperandShape.of_instruction(instruction), draws, ROWS, ())


def measure_rates() -> list[dict[str, Any]]:
    """An entry for each of the rates, with the ratio to the first of the targets, measured beside it."""
    entries = []
    for arch, name, wanted in RATES:
        rates = []
        for instruction in (golden.instruction(arch, name), golden.instruction(*TARGETS[0][:2])):
            operands = normal_operands(instruction)
            seconds = best_seconds(lambda i=instruction, o=operands: i.dot(*o, engine="native"))  # type: ignore[misc]
            rates.append(ROWS * instruction.k / seconds / 1e6)
        entries.append({"arch": arch, "name": name, "rate": rates[0], "ratio": rates[0] / rates[1], "wanted": wanted})
    return entries


def measure(instruction: golden.Instruction) -> tuple[float, float]:
    """Products a second: native, MMA-Sim."""
    operands = normal_operands(instruction)
    peer = mma_sim.operation(instruction)
    tensors = mma_sim.tensors(instruction, peer, operands)
    products = ROWS * instruction.k
    native = products / best_seconds(lambda: instruction.dot(*operands, engine="native"))
    return native, products / best_seconds(lambda: peer.dpa(*tensors))


def measure_gemms() -> tuple[float, list[dict[str, Any]]]:
    """Seconds of PyTorch's fp32 matmul, and an entry for each of the targets."""
    import torch

    rng = np.random.default_rng(1)
    numbers = rng.standard_normal((2, GEMM_SIZE, GEMM_SIZE), np.float32)
    x, y = torch.from_numpy(numbers[0]), torch.from_numpy(numbers[1])
    torch_seconds, entries = best_seconds(lambda: x @ y), []
    for arch, name, allowed in GEMM_TARGETS:
        instruction = golden.instruction(arch, name)
        A, B = numbers[0].astype(float_dtype(instruction.a)), numbers[1].astype(float_dtype(instruction.b))
        seconds = best_seconds(lambda i=instruction, a=A, b=B: golden.gemm(i, a, b, engine="native"))  # type: ignore[misc]
        entries.append(
            {"arch": arch, "name": name, "seconds": seconds, "times": seconds / torch_seconds, "allowed": allowed}
        )
    return torch_seconds, entries


def call_microseconds() -> float:
    """One m16n8k16 instruction call from Python, after the first."""
    instruction = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    A, B, C = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16), np.ones((16, 8), np.float32)

    def calls() -> None:
        for _ in range(CALLS):
            instruction(A, B, C)

    return best_seconds(calls) * 1e6 / CALLS


def print_gemms(torch_seconds: float, entries: list[dict[str, Any]]) -> None:
    """The whole matrix products as a table."""
    products = GEMM_SIZE**3 / 1e9
    print(
        f"golden.gemm of {GEMM_SIZE} x {GEMM_SIZE} x {GEMM_SIZE}; PyTorch's fp32 matmul takes {torch_seconds * 1e3:.0f} ms, "
        f"{products / torch_seconds:.0f} G products/s"
    )
    print(f"{'':8}{'instruction':66}{'ms':>14}{'G prod/s':>10}{'times':>8}{'allowed':>8}")
    for entry in entries:
        missed = "  missed" if entry["times"] > entry["allowed"] else ""
        print(
            f"{entry['arch']:8}{entry['name']:66}{entry['seconds'] * 1e3:14.0f}{products / entry['seconds']:10.1f}"
            f"{entry['times']:8.1f}{entry['allowed']:8.0f}{missed}"
        )


def main() -> int:
    import torch

    cores = len(os.sched_getaffinity(0))
    torch.set_num_threads(cores)
    golden.set_threads(cores)
    microseconds = call_microseconds()
    report: dict[str, Any] = {
        "machine": platform.platform(), "processor": processor(), "cores": cores, "isa": isa(), "rows": ROWS,
        "call_microseconds": microseconds, "call_microseconds_wanted": CALL_MICROSECONDS, "instructions": [],
    }  # fmt: skip
    call_missed = microseconds > CALL_MICROSECONDS
    print(
        f"{report['processor']}, {cores} cores, {report['isa']}; one m16n8k16 call {microseconds:.1f} us, "
        f"wanted {CALL_MICROSECONDS:.1f}{'  missed' if call_missed else ''}; batches of {ROWS} rows, for both"
    )
    print(f"{'':8}{'instruction':66}{'M products/s':>14}{'MMA-Sim':>10}{'ratio':>8}{'wanted':>8}")
    for arch, name, wanted in TARGETS:
        native, peer = measure(golden.instruction(arch, name))
        ratio = native / peer
        entry = {"arch": arch, "name": name, "native": native, "mma_sim": peer, "ratio": ratio, "wanted": wanted}
        report["instructions"].append(entry)
        missed = "" if ratio >= wanted else "  missed"
        print(
            f"{arch:8}{name:66}{native / 1e6:14.0f}{peer / 1e6:10.1f}{entry['ratio']:8.1f}{wanted:8.0f}{missed}", flush=True
        )
    report["rates"] = measure_rates()
    print(f"{'':8}{'instruction':66}{'M products/s':>14}{'wanted':>10}{'of sm_90':>10}")
    for entry in report["rates"]:
        missed = "" if entry["rate"] >= entry["wanted"] else "  missed"
        print(
            f"{entry['arch']:8}{entry['name']:66}{entry['rate']:14.0f}{entry['wanted']:10.0f}{entry['ratio']:10.2f}{missed}"
        )
    report["gemm_size"] = GEMM_SIZE
    report["torch_matmul_seconds"], report["gemms"] = measure_gemms()
    print_gemms(report["torch_matmul_seconds"], report["gemms"])
    if len(sys.argv) > 1:
        write_atomically(Path(sys.argv[1]), json.dumps(report, indent=1).encode() + b"\n")
    slow = any(entry["times"] > entry["allowed"] for entry in report["gemms"])
    slow = slow or any(entry["rate"] < entry["wanted"] for entry in report["rates"])
    return int(call_missed or slow or any(entry["ratio"] < entry["wanted"] for entry in report["instructions"]))


if __name__ == "__main__":
    sys.exit(main())
