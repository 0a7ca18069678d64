"""A specification proved of a netlist step by step: each value that it keeps is found among the wires."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bitwuzla import Kind, Term

from formal.obligations.magnitudes import bounds
from formal.obligations.maximum import PairwiseProof
from formal.obligations.netlist import CutNetlist
from formal.obligations.proof import Fact, Proof, supports
from formal.obligations.rounded_sums import RoundedSumProof
from formal.obligations.sums import SumProof, WordProof
from formal.specification.keep import Keep
from formal.specification.numbers import Flag, Number
from formal.specification.rounded_sums import RoundedSum
from formal.specification.values import (
    Aligned,
    AlignedLost,
    Code,
    Exponent,
    Integer,
    Operand,
    Result,
    Special,
    Total,
    Value,
    Word,
)
from formal.specification.values import Term as Addend
from golden import Implementation
from rtl.verilog.terms import Bits

V = TypeVar("V", bound=Value)

PORTS: Mapping[type[Value], str] = {
    Operand: "x__{}", Special: "result__{}", Addend: "term__{}", Exponent: "{}", Aligned: "{}",
    AlignedLost: "{}",
}  # fmt: skip
"""How a component calls the parts of what it gives."""

SIGNED = ("exp", "e_max")
"""Parts that every component gives in two's complement."""


class ProvedSteps(Keep):
    """Reads each value from the wires of the component of its name, and establishes that they hold what is specified.

    Args:
        proof: where facts go. implementation: how the datapath is built.
    """

    def __init__(self, proof: Proof, implementation: Implementation) -> None:
        self._implementation = implementation
        self.proof, self.terms = proof, proof.terms
        self._netlist: CutNetlist = proof.netlist
        self._guard: Term | None = None
        self._facts: list[Fact] = []
        #: Terms with what they are where they are not finite; further such flags.
        self._specials: list[tuple[str, Addend, Special]] = []
        self._flags: list[tuple[str, Special]] = []
        #: Of the rounded sum that is encoded next: the netlist's code, the exact sum's, and that they are one.
        self._rounded: tuple[Bits, Bits, Fact] | None = None

    def value(self, name: str, value: V) -> V:
        if isinstance(value, Result):
            return value
        ports = {part: f"{name}.{PORTS[type(value)].format(part)}" for part, _ in value.parts()}
        read = self._read(value, ports)
        if isinstance(read, Special):
            self._flags.append((name, read))
        if isinstance(value, Exponent) and isinstance(read, Exponent) and self._implementation.max_exp == "pairwise":
            self._pairwise(name, value, read, ports)
        else:
            self._establish(name, value, read, ports, self._promises(value, read))
        return read

    def _pairwise(self, name: str, value: Exponent, read: Exponent, ports: Mapping[str, str]) -> None:
        """That wires hold the largest exponent, and how far the others lie below it."""
        about = self._about([value.e_max.bits.term])
        compared = PairwiseProof(self.proof, name, value, self._guard, about)
        self._facts += compared.selection()
        self._establish(name, value, read, ports, self._promises(value, read))
        wire = self._netlist.cut(ports["e_max"]).term
        wires = [wire, self._netlist.definitions[wire].term]
        self._facts += compared.gaps(read, self._about(wires))

    def term(self, name: str, term: Addend, special: Special, special_name: str = "") -> tuple[Addend, Special]:
        ports = {part: f"{name}.{'prod' if name.startswith('multiply') else 'term'}__{part}" for part, _ in term.parts()}
        flags = f"{special_name}.result__{{}}" if special_name else f"{name}.special__{{}}"
        special_ports = {part: flags.format(part) for part, _ in special.parts()}
        read, read_special = self._read(term, ports), self._read(special, special_ports)
        self._establish(name, term, read, ports, [])
        self._establish(f"{special_name or name} special", special, read_special, special_ports, [])
        promises = self._implied(read_special.finite, self._in_range(read))
        every = [*ports.values(), *special_ports.values()]
        unfold = [self._netlist.cut(port).term for port in every if self._netlist.has(port)]
        support = [*promises, *(self._netlist.definitions[wire].term for wire in unfold)]
        self._facts += self.proof.establish(f"{name} range", promises, unfold=unfold, assume=self._about(support))
        self._specials.append((name, read, read_special))
        return read, read_special

    def total(self, name: str, aligned: Sequence[Aligned], total: Total) -> Total:
        read = self._read(total, {part: f"{name}.{part}" for part, _ in total.parts()})
        numbers = [bits for term in aligned for bits in (term.sign.bits.term, term.aligned.bits.term)]
        about = self._about(numbers)
        facts = SumProof(self.proof, name, aligned, self._implementation, self._guard, about).prove(total, read)
        self._hold(read, total, facts)
        return read

    def integer(self, name: str, product: Number) -> Number:
        read = Number.read(self.terms, self._netlist.cut(f"{name}.prod"), product.low, product.high, product.is_signed)
        ports = {"number": f"{name}.prod"}
        self._establish(name, Integer(product), Integer(read), ports, self._in_range(Integer(read)))
        return read

    def word(self, name: str, summed: Sequence[Number], word: Word) -> Word:
        read = Word(Code(self._netlist.cut(f"{name}.total")))
        about = self._about([number.bits.term for number in summed])
        facts = WordProof(self.proof, name, self._implementation, word.total.bits.width, self._guard, about).prove(
            summed, word, read
        )
        self._hold(read, word, facts)
        return read

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        self._guard = self.terms.is_nonzero(finite.bits)
        for name, special in reversed(self._flags):
            flags = (special.nan, special.pos_inf, special.neg_inf)
            self._follows(f"{name} finite", [self.terms.is_nonzero((~flag).bits) for flag in flags])
        for name, term, special in reversed(self._specials):
            self._follows(f"{name} finite", [self.terms.is_nonzero(special.finite.bits), *self._in_range(term)])
        for scale in scales:
            self._follows("scale finite", [self.terms.is_nonzero(scale.finite.bits), *self._in_range(scale)])

    def only(self, special: Special, pairs: Sequence[tuple[Addend, Special]]) -> None:
        self._guard = self.terms.is_nonzero(special.finite.bits)
        for term, flags in pairs:
            self._follows("specials finite", [self.terms.is_nonzero(flags.finite.bits), *self._in_range(term)])

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        assert self._guard is not None
        self._rounded = RoundedSumProof(self, name, summed, self._guard).prove()
        return summed.code()

    def code(self, name: str, code: Bits) -> Bits:
        # first the code of what the netlist adds, then that of the exact sum
        rounded, self._rounded, self._guard = self._rounded, None, None
        wire = self._netlist.cut(f"{name}.d")
        exact = self._equal(wire, code)
        ours = exact if rounded is None else self.terms.manager.substitute_term(exact, {rounded[1].term: rounded[0].term})
        about = self._released_about([ours, self._netlist.definitions[wire.term].term])
        facts = self.proof.establish(name, [ours], unfold=[wire.term], assume=about)
        if rounded is not None:
            codes = [wire.term, rounded[0].term, rounded[1].term]
            assume = [*facts, self.proof.released(rounded[2])]
            facts = self.proof.establish(f"{name} exact", [exact], assume=assume, generalise=codes)
        self.proof.means(wire.term, code.term, facts[0])
        return wire

    def about(self, formulas: Sequence[Term]) -> list[Fact]:
        """The facts about nothing but the wires of some formulas."""
        return self._about(formulas)

    def of_term(self, name: str, formula: Term, term: Addend, special: Special) -> Fact:
        """A fact about a term that is not special, from what drives its wires."""
        holds = self._implied(special.finite, [formula])
        wires = supports([part.bits.term for _, part in (*term.parts(), *special.parts())])
        unfold = [wire for wire in wires if wire in self._netlist.definitions]
        guard, self._guard = self._guard, None
        support = [*holds, *(self._netlist.definitions[wire].term for wire in unfold)]
        driven = self.proof.establish(name, holds, unfold=unfold, assume=self._about(support))
        self._guard = guard
        (fact,) = self.proof.establish(f"{name} finite", [formula], assume=[*driven, *self._about(holds)], guard=guard)
        return fact

    def _follows(self, name: str, formulas: Sequence[Term]) -> None:
        """Facts that follow from those that share a wire with them, and from facts about nothing but these' wires."""
        near = supports(formulas)
        usable = [fact for fact in self._facts if self._holds(fact)]
        wires = {wire for fact in usable if fact.wires & near for wire in fact.wires}
        about = [fact for fact in usable if fact.wires <= wires]
        self._facts += self.proof.establish(name, formulas, assume=about, guard=self._guard)

    # 1. reading

    def _read(self, value: V, ports: Mapping[str, str]) -> V:
        """A value of the same class whose parts are wires."""
        parts: dict[str, Flag | Number | Code] = {}
        for part, specified in value.parts():
            if not self._netlist.has(ports[part]):  # the component is built for it, and nobody asks for it
                parts[part] = specified
                continue
            wire = self._netlist.cut(ports[part])
            if isinstance(specified, Flag):
                parts[part] = Flag(self.terms, wire)
            elif isinstance(specified, Number):
                parts[part] = Number.read(self.terms, wire, specified.low, specified.high, part in SIGNED)
            else:
                parts[part] = Code(wire)
        return type(value)(**{**vars(value), **parts})

    # 2. establishing

    def _establish(self, name: str, value: Value, read: Value, ports: Mapping[str, str], promises: Sequence[Term]) -> None:
        """That wires hold a value, and what follows for them."""
        equal, beyond, unfold = [], [], []
        for part, specified in value.parts():
            if not self._netlist.has(ports[part]):
                continue
            wire, held, wanted = self._netlist.cut(ports[part]), bits_of(dict(read.parts())[part]), bits_of(specified)
            unfold.append(wire.term)
            equal.append((held, wanted))
            if wire.width > held.width:
                whole = self.terms.extended(held, wire.width, isinstance(specified, Number) and specified.is_signed)
                beyond.append(self._equal(wire, whole))
        conclusions = [self._equal(held, wanted) for held, wanted in equal]
        support = [*conclusions, *(self._netlist.definitions[wire].term for wire in unfold)]
        facts = self.proof.establish(
            name, [*conclusions, *beyond, *promises], unfold=unfold, assume=self._about(support), guard=self._guard
        )
        for (held, wanted), fact in zip(equal, facts, strict=False):
            self.proof.means(held.term, wanted.term, fact)
        self._facts += facts

    def _about(self, formulas: Sequence[Term]) -> list[Fact]:
        """The facts about nothing but the wires of some formulas."""
        wires = supports(formulas) | (supports([self._guard]) if self._guard is not None else set())
        return [fact for fact in self._facts if fact.wires <= wires and self._holds(fact)]

    def _holds(self, fact: Fact) -> bool:
        """Whether a fact holds where this step is."""
        return fact.holds_under(self._guard)

    # 3. what holds of values

    def _promises(self, value: Value, read: Value) -> list[Term]:
        ranges = self._in_range(read)
        if isinstance(read, Operand):
            zero = self._equal(read.zero.bits, (read.sig.is_zero() & read.finite).bits)
            is_normal = read.exp > read.exp.low
            top = read.sig.bit(read.sig.high.bit_length() - 1)
            hidden = self._implied(is_normal, [self.terms.is_nonzero(top.bits)])  # of NaN too
            if read.flushed:
                hidden += self._implied(read.finite & ~read.zero, [self.terms.is_nonzero(top.bits)])
            return [*(ranges if read.bounded else self._implied(read.finite, ranges)), zero, *hidden]
        if isinstance(read, Exponent):
            each = [self.terms.is_nonzero((term.exp <= read.e_max).bits) for term in read.terms]
            return [*ranges, *each]
        return ranges

    def _in_range(self, value: Value) -> list[Term]:
        """That the numbers of a value lie within their bounds."""
        found = []
        for _, part in value.parts():
            if isinstance(part, Number):
                found += [self.terms.is_nonzero(flag.bits) for flag in bounds(part)]
        return found

    def _implied(self, condition: Flag, formulas: Sequence[Term]) -> list[Term]:
        premise = self.terms.is_nonzero(condition.bits)
        return [self.terms.manager.mk_term(Kind.IMPLIES, [premise, formula]) for formula in formulas]

    def _equal(self, x: Bits, y: Bits) -> Term:
        return self.terms.manager.mk_term(Kind.EQUAL, [x.term, y.term])

    # 4. sums

    def _hold(self, read: Value, value: Value, facts: Sequence[Fact]) -> None:
        """Note that wires hold what facts say, part by part."""
        for (_, held), (_, wanted), fact in zip(read.parts(), value.parts(), facts, strict=False):
            self.proof.means(bits_of(held).term, bits_of(wanted).term, fact)
        self._facts += facts

    def conclude(self, output: str, specified: Bits, whole: Bits) -> None:
        """The result, and that the chain is complete."""
        self._guard = None
        equal = self._equal(self._netlist.outputs[output], specified)
        about = self._released_about([equal])
        (result,) = self.proof.establish(output, [equal], assume=about)
        self.proof.concluded(result, output, specified, whole)

    def _released_about(self, formulas: Sequence[Term]) -> list[Fact]:
        """Facts about nothing but the wires of some formulas, without their guards, which become premises."""
        wires = supports(formulas)
        return [self.proof.released(fact) for fact in self._facts if fact.wires <= wires]


def bits_of(part: Flag | Number | Code) -> Bits:
    """What holds a part."""
    return part.bits


def proved_steps(
    specify: Callable[[Keep], Bits], netlist: CutNetlist, implementation: Implementation, output: str = "d"
) -> Proof:
    """The proof that an output of a netlist is what is specified.

    Args:
        specify: puts the specification together.

    Raises:
        IncompleteProof: the steps do not lead from the ports to the output. NoTerm: a wire of a step is not there.
    """
    proof = Proof(netlist)
    whole = specify(Keep())
    steps = ProvedSteps(proof, implementation)
    steps.conclude(output, specify(steps), whole)
    return proof
