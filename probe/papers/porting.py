"""FTTN's porting example, section V (paper 003), as a reconstruction: its matrices are not in the text.

One row: fp16 a = 2^-24 three times, zeros, -1 last; b = 0.5 three times, zeros, 1 last; c = 1; the result times
65504·32768, rounded to fp16. It gives all five of the paper's answers. What tells the GPUs apart is 3·2^-25 beside 1: cut
where there is one extra bit or none, kept where there are two, rounded up to 2^-23 where a block is rounded to nearest, and
never there where subnormal operands are flushed.
"""

from fractions import Fraction

from golden.formats import FP16
from probe.box import Box
from probe.papers.asker import Asker
from probe.papers.values import Sum, Value, power

K = 16
SCALE = 65504 * 32768

ROW: tuple[tuple[Value, Value], ...] = (*((power(-24), Fraction(1, 2)),) * 3, *((0, 0),) * (K - 4), (-1, 1))


def porting(box: Box) -> float:
    """What the box makes of it; a box of fewer products is called again with its d as c.

    Raises:
        NotHeldError: its operands have not these values. BoxError: the box does not do what a box must.
    """
    asker, d = Asker(box), Fraction(1)
    for start in range(0, K, box.shape.K):
        (answer,) = asker.ask(Sum(d, ROW[start : start + box.shape.K]))
        d = Fraction(answer or 0)
    value = FP16.value(FP16.encode(d * SCALE, "RNE"))
    return float("inf") if value is None else float(value)
