"""FTTN's porting example, section V (paper 003), as a reconstruction: its matrices are not in the text.

One row: fp16 a = 2^-24 three times, zeros, -1 last; b = 0.5 three times, zeros, 1 last; c = 1; the result times
65504·32768, rounded to fp16. It gives all five of the paper's answers. The GPUs differ in 3·2^-25 beside 1: it is cut
with one extra bit or none, retained with two, rounded up to 2^-23 if a block is rounded to nearest, and
zero from the start if subnormal operands are flushed.
"""

from fractions import Fraction

from golden.formats import FP16
from mmau.probe.device_under_test import DeviceUnderTest
from mmau.probe.papers.asker import Asker
from mmau.probe.papers.operand_values import Sum, Value, power

K = 16
SCALE = 65504 * 32768

ROW: tuple[tuple[Value, Value], ...] = (*((power(-24), Fraction(1, 2)),) * 3, *((0, 0),) * (K - 4), (-1, 1))


def porting(dut: DeviceUnderTest) -> float:
    """The result of the device under test; one with fewer products is called again with its d as c.

    Raises:
        NotHeldError: its operands do not hold these values. DeviceUnderTestError: the device misbehaves.
    """
    asker, d = Asker(dut), Fraction(1)
    for start in range(0, K, dut.shape.K):
        (answer,) = asker.ask(Sum(d, ROW[start : start + dut.shape.K]))
        d = Fraction(answer or 0)
    value = FP16.value(FP16.encode(d * SCALE, "RNE"))
    return float("inf") if value is None else float(value)
