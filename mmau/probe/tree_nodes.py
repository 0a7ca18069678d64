"""Nodes of a summation tree, from the numbers of terms lost with a large term and its opposite in any two places."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

ALL_PAIRS = 64
"""Terms of a flat node up to which every pair is asked; of more, pairs whose places are a power of two apart."""


class Unresolved(ValueError):
    """No tree gives the answers; the message states the contradiction."""


class Asker(Protocol):
    """The questions that a builder puts to the device under test."""

    def lost(self, i: int, j: int) -> int:
        """The number of terms lost, including those in i and j."""
        ...

    def ask_pairs(self, pairs: Collection[tuple[int, int]]) -> None:
        """Ask about several pairs in one question."""
        ...


@dataclass(frozen=True)
class Node:
    """A node over places; exact: it retains small terms beside large ones."""

    children: "tuple[Tree, ...]"
    exact: bool

    @property
    def size(self) -> int:
        """Number of leaves below the node."""
        return sum(size_of(child) for child in self.children)


Tree = int | Node
"""A place, or a node."""


def size_of(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else tree.size


def leaves(tree: Tree) -> set[int]:
    """The places of a tree."""
    return {tree} if isinstance(tree, int) else {leaf for child in tree.children for leaf in leaves(child)}


def expected_loss(tree: Tree, i: int, j: int) -> int:
    """Terms that are lost in such a tree with U in place i and −U in place j."""
    assert isinstance(tree, Node)
    holding = [next(child for child in tree.children if place in leaves(child)) for place in (i, j)]
    if holding[0] is holding[1] or holding[0] == holding[1]:
        return expected_loss(holding[0], i, j)
    return sum(map(size_of, holding)) if tree.exact else tree.size


def expected_gain(tree: Tree, i: int, j: int) -> int:
    """The nodes between place j and the first one above it that place i is in too."""
    assert isinstance(tree, Node)
    child = next(child for child in tree.children if j in leaves(child))
    return expected_gain(child, i, j) if i in leaves(child) else _levels(child, j)


def _levels(tree: Tree, place: int) -> int:
    """The nodes above a place."""
    if isinstance(tree, int):
        return 0
    return 1 + _levels(next(child for child in tree.children if place in leaves(child)), place)


class Builder:
    """Builds the tree from the numbers of lost terms, and asks for the numbers that it needs."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def tree(self, places: tuple[int, ...]) -> Tree:
        """The tree over places that are all leaves of one node.

        Along the path from the first place to the root, the set of places that lose at most n terms with it has n members
        wherever it is a node.
        """
        if len(places) == 1:
            return places[0]
        first, *others = places
        row = self._row(first, others)
        nested = [{first}]
        for n in range(2, len(places)):
            within = {first} | {k for k, lost in row.items() if lost <= n}
            if len(within) == n:
                nested.append(within)
        everything = set(places)
        if nested[-1] != everything:
            nested.append(everything)
        return self._climbed(first, row, nested)

    def _climbed(self, first: int, row: dict[int, int], nested: list[set[int]]) -> Tree:
        """The tree along the path from the first place to the root, one node for each nested set that forms one."""
        tree: Tree = first
        below = [(nested[0], tree)]
        for whole in nested[1:]:
            node = None
            while (
                node is None
            ):  # two leaves of an exact node look like a separate node; then the node below is the right child
                inner, tree = below[-1]
                node = self._node(tree, inner, row, whole)
                if node is None:
                    below.pop()
                if not below:
                    raise Unresolved(f"no node of {len(whole)} terms gives the answers")
            below.append((whole, node))
        return below[-1][1]

    def _node(self, inner: Tree, known: set[int], row: dict[int, int], whole: set[int]) -> Node | None:
        """The node over `whole` with one known child; None where the answers admit no such node."""
        ring, size = sorted(whole - known), len(whole)
        exact = any(row[k] != size for k in ring)
        children: list[Tree] = [inner]
        if not exact:
            flat = self._is_flat(ring, size)
            if flat:
                return Node((inner, *ring), False)
        while ring:
            first, *others = ring
            lost = self._row(first, others)
            count = row[first] - len(known) if exact else size
            child = {first} | {k for k, n in lost.items() if (n <= count if exact else n < size)}
            if exact and len(child) != count:
                return None
            children.append(self.tree(tuple(sorted(child))))
            ring = [k for k in ring if k not in child]
        return Node(tuple(children), exact)

    def _is_flat(self, ring: list[int], size: int) -> bool:
        """Whether no two of many terms are added below the node; asks only the pairs that a tree would join first."""
        if len(ring) <= ALL_PAIRS:
            return False
        steps = [1 << n for n in range(len(ring).bit_length()) if 1 << n < len(ring)]
        pairs = [(ring[k], ring[k + step]) for step in steps for k in range(len(ring) - step)]
        self._asker.ask_pairs(pairs)
        return all(self._asker.lost(i, j) == size for i, j in pairs)

    def _row(self, first: int, others: list[int]) -> dict[int, int]:
        self._asker.ask_pairs([(first, k) for k in others])
        return {k: self._asker.lost(first, k) for k in others}
