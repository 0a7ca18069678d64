"""Bytes and bits in another order."""

from typing import Any

import numpy as np
import pytest

from golden import Operation
from golden.arithmetic.formats import E4M3, FP16, FP32
from golden.operations import TFDPA
from golden.stimulus import Operands
from golden.variants.operands import port_reversed
from tests.cosim.diagnosis.designs import Design, diagnosis, golden_results

T = TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132)
F8 = TFDPA(a=E4M3, b=E4M3, c=FP32, L=8, F=25, rho="RZ-FP32", e_zero=-133)

pytestmark = pytest.mark.attack("designs by hand, in cosim")


def swapped(operation: Operation, *names: str) -> Design:
    """A design that takes the bytes of each element the other way."""

    def results(operands: Operands, _: Any) -> Any:
        turned: dict[str, Any] = {name: getattr(operands, name).byteswap() for name in names if name != "d"}
        found = golden_results(operation, operands._replace(**turned))
        return found.byteswap() if "d" in names else found

    return results


def bits_turned(operands: Operands, _: Any) -> Any:
    """A design with c declared as [0:31]."""
    c = [int(f"{code:032b}"[::-1], 2) for code in operands.c.tolist()]
    return golden_results(T, operands._replace(c=np.array(c, np.uint32)))


CASES: dict[str, tuple[Operation, Design, str]] = {
    "a and b": (T, swapped(T, "a", "b"), "the bytes of each element of a and b are in reverse order"),
    "a": (T, swapped(T, "a"), "the bytes of each element of a are in reverse order"),
    "b": (T, swapped(T, "b"), "the bytes of each element of b are in reverse order"),
    "c": (T, swapped(T, "c"), "the bytes of each element of c are in reverse order"),
    "d": (T, swapped(T, "d"), "the bytes of each element of d are in reverse order"),
    "c and d": (T, swapped(T, "c", "d"), "the bytes of each element of c and d are in reverse order"),
    "all": (T, swapped(T, "a", "b", "c", "d"), "the bytes of each element of a, b, c and d are in reverse order"),
    "bits": (T, bits_turned, "the bits of each element of c are in reverse order"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_order_of_bytes_is_named_and_no_other(case: str) -> None:
    operation, design, change = CASES[case]
    found = diagnosis(operation, design, 500)
    assert [cause.change for cause in found.causes] == [change], found.text()


def test_bytes_of_a_whole_port_are_named() -> None:
    def turned(operands: Operands, _: Any) -> Any:
        return golden_results(T, operands._replace(a=operands.a.byteswap()[:, ::-1]))

    found = diagnosis(T, turned, 500)
    assert [cause.change for cause in found.causes] == ["the bytes of the whole port a are in reverse order"]


def test_bytes_of_ports_that_hold_bytes_are_reversed_elements() -> None:
    found = diagnosis(F8, lambda o, _: golden_results(F8, o._replace(a=o.a[:, ::-1])), 500)
    assert found.cause is not None
    assert found.cause.change == "the elements of a, or of b, are reversed"


def test_port_of_elements_that_are_no_bytes() -> None:
    """Two elements of 4 bits a byte: the pairs come the other way, not the elements of each."""
    codes = np.array([[1, 2, 3, 4]], np.uint8)
    assert port_reversed(codes, 4).tolist() == [[3, 4, 1, 2]]
    assert port_reversed(codes[:, :3], 4).tolist() == [[1, 2, 3]]


def test_other_fault_is_no_order_of_bytes() -> None:
    found = diagnosis(T, lambda o, _: golden_results(T, o._replace(a=o.a ^ np.uint16(0x8000))), 500)
    assert found.cause is not None
    assert not any("reverse order" in cause.change for cause in found.causes)
