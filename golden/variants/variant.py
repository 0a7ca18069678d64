"""Variants: neighbours of a golden model, each with its sentence; and the rows that models compute, as arrays."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from golden import Format, Instruction, Operation, Unit
from golden.arithmetic.conversion import Conversion, spelled
from golden.chains.chain import Chain, steps_for
from golden.engines.engine import Batch, run
from golden.operations import EFDPA, FMA, OPERATIONS
from golden.operations.fused import FusedOperation

Codes = npt.NDArray[Any]
"""Bit patterns of one operand or result, as an array."""


Of = TypeVar("Of")


@dataclass(frozen=True, eq=False)
class Rows:
    """Dot products and the results of the design for them.

    Attributes:
        a, b: codes [rows, K].
        c: codes [rows].
        scale_a, scale_b: codes [rows, blocks], None if unscaled.
        got: codes [rows] of the design's results.
        expected: codes [rows] of golden's results.
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


Around = Callable[[Rows, Callable[[Rows], Codes]], Codes]
"""A change outside the chain: (rows, results of the model inside for any rows) → results."""


@dataclass(frozen=True)
class Model:
    """The golden model of a run's rows, as it is or changed.

    Attributes:
        chain: the chain of the unit or the instruction. a, b: formats of the operands in the rows.
        around: changes of operands and results, the innermost first.
    """

    chain: Chain
    a: Format
    b: Format
    around: tuple[Around, ...] = ()

    @classmethod
    def of(cls, model: Operation | Unit | Instruction, K: int) -> Self:
        """The model of an operation or a unit, chained over K products if it is shorter, or of an instruction."""
        if isinstance(model, Instruction):
            return cls(model.chain, model.a, model.b)
        operation = model if isinstance(model, Operation) else model.operation
        if isinstance(model, Unit) and model.sums is not None:
            return cls(model.chain_over(K), operation.a, operation.b)
        return cls(Chain(steps_for(operation, K)), operation.a, operation.b)

    @property
    def operation(self) -> Operation:
        """The operation of the chain's steps."""
        return self.chain.operation

    def with_operation(self, operation: Operation) -> Self:
        """A copy of the model with another operation."""
        return replace(self, chain=replace(self.chain, operation=operation))

    def inside(self, change: Around) -> Self:
        """A copy of the model with one more change around it."""
        return replace(self, around=(*self.around, change))

    def results(self, rows: Rows, engine: str | None = None) -> Codes:
        """Compute d [rows] of every row, as codes; by the reference, where no other engine knows the operation."""
        if self.around:
            *around, change = self.around
            return change(rows, partial(replace(self, around=tuple(around)).results, engine=engine))
        if type(self.operation) not in OPERATIONS.values():
            engine = "reference"
        return run(engine, self.chain, Batch(rows.a, rows.b, rows.c, rows.scale_a, rows.scale_b))


@dataclass(frozen=True)
class Variant(Generic[Of]):
    """A model that differs from another in one thing.

    Attributes:
        words: the difference in one line: "F is 23, not 24".
        results: function from the operands, rows or a product of matrices, to the changed model's results.
        key: the key that differs, or the difference in words.
        operation: the operation of a step, if that is what differs.
        model: the changed model, to which further changes can be made; None if there can be none.
    """

    words: str
    results: Callable[[Of], Codes]
    key: str = ""
    operation: Operation | None = None
    model: Model | None = None


def multiply_add(model: Model, rho: Conversion) -> Chain:
    """a · b + c of one format, with the model's rules of flushing and overflow: FMA, or the exact sum of one product and c,
    which has the same results, of a format without subnormals."""
    keys: dict[str, Any] = {key: getattr(model.operation, key) for key in FusedOperation.own_keys}
    keys |= {"a": rho.d, "b": rho.d, "c": rho.d, "rho": spelled(rho)}
    return Chain(FMA(**keys) if rho.d.subnormals else EFDPA(**keys, L=1, zero="ieee"))


def of_model(words: str, model: Model) -> Variant[Rows]:
    """A variant that is another model."""
    return Variant(words, model.results, model=model)


def stepped(model: Model, words: str, **replaced: Callable[..., Any]) -> Variant[Rows]:
    """A variant in which some steps of golden's reference are replaced; each replacement is called as a method of the
    operation."""
    return of_model(words, model.with_operation(model.operation.with_steps(**replaced)))


def with_operands(model: Model, words: str, **operands: Callable[[Codes], Codes]) -> Variant[Rows]:
    """A variant in which operands are changed: each keyword names an array of the rows, its function changes the codes."""

    def around(rows: Rows, results: Callable[[Rows], Codes]) -> Codes:
        return results(replace(rows, **{name: change(getattr(rows, name)) for name, change in operands.items()}))

    return of_model(words, model.inside(around))


def with_results(model: Model, words: str, change: Callable[[Rows, Codes], Codes]) -> Variant[Rows]:
    """A variant in which results are changed: a function (rows, the model's results) → results. The rows' own results
    (`Rows.expected`) must be the model's."""
    other = model.inside(lambda rows, results: change(rows, results(rows)))
    return Variant(words, lambda rows: change(rows, rows.expected), model=other)


def in_place(k: int | slice, change: Callable[[Codes], Codes]) -> Callable[[Codes], Codes]:
    """A change of element k of each row, or of the elements in a slice."""

    def of_all(codes: Codes) -> Codes:
        changed = codes.copy()
        changed[:, k] = change(codes[:, k])
        return changed

    return of_all


def of_class(
    operand: Format, mask: Callable[[Codes, Format], Any], change: Callable[[Codes, Format], Codes]
) -> Callable[[Codes], Codes]:
    """A change of those codes that a mask selects."""
    return lambda codes: np.where(mask(codes, operand), change(codes, operand), codes)


Mask = Any
"""An array of bool."""


def sign_bit(operand: Format) -> int:
    """The sign bit as a mask; 0 for a format without a sign."""
    return 1 << (operand.width - 1) if operand.signed else 0


def field(codes: Codes, operand: Format) -> Codes:
    """Exponent and mantissa, without sign and pad."""
    width = operand.exp_bits + operand.man_bits
    fields: Codes = codes >> operand.pad_bits & codes.dtype.type((1 << width) - 1)
    return fields


def is_zero(codes: Codes, operand: Format) -> Mask:
    """True for codes that are a zero of either sign; a NaN whose field is zero is not."""
    codes, operand = operand.carried_codes(codes), operand.carried_by
    zero = field(codes, operand) == 0
    if operand.nan == operand.sign_bit:
        zero &= codes == 0
    return zero & operand.has_zero


def is_subnormal(codes: Codes, operand: Format) -> Mask:
    """True for codes that are subnormal numbers, of which an element without fields has none."""
    if operand.carried_by is not operand:
        return np.zeros(codes.shape, bool)
    fields = field(codes, operand)
    return (fields != 0) & (fields < 1 << operand.man_bits) & operand.subnormals


def is_infinity(codes: Codes, operand: Format) -> Mask:
    """True for codes that are infinities."""
    codes, operand = operand.carried_codes(codes), operand.carried_by
    if operand.infinity is None:
        return np.zeros(codes.shape, bool)
    return field(codes, operand) == operand.infinity >> operand.pad_bits


def is_nan(codes: Codes, operand: Format) -> Mask:
    """True for codes that are NaN."""
    codes, operand = operand.carried_codes(codes), operand.carried_by
    if operand.specials == "ieee" and operand.infinity is not None:
        return field(codes, operand) > operand.infinity >> operand.pad_bits
    return (codes == operand.nan) if operand.nan is not None else np.zeros(codes.shape, bool)


def zeros_of_sign(codes: Codes, operand: Format) -> Codes:
    """A zero of each code's sign; +0 if the format has no −0, and the same one of all codes where they have no fields."""
    if operand.carried_by is not operand:
        return np.full_like(codes, operand.negative_zero)
    zeros: Codes = codes & codes.dtype.type(operand.negative_zero)
    return zeros


def with_exponent_one(codes: Codes, operand: Format) -> Codes:
    """The code with a stored exponent of 0 replaced by 1: its hidden bit is set, its exponent value stays."""
    ones: Codes = codes | codes.dtype.type(1 << (operand.man_bits + operand.pad_bits))
    return ones
