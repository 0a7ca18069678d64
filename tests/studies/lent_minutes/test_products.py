"""Products by cuBLASLt, on the stand-in's library: what it is asked for, and which orders explain what it gave."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from hwtests.device import DeviceError
from studies.lent_minutes import cublaslt, products
from studies.lent_minutes.cublaslt import COMPUTE_32F, COMPUTE_32F_FAST_TF32, DATA_TYPES, CublasLt, Problem, Refused
from studies.lent_minutes.products import (
    KINDS,
    SIDE,
    TIE_VALUES,
    Products,
    operand,
    problem_of,
    sampled,
    tie_matrices,
)  # fmt: skip
from studies.lent_minutes.unpack import Order, candidates, computed, explained_by

SOURCE = Path(__file__).with_name("stand_in") / "cublaslt.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The stand-in's library, on arrays of NumPy."""
    path = tmp_path_factory.mktemp("cublaslt") / "libcublasLt.so"
    subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-O1", "-shared", "-fPIC", "-o", str(path), str(SOURCE)], check=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cublaslt, "pointer", lambda array: int(array.ctypes.data))
        patch.setattr(cublaslt, "_candidates", lambda: [path])
        cublaslt._loaded.cache_clear()
        yield CublasLt(SimpleNamespace(empty=np.empty, uint8=np.uint8))
        cublaslt._loaded.cache_clear()


def matrices(p: Problem) -> tuple[Any, Any, Any]:
    """A [M, K] and B [K, N] of codes as integers, B as it is stored."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 200, (p.M, p.K)).astype(bits_dtype(golden.FORMATS[p.a]))
    b = rng.integers(0, 200, (p.K, p.N)).astype(bits_dtype(golden.FORMATS[p.b]))
    return a, b, np.ascontiguousarray(b.T) if p.transposed else b


@pytest.mark.parametrize("kind", KINDS)
def test_each_element_is_of_its_row_and_column(kind: str, library: Any) -> None:
    """The stand-in multiplies codes as integers: a wrong layout, transposition or length shows."""
    p = problem_of(f"{kind} 3x32x48")
    a, b, stored = matrices(p)
    d = np.zeros((p.M, p.N), bits_dtype(golden.FORMATS[p.d]))
    scales = [np.full(1, x, np.float32) for x in (0.7, 1.3)] if "scaled" in kind else []
    fields = library.multiply(p, a, stored, d, *scales)
    expected = a.astype(np.uint64) @ b.astype(np.uint64) * (13 * 1000 + 7 if scales else 1)
    np.testing.assert_array_equal(d, expected.astype(d.dtype))
    # it was told: its rows and columns, K, fast accumulation, how to compute, the types of its first and second matrix
    assert fields == {
        "ALGO_ID": 66, "TILE_ID": p.N, "SPLITK_NUM": p.K // 16, "REDUCTION_SCHEME": int(p.fast),
        "CTA_SWIZZLING": COMPUTE_32F_FAST_TF32 if p.tf32 else COMPUTE_32F, "CUSTOM_OPTION": DATA_TYPES[p.b],
        "STAGES_ID": DATA_TYPES[p.a], "INNER_SHAPE_ID": p.M, "CLUSTER_SHAPE_ID": 9, "workspace": 16 << 20,
    }  # fmt: skip


def test_what_the_library_refuses_is_an_error(library: Any) -> None:
    p = Problem("e4m3", "e4m3", "bf16", 16, 16, 24, transposed=True)
    a, _, stored = matrices(p)
    with pytest.raises(Refused, match=r"^cublasLtMatmulAlgoGetHeuristic failed with status 15$"):
        library.multiply(p, a, stored, np.zeros((16, 16), np.uint16))
    p = Problem("fp16", "fp16", "fp16", 1, 16, 8192, transposed=True)
    a, _, stored = matrices(p)
    with pytest.raises(Refused, match=r"^cublasLtMatmulAlgoGetHeuristic knows no algorithm$"):
        library.multiply(p, a, stored, np.zeros((1, 16), np.uint16))


@pytest.mark.attack("a product during which the device fails, which is no refusal: the unit is to be tried again")
def test_product_that_the_device_does_not_finish_is_not_refused(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "LARGEST_OPERAND", 1 << 10)
    item = Products(SimpleNamespace(xp=np, to_host=np.asarray))  # type: ignore[arg-type]
    monkeypatch.setattr(library._library, "cublasLtMatmul", lambda *arguments: 13, raising=False)
    with pytest.raises(DeviceError, match=r"^cublasLtMatmul failed with status 13$"):
        item.do("fp16 8x16x16", {"status": "running"}, None)  # type: ignore[arg-type]


SPLIT = "fp16-fp32 64x64x1024"


@pytest.mark.parametrize(
    ("unit", "parts", "keys"),
    [
        ("bf16 16x48x784", 1, {"output": "bf16"}),
        (SPLIT, 3, {"split_k": 3, "split_tile": 64, "split_sum": "fp32"}),
        ("e4m3-e5m2-bf16 16x64x1024", 1, {"promote_every": 4, "output": "bf16"}),
        ("tf32-nn 16x48x144", 1, {}),
        ("e4m3-e4m3-fp32-scaled-fast 16x48x512", 1, {}),
    ],
)
def test_order_that_gave_the_elements_is_found(unit: str, parts: int, keys: dict[str, Any]) -> None:
    problem, scaled = problem_of(unit), "scaled" in unit
    (made,) = [order for order in candidates(problem, parts) if order.keys == keys and "cut" not in order.operands]
    elements = computed(problem, made, scaled)
    assert elements.shape == (min(SIDE, problem.M), min(SIDE, problem.N))
    assert str(made) in explained_by(problem, parts, elements, scaled)


@pytest.mark.attack("a product one of whose elements no order gives")
def test_element_that_no_order_gives_is_explained_by_none() -> None:
    problem = problem_of(SPLIT)
    elements = computed(problem, next(candidates(problem, 1)), False)
    elements[2, 3] ^= 1
    assert explained_by(problem, 3, elements, False) == []


def test_elements_are_those_of_whole_operands() -> None:
    """Of a whole product by golden, the sampled elements."""
    problem = Problem("fp16", "fp16", "fp32", 24, 48, 64, transposed=True)
    a = operand("fp16", 5, np.arange(24 * 64)).astype(np.uint16).reshape(24, 64)
    b = operand("fp16", 6, np.arange(48 * 64)).astype(np.uint16).reshape(48, 64).T
    whole = golden.gemm(golden.instruction("sm_90", "wgmma.m64n128k16.f32.f16.f16"), a, np.ascontiguousarray(b))
    order = Order("wgmma.m64n128k16.f32.f16.f16", "", {})
    np.testing.assert_array_equal(computed(problem, order, False), whole[np.ix_(*sampled(problem))])


def test_ties_lie_between_two_numbers_of_tf32() -> None:
    ties, one = tie_matrices(64)
    np.testing.assert_array_equal(ties @ one, ties)
    tf32 = golden.FORMATS["tf32"]
    for value in TIE_VALUES:
        rounded = {mode: float(tf32.value(tf32.encode(value, mode)) or 0) for mode in ("RNE", "RNA", "RZ")}
        assert len(set(rounded.values())) == 2
    even, away = ([float(tf32.value(tf32.encode(v, mode)) or 0) for v in TIE_VALUES] for mode in ("RNE", "RNA"))
    assert even == [1024.0, 1026.0, 1026.0, -1024.0, -1026.0]
    assert away == [1025.0, 1026.0, 1027.0, -1025.0, -1026.0]
