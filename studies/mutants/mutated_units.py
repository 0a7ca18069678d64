"""The units whose mutants `make mutants` runs: small ones of each operation, and of each option that has a circuit."""

from typing import Any

from golden import Implementation, Unit
from golden.unit_file import operation_from_table

_TRUNCATED: dict[str, Any] = {"operation": "T-FDPA", "c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133}

_UNITS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "FMA fp32": ({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"}, {}),
    "FMA fp16 RO": (
        {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RO-FP16", "overflow": "by-mode"},
        {"stages": 2, "encoding": "sign-magnitude", "max_exp": "pairwise", "leading_zeros": "anticipate"},
    ),
    "FMA fp16 in rows": (
        {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"},
        {
            "stages": 3, "multiplier": "booth", "adder": "kogge-stone", "normaliser": "narrowing", "rounder": "compound",
            "leading_zeros": "anticipate", "registers": ("multiply", "accumulate_rows", "encode"),
        },
    ),
    "FTZ-AddMul fp16": ({"operation": "FTZ-AddMul", "a": "fp16", "b": "fp16", "c": "fp32", "P": 2}, {}),
    "FTZ-AddMul bf16": (
        {"operation": "FTZ-AddMul", "a": "bf16", "b": "bf16", "c": "fp32", "P": 2},
        {"stages": 3, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
    "E-FDPA fp16": ({"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2}, {}),
    "E-FDPA e4m3 e5m2": (
        {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16"},
        {"stages": 2, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "E-FDPA fp16 long": (
        {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"},
        {"accumulator": "long", "multiplier": "carry-save", "adder": "sklansky", "rounder": "compound"},
    ),
    "E-FDPA e4m3 e5m2 long": (
        {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16", "zero": "ieee"},
        {
            "stages": 3, "accumulator": "long", "encoding": "twos-complement", "multiplier": "booth", "adder": "kogge-stone",
            "normaliser": "narrowing", "registers": ("multiply_rows", "normalise_count", "encode"),
        },
    ),
    "T-FDPA fp16 sticky": (
        {
            **_TRUNCATED, "a": "fp16", "b": "fp16", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -126, "sticky": True,
            "flush_results": True,
        },
        {},
    ),
    "T-FDPA e4m3 e5m2": (
        {**_TRUNCATED, "a": "e4m3", "b": "e5m2", "L": 8, "F": 13, "rho": "RZ-E8M13"},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree", "leading_zeros": "anticipate"},
    ),
    "T-FDPA fp16 to fp16": (
        {**_TRUNCATED, "a": "fp16", "b": "fp16", "c": "fp16", "L": 8, "rho": "RNE-FP16", "e_zero": -21},
        {"encoding": "sign-magnitude", "max_exp": "pairwise", "result_exp": "parallel"},
    ),
    "ST-FDPA e5m2 e4m3": ({**_TRUNCATED, "operation": "ST-FDPA", "a": "e5m2", "b": "e4m3", "L": 8, "K_block": 8}, {}),
    "ST-FDPA e2m3 e3m2": (
        {
            **_TRUNCATED, "operation": "ST-FDPA", "a": "e2m3", "b": "e3m2", "c": "fp16", "L": 4, "K_block": 4, "F": 13,
            "rho": "RNE-FP16", "e_zero": -21,
        },
        {"stages": 3, "encoding": "sign-magnitude", "result_exp": "parallel"},
    ),
    "GST-FDPA e2m1": (
        {
            **_TRUNCATED, "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "L": 16, "F": 35, "G": 8, "K_block": 8,
            "scale": "ue4m3", "e_zero": -139,
        },
        {},
    ),
    "GST-FDPA e4m3 e5m2": (
        {
            **_TRUNCATED, "operation": "GST-FDPA", "a": "e4m3", "b": "e5m2", "L": 4, "G": 2, "K_block": 2, "scale": "ue8m0",
            "rho": "RNE-FP32",
        },
        {"stages": 2, "encoding": "twos-complement", "max_exp": "pairwise"},
    ),
    "TR-FDPA bf16": ({"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4, "F": 24, "F2": 31}, {}),
    "TR-FDPA fp16 RU": (
        {"operation": "TR-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 24, "F2": 31, "rho": "RU-FP32"},
        {"stages": 4, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "GTR-FDPA e4m3fnuz e5m2fnuz": (
        {"operation": "GTR-FDPA", "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 8, "F": 24, "F2": 31},
        {},
    ),
    "GTR-FDPA e5m2fnuz": (
        {"operation": "GTR-FDPA", "a": "e5m2fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 4, "F": 24, "F2": 31},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree", "result_exp": "parallel"},
    ),
    "OC-FDPA bf16": (
        {
            "operation": "OC-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
            "e_zero": -126, "flush_inputs": True, "flush_results": True,
        },
        {},
    ),
    "OC-FDPA fp16 to fp16": (
        {
            "operation": "OC-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP16",
            "e_zero": -14,
        },
        {"stages": 2, "encoding": "sign-magnitude", "max_exp": "pairwise", "result_exp": "parallel"},
    ),
    "PS-FDPA fp16": (
        {
            "operation": "PS-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "P": 2, "F": 26, "h": 2,
            "rho": "RNE-FP32", "e_zero": -126,
        },
        {"encoding": "twos-complement", "leading_zeros": "anticipate"},
    ),
    "PS-FDPA fp16 to fp16": (
        {
            "operation": "PS-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "P": 2, "F": 26, "h": 2,
            "rho": "RNE-FP16", "e_zero": -14,
        },
        {"stages": 3, "reduction": "adder-tree"},
    ),
    "FTZ-FMA bf16": ({"operation": "FTZ-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2}, {}),
    "FTZ-FMA fp16": (
        {"operation": "FTZ-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 1},
        {"stages": 2, "encoding": "sign-magnitude", "leading_zeros": "anticipate"},
    ),
    "FTZ-EO-FMA fp16": ({"operation": "FTZ-EO-FMA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2}, {}),
    "FTZ-EO-FMA bf16": (
        {"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4},
        {"stages": 3, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
    "IDPA uint8 int8": ({"operation": "IDPA", "a": "uint8", "b": "int8", "c": "int32", "L": 4, "overflow": "saturate"}, {}),
    "IDPA int8": (
        {"operation": "IDPA", "a": "int8", "b": "int8", "c": "int32", "L": 4},
        {"stages": 2, "encoding": "twos-complement", "reduction": "adder-tree"},
    ),
}  # fmt: skip


def mutated_units() -> list[Unit]:
    """The units, at least one without registers and one with them for each operation."""
    return [
        Unit(name=name, operation=operation_from_table(table), implementation=Implementation(**built))
        for name, (table, built) in _UNITS.items()
    ]
