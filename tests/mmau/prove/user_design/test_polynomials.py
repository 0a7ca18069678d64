"""Multipliers of several kinds that polynomials show to multiply, and wrong ones that they must not."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product as combinations
from math import inf
from random import Random

import numpy as np
import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.prove.netlist.gates import NO, Gate, Gates, Literal, Word
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design import polynomials
from mmau.prove.user_design.adders import with_sums
from mmau.prove.user_design.asking import Limits
from mmau.prove.user_design.polynomials import TooLarge, bit, is_one_sum, is_zero, product, total
from mmau.prove.user_design.product_wires import holding
from mmau.prove.user_design.row_evaluation import columns
from tests.mmau.prove.netlist.test_gates import value

LIMITS = Limits(inf, 20.0)

Adder = Callable[[Gates, Literal, Literal, Literal], Literal]
"""The carry of a full adder."""


def of_pairs(gates: Gates, x: Literal, y: Literal, z: Literal) -> Literal:
    return gates.either(gates.either(gates.both(x, y), gates.both(x, z)), gates.both(y, z))


def of_half_adders(gates: Gates, x: Literal, y: Literal, z: Literal) -> Literal:
    return gates.either(gates.both(gates.differ(x, y), z), gates.both(x, y))


def of_choice(gates: Gates, x: Literal, y: Literal, z: Literal) -> Literal:
    return gates.choice(gates.differ(x, y), z, y)


ADDERS = [of_pairs, of_half_adders, of_choice, Gates.majority]


def in_rows(gates: Gates, x: Word, y: Word, carry_of: Adder) -> Word:
    """The product by rows that full adders sum, and one adder at the end."""
    bits = len(x) + len(y)
    sums, carries = [NO] * bits, [NO] * bits
    for k, chosen in enumerate(y):
        row = [NO] * k + [gates.both(chosen, each) for each in x] + [NO] * (bits - k - len(x))
        taken = list(zip(sums, row, carries, strict=True))
        sums = [gates.differ(gates.differ(one, other), third) for one, other, third in taken]
        carries = [NO] + [carry_of(gates, *each) for each in taken[:-1]]
    return gates.added(tuple(sums), tuple(carries))


def in_tree(gates: Gates, x: Word, y: Word) -> Word:
    """The product by rows that a balanced tree of full adders sums (C. S. Wallace's), and one adder at the end."""
    bits = len(x) + len(y)
    rows = [((NO,) * k + tuple(gates.both(chosen, each) for each in x) + (NO,) * bits)[:bits] for k, chosen in enumerate(y)]
    while len(rows) > 2:
        one, other, third, *rows = rows
        taken = list(zip(one, other, third, strict=True))
        sums = tuple(gates.differ(gates.differ(p, q), r) for p, q, r in taken)
        rows += [sums, (NO, *(of_half_adders(gates, *each) for each in taken[:-1]))]
    return gates.added(rows[0], rows[1])


def in_digits(gates: Gates, x: Word, y: Word) -> Word:
    """The product by the digits −2 to 2 of y (A. D. Booth's, of two bits each)."""
    bits = len(x) + len(y)
    whole, padded = (NO,) * bits, (NO, *y, NO, NO)
    one, two = (x + (NO,) * bits)[:bits], ((NO, *x) + (NO,) * bits)[:bits]
    for j in range(len(y) // 2 + 1):
        low, middle, high = padded[2 * j : 2 * j + 3]
        is_one = gates.differ(low, middle)
        is_two = gates.both(gates.differ(high, middle), is_one ^ 1)
        row = [gates.either(gates.both(is_one, p), gates.both(is_two, q)) for p, q in zip(one, two, strict=True)]
        placed = [NO] * (2 * j) + row[: bits - 2 * j]
        whole = gates.added(whole, tuple(gates.differ(each, high) for each in placed), high)
    return whole


def multiplies(gates: Gates, word: Word, x: Word, y: Word) -> bool:
    """Whether polynomials show that a word is the product."""
    products = [(-(1 << j + k), product(bit(one), bit(other))) for j, one in enumerate(x) for k, other in enumerate(y)]
    held = [(1 << k, bit(literal)) for k, literal in enumerate(word)]
    return is_zero(gates, total([*held, *products]), len(word), {each >> 1 for each in (*x, *y)}, LIMITS)


def factors(x_bits: int, y_bits: int) -> tuple[Gates, Word, Word]:
    terms, gates = Terms(TermManager()), Gates()
    return gates, gates.word(terms.free("x", x_bits).term), gates.word(terms.free("y", y_bits).term)


@pytest.mark.parametrize("bits", [1, 4, 11, 24])
@pytest.mark.parametrize("carry_of", ADDERS, ids=lambda each: each.__name__)
def test_rows_and_adders_multiply(carry_of: Adder, bits: int) -> None:
    gates, x, y = factors(bits, bits)
    assert multiplies(gates, in_rows(gates, x, y, carry_of), x, y)


@pytest.mark.parametrize("bits", [3, 16, 24])
def test_a_balanced_tree_multiplies(bits: int) -> None:
    gates, x, y = factors(bits, bits)
    assert multiplies(gates, in_tree(gates, x, y), x, y)


@pytest.mark.parametrize(("x_bits", "y_bits"), [(2, 3), (4, 4), (11, 11), (8, 24), (53, 53)])
def test_digits_multiply(x_bits: int, y_bits: int) -> None:
    gates, x, y = factors(x_bits, y_bits)
    assert multiplies(gates, in_digits(gates, x, y), x, y)


@pytest.mark.parametrize("bits", [3, 8, 12])
def test_a_multiplication_in_parts_multiplies(bits: int) -> None:
    terms, gates = Terms(TermManager()), Gates()
    x, y = terms.free("x", 2 * bits), terms.free("y", 2 * bits)
    x_high, x_low, y_high, y_low = (
        terms.extended(terms.part(each, *place), 4 * bits)
        for each in (x, y)
        for place in ((2 * bits - 1, bits), (bits - 1, 0))
    )

    def made(kind: Kind, *operands: Bits) -> Bits:
        return terms.apply(kind, list(operands), 4 * bits)

    high, low = made(Kind.BV_MUL, x_high, y_high), made(Kind.BV_MUL, x_low, y_low)
    both = made(Kind.BV_MUL, made(Kind.BV_ADD, x_high, x_low), made(Kind.BV_ADD, y_high, y_low))
    middle = made(Kind.BV_SUB, both, made(Kind.BV_ADD, high, low))  # A. Karatsuba's way
    placed = [made(Kind.BV_SHL, each, terms.number(n, 4 * bits)) for each, n in ((high, 2 * bits), (middle, bits))]
    word = gates.word(made(Kind.BV_ADD, made(Kind.BV_ADD, *placed), low).term)
    assert multiplies(gates, word, gates.word(x.term), gates.word(y.term))


@pytest.mark.attack("a multiplier with one gate that is another")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "made", [in_digits, in_tree, partial(in_rows, carry_of=of_half_adders)], ids=["digits", "tree", "rows"]
)
def test_no_multiplier_with_a_wrong_gate_multiplies(
    made: Callable[[Gates, Word, Word], Word], seed: int, record_property: Callable[[str, object], None]
) -> None:
    """Each of the gates in turn is of another kind; all products of three bits tell which multipliers are wrong."""
    random, wrong = Random(seed), 0
    gates, x, y = factors(3, 3)
    word = made(gates, x, y)
    right = list(gates.all)
    for number, gate in enumerate(right):
        if not gate.inputs:
            continue
        kinds = [kind for kind in ("and", "xor") if kind != gate.kind]
        gates.all[number] = Gate(random.choice(kinds), gate.inputs[:2], gate.level)
        differs = any(
            sum(value(gates, literal, leaves) << k for k, literal in enumerate(word)) != of(leaves, x) * of(leaves, y)
            for leaves in every(x, y)
        )
        assert multiplies(gates, word, x, y) is not differs
        wrong += differs
        gates.all[number] = gate
    assert wrong > 20
    record_property("caught", "refused")


def of(leaves: dict[int, int], word: Word) -> int:
    return sum(leaves[literal >> 1] << k for k, literal in enumerate(word))


def every(*words: Word) -> list[dict[int, int]]:
    places = [literal >> 1 for word in words for literal in word]
    return [dict(zip(places, bits, strict=True)) for bits in combinations((0, 1), repeat=len(places))]


def test_a_polynomial_that_grows_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomials, "MOST", (5, 0))
    gates, x, y = factors(4, 4)
    with pytest.raises(TooLarge):
        multiplies(gates, in_digits(gates, x, y), x, y)


# sums


def in_carry_save(terms: Terms, rows: Sequence[Bits], changed: int | None = None, keeps: int = -1) -> list[Bits]:
    """Two rows with the sum of all, by layers of full adders.

    Args:
        changed: the layer whose carries are other bits; None for none. keeps: the bits of these that are kept, as a mask.
    """
    bits = rows[0].width
    make, waiting, layer = partial(terms.apply, width=bits), list(rows), 0
    while len(waiting) > 2:
        x, y, z, *waiting = waiting
        half = make(Kind.BV_XOR, [x, y])
        carries = make(Kind.BV_OR, [make(Kind.BV_AND, [x, y]), make(Kind.BV_AND, [half, z])])
        if layer == changed:
            carries = make(Kind.BV_AND, [carries, terms.number(keeps % (1 << bits), bits)])
        placed = make(Kind.BV_SHL, [carries, terms.number(1, bits)])
        waiting, layer = [*waiting, make(Kind.BV_XOR, [half, z]), placed], layer + 1
    return waiting


@pytest.mark.parametrize(("count", "bits"), [(3, 1), (4, 8), (9, 32), (33, 32)])
def test_rows_of_full_adders_are_the_sum_in_any_order(count: int, bits: int) -> None:
    terms = Terms(TermManager())
    rows = [terms.free(f"row {k}", bits) for k in range(count)]
    ordered = terms.apply(Kind.BV_ADD, rows[::-1], bits)
    whole = terms.apply(Kind.BV_ADD, in_carry_save(terms, rows), bits)
    assert is_one_sum(whole.term, ordered.term, LIMITS)


@pytest.mark.attack("a carry-save sum without one of its carries")
def test_no_sum_without_a_carry_is_the_sum(record_property: Callable[[str, object], None]) -> None:
    """Each carry of three layers in turn is missing; some are never set, or lead out of the sum."""
    random, wrong = np.random.default_rng(1), 0
    for layer, place in combinations(range(3), range(5)):
        terms = Terms(TermManager())
        rows = [terms.free(f"row {k}", 5) for k in range(5)]
        kept = in_carry_save(terms, rows, layer, ~(1 << place))
        made, right = (terms.apply(Kind.BV_ADD, each, 5).term for each in (kept, rows))
        found = columns([made, right], {row.term: random.integers(0, 32, 1000).astype(object) for row in rows})
        differs = bool((found[made] != found[right]).any())
        assert is_one_sum(made, right, LIMITS) is not differs
        wrong += differs
    assert wrong > 10
    record_property("caught", "refused")


def with_skipping_carries(terms: Terms, x: Bits, y: Bits, places: int = 0) -> Bits:
    """The sum of two words by a parallel-prefix adder (P. M. Kogge and H. S. Stone's); a row takes runs from so many further
    places below."""
    make, bits, distance = partial(terms.apply, width=x.width), x.width, 1
    generated, half = make(Kind.BV_AND, [x, y]), make(Kind.BV_XOR, [x, y])
    runs = half
    while distance < bits:
        far = terms.number(distance, bits)
        carried = make(Kind.BV_AND, [runs, make(Kind.BV_SHL, [generated, far])])
        generated = make(Kind.BV_OR, [generated, carried])
        runs = make(Kind.BV_AND, [runs, make(Kind.BV_SHL, [runs, terms.number(distance + places, bits)])])
        distance *= 2
    return make(Kind.BV_XOR, [half, make(Kind.BV_SHL, [generated, terms.number(1, bits)])])


@pytest.mark.parametrize("bits", [8, 32, 106])
@pytest.mark.parametrize("low", [0, 3])
def test_an_adder_whose_carries_skip_is_found(bits: int, low: int) -> None:
    terms = Terms(TermManager())
    x, y, below = terms.free("x", bits), terms.free("y", bits), terms.free("below", max(1, low))
    whole = with_skipping_carries(terms, x, y)
    whole = terms.joined([whole, below]) if low else whole
    wanted = terms.apply(Kind.BV_ADD, [x, y], bits)
    wanted = terms.joined([wanted, below]) if low else wanted
    assert not is_one_sum(whole.term, wanted.term, LIMITS) or bits == 8
    assert is_one_sum(with_sums(terms, whole.term, LIMITS), wanted.term, LIMITS)


@pytest.mark.attack("a parallel-prefix adder with a wrong row")
def test_no_wrong_adder_is_a_sum(record_property: Callable[[str, object], None]) -> None:
    terms = Terms(TermManager())
    x, y = terms.free("x", 32), terms.free("y", 32)
    wrong = with_sums(terms, with_skipping_carries(terms, x, y, places=1).term, LIMITS)
    assert not is_one_sum(wrong, terms.apply(Kind.BV_ADD, [x, y], 32).term, LIMITS)
    record_property("caught", "refused")


@pytest.mark.attack("an adder that is wrong for one pair of operands")
def test_an_adder_that_is_wrong_for_few_operands_is_no_sum(record_property: Callable[[str, object], None]) -> None:
    terms = Terms(TermManager())
    x, y = terms.free("x", 32), terms.free("y", 32)
    is_one = terms.equal(x, terms.number(12345, 32))
    sums = Bits(terms.manager.mk_term(Kind.ITE, [is_one, x.term, with_skipping_carries(terms, x, y).term]), 32)
    assert not is_one_sum(with_sums(terms, sums.term, LIMITS), terms.apply(Kind.BV_ADD, [x, y], 32).term, LIMITS)
    record_property("caught", "refused")


# wires of a design


def wires(got: Callable[[Terms, Bits, Bits, Bits], Bits], shown: Sequence[tuple[int, int, int]]) -> list[Term]:
    """The wires that hold the product of significands {e is not 0, m}, of rows (e, m, y)."""
    terms = Terms(TermManager())
    e, m, y = terms.free("e", 3), terms.free("m", 4), terms.free("y", 5)
    x = terms.joined([terms.truth(terms.is_nonzero(e)), m])
    rows = {
        each.term: np.array(column, dtype=object) for each, column in zip((e, m, y), zip(*shown, strict=True), strict=True)
    }
    return list(holding(terms, got(terms, e, m, y).term, x, y, [], rows, LIMITS))


def in_parts(hidden: Callable[[Terms, Bits], Bits]) -> Callable[[Terms, Bits, Bits, Bits], Bits]:
    """The hidden one's row and the others'."""

    def got(terms: Terms, e: Bits, m: Bits, y: Bits) -> Bits:
        low = terms.apply(Kind.BV_MUL, [terms.extended(m, 10), terms.extended(y, 10)], 10)
        row = terms.choice(hidden(terms, e), lambda: y, lambda: terms.number(0, 5))
        placed = terms.extended(terms.joined([row, terms.number(0, 4)]), 10)
        return terms.extended(terms.apply(Kind.BV_ADD, [low, placed], 10), 14)

    return got


def is_normal(terms: Terms, e: Bits) -> Bits:
    """A hidden one by another expression than the specification's."""
    return terms.apply(Kind.BV_NOT, [terms.truth(terms.equal(e, terms.number(0, 3)))], 1)


def is_not_five(terms: Terms, e: Bits) -> Bits:
    """A hidden one that is wrong for one exponent."""
    return terms.apply(Kind.BV_AND, [is_normal(terms, e), terms.truth(terms.differs(e, terms.number(5, 3)))], 1)


def test_a_wire_of_a_design_holds_the_product() -> None:
    shown = [(0, 3, 17), (2, 9, 30), (7, 15, 31), (5, 0, 1)]
    assert len(wires(in_parts(is_normal), shown)) == 1


def test_a_product_whose_last_adder_skips() -> None:
    terms, bits = Terms(TermManager()), 24
    x, y = terms.free("x", bits), terms.free("y", bits)
    make, wide = partial(terms.apply, width=2 * bits), terms.extended(x, 2 * bits)
    masks = [terms.extended(terms.part(y, k, k), 2 * bits, signed=True) for k in range(bits)]
    placed = [make(Kind.BV_SHL, [wide, terms.number(k, 2 * bits)]) for k in range(bits)]
    sums, carries = in_carry_save(terms, [make(Kind.BV_AND, list(each)) for each in zip(masks, placed, strict=True)])
    whole = with_skipping_carries(terms, sums, carries)
    shown = {each.term: np.array([3, 2**24 - 1, 2**23 + 5, 77777], dtype=object) for each in (x, y)}
    assert list(holding(terms, whole.term, x, y, [], shown, LIMITS)) == [whole.term]


@pytest.mark.attack("a wire that is the product in all rows that are tried")
def test_a_wire_that_agrees_in_all_rows_does_not(record_property: Callable[[str, object], None]) -> None:
    assert wires(in_parts(is_not_five), [(0, 3, 17), (2, 9, 30), (7, 15, 31)]) == []
    record_property("caught", "refused")
