"""The datapaths that a design consists of: what each gets, and which register holds its result."""

from formal.obligations.units import NotProvable
from formal.pipelines.netlist import FlatNetlist
from formal.pipelines.tokens import Tokens
from formal.pipelines.values import Element
from golden.chain import ConvertedChain
from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign
from rtl.verilog.terms import Bits, Terms

WHOLE = ""
"""The path of a datapath that is the design."""


def elements_of(design: Design, terms: Terms, netlist: FlatNetlist, tokens: Tokens) -> list[Element]:
    """The datapaths of a design, in the order of their results in d.

    Raises:
        NotProvable: a result that is read from more or other registers than its datapath's last.
    """
    if not isinstance(design, TileDesign):
        return [Element(WHOLE, netlist.inputs, _result(WHOLE, tokens))]
    i = design.instruction
    if isinstance(i.chain, ConvertedChain):
        raise NotProvable("what converts the operands of this tile, and what adds c at its end, has no specification here")
    found = []
    for row in range(i.m):
        for column in range(i.n):
            operands = {
                "a": _part(terms, netlist.inputs["a"], row, i.m), "b": _part(terms, netlist.inputs["b"], column, i.n),
                "c": _part(terms, netlist.inputs["c"], row * i.n + column, i.m * i.n),
            }  # fmt: skip
            if i.scale is not None:
                operands["scale_a"] = _part(terms, netlist.inputs["scale_a"], row, i.m)
                operands["scale_b"] = _part(terms, netlist.inputs["scale_b"], column, i.n)
            path = f"datapath_{row}_{column}."
            found.append(Element(path, operands, _result(path, tokens)))
    return found


def _part(terms: Terms, bits: Bits, place: int, count: int) -> Bits:
    """One of so many equal parts."""
    width = bits.width // count
    return terms.part(bits, (place + 1) * width - 1, place * width)


def _result(path: str, tokens: Tokens) -> str:
    """The register in the last stage of a datapath."""
    last = [name for name in tokens.output_registers if name.startswith(path) and tokens.depth(name) == tokens.shape.stages]
    if len(last) != 1:
        raise NotProvable(f"d is read from {len(last)} registers of {path or 'the design'} in stage {tokens.shape.stages}")
    return last[0]
