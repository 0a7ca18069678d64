"""A box: whatever computes a dot product of bit patterns and does not say how.

The probe sees a box through `Questioner` alone, which checks every answer, counts what was asked, and remembers it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.checks import check_name, check_type
from golden.instruction import Instruction
from golden.ordered_chain import ChainTable
from golden.stimulus import Operands, OperandShape
from golden.unit import Unit
from probe.journal import Journal, row_keys

FIRST_BATCH = 64
"""Vectors of the first question: few, for nothing is known yet of the box's speed."""

SECONDS_A_BATCH = 5.0
"""How long one question should take at most, so that little is lost where a box dies (s)."""

MAX_BATCH = 1 << 16


class BoxError(ValueError):
    """The box did not do what a box must; the message says what, and what it did."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A black box.

    Attributes:
        name: what reports call it.
        shape: formats and lengths of its operands; `shape.d` is the format that carries its results.
        dot: a, b [rows, K], c [rows], and where it is scaled scale_a, scale_b [rows, blocks]; d [rows], all bit patterns.
    """

    name: str
    shape: OperandShape
    dot: Callable[..., Any]

    def __post_init__(self) -> None:
        check_name("name of a box", self.name)
        check_type("shape of a box", self.shape, OperandShape)


def box_of_instruction(instruction: Instruction) -> Box:
    """One element of an instruction's D."""
    i = instruction
    shape = OperandShape(a=i.a, b=i.b, c=i.c, d=i.d, K=i.k, scale=i.scale, block_size=i.block_size)
    return Box(name=f"{i.arch} {i.name}", shape=shape, dot=i.dot)


def box_of_unit(unit: Unit, K: int | None = None) -> Box:
    """A unit over K products; without K over two steps where it can take its own result as c, else over one."""
    o = unit.operation
    if K is None and unit.chain != ChainTable():
        K = unit.usual_K
    elif K is None:
        try:
            o.accumulating()
            K = 2 * o.length
        except ValueError:
            K = o.length
    shape = OperandShape(a=unit.a, b=unit.b, c=o.c, d=o.d, K=K, scale=o.scale_format, block_size=o.block_size)
    return Box(name=unit.name, shape=shape, dot=unit.dot)


class Questioner:
    """Asks a box, checks what it answers, and keeps count.

    Attributes:
        questions: calls of the box's `dot`.
        vectors: rows that it was asked for, all together; a row that the journal holds is not asked again.
        seconds: how long it took to answer.
    """

    def __init__(self, box: Box, journal: Journal, seconds: float | None = None) -> None:
        self.box, self.journal = box, journal
        self.questions = self.vectors = 0
        self.seconds = 0.0
        self._limit = seconds
        self._batch = FIRST_BATCH

    def ask(self, operands: Operands) -> BitArray:
        """The box's answers; those that the journal holds are taken from there.

        Raises:
            BoxError: the box died, or answered with another shape or type, or the time is used up.
        """
        keys = row_keys(operands)
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self.journal.answers}
        fresh = np.array(sorted(first.values()), np.int64)
        if fresh.size:
            asked = operands.rows(fresh)
            for start in self._starts(len(fresh)):
                part = asked.rows(slice(start, start + self._batch))
                codes = self._answer(part)
                self.journal.add(part, codes, [keys[i] for i in fresh[start : start + len(codes)]])
        return np.array([self.journal.answers[key] for key in keys], bits_dtype(self.box.shape.d))

    def ask_unrecorded(self, operands: Operands) -> BitArray:
        """The box's answers to rows that are too many to keep, or asked again on purpose.

        Raises:
            BoxError: as `ask`.
        """
        rows = len(operands.c)
        parts = [self._answer(operands.rows(slice(start, start + self._batch))) for start in self._starts(rows)]
        return np.concatenate(parts) if parts else np.empty(0, bits_dtype(self.box.shape.d))

    def _starts(self, rows: int) -> Any:
        """Where each question begins; `_batch`, how long it is, may change from one to the next."""
        start = 0
        while start < rows:
            yield start
            start += self._asked_last

    _asked_last = 0

    def _answer(self, operands: Operands) -> BitArray:
        rows = len(operands.c)
        if self._limit is not None and self.seconds >= self._limit:
            raise BoxError(
                f"{self.box.name} has answered {self.vectors} vectors in {self.seconds:.1f} s, which uses up the "
                f"{self._limit:g} s it was given; give it more, or a faster box"
            )
        began = time.perf_counter()
        try:
            d = self.box.dot(*(array for array in operands if array is not None))
        except Exception as error:
            raise BoxError(f"{self.box.name} died after {self.vectors} vectors: {type(error).__name__}: {error}") from error
        took = time.perf_counter() - began
        self.seconds += took
        self.questions += 1
        self.vectors += rows
        self._asked_last = rows
        self._batch = int(np.clip(rows * SECONDS_A_BATCH / max(took, 1e-6), 1, min(MAX_BATCH, 4 * rows + 4)))
        return self._checked(d, rows)

    def _checked(self, d: Any, rows: int) -> BitArray:
        expected = bits_dtype(self.box.shape.d)
        if not isinstance(d, np.ndarray):
            raise BoxError(f"{self.box.name} must answer with a NumPy array of {expected}, got {type(d).__name__}")
        if d.shape != (rows,):
            raise BoxError(f"{self.box.name} must answer {rows} vectors with d of shape ({rows},), got {d.shape}")
        if d.dtype != expected:
            raise BoxError(f"{self.box.name} must answer with {expected}, the bits of {self.box.shape.d}, got {d.dtype}")
        return d
