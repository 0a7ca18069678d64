"""The boundary rows: directed operands at every limit of golden's rules, with their recorded results.

`python -m studies.golden_mutants.choose studies/golden_mutants/boundary_rows.json` writes the file. A result is in it only
if the second implementation, the native engine and the specification of proofs gave it too.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from golden import OPERATIONS, Operation

FILE = Path(__file__).with_name("boundary_rows.json")


class BoundaryRow(NamedTuple):
    """One step. rule: what it is a limit of. a, b, c, scale_a, scale_b: codes. d: the recorded result, a code."""

    rule: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    scale_a: tuple[int, ...]
    scale_b: tuple[int, ...]
    d: int

    @property
    def operands(self) -> tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...], tuple[int, ...]]:
        """The arguments of a step."""
        return self[1:6]


class BoundaryUnit(NamedTuple):
    """An operation and its rows. keys: those of the operation that differ from their defaults, `operation` among them."""

    keys: Mapping[str, Any]
    rows: tuple[BoundaryRow, ...]

    @property
    def operation(self) -> Operation:
        """The operation of golden that computes the rows."""
        operation: Operation = operation_of(OPERATIONS, self.keys)
        return operation

    @property
    def name(self) -> str:
        """The name of the unit in reports."""
        return " ".join(f"{key}={value}" if key != "operation" else value for key, value in self.keys.items())


def operation_of(operations: Mapping[str, Any], keys: Mapping[str, Any]) -> Any:
    """The operation with these keys, from golden or from a copy of it."""
    return operations[keys["operation"]](**{key: value for key, value in keys.items() if key != "operation"})


@cache
def boundary_units() -> tuple[BoundaryUnit, ...]:
    """The units with their recorded rows."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(BoundaryUnit(unit["keys"], tuple(map(_row, unit["rows"]))) for unit in content)


def _row(row: Sequence[str]) -> BoundaryRow:
    rule, a, b, c, alpha, beta, d = row
    return BoundaryRow(rule, _codes(a), _codes(b), int(c, 16), _codes(alpha), _codes(beta), int(d, 16))


def _codes(text: str) -> tuple[int, ...]:
    return tuple(int(code, 16) for code in text.split())


def text_of(units: Sequence[BoundaryUnit]) -> str:
    """The file: a line for each row."""
    parts = []
    for unit in units:
        rows = ",\n".join(f"  {json.dumps(_written(row), ensure_ascii=False)}" for row in unit.rows)
        parts.append(f'{{"keys": {json.dumps(unit.keys)}, "rows": [\n{rows}]}}')
    return "[\n" + ",\n".join(parts) + "\n]\n"


def _written(row: BoundaryRow) -> list[str]:
    a, b, c, alpha, beta = row.operands
    vectors = [" ".join(f"{code:x}" for code in codes) for codes in (a, b, (c,), alpha, beta)]
    return [row.rule, *vectors, f"{row.d:x}"]
