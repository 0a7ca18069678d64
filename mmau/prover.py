"""Solvers as the last word of `mmau distinguish`: whether the specifications of two units give one result for all inputs."""

from collections.abc import Mapping
from importlib import import_module

import numpy as np

from golden import Operation
from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus import Operands
from probe.distinguish import Side, Verdict


def proved(x: Side, y: Side, seconds: float) -> Verdict:
    """Compare two sides over the same products.

    Args:
        x, y: chains of whole steps. seconds: for all that is asked of solvers.

    Raises:
        ModuleNotFoundError: the solver that terms are made with is not installed.

    Returns:
        True: equal. Operands [1, K]: they may differ on these. A text: not decided, and why.
    """
    equality = import_module("formal.equality")  # here, for its solver may be missing
    found = equality.equality(steps(x), steps(y), seconds)
    if found.verdict == equality.EQUAL:
        return True
    return _row(x, found.inputs) if found.verdict == equality.DIFFERENT else str(found.reason)


def steps(side: Side) -> list[Operation]:
    """The steps of a chain."""
    operation = side.chain.operation
    count = side.shape.K // operation.length
    return [operation, *([operation.accumulating()] * (count - 1) if count > 1 else [])]


def _row(side: Side, inputs: Mapping[str, int]) -> Operands:
    shape = side.shape

    def codes(port: str, operand: Format, count: int) -> np.ndarray:
        bits, mask = inputs.get(port, 0), (1 << operand.width) - 1
        return np.array([[bits >> operand.width * k & mask for k in range(count)]], bits_dtype(operand))

    scales = (None, None)
    if shape.scale is not None:
        scales = tuple(codes(name, shape.scale, shape.blocks) for name in ("scale_a", "scale_b"))  # type: ignore[assignment]
    a, b = codes("a", shape.a, shape.K), codes("b", shape.b, shape.K)
    return Operands(a, b, codes("c", shape.c, 1)[:, 0], *scales)
