"""The Pareto front against its definition, pair by pair."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmau.explore.report.pareto import front

Pair = tuple[float | None, float | None]

VALUES = st.one_of(
    st.none(),
    st.integers(-3, 3),  # ties are the rule
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.1 + 0.2, 0.3, 2**53, 2**53 + 1, 2.0**53]),
    st.floats(allow_nan=True, allow_infinity=True),
)


def by_definition(pairs: list[Pair]) -> list[int]:
    """Every pair that no other one dominates, by comparing each with each."""

    def known(pair: Pair) -> bool:
        return all(value is not None and not math.isnan(value) for value in pair)

    def dominates(p: Pair, q: Pair) -> bool:
        two = [(a, b) for a, b in zip(p, q, strict=True) if a is not None and b is not None]
        return known(p) and all(a <= b for a, b in two) and any(a < b for a, b in two)

    return [n for n, pair in enumerate(pairs) if known(pair) and not any(dominates(other, pair) for other in pairs)]


@pytest.mark.slow
@given(st.lists(st.tuples(VALUES, VALUES), max_size=12))
@example([(1, 5), (2, 3), (2, 3), (2, 4), (3, 3), (None, 0)])
@example([(math.inf, math.inf)])
@example([(1, math.inf), (1, math.inf), (2, math.inf)])
@example([(2**53, 1), (2**53 + 1, 0), (2.0**53, 1)])
@example([(0.0, 1), (-0.0, 1), (math.nan, 0), (0, math.nan)])
def test_front_is_what_nothing_dominates(pairs: list[Pair]) -> None:
    assert front(pairs) == by_definition(pairs)


def test_front_of_nothing_is_empty() -> None:
    assert front([]) == []
