"""The proof of a design with registers as questions for a solver: each transfer of operands gives one result, in order, for
any stalls, and that result equals the combinational datapath's.

The questions are about the Verilog that `mmau rtl` writes. If all of them are unsatisfiable, the claim holds from the first
reset on; docs/guides/formal.md, "Pipelines and handshake", argues that they suffice.

Registers may cut datapaths inside of steps; `cut_questions` ask whether the parts compute what the whole steps compute. Both
are combinational netlists, and most instances are in both: of one path, of modules whose texts are alike. Their outputs
become variables, the same ones in both netlists; all other instances are flattened. The questions are whether each common
instance gets equal inputs and d is equal, whatever the variables are. No netlist has a loop, so by induction along the paths
the outputs of common instances are equal, and so is d.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from bitwuzla import Kind, Term

from golden.operations import FMA
from mmau.prove.datapath.chosen_operands import operands_in_fma, operands_of
from mmau.prove.datapath.kernel import IncompleteProof
from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question, unit_questions
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.array_states import ArrayStates, is_visited, visit_questions
from mmau.prove.pipeline.handshake_rules import Trace, shortest_trace
from mmau.prove.pipeline.intended import alike
from mmau.prove.pipeline.multi_format import format_questions
from mmau.prove.pipeline.pipeline import Pipeline
from mmau.prove.pipeline.pipeline_targets import combinational, converted_questions, datapath_of, parts_of, shape_of
from mmau.prove.smtlib import question
from mmau.prove.specification.fma import fma
from mmau.prove.specification.observer import Observer
from rtl.datapath.side_by_side import named
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.verilog.emit import to_verilog

CUT = "parts of"
"""The first words of the questions' names."""


def cut_questions(whole: str, parts: str) -> list[Question]:
    """The questions whether a datapath in parts computes what it does with whole steps.

    Args:
        whole, parts: their Verilog, each with a top module called `unit` and without registers.

    Raises:
        NotProvable: netlists of other ports, a statement without a term, or a loop.
    """
    problem = ""
    with deep_stack() as manager:
        try:
            return _questions(Terms(manager), read_netlist(whole), read_netlist(parts))
        except (NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)


def _questions(terms: Terms, whole: Mapping[str, Module], parts: Mapping[str, Module]) -> list[Question]:
    common = _common(whole, parts)
    one = FlatNetlist(terms, whole, TOP, opened=_opened(whole, common))
    shared = {str(each.symbol()): Bits(each, each.sort().bv_size()) for each in one.source}
    other = FlatNetlist(terms, parts, TOP, shared, opened=_opened(parts, common))
    if one.registers or other.registers or set(one.inputs) != set(other.inputs) or set(one.outputs) != set(other.outputs):
        raise NotProvable("the datapath in parts must have the ports of the whole one, and no registers")
    compared: list[tuple[str, Mapping[str, Bits], Mapping[str, Bits]]] = [("d", one.outputs, other.outputs)]
    compared += [(path, one.opaque[path].inputs, other.opaque[path].inputs) for path in sorted(common)]
    for netlist in (one, other):
        netlist.reached(netlist.outputs["d"].term)  # refuses a loop
    found: dict[str, Question] = {}
    for name, left, right in compared:
        differs = _differs(terms, name, left, right)
        if differs is not None:
            text, variables = question(differs)
            found.setdefault(text, Question(f"{CUT} {name}", text, tuple(str(each.symbol()) for each in variables)))
    return list(found.values())


def _common(whole: Mapping[str, Module], parts: Mapping[str, Module]) -> set[str]:
    """The instances of both top modules that stay closed: alike, and of modules of which no instance is flattened."""
    mine, its = _instances(whole), _instances(parts)
    common = {name for name in mine if name in its and alike(whole, mine[name], parts, its[name])}
    while True:
        opened, its_opened = _opened(whole, common), _opened(parts, common)
        left = {name for name in common if mine[name] not in opened and its[name] not in its_opened}
        if left == common:
            return common
        common = left


def _instances(modules: Mapping[str, Module]) -> dict[str, str]:
    """The module of each instance of the top module."""
    return {instance.name: instance.module for instance in modules[TOP].instances}


def _opened(modules: Mapping[str, Module], common: set[str]) -> set[str]:
    """The modules of all other instances, and those inside them."""
    waiting = [module for name, module in _instances(modules).items() if name not in common]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [instance.module for instance in modules[name].instances]
    return found


def _differs(terms: Terms, name: str, left: Mapping[str, Bits], right: Mapping[str, Bits]) -> Term | None:
    """The formula that some of these values differ; None where all are the same terms."""
    if set(left) != set(right) or any(left[port].width != right[port].width for port in left):
        raise NotProvable(f"{name} has other ports in the datapath in parts")
    pairs = [(bits.term, right[port].term) for port, bits in left.items() if bits.term != right[port].term]
    if not pairs:
        return None
    differing = [terms.manager.mk_term(Kind.DISTINCT, [one, other]) for one, other in pairs]
    return terms.any_of(differing)


def pipeline_questions(design: Design, verilog: str | None = None) -> list[Question]:
    """The questions of a unit, a tile or a datapath of several formats: those about its registers, if it has any, and those
    about its combinational datapath.

    Args:
        verilog: the design, with a top module called `unit`; None for the generated Verilog.

    Raises:
        NotProvable: a handshake that is not understood, values that differ in structure from the combinational datapath's,
            or no specification of the operation.
    """
    text = to_verilog(design, TOP) if verilog is None else verilog
    if not design.implementation.stages:
        return datapath_questions(design, text)
    datapath = to_verilog(combinational(design), TOP)
    of_datapath = datapath_questions(combinational(design), datapath)
    return [*register_questions(design, text, datapath), *_beside_datapath(design, text), *of_datapath]


def _beside_datapath(design: Design, verilog: str) -> list[Question]:
    """The questions about converters and additions of a tile."""
    problem = ""
    try:
        return converted_questions(design, verilog)
    except (IncompleteProof, NoTerm) as error:
        problem = str(error)
    raise NotProvable(problem)


def datapath_questions(design: Design, verilog: str) -> list[Question]:
    """The questions of a combinational datapath.

    Raises:
        NotProvable: no specification of the operation, or the steps do not lead from the ports to d.
    """
    if isinstance(design, MultiFormatDesign):
        return format_questions(design, verilog)
    if isinstance(design, ControlledDesign):
        return chosen_questions(design, verilog)
    return unit_questions(datapath_of(design), verilog)


def chosen_questions(design: ControlledDesign, verilog: str) -> list[Question]:
    """The questions of a combinational datapath for each value of the input that chooses its arithmetic; errors as for
    `unit_questions`. Where it computes MUL or ADD by FMA, they ask for FMA's result, and whether that is the own one."""
    found: dict[str, Question] = {}
    for choice in design.choices:
        chosen = choice.unit.operation
        unit = replace(choice.unit, operation=design.computed(chosen))
        before = named(design.formats.index(chosen.a)) if len(design.formats) > 1 else ""
        asked = unit_questions(unit, verilog, choice.codes, partial(operands_of, design, choice), before)
        if isinstance(chosen, FMA) and unit.operation.operands != chosen.operands:
            asked.append(multiply_add_question(chosen))
        for each in asked:
            name = f"{each.name} where {choice.name}" if choice.name else each.name
            found.setdefault(each.text, replace(each, name=name))
    return list(found.values())


def multiply_add_question(operation: FMA) -> Question:
    """The question whether the multiply-add that stands for MUL or ADD gives another d or other flags."""
    with deep_stack() as manager:
        terms = Terms(manager)
        own = {name: terms.free(name, getattr(operation, name).width) for name in operation.operands}
        by_fma = fma(terms, operation.as_fma(), operands_in_fma(terms, operation, own), Observer())
        specified = fma(terms, operation, own, Observer(), as_product=operation.structure.adds_elements)
        text, variables = question(terms.differs(by_fma, specified))
        return Question(f"{operation.name} by FMA", text, tuple(str(each.symbol()) for each in variables))


def assumed(design: Design) -> tuple[str, ...]:
    """The assumptions about the environment that drives a design."""
    if not design.implementation.stages:
        return ()
    lines = ["rst is high in the first cycle", "in a cycle in which rst is high no transfer happens"]
    if shape_of(design).steps > 1:
        lines.append("how soon the result comes counts on operands of the next step being there")
    return tuple(lines)


def register_questions(design: Design, verilog: str | None = None, datapath: str | None = None) -> list[Question]:
    """The questions about the registers of a design: about its handshake and its values; and where they cut steps inside,
    whether the parts compute what the whole steps do.

    Args:
        verilog: the Verilog of the design; see `pipeline_questions`. datapath: the Verilog of its combinational datapath,
            likewise.

    Raises:
        NotProvable: as `pipeline_questions`, but for the operation's specification.
    """
    if not design.implementation.stages:
        raise NotProvable(f"{design.name} has no registers")
    text = to_verilog(design, TOP) if verilog is None else verilog
    reference = to_verilog(combinational(design), TOP) if datapath is None else datapath
    parts, problem = parts_of(design), ""
    about_parts = [] if parts is None else cut_questions(reference, parts)
    with deep_stack() as manager:
        try:
            if is_visited(design):
                about = visit_questions(ArrayStates(Terms(manager), design, text, parts or reference))
            else:
                about = Pipeline(Terms(manager), design, text).questions(parts or reference)
            return [*about, *about_parts]
        except (IncompleteProof, NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)


def handshake_trace(design: Design, verilog: str, seconds: float) -> Trace | None:
    """Cycles from a reset on that break a rule of the handshake; None if there are none, or none is found in time.

    Args:
        verilog: the design, with a top module called `unit`. seconds: CPU time of this process.

    Raises:
        NotProvable: registers of unknown purpose.
    """
    problem = ""
    with deep_stack() as manager:
        try:
            if is_visited(design):
                reference = parts_of(design) or to_verilog(combinational(design), TOP)
                return ArrayStates(Terms(manager), design, verilog, reference).broken()
            return shortest_trace(Pipeline(Terms(manager), design, verilog).handshake, seconds)
        except (NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)
