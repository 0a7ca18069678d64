"""Directed corners: inputs made for one situation each. Every corner is a list of cases; a row is one of them.

Level 1 is the first cases of each corner, at most a thousand of all corners together: what every run should have. Level 2 is
all cases: the same situations at every distance, in every place, in every combination.
"""

from golden.stimulus.codes import landmarks
from golden.stimulus.corners.alignment import alignment_edge, cancellation
from golden.stimulus.corners.corner import GAPS, Corner, sweep
from golden.stimulus.corners.extremes import OVERFLOWS, e_zero_floor, overflow, subnormal_results, subnormal_span
from golden.stimulus.corners.products import OFF, cancelled_products, completed_products, offsets, significant_products
from golden.stimulus.corners.specials import (
    c_sweep,
    c_values,
    discrepancy,
    discrepancy_cases,
    few_c_values,
    landmark_count,
    landmark_placements,
    special_operands,
    special_pairs,
)
from golden.stimulus.corners.ties import CARRIES, DIRECTED_TIES, PLACES, TIE_SHARES, carries, carry_runs, distances, ties
from golden.stimulus.shape import OperandShape


def _pairs(shape: OperandShape) -> int:
    return len(landmarks(shape.a)) * len(landmarks(shape.b))


def _directed_ties(shape: OperandShape) -> int:
    steps = len(distances(shape))
    return steps * max(1, DIRECTED_TIES // steps)


CORNERS: dict[str, Corner] = {
    "ties": Corner(_directed_ties, lambda shape: len(distances(shape)) * len(TIE_SHARES) * 2 * 2, ties),
    "overflow": Corner(lambda shape: OVERFLOWS, lambda shape: OVERFLOWS, overflow),
    "cancellation": Corner(*sweep(GAPS, 2, 2, directed=1), cancellation),
    "e_zero-floor": Corner(*sweep(GAPS, 4, 2, directed=1), e_zero_floor),
    "subnormal-results": Corner(subnormal_span, lambda shape: 3 * subnormal_span(shape), subnormal_results),
    "alignment-edge": Corner(*sweep(GAPS, 3, 2, directed=1), alignment_edge),
    "special-operands": Corner(landmark_count, landmark_placements, special_operands),
    "special-pairs": Corner(lambda shape: 2 * len(landmarks(shape.a)), _pairs, special_pairs),
    "c-sweep": Corner(lambda shape: few_c_values(shape.c), lambda shape: len(c_values(shape.c)), c_sweep),
    "discrepancy": Corner(lambda shape: min(discrepancy_cases(shape), 2), discrepancy_cases, discrepancy),
    "carries": Corner(carry_runs, lambda shape: carry_runs(shape) * len(CARRIES) * len(PLACES), carries),
    "completed-products": Corner(*sweep(GAPS, 2, len(OFF), directed=2), completed_products),
    "cancelled-products": Corner(*sweep(GAPS, 2, len(OFF), directed=2), cancelled_products),
    "significant-products": Corner(offsets, lambda shape: 2 * 2 * offsets(shape), significant_products),
}
"""Name to corner, in the order in which rows are labelled, after the six classes."""
