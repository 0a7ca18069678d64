"""Circuits as polynomials: whether a sum of bits, each with a weight, is always zero modulo a power of two.

Every gate is a polynomial of its inputs, with integers as coefficients, and a bit is its own square. Where each gate is
replaced by its polynomial, the last ones first, sums of partial products cancel as they do on paper: of a full adder,
2 · majority(x, y, z) + (x ^ y ^ z) is x + y + z again. What is left is a polynomial of the leaves. It is zero for all their
values only if no term is left: a polynomial of bits in which no bit has a power is zero everywhere only if it has no terms,
modulo 2**n too. So a multiplier of rows and adders is shown to multiply without a solver (M. Ciesielski and others,
"Verification of gate-level arithmetic circuits by function extraction", DAC 2015). A product of the sum and the carry of a
half adder is always zero, and is left out: else the polynomials of a balanced tree of adders become too large (A. Mahzoon,
D. Große, R. Drechsler, "PolyCleaner: clean your polynomials before backward rewriting to verify million-gate multipliers",
ICCAD 2018).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from bitwuzla import Term

from mmau.prove.netlist.gates import Gate, Gates, Literal
from mmau.prove.user_design.asking import Limits

Monomial = frozenset[int]
"""The gates whose bits are multiplied."""

Polynomial = Mapping[Monomial, int]
"""The coefficient of each monomial."""

ONE: Monomial = frozenset()

MOST = 1000, 4
"""Most terms of a polynomial: so many, and so many for each gate; a circuit that needs more is not decided."""


class TooLarge(Exception):
    """A polynomial with too many terms, or one that took too long."""


def bit(literal: Literal) -> dict[Monomial, int]:
    """A literal as a polynomial."""
    if literal <= 1:
        return {ONE: 1} if literal else {}
    gate = frozenset([literal >> 1])
    return {ONE: 1, gate: -1} if literal & 1 else {gate: 1}


def total(parts: Iterable[tuple[int, Polynomial]]) -> dict[Monomial, int]:
    """A sum of polynomials, each with a factor."""
    found = defaultdict[Monomial, int](int)
    for factor, part in parts:
        for monomial, coefficient in part.items():
            found[monomial] += factor * coefficient
    return found


def product(*factors: Polynomial) -> dict[Monomial, int]:
    """A product of polynomials."""
    found: dict[Monomial, int] = {ONE: 1}
    for factor in factors:
        found = total((c, {m | monomial: k}) for m, c in found.items() for monomial, k in factor.items())
    return found


def value_of(gate: Gate) -> dict[Monomial, int]:
    """A gate as a polynomial of its inputs."""
    x, y, *more = map(bit, gate.inputs)
    match gate.kind:
        case "and":
            return product(x, y)
        case "xor":
            return total([(1, x), (1, y), (-2, product(x, y))])
        case "choice":
            return total([(1, product(x, y)), (1, more[0]), (-1, product(x, more[0]))])
        case _:
            z = more[0]
            pairs = [(1, product(x, y)), (1, product(x, z)), (1, product(y, z))]
            return total([*pairs, (-2, product(x, y, z))])


def exclusive(gates: Gates) -> dict[int, set[int]]:
    """Gates that are never both 1: the sum and the carry of a half adder."""
    sums = {gate.inputs: number for number, gate in enumerate(gates.all) if gate.kind == "xor"}
    found = defaultdict[int, set[int]](set)
    for number, gate in enumerate(gates.all):
        if gate.kind == "and":
            x, y = gate.inputs
            other = sums.get((x & ~1, y & ~1))
            if other is not None and (x & 1) == (y & 1):
                found[number].add(other)
                found[other].add(number)
    return found


def is_zero(gates: Gates, polynomial: Polynomial, bits: int, leaves: Collection[int], limits: Limits) -> bool:
    """Whether a polynomial of gates is zero modulo 2**bits for all values of the leaves.

    Args:
        leaves: gates that may have any values. limits: the time of one question.

    Raises:
        TooLarge: this was not decided within the limits.
    """
    left = _Terms(polynomial, 1 << bits, exclusive(gates))
    order = _Order(gates, list(left.of_gate), leaves)
    end, most = limits.clock() + min(limits.question, limits.remaining), MOST[0] + MOST[1] * len(gates.all)
    while (gate := order.next(left)) is not None:
        if len(left.coefficients) > most or limits.clock() > end:
            raise TooLarge
        left.add(left.change(gate, order.value(gate)))
    return not left.coefficients


class _Terms:
    """The terms of a polynomial, modulo a power of two.

    Attributes:
        coefficients: that of each monomial. of_gate: the monomials with a gate. changed: gates whose monomials have changed.
    """

    def __init__(self, polynomial: Polynomial, modulus: int, exclusive: Mapping[int, Collection[int]]) -> None:
        self._modulus, self._exclusive = modulus, exclusive
        self.coefficients = dict[Monomial, int]()
        self.of_gate = defaultdict[int, set[Monomial]](set)
        self.changed = set[int]()
        self.add(polynomial)

    def add(self, other: Polynomial) -> None:
        """Add a polynomial."""
        for monomial, coefficient in other.items():
            before = self.coefficients.pop(monomial, 0)
            after = (before + coefficient) % self._modulus
            if after:
                self.coefficients[monomial] = after
            if bool(before) != bool(after):
                for gate in monomial:
                    (self.of_gate[gate].add if after else self.of_gate[gate].discard)(monomial)
            self.changed |= monomial

    def change(self, gate: int, value: Polynomial) -> dict[Monomial, int]:
        """What replacing a gate by its value adds."""
        found = defaultdict[Monomial, int](int)
        for monomial in self.of_gate[gate]:
            coefficient, rest = self.coefficients[monomial], monomial - {gate}
            found[monomial] -= coefficient
            for inside, factor in value.items():
                both = rest | inside
                if any(not both.isdisjoint(self._exclusive[each]) for each in both if each in self._exclusive):
                    continue
                found[both] += coefficient * factor
        return found

    def growth(self, gate: int, value: Polynomial) -> int:
        """By how many terms replacing a gate by its value makes the polynomial longer."""
        more = 0
        for monomial, coefficient in self.change(gate, value).items():
            before = self.coefficients.get(monomial, 0)
            more += bool((before + coefficient) % self._modulus) - bool(before)
        return more


class _Order:
    """The order in which gates are replaced: of those on which no gate that is left depends, the one that leaves the fewest
    terms. So both outputs of an adder and what they have in common go before its inputs, and terms cancel at once."""

    def __init__(self, gates: Gates, roots: Iterable[int], leaves: Collection[int]) -> None:
        self._gates, self._inputs, self._above = gates, dict[int, set[int]](), defaultdict[int, int](int)
        waiting = list(roots)
        while waiting:
            gate = waiting.pop()
            if gate in self._inputs or gate in leaves or not gates.all[gate].inputs:
                continue
            self._inputs[gate] = {literal >> 1 for literal in gates.all[gate].inputs}
            for below in self._inputs[gate]:
                self._above[below] += 1
            waiting += self._inputs[gate]
        self._ready = {gate for gate in self._inputs if not self._above[gate]}
        self._values, self._growth = dict[int, Polynomial](), dict[int, int]()

    def value(self, gate: int) -> Polynomial:
        """A gate as a polynomial of its inputs."""
        if gate not in self._values:
            self._values[gate] = value_of(self._gates.all[gate])
        return self._values[gate]

    def next(self, left: _Terms) -> int | None:
        """The next gate to be replaced in the terms that are left; None if there is no other."""
        for gate in self._ready:
            if gate in left.changed or gate not in self._growth:
                self._growth[gate] = left.growth(gate, self.value(gate))
        left.changed.clear()
        if not self._ready:
            return None
        gate = min(self._ready, key=lambda each: self._growth[each])
        self._ready.remove(gate)
        for below in self._inputs[gate] & self._inputs.keys():
            self._above[below] -= 1
            if not self._above[below]:
                self._ready.add(below)
        return gate


SUMMED = 2.0
"""Seconds for the question whether two terms are one sum."""


def is_one_sum(x: Term, y: Term, limits: Limits) -> bool:
    """Whether two terms are the same sum modulo a power of two, for all values of their variables, in whatever order each
    adds, and whether by adders or by rows of full adders (carry-save). False also where this was not decided."""
    gates = Gates()
    try:
        words = (gates.word(x), 1), (gates.word(y), -1)
        difference = total((sign << k, bit(each)) for word, sign in words for k, each in enumerate(word))
        limits = Limits(limits.end, SUMMED, limits.clock)
        return is_zero(gates, difference, len(words[0][0]), (), limits)
    except (TooLarge, ValueError):
        return False
