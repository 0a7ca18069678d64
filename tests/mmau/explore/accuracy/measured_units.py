"""Units that the tests measure, one at least of each operation and of each format of an operand."""

from fractions import Fraction

from golden.operations import OPERATIONS
from golden.stimulus import Operands, OperandShape
from golden.units.unit import Unit

FUSED = {"F": 24, "rho": "RZ-FP32", "e_zero": -133}

NV = "ue4m3"

KEYS: tuple[dict[str, object], ...] = (
    {"operation": "FMA", "a": "fp64", "b": "fp64", "c": "fp64"},
    {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"},
    {"operation": "FTZ-AddMul", "a": "bf16", "b": "bf16", "c": "fp32", "P": 4},
    {"operation": "E-FDPA", "a": "e4m3ieee", "b": "e4m3ieee", "c": "fp32", "L": 4},
    {"operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 16, **FUSED},
    {"operation": "T-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 5, **FUSED, "rho": "RNE-FP16"},
    {"operation": "T-FDPA", "a": "bf16", "b": "tf32", "c": "bf16", "L": 3, **FUSED, "rho": "RU-BF16"},
    {"operation": "ST-FDPA", "a": "e3m2", "b": "e2m3", "c": "fp32", "L": 32, "K_block": 32, **FUSED},
    {"operation": "ST-FDPA", "a": "e5m2", "b": "e5m2", "c": "fp32", "L": 8, "K_block": 4, **FUSED},
    {"operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 32, **FUSED, "G": 16, "K_block": 16, "scale": NV},
    {"operation": "TR-FDPA", "a": "tf32", "b": "tf32", "c": "fp32", "L": 4, "F": 24, "F2": 31},
    {"operation": "GTR-FDPA", "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 16, "F": 24, "F2": 31},
    {"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 8},
    {"operation": "IDPA", "a": "int8", "b": "uint8", "c": "int32", "L": 4, "overflow": "saturate"},
    {"operation": "MUL", "a": "fp64", "b": "fp64"},
    {"operation": "ADD", "a": "fp16", "b": "fp16"},
)  # fmt: skip


def unit(**keys: object) -> Unit:
    """A unit of these keys."""
    given = dict(keys)
    kind = str(given.pop("operation"))
    return Unit(name=f"{kind} {given['a']} {given['b']}", operation=OPERATIONS[kind](**given))  # type: ignore[arg-type]


UNITS = {made.name: made for made in (unit(**keys) for keys in KEYS)}

FP16 = next(made for made in UNITS.values() if made.name == "T-FDPA fp16 fp16")


def by_fractions(shape: OperandShape, operands: Operands, row: int) -> tuple[Fraction, Fraction] | None:
    """The exact result of a row and its magnitude, the plain way; None where an operand is not finite."""
    c = shape.c.value(int(operands.c[row])) if shape.has_c else Fraction(0)
    if c is None:
        return None
    total, magnitude = c, abs(c)
    if shape.adds:
        p, q = shape.a.value(int(operands.a[row, 0])), shape.b.value(int(operands.b[row, 0]))
        return None if p is None or q is None else (p + q, abs(p) + abs(q))
    for k in range(shape.K):
        p, q = shape.a.value(int(operands.a[row, k])), shape.b.value(int(operands.b[row, k]))
        if p is None or q is None:
            return None
        product = p * q
        if shape.scale is not None and shape.block_size is not None:
            for scales in (operands.scale_a, operands.scale_b):
                assert scales is not None
                scale = shape.scale.value(int(scales[row, k // shape.block_size]))
                if scale is None:
                    return None
                product *= scale
        total, magnitude = total + product, magnitude + abs(product)
    return total, magnitude
