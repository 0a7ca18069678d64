"""Multipliers that are built as rows: the proof that the rows have the product as their sum (rtl/arithmetic/multiplier.py).

No solver shows at once that a multiplier of 11 bits or more multiplies. Here the product is split by the bits of one factor,
one bit after the other, which is the distributive law; each row is a part of it, and each layer of full adders preserves the
sum. Where the rows themselves are the result, without an adder, their sum must be exact: each layer's sum is below
2**(bits of a row), so that no
carry is lost at the top.
"""

from collections.abc import Sequence

from bitwuzla import Kind, Term

from golden import Implementation
from mmau.prove.datapath.kernel import Fact, Proof, supports
from mmau.prove.datapath.trees import TreeProof, Words
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number
from rtl.arithmetic.multiplier import ROWS, row_excess


def row_excess_of(first: Bits, second: Bits) -> int:
    """The difference of the sum of two rows and their number: there is one where the second row is wider."""
    return 1 << first.width if second.width > first.width else 0


def sum_of_rows(terms: Terms, whole: Bits, rows: Sequence[Bits]) -> Term:
    """The formula that a number is exactly the sum of two rows, less their excess."""
    words = Words(terms, rows[1].width + 2)
    wanted = words.total([terms.extended(whole, words.width), words.number(row_excess_of(rows[0], rows[1]))])
    return words.equal(words.total([terms.extended(row, words.width) for row in rows]), wanted)


class MultiplierProof(TreeProof):
    """The proof that a component's rows, or its adder, give a product.

    Args:
        proof: the proof that collects the facts. name: the name of the component.
        multiplier: how it is built. product: as specified, of two wires.
        in_rows: whether two rows are the result, exact, or one number, modulo 2**(bits of both factors).
    """

    def __init__(self, proof: Proof, name: str, multiplier: str, product: Number, in_rows: bool) -> None:
        self._product, self._in_rows = product, in_rows
        left, right = product.bits.term.children()
        factors = [Bits(side.children()[0], side.children()[0].sort().bv_size()) for side in (left, right)]
        #: The factor whose bits or digits make the rows is the second one, unless the first is shorter.
        self._is_swapped = factors[1].width > factors[0].width
        self._x, self._y = factors[::-1] if self._is_swapped else factors
        self._bits = self._x.width + self._y.width
        self._excess = row_excess(self._x.width, self._y.width, multiplier)
        self._row_bits = self._bits + (in_rows and self._excess > 0)
        spare = self._y.width.bit_length() + 1 if in_rows else 0  # so that a sum of rows is no more than its words hold
        super().__init__(proof, name, Implementation(), self._row_bits + spare, None, [])
        of_product = Words(proof.terms, product.bits.width).of(product)
        self._target = self._words.total(
            [proof.terms.extended(of_product, self._words.width), self._words.number(self._excess)]
        )

    def prove(self, wires: Sequence[Bits]) -> list[Fact]:
        """The fact about the result: one wire has the product's value, or the sum of two rows is the product, or
        `row_excess` more.

        Raises:
            NoTerm: a row of the tree is missing.
        """
        words = self._words
        partial, facts = self._partial_products()
        signs = [self._sign(j) for j in range(len(self._digits))] if self._excess else []
        rows, row_facts = self._first_rows(ROWS, self._booth_rows(partial, signs) if self._excess else partial)
        free = [*rows, *partial, *signs, self._product.bits]
        whole = self._fact("rows", words.equal(words.total(rows), self._target), [*facts, *row_facts], free)
        self._layer, self._rows, self._seen = whole, rows, 0
        left, more = self._tree(ROWS, rows, [])
        self._carry_over(left, more)
        given = [self._proof.terms.extended(wire, words.width) for wire in wires]
        result = words.equal(words.total(given), self._target)
        below = self._fact("below", [self._below(self._target)], [], []) if self._in_rows else []
        known = [*self._layer, *below]
        if self._in_rows:
            # Where the last rows are the outputs themselves, nothing is left to replace.
            inside = supports([wire.term for wire in wires]) - supports([row.term for row in left])
            unfold = [variable for variable in inside if self._is_driven(variable)]
            free = [self._product.bits.term]
            return self._proof.establish(f"{self._name} last rows", [result], unfold=unfold, assume=known, generalise=free)
        added = self._unfolded("last adder", [words.equal(given[0], words.total(left))], wires[0], [], [])
        return self._fact("product", words.equal(given[0], self._target), [*added, *known], [*left, self._target])

    # 1. the product as a sum

    def _partial_products(self) -> tuple[list[Bits], list[Fact]]:
        """x · 2**k where bit k of y is set, as words, and the fact that their sum is the product."""
        terms, inner = self._proof.terms, Words(self._proof.terms, self._bits)
        x, y = terms.extended(self._x, self._bits), self._y
        partial, products, facts = list[Bits](), list[Bits](), list[Fact]()
        low, bound = inner.number(0), list[Fact]()
        for k in range(y.width):
            flag = Flag(terms, terms.part(y, k, k))
            bit = self._at(flag.bits, k, self._bits)
            partial.append(inner.choice(flag, self._at(self._x, k, self._bits), inner.number(0)))
            before, low = low, terms.extended(terms.part(y, k, 0), self._bits)
            # In the order of the product's own factors, so that the last one is the product's own term.
            products.append(terms.apply(Kind.BV_MUL, [low, x] if self._is_swapped else [x, low], self._bits))
            known = self._fact("bit", inner.equal(terms.apply(Kind.BV_MUL, [x, bit], self._bits), partial[k]), [], [])
            known += self._fact("bits", inner.equal(low, inner.total([before, bit])), [], [])
            ends = [partial[k]] if k == 0 else [products[k - 1], partial[k]]
            step = self._fact(
                "distributed",
                inner.equal(products[k], inner.total(ends)),
                known,
                [low, bit, partial[k], *([before] if k else [])],
            )
            if not self._in_rows:
                facts += step
                continue
            exact = self._words.equal(
                self._extended(products[k]), self._words.total([self._extended(each) for each in ends])
            )
            most = ((1 << self._x.width) - 1) * ((2 << k) - 1)
            at_most = terms.manager.mk_term(Kind.BV_ULE, [products[k].term, inner.number(most).term])
            made = self._fact("exact", [exact, at_most], [*step, *bound], products[max(0, k - 1) : k + 1])
            facts, bound = [*facts, made[0]], made[1:]
        words = [self._extended(each) for each in partial]
        summed, first = words[0], self._words.equal(self._extended(products[0]), words[0])
        known = self._fact("partial products", first, facts[:1], products[:1])
        for k in range(1, y.width):  # one after the other: solvers are slow with tens of equations
            before, summed = summed, self._words.total([summed, words[k]])
            equal = self._words.equal(self._extended(products[k]), summed)
            known = self._fact("partial products", equal, [facts[k], *known], [*products[k - 1 : k + 1], before, partial[k]])
        return words, known

    # 2. rows of digits

    @property
    def _digits(self) -> range:
        return range(self._y.width // 2 + 1)

    def _booth_rows(self, partial: Sequence[Bits], signs: Sequence[Bits]) -> list[Bits]:
        """The value of each row: digit −2·y[2j + 1] + y[2j] + y[2j − 1] of the product, the constant in place of its sign's
        extension, less its own increment and with that of the row before."""
        words, zero, bits = self._words, self._words.number(0), self._x.width + 1
        rows = []
        for j in self._digits:
            high, middle, low = (partial[k] if 0 <= k < len(partial) else zero for k in (2 * j + 1, 2 * j, 2 * j - 1))
            digit = words.minus(words.total([middle, low, low]), high)
            last = j == self._digits[-1]
            is_dropped = j == self._digits[-1] - 1 and self._y.width % 2 == 0 and j > 0
            constant = 0 if last else 4 if j == 0 else 1 if is_dropped else 3
            row = words.total([digit, self._words.number(constant << (bits + 2 * j))])
            rows.append(words.minus(words.total([row, signs[j - 1] if j else zero]), signs[j]))
        return rows

    def _sign(self, j: int) -> Bits:
        """The increment of row j."""
        place = 2 * j + 1
        if place >= self._y.width:
            return self._words.number(0)
        return self._at(self._proof.terms.part(self._y, place, place), 2 * j, self._words.width)

    # 3. trees

    def _layer_facts(self, rows: Sequence[Bits], facts: Sequence[Fact]) -> list[Fact]:
        self._carry_over(rows, facts)
        if not self._in_rows:
            return []
        words, known, flat, grouped = self._words, list[Fact](), list[Bits](), list[Bits]()
        groups = [words.total(rows[k : k + 3]) for k in range(0, len(rows), 3)]
        for k, group in enumerate(groups):
            each, free = rows[3 * k : 3 * k + 3], [*flat, *grouped]
            flat, grouped = [words.total([*flat, *each])], [words.total([*grouped, group])]
            known = self._fact("groups", words.equal(flat[0], grouped[0]), known, [*free, *each])
        most = words.number(3 * ((1 << self._row_bits) - 1))
        few = [self._proof.terms.manager.mk_term(Kind.BV_ULE, [group.term, most.term]) for group in groups]
        whole = self._fact("layer", words.equal(grouped[0], self._target), [*known, *self._layer], [*flat, *grouped])
        known = [*whole, *self._fact("addends", few, [], []), *self._fact("below", [self._below(self._target)], [], [])]
        return self._fact("fits", [self._below(group) for group in groups], known, [*groups, self._target])

    def _carry_over(self, rows: Sequence[Bits], facts: Sequence[Fact]) -> None:
        """The sum of a layer's rows is the target, as that of the rows before it is: one compressor after the other."""
        words, known, old, new = self._words, list[Fact](), list[Bits](), list[Bits]()
        compressors, before = facts[self._seen :], self._rows
        count = len(compressors)
        given = [*(before[3 * k : 3 * k + 3] for k in range(count)), *([row] for row in before[3 * count :])]
        outs = [*(rows[2 * k : 2 * k + 2] for k in range(count)), *([row] for row in rows[2 * count :])]
        for k, (taken, made) in enumerate(zip(given, outs, strict=True)):
            free = [*old, *new, *taken, *made]
            old, new = [words.total([*old, *taken])], [words.total([*new, *made])]
            known = self._fact("carried over", words.equal(old[0], new[0]), [*known, *compressors[k : k + 1]], free)
        equal = words.equal(new[0], self._target)
        self._layer = self._fact("sum of rows", equal, [*self._layer, *known], [*old, *new, self._target])
        self._rows, self._seen = list(rows), len(facts)

    def _also(self, name: str, place: int, left: int) -> list[str]:
        """The last rows are the outputs, where nothing is between."""
        return [("prod__sig", "prod__carry")[place]] if self._in_rows and not self._excess and left <= 2 else []

    def _wire(self, names: Sequence[str]) -> Bits | None:
        found = super()._wire(names)
        return None if found is None else self._extended(found)

    def _is_driven(self, variable: Term) -> bool:
        # A row may hold bits of the factors, which stay.
        return super()._is_driven(variable) and self._proof.netlist.name_of(variable).startswith(f"{self._name}.")

    def _below(self, word: Bits) -> Term:
        """No carry leaves the highest place of a row."""
        limit = self._words.number(1 << self._row_bits)
        return self._proof.terms.manager.mk_term(Kind.BV_ULT, [word.term, limit.term])

    def _extended(self, word: Bits) -> Bits:
        return self._proof.terms.extended(word, self._words.width)

    def _at(self, bits: Bits, place: int, width: int) -> Bits:
        """Bits at a place of a word of zeros."""
        terms = self._proof.terms
        word = terms.joined([bits, terms.number(0, place)]) if place else bits
        return terms.extended(word, width)
