"""Matrix products on GPUs without a GPU: the kernels, run on the host from the very source, against the native engine."""

import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.native import engine
from golden.native.cuda import INCLUDE
from golden.native.parameters import is_one_call
from golden.stimulus import OperandShape
from tests.golden.distinct_arithmetics import distinct_arithmetic
from tests.golden.native.gpu_host import host_product, needs_compiler
from tests.golden.native.native_rows import class_rows, needs_native
from tests.golden.native.test_engine import EXTREMES
from tests.golden.native.test_tiles import STYLES, UNITS, matrix, scales, st_fdpa, t_fdpa, t_fdpa_of, tr_fdpa
from tests.golden.rows import unit
from tests.volume import one_in

pytestmark = [needs_native, needs_compiler]

ROWS = 20
"""Rows of each of the six classes: 14,400 elements of D."""

UNIT_FILES = Path(__file__).parents[3] / "examples" / "units"

MANY_ROWS = 528
"""The same at volume: 10^7 elements of D."""


def one_of_each() -> list[golden.Instruction]:
    """An instruction for each operation, formats, accumulator and order of the catalogue that one call computes."""
    seen: dict[object, golden.Instruction] = {}
    for i in distinct_arithmetic():
        if is_one_call(i.chain):
            seen.setdefault((i.operation.name, i.a.name, i.d.name, i.chain.fp16_order), i)
    return list(seen.values())


EVERY = one_of_each()


def matrices(model: Any, K: int, rows: int, seed: int) -> tuple[Any, ...]:
    """A [M, K], the columns of B, C and scales: the diagonal of D is rows of all classes; elsewhere a row meets another's
    partner and another's c."""
    drawn = class_rows(OperandShape.of(model, K), rows, seed)
    rng = np.random.default_rng([seed, K])
    size = len(drawn.a)
    c = drawn.c[rng.integers(0, size, (size, size))]
    c[np.arange(size), np.arange(size)] = drawn.c
    return drawn.a, drawn.b, c, drawn.scale_a, drawn.scale_b


def by_the_engine(chain: Chain, operands: tuple[Any, ...]) -> Any:
    a, b, c, scale_a, scale_b = operands
    return engine.compute(chain, a, b, c, scale_a, scale_b, len(b))


def check(chain: Chain, operands: tuple[Any, ...], orders: tuple[bool, ...] = (False, True), **keys: Any) -> None:
    """The kernels that take a chain give every bit of the native engine's, their threads in both orders."""
    expected = by_the_engine(chain, operands)
    for quick, descending in itertools.product((False, True), orders):
        found = host_product(chain, *operands, quick=quick, descending=descending, **keys)
        if found is not None:
            different = np.argwhere(found != expected)
            assert not len(different), f"{len(different)} of {found.size} differ, first {different[0]}: {chain}, {quick=}"


@pytest.mark.parametrize("instruction", EVERY, ids=lambda i: f"{i.arch}-{i.name}")
def test_kernel_equals_the_engine(instruction: golden.Instruction) -> None:
    check(instruction.chain, matrices(instruction, instruction.k, ROWS, seed=1))


@pytest.mark.long
@pytest.mark.parametrize("instruction", EVERY, ids=lambda i: f"{i.arch}-{i.name}")
def test_kernel_equals_the_engine_at_volume(instruction: golden.Instruction) -> None:
    """10^7 elements of D of every operation."""
    check(instruction.chain, matrices(instruction, instruction.k, MANY_ROWS, seed=2), (False,))


@pytest.mark.parametrize("steps", [2, 5, 40])
@pytest.mark.parametrize(
    "instruction",
    one_in(4, [i for i in EVERY if i.chain.is_plain and "c" in i.operation.operands]),
    ids=lambda i: f"{i.arch}-{i.name}",
)
def test_chains_of_any_length_equal_the_engine(instruction: golden.Instruction, steps: int) -> None:
    """Parts of K that are full, and a last one that is not; the plan is that of a chain of 16 steps at most."""
    o = instruction.operation
    K = max(o.length, o.block_size or 1) * steps
    operands = matrices(unit(o), K, 4, seed=3)
    check(instruction.chain, operands, planned_K=min(K, 16 * o.length))


@pytest.mark.parametrize("model", UNITS, ids=lambda model: repr(model.operation))
def test_units_of_other_keys_equal_the_engine(model: Any) -> None:
    o = model.operation
    check(Chain(o), matrices(model, 3 * max(o.length, o.block_size or 1), 6, seed=4))


@pytest.mark.parametrize("name", ["bfp8", "cfloat8", "e3m4", "hfp8", "p3109"])
def test_units_of_their_own_formats_equal_the_engine(name: str) -> None:
    o = golden.load_unit(UNIT_FILES / f"{name}.toml").operation
    check(Chain(o), matrices(unit(o), 3 * max(o.length, o.block_size or 1), 6, seed=4))


@pytest.mark.parametrize("operation", EXTREMES, ids=lambda operation: operation.name)
def test_limits_equal_the_engine(operation: golden.Operation) -> None:
    """Steps that no block's memory holds among them."""
    check(Chain(operation), matrices(unit(operation), operation.length, 2, seed=5))


@pytest.mark.parametrize("name", ["MUL", "ADD"])
@pytest.mark.parametrize("form", ["fp16", "bf16", "fp32", "fp64"])
def test_operations_without_c_equal_the_engine(name: str, form: str) -> None:
    operation: Any = golden.OPERATIONS[name]
    model = unit(operation(a=form, b=form))
    a, b, c, *_ = matrices(model, 1, ROWS, seed=7)
    check(Chain(model.operation), (a, b, np.zeros_like(c), None, None))


@pytest.mark.parametrize("shape", [(1, 1), (1, 130), (65, 64), (63, 129)])
def test_tiles_at_the_edges_of_a_matrix(shape: tuple[int, int]) -> None:
    instruction = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    a, b, c, *_ = matrices(instruction, 48, 22, seed=6)
    m, n = shape
    check(instruction.chain, (a[:m], b[:n], np.ascontiguousarray(c[:m, :n]), None, None))


def gst_fdpa(**keys: Any) -> Any:
    keys = {"a": "e2m1", "b": "e2m1", "L": 64, "G": 16, "K_block": 16, "F": 35, "scale": "ue4m3"} | keys
    return t_fdpa_of("GST-FDPA", **{"e_zero": -139} | keys)


QUICK = [
    t_fdpa(a="fp16", b="fp16", L=8, F=24), t_fdpa(a="fp16", b="fp16"), t_fdpa(a="bf16", b="bf16", L=8, F=24),
    t_fdpa(a="tf32", b="bf16", F=1, L=6), t_fdpa(a="fp16", b="e5m2", F=26, L=32, rho="RNE-FP32"),
    t_fdpa(a="e4m3", b="e5m2", F=13, L=32, rho="RZ-E8M13"), t_fdpa(a="fp16", b="fp16", c="fp16", rho="RNE-FP16"),
    t_fdpa(a="bf16", b="bf16", c="bf16", rho="RD-BF16", e_zero=-140),
    t_fdpa(a="bf16", b="bf16", c="fp16", rho="RZ-FP32", e_zero=-126),
    tr_fdpa(a="bf16", b="bf16", L=4), tr_fdpa(a="fp16", b="tf32", L=32, F=26), tr_fdpa(a="e5m2", b="e4m3", F=12, F2=40),
    st_fdpa(), st_fdpa(a="fp16", b="fp16", L=16), st_fdpa(K_block=8, L=24, rho="RNE-FP32"), st_fdpa(a="bf16", b="tf32", L=8),
    st_fdpa(a="e3m2", b="e4m3ieee", c="fp16", rho="RNE-FP16", e_zero=-21, K_block=1, L=4),
    st_fdpa(a="e2m1", b="e2m1", K_block=64), tr_fdpa("GTR-FDPA", a="bf16", b="bf16"),
    tr_fdpa("GTR-FDPA", a="e5m2", b="fp16", L=16, F=20), tr_fdpa("GTR-FDPA", a="e4m3fnuz", b="e5m2fnuz", L=2),
    gst_fdpa(), gst_fdpa(scale="ue8m0", K_block=32), gst_fdpa(G=4, L=8, K_block=4, F=20, rho="RNE-FP32", e_zero=3),
    gst_fdpa(G=32, L=128, K_block=64, F=30, c="fp16", rho="RZ-FP16", e_zero=-21),
]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("model", QUICK, ids=lambda model: repr(model.operation))
def test_quick_kernel_on_every_kind_of_data(model: Any, style: str) -> None:
    """Random bits, numbers near each other, zeros, exponents far apart, one special, in scales too: of a tile a part goes
    the quick way."""
    operands = drawn(model, np.random.default_rng(7), (96, 70), style)
    assert host_product(Chain(model.operation), *operands, quick=True) is not None
    check(Chain(model.operation), operands)


def drawn(model: Any, rng: np.random.Generator, shape: tuple[int, int], style: str) -> tuple[Any, ...]:
    """A, the columns of B, C and scales of a product over whole blocks of scales."""
    o, (M, N) = model.operation, shape
    K = 5 * max(o.length, o.block_size or 1)
    a, b = matrix(rng, o.a, (M, K), style), matrix(rng, o.b, (N, K), style)
    alpha, beta = scales(rng, model, (M, N, K), style)
    return a, b, matrix(rng, o.c, shape, style), alpha, None if beta is None else np.ascontiguousarray(beta.T)


def at_the_edges(model: Any, rng: np.random.Generator) -> tuple[Any, ...]:
    """Rows of one exponent each, whose products lie about the smallest and largest that are quick; c is often zero."""
    o = model.operation

    def of_exponents(operand: golden.Format, exponents: Any, size: int) -> Any:
        fields = (np.array(exponents) + operand.bias)[:, None] << operand.man_bits
        fractions = rng.integers(0, 1 << operand.man_bits, (len(exponents), size))
        signs = rng.integers(0, 2, fractions.shape) * operand.negative_zero
        return (((fields | fractions) << operand.pad_bits) | signs).astype(bits_dtype(operand))

    of_a, of_b = [*range(-64, -40), *range(52, 72)], [*range(-62, -42), *range(54, 70)]
    a, b = of_exponents(o.a, of_a, 3 * o.length), of_exponents(o.b, of_b, 3 * o.length)
    c = of_exponents(o.c, rng.integers(-125, -90, len(of_a)), len(of_b))
    c[rng.random(c.shape) < 0.7] = 0
    return a, b, c, None, None


def small_under_nan(model: Any, rng: np.random.Generator) -> tuple[Any, ...]:
    """Elements so small that fp32 holds them under any scale's exponent; one scale of either side is NaN."""
    o = model.operation
    a, b = (rng.integers(1, 1 << (of.man_bits + 1), (40, 2 * o.length)).astype(bits_dtype(of)) for of in (o.a, o.b))
    alpha, beta = (np.full((40, -(-a.shape[1] // o.block_size)), o.scale_format.encode(1), np.uint8) for _ in "ab")
    alpha[3, 0], beta[5, -1] = o.scale_format.nan, o.scale_format.nan
    return a, b, np.zeros((40, 40), bits_dtype(o.c)), alpha, beta


@pytest.mark.parametrize(
    "model", [m for m in QUICK if m.operation.block_size is not None], ids=lambda model: repr(model.operation)
)
def test_scales_that_are_nan(model: Any) -> None:
    check(Chain(model.operation), small_under_nan(model, np.random.default_rng(11)))


WIDE = [
    model
    for model in QUICK
    if {model.a.exp_bits, model.b.exp_bits, model.operation.c.exp_bits} == {8} and model.operation.block_size is None
]


@pytest.mark.parametrize("model", WIDE, ids=lambda model: repr(model.operation))
def test_products_about_the_smallest_and_the_largest_that_are_quick(model: Any) -> None:
    check(Chain(model.operation), at_the_edges(model, np.random.default_rng(9)))


FAULTS = {
    "products aligned to a bit more": ("quick.hpp", "quick_power(plan.F - larger(", "quick_power(plan.F + 1 - larger("),
    "an exponent of the even products alone": (
        "quick.hpp", "largest = larger(even, odd);",
        "largest = even;",
    ),
    "products below fp32's normal numbers taken the quick way": (
        "quick.hpp", "a.smallest + b.smallest >= quick_smallest_exp", "a.smallest + b.smallest >= -512",
    ),
    "c that is left out of the largest exponent": (
        "quick.hpp", "z.sig ? z.exp : plan.e_zero)", "z.sig ? plan.e_zero : plan.e_zero)",
    ),
    "a scale that is NaN and multiplies": ("quick.hpp", "if (scale.cls == Cls::nan) x.cls = Cls::nan;", ""),
    "values beyond fp32's under their scales": (
        "quick.hpp", "!scaled || (values_fit(a) && values_fit(b))", "!scaled || true",
    ),
    "the scale of the block before": ("quick.hpp", "(start + k + n) / plan.K_block)", "(start + k) / plan.K_block)"),
    "a group that is zero by its sum": ("quick_groups.hpp", "of[0].of[n / 4] & of[1].of[n % 4]);", "of[0].of[n / 4] != 0);"),
    "a group's scale that is NaN": (
        "quick_groups.hpp", "larger(alpha.cls, beta.cls) >= Cls::infinity", "alpha.cls >= Cls::infinity",
    ),
    "the sum of the odd products at the exponent of the even": (
        "quick.hpp", "found.of[sums - 1] = sums == 1 ? largest : odd;", "found.of[sums - 1] = largest;",
    ),
    "a part that is read in the phase that loads it": (
        "product.hpp",
        "Accumulated&) { part.load(thread); });\n        block.each([&](int thread, Accumulated& own) {",
        "Accumulated& own) { part.load(thread);",
    ),
    "the last part as long as the others": ("product.hpp", "smaller(layout.depth, product.K - start)", "layout.depth"),
    "a part that is loaded over the one before, which others still read": (
        "product.hpp", "accumulate_part<Int>(part, thread, own); });",
        "accumulate_part<Int>(part, thread, own);\n"
        "const int next = start + layout.depth, count = smaller(layout.depth, product.K - next);\n"
        "if (count > 0) Part<Planned>{product, layout, corner, next, count, memory}.load(thread); });",
    ),
    "a part that is loaded once, and stale after": (
        "product.hpp", "part.load(thread); });", "if (!start) part.load(thread); });",
    ),
    "a part of the quick way that is loaded once, and stale after": (
        "quick.hpp", "load_part(part, thread); });", "if (!start) load_part(part, thread); });",
    ),
    "a part of the quick way that is read in the phase that loads it": (
        "quick.hpp",
        "QuickAccumulated&) { load_part(part, thread); });\n        block.each([&](int thread, QuickAccumulated& own) {",
        "QuickAccumulated& own) { load_part(part, thread);",
    ),
    "the last column of D left out": (
        "block.hpp", "corner.column + place.column < product.columns();",
        "corner.column + place.column < product.columns() - 1;",
    ),
    "the row before the last in the place of the last": ("block.hpp", "product.rows() - 1);", "product.rows() - 2);"),
    "no tile that D ends within": ("block.hpp", "(rows() + tile_side - 1) / tile_side", "rows() / tile_side"),
    "the format of c in every step": ("product.hpp", "part.start + k ? plan.d : plan.c", "plan.c"),
}  # fmt: skip
"""Faults of the kernels: a header of mmau/gpu, its text, and what stands there instead."""


@pytest.mark.slow
@pytest.mark.attack("faults of the kernels of matrix products: exponents, alignment, phases, the ends of K")
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_kernel_is_found(fault: str, tmp_path: Path) -> None:
    name, text, instead = FAULTS[fault]
    include = tmp_path / "include"
    shutil.copytree(INCLUDE, include)
    header = include / "mmau" / "gpu" / name
    assert header.read_text().count(text) == 1
    header.write_text(header.read_text().replace(text, instead))
    models = [
        t_fdpa(a="bf16", b="bf16", L=8, F=24), t_fdpa(a="fp16", b="fp16", c="fp16", rho="RZ-FP32", e_zero=-126),
        st_fdpa(a="bf16", b="tf32", L=8, K_block=1), tr_fdpa("GTR-FDPA", a="bf16", b="bf16"),
        gst_fdpa(G=4, L=8, K_block=4, F=20),
    ]  # fmt: skip
    with pytest.raises(AssertionError, match=r" differ, first "):
        check_everything(models, include)


def check_everything(models: list[Any], include: Path) -> None:
    rng = np.random.default_rng(8)
    for model, style in itertools.product(models, STYLES):
        check(Chain(model.operation), drawn(model, rng, (70, 66), style), include=include)
    for model in models:
        if model.operation.block_size is not None:
            check(Chain(model.operation), small_under_nan(model, rng), include=include)
    check(Chain(models[0].operation), at_the_edges(models[0], rng), include=include)
