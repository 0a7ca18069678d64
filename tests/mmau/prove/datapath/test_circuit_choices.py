"""Circuits that keys choose: the pairwise maximum, multipliers of rows, anticipated leading zeros, narrowing normalisers,
compound roundings, long accumulators. They are proved, and refuted where a circuit or an argument is faulty."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from bitwuzla import Term, TermManager

from golden import Operation
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, MULTIPLIERS
from mmau.prove.datapath import accumulate
from mmau.prove.datapath.accumulate import close, parity
from mmau.prove.datapath.max_exp import PairwiseProof, is_comparison
from mmau.prove.datapath.multiplier import MultiplierProof
from mmau.prove.datapath.unit_questions import unit_questions
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Bits, Terms
from tests.mmau.prove.datapath.test_unit_questions import faulty
from tests.mmau.prove.provable_units import (
    OPERATIONS,
    SMALL,
    SMALL_FMA,
    SMALL_TR,
    STICKY,
    check_refuted,
    not_proved,
    unit_of,
    verilog_of,
    without_fact,
)
from tests.volume import one_in

PAIRWISE, ANTICIPATE = {"max_exp": "pairwise"}, {"leading_zeros": "anticipate"}
ROWS, BOOTH = {"multiplier": "carry-save"}, {"multiplier": "booth"}
NARROWING, COMPOUND, LONG = {"normaliser": "narrowing"}, {"rounder": "compound"}, {"accumulator": "long"}
LATER = NARROWING | COMPOUND | LONG
LAST = {key: choices[-1] for key, choices in CIRCUIT_CHOICES.items()}

NARROW = next(o for o in OPERATIONS if str(o.a) == "e4m3" and str(o.b) == "e5m2").changed(L=1)
"""Significands of four and three bits, so that there are digits."""

EXACT, GROUPED = (next(each for each in OPERATIONS if each.name == name) for name in ("E-FDPA", "GTR-FDPA"))

OF_ROWS = {f"multiply_0 {part}" for part in ("bits", "distributed", "partial products", "last adder")}
OF_EXACT_ROWS = {"multiply_0 fits", "multiply_0 last rows", "sum_align_0 exact", "sum_accumulate rows"}
OF_PAIRS = {f"sum_max_exp {part}" for part in ("comparison", "largest", "selects", "selected", "one", "gap")}

SMALL_UNITS: dict[str, tuple[Operation, dict[str, str], set[str], bool]] = {
    "pairwise": (SMALL, PAIRWISE, OF_PAIRS, True),
    **{f"one product and two, L = {L}": (GROUPED.changed(L=L), PAIRWISE, set(), False) for L in (1, 2)},
    **{f"{rows} e4m3 e5m2": (NARROW, {"multiplier": rows}, OF_ROWS, True) for rows in MULTIPLIERS[1:]},
    **{
        f"{rows} e5m2 e4m3": (NARROW.changed(a=NARROW.b, b=NARROW.a), {"multiplier": rows}, OF_ROWS, False)
        for rows in MULTIPLIERS[1:]
    },
    **{f"{rows} in the sum of an FMA": (SMALL_FMA, {"multiplier": rows}, OF_EXACT_ROWS, False) for rows in MULTIPLIERS[1:]},
    **{
        f"anticipate {encoding}": (SMALL, ANTICIPATE | {"encoding": encoding}, {"sum_accumulate zeros"}, not n)
        for n, encoding in enumerate(ENCODINGS)
    },
    **{f"later keys {o.name}": (o, LATER, set(), True) for o in (SMALL, EXACT)},
    **{f"later keys, anticipate {o.name}": (o, LATER | ANTICIPATE, set(), False) for o in (SMALL, EXACT)},
}
"""An operation, keys, obligations that are among those of the unit, and whether `make test` proves it."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name if soon else pytest.param(name, marks=pytest.mark.long) for name, (*_, soon) in SMALL_UNITS.items()]
)
def test_a_small_unit_is_proved(name: str) -> None:
    operation, keys, obligations, _ = SMALL_UNITS[name]
    unit = unit_of(operation, **keys)
    assert obligations <= {each.name for each in unit_questions(unit)}
    assert not_proved(unit) == []


@pytest.mark.long
@pytest.mark.parametrize("keys", [LATER, LAST, ROWS | {"adder": "sklansky"}, BOOTH | {"adder": "sklansky"}], ids=str)
@pytest.mark.parametrize(
    "k", range(len(OPERATIONS)), ids=lambda k: f"{OPERATIONS[k].name} {OPERATIONS[k].a} {OPERATIONS[k].b}"
)
def test_units_are_proved(k: int, keys: dict[str, str]) -> None:
    assert not_proved(unit_of(OPERATIONS[k], ENCODINGS[k % 3 if keys is LAST else 0], **keys)) == []


Fault = tuple[Operation, dict[str, str], str, str, str]

OF_MAX_EXP: dict[str, Fault] = {
    f"max_exp: {name}": (SMALL, PAIRWISE, there, instead, "max_exp")
    for name, there, instead in (
        ("a defeat that counts as a win", r"(assign \S+  = )~ (wins_0_1;)", r"\1\2"),
        ("a defeat that is overlooked", r"(assign \S+  = \| \{) \S+ , ", r"\1 "),
        ("a difference of the wrong two", r"(\$signed\(exp_0\) - \$signed\()exp_1", r"\1exp_2"),
        ("an exponent that is never selected", r"(\? 6'h00 : )exp_1;", r"\g<1>6'h00;"),
        ("the gap of another exponent", r"(\$signed\(exp_2\) - \$signed\()exp_0", r"\1exp_1"),
    )
}
OF_MULTIPLIER: dict[str, Fault] = {
    "multiplier: a partial product": (NARROW, ROWS, r"(assign partial_0_1\S* = )y__sig\[1\]", r"\1y__sig[0]", "multiply"),
    "multiplier: a compressor": (NARROW, ROWS, r"(assign partial_1_0\S* = .*) \^ ", r"\1 | ", "multiply"),
    "multiplier: a digit": (NARROW, BOOTH, r"(assign one_1 = .*) \^ ", r"\1 & ", "multiply"),
    "multiplier: the last adder": (NARROW, BOOTH, r"(assign carry_up_1_3 = .*) \| ", r"\1 & ", "multiply"),
    "multiplier: a row of an overflowing product": (
        SMALL_TR, ROWS, r"(assign partial_0_1\S* = .__sig)\[1\]", r"\1[0]", "multiply",
    ),
}  # fmt: skip
OF_NORMALISE: dict[str, Fault] = {
    f"normalise: {name}": (SMALL, ANTICIPATE, there, instead, module)
    for name, there, instead, module in (
        ("a break that is overlooked", r"(assign breaks\[\d+:0\] = .*) \| ", r"\1 & ", "accumulate"),
        ("a count that is one too large", r"assign zeros = lz_found \? lz_count : ", "assign zeros = 1'h1 + ", "accumulate"),
        ("a one that the count overlooks", r"(assign lz_high_high_high_found = .*?) \| .*;", r"\1;", "accumulate"),
        ("a correction by one that is missing", r"(assign again = \S+ +\? 2'h0 : ).*;", r"\g<1>2'h2;", "normalise"),
        ("a correction by two that is missing", r"2'h1 : 2'h2", "2'h1 : 2'h1", "normalise"),
    )
}
OF_LATER: dict[str, Fault] = {
    "later: what a narrowing normaliser drops": (SMALL, NARROWING, r"(assign sticky = .*) \| ", r"\1 & ", "normalise"),
    "later: a distance of a narrowing normaliser": (
        SMALL_FMA, NARROWING, r"(assign left_1 = left\[)1", r"\g<1>0", "normalise",
    ),
    "later: the choice of a compound rounding": (SMALL, COMPOUND, r"(assign .* = norm\[\d+\]) & ", r"\1 | ", "round"),
    "later: a place in a long accumulator": (EXACT, LONG, r" >> ", " << ", "align"),
}  # fmt: skip
FAULTS = OF_MAX_EXP | OF_MULTIPLIER | OF_NORMALISE | OF_LATER
"""An operation, keys, a pattern of the Verilog, what it becomes where it first stands in a module, and the module."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [*one_in(3, OF_MAX_EXP), *one_in(2, OF_MULTIPLIER), *one_in(3, OF_NORMALISE), *one_in(2, OF_LATER)]
)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_is_refuted_and_replayed(fault: str) -> None:
    operation, keys, *change = FAULTS[fault]
    check_refuted(unit_of(operation, **keys), faulty(verilog_of(operation, **keys), *change))


@pytest.mark.long
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_rows_that_are_not_their_product_are_refuted() -> None:
    """The highest place of the rows: a one that the sum of an FMA takes away again."""
    fault = (r"(assign prod__carry\[22\] = \S+) \| ", r"\1 & ", "multiply")
    wrong = faulty(verilog_of(SMALL_FMA, **BOOTH), *fault)
    assert "multiply_0 last rows" in not_proved(unit_of(SMALL_FMA, **BOOTH), wrong)


NEEDED: list[tuple[type, Operation, dict[str, str], tuple[str, ...]]] = [
    (PairwiseProof, SMALL, PAIRWISE, ("selects", "selected", "one", "gap")),
    (MultiplierProof, NARROW, ROWS, ("bit", "bits", "partial products", "rows", "carried over", "sum of rows")),
    (MultiplierProof, SMALL_FMA, BOOTH, ("fits", "below", "groups", "layer")),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proof", "operation", "keys", "name"),
    [
        pytest.param(proof, operation, keys, name, marks=() if proof is PairwiseProof else pytest.mark.long, id=name)
        for proof, operation, keys, names in NEEDED
        for name in names
    ],
)
def test_every_part_of_the_argument_is_needed(
    proof: type, operation: Operation, keys: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "_fact", without_fact(proof, name))
    assert not_proved(unit_of(operation, **keys))


@pytest.mark.slow
def test_an_exponent_that_the_argument_leaves_out_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one of all but the first exponent is selected does not follow."""
    sound = PairwiseProof.selection

    def without_first(self: PairwiseProof) -> Any:
        kept, self._selected = self._selected, [~self._selected[0] & self._selected[0], *self._selected[1:]]
        try:
            return sound(self)
        finally:
            self._selected = kept

    monkeypatch.setattr(PairwiseProof, "selection", without_first)
    assert not_proved(unit_of(SMALL, **PAIRWISE))


def test_which_wires_are_cut() -> None:
    assert is_comparison("sum_max_exp.wins_0_12")
    assert not is_comparison("sum_max_exp.exp_0")
    assert not is_comparison("sum_accumulate.wins_0_1")


def test_claims_about_leading_zeros_hold_for_every_total_and_count() -> None:
    terms = Terms(TermManager())
    total, zeros = terms.free("total", 5), terms.free("zeros", 3)
    said = Evaluation(close(terms, total, zeros))
    for value, count in product(range(32), range(8)):
        leading = 5 - value.bit_length()
        claims = [value == 0 or count <= leading, value == 0 or leading <= count + 2]
        assert said.of({total.term: value, zeros.term: count}) == claims


def test_parity() -> None:
    terms = Terms(TermManager())
    total, x, y = (terms.free(name, 3) for name in ("total", "x", "y"))
    even = terms.joined([terms.free("z", 2), terms.number(0, 1)])
    formula = Evaluation([parity(terms, total, [x, even, y])])
    for p, q, r in product(range(8), repeat=3):
        assert formula.of({total.term: p, x.term: q, y.term: r}) == [p & 1 == (q ^ r) & 1]


@pytest.mark.slow
@pytest.mark.parametrize(("allowed", "refuted"), [(1, "sum_accumulate zeros"), (3, "d")])
def test_another_error_than_the_circuit_has_is_refuted(allowed: int, refuted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "ANTICIPATION_ERROR", allowed)
    assert not_proved(unit_of(SMALL, **ANTICIPATE)) == [refuted]


@pytest.mark.slow
def test_normalisation_rests_on_the_claims_about_leading_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "close", lambda terms, total, zeros: close(terms, total, zeros)[:1])
    assert not_proved(unit_of(SMALL, **ANTICIPATE)) == ["d"]


@pytest.mark.slow
def test_a_total_of_zero_that_has_lost_something_is_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the key `sticky` and truncation down a total is odd where anything is lost; without that fact it may be 0."""

    def nothing(terms: Terms, total: Bits, summed: Sequence[Bits]) -> Term:
        return terms.manager.mk_true()

    operation = next(each for each in STICKY if each.parameters()["truncation"] == "RD")
    assert not_proved(unit_of(operation, **ANTICIPATE)) == []
    monkeypatch.setattr(accumulate, "parity", nothing)
    assert not_proved(unit_of(operation, **ANTICIPATE)) == ["d"]
