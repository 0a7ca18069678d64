"""A solver as the last word of `mmau distinguish`: whether the Verilog of two units gives one result whatever comes in."""

import sys
from collections.abc import Mapping

import numpy as np

import golden
import rtl
from cosim.mutation.settle import DEPTH, same_results
from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus import Operands
from probe.distinguish import Side, Verdict
from rtl.verilog.emit import to_verilog
from rtl.verilog.equivalence import DIFFERENT, EQUAL, compare
from rtl.verilog.equivalence import Side as Circuit
from rtl.verilog.expressions import NoTerm
from rtl.verilog.netlist import read_netlist

TOP = "unit"


def proved(x: Side, y: Side, seconds: float) -> Verdict:
    """Compare one step of both, built in the same way.

    Args:
        x, y: over the products of one step. seconds: of this process, for the question that decides.

    Returns:
        True: equal. Operands [1, K]: they differ on these. A text: not decided, and why.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        same = {} if same_results(y.chain.operation) == {} else same_results(x.chain.operation)
        found = compare(_circuit(x), _circuit(y), seconds, same=same)
    except (NoTerm, ValueError) as error:  # no datapath has these keys
        return f"no circuit of both can be compared: {error}"
    finally:
        sys.setrecursionlimit(limit)
    if found.verdict == EQUAL:
        return True
    return _row(x, found.inputs) if found.verdict == DIFFERENT else f"the solver did not finish in {seconds:g} s"


def _circuit(side: Side) -> Circuit:
    """The netlist of a step, whose name says nothing: the same text where the same is built."""
    design = rtl.UnitDesign(golden.Unit(name=TOP, operation=side.chain.operation))
    return Circuit(read_netlist(to_verilog(design, TOP)), TOP)


def _row(side: Side, inputs: Mapping[str, int]) -> Operands:
    shape = side.shape

    def codes(port: str, operand: Format, count: int) -> np.ndarray:
        bits, mask = inputs.get(port, 0), (1 << operand.width) - 1
        return np.array([[bits >> operand.width * k & mask for k in range(count)]], bits_dtype(operand))

    scales = (None, None)
    if shape.scale is not None:
        scales = tuple(codes(name, shape.scale, shape.blocks) for name in ("scale_a", "scale_b"))  # type: ignore[assignment]
    a, b = codes("a", shape.a, shape.K), codes("b", shape.b, shape.K)
    return Operands(a, b, codes("c", shape.c, 1)[:, 0], *scales)
