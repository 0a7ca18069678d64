"""Modifiers of RDNA's instructions: the operands that the arithmetic then has, and what the kernels assemble to."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import golden
from golden.native.hip import assembly, code_object
from hwtests.amd.kernels import Modifiers, wmma_kernel
from tests.hwtests.compilers import needs_amd_compiler

PACKED = golden.instruction("gfx1100", "v_wmma_f16_16x16x16_f16_w32")
WIDE = golden.instruction("gfx1201", "v_wmma_f32_16x16x16_bf16_w64")
DOT2 = golden.instruction("gfx1201", "v_dot2_f32_bf16")

NAN = 0x7C2A
"""A NaN of fp16: its sign is a bit like any other."""


def codes(i: golden.Instruction, rows: int = 50) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(6)
    shapes = ((rows, i.k), (rows, i.k), (rows,))
    a, b, c = (
        rng.integers(0, 1 << f.width, shape).astype(f"u{f.width // 8}")
        for f, shape in zip((i.a, i.b, i.c), shapes, strict=True)
    )
    return a, b, c


def element(i: golden.Instruction, m: Modifiers, operand: int, row: Any, k: int) -> int:
    """Element k of A (operand 0) or B, as the statements of numerics.md, section 7, have it."""
    if i.name.startswith("v_dot2"):
        chosen = (m.op_sel, m.op_sel_hi)[k] >> operand & 1
    else:
        chosen = k
    negated = (m.neg_lo, m.neg_hi)[k % 2] >> operand & 1
    return int(row[chosen]) ^ negated << 15


def c_of(i: golden.Instruction, m: Modifiers, c: int) -> int:
    magnitude = c % i.c.negative_zero if m.neg_hi & 4 else c
    return magnitude ^ i.c.negative_zero if m.neg_lo & 4 else magnitude


def random_modifiers(i: golden.Instruction) -> list[Modifiers]:
    bits = 3 if i is DOT2 else 7
    halves = (0,) if i is WIDE else (0, 1, 4) if i is PACKED else (0, 1, 2, 3)
    keys = product((0, 1, 2, 4, 5), (0, 3, 4, 6), halves)
    return [Modifiers(neg_lo=lo & bits, neg_hi=hi & bits, op_sel=select) for lo, hi, select in keys]


@pytest.mark.parametrize("i", [PACKED, WIDE, DOT2], ids=lambda i: i.name)
def test_operands_are_those_of_the_statements(i: golden.Instruction) -> None:
    a, b, c = codes(i)
    for m in random_modifiers(i):
        seen = m.applied(i, a, b, c)
        for of_operand, (given, operand) in zip(seen[:2], ((a, 0), (b, 1)), strict=True):
            expected = [[element(i, m, operand, row, k) for k in range(i.k)] for row in given.tolist()]
            assert of_operand.dtype == given.dtype
            assert of_operand.tolist() == expected
        assert seen[2].dtype == c.dtype
        assert seen[2].tolist() == [c_of(i, m, code) for code in c.tolist()]


@pytest.mark.attack("modifiers of RDNA, taken wrongly")
def test_magnitude_comes_before_the_sign_and_nan_is_no_exception() -> None:
    """−|c|, whatever c is; taken the other way round it would be |c|."""
    both = Modifiers(neg_lo=4, neg_hi=4)
    c = np.array([0x3C00, 0xBC00, NAN, NAN | 0x8000], np.uint16)
    a = np.zeros((4, 16), np.uint16)
    assert both.applied(PACKED, a, a, c)[2].tolist() == [0xBC00, 0xBC00, NAN | 0x8000, NAN | 0x8000]
    wrong = replace(both, neg_hi=0).applied(PACKED, a, a, c)[2] & 0x7FFF
    assert wrong.tolist() == [0x3C00, 0x3C00, NAN, NAN]


def test_halves_of_a_dot2_are_chosen_for_each_product_and_factor() -> None:
    """All 16 choices, and both products of one half of A with both halves of B."""
    a, b = np.array([[1, 2]], np.uint16), np.array([[3, 4]], np.uint16)
    for op_sel, high in product(range(4), range(4)):
        m = Modifiers(op_sel=op_sel, op_sel_hi=4 | high)
        x, y, _ = m.applied(DOT2, a, b, np.zeros(1, np.uint32))
        assert x.tolist() == [[1 + (op_sel & 1), 1 + (high & 1)]]
        assert y.tolist() == [[3 + (op_sel >> 1), 3 + (high >> 1)]]


def line_of(i: golden.Instruction, modifiers: Modifiers | None) -> tuple[str, str]:
    """The whole assembly, and the line with the instruction."""
    kernel = wmma_kernel(i, modifiers)
    text = assembly(kernel.source, i.arch, kernel.wave)
    (line,) = re.findall(rf"^\s*{kernel.mnemonic} .*$", text, re.M)
    return text, line


@needs_amd_compiler
@pytest.mark.parametrize(
    ("i", "modifiers", "text"),
    [
        (WIDE, Modifiers(neg_lo=5, neg_hi=2), "] neg_lo:[1,0,1] neg_hi:[0,1,0]"),
        (PACKED, Modifiers(op_sel=4, neg_hi=4), "] op_sel:[0,0,1] neg_hi:[0,0,1]"),
        (DOT2, Modifiers(op_sel=2, op_sel_hi=4), " op_sel:[0,1,0] op_sel_hi:[0,0,1]"),
        (golden.instruction("gfx1151", "v_dot2_f32_f16"), Modifiers(op_sel=1), " op_sel:[1,0,0]"),
        (DOT2, Modifiers(), ""),
        (DOT2, None, ""),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_modifiers_are_in_the_assembly(i: golden.Instruction, modifiers: Modifiers | None, text: str) -> None:
    assembled, line = line_of(i, modifiers)
    assert line.endswith(text)
    assert code_object(assembled, i.arch, 64 if "w64" in i.name else 32)
    assert ("_sel" in line or "neg" in line) == bool(text)


@needs_amd_compiler
@pytest.mark.parametrize("name", ["v_wmma_f16_16x16x16_f16_w32", "v_wmma_bf16_16x16x16_bf16_w64"])
def test_kernel_stores_the_half_that_op_sel_names(name: str) -> None:
    i = golden.instruction("gfx1100", name)
    for modifiers, high in ((None, False), (Modifiers(op_sel=3), False), (Modifiers(op_sel=4), True)):
        stores = re.findall(r"^\s*global_store_\w+", line_of(i, modifiers)[0], re.M)
        assert stores
        assert {store.strip() for store in stores} == {"global_store_d16_hi_b16" if high else "global_store_b16"}


@pytest.mark.parametrize(
    ("i", "modifiers", "message"),
    [
        (WIDE, Modifiers(op_sel=4), "op_sel of v_wmma_f32_16x16x16_bf16_w64 must be 0, got 4"),
        (WIDE, Modifiers(op_sel_hi=3), "op_sel_hi of v_wmma_f32_16x16x16_bf16_w64 must be 7, got 3"),
        (
            DOT2, Modifiers(neg_hi=4),
            "neg_hi of v_dot2_f32_bf16 must be 0 but for the bits 3 (1 of A, 2 of B, 4 of C), got 4",
        ),
        (
            DOT2, Modifiers(op_sel_hi=0),
            "op_sel_hi of v_dot2_f32_bf16 must be 7 but for the bits 3 (1 of A, 2 of B, 4 of C), got 0",
        ),
        (PACKED, Modifiers(neg_lo=8), "neg_lo must be an integer from 0 to 7, got 8"),
        (
            golden.instruction("gfx1100", "v_dot2_f16_f16"), Modifiers(),
            "v_dot2_f16_f16 has no modifiers here: nobody has recorded their effect",
        ),
        (
            golden.instruction("gfx1100", "v_wmma_i32_16x16x16_iu8_w32.s8.s8"), Modifiers(),
            "v_wmma_i32_16x16x16_iu8_w32.s8.s8 has no modifiers but its signs and clamp",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_modifiers_that_an_instruction_lacks_are_refused(i: golden.Instruction, modifiers: Modifiers, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        wmma_kernel(i, modifiers)
    a, b, c = codes(i, 1)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        modifiers.applied(i, a, b, c)
