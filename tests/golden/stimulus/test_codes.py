"""Codes put together: landmarks, numbers, and every special in every place."""

import itertools

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import E2M1, E4M3, FP16, TF32, UE4M3, UE8M0, Cls, power_of_two
from golden.stimulus import (
    OperandShape,
    complete_rows,
    generate,
)
from golden.stimulus.codes import landmarks, number
from tests.golden.stimulus.stimuli import (
    EVERY_SHAPE,
    only,
)  # fmt: skip


@pytest.mark.slow
@EVERY_SHAPE
def test_every_special_in_every_place(shape: OperandShape) -> None:
    a, b, c, scale_a, scale_b = only(generate(shape, complete_rows(shape), seed=6), "special-operands").operands
    for k in range(shape.K):
        assert set(landmarks(shape.a)) <= set(a[:, k].tolist())
        assert set(landmarks(shape.b)) <= set(b[:, k].tolist())
    assert not shape.has_c or set(landmarks(shape.c)) <= set(c.tolist())
    for scales in (scale_a, scale_b):
        if shape.scale is None or scales is None:
            continue
        for block in range(shape.blocks):
            assert set(landmarks(shape.scale)) <= set(scales[:, block].tolist())


@pytest.mark.parametrize("operand", [*golden.FORMATS.values()], ids=str)
def test_landmarks_are_what_a_format_has(operand: golden.Format) -> None:
    """Zeros, both ends of the subnormals, both ends of the normals, infinities and NaNs, all of both signs."""
    found = [operand.decode(code) for code in landmarks(operand)]
    classes = {cls for sign, exp, sig, cls in found}
    if operand.width <= 16:
        assert classes == {operand.decode(code).cls for code in range(operand.codes)}
    assert {exp for _, exp, _, cls in found if cls is Cls.NORMAL} >= {operand.e_min, operand.e_max}
    if operand.signed:
        assert {(x.sign, x.cls) for x in found if x.cls not in (Cls.NAN, Cls.ZERO)} == {
            (sign, cls) for sign in (0, 1) for cls in classes - {Cls.NAN, Cls.ZERO}
        }


@pytest.mark.parametrize("operand", [FP16, E4M3, E2M1, UE4M3, UE8M0, TF32], ids=str)
def test_number_is_the_encoded_value(operand: golden.Format) -> None:
    low = operand.e_min - (operand.man_bits if operand.subnormals else 0)
    for sign, lead in itertools.product((0, 1), range(low, operand.e_max + 1)):
        code = int(number(operand, np.array([sign]), np.array([lead]))[0])
        value = -power_of_two(lead) if sign and operand.signed else power_of_two(lead)
        assert code == operand.encode(value)
    top = number(operand, np.array([0]), np.array([operand.e_max]), (1 << operand.man_bits) - 1)
    assert int(top[0]) == operand.max_finite
