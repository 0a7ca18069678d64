"""Directed corners: inputs for one situation each. Every corner is a list of cases; a row is one of them.

Level 1 is the first cases of each corner, at most a thousand in total, for every run. Level 2 is all cases: the same
situations at every distance, in every place, in every combination.
"""

from golden.stimulus.codes import landmarks
from golden.stimulus.corners.carried import (
    CARRIED_TIES,
    LARGEST_SUMS,
    carried_or_paired_ties,
    full_c,
    full_c_cases,
    invalid_among_nans,
    invalid_cases,
    largest_sums,
    paired_ties_cases,
)
from golden.stimulus.corners.corner import GAPS, Corner, alignment_edge, cancellation, sweep
from golden.stimulus.corners.deep import (
    CANCELLED_SUMS,
    REMAINDERS,
    REPEATS,
    cancelled_sums,
    cancelled_to_subnormal,
    exponents_above,
    has_zero_scale,
    long_ones,
    long_runs,
    zero_scales,
)
from golden.stimulus.corners.extremes import (
    CARRIES,
    DIRECTED_TIES,
    OVERFLOWS,
    PLACES,
    carries,
    carry_runs,
    distances,
    e_zero_floor,
    floors,
    overflow,
    subnormal_results,
    subnormal_span,
    tie_shares,
    ties,
)
from golden.stimulus.corners.headroom import FLOORED_TIES, floored_tie_cases, floored_ties, opposed_cases, opposed_infinities
from golden.stimulus.corners.integer_sums import CORNERS as OF_INTEGERS
from golden.stimulus.corners.of_conversions import CORNERS as OF_CONVERSIONS
from golden.stimulus.corners.products import (
    OFF,
    cancelled_products,
    completed_products,
    lone_bit_cases,
    lone_bits,
    offsets,
    significant_products,
)
from golden.stimulus.corners.rare_cases import (
    ENDS,
    MAKEUPS,
    NEARBY,
    below_normal,
    cancelled_beside,
    carried_c,
    filled_result,
    nearby_products,
    scale_ends,
    scale_gaps,
    several_specials,
    zero_sums,
)
from golden.stimulus.corners.specials import (
    c_cases,
    c_sweep,
    discrepancy,
    discrepancy_cases,
    few_c_values,
    landmark_count,
    landmark_placements,
    special_operands,
    special_pairs,
)
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.shape import OperandShape


def _pairs(shape: OperandShape) -> int:
    return len(landmarks(shape.a)) * len(landmarks(shape.b))


_NO_CORNER = Corner(lambda shape: 0, lambda shape: 0, special_operands)
"""A corner without cases, for formats that lack its operands."""


def _directed_ties(shape: OperandShape) -> int:
    steps = len(distances(shape))
    return steps * max(1, DIRECTED_TIES // steps)


_OF_FLOATS: dict[str, Corner] = {
    "ties": Corner(_directed_ties, lambda shape: len(distances(shape)) * len(tie_shares(shape)) * 2 * 2, ties),
    "overflow": Corner(lambda shape: OVERFLOWS, lambda shape: OVERFLOWS, overflow),
    "cancellation": Corner(*sweep(GAPS, 2, 2, directed=1), cancellation),
    "e_zero-floor": Corner(lambda shape: GAPS, lambda shape: GAPS * floors(shape) * 2, e_zero_floor),
    "subnormal-results": Corner(subnormal_span, lambda shape: 3 * subnormal_span(shape), subnormal_results),
    "alignment-edge": Corner(*sweep(GAPS, 3, 2, directed=1), alignment_edge),
    "special-operands": Corner(landmark_count, landmark_placements, special_operands),
    "special-pairs": Corner(lambda shape: 2 * len(landmarks(shape.a)), _pairs, special_pairs),
    "c-sweep": Corner(lambda shape: few_c_values(shape.c), c_cases, c_sweep),
    "discrepancy": Corner(lambda shape: min(discrepancy_cases(shape), 2), discrepancy_cases, discrepancy),
    "carries": Corner(carry_runs, lambda shape: carry_runs(shape) * len(CARRIES) * len(PLACES), carries),
    "completed-products": Corner(*sweep(GAPS, 2, len(OFF), directed=2), completed_products),
    "cancelled-products": Corner(*sweep(GAPS, 2, len(OFF), directed=2), cancelled_products),
    "significant-products": Corner(offsets, lambda shape: 2 * 2 * offsets(shape), significant_products),
    "several-specials": Corner(*sweep(len(MAKEUPS), 3, 2, 4, directed=1), several_specials),
    "invalid-among-nans": Corner(lambda shape: 0, invalid_cases, invalid_among_nans),
    "full-c": Corner(lambda shape: 0, full_c_cases, full_c),
    "zero-sums": Corner(*sweep(4, 2, directed=1), zero_sums),
    "carried-c": Corner(*sweep(GAPS, 2, 4, directed=0), carried_c),
    "below-normal": Corner(*sweep(GAPS, 2, 3, directed=0), below_normal),
    "nearby-products": Corner(lambda shape: NEARBY, lambda shape: NEARBY * (GAPS if shape.K > 1 else 1), nearby_products),
    "cancelled-beside": Corner(*sweep(GAPS, 2, 2, directed=0), cancelled_beside),
    "filled-result": Corner(*sweep(3, 2, 2, 2, directed=2), filled_result),
    "scale-ends": Corner(lambda shape: 0, lambda shape: 0 if shape.scale is None else ENDS, scale_ends),
    "scale-gaps": Corner(lambda shape: 0, lambda shape: 0 if shape.scale is None else 4 * GAPS, scale_gaps),
    "cancelled-to-subnormal": Corner(
        lambda shape: 0, lambda shape: exponents_above(shape) * len(REMAINDERS) * 3, cancelled_to_subnormal
    ),
    "long-ones": Corner(lambda shape: 0, lambda shape: 3 * REPEATS * long_runs(shape), long_ones),
    "zero-scales": Corner(lambda shape: 0, lambda shape: 3 * 2 * 2 * 4 if has_zero_scale(shape) else 0, zero_scales),
    "cancelled-sums": Corner(lambda shape: 0, lambda shape: CANCELLED_SUMS if shape.K > 1 else 0, cancelled_sums),
    "carried-ties": Corner(
        paired_ties_cases,
        lambda shape: paired_ties_cases(shape) + (CARRIED_TIES if shape.K > 1 else 0),
        carried_or_paired_ties,
    ),
    "largest-sums": Corner(lambda shape: 0, lambda shape: LARGEST_SUMS if shape.K > 1 else 0, largest_sums),
    "lone-bits": Corner(lambda shape: 0, lone_bit_cases, lone_bits),
    "opposed-infinities": Corner(opposed_cases, opposed_cases, opposed_infinities),
    "floored-ties": Corner(lambda shape: floored_tie_cases(shape) // FLOORED_TIES, floored_tie_cases, floored_ties),
}

_OF_ANY = ("special-operands", "special-pairs", "c-sweep", "discrepancy")
"""Corners of products in any format; the other ones are for floats, and `integers.CORNERS` for integers."""


def _of_any_format(name: str) -> Corner:
    """One corner for all formats; for integers and for conversions it may have no cases."""
    of_floats = _OF_FLOATS[name]
    of_integers = of_floats if name in _OF_ANY else OF_INTEGERS.get(name, _NO_CORNER)
    of_conversions = OF_CONVERSIONS.get(name, _NO_CORNER)

    def chosen(shape: OperandShape) -> Corner:
        return of_integers if is_integer(shape) else of_floats if shape.has_b else of_conversions

    return Corner(
        lambda shape: chosen(shape).directed(shape),
        lambda shape: chosen(shape).cases(shape),
        lambda shape, draws, case: chosen(shape).make(shape, draws, case),
    )


CORNERS: dict[str, Corner] = {name: _of_any_format(name) for name in _OF_FLOATS}
"""Name to corner, in the order in which rows are labelled, after the six classes."""
