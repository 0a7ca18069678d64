"""The proof of `mmau distinguish`: solvers decide whether the specifications of two units are equal for all inputs."""

from collections.abc import Mapping

import numpy as np

from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus import Operands
from mmau.formal.decision import DIFFERENT, EQUAL
from mmau.formal.proofs_with_deadline import equality_in_time
from mmau.probe.distinguish import Side, Verdict


def proved(x: Side, y: Side, seconds: float) -> Verdict:
    """Compare two sides over the same products.

    Args:
        x, y: chains of whole steps. seconds: the limit for the proof, which then ends within a second.

    Raises:
        ModuleNotFoundError: the solver that builds the terms is not installed.

    Returns:
        True: equal. Operands [1, K]: an input on which the sides may differ. A text: the reason why it is not decided.
    """
    found = equality_in_time(x.chain.operation, y.chain.operation, (_steps(x), _steps(y)), seconds)
    if found.verdict == EQUAL:
        return True
    return _row(x, found.inputs) if found.verdict == DIFFERENT else found.reason


def _steps(side: Side) -> int:
    """The number of steps of a chain."""
    return int(side.shape.K // side.chain.operation.length)


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
