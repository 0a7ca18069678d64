"""Where the pipeline registers go."""

from itertools import combinations, pairwise

import pytest

from rtl.pipeline import balanced_cuts


def deepest(depths: list[int], cuts: tuple[int, ...]) -> int:
    return max(sum(depths[start + 1 : end + 1]) for start, end in pairwise([-1, *cuts]))


@pytest.mark.parametrize("depths", [[8, 40, 26, 18, 48, 36, 22], [1, 1, 1, 1], [100, 1, 1, 1, 1], [5]])
def test_no_other_choice_of_cuts_is_shallower(depths: list[int]) -> None:
    last = len(depths) - 1
    for stages in range(1, len(depths) + 1):
        cuts = balanced_cuts(depths, stages)
        assert len(cuts) == stages
        assert cuts[-1] == last
        others = [(*c, last) for c in combinations(range(last), stages - 1)]
        assert deepest(depths, cuts) == min(deepest(depths, other) for other in others)


def test_one_register_more_than_steps_stands_in_front() -> None:
    assert balanced_cuts([3, 4, 5], 4) == (-1, 0, 1, 2)


def test_combinational_unit_has_none() -> None:
    assert balanced_cuts([3, 4, 5], 0) == ()
