"""The sum in the sign frame of its last term against golden's, exhaustively at small widths."""

import itertools

import pytest

from golden.arithmetic.steps import in_frame
from golden.units.unit import CIRCUIT_CHOICES
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR
from rtl.steps.accumulate_in_frame import AccumulateInFrame
from tests.rtl.simulate import outputs


@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
@pytest.mark.parametrize("widths", [(1, 1), (2, 3), (1, 2, 2), (2, 1, 1, 2)])
def test_sum_in_frame_is_exact_and_anticipates_for_every_combination(reduction: str, widths: tuple[int, ...]) -> None:
    total_bits = sum(1 << w for w in widths).bit_length()
    component = AccumulateInFrame(widths, total_bits, reduction, anticipates=True, adder="brent-kung")
    terms = [[(s, v) for s in (0, 1) for v in range(1 << w)] for w in widths]
    combinations = list(itertools.product(*terms))
    rows = [
        {f"sign_{k}": s for k, (s, _) in enumerate(c)} | {f"aligned_{k}": v for k, (_, v) in enumerate(c)}
        for c in combinations
    ]
    seen = outputs(component, rows, lambda get: (get(component.sign), get(component.total), get(component.zeros)))
    for combination, (sign, total, zeros) in zip(combinations, seen, strict=True):
        *_, (frame, _) = combination
        inside = sum(in_frame(v, s != frame) for s, v in combination)
        expected = -inside if frame else inside
        assert (sign, total) == (expected < 0, abs(expected)), combination
        if expected:
            exact = total_bits - total.bit_length()
            assert exact - ANTICIPATION_ERROR <= zeros <= exact, combination


def test_a_zero_of_the_other_sign_counts_as_minus_one() -> None:
    """−0 beside a c of 4, and +0 beside a c of −4: 3 in the frame."""
    component = AccumulateInFrame((3, 3), 4, "carry-save", anticipates=False, adder="brent-kung")
    rows = [{"sign_0": 1 - s, "aligned_0": 0, "sign_1": s, "aligned_1": 4} for s in (0, 1)]
    assert outputs(component, rows, lambda get: (get(component.sign), get(component.total))) == [(0, 3), (1, 3)]
