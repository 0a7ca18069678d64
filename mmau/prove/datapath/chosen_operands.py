"""The operands that inputs of a design choose, as terms."""

from collections.abc import Mapping

from bitwuzla import Kind

from golden import Operation
from golden.operations import FMA
from golden.operations.fma import ONE, ZERO, one
from golden.units.unit import Choice
from mmau.prove.netlist.terms import Bits, Terms
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.ports import Elements, step_operands


def operands_of(design: ControlledDesign, choice: Choice, terms: Terms, ports: Mapping[str, Bits]) -> dict[str, Bits]:
    """The operands of the datapath for a choice, those of idle products +0."""
    operation = choice.unit.operation
    taken = {
        name: operand(terms, choice, name, elements, ports, 0)
        for name, elements in step_operands(operation).items()
        if name != "d"
    }
    own = masked(terms, design, operation, taken, ports, 0)
    return operands_in_fma(terms, operation, own) if isinstance(operation, FMA) and design.is_mixed else own


def operands_in_fma(terms: Terms, operation: FMA, own: Mapping[str, Bits]) -> dict[str, Bits]:
    """The operands of the multiply-add that stands for an operation (golden: `FMA.in_fma`)."""
    known, width = dict(own), operation.c.width
    if ONE in operation.in_fma:
        known[ONE] = terms.number(one(operation.a), width)
    if ZERO in operation.in_fma:
        sign = terms.apply(Kind.BV_XOR, [terms.part(own[factor], width - 1, width - 1) for factor in "ab"], 1)
        zeros = [terms.number(code, width) for code in (operation.c.negative_zero, 0)]
        known[ZERO] = terms.choice(sign, lambda: zeros[0], lambda: zeros[1])
    return {name: known[place] for name, place in zip("abc", operation.in_fma, strict=True)}


def operand(terms: Terms, choice: Choice, name: str, elements: Elements, ports: Mapping[str, Bits], low: int) -> Bits:
    """An operand of a choice, from the port that it comes from, negated or not. `low`: its lowest bit in the port."""
    source, kind = choice.source(name), elements.format
    bits = terms.part(ports[source.port], low + elements.width - 1, low)
    if source.is_negated:
        signs = sum(kind.negative_zero << k * kind.width for k in range(elements.count))
        bits = terms.apply(Kind.BV_XOR, [bits, terms.number(signs, bits.width)], bits.width)
    return bits


def masked(
    terms: Terms, design: Design, operation: Operation, operands: Mapping[str, Bits], ports: Mapping[str, Bits], place: int
) -> dict[str, Bits]:
    """The operands without idle products, of one of the simultaneous results."""
    found = dict(operands)
    for name, elements in step_operands(operation).items() if design.mask else ():
        if name not in ("a", "b"):
            continue
        width, counts = elements.format.width, []
        for k in range(elements.count):
            lane = terms.part(operands[name], (k + 1) * width - 1, k * width)
            bit = terms.part(ports[design.mask], place * elements.count + k, place * elements.count + k)
            kept = [terms.is_nonzero(bit), lane.term, terms.number(0, width).term]
            counts.append(Bits(terms.manager.mk_term(Kind.ITE, kept), width))
        found[name] = terms.joined(counts[::-1])
    return found
