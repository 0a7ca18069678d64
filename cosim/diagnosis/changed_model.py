"""Rows of a run as arrays, and golden's model of them, as it is or changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cosim.bench.mismatch import ComparedRow
from golden import Format, Instruction, Operation, Unit
from golden.arrays import bits_dtype
from golden.chain import Chain, steps_for
from golden.engines import Batch, run

Codes = npt.NDArray[Any]
"""Bit patterns."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Dot products with what the design gave for them.

    Attributes:
        a, b: codes [rows, K]. c: codes [rows]. scale_a, scale_b: codes [rows, blocks], None where unscaled.
        got: the design's codes [rows]. expected: golden's.
    """

    a: Codes
    b: Codes
    c: Codes
    scale_a: Codes | None
    scale_b: Codes | None
    got: Codes
    expected: Codes

    def of(self, chosen: Any) -> "Rows":
        """A selection of the rows: a slice, or their indices."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        picked: dict[str, Any] = {name: None if array is None else array[chosen] for name, array in arrays.items()}
        return Rows(**picked)

    def __len__(self) -> int:
        return len(self.got)


@dataclass(frozen=True)
class Model:
    """The golden model of a run's rows, as it is or changed.

    Attributes:
        chain: the chain of the unit or the instruction. a, b: formats of the operands in the rows.
    """

    chain: Chain
    a: Format
    b: Format

    @classmethod
    def of(cls, model: Operation | Unit | Instruction, K: int) -> Self:
        """The model of an operation or a unit, chained over K products if it is shorter, or of an instruction."""
        if isinstance(model, Instruction):
            return cls(model.chain, model.a, model.b)
        operation = model if isinstance(model, Operation) else model.operation
        return cls(Chain(steps_for(operation, K)), operation.a, operation.b)

    @property
    def operation(self) -> Operation:
        """The operation of its steps."""
        return self.chain.operation

    def with_operation(self, operation: Operation) -> Self:
        """The same model with another operation."""
        return replace(self, chain=replace(self.chain, operation=operation))

    def results(self, rows: Rows, engine: str | None = None) -> Codes:
        """d of every row."""
        return run(engine, self.chain, Batch(rows.a, rows.b, rows.c, rows.scale_a, rows.scale_b))

    def rows(self, compared: Sequence[ComparedRow], K: int) -> Rows:
        """Compared rows of K products as arrays. The results of these rows must have defined bits."""
        operation = self.operation
        scale = operation.scale_format

        def scales(pick: Callable[[ComparedRow], tuple[int, ...] | None]) -> Codes | None:
            if scale is None or operation.block_size is None:
                return None
            return np.array([pick(row) for row in compared], bits_dtype(scale)).reshape(-1, -(-K // operation.block_size))

        return Rows(
            a=np.array([row.a for row in compared], bits_dtype(self.a)).reshape(-1, K),
            b=np.array([row.b for row in compared], bits_dtype(self.b)).reshape(-1, K),
            c=np.array([row.c for row in compared], bits_dtype(operation.c)),
            scale_a=scales(lambda row: row.scale_a),
            scale_b=scales(lambda row: row.scale_b),
            got=np.array([row.got for row in compared], bits_dtype(operation.d)),
            expected=np.array([row.expected for row in compared], bits_dtype(operation.d)),
        )


@dataclass(frozen=True)
class Change:
    """One difference that a design may have from golden.

    Attributes:
        words: the difference in one line: "F is 23, not 24".
        results: function from rows to the results of such a design.
    """

    words: str
    results: Callable[[Rows], Codes]


def stepped(model: Model, words: str, **replaced: Callable[..., Any]) -> Change:
    """A change of some steps of golden's reference. Each replacement is called as a method of the operation."""
    other = model.with_operation(model.operation.with_steps(**replaced))
    return Change(words, lambda rows: other.results(rows, "reference"))


def with_operands(model: Model, words: str, **operands: Callable[[Codes], Codes]) -> Change:
    """A change of operands: each function takes the codes of the rows' array of its name."""

    def results(rows: Rows) -> Codes:
        changed = {name: change(getattr(rows, name)) for name, change in operands.items()}
        return model.results(replace(rows, **changed))

    return Change(words, results)


def in_place(k: int | slice, change: Callable[[Codes], Codes]) -> Callable[[Codes], Codes]:
    """A change of element k of each row, or of a slice of its elements."""

    def of_all(codes: Codes) -> Codes:
        changed = codes.copy()
        changed[:, k] = change(codes[:, k])
        return changed

    return of_all


def of_class(
    operand: Format, mask: Callable[[Codes, Format], Any], change: Callable[[Codes, Format], Codes]
) -> Callable[[Codes], Codes]:
    """A change of the codes that a mask chooses."""
    return lambda codes: np.where(mask(codes, operand), change(codes, operand), codes)
