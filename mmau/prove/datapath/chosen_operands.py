"""The operands that inputs of a design choose, as terms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bitwuzla import Kind, Term

from golden import Format, Operation
from golden.operations import FMA
from golden.operations.fma import ONE, ZERO, one
from golden.units.operand_inputs import zeros_of
from golden.units.selection import CODE_BITS, PAIRS_OF_FOUR
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
        for name, elements in sent_operands(design, operation).items()
        if name != "d"
    }
    own = masked(terms, design, operation, taken, ports, 0)
    return operands_in_fma(terms, operation, own) if isinstance(operation, FMA) and design.is_mixed else own


def sent_operands(design: Design, operation: Operation) -> dict[str, Elements]:
    """The operands and the result of one step as ports hold them: of a b from which metadata select, all elements."""
    found = step_operands(operation)
    return found | {"b": replace(found["b"], count=2 * found["b"].count)} if design.metadata else found


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


def signs_of(design: Design, choice: Choice, results: int, pitch: Mapping[str, int]) -> dict[str, int]:
    """The bits of ports that hold signs of operands that a choice negates, if no other operand comes from them: a question
    in which they stand for their complements is that of the operands themselves."""
    operation, found = choice.unit.operation, dict[str, int]()
    taken = {name: elements for name, elements in sent_operands(design, operation).items() if name != "d"}
    ports = [choice.source(name).port for name in taken]
    for name, elements in taken.items():
        source, kind = choice.source(name), elements.format
        if source.is_negated and ports.count(source.port) == 1:
            ones = sum(kind.negative_zero << k * kind.width for k in range(elements.count))
            found[source.port] = sum(ones << place * pitch[source.port] for place in range(results))
    return found


def complemented(terms: Terms, bits: Bits, ones: int) -> Bits:
    """Bits of which some are complemented, as a concatenation, whose parts are seen through."""
    parts, high = list[Bits](), bits.width - 1
    for place in [*(k for k in range(bits.width - 1, -1, -1) if ones >> k & 1), -1]:
        parts += [terms.part(bits, high, place + 1)] if high > place else []
        parts += [terms.apply(Kind.BV_NOT, [terms.part(bits, place, place)], 1)] if place >= 0 else []
        high = place - 1
    return terms.joined(parts)


def masked(
    terms: Terms, design: Design, operation: Operation, operands: Mapping[str, Bits], ports: Mapping[str, Bits], place: int
) -> dict[str, Bits]:
    """The operands that metadata select, without idle products and zero points, of one of the simultaneous results, with its
    random bits."""
    found = dict(operands)
    if design.metadata:
        found["b"] = _selected(terms, found["b"], codes_of(terms, design, operation, ports, place), operation.b.width)
    if isinstance(design, ControlledDesign) and design.unit.random is not None:
        port, width = design.unit.random.port, design.unit.random.width
        found[port] = terms.part(ports[port], (place + 1) * width - 1, place * width)
    for name, elements in step_operands(operation).items() if design.mask else ():
        if name not in ("a", "b"):
            continue
        width, counts = elements.format.width, []
        for k in range(elements.count):
            lane = terms.part(found[name], (k + 1) * width - 1, k * width)
            bit = terms.part(ports[design.mask], place * elements.count + k, place * elements.count + k)
            kept = [terms.is_nonzero(bit), lane.term, terms.number(0, width).term]
            counts.append(Bits(terms.manager.mk_term(Kind.ITE, kept), width))
        found[name] = terms.joined(counts[::-1])
    if isinstance(design, ControlledDesign):
        for name, port in design.unit.zeros.items():
            found[name] = _differences(terms, operation, getattr(operation, name), found[name], ports[port], place)
    return found


def _differences(terms: Terms, operation: Operation, kind: Format, codes: Bits, zeros: Bits, place: int) -> Bits:
    """Each element less the zero point of its block, in a bit more; `place`: that of the result among others."""
    width, length, found = kind.width, operation.length, list[Bits]()
    block, first = operation.block_size or length, place * zeros_of(operation, length)
    for k in range(length):
        low, of_zero = k * width, (first + k // block) * width
        parts = [terms.part(codes, low + width - 1, low), terms.part(zeros, of_zero + width - 1, of_zero)]
        wide = [terms.extended(part, width + 1, kind.signed) for part in parts]
        found.append(terms.apply(Kind.BV_SUB, wide, width + 1))
    return terms.joined(found[::-1])


def codes_of(terms: Terms, design: Design, operation: Operation, ports: Mapping[str, Bits], place: int) -> list[Bits]:
    """The codes of the metadata of one of the simultaneous results, one for each four elements of b."""
    groups = operation.length // 2
    lows = [(place * groups + group) * CODE_BITS for group in range(groups if design.metadata else 0)]
    return [terms.part(ports[design.metadata], low + CODE_BITS - 1, low) for low in lows]


def _selected(terms: Terms, b: Bits, codes: Sequence[Bits], width: int) -> Bits:
    """Two of each four elements of b. Of codes that select nothing circuits here make such that do: the first place is at
    most 2, the second at least 1."""
    found = []
    for group, code in enumerate(codes):
        elements = [terms.part(b, low + width - 1, low) for low in range(4 * group * width, 4 * (group + 1) * width, width)]
        for half, others in ((terms.part(code, 1, 0), (2, 0, 1)), (terms.part(code, 3, 2), (1, 2, 3))):
            chosen = elements[others[0]]
            for place in others[1:]:
                is_chosen = terms.equal(half, terms.number(place, 2))
                either = [is_chosen, elements[place].term, chosen.term]
                chosen = Bits(terms.manager.mk_term(Kind.ITE, either), width)
            found.append(chosen)
    return terms.joined(found[::-1])


def selects(terms: Terms, codes: Sequence[Bits]) -> list[Term]:
    """For each code of metadata, that it selects two places (golden: `PAIRS_OF_FOUR`)."""
    return [terms.any_of([terms.equal(each, terms.number(code, CODE_BITS)) for code in PAIRS_OF_FOUR]) for each in codes]
