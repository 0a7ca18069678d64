"""Speed and memory of matrix products and of the frameworks' modules, as ratios in one run.

    python -m studies.gemm_speed [--small]

CPU seconds on one thread of PyTorch's, golden's and NumPy's, the least of several runs, in each of which what is compared
runs one after the other, so that other work on the machine disturbs little; then the most memory that a whole product has in
use, as a multiple of its operands'. The exit status is 1 where a figure is above the one that was asked for. Needs PyTorch
and Triton.
"""

import os
import sys
import time
import tracemalloc
from collections.abc import Callable

os.environ |= {"TRITON_INTERPRET": "1", "OPENBLAS_NUM_THREADS": "1"}  # before Triton and NumPy are imported
import ml_dtypes
import numpy as np
import torch
import triton
from triton import language as tl

import golden
from golden.native.library import isa
from mmau.frameworks import torch_mode, triton_dot
from mmau.jobs.provenance import processor
from mmau.report.markdown import table

RUNS = 5


Work = Callable[[], object]


def seconds(*works: Work, runs: int = RUNS, clock: Callable[[], float] = time.process_time) -> list[float]:
    """CPU seconds of each work in its fastest run. Every run takes the works in turn; the first is not counted."""
    least = [float("inf")] * len(works)
    for run in range(runs + 1):
        for number, work in enumerate(works):
            start = clock()
            work()
            if run:
                least[number] = min(least[number], clock() - start)
    return least


def ratio(work: Work, other: Work, runs: int = RUNS) -> float:
    """How many times as long as another a work takes."""
    first, second = seconds(work, other, runs=runs)
    return first / second


def drawn(dtype: type, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def beside_torch(arch: str, name: str, dtype: type, n: int) -> float:
    """A product of n³ beside PyTorch's in fp32."""
    instruction, a, b = golden.instruction(arch, name), drawn(dtype, n, n), drawn(dtype, n, n)
    x, y, zeros = (torch.ones(n, n) for _ in "xyz")
    return ratio(lambda: golden.gemm(instruction, a, b, zeros), lambda: x @ y, runs=2)


def overhead_of_torch_mode(n: int = 512) -> float:
    """A product of bf16 tensors in the mode beside `golden.gemm` of the same."""
    a, b = (torch.ones(n, n, dtype=torch.bfloat16) for _ in "ab")
    wgmma = golden.instruction("sm_90", "wgmma.m64n128k16.f32.bf16.bf16")
    order = golden.GemmOrder(output="bf16")

    def in_mode() -> object:
        with torch_mode.on("sm_90"):
            return a @ b

    return ratio(in_mode, lambda: golden.gemm(wgmma, a, b, order=order))


def small_products(count: int = 64, n: int = 128) -> float:
    """Products of n³, one in each call, beside one product of the same work."""
    mma = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    tall, b = drawn(np.float16, count * n, n), drawn(np.float16, n, n)
    parts = np.split(tall, count)
    return ratio(lambda: [golden.gemm(mma, part, b) for part in parts], lambda: golden.gemm(mma, tall, b))


def scaled_fp8(n: int = 512) -> float:
    """`_scaled_mm` with scales of blocks beside the same product without scales."""
    a, b = (torch.ones(n, n).to(torch.float8_e4m3fn) for _ in "ab")
    wgmma = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
    scale_a, scale_b, zeros = torch.ones(n, n // 128), torch.ones(n // 128, n // 128), torch.zeros(n, n)

    def in_mode() -> object:
        with torch_mode.on("sm_90"):
            return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)

    return ratio(in_mode, lambda: golden.gemm(wgmma, a, b.t(), zeros, order=golden.GemmOrder(output="bf16")))


def scaled_mx(n: int = 512) -> float:
    """`_scaled_mm` with scales of 32 products, which the instruction takes, beside the same product without scales."""
    a, scales = torch.ones(n, n).to(torch.float8_e4m3fn), torch.ones(n * n // 32).to(torch.float8_e8m0fnu)
    one, fp32 = torch.tensor(1.0), {"out_dtype": torch.float32}
    with torch_mode.on("sm_100", fp8_promote=0):
        return ratio(
            lambda: torch._scaled_mm(a, a.t(), scales, scales, **fp32), lambda: torch._scaled_mm(a, a.t(), one, one, **fp32)
        )


@triton.jit  # type: ignore[untyped-decorator]
def dot(a_ptr, b_ptr, d_ptr, n: tl.constexpr):  # type: ignore[no-untyped-def]
    """One block of n³."""
    places = tl.arange(0, n)[:, None] * n + tl.arange(0, n)[None, :]
    tl.store(d_ptr + places, tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places)))


def triton_interpreter(n: int = 512) -> float:
    """A block of e4m3 on the part beside the interpreter's own product."""
    a, b, d = torch.ones(n, n).to(torch.float8_e4m3fn), torch.ones(n, n).to(torch.float8_e4m3fn), torch.empty(n, n)

    def on_part() -> None:
        with triton_dot.on("sm_90"):
            dot[(1,)](a, b, d, n)

    return ratio(on_part, lambda: dot[(1,)](a, b, d, n), runs=2)


def one_instruction(calls: int = 2000) -> float:
    """Microseconds of CPU time of one m16n8k16 call in its one thread: those of an earlier product may still spin."""
    mma = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    a, b, c = drawn(np.float16, 16, 16), drawn(np.float16, 16, 8), drawn(np.float32, 16, 8)
    return 1e6 * seconds(lambda: [mma(a, b, c) for _ in range(calls)], clock=time.thread_time)[0] / calls


def memory(n: int) -> float:
    """The most bytes in use during a product of n³, its operands among them, as a multiple of its operands'."""
    wgmma = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
    a, b, c = drawn(ml_dtypes.float8_e4m3fn, n, n), drawn(ml_dtypes.float8_e4m3fn, n, n), np.zeros((n, n), np.float32)
    operands = a.nbytes + b.nbytes + c.nbytes
    tracemalloc.start()
    golden.gemm(wgmma, a, b, c)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (operands + most) / operands


Measurement = tuple[str, float | None, float]
"""The name of a measurement, the most that was asked for, if anything was, and the figure."""


def measured(small: bool) -> list[Measurement]:
    """Every figure; the large products smaller where asked."""
    n, whole = (512, 1024) if small else (2048, 4096)
    parts = (
        ("gfx942", "v_mfma_f32_16x16x16_bf16", ml_dtypes.bfloat16, 12.0),
        ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", np.float16, 10.0),
        ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3", ml_dtypes.float8_e4m3fn, 10.0),
    )
    return [
        ("PyTorch in the mode / golden.gemm, 512 cubed", 1.2, overhead_of_torch_mode()),
        ("64 products of 128 cubed / one of the same work", 3.0, small_products()),
        ("_scaled_mm with scales of blocks of 128 / unscaled, 512 cubed", 2.0, scaled_fp8()),
        ("_scaled_mm of MXFP8 on sm_100 / unscaled, 512 cubed", 2.0, scaled_mx()),
        *(
            (f"{arch} {np.dtype(dtype)} / torch fp32, {n} cubed", most, beside_torch(arch, name, dtype, n))
            for arch, name, dtype, most in parts
        ),
        ("Triton's interpreter on a part / by itself, e4m3, 512 cubed", None, triton_interpreter()),
        ("one m16n8k16 call, microseconds of CPU time", 10.0, one_instruction()),
        (f"memory in use / operands, e4m3, {whole} cubed", 2.0, memory(whole)),
    ]


def missed(found: list[Measurement]) -> list[str]:
    """The names of the figures above those that were asked for."""
    return [name for name, most, figure in found if most is not None and figure > most]


def page(found: list[Measurement]) -> str:
    """The machine and the versions, the table, and what was missed."""
    versions = f"PyTorch {torch.__version__}, Triton {triton.__version__}, NumPy {np.__version__}"
    rows = [(name, "" if most is None else f"{most:g}", f"{figure:.2f}") for name, most, figure in found]
    return (
        f"{processor()}, one thread, native engine for {isa()}; {versions}\n\n"
        f"{table(['measured', 'at most', 'figure'], rows, (1, 2))}\n\n"
        f"above what was asked for: {'; '.join(missed(found)) or 'none'}"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    golden.set_threads(1)
    everything = measured("--small" in sys.argv[1:])
    print(page(everything))
    sys.exit(bool(missed(everything)))
