"""What the tolerance of a framework's test lets pass: `python examples/audit.py sglang`, or another of `TESTS`.

Each function compares as the framework's own test does, on operands like its own; the kernel is this project's, right or
wrong on purpose. Replace the body by your test, and the instruction by your kernel's.
"""

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import golden
from mmau.testing import audit

Kernel = Callable[..., Any]
FP32 = golden.GemmOrder(output="fp32")

rng = np.random.default_rng


def exact(a: Any, b: Any) -> Any:
    """The product of a and b in fp64."""
    return a.astype(np.float64) @ b.astype(np.float64)


def sglang(kernel: Kernel) -> None:
    """sgl-kernel's test_fp8_gemm: e4m3 over its whole range, scales of rows and columns, atol 1 and rtol 0.02."""
    draw, shapes = rng(1), ((64, 512), (512, 128))
    a, b = ((draw.uniform(-448, 448, shape)).astype(ml_dtypes.float8_e4m3fn) for shape in shapes)
    scales = draw.standard_normal((64, 1)) * 0.001 * draw.standard_normal((1, 128)) * 0.001
    np.testing.assert_allclose(kernel(a, b) * scales, exact(a, b) * scales, atol=1, rtol=0.02)


def aiter(kernel: Kernel) -> None:
    """aiter's checkAllclose: 5 percent of the elements may be further off than atol 0.01 and rtol 0.01."""
    a, b = (rng(seed).standard_normal(shape).astype(ml_dtypes.bfloat16) for seed, shape in enumerate(((64, 512), (512, 64))))
    close = np.isclose(kernel(a, b).astype(ml_dtypes.bfloat16).astype(float), exact(a, b), atol=0.01, rtol=0.01)
    assert (~close).mean() <= 0.05


def xla(kernel: Kernel) -> None:
    """XLA's comparison of autotuned products: |x - y| below 0.1 of the larger one and 1."""
    a, b = (rng(seed).standard_normal(shape).astype(np.float16) for seed, shape in enumerate(((64, 512), (512, 64))))
    d, right = kernel(a, b), exact(a, b)
    assert (abs(d - right) <= 0.1 * (np.maximum(abs(d), abs(right)) + 1)).all()


def iree(kernel: Kernel) -> None:
    """iree-test-suites with atol 1e-5: A·B + C in fp32, of numbers from -1 to 1."""
    a, b, c = (rng(seed).uniform(-1, 1, (64, 64)).astype(np.float32) for seed in range(3))
    np.testing.assert_allclose(kernel(a, b, c), exact(a, b) + c, atol=1e-5, rtol=1e-5)


def hipblaslt(kernel: Kernel) -> None:
    """hipBLASLt's norm check of fp16: the difference's norm below 0.01 of the result's."""
    a, b = (rng(seed).standard_normal(shape).astype(np.float16) for seed, shape in enumerate(((64, 512), (512, 64))))
    assert np.linalg.norm(kernel(a, b) - exact(a, b)) < 0.01 * np.linalg.norm(exact(a, b))


def tt_metal(kernel: Kernel) -> None:
    """tt-metal's assert_with_pcc: a correlation of 0.999, of bf16 from 0 to 1."""
    a, b = (rng(seed).random(shape).astype(ml_dtypes.bfloat16) for seed, shape in enumerate(((64, 512), (512, 64))))
    with np.errstate(invalid="ignore"):  # of zeros alone the correlation is NaN
        assert np.corrcoef(kernel(a, b).ravel().astype(float), exact(a, b).ravel())[0, 1] >= 0.999


TESTS: dict[str, tuple[Callable[[Kernel], None], str, str, golden.GemmOrder | None]] = {
    "sglang": (sglang, "H100", "wgmma.m64n128k32.f32.e4m3.e4m3", golden.GemmOrder(promote_every=4)),
    "aiter": (aiter, "MI300X", "v_mfma_f32_16x16x16_bf16", FP32),
    "xla": (xla, "A100", "mma.m16n8k16.f32.f16.f16.f32", FP32),
    "iree": (iree, "MI300X", "v_mfma_f32_16x16x4_f32", None),
    "hipblaslt": (hipblaslt, "MI300X", "v_mfma_f32_16x16x16_f16", FP32),
    "tt-metal": (tt_metal, "A100", "mma.m16n8k16.f32.bf16.bf16.f32", FP32),
}
"""The test of each framework, and the part, instruction and order of the right kernel."""

if __name__ == "__main__":
    for name in sys.argv[1:] or TESTS:
        test, part, instruction, order = TESTS[name]
        print(name)
        print(audit(test, arch=part, instr=instruction, order=order))
