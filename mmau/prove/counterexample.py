"""A counter-example of one step as operands of the whole unit, with the results of the netlist and of golden."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import bitwuzla
from bitwuzla import Kind, Term

from golden import Unit
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Obligation
from mmau.prove.datapath.unit_questions import SPECIFICATIONS, unit_proof
from mmau.prove.evaluation import evaluate, in_order
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.specification.observer import Observer


@dataclass(frozen=True)
class Vector:
    """Operands for which a netlist does not give golden's result.

    Attributes:
        inputs: codes by port. got: the netlist's d, evaluated without a solver. expected: golden's d.
    """

    inputs: Mapping[str, int]
    got: int
    expected: int


def vector(unit: Unit, verilog: str, name: str, seconds: float) -> Vector | None:
    """Operands that violate an obligation of a unit's datapath and make d differ; None if none is found in time, perhaps
    because no operands reach such a state.

    Args:
        verilog: the combinational datapath, with a top module called `unit`.
        name: the name of the obligation. seconds: CPU time of this process.
    """
    with deep_stack() as manager:  # no term may outlive its manager
        return _vector(Terms(manager), unit, verilog, name, seconds)


def _vector(terms: Terms, unit: Unit, verilog: str, name: str, seconds: float) -> Vector | None:
    combinational = replace(unit, implementation=unit.implementation.combinational)
    proof = unit_proof(terms, combinational, verilog)
    violated = [each for each in proof.obligations if each.name == name]
    inputs = _inputs(terms, combinational, proof.netlist, violated, seconds)
    if inputs is None:
        return None
    values = {bits.term: inputs[port] for port, bits in proof.netlist.inputs.items()}
    d = _expanded(terms, proof.netlist, proof.netlist.outputs["d"].term)
    return Vector(inputs, evaluate([d], values)[d], golden_result(combinational, inputs))


def golden_result(unit: Unit, inputs: Mapping[str, int]) -> int:
    """Golden's d for the packed operands of one step."""
    operation = unit.operation
    scale = operation.scale_format

    def elements(port: str, width: int, count: int) -> list[int]:
        return [inputs[port] >> (k * width) & ((1 << width) - 1) for k in range(count)]

    scales = [
        elements(port, scale.width, operation.scales_per_step) if scale is not None else []
        for port in ("scale_a", "scale_b")
    ]
    a, b = (elements(port, fmt.width, operation.length) for port, fmt in (("a", operation.a), ("b", operation.b)))
    return operation.step(a, b, inputs["c"], *scales)


def _inputs(
    terms: Terms, unit: Unit, netlist: CutNetlist, violated: list[Obligation], seconds: float
) -> dict[str, int] | None:
    make = terms.manager.mk_term
    specified = SPECIFICATIONS[type(unit.operation)](terms, unit.operation, netlist.inputs, Observer())
    differs = make(Kind.DISTINCT, [_expanded(terms, netlist, netlist.outputs["d"].term), specified.term])
    for obligation in violated:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * seconds))
        solver = bitwuzla.Bitwuzla(terms.manager, options)
        solver.assert_formula(make(Kind.AND, [_expanded(terms, netlist, obligation.violated), differs]))
        if solver.check_sat() == bitwuzla.Result.SAT:
            return {port: int(solver.get_value(bits.term).value(2), 2) for port, bits in netlist.inputs.items()}
    return None


def _expanded(terms: Terms, netlist: CutNetlist, root: Term) -> Term:
    """A term with every cut wire replaced by what drives it."""
    known: dict[Term, Term] = {}

    def of(term: Term) -> Term:
        for part in in_order([term]):
            if part in known:
                continue
            if part in netlist.definitions:
                known[part] = of(netlist.definitions[part].term)
            elif part.num_children():
                children = [known[child] for child in part.children()]
                known[part] = terms.manager.mk_term(part.kind(), children, list(part.indices()))
            else:
                known[part] = part
        return known[term]

    return of(root)
