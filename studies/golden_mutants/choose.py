"""Write the boundary rows: directed ones, and rows of the stimulus that show mutations which these do not show.

    python -m studies.golden_mutants.choose studies/golden_mutants/boundary_rows.json

A row is recorded only if golden, the twin, the native engine and the specification agree on its result.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from golden import OPERATIONS, Operation
from golden.arithmetic.formats import BF16, E4M3, E5M2, E5M2FNUZ, FP32, Format, IntegerFormat
from golden.files import write_atomically
from golden.stimulus import OperandShape, generate
from studies.golden_mutants.boundary_rows import UNITS, BoundaryRow, BoundaryUnit, operation_of, text_of
from studies.golden_mutants.judge import Judge, reference_modules
from studies.golden_mutants.witnesses import SPECIFYING, Specified, native_results, operation_or_none, twin_agrees
from studies.symbolic.model_copy import copied, unchanged

Operands = tuple[Sequence[int], Sequence[int], int, Sequence[int], Sequence[int]]


def directed_rows(operation: Operation, is_first: bool) -> Iterator[tuple[str, Operands]]:
    """Rows of one operation, each with the rule whose limit it is.

    Args:
        is_first: whether it is the first with its name, which gets all combinations of special values.
    """
    yield from _codes(operation)
    if is_first:
        yield from _specials(operation)
    yield from _scales(operation)
    for rule, keys, operands in NAMED:
        if operation.name == keys["name"] and len(operands[0]) == operation.length and _has(operation, keys):
            yield rule, operands


def ends(fmt: Format) -> list[int]:
    """The codes at the limits of a format: ±0, the ends of its subnormals and of its normal numbers, what follows them."""
    if isinstance(fmt, IntegerFormat):
        limits = (0, 1, 2, fmt.max_finite, (fmt.max_finite + 1) % fmt.codes, fmt.codes - 1)
        return [code for code in limits if code < fmt.codes]
    low = 1 << fmt.pad_bits
    hidden = 1 << fmt.man_bits
    positive = [0, 1, hidden - 1, hidden, hidden + 1, 2 * hidden - 1, fmt.bias * hidden, (fmt.max_finite >> fmt.pad_bits)]
    positive += [positive[-1] - hidden, positive[-1] + 1, positive[-1] + 2]
    top = fmt.codes - 1
    codes = [code * low for code in positive] + [1, fmt.codes // 2 - 1]
    signed = codes if not fmt.subnormals else [*codes, *(code | fmt.codes // 2 for code in codes)]
    return sorted({code for code in (*signed, top) if 0 <= code < fmt.codes})


def one(fmt: Format) -> int:
    """The code of 1 in a format."""
    return 1 if isinstance(fmt, IntegerFormat) else fmt.bias << fmt.man_bits + fmt.pad_bits


def _row(
    operation: Operation, pairs: Sequence[tuple[int, int]], c: int = 0, scales: tuple[int | None, int | None] = (None, None)
) -> Operands:
    """The first products of a step, zeros after them; scales of 1 unless given, for the first block."""
    a, b = ([pair[side] for pair in pairs] + [0] * (operation.length - len(pairs)) for side in (0, 1))
    b = b if "b" in operation.operands else [0] * len(b)
    fmt, count = operation.scale_format, operation.scales_per_step
    unit = [] if fmt is None else [one(fmt)] * count
    alpha, beta = (unit if scale is None else [scale, *unit[1:]] for scale in scales)
    return a, b, c, alpha, beta


def _codes(operation: Operation) -> Iterator[tuple[str, Operands]]:
    one_a, one_b = one(operation.a), one(operation.b)
    for code in ends(operation.a):
        yield f"an end of {operation.a} in a", _row(operation, [(code, one_b)])
    for code in ends(operation.b) if "b" in operation.operands else []:
        yield f"an end of {operation.b} in b", _row(operation, [(one_a, code)])
    for code in ends(operation.c) if "c" in operation.operands else []:
        yield f"an end of {operation.c} in c", _row(operation, [], code)
        yield f"an end of {operation.c} in c", _row(operation, [(one_a, one_b)], code)


def _specials(operation: Operation) -> Iterator[tuple[str, Operands]]:
    """Every combination of zeros, numbers, infinities and NaNs of both signs in one product and c, and in two products."""
    a, b, c = (kinds(fmt) for fmt in (operation.a, operation.b, operation.c))
    if "c" in operation.operands:
        b = [code for code in b if code < operation.b.codes // 2]
    else:
        c = [0]
    for x, y, z in product(a, b, c):
        yield "special values and signs of zeros", _row(operation, [(x, y)], z)
    if operation.length > 1:
        one_b = one(operation.b)
        for x, y in product(a, a):
            yield "special values and signs of zeros of two products", _row(operation, [(x, one_b), (y, one_b)])


def kinds(fmt: Format) -> list[int]:
    """±0, ±1, ±∞ and NaNs of both signs, as far as the format has them."""
    if isinstance(fmt, IntegerFormat):
        return [0, 1, fmt.codes - 1]
    found = [0, one(fmt)]
    if fmt.infinity is not None:
        found += [fmt.infinity, fmt.infinity | 1 << fmt.pad_bits]
    elif fmt.nan is not None:
        found.append(fmt.nan)
    return sorted({*found, *(code | fmt.codes // 2 for code in found)})


def _scales(operation: Operation) -> Iterator[tuple[str, Operands]]:
    if operation.scale_format is None:
        return
    pair = (one(operation.a), one(operation.b))
    numbers = [pair] * operation.length
    for code in ends(operation.scale_format):
        for scales in ((code, None), (None, code)):
            for pairs in ([pair], numbers, []):
                yield f"an end of {operation.scale_format} as a scale", _row(operation, pairs, 0, scales)
                yield f"an end of {operation.scale_format} as a scale", _row(operation, pairs, one(operation.c), scales)
    if operation.a.infinity is not None:
        for code in (0, operation.scale_format.codes // 2 - 1):
            yield "infinity under a scale", _row(operation, [(operation.a.infinity, pair[1])], 0, (code, None))


def bf16(value: int, exp: int, negative: bool = False) -> int:
    """The code of value · 2^exp, value from 128 to 255 with 7 fraction bits."""
    return negative << 15 | exp + 127 << 7 | value - 128


def _of(*pairs: tuple[int, int], c: int = 0, alpha: Sequence[int] = (), beta: Sequence[int] = ()) -> Operands:
    return [x for x, _ in pairs], [y for _, y in pairs], c, alpha, beta


def _fp32(exp: int, negative: bool = False) -> int:
    """The fp32 code of 2^exp, or of −2^exp."""
    return negative << 31 | (exp + 127 << 23 if exp >= -126 else 1 << exp + 149)


NOTHING = (0, 0)

TR, GTR = {"name": "TR-FDPA", "a": BF16, "b": BF16}, {"name": "GTR-FDPA", "a": BF16, "F": 24}

OC, PS = {"name": "OC-FDPA", "a": BF16}, {"name": "PS-FDPA", "a": BF16}

GST = {"name": "GST-FDPA", "a": E5M2, "L": 4}

NUMBER = (0x3C, 0x0C)
"""The product 1 · 1: the codes of 1 in e5m2 and in e3m2."""

ONE, LARGE = 0x38, 0x70
"""The codes of 1 and of 2^7 in ue4m3."""

NAMED: tuple[tuple[str, Mapping[str, Any], Operands], ...] = (
    ("a product of exactly 2^128 is an infinity", TR, _of((bf16(128, 64), bf16(128, 64)), NOTHING)),
    ("a product of exactly −2^128 is an infinity", TR, _of((bf16(128, 64, True), bf16(128, 64)), NOTHING)),
    ("a product of 2.25 · 2^127 is an infinity", TR, _of((bf16(192, 64), bf16(192, 63)), NOTHING)),
    ("a product just below 2^128 is a number", TR, _of((bf16(255, 63), bf16(128, 64)), NOTHING, c=_fp32(127, True))),
    ("a product of 1.875 · 2^127 is a number", TR, _of((bf16(160, 64), bf16(192, 63)), NOTHING, c=_fp32(127, True))),
    ("+2^128 and −2^128 are NaN", TR, _of((bf16(128, 64), bf16(128, 64)), (bf16(128, 64, True), bf16(128, 64)))),
    ("a negative sum that RZ truncates to nothing is −0", TR | {"truncation": "RZ", "F2": 9},
     _of((bf16(128, -68, True), bf16(128, -68)), NOTHING)),
    ("a positive sum that RZ truncates to nothing is +0", TR | {"truncation": "RZ", "F2": 9},
     _of((bf16(128, -68), bf16(128, -68)), NOTHING)),
    ("T truncated to nothing at E is an exact zero", TR | {"truncation": "RZ", "F2": 9},
     _of((bf16(128, -69, True), bf16(128, -68)), NOTHING)),
    ("c exactly F + 1 below E counts", GTR | {"L": 3},
     _of((bf16(128, 0), bf16(128, 0)), NOTHING, NOTHING, c=_fp32(-25, True))),
    ("c F + 2 below E is dropped", GTR | {"L": 3}, _of((bf16(128, 0), bf16(128, 0)), NOTHING, NOTHING, c=_fp32(-26, True))),
    ("a sum of one negative unit that RZ truncates to nothing is −0", {"name": "GTR-FDPA", "truncation": "RZ", "F2": 20},
     _of((bf16(128, -73, True), bf16(128, -74)))),
    ("a sum far beyond the range", {"name": "T-FDPA", "a": E4M3}, _of((0x7E, 0x7F7F), NOTHING)),
    ("a tie of one unit under RNA", {"name": "T-FDPA", "a": E5M2FNUZ, "F": 5}, _of((0x10, 0x0C), NOTHING)),
    ("a negative result that rounds to zero is +0", {"name": "T-FDPA", "F": 10, "L": 1}, _of((0x8400, bf16(128, -14)))),
    ("an infinity of one block under the zero scale of another", GST, _of((0x3C, 0x0C), (0x7C, 0x0C), NOTHING, NOTHING,
     alpha=[ONE, 0], beta=[ONE, ONE])),
    ("an infinity of one block under its zero scale", GST, _of((0x3C, 0x0C), (0x7C, 0x0C), NOTHING, NOTHING,
     alpha=[0, ONE], beta=[ONE, ONE])),
    ("a zero scale of A beside a large one of B has exponent e_zero", GST, _of(NUMBER, NUMBER, NOTHING, NOTHING,
     c=_fp32(-25), alpha=[0, ONE], beta=[LARGE, ONE])),
    ("a zero scale of B beside a large one of A has exponent e_zero", GST, _of(NUMBER, NUMBER, NOTHING, NOTHING,
     c=_fp32(-25), alpha=[LARGE, ONE], beta=[0, ONE])),
    ("a subnormal c is +0", {"name": "FTZ-AddMul", "a": BF16}, _of((bf16(128, -63), bf16(128, -63)), NOTHING, c=1)),
    ("an infinite c always counts", GTR | {"L": 3}, _of((bf16(128, 60), bf16(128, 60)), NOTHING, NOTHING, c=0xFF80_0000)),
    ("a subnormal factor of bf16 is a zero", OC, _of((1, bf16(128, 100)), NOTHING)),
    ("a subnormal factor of bf16 times infinity is NaN", OC, _of((1, 0x7F80), NOTHING)),
    ("a subnormal c of fp32 is a zero", OC | {"c": FP32}, _of((bf16(128, -63), bf16(128, -63)), NOTHING, c=_fp32(-127))),
    ("a subnormal factor of RDNA4 counts", PS, _of((1, bf16(128, 100)), NOTHING)),
    ("a negative fp32 sum without a bit in its upper half is −0", PS | {"c": BF16},
     _of((bf16(128, -70, True), bf16(128, -70)), NOTHING)),
)  # fmt: skip
"""Rules of numerics.md, sections 3, 5 and 12, with the keys that an operation must have; formats are bf16 and fp32."""


def _has(operation: Operation, keys: Mapping[str, Any]) -> bool:
    return all(getattr(operation, key) == value for key, value in keys.items())


POOL = 150
"""Rows of the stimulus for each unit, from which the further rows are chosen."""


def recorded(keys: Mapping[str, Any], rows: Iterator[tuple[str, Operands]]) -> BoundaryUnit:
    """Rows with golden's results, each once."""
    operation, seen = operation_of(OPERATIONS, keys), dict[Any, BoundaryRow]()
    for rule, (first, second, c, *scales) in rows:
        a, b, alpha, beta = (tuple(part) for part in (first, second, *scales))
        seen.setdefault(
            (a, b, c, alpha, beta), BoundaryRow(rule, a, b, c, alpha, beta, operation.step(a, b, c, alpha, beta))
        )
    return BoundaryUnit(keys, tuple(seen.values()))


def candidates(keys: Mapping[str, Any]) -> BoundaryUnit:
    """The directed rows of a unit, then rows of the stimulus, named after their class or corner."""
    operation = operation_of(OPERATIONS, keys)

    def rows() -> Iterator[tuple[str, Operands]]:
        first = next(other for other in UNITS if other["operation"] == operation.name)
        yield from directed_rows(operation, keys is first)
        stimulus = generate(OperandShape.of_operation(operation), POOL, seed=1)
        columns = [[()] * POOL if column is None else column.tolist() for column in stimulus.operands]
        for label, *operands in zip(stimulus.label.tolist(), *columns, strict=True):
            a, b, c, alpha, beta = operands
            yield stimulus.names[label], (a, b, c, alpha, beta)

    return recorded(keys, rows())


def check(unit: BoundaryUnit) -> None:
    """Raise ValueError unless all implementations agree."""
    modules = copied(unchanged, *SPECIFYING)
    native, specified = native_results(unit), Specified(modules, unit, operation_or_none(modules, unit))
    for row, d in zip(unit.rows, native, strict=True):
        if not (d == row.d == specified.d(row) and twin_agrees(unit, row, row.d)):
            raise ValueError(f"{unit.name}: {row} is not what all implementations give")


def chosen(units: Sequence[BoundaryUnit]) -> list[BoundaryUnit]:
    """The first row of every unit, those that numerics.md names, and the first that show each mutation to each witness."""
    judge, kept = Judge(units), {(number, place) for number, unit in enumerate(units) for place in (0, *named_rows(unit))}
    for module in reference_modules():
        for mutation in judge.judged(module):
            verdict = judge.verdict(mutation)
            kept.update(verdict.rows)
            if not verdict.is_complete:
                print(f"not noticed by {', '.join(verdict.missing)}: {mutation.name}", flush=True)
        print(f"{module}: {len(kept)} rows", flush=True)
    return [
        unit._replace(rows=tuple(row for place, row in enumerate(unit.rows) if (number, place) in kept))
        for number, unit in enumerate(units)
    ]


def named_rows(unit: BoundaryUnit) -> list[int]:
    """The numbers of the rows that numerics.md names."""
    names = {rule for rule, _, _ in NAMED}
    return [place for place, row in enumerate(unit.rows) if row.rule in names]


def main() -> None:
    """Write the file that the command line names."""
    units = chosen([*map(candidates, UNITS)])
    for unit in units:
        check(unit)
    write_atomically(Path(sys.argv[1]), text_of(units).encode())


if __name__ == "__main__":
    main()
