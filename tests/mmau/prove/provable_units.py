"""Units that are proved in seconds, their Verilog, and rows of operands for them."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from golden import Implementation, Operation, Unit
from golden.arithmetic.formats import Format
from golden.operations import (
    ADD,
    CVT,
    EFDPA,
    FMA,
    FTZEOFMA,
    FTZFMA,
    GSTFDPA,
    GTRFDPA,
    IDPA,
    MUL,
    OCFDPA,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.units.unit import CIRCUIT_CHOICES, LATER_KEYS
from mmau.prove.counterexample import Vector, golden_result, vector
from mmau.prove.datapath.unit_questions import unit_questions
from mmau.prove.solvers.with_bitwuzla import solve
from rtl.verilog.emit import to_verilog

TABLES: tuple[dict[str, Any], ...] = (
    {"operation": TFDPA, "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 3, "F": 9, "rho": "RNE-FP16", "e_zero": -20},
    {"operation": TFDPA, "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 25, "rho": "RZ-FP32", "e_zero": -133},
    {"operation": TFDPA, "a": "e4m3", "b": "e5m2", "c": "fp32", "L": 5, "F": 13, "rho": "RZ-E8M13", "e_zero": -132},
    {"operation": TFDPA, "a": "bf16", "b": "e4m3ieee", "c": "bf16", "L": 2, "F": 7, "rho": "RD-BF16", "e_zero": -133,
     "truncation": "RD"},
    {"operation": TFDPA, "a": "e5m2", "b": "e5m2", "c": "fp16", "L": 2, "F": 8, "rho": "RU-FP16", "e_zero": -21,
     "truncation": "RO"},
    {"operation": STFDPA, "a": "e4m3", "b": "e2m3", "c": "fp32", "L": 4, "F": 25, "rho": "RZ-FP32", "e_zero": -133,
     "K_block": 2},
    {"operation": GSTFDPA, "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 8, "F": 35, "rho": "RZ-FP32", "e_zero": -139, "G": 4,
     "K_block": 4, "scale": "ue4m3"},
    {"operation": GSTFDPA, "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 8, "F": 35, "rho": "RZ-FP32", "e_zero": -139, "G": 4,
     "K_block": 8, "scale": "ue8m0"},
    {"operation": EFDPA, "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RNE-FP16"},
    {"operation": TFDPA, "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 3, "F": 3, "rho": "RD-FP16", "e_zero": -20,
     "sticky": True},
    {"operation": TFDPA, "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 3, "F": 3, "rho": "RNA-FP16", "e_zero": -20,
     "sticky": True, "truncation": "RD"},
    {"operation": TFDPA, "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 2, "F": 9, "rho": "RNE-FP16", "e_zero": -20,
     "flush_inputs": True, "flush_results": True},
    {"operation": EFDPA, "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 2, "rho": "RNE-FP16", "flush_inputs": True,
     "flush_results": True},
    {"operation": TRFDPA, "a": "e2m1", "b": "e5m2", "c": "fp32", "L": 2, "F": 9, "F2": 12},
    {"operation": TRFDPA, "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 12, "F2": 9, "rho": "RZ-BF16",
     "truncation": "RZ", "flush_inputs": True, "flush_results": True},
    {"operation": GTRFDPA, "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 3, "F": 24, "F2": 31},
    {"operation": OCFDPA, "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": OCFDPA, "a": "bf16", "b": "bf16", "c": "bf16", "L": 3, "F": 26, "h": 2, "rho": "RNE-FP32-RZ-BF16",
     "e_zero": -126, "flush_inputs": True, "flush_results": True},
    {"operation": PSFDPA, "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "P": 2, "F": 26, "h": 2, "rho": "RNE-FP32",
     "e_zero": -126},
    {"operation": PSFDPA, "a": "bf16", "b": "e4m3", "c": "fp16", "L": 3, "P": 1, "F": 13, "h": 1, "rho": "RD-FP16",
     "e_zero": -14, "flush_inputs": True, "overflow": "by-mode"},
    {"operation": IDPA, "a": "int8", "b": "uint8", "c": "int32", "L": 4, "overflow": "saturate"},
    {"operation": IDPA, "a": "uint8", "b": "uint8", "c": "int32", "L": 4},
    {"operation": FMA, "a": "fp16", "b": "fp16", "c": "fp16", "nan": "b-c-a"},
    {"operation": FMA, "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RD-FP16", "flush_results": True,
     "overflow": "by-mode"},
    {"operation": FMA, "a": "bf16", "b": "bf16", "c": "fp32", "flush_inputs": True},
    {"operation": FTZAddMul, "a": "fp16", "b": "fp16", "c": "fp32", "P": 2},
    {"operation": FTZFMA, "a": "bf16", "b": "bf16", "c": "fp32", "L": 2},
    {"operation": FTZEOFMA, "a": "fp16", "b": "fp16", "c": "fp32", "L": 2},
    {"operation": MUL, "a": "fp16", "b": "fp16", "nan": "first"},
    {"operation": MUL, "a": "bf16", "b": "bf16", "rho": "RD-BF16", "flush_inputs": True},
    {"operation": ADD, "a": "fp16", "b": "fp16", "nan": "first"},
    {"operation": ADD, "a": "bf16", "b": "bf16", "rho": "RD-BF16", "flush_results": True, "overflow": "by-mode"},
    {"operation": CVT, "a": "fp16", "rho": "RNE-E4M3"},
    {"operation": CVT, "a": "fp32", "rho": "RU-E4M3FNUZ", "flush_results": True, "overflow": "by-mode"},
    {"operation": CVT, "a": "bf16", "rho": "RD-FP16", "nan": "first", "flush_inputs": True},
)  # fmt: skip
"""Operations with their keys, the smallest first."""

OPERATIONS: tuple[Operation, ...] = tuple(
    table["operation"](**{key: value for key, value in table.items() if key != "operation"}) for table in TABLES
)

SMALL = OPERATIONS[0]

SMALL_TR = next(operation for operation in OPERATIONS if operation.name == "TR-FDPA")

SMALL_IDPA = next(operation for operation in OPERATIONS if operation.name == "IDPA")

SMALL_FMA = next(operation for operation in OPERATIONS if operation.name == "FMA")

STICKY = tuple(operation for operation in OPERATIONS if getattr(operation, "sticky", False))


def unit_of(operation: Operation, encoding: str = "ones-complement", **keys: str) -> Unit:
    """The combinational unit of an operation; further keys say how it is built."""
    implementation = Implementation(encoding=encoding, **keys)  # type: ignore[arg-type]  # `stages` is not among them
    return Unit(name="unit", operation=operation, implementation=implementation)


@cache
def verilog_of(operation: Operation, encoding: str = "ones-complement", **keys: str) -> str:
    """The Verilog of a unit."""
    return to_verilog(unit_of(operation, encoding, **keys), "unit")


def not_proved(unit: Unit, verilog: str | None = None, seconds: float = 30.0) -> list[str]:
    """The obligations of a unit's Verilog (default: the generated one) that are not proved."""
    implementation = unit.implementation
    keys = {key: getattr(implementation, key) for key in (*CIRCUIT_CHOICES, *LATER_KEYS)}
    text = verilog_of(unit.operation, implementation.encoding, **keys) if verilog is None else verilog
    return [each.name for each in unit_questions(unit, text) if solve(each.text, seconds).verdict != "never"]


def check_refuted(unit: Unit, verilog: str, seconds: float = 30.0) -> Vector:
    """Operands that show golden to give another result than the Verilog, of an obligation that is not proved."""
    names = not_proved(unit, verilog)
    found = next(filter(None, (vector(unit, verilog, name, seconds) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.expected == golden_result(unit, found.inputs) != found.got
    return found


def without_fact(proof: type, name: str) -> Callable[..., Any]:
    """The method `_fact` of a proof's class, which establishes nothing under one name."""
    sound: Callable[..., Any] = proof._fact  # type: ignore[attr-defined]

    def fact(self: Any, called: str, *rest: Any) -> Any:
        made = sound(self, called, *rest)
        return [] if called == name else made

    return fact


def random_code(random: Random, fmt: Format) -> int:
    """Any code, or one whose exponent is near 0, or one at an end of the format."""
    kind = random.random()
    if kind < 0.3:
        return random.getrandbits(fmt.width)
    if kind < 0.4:
        ends = [0, 1 << fmt.pad_bits, fmt.max_finite, fmt.negative_zero, fmt.infinity or 0, fmt.nan or 0]
        return random.choice(ends)
    exponent = fmt.bias + random.randint(-4, 4)
    magnitude = (exponent << fmt.man_bits | random.getrandbits(fmt.man_bits)) & (fmt.codes // 2 - 1 >> fmt.pad_bits)
    return (magnitude << fmt.pad_bits | random.getrandbits(1) * fmt.negative_zero) & (fmt.codes - 1)


def random_inputs(random: Random, operation: Operation) -> dict[str, int]:
    """Packed operands of one step."""

    def packed(fmt: Format, count: int) -> int:
        return sum(random_code(random, fmt) << (k * fmt.width) for k in range(count))

    inputs = {
        "a": packed(operation.a, operation.length), "b": packed(operation.b, operation.length), "c": packed(operation.c, 1)
    }  # fmt: skip
    if operation.scale_format is not None:
        inputs |= {port: packed(operation.scale_format, operation.scales_per_step) for port in ("scale_a", "scale_b")}
    return inputs
