"""Cases that are complete, guesses that are proved, and results that differ."""

from random import Random
from time import monotonic

import numpy as np
import pytest
from bitwuzla import Kind

from cosim.bench.comparison_rules import Compare
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import evaluate, number
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.user_design.asking import Limits, NotCompared
from mmau.prove.user_design.comparisons import Agreement
from mmau.prove.user_design.deciding import Comparison
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.operand_cases import Case, CaseParts, IncompleteCases, cases_of, check_complete
from mmau.prove.user_design.row_evaluation import Column, columns
from mmau.prove.user_design.sweeping import Sums, ask_split
from tests.mmau.prove.provable_units import SMALL, random_inputs

ROWS = 200


def limits() -> Limits:
    """Limits that suffice for these questions."""
    return Limits(monotonic() + 600.0, 5.0)


def specified(terms: Terms) -> tuple[dict[str, Bits], Bits, list[Case], dict[str, Column]]:
    """A small operation: its ports, its specification, its cases, and rows of operands by port."""
    operation, random, parts = SMALL, Random(1), CaseParts()
    widths = {"a": 3 * operation.a.width, "b": 3 * operation.b.width, "c": operation.c.width}
    ports = {name: terms.free(name, width) for name, width in widths.items()}
    d = SPECIFICATIONS[type(operation)](terms, operation, ports, parts)
    rows = [random_inputs(random, operation) for _ in range(ROWS)]
    return ports, d, cases_of(terms, parts), {name: np.array([row[name] for row in rows], dtype=object) for name in ports}


@pytest.mark.slow
def test_rows_give_what_single_values_do() -> None:
    with deep_stack() as manager:
        ports, d, _, rows = specified(Terms(manager))
        found = columns([d.term], {ports[name].term: column for name, column in rows.items()})
        for k in range(0, ROWS, 20):
            values = evaluate([d.term], {ports[name].term: column[k] for name, column in rows.items()})
            assert all(found[term][k] == value for term, value in values.items())


@pytest.mark.slow
def test_terms_made_again_give_the_same() -> None:
    with deep_stack() as manager:
        ports, d, _, rows = specified(Terms(manager))
        for k in range(0, ROWS, 20):
            fixed = {ports[name].term: manager.mk_bv_value(ports[name].term.sort(), rows[name][k]) for name in ("a", "c")}
            again = Folding(manager, fixed).of(d.term)
            b = {ports["b"].term: rows["b"][k]}
            whole = evaluate([d.term], {ports[name].term: column[k] for name, column in rows.items()})[d.term]
            assert evaluate([again], b)[again] == whole


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Kind.BV_REDOR, Kind.BV_REDAND])
def test_a_constant_part_decides_whether_any_bit_is_one_or_all_are(kind: Kind) -> None:
    """As of a register that is set by an input beside the reset."""
    with deep_stack() as manager:
        terms = Terms(manager)
        some, reset = terms.free("some", 2).term, terms.free("reset", 2).term
        whole = manager.mk_term(kind, [manager.mk_term(Kind.BV_CONCAT, [some, reset])])
        for value in range(4):
            given = manager.mk_bv_value(reset.sort(), value)
            made = Folding(manager, {reset: given}).of(whole)
            values = {evaluate([whole], {some: other, reset: value})[whole] for other in range(4)}
            assert made.is_value() is (len(values) == 1)
            assert not made.is_value() or {number(made)} == values


def test_cases_are_complete_and_a_list_that_is_cut_short_is_refused() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        ports, d, cases, rows = specified(terms)
        assert [case.name for case in cases] == ["special values", "zeros alone", "all other operands"]
        check_complete(terms, cases)
        values = {ports[name].term: column for name, column in rows.items()}
        for left_out in range(3):
            cut = [case for number, case in enumerate(cases) if number != left_out]
            compared = Comparison(terms, d, d, Agreement(terms, SMALL, Compare()).differs, cut, values)
            with pytest.raises(IncompleteCases, match="not all operands are in one of the cases"):
                compared.decision(limits())


@pytest.mark.slow
def test_a_difference_that_no_row_shows_is_found() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        ports, d, cases, rows = specified(terms)
        values = {ports[name].term: column for name, column in rows.items()}
        rare = manager.mk_term(Kind.EQUAL, [ports["b"].term, terms.number(0x155AA, ports["b"].width).term])
        wrong = terms.apply(Kind.BV_XOR, [d, terms.extended(terms.truth(rare), d.width)], d.width)
        found = Comparison(terms, wrong, d, Agreement(terms, SMALL, Compare()).differs, cases, values).decision(limits())
        assert found.verdict == "sometimes"
        assert found.values[ports["b"].term] == 0x155AA


@pytest.mark.slow
def test_in_no_time_nothing_is_decided_that_is_not_trivial() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        ports, d, cases, rows = specified(terms)
        values = {ports[name].term: column for name, column in rows.items()}
        both, either = (terms.apply(kind, [d, ports["c"]], d.width) for kind in (Kind.BV_AND, Kind.BV_OR))
        exclusive = terms.apply(Kind.BV_SUB, [either, both], d.width)
        other = terms.apply(Kind.BV_XOR, [exclusive, ports["c"]], d.width)
        compared = Comparison(terms, other, d, Agreement(terms, SMALL, Compare()).differs, cases, values)
        found = compared.decision(Limits(monotonic(), 0.0))
        assert (found.verdict, found.count) == ("unknown", 3)
        assert (found.open, found.distances) == (("special values", "zeros alone", "all other operands"), None)
        assert compared.decision(limits()).verdict == "never"


@pytest.mark.slow
@pytest.mark.parametrize("is_signed", [False, True])
def test_sums_are_extended_term_by_term_only_where_nothing_overflows(is_signed: bool) -> None:
    with deep_stack() as manager:
        terms = Terms(manager)
        x, y = terms.free("x", 8), terms.free("y", 8)
        wide = terms.extended(terms.apply(Kind.BV_ADD, [x, y], 8), 12, is_signed)
        assert Sums(manager, [], limits()).of(wide.term) == wide.term
        small = [manager.mk_term(Kind.BV_ULT, [each.term, terms.number(16, 8).term]) for each in (x, y)]
        spread = Sums(manager, small, limits()).of(wide.term)
        assert spread.kind() == Kind.BV_ADD
        assert ask_split(manager, manager.mk_term(Kind.DISTINCT, [spread, wide.term]), small, limits()) == "never"
        assert ask_split(manager, manager.mk_term(Kind.DISTINCT, [spread, wide.term]), [], limits()) == "sometimes"


def test_what_may_differ() -> None:
    with deep_stack() as manager:
        terms = Terms(manager)

        def differs(got: int, expected: int, **rule: str) -> bool:
            code = Agreement(terms, SMALL, Compare(**rule)).differs(terms.number(got, 16), terms.number(expected, 16))
            return bool(evaluate([code], {})[code])

        assert differs(0x8000, 0)
        assert not differs(0x8000, 0, zero_sign="ignore")
        assert differs(0x8001, 0, zero_sign="ignore")
        assert not differs(0x7FFF, 0x7FFF)
        assert differs(0x7E00, 0x7FFF) is SMALL.nan_is_fixed()
        assert not differs(0x7E00, 0x7FFF, nan="any")
        assert differs(0x7C00, 0x7FFF, nan="any")
        assert differs(0x7FFF, 0x7FFF, nan="0x7e00")
        assert not differs(0x7E00, 0x7FFF, nan="0x7e00")
        with pytest.raises(NotCompared, match="propagate"):
            Agreement(terms, SMALL, Compare(nan="propagate"))
        with pytest.raises(ValueError, match=r"^\[compare\] nan must be the code of a NaN"):
            Agreement(terms, SMALL, Compare(nan="0x1"))
