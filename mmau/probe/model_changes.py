"""The models next to a model: with one group of keys changed, or with several keys changed together."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from mmau.probe.model import Model, values_of

GROUPS: tuple[tuple[str, ...], ...] = (
    ("L", "G"), ("P",), ("order", "add_c"), ("F",), ("F2",), ("h",), ("rho", "truncation", "sticky"), ("e_zero",),
    ("flush_inputs", "flush_results", "overflow"), ("addition",), ("subtract",), ("zero",), ("nan",), ("combination",),
    ("tree", "c"), ("group",), ("product",), ("node",), ("outer",),
)  # fmt: skip
"""Keys that are changed together: in a group, the effect of one key hides that of another."""

MOVED_TOGETHER: tuple[tuple[str, ...], ...] = (("F", "e_zero"), ("F", "h"), ("F", "h", "e_zero"))
"""Numbers that are also moved by one distance together."""

CHANGED_TOGETHER = ("order", "add_c", "addition")
"""Keys that are also changed together: c added last, with the wrong rounding, may miss more rows than c in its place."""


def grouped(model: Model) -> list[tuple[str, ...]]:
    """The groups of a model's keys."""
    groups = [tuple(key for key in group if key in model.keys) for group in GROUPS]
    return [group for group in groups if group]


def combinations(group: tuple[str, ...], model: Model) -> Iterator[dict[str, Any]]:
    """All values of a group's keys together."""
    for values in product(*(values_of(key, model.family, model.shape) for key in group)):
        yield dict(zip(group, values, strict=True))


def sweeps(model: Model) -> Iterator[list[Model]]:
    """The models that differ from this one in one group of keys, and those with several keys moved by one distance: with F
    and e_zero terms are cut at the same place below e_zero; with F and h, products at the same place below their own
    exponents; with all three, both."""
    for group in grouped(model):
        yield [model.changed(**keys) for keys in combinations(group, model)]
    if set(CHANGED_TOGETHER) <= set(model.keys):
        yield [model.changed(**keys) for keys in combinations(CHANGED_TOGETHER, model)]
    for line in MOVED_TOGETHER:
        if set(line) <= set(model.keys):
            yield list(_along(model, line))


def _along(model: Model, line: tuple[str, ...]) -> Iterator[Model]:
    """The models with these keys moved by one distance, as far as each has values."""
    values = {key: values_of(key, model.family, model.shape) for key in line}
    lowest = max(values[key][0] - model.keys[key] for key in line)
    highest = min(values[key][-1] - model.keys[key] for key in line)
    for distance in range(lowest, highest + 1):
        yield model.changed(**{key: model.keys[key] + distance for key in line})
