"""All features at once: random rows, some of which show properties that no other feature asks about."""

from mmau.probe.features.feature import Feature, corner, joined
from mmau.probe.features.limits import drawn

MIXED = Feature(
    "mixed", "random rows of every class", (),
    joined(
        drawn("normal", 48), drawn("cancel", 48), drawn("bits", 24), corner("alignment-edge", 48),
        corner("cancellation", 24), corner("completed-products", 24), corner("cancelled-products", 24),
        corner("discrepancy", 2),
    ),
)  # fmt: skip
