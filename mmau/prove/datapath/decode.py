"""Proof of step decode: the claims about an operand, in addition to its equality with `specification.steps.decode`."""

from bitwuzla import Term

from mmau.prove.datapath.ranges import implied, in_range
from mmau.prove.specification.step_results import Operand

PORT = "x__{}"
"""The component's ports for the parts of an operand."""


def claims(x: Operand) -> list[Term]:
    """The formulas that later steps rely on: the numbers lie within their bounds if x is finite, x is zero where its
    significand is, and a number above the least exponent has its hidden bit."""
    ranges = in_range(x)
    zero = x.sig.terms.equal(x.zero.bits, (x.sig.is_zero() & x.finite).bits)
    top = x.sig.bit(x.sig.high.bit_length() - 1).holds
    hidden = [implied(x.exp > x.exp.low, top)]  # of NaN too
    if x.flushed:
        hidden.append(implied(x.finite & ~x.zero, top))
    return [*(ranges if x.bounded else [implied(x.finite, each) for each in ranges]), zero, *hidden]
