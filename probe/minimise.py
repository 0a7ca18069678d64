"""A row on which a box and a model differ, made as small as it goes: products, c and scales taken away one after another,
then their fractions, while the two still differ."""

from collections.abc import Callable, Iterator

import numpy as np

from golden.formats import Format
from golden.stimulus import Operands, OperandShape
from probe.features.feature import concatenated

Differs = Callable[[Operands], np.ndarray]
"""For many rows, which of them two computations differ on: a bool a row."""

ROUNDS = 12
"""How often what can go is looked for; each round takes away all that can go together."""


def minimised(row: Operands, shape: OperandShape, differs: Differs) -> Operands:
    """The smallest row found, [1, K], on which `differs` still holds.

    Args:
        row: one row on which it holds.
        differs: for many rows, which of them it holds for; each round asks it once or twice.
    """
    for _ in range(ROUNDS):
        trials = list(_simpler(row, shape))
        if not trials:
            break
        holds = np.flatnonzero(differs(concatenated(trials)))
        if not len(holds):
            break
        together = _all_of(row, [trials[int(i)] for i in holds])
        row = together if differs(together)[0] else trials[int(holds[0])]
    return row


def _simpler(row: Operands, shape: OperandShape) -> Iterator[Operands]:
    """The row with one thing taken away: a product, c, a scale; a fraction, a sign."""
    for k in range(shape.K):
        if row.a[0, k] or row.b[0, k]:
            yield _put(row, a=(k, 0), b=(k, 0))
    if row.c[0]:
        yield row._replace(c=np.zeros_like(row.c))
    if shape.scale is not None:
        one = shape.scale.encode(1)
        for block in range(shape.blocks):
            for name in ("scale_a", "scale_b"):
                if getattr(row, name)[0, block] != one:
                    yield _put(row, **{name: (block, one)})
    for k in range(shape.K):
        for name, operand in (("a", shape.a), ("b", shape.b)):
            for code in _rounder(operand, int(getattr(row, name)[0, k])):
                yield _put(row, **{name: (k, code)})
    for code in _rounder(shape.c, int(row.c[0])):
        yield row._replace(c=np.full_like(row.c, code))


def _rounder(operand: Format, code: int) -> list[int]:
    """Simpler codes than this one: one, without its fraction, without its sign."""
    if code in (0, operand.encode(1)):
        return []
    fraction = ((1 << operand.man_bits) - 1) << operand.pad_bits | ((1 << operand.pad_bits) - 1)
    sign = operand.codes >> 1 if operand.signed else 0
    candidates = [operand.encode(1), code & ~fraction, code & ~sign]
    return [found for found in dict.fromkeys(candidates) if found != code and found]


def _put(row: Operands, **places: tuple[int, int]) -> Operands:
    changed = {}
    for name, (k, code) in places.items():
        array = getattr(row, name).copy()
        array[0, k] = code
        changed[name] = array
    return row._replace(**changed)


def _all_of(row: Operands, trials: list[Operands]) -> Operands:
    """The row with all the changes of several trials; where two change one code, the first counts."""
    merged = [None if array is None else array.copy() for array in row]
    for trial in reversed(trials):
        for array, before, after in zip(merged, row, trial, strict=True):
            if array is not None and before is not None and after is not None:
                changed = after != before
                array[changed] = after[changed]
    return Operands(*merged)  # type: ignore[arg-type]
