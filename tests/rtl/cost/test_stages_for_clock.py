"""The search for the fewest stages."""

import pytest

from rtl.cost.meet_clock import search_stages

DELAYS = {0: 12.0, 1: 11.5, 2: 6.5, 3: 5.0, 4: 5.0, 5: 3.0, 6: 3.0, 7: 2.9, 8: 2.8}


@pytest.mark.parametrize("known", [0, 3, 8])
@pytest.mark.parametrize(
    ("clock", "fewest"), [(20.0, 0), (12.0, 0), (11.9, 1), (11.0, 2), (6.0, 3), (5.0, 3), (4.9, 5), (2.8, 8), (2.7, None)]
)
def test_number_found_meets_the_clock_and_one_less_does_not(clock: float, fewest: int | None, known: int) -> None:
    found = search_stages(clock, DELAYS.__getitem__, {known: DELAYS[known]})
    assert found.fewest == fewest
    assert found.delays.items() <= DELAYS.items()
    if fewest is None:
        assert 8 in found.delays
    else:
        assert found.delays[fewest] <= clock
        assert fewest == 0 or found.delays[fewest - 1] > clock


def test_nothing_is_measured_twice() -> None:
    tried: list[int] = []

    def delay_of(stages: int) -> float:
        tried.append(stages)
        return DELAYS[stages]

    search_stages(4.9, delay_of, {0: DELAYS[0]})
    assert len(tried) == len(set(tried))
    assert 0 not in tried


@pytest.mark.attack("a clock that one register misses by its set-up time, and that no register would meet")
def test_none_is_tried_where_one_is_too_slow() -> None:
    delays = {0: 5.1, 1: 5.2, 2: 4.1}
    assert search_stages(5.1, delays.__getitem__, {2: 4.1}).fewest == 0
    assert search_stages(5.0, delays.__getitem__, {2: 4.1}).fewest == 2
    assert search_stages(5.1, delays.__getitem__, {}, first=2).fewest == 0


def test_search_begins_and_ends_where_it_is_told() -> None:
    found = search_stages(4.9, DELAYS.__getitem__, {}, first=3, most=4)
    assert (found.fewest, set(found.delays)) == (None, {2, 3, 4})


@pytest.mark.attack("a clock that seven registers meet and eight miss, which a search from eight upwards would refuse")
def test_a_register_too_many_is_left_out_again() -> None:
    delays = {5: 4.1, 6: 4.0, 7: 3.6, 8: 3.9}
    assert search_stages(3.7, delays.__getitem__, {}, first=8).fewest == 7
    refused = search_stages(2.0, delays.__getitem__, {}, first=8)
    assert refused.fewest is None
    assert min(refused.delays, key=refused.delays.__getitem__) == 7
    assert 5 not in refused.delays
