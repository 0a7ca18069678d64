"""The identity of a proof by content: digests of the Verilog, of the specification and of the questions.

A recorded proof is valid while all three are unchanged. Other edits, of a comment or a name within a function, do not
matter.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bitwuzla import Kind

from golden import Operation, Unit
from golden.chains.chain import Chain
from golden.text import canonical
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, TOP, NotProvable, Question, specification_of, unspecified
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.pipeline.pipeline_targets import chain_of, combinational
from mmau.prove.smtlib import question
from mmau.prove.specification.fma import addition, to_fp16
from mmau.prove.specification.multi_format import LaneObserver, multi_format
from mmau.prove.specification.observer import Observer
from mmau.prove.targets import KINDS
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.identity import verilog_digest
from rtl.designs.multi_format_design import MultiFormatDesign, check_units
from rtl.designs.ports import Elements, step_operands
from rtl.designs.product_design import SumsDesign
from rtl.verilog.emit import to_verilog


@dataclass(frozen=True)
class Identity:
    """The identity of a proof.

    Attributes:
        verilog: `rtl.designs.identity.verilog_digest`. specification: `specification_digest`. questions: `questions_digest`.
    """

    verilog: str
    specification: str
    questions: str


def put_together(kind: str, design: Design) -> tuple[Identity, list[Question]]:
    """The current identity of a design's proof, and its questions.

    Args:
        kind: a key of `KINDS`.

    Raises:
        NotProvable: there are no questions. ValueError, YosysError, MissingTool: as `rtl.to_verilog`.
    """
    verilog = to_verilog(design, TOP)
    questions = KINDS[kind].questions(design, verilog)
    return Identity(verilog_digest(verilog), specification_digest(design), questions_digest(questions)), questions


def identity(kind: str, design: Design) -> Identity:
    """The current identity of a design's proof; arguments and errors as for `put_together`."""
    return put_together(kind, design)[0]


def questions_digest(questions: Sequence[Question]) -> str:
    """SHA-256 of the texts of questions, independent of their order."""
    return _digest(sorted(each.text for each in questions))


def specification_digest(design: Design) -> str:
    """SHA-256 of the specification of a design's datapath: d as a term of its ports.

    Raises:
        NotProvable: there is no specification.
    """
    within, chain = combinational(design), chain_of(design)
    if isinstance(within, MultiFormatDesign):
        return _of_formats(within)
    if isinstance(within, ControlledDesign):
        marks = ["metadata"] if within.metadata else []
        marks += [f"zero points of {getattr(within.unit, name)} {name}" for name in within.unit.zeros]
        return _digest([[dict(each.codes), _of_choice(each.unit.on_differences), *marks] for each in within.choices])
    if isinstance(within, SumsDesign):
        specify = specification_of(within.unit)
        return _of_ports(within.operands, lambda terms, ports: specify(terms, ports, Observer()))
    of_step = operation_specification_digest(within.operation)
    return of_step if chain is None else _digest([of_step, _of_conversion(chain)])


def _of_choice(unit: Unit) -> str:
    """The digest of what inputs choose, of a unit with random bits with these as a free operand."""
    if unit.random is None:
        return operation_specification_digest(unit.operation)
    specify, control = specification_of(unit), unit.random
    operands = step_operands(unit.operation)
    with deep_stack() as manager:
        terms = Terms(manager)
        widths = {name: elements.width for name, elements in operands.items() if name != "d"} | {control.port: control.width}
        return _digest([_text(terms, specify(terms, _free(terms, widths), Observer()))])


@cache
def operation_specification_digest(operation: Operation) -> str:
    """`specification_digest` of the datapaths of an operation.

    Raises:
        NotProvable: there is no specification.
    """
    problem = unspecified(operation)
    if problem is not None:
        raise NotProvable(problem)
    specify = SPECIFICATIONS[type(operation)]
    return _of_ports(step_operands(operation), lambda terms, ports: specify(terms, operation, ports, Observer()))


def _of_ports(operands: Mapping[str, Elements], specify: Callable[[Terms, Mapping[str, Bits]], Bits]) -> str:
    """The digest of a specification of d, as a term of free operands."""
    widths = {name: elements.width for name, elements in operands.items() if name != "d"}
    with deep_stack() as manager:
        terms = Terms(manager)
        return _digest([_text(terms, specify(terms, _free(terms, widths)))])


@cache
def _of_formats(design: MultiFormatDesign) -> str:
    """The digest for all values of port `format`."""
    operations = check_units(design.units)
    widths = {port.name: port.width for port in design.ports if port.direction == "input"}
    texts = []
    for number in range(1 << widths["format"]):
        with deep_stack() as manager:
            terms = Terms(manager)
            texts.append(_text(terms, multi_format(terms, operations, number, _free(terms, widths), LaneObserver())))
    return _digest(texts)


def _of_conversion(chain: Chain) -> list[object]:
    """The specifications of what a tile does beside its steps."""
    d = chain.operation.d
    with deep_stack() as manager:
        terms = Terms(manager)
        found = [_text(terms, to_fp16(terms, fmt, terms.free("code", fmt.width))) for fmt in (chain.a, chain.b)]
        ports = _free(terms, {"x": d.width, "y": d.width})
        return [*found, _text(terms, addition(terms, d, ports, Observer()))]


def _free(terms: Terms, widths: Mapping[str, int]) -> dict[str, Bits]:
    """A variable for each port."""
    return {name: terms.free(name, width) for name, width in widths.items()}


def _text(terms: Terms, d: Bits) -> list[object]:
    """The script that states d, and the ports of its variables."""
    is_d = terms.manager.mk_term(Kind.EQUAL, [terms.free("d", d.width).term, d.term])
    text, variables = question(is_d)
    return [text, [str(variable.symbol()) for variable in variables]]


def _digest(content: object) -> str:
    return hashlib.sha256(canonical(content)).hexdigest()
