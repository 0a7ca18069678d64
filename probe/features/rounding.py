"""Rounding: ties, sums a little more and a little less, carries, of both signs; what ρ does with them, and what truncation
left for it."""

from probe.features.feature import Feature, corner, joined

ROUNDING = Feature(
    "rounding", "ties and their neighbours, carries, significant products", ("rho", "truncation", "sticky"),
    joined(corner("ties", 48), corner("carries", 16), corner("significant-products", 24)),
)  # fmt: skip
