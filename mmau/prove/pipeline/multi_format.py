"""A datapath of several formats, proved step by step: for each value of port `format` it is T-FDPA of the selected format.

The port is held at each of its values in turn; a solver then sees a datapath of one format, some of whose lanes are zero.
"""

import re
from dataclasses import replace

from bitwuzla import Kind, Term

from golden import Implementation
from golden.units.unit import MULTIPLIERS
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Fact, IncompleteProof, Proof, supports
from mmau.prove.datapath.stepwise import ProvedSteps
from mmau.prove.datapath.trees import Words, is_row
from mmau.prove.datapath.unit_questions import TOP, WHOLE, NotProvable, Question
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.smtlib import question
from mmau.prove.specification.multi_format import LaneObserver, multi_format
from mmau.prove.specification.numbers import Number
from rtl.designs.multi_format_design import MultiFormatDesign, check_units


class WideProduct:
    """The wires of a subword multiplier (`rtl.designs.multi_format_design`) where one wide pair is selected.

    Args:
        proof: the proof that collects the facts. name: the name of the component. x, y: the significands.
    """

    def __init__(self, proof: Proof, name: str, x: Number, y: Number) -> None:
        self._proof, self._terms, self._netlist, self._name = proof, proof.terms, proof.netlist, name
        self._product = (x * y).bits
        self._words = Words(proof.terms, self._product.width)
        wire = self._netlist.wire(name, "sig_0")
        self._half, self._sum = wire.width // 4, self._terms.part(wire, self._words.width - 1, 0)
        self._x, self._y = x, y

    def prove(self, about: list[Fact]) -> list[Fact]:
        """Facts that the sum of the blocks is the product, modulo 2**(bits of the product).

        Args:
            about: facts about the significands' wires.
        """
        words, half = self._words, self._half
        x, x_low, x_high = self._halves(self._x)
        y, y_low, y_high = self._halves(self._y)
        x_up, y_up = self._shifted(x_high, half), self._shifted(y_high, half)
        # 1. each significand is the sum of its halves, so their product is the sum of four
        sums = [words.equal(x, words.total([x_low, x_up])), words.equal(y, words.total([y_low, y_up]))]
        facts = self._proof.establish(f"{self._name} halves", sums)
        parts = [self._times(p, q) for p, q in ((x_low, y_low), (x_up, y_up), (x_low, y_up), (x_up, y_low))]
        each = [x, x_low, x_up, y, y_low, y_up]
        facts += self._fact("distributed", words.equal(self._product, words.total(parts)), facts, each)
        # 2. each of the four is a block, at its place
        halves = [(x_low, y_low), (x_high, y_high), (x_low, y_high), (x_high, y_low)]  # as the blocks are numbered
        blocks = [self._shifted(self._block(k), shift) for k, shift in enumerate((0, 2 * half, half, half))]
        for k, (part, (p, q), shift) in enumerate(zip(parts, halves, (0, 2 * half, half, half), strict=True)):
            facts += self._fact("shifted", words.equal(part, self._shifted(self._times(p, q), shift)), [], [p, q])
            facts += self._unfolded(f"block_{k}", words.equal(self._block(k), self._times(p, q)), about)
        # 3. the sum adds them
        facts += self._unfolded("sig_0", words.equal(self._sum, words.total(blocks)), [])
        products = [*parts, *(self._times(p, q) for p, q in halves), self._product]
        return facts + self._fact("product", words.equal(self._sum, self._product), facts, products)

    def _halves(self, number: Number) -> tuple[Bits, Bits, Bits]:
        """A significand, its low half and its high half, as words."""
        low = self._terms.part(number.bits, self._half - 1, 0)
        high = self._terms.part(number.bits, number.bits.width - 1, self._half)
        return self._words.of(number), self._wide(low), self._wide(high)

    def _wide(self, bits: Bits) -> Bits:
        return self._terms.extended(bits, self._words.width)

    def _shifted(self, word: Bits, places: int) -> Bits:
        if not places:
            return word
        return self._terms.joined([self._terms.part(word, word.width - places - 1, 0), self._terms.number(0, places)])

    def _times(self, p: Bits, q: Bits) -> Bits:
        return self._terms.apply(Kind.BV_MUL, [p, q], self._words.width)

    def _block(self, number: int) -> Bits:
        return self._wide(self._netlist.wire(self._name, f"block_{number}"))

    def _fact(self, name: str, formula: Term, assume: list[Fact], any_word: list[Bits]) -> list[Fact]:
        """A fact about any words."""
        free = list(dict.fromkeys(word.term for word in any_word))
        return self._proof.establish(f"{self._name} {name}", [formula], assume=assume, generalise=free)

    def _unfolded(self, wire: str, formula: Term, about: list[Fact]) -> list[Fact]:
        """A fact about a wire, from what drives it."""
        wires = supports([self._netlist.wire(self._name, wire).term])
        driven = [variable for variable in wires if variable in self._netlist.definitions]
        return self._proof.establish(f"{self._name} {wire}", [formula], assume=about, unfold=driven)


def is_part(name: str) -> bool:
    """Whether a wire is a block of a subword multiplier or the sum of its blocks."""
    instance, _, wire = name.partition(".")
    return instance.startswith("multiply_") and wire in ("sig_0", "block_0", "block_1", "block_2", "block_3")


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
