"""Corners of conversions: results and the numbers beside them, region by region, and the landmarks of a."""

import numpy as np

from golden.stimulus.codes import GeneratorDraws, IntArray, landmarks
from golden.stimulus.conversions import ANYWHERE, LARGEST, NUDGES, ONES, QUARTERS, SMALLEST, alone, beside, places
from golden.stimulus.corners.corner import Corner
from golden.stimulus.shape import Operands, OperandShape

_EACH = QUARTERS * NUDGES


def _region(region: int, of_place: int | None) -> Corner:
    """Each distance from a result, at so many places of a region; None: as many as the format has."""

    def cases(shape: OperandShape) -> int:
        return _EACH * (places(shape.d) if of_place is None else of_place)

    return Corner(
        lambda shape: min(cases(shape), 3 * _EACH), cases, lambda shape, draws, case: beside(shape, draws, case, region)
    )


def _landmarks(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    codes = np.array(landmarks(shape.a))
    return alone(shape, codes[case].astype(f"u{shape.a.storage_bits // 8}"))


CORNERS = {
    "ties": _region(ANYWHERE, 8),
    "overflow": _region(LARGEST, 3),
    "subnormal-results": _region(SMALLEST, None),
    "carries": _region(ONES, None),
    "special-operands": Corner(lambda shape: len(landmarks(shape.a)), lambda shape: len(landmarks(shape.a)), _landmarks),
}
"""Name to corner; conversions have no others."""
