"""Orders of a matrix product: promotion, split-K and stream-K against the twin."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import ChainTable
from golden.native.library import library
from golden.products.gemm_order import GemmOrder, instruction_products
from tests.golden.inputs import Operands, operands
from tests.golden.products import gemm_twin
from tests.golden.rows import unit
from tests.twin import twin

ENGINES = ["reference", pytest.param("native", marks=pytest.mark.skipif(library() is None, reason="not installed"))]

HOPPER = golden.instruction("sm_90", "mma.m16n8k8.f32.f16.f16.f32")
WGMMA = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)

MODELS: list[Any] = [
    HOPPER,
    WGMMA,
    golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f16"),  # c is fp16, d fp32
    golden.instruction("sm_90", "mma.m16n8k8.f16.f16.f16.f16"),
    golden.instruction("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16"),  # starts anew in each instruction
    golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    golden.instruction("gfx90a", "v_mfma_f32_4x4x2bf16"),
    golden.instruction("gfx942", "v_mfma_f32_16x16x16_bf16"),
    unit(OPERATIONS["T-FDPA"](a="bf16", b="bf16", c="fp32", L=8, F=20, rho="RNE-BF16", e_zero=-133)),
    unit(OPERATIONS["ST-FDPA"](a="e4m3", b="e2m1", c="fp32", L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=8)),
    unit(OPERATIONS["E-FDPA"](a="fp16", b="fp16", c="fp32", L=3)),
    unit(OPERATIONS["FMA"](a="fp32", b="fp32", c="fp32", flush_results=True)),
]
FP64 = golden.instruction("sm_90", "mma.m16n8k4.f64.f64.f64.f64")

INSTRUCTIONS = 7
ORDERS = {
    "promoted": GemmOrder(promote_every=2),
    "each": GemmOrder(promote_every=1),
    "split": GemmOrder(split_k=3),
    "split-promoted": GemmOrder(split_k=2, promote_every=3),
    "more-parts-than-instructions": GemmOrder(split_k=9),
    "workers": GemmOrder(k_order="stream-k", tile=(2, 2), workers=5),
    "workers-promoted": GemmOrder(k_order="stream-k", tile=(2, 3), workers=3, promote_every=2),
    "tiles": GemmOrder(
        k_order="stream-k",
        tile=(2, 3),
        tiles=(((0, 7),), ((3, 7), (0, 3)), ((5, 7), (0, 1), (1, 5)), ((0, 6), (6, 7))),
    ),
}
SHAPE = (4, 5)

PIECES: dict[str, Any] = {
    "promoted": [[(0, 7)]] * 20,
    "each": [[(0, 7)]] * 20,
    "split": [[(0, 3), (3, 5), (5, 7)]] * 20,
    "split-promoted": [[(0, 4), (4, 7)]] * 20,
    "more-parts-than-instructions": [[(k, k + 1) for k in range(7)]] * 20,
}
"""The pieces of every element of D, row by row, written down by hand where an order has no tiles."""


def pieces_by_walking(workers: int, rows: int, columns: int) -> list[Any]:
    """Of every element of D where workers share its tiles evenly: each instruction is given to its worker."""
    M, N = SHAPE
    tiles = [(i, j) for i in range(-(-M // rows)) for j in range(-(-N // columns))]
    total = len(tiles) * INSTRUCTIONS
    longer = total % workers
    owners = [worker for worker in range(workers) for _ in range(total // workers + (worker < longer))]
    cut = {}
    for number, tile in enumerate(tiles):
        own = owners[number * INSTRUCTIONS : (number + 1) * INSTRUCTIONS]
        ends = [k for k in range(1, INSTRUCTIONS) if own[k] != own[k - 1]]
        cut[tile] = list(pairwise([0, *ends, INSTRUCTIONS]))
    return [cut[i // rows, j // columns] for i in range(M) for j in range(N)]


PIECES["workers"] = pieces_by_walking(5, 2, 2)
PIECES["workers-promoted"] = pieces_by_walking(3, 2, 3)
PIECES["tiles"] = [
    [[[(0, 7)], [(3, 7), (0, 3)]], [[(5, 7), (0, 1), (1, 5)], [(0, 6), (6, 7)]]][i // 2][j // 3]
    for i in range(4)
    for j in range(5)
]


def matrices(model: Any, rng: random.Random, K: int, style: str) -> tuple[Any, list[Operands]]:
    """A, B, C and scales of SHAPE, and the operands of every element of D. A "hostile" style has rows of any style,
    special values among them; else numbers near each other, whose sums are finite."""
    operation, (M, N) = model.operation, SHAPE
    drawn = [operands(rng, operation, K, model.a.name, model.b.name) for _ in range(M + N + M * N)]
    if style == "near":
        for row in drawn:
            row.a[:] = [near(rng, model.a) for _ in row.a]
            row.b[:] = [near(rng, model.b) for _ in row.b]
        drawn = [row._replace(c=near(rng, operation.c)) for row in drawn]
    rows, columns, elements = drawn[:M], drawn[M : M + N], drawn[M + N :]

    def array(codes: Any, operand: Any) -> Any:
        return np.array(codes, f"uint{operand.storage_bits}")

    made = [
        array([row.a for row in rows], model.a),
        array([column.b for column in columns], model.b).T,
        array([row.c for row in elements], operation.c).reshape(SHAPE),
    ]
    if operation.block_size is not None:
        made.append(array([row.scale_a for row in rows], operation.scale_format))
        made.append(array([column.scale_b for column in columns], operation.scale_format).T)
    each = [
        Operands(rows[i].a, columns[j].b, elements[i * N + j].c, rows[i].scale_a, columns[j].scale_b)
        for i in range(M)
        for j in range(N)
    ]
    return made, each


def product(model: Any, made: Any, **keys: Any) -> Any:
    """golden.gemm of matrices and what scales there are."""
    return golden.gemm(model, **dict(zip(("A", "B", "C", "scale_a", "scale_b"), made, strict=False)), **keys)


def near(rng: random.Random, operand: Any) -> int:
    """A number of 2^−2 to 2^2, its sign any."""
    code: int = operand.encode_scaled(rng.choice((-1, 1)) * rng.randrange(256, 4096), -10, "RNE")
    return code


def cases() -> list[Any]:
    """Every model in every order, each with operands of both styles; `make test` takes an eighth, all orders and models."""
    return [
        pytest.param(model, name, style, id=f"{model.name}-{model.operation.name}-{name}-{style}", marks=marks)
        for i, model in enumerate(MODELS)
        for j, name in enumerate(ORDERS)
        for style, phase in (("near", 0), ("hostile", 4))
        for marks in [() if (i + j) % len(ORDERS) == phase else pytest.mark.long]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "name", "style"), cases())
def test_order_equals_the_twin(model: Any, name: str, style: str) -> None:
    rng = random.Random(f"{name} {model.name}")
    order, k = ORDERS[name], instruction_products(model)
    made, each = matrices(model, rng, INSTRUCTIONS * k, style)
    got = product(model, made, engine="reference", order=order)
    expected = [
        gemm_twin.element(model, row, k, pieces, order.promote_every) for row, pieces in zip(each, PIECES[name], strict=True)
    ]
    assert_same(model, got.ravel().tolist(), expected)
    if library() is not None:
        assert (product(model, made, engine="native", order=order) == got).all()


def assert_same(model: Any, got: list[int], expected: list[int]) -> None:
    for x, y in zip(got, expected, strict=True):
        assert twin.same(model.operation, x, y), (
            f"got {model.operation.d.describe(x)}, expected {model.operation.d.describe(y)}"
        )


@pytest.mark.parametrize("name", ["split", "workers", "tiles"])
def test_fp64_is_added_in_fp64(name: str) -> None:
    made, each = matrices(FP64, random.Random(3), INSTRUCTIONS * 4, "near")
    got = product(FP64, made, order=ORDERS[name]).ravel().tolist()
    assert_same(
        FP64, got, [gemm_twin.element(FP64, row, 4, pieces, 0) for row, pieces in zip(each, PIECES[name], strict=True)]
    )


NAN_SUMS = [
    (WGMMA, 0x7FFFFFFF),
    (golden.instruction("sm_90", "mma.m16n8k8.f16.f16.f16.f16"), 0x7FFF),
    (golden.instruction("gfx942", "v_mfma_f32_16x16x16_bf16"), 0x7FC00000),
]


@pytest.mark.parametrize(("model", "nan"), NAN_SUMS, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("order", [ORDERS["promoted"], ORDERS["split"]], ids=["promoted", "split"])
def test_infinities_of_both_signs_are_the_operations_nan(model: Any, nan: int, order: GemmOrder) -> None:
    """C is an infinity, and the products overflow to the other one: a sum of two infinities."""
    if model is WGMMA:  # e4m3 does not overflow: C meets −infinity in another part
        A, B = np.zeros((1, 7 * 32), np.uint8), np.zeros((7 * 32, 1), np.uint8)
        infinity = np.array([[0x7F800000]], np.uint32)
        assert golden.gemm(model, A, B, infinity, order=order)[0, 0] == 0x7F800000
        A[0, -1] = 0x7F
        assert golden.gemm(model, A, B, infinity, order=order)[0, 0] == nan
        return
    k = model.k
    A, B = np.zeros((1, 7 * k), np.uint16), np.zeros((7 * k, 1), np.uint16)
    A[0, -1], B[-1, 0] = model.a.infinity, model.b.encode(1)
    C = np.array([[model.c.negative_zero | model.c.infinity]], f"uint{model.c.storage_bits}")
    assert golden.gemm(model, A, B, C, order=order)[0, 0] == nan


def test_zero_signs_are_those_of_ieee_additions() -> None:
    """−0 as c stays only while nothing is added to it; and of FMA's −0 sums −0 + −0."""
    fma = unit(OPERATIONS["FMA"](a="fp32", b="fp32", c="fp32"))
    A, B = np.full((1, 4), 0x80000000, np.uint32), np.full((4, 1), 0x3F800000, np.uint32)
    C = np.full((1, 1), 0x80000000, np.uint32)
    assert golden.gemm(fma, A, B, C)[0, 0] == 0x80000000
    assert golden.gemm(fma, A, B, C, order=GemmOrder(split_k=2))[0, 0] == 0  # the second part starts from +0
    assert golden.gemm(fma, A, B, C, order=GemmOrder(promote_every=4))[0, 0] == 0


def test_promoted_sum_keeps_subnormals() -> None:
    """2^-149 three times, each in a group of its own: no addition flushes."""
    fma = unit(OPERATIONS["FMA"](a="fp32", b="fp32", c="fp32"))
    A, B = np.full((1, 3), 1, np.uint32), np.full((3, 1), 0x3F800000, np.uint32)
    assert golden.gemm(fma, A, B, np.zeros((1, 1), np.uint32), order=GemmOrder(promote_every=1))[0, 0] == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_unit_is_chained_as_its_dot(engine: str) -> None:
    rng = random.Random(9)
    for model in MODELS[-4:]:
        k = instruction_products(model)
        made, each = matrices(model, rng, 3 * k, "hostile")
        got = product(model, made, engine=engine).ravel().tolist()
        assert_same(model, got, [twin.dot(model.operation, *row) for row in each])


def test_unit_with_a_table_starts_anew_in_each_instruction() -> None:
    table = ChainTable(order="even-and-odd", add_c="last")
    model = golden.Unit(name="u", operation=HOPPER.operation, chain=table)
    assert instruction_products(model) == 16
    made, _ = matrices(model, random.Random(11), 32, "near")
    A, B, C = made
    first = golden.gemm(model, A[:, :16], B[:16], C)
    assert (golden.gemm(model, A, B, C) == golden.gemm(model, A[:, 16:], B[16:], first)).all()
    for i, j in np.ndindex(SHAPE):
        assert first[i, j] == model.dot(A[i, :16], B[:16, j], C[i, j])
