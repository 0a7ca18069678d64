"""Recipes beside the public emulator of cuBLAS that they are known from, on A100, L40S and H100.

Needs `MMAU_PEERS` (tests/peers.py) and the extra `peer`. The emulator is a program of its own: nothing is imported here.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.recipes import recipe, recipes
from tests.peers import unpacked

pytestmark = pytest.mark.peer

PROGRAM = """
import sys, time
import numpy as np
import cublas_recipes as recipes
from tc_emulator import TensorCoreEmulator
from tc_profiles import get_profile

gpu, kind, keys, a, b, d = sys.argv[1:]
recipes._EMU = TensorCoreEmulator(get_profile(gpu, input_fmt="bf16", output_fmt="fp32"))
keys = {key: int(value) for key, value in (pair.split("=") for pair in keys.split(",") if pair)}
if kind == "fa2":
    P, V = np.load(a), np.load(b)
    out = np.zeros((P.shape[0], V.shape[1]), np.float32)
    for tile in reversed(range(0, P.shape[1], 64)):
        for k in range(tile, min(tile + 64, P.shape[1]), 8):
            out = recipes._EMU.block_fma_batch(out, P[:, k : k + 8], V[k : k + 8])
else:
    start = time.process_time()
    out = getattr(recipes, kind)(np.load(a), np.load(b), **keys)
    print(time.process_time() - start)
np.save(d, out)
"""

GPUS = {"a100": "sm_80", "l40s": "sm_89", "h100": "sm_90"}

KINDS = {
    "single": "single_walk", "workspace": "split_k_workspace_outtype", "in": "split_k_cutlass_bf16_out",
    "sliced": "split_k_sliced_kernel",
}  # fmt: skip
"""The emulator's functions, by the first word of a recipe's kind. It has none for the parts in fp32 of an H100's split K."""

CASES = {
    name: KINDS[kind]
    for name in recipes()
    if name.startswith("cublas.") and ".bf16." in name and (kind := name.split(".")[3].split("-")[0]) in KINDS
}


@pytest.fixture(scope="module")
def emulator() -> Path:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra `peer`)")
    return unpacked("hardware_rounding_error_predictor")


def asked(emulator: Path, gpu: str, kind: str, keys: str, a: Any, b: Any) -> tuple[Any, float]:
    """The emulator's product of bf16 matrices in fp32, and its CPU seconds."""
    files = [emulator / f"{name}.npy" for name in "abd"]
    np.save(files[0], a.astype(np.float32))
    np.save(files[1], b.astype(np.float32))
    command = [sys.executable, "-c", PROGRAM, gpu, kind, keys, *map(str, files)]
    ran = subprocess.run(command, cwd=emulator, capture_output=True, text=True, check=True)
    return np.load(files[2]), float(ran.stdout.split()[-1]) if kind != "fa2" else 0.0


def operands(seed: int, M: int, K: int, N: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((M, K)), rng.standard_normal((K, N))
    return a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("K", [2560, 9728, 1000])
@pytest.mark.parametrize("name", CASES)
def test_recipe_equals_the_emulator(name: str, K: int, emulator: Path) -> None:
    found = recipe(name)
    order, gpu = found.order, name.split(".")[1].upper()
    assert order.model is not None
    assert isinstance(order.model, golden.Instruction)
    assert order.model.arch == GPUS[gpu.lower()]
    a, b = operands(K, 32, K, 32)
    keys = "" if CASES[name] == "single_walk" else f"split_k={order.split_k},tb_K={order.split_tile}"
    expected, _ = asked(emulator, gpu, CASES[name], keys, a, b)
    got = golden.gemm(None, a, b, order=order)
    assert got.dtype == ml_dtypes.bfloat16
    assert (got.view("u2") == expected.astype(ml_dtypes.bfloat16).view("u2")).sum() == 1024


def test_every_recipe_of_the_emulator_is_compared() -> None:
    agreeing = {name for name, found in recipes().items() if found.evidence == "agrees with an emulator"}
    others = {"cutlass.sm80.bf16.default", "flash-attention-2.sm80.bf16.p-v"}
    assert agreeing - others < set(CASES)
    assert set(CASES) - agreeing == {"cublas.h100.bf16.single"}


def test_attention_equals_the_emulator(emulator: Path) -> None:
    a, b = operands(1, 32, 500, 32)
    expected, _ = asked(emulator, "A100", "fa2", "", a, b)
    got = golden.gemm(None, a, b, order=recipe("flash-attention-2.sm80.bf16.p-v").order)
    assert (got.view("u4") == expected.view("u4")).all()
