"""The product of two wide significands, made of four blocks of half the width, proved in parts.

No solver shows at once that long multiplication gives the product. Here each block is the product of two halves; the product
is distributed over sums of halves, which may be any words; and so are shifts of products of any words.
"""

from bitwuzla import Kind, Term

from mmau.formal.netlist.terms import Bits
from mmau.formal.obligations.facts import Fact, supports
from mmau.formal.obligations.modular_words import Words
from mmau.formal.obligations.netlist_proof import Proof
from mmau.formal.specification.numbers import Number


class WideProduct:
    """The wires of a subword multiplier (`rtl.designs.subword`) where one wide pair is selected.

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
