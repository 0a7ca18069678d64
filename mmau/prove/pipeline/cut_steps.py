"""Datapaths whose steps are cut inside by registers: their parts compute what the whole steps compute.

Both are combinational netlists, and most instances are in both: of one path, of modules whose texts are alike. Their outputs
become variables, the same ones in both netlists; all other instances are flattened. The questions are whether each common
instance gets equal inputs and d is equal, whatever the variables are. No netlist has a loop, so by induction along the paths
the outputs of common instances are equal, and so is d.
"""

from collections.abc import Mapping

from bitwuzla import Kind, Term

from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.intended import alike
from mmau.prove.smtlib import question

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
