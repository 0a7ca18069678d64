"""The benchmark of separate multipliers and adders against NumPy's float32, which rounds after every operation too."""

import numpy as np
import pytest

from golden import FORMATS, Cls, Implementation
from golden.operations import EFDPA
from golden.stimulus import OperandShape, generate
from golden.units.unit import ENCODINGS
from studies.area.designs import DiscreteDatapath
from tests.rtl.simulate import outputs


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("L", [2, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")
def test_discrete_dot_product_rounds_after_every_operation(encoding: str, L: int) -> None:
    operation = EFDPA(a="fp16", b="fp16", c="fp32", L=L, rho="RNE-FP32")  # type: ignore[arg-type]
    operands = generate(OperandShape.of_operation(operation), 150, 5).operands
    a, b = (np.asarray(codes, np.uint16).view(np.float16).astype(np.float32) for codes in (operands.a, operands.b))
    expected = np.asarray(operands.c, np.uint32).view(np.float32).copy()
    for k in range(L):
        expected = expected + a[:, k] * b[:, k]
    rows = [
        {
            "a": sum(int(code) << (16 * k) for k, code in enumerate(operands.a[row])),
            "b": sum(int(code) << (16 * k) for k, code in enumerate(operands.b[row])),
            "c": int(operands.c[row]),
        }
        for row in range(len(expected))
    ]
    component = DiscreteDatapath(operation, Implementation(encoding=encoding))
    results = outputs(component, rows, lambda get: get(component.d))
    fp32 = FORMATS["fp32"]
    finite = 0
    for row, got, want in zip(rows, results, expected.view(np.uint32).tolist(), strict=True):
        if np.isnan(np.uint32(want).view(np.float32)):
            assert fp32.decode(got).cls is Cls.NAN, row
        else:
            assert got == want, f"{row}: {fp32.describe(got)}, not {fp32.describe(want)}"
            finite += 1
    assert finite > 50
