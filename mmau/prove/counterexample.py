"""A counter-example of one step as operands of the whole unit, with the results of the netlist and of golden; and its replay
in a simulation of the Verilog, explained like any mismatch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bitwuzla
import numpy as np
from bitwuzla import Kind, Term

from cosim.diagnosis.explain import explanation_of
from cosim.dut.description import Dut
from cosim.dut.generated import dut_like
from cosim.dut.reference import reference_of
from cosim.runner.needed_tools import check_tools
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.simulate import replay
from golden import Unit
from golden.files import temporary_folder
from golden.operations.exact_sum import ExactSum
from golden.processes import supervised
from golden.units.random_dot import with_random_step
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Obligation
from mmau.prove.datapath.unit_questions import specification_of, unit_proof
from mmau.prove.evaluation import evaluate, in_order
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.specification.observer import Observer
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.product_design import unit_operands
from rtl.designs.unit_design import as_design

CLASS = "counter-example"
"""The class name of the vector in reports."""


def replayed(unit: Unit, inputs: Mapping[str, int] | Sequence[Mapping[str, int]], design: Dut | str) -> Report:
    """One vector, or several one after the other, co-simulated; results unlike golden's are explained.

    Args:
        unit: the specification of the design.
        inputs: codes of the operand ports, packed, for as many results as the design gives at once.
        design: a user design, or the Verilog of the unit's combinational datapath, its top module called `unit`.

    Raises:
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
    """
    is_vhdl = isinstance(design, Dut) and design.is_vhdl
    check_tools("ghdl" if is_vhdl else "verilator", not is_vhdl)
    sent = [inputs] if isinstance(inputs, Mapping) else inputs
    return supervised(lambda: _replayed(unit, sent, design))


def _replayed(unit: Unit, sent: Sequence[Mapping[str, int]], design: Dut | str) -> Report:
    with temporary_folder("mmau-replay-") as name:
        folder = Path(name)
        if isinstance(design, str):
            unit = replace(unit, implementation=unit.implementation.combinational)
            source = folder / "unit.v"
            source.write_text(design, encoding="utf-8")
            dut = dut_like(as_design(unit), [source], "unit")
        else:
            dut = design
        request = Request(vectors=len(sent), dut=dut)
        whole = reference_of(as_design(unit), dut)
        rows = [row_of(whole, number, inputs) for number, inputs in enumerate(sent)]
        found = replay(whole, request, folder, {"rows": rows, "classes": {0: CLASS}})
        explanation = explanation_of(found.outcome, found.minimised, whole)
        return Report.of_run(whole, found, request.runs_in, request.seed, explanation)


def row_of(design: Design, number: int, inputs: Mapping[str, int]) -> dict[str, Any]:
    """The codes of the input ports as a row for `cosim.volume.decoded_vectors.Decoder`."""
    if isinstance(design, ControlledDesign):
        inputs = design.with_flags(inputs)
    chosen = [place for place, choice in enumerate(design.choices) if choice.codes.items() <= inputs.items()] or [0]
    transfer = {port: f"{value:#x}" for port, value in inputs.items()}
    return {"vector": number, "transfers": [transfer], "product": chosen[0], "element": 0, "label": 0}


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
    """Golden's d for the packed operands of one step, below its exception flags if the unit has them."""
    if unit.random is not None:
        wide, step = with_random_step(unit)
        given = [np.array([code], np.uint64) for code in (golden_result(wide, inputs), inputs[unit.random.port])]
        return int(step.results(*given)[0])
    operation, operands = unit.operation, unit_operands(unit)

    def elements(port: str) -> list[int]:
        held = operands.get(port)
        if held is None:
            return []
        width = held.format.width
        return [inputs[port] >> (k * width) & ((1 << width) - 1) for k in range(held.count)]

    a, c = elements("a"), inputs.get("c", 0)
    b = elements("b") or [0] * len(a)  # a conversion has no b
    d = unit.chain_over(len(a))(a, b, c, elements("scale_a"), elements("scale_b"))
    return operation.flags_of(a, b, c) << operation.d.width | d if isinstance(operation, ExactSum) and operation.flags else d


def _inputs(
    terms: Terms, unit: Unit, netlist: CutNetlist, violated: list[Obligation], seconds: float
) -> dict[str, int] | None:
    make = terms.manager.mk_term
    specified = specification_of(unit)(terms, netlist.inputs, Observer())
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
