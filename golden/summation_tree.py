"""Summation trees that a user writes down: nested arrays of the places p0, p1, … of the products, c, and 0.

`[[["0", "p0"], "p2"], [["0", "p1"], "p3"]]` is two sums of every second product, each from +0 on, and their sum. An array of
two is an addition, one of more is their exact sum rounded once, and one of one is its rounding.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Tree = str | tuple["Tree", ...]
"""A node of a tree: the name of a place, or the tuple of its members."""

MOST_LEVELS = 200
"""Largest number of nested nodes above a place; Python's own limit on nested calls is 1,000."""


def checked_tree(tree: Any) -> tuple[Tree, ...]:
    """The tree with tuples in place of lists.

    Raises:
        ValueError: it is no nested arrays of places, or a place is missing or stands twice.
    """
    nodes = _as_tuples(tree, MOST_LEVELS)
    places = [place for place in places_of(nodes) if place != "0"]
    wanted = ["c", *(f"p{k}" for k in range(len(places) - 1))]
    if isinstance(nodes, str) or sorted(places) != sorted(wanted):
        twice = next((place for place in places if places.count(place) > 1), None)
        missing = next((place for place in wanted if place not in places), "c")
        found = f"{missing} is missing" if twice is None else f"{twice} stands {places.count(twice)} times"
        raise ValueError(
            f"[sums] tree must have c and each of p0, p1, … once, without a gap, and 0 wherever a sum begins at +0; {found}"
        )
    return nodes


def _as_tuples(tree: Any, levels: int) -> Tree:
    if isinstance(tree, str):
        return tree
    if not isinstance(tree, list | tuple) or not tree or not levels:
        deep = f" of at most {MOST_LEVELS} levels" if not levels else ""
        got = "" if not levels else f", got {tree!r}"
        raise ValueError(f'[sums] tree must be a name or nested arrays of "p0", "p1", …, "c" and "0"{deep}{got}')
    return tuple(_as_tuples(member, levels - 1) for member in tree)


def places_of(tree: Tree) -> Iterator[str]:
    """The places of a tree, 0 among them, from left to right."""
    if isinstance(tree, str):
        yield tree
    else:
        for member in tree:
            yield from places_of(member)


def products_of(tree: Tree) -> int:
    """K, the number of products of a tree."""
    return sum(place.startswith("p") for place in places_of(tree))


def tree_sum(
    tree: Tree, places: Mapping[str, Any], add: Callable[[Any, Any], Any], exact: Callable[[list[Any]], Any]
) -> Any:
    """Compute the root's value from the values of the places: a node of two members is their addition, any other node the
    rounded exact sum."""
    if isinstance(tree, str):
        return places[tree]
    members = [tree_sum(member, places, add, exact) for member in tree]
    return add(*members) if len(members) == 2 else exact(members)


def from_zero(tree: Tree, every: bool) -> Tree:
    """The tree with +0 put in front of products: of the first product of each node that has products alone, or of every
    product."""
    if isinstance(tree, str):
        return ("0", tree) if every and tree.startswith("p") else tree
    first = not every and all(isinstance(member, str) and member.startswith("p") for member in tree)
    members = tuple(from_zero(member, every) for member in tree)
    return (("0", tree[0]), *members[1:]) if first else members
