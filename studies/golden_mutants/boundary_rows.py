"""The boundary rows: directed operands at every limit of golden's rules, with their recorded results; and the operations
that they are of, together every operation, format, key and branch of golden's reference.

`python -m studies.golden_mutants.choose studies/golden_mutants/boundary_rows.json` writes the file. A result is in it only
if the second implementation, the native engine and the specification of proofs gave it too.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from golden import OPERATIONS, Operation
from rtl.designs.sample_units import FURTHER

T = "T-FDPA"

_CHOSEN: tuple[Mapping[str, Any], ...] = (
    {"operation": T, "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 25, "rho": "RZ-FP32", "e_zero": -133},
    {"operation": T, "a": "tf32", "b": "tf32", "c": "fp32", "L": 2, "F": 24, "rho": "RNE-FP32", "e_zero": -132},
    {"operation": T, "a": "bf16", "b": "e4m3ieee", "c": "bf16", "L": 2, "F": 7, "rho": "RD-BF16", "e_zero": -133,
     "truncation": "RD"},
    {"operation": T, "a": "e4m3", "b": "bf16", "c": "fp32", "L": 2, "F": 13, "rho": "RZ-E8M13", "e_zero": -132},
    {"operation": T, "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 3, "F": 9, "rho": "RNE-FP16", "e_zero": -20},
    {"operation": T, "a": "e2m3", "b": "e4m3fnuz", "c": "bf16", "L": 2, "F": 6, "rho": "RO-BF16", "e_zero": -30,
     "sticky": True},
    {"operation": T, "a": "e5m2fnuz", "b": "e5m2fnuz", "c": "fp16", "L": 2, "F": 5, "rho": "RNA-FP16", "e_zero": -20,
     "sticky": True, "truncation": "RD"},
    {"operation": T, "a": "e5m2", "b": "e5m2", "c": "fp16", "L": 2, "F": 8, "rho": "RU-FP16", "e_zero": -21,
     "truncation": "RO", "overflow": "by-mode"},
    {"operation": T, "a": "fp16", "b": "bf16", "c": "fp32", "L": 2, "F": 24, "rho": "RD-FP16", "e_zero": -133,
     "flush_inputs": True, "flush_results": True, "overflow": "by-mode"},
    {"operation": T, "a": "fp16", "b": "bf16", "c": "fp16", "L": 1, "F": 10, "rho": "RZ-FP16", "e_zero": -21,
     "overflow": "by-mode"},
    {"operation": T, "a": "bf16", "b": "bf16", "c": "fp32", "L": 1, "F": 23, "rho": "RO-FP32", "e_zero": -133,
     "overflow": "by-mode"},
    {"operation": T, "a": "bf16", "b": "bf16", "c": "fp32", "L": 1, "F": 26, "rho": "RNA-FP32", "e_zero": -133,
     "overflow": "saturate", "truncation": "RO"},
    {"operation": "ST-FDPA", "a": "e4m3", "b": "e2m3", "c": "fp32", "L": 4, "F": 25, "rho": "RZ-FP32", "e_zero": -133,
     "K_block": 2},
    {"operation": "ST-FDPA", "a": "e5m2", "b": "e5m2", "c": "fp32", "L": 2, "F": 25, "rho": "RZ-FP32", "e_zero": -133},
    {"operation": "ST-FDPA", "a": "e4m3", "b": "e2m3", "c": "fp32", "L": 2, "F": 25, "rho": "RZ-FP32", "e_zero": -133,
     "K_block": 2, "scale": "ue4m3"},
    {"operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 8, "F": 35, "rho": "RZ-FP32", "e_zero": -139,
     "G": 2, "K_block": 4, "scale": "ue4m3"},
    {"operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "F": 35, "rho": "RZ-FP32", "e_zero": -139,
     "G": 4, "K_block": 4, "scale": "ue8m0"},
    {"operation": "GST-FDPA", "a": "e5m2", "b": "e3m2", "c": "fp32", "L": 4, "F": 20, "rho": "RNE-FP32", "e_zero": -139,
     "G": 2, "K_block": 2, "scale": "ue4m3"},
    {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4},
    {"operation": "E-FDPA", "a": "bf16", "b": "bf16", "c": "bf16", "L": 2, "rho": "RNE-BF16"},
    {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 2, "rho": "RNE-FP16", "flush_inputs": True,
     "flush_results": True, "overflow": "saturate"},
    {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"},
    {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 2, "rho": "RD-FP16", "zero": "ieee"},
    {"operation": "TR-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 24, "F2": 31},
    {"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 24, "F2": 31},
    {"operation": "TR-FDPA", "a": "tf32", "b": "tf32", "c": "fp32", "L": 2, "F": 24, "F2": 31, "rho": "RD-FP32"},
    {"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 12, "F2": 9, "rho": "RZ-BF16",
     "truncation": "RZ", "flush_inputs": True, "flush_results": True},
    {"operation": "TR-FDPA", "a": "bf16", "b": "e5m2", "c": "fp32", "L": 2, "F": 24, "F2": 31, "truncation": "RZ"},
    {"operation": "GTR-FDPA", "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 4, "F": 24, "F2": 31},
    {"operation": "GTR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 1, "F": 12, "F2": 20, "truncation": "RZ"},
    {"operation": "GTR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 3, "F": 24, "F2": 31},
    {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16", "nan": "first"},
    {"operation": "FMA", "a": "bf16", "b": "bf16", "c": "bf16"},
    {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"},
    {"operation": "FMA", "a": "fp64", "b": "fp64", "c": "fp64"},
    {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RD-FP16", "flush_results": True,
     "overflow": "by-mode"},
    {"operation": "FMA", "a": "bf16", "b": "bf16", "c": "fp32", "rho": "RO-FP32", "flush_inputs": True,
     "flush_results": True},
    {"operation": "FMA", "a": "fp64", "b": "fp64", "c": "fp64", "rho": "RU-FP64", "overflow": "by-mode"},
    {"operation": "FTZ-AddMul", "a": "fp16", "b": "fp16", "c": "fp32", "P": 4},
    {"operation": "FTZ-AddMul", "a": "bf16", "b": "bf16", "c": "fp32", "P": 2},
    {"operation": "OC-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": "OC-FDPA", "a": "bf16", "b": "bf16", "c": "bf16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32-RZ-BF16",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": "OC-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": "PS-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4, "F": 26, "h": 2, "rho": "RNE-FP32",
     "e_zero": -126, "P": 2},
    {"operation": "PS-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP16",
     "e_zero": -14, "P": 2},
    {"operation": "PS-FDPA", "a": "bf16", "b": "bf16", "c": "bf16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32-RZ-BF16",
     "e_zero": -126, "P": 2},
    {"operation": "FTZ-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2},
    {"operation": "FTZ-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2},
    {"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4},
    {"operation": "FTZ-EO-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2},
    {"operation": "IDPA", "a": "int8", "b": "uint8", "c": "int32", "L": 4, "overflow": "saturate"},
    {"operation": "IDPA", "a": "uint8", "b": "int8", "c": "int32", "L": 2},
    {"operation": "IDPA", "a": "int4", "b": "uint4", "c": "int32", "L": 4, "overflow": "saturate"},
    {"operation": "IDPA", "a": "b1", "b": "b1", "c": "int32", "L": 4, "combination": "xor"},
    {"operation": "MUL", "a": "fp16", "b": "fp16", "nan": "first"},
    {"operation": "MUL", "a": "bf16", "b": "bf16", "rho": "RD-BF16", "flush_results": True, "overflow": "by-mode"},
    {"operation": "ADD", "a": "fp16", "b": "fp16", "nan": "first"},
    {"operation": "ADD", "a": "bf16", "b": "bf16", "rho": "RD-BF16", "flush_inputs": True, "overflow": "by-mode"},
    {"operation": "CVT", "a": "fp16", "rho": "RNE-E4M3IEEE", "nan": "first"},
    {"operation": "CVT", "a": "bf16", "rho": "RD-FP16", "flush_inputs": True, "flush_results": True, "overflow": "by-mode"},
)  # fmt: skip

UNITS = (
    *_CHOSEN,
    *({"operation": o.name, **o.parameters()} for o in FURTHER if o.name not in {table["operation"] for table in _CHOSEN}),
)
"""The chosen units, and the sample units of each operation of which none was chosen."""


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
