"""Two published findings, reproduced on a CPU: `python examples/accumulation.py`.

1. DeepSeek-V3 (arXiv 2412.19437, section 3.3.2): FP8 GEMM on Hopper loses accuracy, for wgmma accumulates with 13
   fraction bits; adding each 128 products to an fp32 register instead ("promotion") restores it. Error against K, both ways.
2. CDNA2 flushes subnormals: fp16 inputs below 2^-14 vanish in its matrix instructions, and not in CDNA1's and CDNA3's.
"""

import ml_dtypes
import numpy as np

import golden

PROMOTED = golden.GemmOrder(promote_every=4)
"""DeepSeek's kernel accumulates 128 products in the tensor core, four instructions, before it adds them in fp32."""


def relative_error(D: np.ndarray, exact: np.ndarray) -> float:
    """Mean error, relative to the mean magnitude."""
    return float(np.abs(D - exact).mean() / np.abs(exact).mean())


def accumulation_errors(K: int, rng: np.random.Generator) -> tuple[float, float]:
    """Errors of a 16×16 product of K positive e4m3 products: accumulated by wgmma alone, and promoted."""
    wgmma = golden.instruction("Hopper", "wgmma.m64n8k32.f32.e4m3.e4m3")
    A = rng.uniform(0, 1, (16, K)).astype(ml_dtypes.float8_e4m3fn)
    B = rng.uniform(0, 1, (K, 16)).astype(ml_dtypes.float8_e4m3fn)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    alone, promoted = golden.gemm(wgmma, A, B), golden.gemm(wgmma, A, B, order=PROMOTED)
    return relative_error(alone, exact), relative_error(promoted, exact)


def subnormal_product(architecture: str, name: str) -> float:
    """2^-15 (subnormal in fp16) times 2^15."""
    A, B = np.full((1, 4), 2.0**-15, np.float16), np.full((4, 1), 2.0**15, np.float16)
    return float(golden.gemm(golden.instruction(architecture, name), A, B, np.zeros((1, 1), np.float32))[0, 0])


def main() -> None:
    rng = np.random.default_rng(1)
    print("FP8 on Hopper, relative error:   K    wgmma alone    promoted every 128")
    for K in (512, 1024, 2048, 4096, 8192, 16384):
        alone, with_promotion = accumulation_errors(K, rng)
        print(f"{K:34}{alone:15.2e}{with_promotion:22.2e}")
    print("\nFour products 2^-15 * 2^15 of fp16, where 2^-15 is subnormal (exact: 4)")
    for architecture, name in (
        ("CDNA1", "v_mfma_f32_16x16x4f16"),
        ("CDNA2", "v_mfma_f32_16x16x4f16"),
        ("CDNA3", "v_mfma_f32_16x16x4_4b_f16"),
    ):
        print(f"{architecture:>8} {name:28}{subnormal_product(architecture, name):6g}")


if __name__ == "__main__":
    main()
