"""Faults of one lane or one block."""

from typing import Any

import numpy as np
import pytest

from golden import Operation
from golden.arithmetic.formats import E4M3, FP16, FP32
from golden.operations import STFDPA, TFDPA
from golden.stimulus import Operands
from tests.cosim.diagnosis.designs import Design, diagnosis, golden_results

T = TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132)
ST = STFDPA(a=E4M3, b=E4M3, c=FP32, L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=2)

pytestmark = pytest.mark.attack("designs by hand, in cosim")

INFINITY, SMALLEST_NORMAL = 0x7C00, 0x0400


def of_lane(k: int, infinite: int | None = None, flush: bool = False, cleared: int = 0) -> Design:
    """A design of which one lane takes infinities as another code, flushes subnormals, or has a bit of a stuck at 0."""

    def lane(codes: Any) -> Any:
        magnitude, sign = codes & 0x7FFF, codes & 0x8000
        if infinite is not None:
            magnitude = np.where(magnitude == INFINITY, infinite, magnitude)
        if flush:
            magnitude = np.where(magnitude < SMALLEST_NORMAL, 0, magnitude)
        return sign | magnitude

    def results(operands: Operands, _: Any) -> Any:
        a, b = operands.a.copy(), operands.b.copy()
        a[:, k], b[:, k] = lane(a[:, k]), lane(b[:, k])
        a[:, k] &= ~np.uint16(cleared)
        return golden_results(T, operands._replace(a=a, b=b))

    return results


def copied(operands: Operands, _: Any) -> Any:
    """A design whose lane 2 multiplies by b[1]."""
    b = operands.b.copy()
    b[:, 2] = b[:, 1]
    return golden_results(T, operands._replace(b=b))


def scaled(**of_block: Any) -> Design:
    """A design with other operands in block 1."""

    def results(operands: Operands, _: Any) -> Any:
        changed = {}
        for name, change in of_block.items():
            part = getattr(operands, name).copy()
            at = slice(2, 4) if name in ("a", "b") else 1
            part[:, at] = change(part)
            changed[name] = part
        return golden_results(ST, operands._replace(**changed))

    return results


CASES: dict[str, tuple[Operation, Design, str]] = {
    "infinity as a number": (T, of_lane(3, infinite=0x7BFF), "an infinity in lane 3 counts as the largest finite number"),
    "infinity as zero": (T, of_lane(0, infinite=0), "an infinity in lane 0 counts as 0"),
    "flushed": (T, of_lane(1, flush=True), "subnormals in lane 1 are flushed"),
    "stuck": (T, of_lane(2, cleared=0x40), "bit 6 of a[2] is stuck at 0"),
    "copied": (T, copied, "b[2] is that of lane 1"),
    "block missing": (ST, scaled(a=lambda a: 0, b=lambda b: 0), "block 1 is missing: its products count as 0"),
    "scale ignored": (ST, scaled(scale_b=lambda codes: 127), "scale_b[1] is ignored"),
    "scale of the other": (ST, scaled(scale_a=lambda codes: codes[:, 0]), "scale_a[1] is that of block 0"),
}


def signs(operands: Operands, _: Any) -> Any:
    return golden_results(T, operands._replace(a=operands.a & np.uint16(0x7FFF)))


def all_lanes(operands: Operands, _: Any) -> Any:
    """A design that takes every infinity as the largest number."""
    a, b = (np.where(codes & 0x7FFF == INFINITY, codes - 1, codes) for codes in (operands.a, operands.b))
    return golden_results(T, operands._replace(a=a, b=b))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_lane_or_block_is_named_and_no_other(case: str) -> None:
    operation, design, change = CASES[case]
    found = diagnosis(operation, design, 3000)
    assert found.cause is not None, found.text()
    assert change in [cause.change for cause in found.causes]
    others = {words for _, _, words in CASES.values()} - {change}
    assert not others & {cause.change for cause in found.causes}


@pytest.mark.parametrize(
    ("design", "change"),
    [(signs, "the signs of a are ignored"), (all_lanes, "an infinity of a or b counts as the largest finite number")],
)
def test_fault_of_every_lane_is_no_fault_of_one(design: Design, change: str) -> None:
    found = diagnosis(T, design, 2000)
    assert [cause.change for cause in found.causes] == [change]
    assert found.located == ()
