"""A mismatch: one row on which device and model differ, made as simple as it gets, and printed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from golden import Instruction
from golden.formats import Format
from golden.stimulus import Operands
from golden.stimulus.codes import sign_bit

MAX_ROUNDS = 400
"""Steps of simplification; each removes a product or simplifies a number."""

Fails = Callable[[Operands], npt.NDArray[np.bool_]]
"""Which rows device and model disagree on."""


@dataclass(frozen=True)
class Mismatch:
    """The operands of one row as integers, and the two results.

    Attributes:
        found_in: the class or corner of the row it was found in, before it was simplified.
        a, b, c, scale_a, scale_b: codes; the scales are empty where unscaled.
    """

    found_in: str
    a: list[int]
    b: list[int]
    c: int
    scale_a: list[int]
    scale_b: list[int]
    got: int
    expected: int


def mismatch_of(found_in: str, row: Operands, got: int, expected: int) -> Mismatch:
    """From operands of a single row."""
    scale_a, scale_b = ([] if array is None else array[0].tolist() for array in (row.scale_a, row.scale_b))
    return Mismatch(found_in, row.a[0].tolist(), row.b[0].tolist(), int(row.c[0]), scale_a, scale_b, int(got), int(expected))


def simplified(row: Operands, instruction: Instruction, fails: Fails) -> Operands:
    """The simplest row found that still fails: products and c removed, then fractions and signs.

    Args:
        row: operands of a single row that fails. fails: called with many candidates at once.
    """
    for _ in range(MAX_ROUNDS):
        candidates = list(_simpler(row, instruction))
        if not candidates:
            return row
        still = np.flatnonzero(fails(stacked(candidates)))
        if not still.size:
            return row
        row = candidates[int(still[0])]
    return row


def _simpler(row: Operands, instruction: Instruction) -> Iterator[Operands]:
    """Every row that is one step simpler, the larger steps first."""
    i = instruction
    for k in range(row.a.shape[1]):
        if row.a[0, k] or row.b[0, k]:
            yield row._replace(a=_with(row.a, k, 0), b=_with(row.b, k, 0))
    if row.c[0]:
        yield row._replace(c=np.zeros_like(row.c))
    for k in range(row.a.shape[1]):
        for code in simpler_codes(int(row.a[0, k]), i.a):
            yield row._replace(a=_with(row.a, k, code))
        for code in simpler_codes(int(row.b[0, k]), i.b):
            yield row._replace(b=_with(row.b, k, code))
    for code in simpler_codes(int(row.c[0]), i.c):
        yield row._replace(c=np.full_like(row.c, code))


def simpler_codes(code: int, operand: Format) -> list[int]:
    """Codes with less in them: zero and one of the same sign, no fraction, without its lowest set bit, without a sign."""
    fraction = (1 << (operand.man_bits + operand.pad_bits)) - 1
    sign = code & sign_bit(operand) if operand.signed else 0
    is_normal = bool(code & ~(fraction | sign_bit(operand)))
    one = operand.encode(1)
    found = [sign] + ([sign | one] if is_normal and code | sign_bit(operand) != one | sign_bit(operand) else [])
    if is_normal:
        found.append(code & ~fraction)
    found.append(code & ~(code & -code & fraction))
    if operand.signed:
        found.append(code & ~sign_bit(operand))
    return [simpler for simpler in dict.fromkeys(found) if simpler != code]


def _with(array: Any, k: int, code: int) -> Any:
    changed = array.copy()
    changed[0, k] = code
    return changed


def stacked(rows: list[Operands]) -> Operands:
    """Rows one after another."""
    columns = zip(*rows, strict=True)
    return Operands(*(None if column[0] is None else np.concatenate(column) for column in columns))  # type: ignore[arg-type]


def text_of(mismatch: Mismatch, instruction: Instruction) -> str:
    """The operands that are not zero, the result and what the model expected: sign, exponent, significand."""
    i, lines = instruction, [f"{instruction.arch} {instruction.name}, found in {mismatch.found_in}:"]
    for k, (a, b) in enumerate(zip(mismatch.a, mismatch.b, strict=True)):
        if a or b:
            lines += [f"  a[{k}] = {i.a.describe(a)}", f"  b[{k}] = {i.b.describe(b)}"]
    if i.scale is not None:
        for block, (alpha, beta) in enumerate(zip(mismatch.scale_a, mismatch.scale_b, strict=True)):
            lines += [f"  scale_a[{block}] = {i.scale.describe(alpha)}", f"  scale_b[{block}] = {i.scale.describe(beta)}"]
    lines += [f"  c = {i.c.describe(mismatch.c)}", "  (all other products are +0·+0)"]
    lines += [f"  got      {i.d.describe(mismatch.got)}", f"  expected {i.d.describe(mismatch.expected)}"]
    return "\n".join(lines)
