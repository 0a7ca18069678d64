"""Shapes, steps and helpers for the tests of the stimulus."""

from fractions import Fraction

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import BF16, E2M1, E4M3, E5M2, FP16, FP32, FP64, TF32, UE4M3, UE8M0, Cls
from golden.operations import TFDPA
from golden.stimulus import OperandShape, Stimulus, generate

SHAPES = {
    "fp16": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4),
    "fp16-out": OperandShape(a=FP16, b=FP16, c=FP16, d=FP16, K=16),
    "bf16": OperandShape(a=BF16, b=BF16, c=FP32, d=FP32, K=8),
    "tf32": OperandShape(a=TF32, b=TF32, c=FP32, d=FP32, K=4),
    "fp64": OperandShape(a=FP64, b=FP64, c=FP64, d=FP64, K=4),
    "one product": OperandShape(a=FP32, b=FP32, c=FP32, d=FP32, K=1),
    "mixed fp8": OperandShape(a=E4M3, b=E5M2, c=FP32, d=FP32, K=32),
    "fnuz": OperandShape.of(golden.instruction("gfx942", "v_mfma_f32_16x16x32_fp8_bf8")),
    "fp4": OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=32),
    "mxfp8": OperandShape(a=E5M2, b=E5M2, c=FP32, d=FP32, K=64, scale=UE8M0, block_size=32),
    "steps without c": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=6, step=2, has_c=False),
    "scaled steps": OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=96, scale=UE8M0, block_size=32, step=32),
    "nvfp4": OperandShape(a=E2M1, b=E2M1, c=FP32, d=FP32, K=64, scale=UE4M3, block_size=16),
}
"""One of every kind of operands: wide, narrow, mixed, padded, without −0, scaled, a single product, steps."""

EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())

BF16_STEP = TFDPA(a=BF16, b=BF16, c=FP32, L=8, F=25, rho="RZ-FP32", e_zero=-133)
FP16_STEP = TFDPA(a=FP16, b=FP16, c=FP16, L=8, F=25, rho="RNE-FP16", e_zero=-21)


def only(stimulus: Stimulus, name: str) -> Stimulus:
    """The rows that one generator made."""
    return stimulus.rows(np.flatnonzero(stimulus.label == stimulus.names.index(name)))


def rows_for(step: TFDPA, name: str, count: int = 8000) -> Stimulus:
    return only(generate(OperandShape.of_operation(step), count, seed=5), name)


def results(step: TFDPA, stimulus: Stimulus) -> np.ndarray:
    return golden.Unit(name="step", operation=step).dot(*stimulus.operands)


def result_classes(step: TFDPA, stimulus: Stimulus) -> list[Cls]:
    return [step.d.decode(code).cls for code in results(step, stimulus).tolist()]


def exact(operand: golden.Format, code: int) -> Fraction:
    """The value of a code that is a number."""
    value = operand.value(code)
    assert value is not None
    return value


def exact_terms(shape: OperandShape, stimulus: Stimulus, row: int) -> list[Fraction]:
    """The exact products of a finite unscaled row, and c."""
    operands = stimulus.operands
    a, b = (
        [exact(shape_of, code) for code in codes[row].tolist()]
        for shape_of, codes in ((shape.a, operands.a), (shape.b, operands.b))
    )
    return [x * y for x, y in zip(a, b, strict=True)] + [exact(shape.c, int(operands.c[row]))]
