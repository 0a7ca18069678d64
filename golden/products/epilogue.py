"""The epilogue of a matrix product: alpha, beta, bias and roundings, in the order in which an order lists them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from golden.arithmetic.formats import BF16, FP16, FP32, Format
from golden.arrays import BitArray, bits_dtype, check_shape, to_bits
from golden.checks import check_choice
from golden.products.additions import Additions, widened

STEPS = {
    "alpha": "x ← alpha·x",
    "beta": "x ← beta·C + x, fused",
    "alpha-beta": "x ← alpha·x + (beta·C rounded), fused, as CUTLASS's LinearCombination",
    "bias": "x ← x + bias",
    "output": "x ← x rounded to the format of the output",
}
"""Steps of an epilogue on the sum x of an element, each rounded to fp32 once. With beta = 0, C is not read, as in BLAS."""

USES_C = ("beta", "alpha-beta")
"""Steps that read C. If an epilogue has one, the sum of the products starts from +0."""

OUTPUTS = ("fp32", "fp16", "bf16")
"""Formats that the result of a matrix product may be rounded to."""


def checked_steps(steps: Any) -> tuple[str, ...]:
    """The steps of an epilogue as a tuple.

    Raises:
        TypeError, ValueError: no list, a step that is not known, or one that takes C twice.
    """
    if not isinstance(steps, (list, tuple)):
        raise TypeError(f"epilogue must be a list of steps, got {steps!r:.80}")
    for step in steps:
        check_choice("a step of epilogue", step, STEPS)
    if sum(step in USES_C for step in steps) > 1:
        raise ValueError(f"epilogue must take C once, got {', '.join(steps)}")
    return tuple(steps)


def factor(key: str, value: Any) -> float:
    """Check the value of alpha or beta (`key`) and return it as a float.

    Raises:
        TypeError, ValueError: not a finite number that fp32 holds.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{key} must be a number, got {value!r}")
    if not abs(value) <= float(np.finfo(np.float32).max) or float(np.float32(value)) != value:
        raise ValueError(f"{key} must be a finite number that fp32 holds exactly, got {value!r}")
    return float(value)


def bias_codes(bias: Any, steps: Sequence[str], N: int) -> BitArray | None:
    """The bias [N] as codes of fp32; None if there is none.

    Raises:
        TypeError, ValueError: another shape or dtype; a bias that no step of the epilogue uses, or such a step without a
            bias.
    """
    if (bias is None) == ("bias" in steps):
        has = "has no step 'bias'" if bias is not None else "has a step 'bias'"
        raise ValueError(f"bias and the step 'bias' of the order's epilogue go together; the epilogue {has}")
    if bias is None:
        return None
    name = str(getattr(bias, "dtype", "")).removeprefix("torch.")
    source = {"float16": FP16, "bfloat16": BF16}.get(name, FP32)
    codes = to_bits("bias", bias, source)
    check_shape("bias", codes, (N,), "N of A·B")
    return widened(codes, source)


def finished(
    additions: Additions, total: BitArray, steps: Sequence[str], factors: tuple[float, float], c: BitArray,
    bias: BitArray | None, output: Format,
) -> BitArray:  # fmt: skip
    """Apply the steps of an epilogue to a total [M, N]; both the total and the result are codes of fp32.

    Args:
        factors: alpha and beta.
        c: [M, N], codes of fp32.
        bias: [N], codes of fp32; None if no step adds it.
    """
    alpha, beta = (np.full_like(total, np.float32(value).view(bits_dtype(FP32))) for value in factors)
    reads_c = factors[1] != 0
    for step in steps:
        match step:
            case "alpha":
                total = additions.multiply(total, alpha)
            case "beta" if reads_c:
                total = additions.multiply_add(c, beta, total)
            case "alpha-beta" if not reads_c:
                total = additions.multiply(total, alpha)
            case "alpha-beta":
                total = additions.multiply_add(total, alpha, additions.multiply(c, beta))
            case "bias":
                assert bias is not None
                total = additions.add(total, np.broadcast_to(bias, total.shape))
            case "output":
                total = widened(additions.rounded(total, output), output)
    return total
