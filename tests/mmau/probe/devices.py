"""Boxes for tests: small units, and devices under test that do not do what a device under test must."""

from collections.abc import Callable
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.device import Device
from golden.stimulus import Operands, OperandShape
from golden.units.unit_file import operation_from_table
from mmau.probe.device_under_test import ModelDevice, dut_of

TINY = operation_from_table(
    {
        "operation": "T-FDPA", "a": "e4m3", "b": "e4m3", "c": "fp32", "L": 2, "F": 9, "rho": "RNE-FP16", "e_zero": -4,
        "sticky": True,
    }
)  # fmt: skip
"""A unit that nobody has."""


def unit(operation: golden.Operation) -> golden.Unit:
    return golden.Unit(name="box", operation=operation)


def dut(operation: golden.Operation = TINY, K: int | None = None) -> Device:
    return dut_of(unit(operation), K)


def changed(honest: Device, dot: Callable[[Operands, Any], Any]) -> Device:
    """A device under test that makes something else of its operands and of the right answer."""

    return ModelDevice(name=honest.name, shape=honest.shape, function=lambda operands: dot(operands, honest.dot(operands)))


def dies_after(honest: Device, vectors: int) -> Device:
    """A device under test that answers so many vectors."""
    left = [vectors]

    def answer(operands: Operands, d: Any) -> Any:
        left[0] -= len(d)
        if left[0] < 0:
            raise ConnectionError("no answer from the device")
        return d

    return changed(honest, answer)


def rarely_wrong(honest: Device) -> Device:
    """A unit that no operation describes: it loses the last bit of d where the last four bits of c are ones."""
    return changed(honest, lambda operands, d: np.where(operands.c & np.uint32(15) == 15, d & ~np.array(1, d.dtype), d))


def summed_in_order(name: str, up: Callable[[int, Any, Any], Any]) -> Device:
    """Four products of fp16, added in order in fp32. `up` says where the second nearest number is the result: given the
    number of a sum, its exact values, and the parts of a unit in the last place by which these differ from the nearest."""

    def dot(rows: Operands) -> Any:
        d = rows.c.view(np.float32)
        with np.errstate(all="ignore"):
            products = rows.a.view(np.float16).astype(np.float64) * rows.b.view(np.float16)
            for k in range(products.shape[1]):
                total = d + products[:, k]
                near = total.astype(np.float32)
                error = total - near
                other = np.nextafter(near, np.where(error > 0, np.inf, -np.inf).astype(np.float32))
                part = np.abs(error) / np.abs(np.where(other == near, 1, other.astype(np.float64) - near))
                d = np.where((error != 0) & np.isfinite(near) & up(k, total, part), other, near)
        return d.view(np.uint32)

    return ModelDevice(name=name, shape=OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4), function=dot)
