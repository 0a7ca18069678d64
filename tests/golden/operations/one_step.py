"""One step of an operation on values, for the tests of units' keys."""

from collections.abc import Sequence
from typing import Any

from golden.arithmetic.formats import FP16, FP32
from golden.operations import TFDPA, Operation

MINUS = 1 << 31


ONE = FP16.encode(1)


MODES = ("RZ", "RNE", "RD", "RU", "RO", "RNA")


def t_fdpa(**keys: Any) -> TFDPA:
    """T-FDPA of fp16 with F = 24: c = 1 and products down to 2^−24 are summed whole."""
    defaults: dict[str, Any] = {"a": FP16, "b": FP16, "c": FP32, "L": 2, "F": 24, "rho": "RNE-FP32", "e_zero": -126}
    return TFDPA(**(defaults | keys))


def of_values(operation: Operation, products: Sequence[tuple[float, float]], c: float) -> int:
    """One step on values that the formats hold exactly."""
    a, b = ([f.encode(pair[i]) for pair in products] for i, f in enumerate((operation.a, operation.b)))
    return operation.step(a, b, operation.c.encode(c))


HALF_ULP, BELOW = (2.0**-12, 2.0**-12), (2.0**-13, 2.0**-12)
"""Products worth half an ulp of 1 in fp32, which is the last bit under F = 24, and half of that, which is lost."""
