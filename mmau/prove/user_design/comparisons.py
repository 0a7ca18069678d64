"""What is compared with what: a code of the design with the one that its operation specifies, for each choice and each
simultaneous result; exception flags likewise; and outputs that return an input with that input."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from random import Random
from typing import Any

import numpy as np
from bitwuzla import Kind, Term

from cosim.bench.assumed import Assumed
from cosim.bench.comparison_rules import Compare, is_hexadecimal
from cosim.bench.stimulus import place_in_matrix, specification_of
from cosim.dut.connection import Operand
from cosim.dut.description import Dut
from golden import Operation, Unit
from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.flags import FLAGS
from golden.chains.chain import Chain
from golden.operations import FMA
from golden.operations.exact_sum import ExactSum
from golden.units.unit import Choice
from mmau.prove.datapath.chosen_operands import codes_of, complemented, masked, selects, sent_operands, signs_of
from mmau.prove.datapath.chosen_operands import operand as taken_operand
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, unspecified
from mmau.prove.datapath.unit_questions import specification_of as specified_by
from mmau.prove.evaluation import variables, width
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.user_design.asking import NotCompared
from mmau.prove.user_design.deciding import Comparison, Differs, WrongForm
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.operand_cases import Case, CaseParts, cases_of
from mmau.prove.user_design.row_evaluation import Column
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.ports import Elements, step_operands
from rtl.designs.product_design import ProductDesign
from rtl.verilog.emit import to_verilog

ROWS = 2048
"""Rows of operands for guesses about the values on wires."""

SEED = 1


class Agreement:
    """Agreement of results of an operation.

    Raises:
        NotCompared: NaNs that propagate. ValueError: the NaN of `compare` is none of the result's format.
    """

    def __init__(self, terms: Terms, operation: Operation, compare: Compare) -> None:
        compare.check(operation.d)
        if compare.nan == "propagate":
            raise NotCompared('nan = "propagate" of [compare] is not compared yet')
        self._terms, self._make = terms, terms.manager.mk_term
        self._d, self._compare, self._nan_is_fixed = operation.d, compare, operation.nan_is_fixed()

    def differs(self, got: Bits, expected: Bits) -> Term:
        """The condition that a code does not count as equal to the expected one."""
        equal = self._make(Kind.EQUAL, [got.term, expected.term])
        if self._d.infinity is not None:
            if is_hexadecimal(self._compare.nan):
                code = self._terms.number(int(self._compare.nan, 16), self._d.width)
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._make(Kind.EQUAL, [got.term, code.term]), equal])
            elif self._compare.nan == "any" or not self._nan_is_fixed:
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._is_nan(got), equal])
            if self._compare.zero_sign == "ignore":
                zeros = self._make(Kind.AND, [self._is_zero(got), self._is_zero(expected)])
                equal = self._make(Kind.OR, [equal, zeros])
        return self._make(Kind.NOT, [equal])

    def _magnitude(self, code: Bits) -> Bits:
        return self._terms.part(code, self._d.width - 2, 0)

    def _is_nan(self, code: Bits) -> Term:
        infinity = self._d.infinity
        assert infinity is not None
        return self._make(Kind.BV_UGT, [self._magnitude(code).term, self._terms.number(infinity, self._d.width - 1).term])

    def _is_zero(self, code: Bits) -> Term:
        magnitude = self._magnitude(code)
        return self._make(Kind.EQUAL, [magnitude.term, self._terms.number(0, magnitude.width).term])


Modes = Sequence[tuple[Mapping[Term, int], FMA]]
"""Operations that differ in their rounding alone, each with the codes of the inputs that choose it."""


def comparisons_of(
    terms: Terms,
    design: Design,
    dut: Dut,
    operands: Sequence[Operand],
    ports: Mapping[str, Bits],
    got: Bits,
    rows: Mapping[Term, Column],
) -> Iterator[tuple[tuple[str, ...], Comparison]]:
    """The comparisons of a transfer's results, each with its name: one for each choice and each of the simultaneous results,
    one for each output of exception flags, and one for each output that returns an input."""
    pitch = {operand.name: operand.count * operand.pitch for operand in operands}
    for choice, modes in _questions(design, dut, ports):
        operation, unit = choice.unit.operation, choice.unit.on_differences
        held = {ports[port].term: code for port, code in choice.codes.items()}
        by = {term: terms.number(code, width(term)).term for term, code in held.items()}
        if isinstance(design, ProductDesign):
            chosen = Bits(Folding(terms.manager, by).of(got.term), got.width)
            for named, one in _products(terms, design, choice, dut, ports, chosen, rows):
                yield named, replace(one, held=held)
            continue
        signs = {} if dut.widths.c_bits is not None else signs_of(design, choice, dut.results, pitch)
        negated = {ports[port].term: bits for port, bits in signs.items()}
        by |= {ports[port].term: complemented(terms, ports[port], bits).term for port, bits in signs.items()}
        plain = {k: s._replace(is_negated=s.is_negated and s.port not in signs) for k, s in choice.places.items()}
        direct = replace(choice, places=plain)
        chosen = Bits(Folding(terms.manager, by).of(got.term), got.width)
        agreement = Agreement(terms, operation, dut.compare).differs
        for place in range(dut.results):
            low = place * pitch["d"]
            given = {
                operand: taken_operand(terms, direct, operand, elements, ports, place * pitch[choice.source(operand).port])
                for operand, elements in sent_operands(design, operation).items()
                if operand != "d" and choice.source(operand).port in ports
            }
            if "c" in given:
                given["c"] = _c_of(terms, given["c"], dut.widths.c_bits, operation.no_c)
            mine = masked(terms, design, operation, given, ports, place)
            part = terms.part(chosen, low + operation.d.width - 1, low)
            specified, cases, anew = specified_result(terms, _without_flags(unit), mine, modes)
            taken = _taken(
                terms, operation, dut.widths.assumed.of(operation, choice.places), given,
                terms.part(specified, operation.d.width - 1, 0),
            )  # fmt: skip
            taken += selects(terms, codes_of(terms, design, operation, ports, place))
            if modes:
                taken.append(terms.manager.mk_term(Kind.OR, [_holds(terms, codes) for codes, _ in modes]))
            differs, flags_differ = (partial(_differs_within, terms, taken, each) for each in (agreement, terms.differs))
            known = _with_free(rows, variables([part.term, specified.term]))
            name = choice.name, f"result {place}" if dut.results > 1 else ""
            compared = Comparison(terms, part, specified, differs, cases, known, anew, held=held, negated=negated)
            yield name, compared
            for echo in (echo for echo in design.echoes if echo.flags):
                part = terms.part(chosen, echo.low + echo.width - 1, echo.low)
                wanted, cases, anew = _flags(terms, unit, mine, echo.flags, modes)
                known = _with_free(rows, variables([part.term, wanted.term]))
                yield (
                    (choice.name, echo.name),
                    replace(compared, got=part, specified=wanted, differs=flags_differ, cases=cases, rows=known, anew=anew),
                )
    for echo in (echo for echo in design.echoes if not echo.flags):
        part = terms.part(got, echo.low + echo.width - 1, echo.low)
        known = _with_free(rows, variables([part.term, ports[echo.port].term]))
        yield (echo.name,), Comparison(terms, part, ports[echo.port], terms.differs, [Case("all inputs")], known)


def _questions(design: Design, dut: Dut, ports: Mapping[str, Bits]) -> list[tuple[Choice, Modes]]:
    """The choices, those as one that differ in the rounding of an exact sum alone, with the roundings: a question about all
    of them is little harder than about one.

    A choice of several has the codes of the other controls alone.
    """
    controls = design.unit.controls if isinstance(design, ControlledDesign) else ()
    roundings = {control.port for control in controls if control.key == "rho"}
    together = dict[Any, list[Choice]]()
    for number, choice in enumerate(design.choices):
        alike: Any = number
        operation = choice.unit.operation
        if roundings and isinstance(operation, FMA):
            rounded = operation.changed(rho=rounding_to("RNE", operation.conversion.rounding_format))
            others = {port: code for port, code in choice.codes.items() if port not in roundings}
            no_c = None if "c" in operation.operands and dut.widths.c_bits is None else operation.no_c
            alike = rounded, no_c, tuple(others.items()), tuple(choice.places.items())
        together.setdefault(alike, []).append(choice)
    return [_joint(choices, roundings, ports) if len(choices) > 1 else (choices[0], ()) for choices in together.values()]


def _joint(choices: Sequence[Choice], roundings: Collection[str], ports: Mapping[str, Bits]) -> tuple[Choice, Modes]:
    values = {port: " | ".join(dict.fromkeys(choice.values[port] for choice in choices)) for port in choices[0].values}
    codes = {port: code for port, code in choices[0].codes.items() if port not in roundings}
    name = ", ".join(f"{port} = {each}" for port, each in values.items())
    modes = []
    for choice in choices:
        assert isinstance(choice.unit.operation, FMA)
        modes.append(({ports[port].term: choice.codes[port] for port in roundings}, choice.unit.operation))
    return replace(choices[0], name=name, codes=codes), modes


def _holds(terms: Terms, codes: Mapping[Term, int]) -> Term:
    """Whether variables have the given codes."""
    equal = [terms.equal(Bits(term, width(term)), terms.number(code, width(term))) for term, code in codes.items()]
    return equal[0] if len(equal) == 1 else terms.manager.mk_term(Kind.AND, equal)


def _products(
    terms: Terms,
    design: ProductDesign,
    choice: Choice,
    dut: Dut,
    ports: Mapping[str, Bits],
    got: Bits,
    rows: Mapping[Term, Column],
) -> Iterator[tuple[tuple[str, ...], Comparison]]:
    """The comparisons of the elements of a matrix, or of one dot product, each over all of its steps, for a choice.

    Raises:
        NotCompared: dot products of several lengths, or of other steps than those of the operation, in order.
    """
    unit, (K, *others) = choice.unit, design.lengths
    operation = unit.operation
    steps, rest = divmod(K, operation.length)
    plain = unit.sums is None and not rest and (steps == 1 or unit.chain_over(K) == Chain(operation))
    if others or not plain or operation.scale_format is not None or (unit.a, unit.b) != (operation.a, operation.b):
        raise NotCompared("dot products of several lengths, with scales, or with a table [chain] or [sums] are not proved")
    differs = Agreement(terms, operation, dut.compare).differs
    flagged = [echo for echo in design.echoes if echo.flags]
    raised: dict[str, list[Bits]] = {echo.name: [] for echo in flagged}  # by each step of each element
    assumed = list[Term]()

    for i, j in product(range(design.m), range(design.n)):
        place = i * design.n + j
        first = {"a": i * K, "b": j * K, "c": place}
        given = {
            name: taken_operand(
                terms, choice, name, Elements(of.format, 1 if name == "c" else K), ports, first[name] * of.format.width
            )
            for name, of in step_operands(operation).items()
            if name != "d"
        }
        if "c" in given:
            given["c"] = _c_of(terms, given["c"], dut.widths.c_bits, dut.widths.no_c(operation))
        mine, cases = dict(given), list[Case]()
        for step in range(steps):
            low, high = step * operation.length, (step + 1) * operation.length
            for name in "ab":
                width = getattr(unit, name).width
                mine[name] = terms.part(given[name], high * width - 1, low * width)
            counted = masked(terms, design, operation, mine, ports, step)
            for echo in flagged if low >= (K - design.last_flags if design.last_flags else 0) else ():
                raised[echo.name].append(_flags(terms, unit, counted, echo.flags)[0])
            specified, cases, _ = specified_result(terms, _without_flags(unit), counted)
            mine["c"] = specified
        taken = _taken(terms, operation, dut.widths.assumed, given, specified)
        part = terms.part(got, (place + 1) * operation.d.width - 1, place * operation.d.width)
        known = _with_free(rows, variables([part.term, specified.term]))
        named = choice.name, place_in_matrix(i, j, design.m * design.n)
        assumed += taken
        yield named, Comparison(terms, part, specified, partial(_differs_within, terms, taken, differs), cases, known)
    for echo in flagged:
        part = terms.part(got, echo.low + echo.width - 1, echo.low)
        wanted = reduce(lambda x, y: terms.apply(Kind.BV_OR, [x, y], echo.width), raised[echo.name])
        known = _with_free(rows, variables([part.term, wanted.term]))
        flags_differ = partial(_differs_within, terms, assumed, terms.differs)
        yield (choice.name, echo.name), Comparison(terms, part, wanted, flags_differ, [Case("all operands")], known)


def _differs_within(terms: Terms, taken: Sequence[Term], differs: Differs, got: Bits, expected: Bits) -> Term:
    """The condition that a code does not count as equal to the expected one, for operands that the design must take."""
    return terms.manager.mk_term(Kind.AND, [*taken, differs(got, expected)]) if taken else differs(got, expected)


def _taken(terms: Terms, operation: Operation, assumed: Assumed, ports: Mapping[str, Bits], d: Bits) -> list[Term]:
    """The conditions that `[assume]` puts on the operands and on the specified result.

    Args:
        ports: the operands, those of idle products included.

    Raises:
        NotCompared: a format whose infinity does not end its numbers.
    """
    make, kinds = terms.manager.mk_term, {name: getattr(operation, name) for name in (*operation.operands, "d")}

    def within(name: str, bits: Bits, *ranges: tuple[int, int]) -> list[Term]:
        """For each element of an operand, that its magnitude is in one of the ranges."""
        kind, found = kinds[name], []
        if kind.infinity is None or kind.pad_bits:
            raise NotCompared(f"[assume] is not proved of {name} in {kind}, whose infinity does not end its numbers")
        for start in range(0, bits.width, kind.width):
            magnitude = terms.part(bits, start + kind.width - 2, start)
            ends = [[terms.number(end, magnitude.width).term for end in each] for each in ranges]
            either = [
                make(Kind.AND, [make(Kind.BV_UGE, [magnitude.term, low]), make(Kind.BV_ULE, [magnitude.term, high])])
                for low, high in ends
            ]
            found.append(make(Kind.OR, either) if len(either) > 1 else either[0])
        return found

    def finite(name: str, bits: Bits) -> list[Term]:
        return within(name, bits, (0, (kinds[name].infinity or 0) - 1))

    found = [term for e in assumed.operands for term in within(e.operand, ports[e.operand], *e.magnitudes(kinds[e.operand]))]
    if assumed.no_overflow:
        specials = [make(Kind.NOT, [term]) for name in operation.operands for term in finite(name, ports[name])]
        found.append(make(Kind.OR, [*finite("d", d), *specials]))
    return found


def _c_of(terms: Terms, c: Bits, c_bits: int | None, no_c: int) -> Bits:
    """The c that the design takes: all of it, its low bits extended by their sign, or the code of none."""
    if c_bits is None:
        return c
    return terms.extended(terms.part(c, c_bits - 1, 0), c.width, signed=True) if c_bits else terms.number(no_c, c.width)


Anew = Callable[[CaseParts], Bits]
"""Makes a specified result, its parts as an observer has them."""


def specified_result(
    terms: Terms, unit: Unit, ports: Mapping[str, Bits], modes: Modes = ()
) -> tuple[Bits, list[Case], Anew | None]:
    """The specified result, its cases, and how to make it anew; for an operation without specification, the result of the
    generated datapath.

    Raises:
        WrongForm: the result of one of the modes is not that of its operation alone.
    """
    if unspecified(unit.operation) is None:
        roundings = [(_holds(terms, codes), operation.conversion) for codes, operation in modes[1:]]

        def made(operation: Operation, parts: CaseParts) -> Bits:
            if unit.random is not None:
                return specified_by(unit)(terms, ports, parts)
            return SPECIFICATIONS[type(operation)](terms, operation, ports, parts)

        def anew(parts: CaseParts) -> Bits:
            parts.roundings = roundings
            return made(unit.operation, parts)

        parts = CaseParts()
        specified = anew(parts)
        flags = isinstance(unit.operation, FMA) and unit.operation.flags
        for codes, operation in modes:
            by = {term: terms.number(code, width(term)).term for term, code in codes.items()}
            alone = made(operation.changed(flags=flags), CaseParts())
            if Folding(terms.manager, by).of(specified.term) != Folding(terms.manager, by).of(alone.term):
                raise WrongForm(f"{operation.conversion}: the specification gives another result beside other modes")
        return specified, cases_of(terms, parts), anew
    modules = read_netlist(to_verilog(unit, "unit"))
    return Circuit.of_top(Setting(terms, modules), modules["unit"], ports).outputs()["d"], [Case("all operands")], None


def _without_flags(unit: Unit) -> Unit:
    """The unit of d alone, where its circuit has exception flags too."""
    operation = unit.operation
    return replace(unit, operation=operation.changed(flags=False)) if getattr(operation, "flags", False) else unit


def _flags(
    terms: Terms, unit: Unit, ports: Mapping[str, Bits], names: Sequence[str], modes: Modes = ()
) -> tuple[Bits, list[Case], Anew | None]:
    """The specified exception flags, bit 0 first, their cases, and how to make them anew."""
    operation = unit.operation
    if not isinstance(operation, ExactSum):
        raise NotCompared(f"[flags] of {operation.name}: flags are specified for FMA, MUL, ADD, CVT and E-FDPA")
    places = [operation.d.width + FLAGS.index(name) for name in reversed(names)]

    def chosen(word: Bits) -> Bits:
        return terms.joined([terms.part(word, place, place) for place in places])

    word, cases, anew = specified_result(terms, replace(unit, operation=operation.changed(flags=True)), ports, modes)
    return chosen(word), cases, None if anew is None else lambda parts: chosen(anew(parts))


def operand_rows(design: Design, dut: Dut, ports: Mapping[str, Bits]) -> dict[Term, Column]:
    """Rows of operands from co-simulation's stimulus."""
    transfers = [
        vector.transfers[0]
        for chunk in specification_of(design, dut.results, dut.widths).chunks(ROWS, SEED)
        for vector in chunk.vectors
    ]
    return {bits.term: _column(transfer[port] for transfer in transfers) for port, bits in ports.items()}


def _with_free(rows: Mapping[Term, Column], free: Sequence[Term]) -> dict[Term, Column]:
    """The rows with random values of all other variables."""
    random, found, count = Random(SEED), dict(rows), len(next(iter(rows.values())))
    for term in free:
        if term not in found:
            found[term] = _column(random.getrandbits(width(term)) for _ in range(count))
    return found


def _column(values: Any) -> Column:
    listed = list(values)
    column = np.empty(len(listed), dtype=object)
    column[:] = listed
    return column
