"""The search for the fewest stages."""

import pytest

from rtl.cost.stages_for_clock import search_stages

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
