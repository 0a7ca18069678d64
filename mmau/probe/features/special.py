"""Special values: NaN and its code, infinities, zeros and their signs, in every place."""

import numpy as np

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of
from mmau.probe.features.feature import Feature, corner, joined
from mmau.probe.features.limits import drawn


def zero_signs(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Zeros of either sign alone, and products that cancel, on a c of zero of either sign."""
    rows = 24
    _, high = lead_range(shape)
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    sign = np.where(np.arange(rows)[:, None] < 8, np.arange(rows)[:, None] & 1, draws.integers(0, 2, place.shape))
    cancel = (np.arange(rows)[:, None] >= 16) & (shape.K > 1)
    sign = np.where(cancel & (place < 2), place, sign)
    products = Products(np.full(place.shape, high - 2), sign, cancel & (place < 2))
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


SPECIAL_VALUES = Feature(
    "special values", "NaN, infinities and zeros in every place", (),
    joined(corner("special-operands", 40), corner("special-pairs", 16), zero_signs, drawn("specials", 32)),
)  # fmt: skip
