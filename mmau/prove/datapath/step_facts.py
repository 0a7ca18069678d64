"""Facts about the steps of a specification: each step's values are read from the wires of a netlist and established."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bitwuzla import Term

from golden import Implementation
from golden.units.unit import MULTIPLIERS
from mmau.prove.datapath import max_exp
from mmau.prove.datapath.accumulate import FrameProof, SumProof, WordProof
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Fact, Proof, supports
from mmau.prove.datapath.multiplier import MultiplierProof, sum_of_rows
from mmau.prove.datapath.ranges import implied, in_range
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import (
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
from mmau.prove.specification.step_results import Term as Addend

V = TypeVar("V", bound=Value)


def operand_claims(x: Operand) -> list[Term]:
    """The formulas about a decoded operand that later steps rely on: the numbers lie within their bounds if x is finite, x
    is zero where its significand is, and a number above the least exponent has its hidden bit."""
    ranges = in_range(x)
    zero = x.sig.terms.equal(x.zero.bits, (x.sig.is_zero() & x.finite).bits)
    top = x.sig.bit(x.sig.high.bit_length() - 1).holds
    hidden = [implied(x.exp > x.exp.low, top)]  # of NaN too
    if x.flushed:
        hidden.append(implied(x.finite & ~x.zero, top))
    return [*(ranges if x.bounded else [implied(x.finite, each) for each in ranges]), zero, *hidden]


STEPS: dict[type[Value], tuple[str, Callable[[Any], list[Term]]]] = {
    Operand: ("x__{}", operand_claims), Special: ("result__{}", in_range), Addend: ("term__{}", in_range),
    Exponent: (max_exp.PORT, max_exp.claims), Aligned: ("{}", in_range), AlignedLost: ("{}", in_range),
}  # fmt: skip
"""For each kind of step result: the ports of its component, and the claims about it besides equality with the specification.
"""

SIGNED = ("exp", "e_max")
"""Parts of results that every component encodes in two's complement."""


class StepFacts(Observer):
    """Reads each value from the wires of the component with its name, and establishes that they have the specified values.

    Args:
        proof: collects the facts. implementation: options of the datapath.
    """

    def __init__(self, proof: Proof, implementation: Implementation) -> None:
        self._implementation = implementation
        self.proof, self.terms = proof, proof.terms
        self._netlist: CutNetlist = proof.netlist
        self._guard: Term | None = None
        self._facts: list[Fact] = []
        #: Terms with the flags that they are not finite; further such flags.
        self._specials: list[tuple[str, Addend, Special]] = []
        self._flags: list[tuple[str, Special]] = []
        #: The facts about significands of multipliers that are built as rows, by their wires.
        self._multiplied_sigs: dict[Term, Fact] = {}

    def value(self, name: str, value: V) -> V:
        if isinstance(value, Result):
            return value
        port, claims = STEPS[type(value)]
        if isinstance(value, Aligned) and self._netlist.has(f"{name}.carry"):
            self._facts += self._joined_aligned(name)
        ports = {part: f"{name}.{port.format(part)}" for part, _ in value.parts()}
        read = self._read(value, ports)
        if isinstance(read, Special):
            self._flags.append((name, read))
        if isinstance(value, Exponent) and isinstance(read, Exponent) and self._implementation.max_exp == "pairwise":
            self._pairwise(name, value, read, ports, claims(read))
        else:
            self._establish(name, value, read, ports, claims(read))
        return read

    def _joined_aligned(self, name: str) -> list[Fact]:
        """Facts about a product that is aligned as two rows: it is that product with zeros below, and exactly their sum."""
        rows = [self._netlist.cut(f"{name}.{port}") for port in ("aligned", "carry")]
        drivers = supports([self._netlist.definitions[row.term].term for row in rows])
        product, pair = next((p, pair) for p, pair in self._netlist.rows.items() if {row.term for row in pair} <= drivers)
        zeros = self.terms.number(0, rows[0].width - pair[0].width)
        sig = Bits(product, pair[0].width)
        placed = [self.terms.joined([bits, zeros]) for bits in (sig, *pair)] if zeros.width else [sig, *pair]
        alike = [self.terms.equal(row, bits) for row, bits in zip(rows, placed[1:], strict=True)]
        facts = self.proof.establish(f"{name} rows", alike, unfold=[row.term for row in rows])
        whole = self._netlist.join(f"{name}.aligned", f"{name}.carry")
        known = [*facts, *(fact for fact in self._facts if fact.wires == {product, *(row.term for row in pair)})]
        equal = self.terms.equal(whole, placed[0])
        (shifted,) = self.proof.establish(f"{name} joined", [equal], unfold=[whole.term], assume=known)
        exact = sum_of_rows(self.terms, whole, rows)
        return [shifted, *self.proof.establish(f"{name} exact", [exact], assume=[*known, shifted])]

    def _pairwise(
        self, name: str, value: Exponent, read: Exponent, ports: Mapping[str, str], claims: Sequence[Term]
    ) -> None:
        """Facts that wires hold the largest exponent, and the gaps of the others to it."""
        about = self._about([value.e_max.bits.term])
        compared = max_exp.PairwiseProof(self.proof, name, value, self._guard, about)
        self._facts += compared.selection()
        self._establish(name, value, read, ports, claims)
        wire = self._netlist.cut(ports["e_max"]).term
        wires = [wire, self._netlist.definitions[wire].term]
        self._facts += compared.gaps(read, self._about(wires))

    def term(self, name: str, term: Addend, special: Special, special_name: str = "") -> tuple[Addend, Special]:
        ports, special_ports = _term_ports(name, term), _special_ports(name, special, special_name)
        if name.startswith("multiply") and self._implementation.multiplier != MULTIPLIERS[0]:
            self._multiplied(name, term, ports)
        read, read_special = self._read(term, ports), self._read(special, special_ports)
        self._establish(name, term, read, ports, [])
        self._establish(f"{special_name or name} special", special, read_special, special_ports, [])
        claimed = [implied(read_special.finite, each) for each in in_range(read)]  # later steps rely on it
        every = [*ports.values(), *special_ports.values()]
        unfold = [self._netlist.cut(port).term for port in every if self._netlist.has(port)]
        unfold, support = self._unfoldable(unfold, claimed)
        self._facts += self.proof.establish(f"{name} range", claimed, unfold=unfold, assume=self._about(support))
        self._specials.append((name, read, read_special))
        return read, read_special

    def _unfoldable(self, wires: Sequence[Term], formulas: Sequence[Term]) -> tuple[list[Term], list[Term]]:
        """Which wires to replace by their drivers where formulas about them are established, and formulas with the wires of
        the facts that may be assumed there."""
        unfold = [wire for wire in wires if wire in self._netlist.definitions and wire not in self._multiplied_sigs]
        known = [self._multiplied_sigs[wire].formula for wire in wires if wire in self._multiplied_sigs]
        return unfold, [*formulas, *(self._netlist.definitions[wire].term for wire in unfold), *known]

    def _multiplied(self, name: str, term: Addend, ports: Mapping[str, str]) -> None:
        """Establish a product's significand, where the multiplier is built as rows."""
        multiplier, carry = self._implementation.multiplier, f"{name}.prod__carry"
        in_rows = self._netlist.has(carry)
        wires = [self._netlist.cut(port) for port in ([ports["sig"], carry] if in_rows else [ports["sig"]])]
        inner = [self._netlist.definitions[wire.term] for wire in wires]  # the wires in the component
        facts = MultiplierProof(self.proof, name, multiplier, term.sig, in_rows).prove(inner)
        wire = wires[0]
        if in_rows:
            alike = [self.terms.equal(port, within) for port, within in zip(wires, inner, strict=True)]
            facts += self.proof.establish(f"{name} rows", alike, unfold=[port.term for port in wires])
            wire = self._netlist.join(ports["sig"], carry)
            exact = sum_of_rows(self.terms, wire, wires)
            self._facts += self.proof.establish(f"{name} exact", [exact], unfold=[wire.term], assume=facts)
        self._facts += facts
        equal = self.terms.equal(wire, self.terms.extended(term.sig.bits, wire.width))
        (fact,) = self.proof.establish(name, [equal], unfold=[wire.term], assume=facts)
        self._facts.append(fact)
        self._multiplied_sigs[wire.term] = fact

    def total(self, name: str, aligned: Sequence[Aligned], total: Total) -> Total:
        read = self._read(total, {part: f"{name}.{part}" for part, _ in total.parts()})
        numbers = [bits for term in aligned for bits in (term.sign.bits.term, term.aligned.bits.term)]
        rows = [row.term for number in numbers for row in self._netlist.rows.get(number, ())]
        about = self._about([*numbers, *rows])
        facts = SumProof(self.proof, name, aligned, self._implementation, self._guard, about).prove(total, read)
        self._hold(read, total, facts)
        return read

    def total_in_frame(self, name: str, aligned: Sequence[Aligned], missing: Aligned, total: Total) -> Total:
        if self._implementation.encoding != "ones-complement":
            return self.total(name, [*aligned, missing], total)
        read = self._read(total, {part: f"{name}.{part}" for part, _ in total.parts()})
        numbers = [bits for term in aligned for bits in (term.sign.bits.term, term.aligned.bits.term)]
        proof = FrameProof(self.proof, name, aligned, missing, self._implementation, self._guard, self._about(numbers))
        self._hold(read, total, proof.prove(total, read))
        return read

    def integer(self, name: str, product: Number) -> Number:
        read = Number.read(self.terms, self._netlist.cut(f"{name}.prod"), product.low, product.high, product.is_signed)
        ports = {"number": f"{name}.prod"}
        self._establish(name, Integer(product), Integer(read), ports, in_range(Integer(read)))
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
        self._guard = finite.holds
        for name, special in reversed(self._flags):
            flags = (special.nan, special.pos_inf, special.neg_inf)
            self._follows(f"{name} finite", [(~flag).holds for flag in flags])
        for name, term, special in reversed(self._specials):
            self._follows(f"{name} finite", [special.finite.holds, *in_range(term)])
        for scale in scales:
            self._follows("scale finite", [scale.finite.holds, *in_range(scale)])

    def only(self, special: Special, pairs: Sequence[tuple[Addend, Special]]) -> None:
        self._guard = special.finite.holds
        for term, flags in pairs:
            self._follows("specials finite", [flags.finite.holds, *in_range(term)])

    def about(self, formulas: Sequence[Term]) -> list[Fact]:
        """The facts about the wires of some formulas and no others."""
        return self._about(formulas)

    def of_term(self, name: str, formula: Term, term: Addend, special: Special) -> Fact:
        """A fact about a term that is not special, from the drivers of its wires."""
        holds = [implied(special.finite, formula)]
        wires = supports([part.bits.term for _, part in (*term.parts(), *special.parts())])
        unfold, support = self._unfoldable(list(wires), holds)
        guard, self._guard = self._guard, None
        driven = self.proof.establish(name, holds, unfold=unfold, assume=self._about(support))
        self._guard = guard
        (fact,) = self.proof.establish(f"{name} finite", [formula], assume=[*driven, *self._about(holds)], guard=guard)
        return fact

    def _follows(self, name: str, formulas: Sequence[Term]) -> None:
        """Facts that follow from facts that share a wire with them, and from facts about the wires of those."""
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
            if not self._netlist.has(ports[part]):  # the component guarantees it by construction and has no output for it
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

    def _establish(self, name: str, value: Value, read: Value, ports: Mapping[str, str], claims: Sequence[Term]) -> None:
        """Establish that wires hold a value, and the facts that follow."""
        equal, beyond, unfold = [], [], []
        for part, specified in value.parts():
            if not self._netlist.has(ports[part]):
                continue
            wire, held, wanted = self._netlist.cut(ports[part]), dict(read.parts())[part].bits, specified.bits
            if wire.term in self._multiplied_sigs:
                self.proof.means(held.term, wanted.term, self._multiplied_sigs[wire.term])
                continue
            unfold.append(wire.term)
            equal.append((held, wanted))
            is_signed = isinstance(specified, Number) and specified.is_signed
            if wire.width > held.width:
                beyond.append(self.terms.equal(wire, self.terms.extended(held, wire.width, is_signed)))
            elif part in SIGNED and not is_signed:  # the number is always 0, and its only bit is the wire's sign
                beyond.append(self.terms.equal(wire, self.terms.number(0, wire.width)))
        conclusions = [self.terms.equal(held, wanted) for held, wanted in equal]
        support = [*conclusions, *(self._netlist.definitions[wire].term for wire in unfold)]
        facts = self.proof.establish(
            name, [*conclusions, *beyond, *claims], unfold=unfold, assume=self._about(support), guard=self._guard
        )
        for (held, wanted), fact in zip(equal, facts, strict=False):
            self.proof.means(held.term, wanted.term, fact)
        self._facts += facts

    def _about(self, formulas: Sequence[Term]) -> list[Fact]:
        """The facts about the wires of some formulas and no others."""
        wires = supports(formulas) | (supports([self._guard]) if self._guard is not None else set())
        return [fact for fact in self._facts if fact.wires <= wires and self._holds(fact)]

    def _holds(self, fact: Fact) -> bool:
        """Whether a fact holds under the guard of this step."""
        return fact.holds_under(self._guard)

    # 3. sums

    def _hold(self, read: Value, value: Value, facts: Sequence[Fact]) -> None:
        """Record the value of wires from facts, part by part."""
        for (_, held), (_, wanted), fact in zip(read.parts(), value.parts(), facts, strict=False):
            self.proof.means(held.bits.term, wanted.bits.term, fact)
        self._facts += facts

    def _released_about(self, formulas: Sequence[Term]) -> list[Fact]:
        """Facts about the wires of some formulas and no others; their guards become premises."""
        wires = supports(formulas)
        return [self.proof.released(fact) for fact in self._facts if fact.wires <= wires]


def _term_ports(name: str, term: Addend) -> Mapping[str, str]:
    """The ports of a component of step multiply, or of c as a term, for the parts of the term."""
    prefix = "prod" if name.startswith("multiply") else "term"
    return {part: f"{name}.{prefix}__{part}" for part, _ in term.parts()}


def _special_ports(name: str, special: Special, special_name: str) -> Mapping[str, str]:
    """The ports for a term's flags; `special_name` is empty if the same component computes them."""
    flags = f"{special_name}.result__{{}}" if special_name else f"{name}.special__{{}}"
    return {part: flags.format(part) for part, _ in special.parts()}
