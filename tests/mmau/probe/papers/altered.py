"""Boxes altered in one feature."""

from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.device import Device
from golden.stimulus import Operands
from golden.units.unit_file import operation_from_table
from tests.mmau.probe.devices import changed, dut

BASE = {
    "operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 8, "F": 24, "rho": "RZ-FP32", "e_zero": -132,
}  # fmt: skip
"""The arithmetic of T4 and A100."""


def operation(**keys: Any) -> golden.Operation:
    """The base with other keys; a key that is None is left out."""
    return operation_from_table({key: value for key, value in (BASE | keys).items() if value is not None})


def tensor_core(**keys: Any) -> Device:
    """Two steps of it."""
    return dut(operation(**keys))


def fma(name: str = "fp32") -> Device:
    """A chain of fused multiply-adds over four products."""
    return dut(operation_from_table({"operation": "FMA", "a": name, "b": name, "c": name}), K=4)


def exact(**keys: Any) -> Device:
    """Sums that are exact until they are rounded."""
    return dut(operation(operation="E-FDPA", F=None, e_zero=None, **({"rho": "RNE-FP32"} | keys)))


def pairs() -> Device:
    """Products and sums that are rounded one by one, as CDNA2's."""
    keys = {"L": None, "F": None, "rho": None, "e_zero": None, "P": 4}
    return dut(operation(operation="FTZ-AddMul", **keys), K=8)


def products_cut(honest: Device) -> Device:
    """fp16 products cut to fp16 before they are added."""

    def answer(operands: Operands, d: Any) -> Any:
        cut, one = np.zeros_like(operands.a), np.full_like(operands.b, FP16.encode(1))
        for place in np.ndindex(operands.a.shape):
            x, y = FP16.value(int(operands.a[place])), FP16.value(int(operands.b[place]))
            assert x is not None
            assert y is not None
            cut[place] = FP16.encode(x * y, "RZ")
        return honest.dot(operands._replace(a=cut, b=one))

    return changed(honest, answer)


def overflowing(honest: Device, limit: int = 8) -> Device:
    """Sums of that size have no place for their carry."""
    return changed(honest, lambda operands, d: np.where(d == FP32.encode(limit), np.uint32(0), d))


def reversed_places(honest: Device) -> Device:
    """The second half of the places goes first."""
    half = honest.shape.K // 2

    def answer(operands: Operands, d: Any) -> Any:
        return honest.dot(operands._replace(a=np.roll(operands.a, half, 1), b=np.roll(operands.b, half, 1)))

    return changed(honest, answer)


def products_first(honest: Device) -> Device:
    """The products are summed alone, and c is added at the end."""

    def answer(operands: Operands, d: Any) -> Any:
        total = honest.dot(operands._replace(c=np.zeros_like(operands.c)))
        return (total.view(np.float32) + operands.c.view(np.float32)).view(np.uint32)

    return changed(honest, answer)
