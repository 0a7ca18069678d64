"""ST- and GST-FDPA with scales of a or of b alone: what `dot`, `gemm` and `explain` take, and what is refused."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import Format
from golden.operations import GSTFDPA, STFDPA, Operation
from golden.stimulus import OperandShape, generate
from golden.stimulus.shape import with_missing_ones
from golden.trace import Scaling
from tests.golden.units.own_formats import own_unit

KEYS: dict[str, Any] = {"c": "fp32", "L": 4, "K_block": 2, "F": 25, "e_zero": -133}

OF_B = STFDPA(**KEYS, a="fp16", b="e2m1", scale="ue8m0", scales="b", rho="RZ-FP32")  # type: ignore[arg-type]

OF_A = GSTFDPA(**KEYS, a="e2m1", b="e4m3", G=2, scale="fp16", scales="a", rho="RNE-FP32")  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", [OF_B, OF_A], ids=lambda each: each.name)
def test_missing_scales_are_ones_of_an_operation_with_both(operation: Operation) -> None:
    """With ones on the other side the operation that has both gives the same, and with other scales there it does not."""
    unit, both = (golden.Unit(name="unit", operation=each) for each in (operation, operation.changed(scales="both")))
    rows = generate(OperandShape.of_operation(operation, 8), 400, seed=2).operands
    missing = "scale_a" if operation is OF_B else "scale_b"
    d = unit.dot(*rows[:3], **{name: getattr(rows, name) for name in operation.scale_operands})
    assert (d == both.dot(*rows)).all()
    assert operation.scale_format is not None
    assert (getattr(rows, missing) == operation.scale_format.encode(1)).all()
    others = rows._replace(**{missing: getattr(rows, operation.scale_operands[0])})
    assert (d != both.dot(*others)).any()


def test_matrix_product_takes_the_scales_of_one_side() -> None:
    unit, rng = golden.Unit(name="unit", operation=OF_B), np.random.default_rng(1)
    A, B = rng.integers(0, 1 << 15, (2, 6), np.uint16), rng.integers(0, 16, (6, 3), np.uint8)
    C, scales = rng.integers(0, 1 << 31, (2, 3), np.uint32), rng.integers(100, 150, (3, 3), np.uint8)
    D = golden.gemm(unit, A, B, C, scale_b=scales)
    nothing = [(0, 0), (0, 2)]
    a, b, of_b = np.pad(A, nothing), np.pad(B.T, nothing), np.pad(scales.T, [(0, 0), (0, 1)], constant_values=127)
    for i, j in np.ndindex(2, 3):
        assert D[i, j] == unit.dot(a[i], b[j], C[i, j], scale_b=of_b[j])


def test_trace_has_the_scales_of_one_side() -> None:
    unit = own_unit("weights under fp16")
    a, b, c, _, scale_b = generate(OperandShape.of_operation(unit.operation), 1, seed=4).operands
    assert scale_b is not None
    step = unit.explain(a[0], b[0], c[0], None, scale_b[0]).steps[0]
    assert {len(part.scales) for part in step.parts if isinstance(part, Scaling)} == {1}
    names = {operand.name for operand in step.operands}
    assert {name for name in names if name.startswith("scale")} == {"scale_b[0]", "scale_b[1]"}


def test_scales_of_the_missing_side_are_refused() -> None:
    a, b, c, ones, scale_b = generate(OperandShape.of_operation(OF_B), 5, seed=4).operands
    unit = golden.Unit(name="unit", operation=OF_B)
    assert (unit.dot(a, b, c, ones, scale_b) == unit.dot(a, b, c, None, scale_b)).all()
    assert ones is not None
    with pytest.raises(ValueError, match=r'^scale_a must be absent: ST-FDPA has scales = "b"$'):
        unit.dot(a, b, c, ones + np.uint8(1), scale_b)
    with pytest.raises(ValueError, match=r"^scale_b is missing: ST-FDPA takes one ue8m0 scale a block$"):
        unit.dot(a, b, c, ones)


def test_keys_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^scales must be one of both, a, b; got 'c'$"):
        OF_B.changed(scales="c")
    subnormal_one = Format(name="low", exp_bits=2, man_bits=3, bias=0, specials="finite", storage_bits=8, signed=False)
    assert subnormal_one.value(subnormal_one.encode(1)) == 1
    with pytest.raises(ValueError, match=r'^scale must have the normal number 1 where scales is "b", got low$'):
        OF_B.changed(scale=subnormal_one)
    assert OF_B.changed(scale=subnormal_one, scales="both").scale == subnormal_one


def test_rows_keep_the_products_of_powers_of_two() -> None:
    """Scales of both sides become those of one, zeros and specials stay, and a product beyond the range becomes its end."""
    shape = OperandShape.of_operation(OF_A)
    scale, values = OF_A.scale, [1.0, -0.5, 4.0, 0.0, float("inf"), 2.0**15]
    codes = np.array([np.float16(value).view(np.uint16) for value in values])[:, None]
    others = np.array([np.float16(value).view(np.uint16) for value in (2.0, 8.0, 0.25, 2.0, 2.0, 2.0)])[:, None]
    found = with_missing_ones(shape, codes, others)
    expected = [2.0, -4.0, 1.0, 0.0, float("inf"), 65504.0]
    assert found["scale_a"].view(np.float16)[:, 0].tolist() == expected
    assert (found["scale_b"] == scale.encode(1)).all()
