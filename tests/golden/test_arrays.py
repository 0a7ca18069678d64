"""Operands of `.dot` as arrays: dtypes, kinds in and out, shapes, codes, scales, engines."""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden

Row = tuple[Any, Any, Any, Any, Any]
"""a, b, c, scale_a, scale_b; None for absent scales."""

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
FP6 = golden.instruction("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m3.e3m2.f32")
NVFP4 = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")

FLOATS: dict[str, type] = {
    "fp64": np.float64, "fp32": np.float32, "tf32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip

EVERY_FORMAT = [
    ("gfx90a", "v_mfma_f64_4x4x4f64"),
    ("gfx908", "v_mfma_f32_4x4x1f32"),
    ("sm_80", "mma.m16n8k4.f32.tf32.tf32.f32"),
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f16"),
    ("sm_80", "mma.m16n8k8.f16.f16.f16.f16"),
    ("gfx90a", "v_mfma_f32_4x4x4bf16_1k"),
    ("sm_90", "wgmma.m64n8k32.f16.e4m3.e5m2"),
    ("sm_90", "mma.m16n8k32.f32.e4m3.e5m2.f32"),
    ("gfx942", "v_mfma_f32_32x32x16_bf8_fp8"),
    ("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m3.e3m2.f32"),
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e5m2.e2m1.f32.ue8m0"),
    ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
]


def random_bits(instruction: golden.Instruction, lead: tuple[int, ...]) -> Row:
    """Bit patterns of every operand, scales included, None if absent."""
    rng = np.random.default_rng(5)
    K, block_size = instruction.k, instruction.block_size
    shapes = [(*lead, K), (*lead, K), lead] + [(*lead, K // block_size) if block_size else None] * 2
    kinds = (instruction.a, instruction.b, instruction.c, instruction.scale, instruction.scale)
    a, b, c, scale_a, scale_b = (
        None if f is None else rng.integers(0, f.codes, shape, np.uint64).astype(f"uint{f.storage_bits}")
        for f, shape in zip(kinds, shapes, strict=True)
    )
    return a, b, c, scale_a, scale_b


def as_floats(bits: Row, instruction: golden.Instruction) -> Row:
    kinds = (instruction.a, instruction.b, instruction.c, instruction.scale, instruction.scale)
    a, b, c, scale_a, scale_b = (None if f is None else x.view(FLOATS[f.name]) for f, x in zip(kinds, bits, strict=True))
    return a, b, c, scale_a, scale_b


@pytest.mark.parametrize(("arch", "name"), EVERY_FORMAT)
def test_floats_are_taken_by_their_bits_and_results_come_as_c_came(arch: str, name: str) -> None:
    instruction = golden.instruction(arch, name)
    bits = random_bits(instruction, (40,))
    floats = as_floats(bits, instruction)
    from_bits = instruction.dot(*bits, engine="reference")
    from_floats = instruction.dot(*floats, engine="reference")
    assert from_bits.dtype == f"uint{instruction.d.storage_bits}"
    assert from_floats.dtype == FLOATS[instruction.d.name]
    assert (from_floats.view(from_bits.dtype) == from_bits).all()
    a, b, c, scale_a, scale_b = bits
    mixed = instruction.dot(a, floats[1], c, scale_a, floats[4], engine="reference")
    assert mixed.dtype == from_bits.dtype
    assert (mixed == from_bits).all()
    assert (instruction.dot(a, b, floats[2], scale_a, scale_b, engine="reference").view(from_bits.dtype) == from_bits).all()


@pytest.mark.parametrize("lead", [(), (1,), (0,), (3, 5), (2, 0, 4)], ids=str)
def test_shape_of_the_result_is_that_of_c(lead: tuple[int, ...]) -> None:
    for instruction in (HOPPER, NVFP4):
        operands = random_bits(instruction, lead)
        d = instruction.dot(*operands, engine="reference")
        assert (d.shape, d.dtype) == (lead, np.dtype(np.uint32))
        flat = [None if x is None else x.reshape(-1, *x.shape[len(lead) :]) for x in operands]
        for row, code in enumerate(d.ravel()):
            a, b, c, scale_a, scale_b = (None if x is None else x[row] for x in flat)
            assert code == instruction.dot(a, b, c, scale_a, scale_b, engine="reference")


def test_operands_that_are_views_or_scalars_are_taken_as_they_are() -> None:
    a, b, c, *_ = random_bits(HOPPER, (6,))
    expected = HOPPER.dot(a, b, c, engine="reference")
    wide = np.repeat(a, 2, axis=1)[:, ::2]
    assert (HOPPER.dot(wide, np.asfortranarray(b), c[::-1][::-1], engine="reference") == expected).all()
    assert HOPPER.dot(a[0], b[0], np.uint32(c[0]), engine="reference") == expected[0]
    read_only = np.broadcast_to(a[0], (6, 16))
    assert (
        HOPPER.dot(read_only, b, c, engine="reference") == HOPPER.dot(np.array(read_only), b, c, engine="reference")
    ).all()


def test_operands_are_not_changed() -> None:
    operands = random_bits(NVFP4, (4,))
    before = [x.copy() for x in operands]
    NVFP4.dot(*operands, engine="reference")
    assert all((x == y).all() for x, y in zip(operands, before, strict=True))


U16 = np.zeros((2, 16), np.uint16)
WRONG: list[tuple[golden.Instruction, dict[str, Any], type[Exception], str]] = [
    (HOPPER, {"a": U16.astype(np.int16)}, TypeError, "a must have dtype uint16 or float16 for fp16, got int16"),
    (HOPPER, {"a": U16.view(ml_dtypes.bfloat16)}, TypeError, "a must have dtype uint16 or float16 for fp16, got bfloat16"),
    (HOPPER, {"a": U16.astype(">u2")}, TypeError, "a must have dtype uint16 or float16 for fp16, got >u2"),
    (HOPPER, {"b": U16.astype(">f2")}, TypeError, "b must have dtype uint16 or float16 for fp16, got >f2"),
    (HOPPER, {"b": U16.astype(object)}, TypeError, "b must have dtype uint16 or float16 for fp16, got object"),
    (HOPPER, {"b": U16.astype(bool)}, TypeError, "b must have dtype uint16 or float16 for fp16, got bool"),
    (HOPPER, {"c": np.zeros(2, np.int64)}, TypeError, "c must have dtype uint32 or float32 for fp32, got int64"),
    (HOPPER, {"c": np.zeros(2, np.float64)}, TypeError, "c must have dtype uint32 or float32 for fp32, got float64"),
    (HOPPER, {"a": [[0] * 16] * 2}, TypeError, "a must be a NumPy array of uint16 or float16, got list"),
    (HOPPER, {"c": 0}, TypeError, "c must be a NumPy array of uint32 or float32, got int"),
    (
        HOPPER, {"a": np.ma.masked_array(U16.view(np.float16), mask=True)}, TypeError,
        "a must be an array without a mask, which no unit has; got a masked array: fill it first",
    ),
    (HOPPER, {"a": U16[:, :8]}, ValueError, "a must have shape (2, 16) (the last axis is K), got (2, 8)"),
    (HOPPER, {"b": U16[:1]}, ValueError, "b must have shape (2, 16) (that of a), got (1, 16)"),
    (HOPPER, {"b": U16[0]}, ValueError, "b must have shape (2, 16) (that of a), got (16,)"),
    (HOPPER, {"c": np.zeros(1, np.uint32)}, ValueError, "c must have shape (2,) (that of a without K), got (1,)"),
    (HOPPER, {"c": np.zeros((2, 1), np.uint32)}, ValueError, "c must have shape (2,) (that of a without K), got (2, 1)"),
    (HOPPER, {"a": U16[0, :1].reshape(())}, ValueError, "a must have shape (16,) (the last axis is K), got ()"),
    (HOPPER, {"scale_a": np.zeros((2, 1), np.uint8)}, ValueError, "scale_a must be absent: T-FDPA has no scales"),
    (HOPPER, {"scale_b": np.zeros((2, 1), np.uint8)}, ValueError, "scale_b must be absent: T-FDPA has no scales"),
    *(
        (HOPPER, {"engine": engine}, ValueError, f"engine must be one of reference, native, cuda; got {engine!r}")
        for engine in ("fast", "", 3)
    ),
    (FP6, {"a": np.full((2, 32), 64, np.uint8)}, ValueError, "a: e2m3 codes are 0 … 0x3f, got 0x40"),
    (FP6, {"b": np.full((2, 32), 255, np.uint8)}, ValueError, "b: e3m2 codes are 0 … 0x3f, got 0xff"),
    (NVFP4, {"scale_a": None}, ValueError, "scale_a is missing: GST-FDPA takes one ue4m3 scale a block"),
    (NVFP4, {"scale_b": None}, ValueError, "scale_b is missing: GST-FDPA takes one ue4m3 scale a block"),
    (
        NVFP4, {"scale_a": np.zeros((2, 2), np.uint8)}, ValueError,
        "scale_a must have shape (2, 4) (one scale for every 16 elements), got (2, 2)",
    ),
    (
        NVFP4, {"scale_b": np.zeros((2, 4), ml_dtypes.float8_e8m0fnu)}, TypeError,
        "scale_b must have dtype uint8 or float8_e4m3fn for ue4m3, got float8_e8m0fnu",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("instruction", "changed", "error", "message"), WRONG, ids=[row[3] for row in WRONG])
def test_operands_that_are_refused(
    instruction: golden.Instruction, changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    operands = dict(zip(("a", "b", "c", "scale_a", "scale_b"), random_bits(instruction, (2,)), strict=True)) | changed
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        instruction.dot(**operands)
