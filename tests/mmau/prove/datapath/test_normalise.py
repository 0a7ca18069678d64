"""Anticipated leading zeros: the facts about them, and the refutation of a wrong count, correction or fact."""

from collections.abc import Sequence
from itertools import product

import pytest
from bitwuzla import Term, TermManager

from golden import Operation, Unit
from golden.units.unit import ENCODINGS
from mmau.prove.counterexample import vector
from mmau.prove.datapath import accumulate
from mmau.prove.datapath.accumulate import close, parity
from mmau.prove.datapath.unit_questions import unit_questions
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Bits, Terms
from tests.mmau.prove.datapath.test_unit_questions import faulty
from tests.mmau.prove.provable_units import SMALL, STICKY, not_proved, unit_of, verilog_of
from tests.volume import one_in

SECONDS = 30.0


def anticipating(operation: Operation, encoding: str = "ones-complement") -> Unit:
    return unit_of(operation, encoding, leading_zeros="anticipate")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [ENCODINGS[0], *(pytest.param(each, marks=pytest.mark.long) for each in ENCODINGS[1:])])
def test_a_small_unit_is_proved(encoding: str) -> None:
    unit = anticipating(SMALL, encoding)
    assert "sum_accumulate zeros" in [each.name for each in unit_questions(unit)]
    assert not_proved(unit) == []


def test_claims_hold_for_every_total_and_count() -> None:
    terms = Terms(TermManager())
    total, zeros = terms.free("total", 5), terms.free("zeros", 3)
    said = Evaluation(close(terms, total, zeros))
    for value, count in product(range(32), range(8)):
        leading = 5 - value.bit_length()
        assert said.of({total.term: value, zeros.term: count}) == [
            value == 0 or count <= leading,
            value == 0 or leading <= count + 2,
        ]


def test_parity() -> None:
    terms = Terms(TermManager())
    total, x, y = (terms.free(name, 3) for name in ("total", "x", "y"))
    even = terms.joined([terms.free("z", 2), terms.number(0, 1)])
    formula = Evaluation([parity(terms, total, [x, even, y])])
    for p, q, r in product(range(8), repeat=3):
        assert formula.of({total.term: p, x.term: q, y.term: r}) == [p & 1 == (q ^ r) & 1]


FAULTS = {
    "a break that is overlooked": (r"(assign breaks\[\d+:0\] = .*) \| ", r"\1 & ", "accumulate"),
    "a count that is one too large": (r"assign zeros = lz_found \? lz_count : ", "assign zeros = 1'h1 + ", "accumulate"),
    "a one that the count overlooks": (r"(assign lz_high_high_high_found = .*?) \| .*;", r"\1;", "accumulate"),
    "a correction by one that is missing": (r"(assign again = \S+ +\? 2'h0 : ).*;", r"\g<1>2'h2;", "normalise"),
    "a correction by two that is missing": (r"2'h1 : 2'h2", "2'h1 : 2'h1", "normalise"),
}  # fmt: skip
"""As `tests.mmau.prove.datapath.test_unit_questions.FAULTS`."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(3, FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_is_refuted_and_replayed(fault: str) -> None:
    unit = anticipating(SMALL)
    verilog = faulty(verilog_of(SMALL, leading_zeros="anticipate"), *FAULTS[fault])
    names = not_proved(unit, verilog)
    found = next(filter(None, (vector(unit, verilog, name, SECONDS) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.got != found.expected


@pytest.mark.slow
@pytest.mark.parametrize(("allowed", "refuted"), [(1, "sum_accumulate zeros"), (3, "d")])
def test_another_error_than_the_circuit_has_is_refuted(allowed: int, refuted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "ANTICIPATION_ERROR", allowed)
    assert not_proved(anticipating(SMALL)) == [refuted]


@pytest.mark.slow
def test_normalisation_rests_on_the_claims_about_leading_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "close", lambda terms, total, zeros: close(terms, total, zeros)[:1])
    assert not_proved(anticipating(SMALL)) == ["d"]


@pytest.mark.slow
def test_a_total_of_zero_that_has_lost_something_is_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the key `sticky` and truncation down a total is odd where anything is lost; without that fact it may be 0."""

    def nothing(terms: Terms, total: Bits, summed: Sequence[Bits]) -> Term:
        return terms.manager.mk_true()

    operation = next(each for each in STICKY if each.parameters()["truncation"] == "RD")
    assert not_proved(anticipating(operation)) == []
    monkeypatch.setattr(accumulate, "parity", nothing)
    assert not_proved(anticipating(operation)) == ["d"]
