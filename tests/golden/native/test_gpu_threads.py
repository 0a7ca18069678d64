"""The very text of a kernel of matrix products, as each of the GPUs' compilers gets it, run as threads that meet at its
barriers: what a host build of phases cannot show, the barrier itself, numbers of threads and blocks, and a machine's own
functions."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import golden
from golden.chains.chain import Chain
from golden.native.cuda import INCLUDE
from tests.golden.native.gpu_host import COMPILERS, ThreadsParted, kernel_product, needs_compiler
from tests.golden.native.native_rows import needs_native
from tests.golden.native.test_gpu_products import by_the_engine, gst_fdpa, matrices
from tests.golden.native.test_tiles import t_fdpa, tr_fdpa
from tests.golden.rows import unit

pytestmark = [needs_native, needs_compiler, pytest.mark.slow]

MODELS = {
    "any operation": unit(golden.instruction("gfx908", "v_mfma_f32_32x32x4f16").operation),
    "FMA": unit(golden.instruction("sm_80", "mma.m8n8k4.f64.f64.f64.f64").operation),
    "FTZ-AddMul": unit(golden.instruction("gfx90a", "v_mfma_f32_32x32x4f16").operation),
    "quick": t_fdpa(a="bf16", b="bf16", L=8, F=24),
    "quick, two sums": tr_fdpa("GTR-FDPA", a="bf16", b="bf16"),
    "groups of FP4": gst_fdpa(G=4, L=8, K_block=4, F=20),
}
"""A model of every way that a kernel can go, and of every function that a GPU has by another name."""


LONGEST_PART = 128
"""Products of a part at most (quick_groups.hpp)."""


def check_threads(model: Any, compiler: str, include: Path = INCLUDE) -> None:
    """Two by two tiles, of which one is full; parts of K that are full and one that is not; threads in both orders."""
    chain, block = Chain(model.operation), max(model.operation.length, model.operation.block_size or 1)
    operands = matrices(model, (LONGEST_PART // block + 1) * block, 12, seed=14)
    expected = by_the_engine(chain, operands)
    for descending in (False, True):
        found = kernel_product(chain, *operands, compiler=compiler, descending=descending, include=include)
        assert (found == expected).all(), f"{int((found != expected).sum())} of {found.size} differ"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_text_of_a_kernel_equals_the_engine(model: Any, compiler: str) -> None:
    check_threads(model, compiler)


FAULTS = {
    "no barrier": ("barrier();\n    }\n};", "}\n};", r" differ"),
    "a barrier that some threads do not come to": (
        "barrier();\n    }\n};", "if (thread_number() < 128) barrier();\n    }\n};",
        r"^some threads of a block wait at a barrier ",
    ),
    "blocks that all compute the first tile": ("{ return blockIdx.x; }", "{ return 0; }", r" differ"),
    "two threads of one number": ("(threadIdx.x); }", "(threadIdx.x) % 255; }", r" differ"),
    "tiles of half a side": ("constexpr int tile_side = 64", "constexpr int tile_side = 32", r" differ"),
}  # fmt: skip
"""Faults of block.hpp where it says what a GPU does: its text, what stands there instead, and the error."""


@pytest.mark.attack(
    "faults of a block of threads: barriers that are missing or missed by some, numbers of threads and blocks"
)
@pytest.mark.parametrize("model", ["any operation", "quick", "groups of FP4"])
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_block_is_found(fault: str, model: str, tmp_path: Path) -> None:
    text, instead, error = FAULTS[fault]
    include = tmp_path / "include"
    shutil.copytree(INCLUDE, include)
    header = include / "mmau" / "gpu" / "block.hpp"
    assert header.read_text().count(text) == 1
    header.write_text(header.read_text().replace(text, instead))
    with pytest.raises((AssertionError, ThreadsParted), match=error):
        check_threads(MODELS[model], "nvrtc", include)
