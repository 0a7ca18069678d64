"""The models beside Hawkeye, a public simulator of Hopper's and Ampere's products, built from its sources.

Needs `MMAU_PEERS` (tests/peers.py) and the extra `peer`; the build takes minutes. It departs from numerics.md in two ways:
it reads infinities and NaN as numbers, and it sums all K products of e4m3 in one group, where one
instruction takes 32.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from tests.peers import unpacked

pytestmark = pytest.mark.peer

PROGRAM = """
import sys
import numpy as np
import torch
import gpu_simulator_py as hawkeye

name, dtype, a, b, d = sys.argv[1:]
a, b = (torch.from_numpy(np.load(file)).view(getattr(torch, dtype)) for file in (a, b))
unit = getattr(hawkeye, name)()
b = b.t().contiguous() if "fp8" in name else b.t().contiguous().t()
np.save(d, unit.matmul(a, b).numpy())
"""

CASES = {
    "hopper-fp16": ("Hopper_simulator", "float16", golden.instruction("sm_90", "wgmma.m64n128k16.f32.f16.f16")),
    "hopper-bf16": ("Hopper_simulator", "bfloat16", golden.instruction("sm_90", "wgmma.m64n128k16.f32.bf16.bf16")),
    "ampere-fp16": ("Ampere_simulator", "float16", golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")),
    "ampere-bf16": ("Ampere_simulator", "bfloat16", golden.instruction("sm_80", "mma.m16n8k16.f32.bf16.bf16.f32")),
}
E4M3 = ("Hopper_fp8_simulator", "float8_e4m3fn", golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"))


@pytest.fixture(scope="module")
def hawkeye() -> Path:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra `peer`)")
    folder = unpacked("gpu-simulator")
    if not list(folder.glob("*.so")):
        build = [sys.executable, "setup.py", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, capture_output=True, check=True)
    return folder


def asked(folder: Path, name: str, dtype: str, a: Any, b: Any) -> Any:
    """Codes of fp32 of a product."""
    files = [folder / f"{key}.npy" for key in "abd"]
    for file, operand in zip(files, (a, b), strict=False):
        np.save(file, operand.view(f"i{operand.itemsize}"))
    command = [sys.executable, "-c", PROGRAM, name, dtype, *map(str, files)]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return np.load(files[2]).view("u4")


def operands(dtype: str, K: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(K)
    kind = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    return rng.standard_normal((128, K)).astype(kind), rng.standard_normal((K, 128)).astype(kind)


@pytest.mark.parametrize("case", CASES)
def test_product_equals_hawkeye(case: str, hawkeye: Path) -> None:
    name, dtype, instruction = CASES[case]
    a, b = operands(dtype, 256)
    expected, got = asked(hawkeye, name, dtype, a, b), golden.gemm(instruction, a, b, np.zeros((128, 128), np.uint32))
    assert (got == expected).sum() == 16384


def test_one_instruction_of_e4m3_equals_hawkeye(hawkeye: Path) -> None:
    name, dtype, instruction = E4M3
    a, b = operands(dtype, 32)
    expected, got = asked(hawkeye, name, dtype, a, b), golden.gemm(instruction, a, b, np.zeros((128, 128), np.uint32))
    assert (got == expected).sum() == 16384
