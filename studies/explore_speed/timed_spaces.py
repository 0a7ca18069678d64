"""The spaces that are timed: 200 points of FP16 each, measured as the bars say."""

from mmau.explore.design_space import Accuracy, Axis, Cosimulation, Space, Value

POINTS = 200

MINUTES = {8: 30.0, 16: 75.0}
"""The bars: minutes on `CORES` cores, by the most products of a point."""

CORES = 2

FRACTION_BITS = tuple(range(8, 33))

FIRST, SECOND = (20,), (11, 29)
"""Fraction bits of the points of the two samples: of the middle, and of the lower and the upper part."""


def timed_space(length: int, fraction_bits: tuple[int, ...] = FRACTION_BITS) -> Space:
    """All points, or those with these fraction bits: accuracy on 10^6 dot products, synthesis, area, delay and power, and
    10^5 co-simulated vectors of each.

    Args:
        length: the most products of a point; half of the points have half of them.
    """
    fixed: dict[str, Value] = {
        "operation": "T-FDPA",
        "a": "fp16",
        "b": "fp16",
        "c": "fp32",
        "rho": "RZ-FP32",
        "e_zero": -133,
    }
    axes = (
        Axis("L", (length // 2, length)),
        Axis("F", fraction_bits),
        Axis("truncation", ("RZ", "RD")),
        Axis("implementation.encoding", ("ones-complement", "sign-magnitude")),
    )
    accuracy = Accuracy({"normal": "normal"}, 1_000_000, 0)
    return Space(f"L up to {length}", fixed, axes, accuracy=accuracy, cost={}, cosimulation=Cosimulation(100_000, 0))
