"""A datapath of several formats, proved step by step: for each value of port `format` it is T-FDPA of the selected format.

The port is held at each of its values in turn; a solver then sees a datapath of one format, some of whose lanes are zero.
"""

import re
from dataclasses import replace

from golden import Implementation
from golden.unit import MULTIPLIERS
from mmau.formal.netlist.expressions import NoTerm
from mmau.formal.netlist.terms import Bits, Terms, deep_stack
from mmau.formal.netlist.verilog_text import read_netlist
from mmau.formal.obligations.cut_netlist import CutNetlist
from mmau.formal.obligations.facts import IncompleteProof
from mmau.formal.obligations.netlist_proof import Proof
from mmau.formal.obligations.stepwise import ProvedSteps
from mmau.formal.obligations.trees import is_row
from mmau.formal.obligations.unit_questions import TOP, WHOLE, NotProvable, Question
from mmau.formal.pipelines.wide_product import WideProduct, is_part
from mmau.formal.smtlib import question
from mmau.formal.specification.multi_format import LaneObserver, multi_format
from mmau.formal.specification.numbers import Number
from rtl.designs.multi_format import check_units
from rtl.designs.multi_format_design import MultiFormatDesign

WIDE = 7
"""Products with at least this many fraction bits are proved in parts."""

LANE = re.compile(r"^multiply_(\d+)_(\d+)\.(prod|special)__")


class LaneNetlist(CutNetlist):
    """A netlist in which one component gives the products of all lanes of a word: `multiply_W_K.prod__…` is its K-th."""

    def cut(self, name: str) -> Bits:
        return super().cut(_port(name))

    def has(self, name: str) -> bool:
        return super().has(_port(name))


class LaneSteps(ProvedSteps, LaneObserver):
    """Proves wide products in parts.

    Args:
        is_wide: whether the selected format's significands are wide.
    """

    def __init__(self, proof: Proof, implementation: Implementation, is_wide: bool) -> None:
        super().__init__(proof, implementation)
        self._is_wide = is_wide

    def pair(self, name: str, x: Number, y: Number) -> None:
        if self._is_wide:
            self._facts += WideProduct(self.proof, name, x, y).prove(self._about([x.bits.term, y.bits.term]))


def _port(name: str) -> str:
    return LANE.sub(r"multiply_\1.\3_\2__", name)


def format_questions(design: MultiFormatDesign, verilog: str) -> list[Question]:
    """The questions of a combinational datapath of several formats, for each number that port `format` can hold.

    Args:
        verilog: the Verilog of the datapath, its top module called `unit`.

    Raises:
        NotProvable: the steps do not lead from the ports to d.
    """
    width = next(port.width for port in design.ports if port.name == "format")
    found: dict[str, Question] = {}
    for number in range(1 << width):
        for each in questions_of_format(design, verilog, number):
            found.setdefault(each.text, each)
    return list(found.values())


def questions_of_format(design: MultiFormatDesign, verilog: str, number: int) -> list[Question]:
    """The questions for one value of port `format`; arguments and errors as for `format_questions`."""
    problem = ""
    with deep_stack() as manager:
        try:
            return _asked(format_proof(Terms(manager), design, verilog, number), number)
        except (IncompleteProof, NoTerm) as error:
            problem = str(error)
    raise NotProvable(f"format = {number}: {problem}")


def _asked(proof: Proof, number: int) -> list[Question]:
    found = []
    for obligation in proof.obligations:
        text, variables = question(obligation.violated)
        name = f"{obligation.name} where format = {number}"
        found.append(Question(name, text, tuple(str(variable.symbol()) for variable in variables)))
    return found


def format_proof(terms: Terms, design: MultiFormatDesign, verilog: str, number: int) -> Proof:
    """The proof for one value of port `format`, its obligations open.

    Raises:
        IncompleteProof, NoTerm: where `format_questions` raises NotProvable.
    """
    modules, operations = read_netlist(verilog), check_units(design.units)
    selected = operations[number] if number < len(operations) else None
    is_wide = selected is not None and min(selected.a.man_bits, selected.b.man_bits) >= WIDE
    cut = {instance.name for instance in modules[TOP].instances if not instance.name.endswith(WHOLE)}
    netlist = LaneNetlist(
        terms, modules, TOP, cut, lambda name: is_row(name) or (is_wide and is_part(name)), {"format": number}
    )  # fmt: skip
    proof, whole = Proof(netlist), multi_format(terms, operations, number, netlist.inputs, LaneObserver())
    built = replace(design.implementation, multiplier=MULTIPLIERS[0])  # shared multipliers are built one way
    steps = LaneSteps(proof, built, is_wide)
    steps.conclude("d", multi_format(terms, operations, number, netlist.inputs, steps), whole)
    return proof
