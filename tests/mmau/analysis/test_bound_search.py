"""How near a search comes to a bound."""

import golden
from mmau.analysis.adverse_rows import stimulus_rows
from mmau.analysis.error_bound import Bounded, searched, shares
from mmau.analysis.exact_value import Arithmetic


def test_search_comes_nearer_to_the_bound() -> None:
    watched = Bounded(Arithmetic.of_instruction(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")))
    start = shares(watched, stimulus_rows(watched.arithmetic, 12, 0))
    found, row = searched(watched, start, 150, 0)
    assert max(share for share, _ in start) < found <= 1
    assert watched.share(row) == found
