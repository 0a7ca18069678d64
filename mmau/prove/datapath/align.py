"""Proof of step align, for terms aligned to e_max.

For every input, the ports of a component `…_align_k` equal `specification.steps.align`, or `align_lost` where the unit has
`sticky`, of the term and the exponent on the wires before them (step_facts.py). The claims here are proved in addition.
"""

from bitwuzla import Term

from mmau.prove.datapath.ranges import in_range
from mmau.prove.specification.step_results import Aligned

PORT = "{}"
"""The component's ports for the parts of an aligned term: `sign`, `aligned` and `lost`."""


def claims(term: Aligned) -> list[Term]:
    """The formulas that the sum relies on: the magnitude lies within its bounds."""
    return in_range(term)
