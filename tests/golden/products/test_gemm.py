"""Whole matrices: gemm is the instruction chained along K for every M, N and K; the example reproduces published results."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import golden
from golden.native.library import library

ENGINES = ["reference", pytest.param("native", marks=pytest.mark.skipif(library() is None, reason="not installed"))]
HOPPER = golden.instruction("sm_90", "mma.m16n8k8.f32.f16.f16.f32")
INSTRUCTIONS = [
    HOPPER,
    golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f16"),  # c and d differ
    golden.instruction("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16"),  # converted: each instruction starts anew
    golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    golden.instruction("gfx90a", "v_mfma_f32_4x4x2bf16"),
]


def random_codes(rng: np.random.Generator, operand: golden.Format, shape: tuple[int, ...]) -> Any:
    return rng.integers(0, operand.codes, shape, np.uint64).astype(f"uint{operand.storage_bits}")


def by_hand(i: golden.Instruction, A: Any, B: Any, C: Any, alpha: Any, beta: Any) -> Any:
    """One instruction's dot product after another over the tiles of K; from the second on, c has d's format."""
    K, blocks = A.shape[1], 0 if i.block_size is None else i.k // i.block_size
    chained = golden.Unit(name="chain", operation=i.operation)
    rows = np.empty((A.shape[0], B.shape[1]), f"uint{i.d.storage_bits}")
    for m, n in np.ndindex(rows.shape):
        d, whole = C[m, n], i.c is not i.d
        for tile in range(1 if whole else K // i.k):
            k = slice(0, K) if whole else slice(tile * i.k, (tile + 1) * i.k)
            scales = [None, None]
            if blocks:
                s = slice(tile * blocks, (tile + 1) * blocks)
                scales = [alpha[m, s], beta[s, n]]
            model: Any = chained if whole else i
            d = model.dot(A[m, k], B[k, n], np.asarray(d), *scales, engine="reference")
        rows[m, n] = d
    return rows


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("i", INSTRUCTIONS, ids=lambda i: f"{i.arch}-{i.name}")
def test_gemm_is_the_instruction_along_K(i: golden.Instruction, engine: str) -> None:
    rng = np.random.default_rng(23)
    M, K, N = 5, 3 * i.k, 7
    A, B, C = (random_codes(rng, f, shape) for f, shape in ((i.a, (M, K)), (i.b, (K, N)), (i.c, (M, N))))
    alpha = beta = None
    if i.scale is not None and i.block_size is not None:
        alpha = rng.integers(0, 0x7F, (M, K // i.block_size)).astype(np.uint8)
        beta = rng.integers(0, 0x7F, (K // i.block_size, N)).astype(np.uint8)
    D = golden.gemm(i, A, B, C, alpha, beta, engine=engine)
    assert np.array_equal(D, by_hand(i, A, B, C, alpha, beta))


@pytest.mark.parametrize("workspace", [0, 200, 1000])
@pytest.mark.parametrize("i", INSTRUCTIONS, ids=lambda i: f"{i.arch}-{i.name}")
def test_gemm_does_not_depend_on_its_blocks(i: golden.Instruction, workspace: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(31)
    M, K, N = 5, 2 * i.k - 1, 7  # padded
    A, B, C = (random_codes(rng, f, shape) for f, shape in ((i.a, (M, K)), (i.b, (K, N)), (i.c, (M, N))))
    alpha = beta = None
    if i.scale is not None and i.block_size is not None:
        blocks = -(-K // i.block_size)
        alpha, beta = (rng.integers(0, 0x7F, shape).astype(np.uint8) for shape in ((M, blocks), (blocks, N)))
    whole = golden.gemm(i, A, B, C, alpha, beta)
    monkeypatch.setattr("golden.products.tiled.WORKSPACE", workspace)
    assert np.array_equal(golden.gemm(i, A, B, C, alpha, beta), whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_K_is_padded_with_zeros(engine: str) -> None:
    rng = np.random.default_rng(29)
    A, B = rng.standard_normal((3, 13)).astype(np.float16), rng.standard_normal((13, 2)).astype(np.float16)
    C = rng.standard_normal((3, 2)).astype(np.float32)
    padded = golden.gemm(HOPPER, np.pad(A, ((0, 0), (0, 3))), np.pad(B, ((0, 3), (0, 0))), C, engine=engine)
    assert (golden.gemm(HOPPER, A, B, C, engine=engine) == padded).all()


def test_without_C_it_starts_from_zero_and_gives_the_kind_of_A() -> None:
    A, B = np.ones((2, 8), np.float16), np.ones((8, 2), np.float16)
    assert golden.gemm(HOPPER, A, B).dtype == np.float32
    assert (golden.gemm(HOPPER, A, B) == 8).all()
    assert (golden.gemm(HOPPER, A.view(np.uint16), B) == np.float32(8).view(np.uint32)).all()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            ((2, 8), (7, 2), (2, 2)),
            r"A must be \[M, K\] and B \[K, N\] with the same K, at least 1; got \(2, 8\) and \(7, 2\)",
        ),
        (
            ((2, 0), (0, 2), (2, 2)),
            r"A must be \[M, K\] and B \[K, N\] with the same K, at least 1; got \(2, 0\) and \(0, 2\)",
        ),
        (((8,), (8, 2), (2, 2)), r"A must be \[M, K\] and B \[K, N\] with the same K, at least 1; got \(8,\) and \(8, 2\)"),
        (((2, 8), (8, 2), (2, 3)), r"C must have shape \(2, 2\) \(that of A·B\), got \(2, 3\)"),
    ],
)
def test_shapes_wrong(shapes: Any, message: str) -> None:
    A, B, C = (np.zeros(shape, dtype) for shape, dtype in zip(shapes, (np.uint16, np.uint16, np.uint32), strict=True))
    with pytest.raises(ValueError, match=f"^{message}$"):
        golden.gemm(HOPPER, A, B, C)


@pytest.mark.parametrize(
    "wrong",
    ["sm_90", None, 3, HOPPER.operation, golden.Instruction],
    ids=["name", "None", "number", "operation", "class"],
)
def test_what_is_no_instruction_is_refused(wrong: Any) -> None:
    zeros = np.zeros((8, 8), np.uint16)
    with pytest.raises(
        TypeError, match=r"^instruction must be one of golden\.instruction\(arch, name\), or a golden\.Unit, got ['N3T<]"
    ):
        golden.gemm(wrong, zeros, zeros)


@pytest.mark.parametrize("rows", [10**12, 2**56])
def test_broadcasts_larger_than_memory_are_refused(rows: int) -> None:
    def broadcast(*shape: int, dtype: Any = np.uint16) -> Any:
        return np.broadcast_to(dtype(0), shape)

    rule = r"would take \S+ GiB, and this machine has \S+; compute fewer rows at a time$"
    with pytest.raises(MemoryError, match=rf"^d and contiguous copies of the operands {rule}"):
        HOPPER.dot(broadcast(rows, 8), broadcast(rows, 8), broadcast(rows, dtype=np.uint32))
    for m, k, n in ((rows, 8, 1), (rows, 8, rows), (1, rows, 1), (1, 8, rows)):
        with pytest.raises(MemoryError, match=rf"^D of {m} x {n} elements, and a row and a column of {k} {rule}"):
            golden.gemm(HOPPER, broadcast(m, k), broadcast(k, n))


def test_broadcast_that_fits_is_computed() -> None:
    D = golden.gemm(HOPPER, np.broadcast_to(np.float16(1), (3, 1000)), np.broadcast_to(np.float16(1), (1000, 2)))
    assert (D == 1000).all()


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).parents[3] / "examples" / "accumulation.py"
    spec = importlib.util.spec_from_file_location("accumulation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(library() is None, reason="the native library is not installed")
def test_example_shows_the_loss_on_hopper_and_its_cure(example: ModuleType) -> None:
    alone, promoted = example.accumulation_errors(4096, np.random.default_rng(1))
    assert alone > 0.02
    assert promoted < 0.001


def test_example_shows_the_flush_on_cdna2(example: ModuleType) -> None:
    flushed = [example.subnormal_product(arch, "v_mfma_f32_16x16x4f16") for arch in ("CDNA1", "CDNA2")]
    assert flushed == [4, 0]
