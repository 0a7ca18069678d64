"""The summation tree of a model: which terms meet in which node, drawn as text."""

from itertools import pairwise

from golden.chains.chain import product_order
from golden.chains.sum_chain import SumTable
from golden.chains.sum_chain import Tree as Places
from golden.operations.structure import Addend, Partial, Product, Structure
from mmau.probe.model import PAIRED, SUMS, Model

Tree = str | list["Tree"]
"""A leaf's name, or the children of a node: they are summed at once."""


class Exact(list[Tree]):
    """A node that is known to retain small terms beside large ones, within the exponents that were tried."""


def tree_of(model: Model) -> Tree:
    """The tree over the K products and c: the root's result is d."""
    if model.family == SUMS:
        return _sum_tree(model)
    chain, K, keys = model.chain, model.shape.K, model.keys
    L = 2 if model.family == PAIRED else chain.operation.length
    order, last = keys.get("order", "in-order"), keys.get("add_c") == "last"
    chains = [range(0, K, 2), range(1, K, 2)] if order == "even-and-odd" else [product_order(order, K)]
    sums: list[Tree] = []
    for products in chains:
        d: Tree = "c" if not sums and not last else "0"
        for start in range(0, len(products), L):
            terms = [_product(k) for k in products[start : start + L]]
            d = [d, terms] if model.family == PAIRED else _step(chain.operation.structure, terms, d)
        sums.append(d)
    whole, *others = [*sums, "c"] if last else sums
    for other in others:
        whole = [whole, other]
    return whole


def _sum_tree(model: Model) -> Tree:
    """The tree of a program of additions; of sorted terms one node, for the operands decide their order."""
    keys, K = vars(SumTable(**model.keys)), model.shape.K
    if not isinstance(keys["tree"], str):
        return _of_places(keys["tree"])
    size = keys["group"] or K
    groups = [_sum_group(keys["tree"], [_product(k) for k in range(start, start + size)]) for start in range(0, K, size)]
    if size == K and keys["c"] != "last":
        inside = {"first": ["c", *map(_product, range(K))], "among": [*map(_product, range(K)), "c"]}[keys["c"]]
        return _sum_group(keys["tree"], inside)
    return _chained([*groups, "c"] if keys["c"] == "last" else ["c", *groups])


def _of_places(places: Places) -> Tree:
    """A tree of places; a node of more than two members is an exact sum."""
    if isinstance(places, str):
        return places
    members = [_of_places(member) for member in places]
    return Exact(members) if len(members) > 2 else members


def as_places(tree: Tree) -> Places | None:
    """The tree of places that adds in the order found; None if a node of more than two terms loses some of them."""
    if isinstance(tree, str):
        return tree
    members = [as_places(member) for member in tree]
    if None in members or (len(members) > 2 and not isinstance(tree, Exact)):
        return None
    return tuple(member for member in members if member is not None)


def _sum_group(tree: str, terms: list[Tree]) -> Tree:
    if tree in ("in-order", "compensated"):
        return _chained(terms)
    while tree in ("pairwise", "halves") and len(terms) > 2:
        half = len(terms) // 2
        pairs = (
            zip(terms[:half], terms[half:], strict=False) if tree == "halves" else zip(terms[::2], terms[1::2], strict=False)
        )
        terms = [*([x, y] for x, y in pairs), *terms[2 * half :]]
    return terms


def _product(k: int) -> Tree:
    return f"p{k}"


def _step(structure: Structure, products: list[Tree], c: Tree) -> Tree:
    """The tree of one step; a sum of one term is that term."""
    sums: list[Tree] = []
    for each in structure.sums:
        of_c, totals, others = [], [], []
        for node in each.nodes:
            match node:
                case Addend():
                    of_c.append(c)
                case Partial():
                    totals.append(sums[node.of])
                case Product():
                    others.append(products[node.k])
        terms = [*of_c, *totals, *others]
        sums.append(terms[0] if len(terms) == 1 else terms)
    return sums[-1]


def _chained(products: list[Tree]) -> Tree:
    """A tree that adds the products one after another."""
    sum_so_far = products[0]
    for product in products[1:]:
        sum_so_far = [sum_so_far, product]
    return sum_so_far


def drawn(tree: Tree) -> str:
    """The tree as lines: a node's children hang below it; neighbouring leaves share a line."""
    return "\n".join([f"d{_note(tree)}", *_lines(tree, "")])


def canonical(tree: Tree) -> str:
    """A text that two trees have in common if and only if they add the same terms in the same nodes, in any order within a
    node."""
    return tree if isinstance(tree, str) else f"({' '.join(sorted(canonical(child) for child in tree))})"


def _note(tree: Tree) -> str:
    return " (exact)" if isinstance(tree, Exact) else ""


def _lines(tree: Tree, indent: str) -> list[str]:
    if isinstance(tree, str):
        return [f"{indent}└─ {tree}"]
    parts: list[Tree] = []
    for child in tree:  # leaves in a row are one entry
        if isinstance(child, str) and parts and isinstance(parts[-1], str):
            parts[-1] = f"{parts[-1]}, {child}"
        else:
            parts.append(child)
    lines = []
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        mark, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        if isinstance(part, str):
            lines.append(f"{indent}{mark}{_shortened(part)}")
        elif all(isinstance(child, str) for child in part):
            lines.append(f"{indent}{mark}+{_note(part)} {_shortened(', '.join(map(str, part)))}")
        else:
            lines += [f"{indent}{mark}+{_note(part)}", *_lines(part, indent + below)]
    return lines


def _shortened(leaves: str) -> str:
    """`p0, p1, p2, p3` as `p0 … p3`."""
    names = leaves.split(", ")
    head = [name for name in names if not name.startswith("p")]
    numbers = [int(name[1:]) for name in names if name.startswith("p")]
    if len(numbers) > 2 and len({y - x for x, y in pairwise(numbers)}) == 1:
        step = numbers[1] - numbers[0]
        run = f"p{numbers[0]} … p{numbers[-1]}" if step == 1 else f"p{numbers[0]}, p{numbers[1]} … p{numbers[-1]}"
        return ", ".join([*head, run])
    return leaves
