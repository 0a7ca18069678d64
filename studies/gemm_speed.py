"""`golden.gemm` beside PyTorch's fp32, on this machine: `python -m studies.gemm_speed [SIZE …]`, 2048 by default.

Ratios of CPU seconds with one thread each, the least of three runs in turn, so that other work on the machine counts little.
The last line of a size compares NVFP4 with fp16. A ratio above what is wanted ends with status 1.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

import golden
from mmau.jobs.provenance import processor

WANTED = {
    "sm_90 fp16": ("sm_90", "wgmma.m64n128k16.f32.f16.f16", 9.0),
    "sm_90 e4m3": ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3", 7.0),
    "gfx942 bf16": ("gfx942", "v_mfma_f32_32x32x8_bf16", 11.0),
}
"""Instruction, and how many times PyTorch's fp32 it may take."""

NVFP4 = ("sm_100", "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", 2.0)
"""Instruction, and how many times sm_90's fp16 it may take."""


DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
"""The dtype of each format of the operands."""


def main() -> int:
    """Measure every size, and print the ratios with the machine."""
    parser = argparse.ArgumentParser(prog="gemm_speed", description="golden.gemm beside PyTorch's fp32.")
    parser.add_argument("sizes", type=int, nargs="*", default=[2048], help="M = N = K (default: 2048)")
    torch.set_num_threads(1)
    golden.set_threads(1)
    print(f"{processor()}; Python {platform.python_version()}, PyTorch {torch.__version__}, golden {golden.__version__}")
    held = [held_at(size) for size in parser.parse_args().sizes]
    return int(not all(held))


def held_at(size: int) -> bool:
    """Print the ratios of one size; whether all are as wanted."""
    rng = np.random.default_rng(1)
    x, y = (torch.from_numpy(rng.standard_normal((size, size), np.float32)) for _ in "xy")
    models = {name: (golden.instruction(*of), most, "PyTorch fp32") for name, (*of, most) in WANTED.items()}
    models["sm_100 NVFP4"] = (golden.instruction(*NVFP4[:2]), NVFP4[2], "sm_90 fp16")
    work: dict[str, Callable[[], Any]] = {"PyTorch fp32": lambda: x @ y}
    for name, (model, _, _) in models.items():
        work[name] = product(model, size, rng)
    seconds = {name: float("inf") for name in work}
    for _ in range(3):
        for name, run in work.items():
            began = time.process_time()
            run()
            seconds[name] = min(seconds[name], time.process_time() - began)
    print(f"{size} x {size} x {size}: PyTorch fp32 {seconds['PyTorch fp32']:.2f} s of CPU")
    for name, (_, most, beside) in models.items():
        ratio = seconds[name] / seconds[beside]
        print(f"  {name}: {seconds[name]:.2f} s, {ratio:.2f} times {beside}, wanted at most {most:g}")
    return all(seconds[name] <= most * seconds[beside] for name, (_, most, beside) in models.items())


def product(model: golden.Instruction, size: int, rng: np.random.Generator) -> Callable[[], Any]:
    """A product of a size, of finite operands: numbers of about one."""
    a, b = (rng.standard_normal((size, size), np.float32).astype(DTYPES[model.a.name]) for _ in "ab")
    if model.scale is None:
        return lambda: golden.gemm(model, a, b)
    assert model.block_size is not None
    shapes = (size, size // model.block_size), (size // model.block_size, size)
    scales: list[Any] = [
        np.full(shape, model.scale.encode(1), np.uint8) + rng.integers(0, 2, shape).astype(np.uint8) for shape in shapes
    ]
    return lambda: golden.gemm(model, a, b, None, *scales)


if __name__ == "__main__":
    sys.exit(main())
