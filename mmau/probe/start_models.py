"""The models that a search begins with: every family at every length and chain, at some precisions."""

from functools import lru_cache
from itertools import product

from golden.chains.sum_chain import C_PLACES, TREES, from_zero
from golden.chains.sum_chain import Tree as Places
from golden.stimulus import OperandShape
from mmau.probe.model import FAMILIES, ORDERED, SUMS, Keys, Model, default_of, keys_of, model, values_of


def possible_families(shape: OperandShape) -> list[str]:
    """The families that take the device's formats and give its results."""
    return [family for family in FAMILIES if starts(family, shape)]


COARSE: dict[str, tuple[int, ...]] = {
    "F": (*range(1, 34), *range(36, 64, 4), *range(64, 129, 8)), "F2": (6, 12, 20, 31, 48, 128), "h": (0, 2),
}  # fmt: skip
"""Values that a search starts from where it does not start from all."""

THINNED = 3
"""A chain in another order than in-order starts from one in this many values of `COARSE`: there are seven such chains of
every length."""


NARROW = ("RNE-e8m23", "RZ-e8m23", "RZ-e8m13")
"""The nodes that programs of additions begin with."""


@lru_cache(maxsize=64)
def sum_starts(shape: OperandShape) -> tuple[Model, ...]:
    """Programs of additions to begin a search with: every tree, group and place of c, with few formats of the nodes."""
    found = []
    for tree, group, product_, node, c in product(
        TREES, values_of("group", SUMS, shape), ("exact", "RNE-e8m23"), NARROW, C_PLACES
    ):
        start = model(
            SUMS, {"tree": tree, "group": group, "product": product_, "node": node, "outer": NARROW[0], "c": c}, shape
        )
        if start.is_valid():
            found.append(start)
    return tuple(found)


def tree_starts(shape: OperandShape, tree: Places) -> list[Model]:
    """Programs of additions in this tree of places, whose sums begin with a product or at +0."""
    trees = dict.fromkeys((tree, from_zero(tree, every=False), from_zero(tree, every=True)))
    found = (
        model(SUMS, {"tree": tree, "product": product_, "node": node}, shape)
        for tree, product_, node in product(trees, ("exact", "RNE-e8m23"), NARROW)
    )
    return [start for start in found if start.is_valid()]


@lru_cache(maxsize=64)
def starts(family: str, shape: OperandShape) -> tuple[Model, ...]:
    """Models to begin a search with: every length and chain, and precisions (or every rounding for families without a
    precision, and every overflow of integers); other keys at values without effect. A chain other than in order has fewer
    precisions. Empty where the family does not take the device's formats."""
    base: Keys = {}
    for key in keys_of(family):
        values = values_of(key, family, shape)
        if not values:
            return ()
        base[key] = default_of(key) if default_of(key) in values else values[0]
    if "rho" in base:
        base["rho"] = next((name for name in values_of("rho", family, shape) if str(name).startswith("RNE")), base["rho"])
    lengths = [key for key in base if key in ("L", "P", "G", *ORDERED)]
    conversion = "rho" if "rho" in base else "overflow"
    precisions = [key for key in base if key in ("F", "F2", "h")] or [key for key in base if key == conversion]
    found = []
    for chosen in product(*(values_of(key, family, shape) for key in lengths)):
        first = model(family, base | dict(zip(lengths, chosen, strict=True)), shape)
        if first.is_valid():  # which no precision changes
            thinned = 1 if all(first.keys.get(key) in (None, default_of(key)) for key in ORDERED) else THINNED
            choices = product(
                *(
                    (COARSE.get(key) or values_of(key, family, shape))[:: thinned if key in COARSE else 1]
                    for key in precisions
                )
            )
            others = (first.changed(**dict(zip(precisions, bits, strict=True))) for bits in choices)
            found += [other for other in others if "rho" not in precisions or other.is_valid()]
            found += _above_all_terms(first)
    return tuple(found)


def varied_starts(family: str, shape: OperandShape) -> tuple[Model, ...]:
    """The models of `starts` with every rounding and every truncation, valid or not."""
    keys = [key for key in ("rho", "truncation") if key in keys_of(family)]
    choices = [dict(zip(keys, values, strict=True)) for values in product(*(values_of(key, family, shape) for key in keys))]
    return tuple(dict.fromkeys(start.changed(**choice) for start in starts(family, shape) for choice in choices))


def _above_all_terms(first: Model) -> list[Model]:
    """Models whose e_zero is above every term. There each truncation turns a term into something else: 0, −1 or ±1 in the
    last place, so that a search from a low e_zero only improves once `truncation` changes too."""
    if "e_zero" not in first.keys:
        return []
    highest = values_of("e_zero", first.family, first.shape)[-1]
    if "truncation" not in first.keys:
        return [first.changed(e_zero=highest)]
    truncations = values_of("truncation", first.family, first.shape)
    return [first.changed(e_zero=highest, truncation=truncation) for truncation in truncations]
