"""A step's records derived from golden.trace, a second source for those of `golden.native.observe`."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from golden import Operation
from golden.arithmetic.format import Format, power_of_two
from golden.arithmetic.formats import Cls
from golden.native.observe import RoundingFlag, SumFlag, TermFlag
from golden.operations.fused import FusedOperation
from golden.trace.records import Exact, Part, Rounding, Scaling, Step, Sum


class StepRecords(NamedTuple):
    """The records of one step: terms (gap, kept, flags), sums (e_max, lead, largest, flags), roundings (lead, flags)."""

    terms: list[tuple[int, int, int]]
    sums: list[tuple[int, int, int, int]]
    roundings: list[tuple[int, int]]


def records_of(step: Step, operation: Operation, shape: tuple[int, int, int]) -> StepRecords:
    """The records of a step.

    Args:
        shape: how many terms, sums and roundings a step leaves; those of a special result are zero.
    """
    if operation.name == "FTZ-AddMul":
        return _of_additions(step, operation)
    if operation.name in ("FTZ-FMA", "FTZ-EO-FMA"):
        return _of_multiply_adds(step, operation)
    parts = zip(step.parts, (*step.parts[1:], None), strict=True)
    sums = [_scaled(part, following) for part, following in parts if isinstance(part, Sum) and not _is_alone(part)]
    roundings = [_rounding(part, operation) for part in step.parts if isinstance(part, Rounding)]
    terms = [term for each in sums for term in each[0]]
    return StepRecords(
        terms + [(0, 0, 0)] * (shape[0] - len(terms)),
        [each[1] for each in sums] + [(0, 0, 0, 0)] * (shape[1] - len(sums)),
        roundings + [(0, 0)] * (shape[2] - len(roundings)),
    )


def _of_additions(step: Step, operation: Operation) -> StepRecords:
    """FTZ-AddMul: a rounding for each product, then a sum and a rounding for each addition; a special part leaves zeros."""
    parts, products, additions = iter(step.parts), [], []
    for n in range(2 * operation.length):
        part = next(parts)
        rounding = next(parts) if isinstance(part, Sum) else None
        record = _rounding(rounding, operation) if isinstance(rounding, Rounding) else (0, 0)
        if n < operation.length:
            products.append(record)
        else:
            of_sum = _sum(part) if isinstance(part, Sum) else ([(0, 0, 0)] * 2, (0, 0, 0, 0))
            additions.append((*of_sum, record))
    return StepRecords(
        [term for terms, _, _ in additions for term in terms],
        [of_sum for _, of_sum, _ in additions],
        products + [rounding for _, _, rounding in additions],
    )


def _of_multiply_adds(step: Step, operation: Operation) -> StepRecords:
    """FTZ-FMA and FTZ-EO-FMA: a sum and a rounding for each operation; a special part leaves zeros."""
    parts, records = iter(step.parts), StepRecords([], [], [])
    for part in parts:
        rounding = next(parts) if isinstance(part, Sum) else None
        terms, of_sum = _sum(part) if isinstance(part, Sum) else ([(0, 0, 0)] * 2, (0, 0, 0, 0))
        records.terms.extend(terms)
        records.sums.append(of_sum)
        records.roundings.append(_rounding(rounding, operation) if isinstance(rounding, Rounding) else (0, 0))
    return records


def _is_alone(part: Sum) -> bool:
    """Whether a sum is GTR-FDPA's sum of a single group, which the native engine does not add."""
    return part.of == "groups" and len(part.terms) == 1


def _scaled(part: Sum, following: Part | None) -> tuple[list[tuple[int, int, int]], tuple[int, int, int, int]]:
    """A sum; that of a group's products times the significands of its scales."""
    scales = following.scales if isinstance(following, Scaling) and not part.exponent else ()
    factor = prod(scale.sig for scale in scales)
    return _sum(part, factor if part.of.startswith("products of group") else 1)


def _sum(part: Sum, factor: int = 1) -> tuple[list[tuple[int, int, int]], tuple[int, int, int, int]]:
    exact = part.e is None
    values = [(-1) ** term.sign * term.sig * factor for term in part.terms]
    nonzero = [term.exp for term, value in zip(part.terms, values, strict=True) if value]
    e_max = part.e if part.e is not None else max(nonzero, default=0)
    terms = []
    for term, value in zip(part.terms, values, strict=True):
        dropped = 0 if exact else term.aligned.exp - (term.exp - term.frac)
        flags = _flags(
            {
                TermFlag.SUMMED: True,
                TermFlag.NONZERO: value != 0,
                TermFlag.NEGATIVE: value < 0,
                TermFlag.CUT: dropped > 0 and value % (1 << dropped) != 0,
                TermFlag.GONE: value != 0 and value.bit_length() <= dropped,
            }
        )
        kept = value.bit_length() - dropped if value else 0
        terms.append((0 if exact and not value else e_max - term.exp, kept, flags))
    leads = [_lead(Exact(term.aligned.sig * factor, term.aligned.exp)) for term in part.terms if term.aligned.sig * factor]
    total = part.total.sig * factor
    flags = _flags(
        {
            SumFlag.MADE: True,
            SumFlag.NONZERO: total != 0,
            SumFlag.NEGATIVE: total < 0,
            SumFlag.OF_SOMETHING: bool(leads),
        }
    )
    return terms, (e_max, _lead(Exact(total, part.total.exp)), max(leads, default=0), flags)


def _rounding(part: Rounding, operation: Operation) -> tuple[int, int]:
    if part.e_norm is None:
        return 0, int(RoundingFlag.MADE)
    rounded = operation.conversion.rounding_format if isinstance(operation, FusedOperation) else operation.d
    ends = part.step == "round" and part.code is not None
    cls = operation.d.decode(part.code).cls if part.code is not None else None
    if part.note.endswith("low 16 bits dropped"):  # the records are those of the rounding before
        cls = Cls.SUBNORMAL if part.note.startswith("subnormal") else Cls.NORMAL
    flags = {
        RoundingFlag.MADE: True,
        RoundingFlag.NONZERO: True,
        RoundingFlag.NEGATIVE: part.exact.sig < 0,
        RoundingFlag.LAST: bool(part.kept & 1),
        RoundingFlag.GUARD: bool(part.guard),
        RoundingFlag.STICKY: bool(part.sticky),
        RoundingFlag.AWAY: part.direction == "away from zero",
        RoundingFlag.CARRY: part.carry,
        RoundingFlag.TINY: ends and part.e_norm < rounded.e_min,
        RoundingFlag.TO_ZERO: cls is Cls.ZERO,
        RoundingFlag.SUBNORMAL: cls is Cls.SUBNORMAL,
        RoundingFlag.OVERFLOW: part.note.startswith("overflow"),
        RoundingFlag.FLUSHED: part.note.endswith("flushed to zero"),
        RoundingFlag.BEYOND: part.note.startswith("overflow") and abs(part.exact.value) >= _first_beyond(rounded),
    }
    return part.e_norm, _flags(flags)


def _first_beyond(to: Format) -> Fraction:
    """One unit in the last place above the largest finite number."""
    largest = to.value(to.max_finite)
    assert largest is not None
    return largest + power_of_two(to.e_max - to.man_bits)


def _lead(number: Exact) -> int:
    return abs(number.sig).bit_length() - 1 + number.exp if number.sig else 0


def _flags(flags: dict[TermFlag, bool] | dict[SumFlag, bool] | dict[RoundingFlag, bool]) -> int:
    return sum(int(flag) for flag, on in flags.items() if on)


def first_difference(expected: Iterable[Sequence[object]], got: Iterable[Sequence[object]]) -> str:
    """The first record that differs, in words; empty where none does."""
    pairs = zip(expected, got, strict=True)
    return next((f"record {n}: {e} expected, got {g}" for n, (e, g) in enumerate(pairs) if tuple(e) != tuple(g)), "")
