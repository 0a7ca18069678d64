"""Changes of the sum and of the steps after it: accumulate, normalise, round, and later additions."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from cosim.diagnosis.changed_model import Change, Codes, Model, Rows, stepped
from golden import Operation, steps
from golden.chain import Chain
from golden.engines import Batch, run
from golden.operations import EFDPA, FMA, TFDPA, FTZAddMul
from golden.operations.base import EXPONENT_LIMIT
from golden.operations.fused import FusedOperation
from golden.operations.ieee import add
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import RoundedFDPA
from golden.rounding import shift_and_round
from golden.specials import product_special, quiet_nan
from golden.steps import Term

GUARDS = 8
"""Bits above F of an accumulator that is too narrow."""


def accumulators(model: Model, operation: TruncatedFDPA) -> Iterator[Change]:
    for bits in range(operation.F + 1, operation.F + 1 + GUARDS):

        def wrapped(self: Operation, aligned: Any, bits: int = bits) -> int:
            half = 1 << bits
            return (steps.accumulate(aligned) + half) % (2 * half) - half

        yield stepped(
            model,
            f"the accumulator has {bits - operation.F} bits above its fraction and a sign, and wraps",
            accumulate=wrapped,
        )

    def keeps_its_sign(rows: Rows) -> Codes:
        seen: list[int] = []

        def noted(self: FusedOperation, total: int, lsb: int) -> int:
            seen.append(FusedOperation.converted(self, total, lsb))
            return seen[-1]

        chain = model.with_operation(operation.with_steps(converted=noted))
        found = []
        for row in range(len(rows)):
            seen.clear()
            d = int(chain.results(rows.of(slice(row, row + 1)), "reference")[0])
            found.append(seen[-1] if d == 0 and seen else d)
        return np.array(found, rows.expected.dtype)

    yield Change("a negative result that rounds to zero is -0", keeps_its_sign)


def rounding(model: Model, operation: FusedOperation) -> Iterator[Change]:
    rounded = operation.conversion.rounding_format

    def without_sticky(self: FusedOperation, total: int, lsb: int) -> int:
        guard = rounded.last_bit(total, lsb) - 1
        if total and guard > lsb:
            return FusedOperation.converted(self, shift_and_round(total, guard - lsb, "RZ"), guard)
        return FusedOperation.converted(self, total, lsb)

    def without_carry(self: FusedOperation, total: int, lsb: int) -> int:
        code = FusedOperation.converted(self, total, lsb)
        last = rounded.last_bit(total, lsb)
        carried = total and abs(shift_and_round(total, last - lsb, self.conversion.mode)) >> (rounded.man_bits + 1)
        return code - (1 << self.d.man_bits) if carried else code

    yield stepped(model, "rounding does not see what lies below its guard bit", converted=without_sticky)
    yield stepped(model, "a carry out of rounding is lost", converted=without_carry)


def addend_last(model: Model) -> Iterator[Change]:
    """The products are summed and rounded without c; c is added in a second rounding."""
    operation, d = model.operation, model.operation.d
    conversion = operation.structure.rho
    if conversion is None or operation.c is not d or model.chain.fp16_order is not None:
        return
    keys: dict[str, Any] = {key: getattr(operation, key) for key in FusedOperation.own_keys}
    rho = conversion.name if conversion.rounding_format is d else None
    addition = Chain(FMA(a=d, b=d, c=d, rho=rho, **keys))  # times one

    def results(rows: Rows) -> Codes:
        sums = model.results(replace(rows, c=rows.c * 0))[:, None]
        return run(None, addition, Batch(sums, np.full_like(sums, d.encode(1)), rows.c))

    yield Change("c is added after the sum of the products has been rounded", results)


def truncated_terms(model: Model, operation: EFDPA) -> Iterator[Change]:
    common = {f.name for f in fields(TFDPA)}
    keys: dict[str, Any] = {f.name: getattr(operation, f.name) for f in fields(operation) if f.name in common}
    for F in range(operation.d.man_bits, operation.d.man_bits + 16):
        other = replace(model, chain=Chain(TFDPA(**keys, F=F, e_zero=-EXPONENT_LIMIT)))
        yield Change(f"terms are cut to {F} fraction bits at the largest exponent", other.results)


def two_steps(model: Model, operation: RoundedFDPA) -> Iterator[Change]:
    def two_terms(self: Operation, terms: Sequence[Term], place: int) -> int:
        return terms[place].exp if len(terms) == 2 else steps.max_exp(terms)

    yield stepped(model, "e_out leaves out c", max_exp=lambda self, terms: two_terms(self, terms, 0))
    yield stepped(model, "e_out leaves out T", max_exp=lambda self, terms: two_terms(self, terms, 1))
    yield stepped(model, "the sum with c is not cut to F2 bits", truncate=lambda self, total, lsb: (total, lsb))
    yield stepped(model, "c counts however small it is", drops_c=lambda self, c_exp, e_out: False)
    yield stepped(
        model, "c counts as 0 where it is far below e_out", drops_c=lambda self, c_exp, e_out: c_exp < e_out - self.F - 1
    )
    yield stepped(
        model, "a product of 2^128 or more is not an infinity", product_special=lambda self, x, y: product_special(x, y)
    )
    rounded_down = lambda self, term, e, F, mode: steps.align(term, e, F, "RD")  # noqa: E731
    yield stepped(model, "products are cut toward minus infinity, not toward zero", align=rounded_down)
    yield stepped(
        model,
        "T and c are cut toward zero at e_out, their sum toward minus infinity",
        align=lambda self, term, e, F, mode: steps.align(term, e, F, "RZ"),
    )


def frames(model: Model) -> Iterator[Change]:
    negated = lambda self, aligned, opposite: -abs(aligned) if opposite else abs(aligned)  # noqa: E731
    yield stepped(model, "products of the other sign than c are negated, not inverted", in_frame=negated)
    yield stepped(
        model,
        "zero products of the other sign than c count as 0, not as −1",
        in_frame=lambda self, aligned, opposite: steps.in_frame(aligned, opposite and aligned != 0),
    )
    yield stepped(
        model,
        "negative terms are inverted whatever the sign of c",
        in_frame=lambda self, aligned, opposite: steps.in_frame(aligned, aligned < 0),
    )


def flushing(model: Model) -> Iterator[Change]:
    def unflushed_add(self: FTZAddMul, x: int, y: int) -> int:
        return add(x, y, self.d, quiet_nan(self.d))

    yield stepped(model, "sums are not flushed", flushed_add=unflushed_add)
