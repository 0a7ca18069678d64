"""Covergroups of groups of products that have scales, as in GST-FDPA: the outcome of each group, and groups that cancel."""

import numpy as np

from cosim.coverage.covergroup import Covergroup, Point, Reason, chosen
from cosim.coverage.sampled_facts import ZERO, IntArray, Seen, classes
from cosim.coverage.shapes import sums_of
from golden import Operation


def product_group_groups(operation: Operation, chained: bool) -> list[Covergroup]:
    """The outcome of each group, and groups that cancel but have the largest exponent."""
    inner, outer = sums_of(operation, chained)
    names = ("positive", "negative", "products cancel", "all products zero", "a scale is zero")
    G, scale_format = operation.structure.group, operation.scale_format
    assert scale_format is not None
    assert G is not None
    groups = operation.length // G

    def zero_scale(seen: Seen) -> IntArray:
        alpha, beta = (classes(scale_format, codes) for codes in seen.scales)
        zero = (alpha == ZERO) | (beta == ZERO)
        of_groups: IntArray = zero[..., seen.blocks()[::G]].reshape(-1)[seen.terms(inner).made]
        return of_groups

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        terms = seen.terms(inner)
        negative = (seen.records.sums["flags"][:, :, :groups].reshape(-1)[terms.made] & 4) != 0
        place = np.broadcast_to(np.arange(groups), (len(seen.records.sums), seen.steps, groups)).reshape(-1)[terms.made]
        scale = zero_scale(seen)
        cases = (scale, ~terms.something, terms.zero, negative, ~negative)
        return place, np.array([4, 3, 2, 1, 0])[chosen(*cases)]

    def unreachable(_: str, name: str) -> Reason:
        if name == "products cancel" and G == 1:
            return "a group has one product"
        return f"{scale_format} has no zero" if name == "a scale is zero" and not scale_format.subnormals else None

    def cancelled(seen: Seen) -> tuple[IntArray]:
        of_groups, terms = seen.terms(inner), seen.terms(outer)
        cancels = (of_groups.something & of_groups.zero).reshape(-1, groups)
        at_top = cancels & (terms.gap[:, :groups] == 0)
        others = (terms.nonzero & (terms.gap == 0)).any(axis=1)
        return (chosen(at_top.any(axis=1) & ~others, at_top.any(axis=1), cancels.any(axis=1)),)

    of_cancelled = ("alone at the largest exponent", "at the largest exponent with others", "below the largest exponent")

    def never_cancels(_: str) -> Reason:
        return "a group has one product" if G == 1 else None

    where = Point("group", tuple(f"group {n}" for n in range(groups)))
    return [
        Covergroup("each group", (where, Point("sum", names)), sample, unreachable),
        Covergroup("groups that cancel", (Point("exponent", of_cancelled),), cancelled, never_cancels),
    ]
