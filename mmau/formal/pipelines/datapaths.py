"""The datapaths of a design, and the operands of each."""

from collections.abc import Mapping

from golden.chain import Chain
from mmau.formal.netlist.flat_netlist import FlatNetlist
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.obligations.unit_questions import NotProvable
from mmau.formal.pipelines.intended import Element
from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign

WHOLE = ""
"""The path of a datapath that is the whole design."""


def elements_of(design: Design, terms: Terms, netlist: FlatNetlist) -> list[Element]:
    """The datapaths of a design, in the order of their results in d.

    Raises:
        NotProvable: a converter is missing.
    """
    if not isinstance(design, TileDesign):
        return [Element(WHOLE, netlist.inputs)]
    i, found = design.instruction, []
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
            if i.fp16_order is not None:
                places = {"a": row, "b": column}
                found.append(_converted(terms, netlist, i.chain, path, operands, places))
            else:
                found.append(Element(path, operands))
    return found


def _converted(
    terms: Terms,
    netlist: FlatNetlist,
    chain: Chain,
    path: str,
    operands: Mapping[str, Bits],
    places: Mapping[str, int],
) -> Element:
    """A datapath whose operands are converted; its sum starts from zero, and c is added to the result."""
    converters, converted = dict[str, Bits](), dict[str, Bits]()
    for name, fmt in (("a", chain.a), ("b", chain.b)):
        outputs = []
        for k in range(chain.operation.length):
            converter = f"convert_{name}_{places[name] * chain.operation.length + k}"
            converters[converter] = terms.part(operands[name], (k + 1) * fmt.width - 1, k * fmt.width)
            outputs.append(_output(netlist, f"{converter}.converted"))
        converted[name] = terms.joined(outputs[::-1])
    zero = terms.number(0, operands["c"].width)
    adder = path.replace("datapath", "add").removesuffix(".")
    return Element(path, {**converted, "c": zero}, converters, adder, operands["c"])


def _output(netlist: FlatNetlist, wire: str) -> Bits:
    """An output of an opaque module."""
    found = next((v for v, source in netlist.source.items() if source.kind == "opaque" and str(v.symbol()) == wire), None)
    if found is None:
        raise NotProvable(f"the pipeline has no {wire}")
    return Bits(found, found.sort().bv_size())


def _part(terms: Terms, bits: Bits, place: int, count: int) -> Bits:
    """One of several equal parts."""
    width = bits.width // count
    return terms.part(bits, (place + 1) * width - 1, place * width)
