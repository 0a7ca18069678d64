"""Write the boundary rows: directed ones, and rows of the stimulus that show mutations which these do not show.

    python -m studies.golden_mutants.choose studies/golden_mutants/boundary_rows.json

A row is recorded only if golden, the twin, the native engine and the specification agree on its result.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from golden import OPERATIONS
from golden.files import write_atomically
from golden.stimulus import OperandShape, generate
from studies.golden_mutants.boundary_operations import UNITS
from studies.golden_mutants.boundary_rows import BoundaryRow, BoundaryUnit, operation_of, text_of
from studies.golden_mutants.directed import NAMED, Operands, directed_rows
from studies.golden_mutants.judge import Judge, reference_modules
from studies.golden_mutants.witnesses import SPECIFYING, Specified, native_results, operation_or_none, twin_agrees
from studies.symbolic.model_copy import copied, unchanged

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
