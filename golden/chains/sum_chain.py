"""The table `[sums]` of a unit file: a dot product as a program of sums, each rounded, of rounded or exact products.

It describes arithmetics that are no operation: sums in a tree, of sorted terms, compensated (Kahan), in two levels with
promotion, exact groups that are cut afterwards, groups whose terms are cut at their largest exponent, and groups whose
sums block scales multiply. Values between the steps are codes of a node's format. `program` lists the steps; the engines,
the datapath and its proof all follow it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import inf, nan
from typing import Any, NamedTuple, Protocol, TypeVar

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import FORMATS, Format, power_of_two
from golden.arithmetic.rounding import MODES, Mode
from golden.arithmetic.specials import NAN, Special, addend_special, combine, encode_special, product_special, quiet_nan
from golden.arithmetic.steps import Term, addend, align, exact_sum, max_exp, multiply
from golden.checks import check_choice, check_int, check_least
from golden.operations import Operation
from golden.operations.base import EXPONENT_LIMIT, MAX_FRACTION
from golden.operations.blocks import BLOCK_KEYS

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


def from_zero(tree: Tree, every: bool) -> Tree:
    """The tree with +0 put in front of products: of the first product of each node that has products alone, or of every
    product."""
    if isinstance(tree, str):
        return ("0", tree) if every and tree.startswith("p") else tree
    first = not every and all(isinstance(member, str) and member.startswith("p") for member in tree)
    members = tuple(from_zero(member, every) for member in tree)
    return (("0", tree[0]), *members[1:]) if first else members


TREES = ("in-order", "pairwise", "halves", "ascending", "descending", "compensated", "exact")
"""Trees of additions. `in-order`: in order. `pairwise`: neighbours, level by level. `halves`: k with k + n/2, level by
level. `ascending`, `descending`: sorted by magnitude, then in order. `compensated`: Kahan's sum. `exact`: all at once
without loss, or cut as `F` says, and rounded at the end."""

C_PLACES = ("first", "among", "last")
"""Places of c. `first`: c begins the sum. `among`: c is one of the terms, after the products. `last`: c is added to the
whole sum."""

NODE = re.compile(rf"({'|'.join(MODES)})-e([2-8])m([1-9]|1[0-9]|2[0-3])")
"""Pattern of a node's rounding and format: RNE-e8m23 is fp32, RZ-e8m13 is cut to 13 bits after the leading one."""


class Alignment(NamedTuple):
    """How the terms of one sum are cut before they are added; the attributes are keys of `SumTable`."""

    F: int
    truncation: Mode
    e_zero: int


@dataclass(frozen=True, kw_only=True)
class SumTable:
    """How products and c are added.

    Attributes:
        tree: one of `TREES`, of the terms of a group, or a tree of places, c among them (`golden.chains.sum_chain`).
        group: products of a group; 0 is all of them.
        product: the node to which each product is rounded, or "exact".
        node: rounding and format of each addition in a group, as `NODE` spells them.
        outer: the same of the additions of groups, in order, and of a c that is added last.
        c: one of `C_PLACES`; with groups, be it one, the first and the last place are those of the outer sum.
        scaled: the node of products with block scales, where the operation has scales: those of the group's block are
            rounded to its format, RNE, multiplied, and multiply the group's sum, each product rounded; else None.
        F: fraction bits (bits) to which the terms of tree = "exact", and of a tree's nodes of more than two members, are cut
            at the largest of their exponents, as in T-FDPA; None: they are added without loss.
        truncation: how bits below F are dropped: RZ, RD or RO.
        e_zero: the exponent (value) with which a zero term counts; with F.
    """

    tree: str | tuple[Tree, ...] = "in-order"
    group: int = 0
    product: str = "exact"
    node: str = "RNE-e8m23"
    outer: str = "RNE-e8m23"
    c: str = "first"
    scaled: str | None = None
    F: int | None = None
    truncation: Mode = "RZ"
    e_zero: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.tree, str):
            check_choice("[sums] tree", self.tree, TREES)
        else:
            object.__setattr__(self, "tree", checked_tree(self.tree))
            if (self.group, self.c, self.outer) != (0, SumTable.c, SumTable.outer):
                raise ValueError("[sums] tree of places says where c is added, without groups; leave out group, c and outer")
        check_least("[sums] group", self.group, 0)
        check_choice("[sums] c", self.c, C_PLACES)
        for key in ("product", "node", "outer", "scaled"):
            value = getattr(self, key)
            is_absent = (key, value) in (("product", "exact"), ("scaled", None))
            if not is_absent and not (isinstance(value, str) and NODE.fullmatch(value)):
                exact = " or exact" if key == "product" else ""
                raise ValueError(
                    f"[sums] {key} must be one of {', '.join(MODES)} and a format of e2 to e8 and m1 to m23 such as "
                    f"RNE-e8m23{exact}, got {value!r}"
                )
        if self.c == "among" and self.group:
            raise ValueError("[sums] c = among goes with one group of all products; leave out group")
        if self.scaled is not None and not self.group:
            raise ValueError("[sums] scaled goes with group, the products whose sum the scales of their block multiply")
        self._check_cut()

    def _check_cut(self) -> None:
        if self.F is None:
            if self.e_zero is not None or self.truncation != SumTable.truncation:
                raise ValueError("[sums] e_zero and truncation go with F, the fraction bits that terms are cut to")
            return
        if self.e_zero is None:
            raise ValueError(f"[sums] F = {self.F} goes with e_zero, the exponent with which a zero term counts")
        check_int("[sums] F", self.F, 1, MAX_FRACTION)
        check_choice("[sums] truncation", self.truncation, ("RZ", "RD", "RO"))
        check_int("[sums] e_zero", self.e_zero, -EXPONENT_LIMIT, EXPONENT_LIMIT)
        if isinstance(self.tree, str) and self.tree != "exact":
            raise ValueError(f'[sums] F goes with tree = "exact", whose sums have all terms at once; got {self.tree}')

    @property
    def align(self) -> Alignment | None:
        """How the terms are cut of the sums that have all terms at once; None if they are added without loss."""
        return None if self.F is None or self.e_zero is None else Alignment(self.F, self.truncation, self.e_zero)

    @property
    def K(self) -> int | None:
        """The number of products that a tree of places has; None for the others, which take any."""
        return None if isinstance(self.tree, str) else products_of(self.tree)

    def check_length(self, K: int) -> None:
        """Raise ValueError unless the program adds K products."""
        if (self.K or K) != K:
            raise ValueError(f"K must be {self.K}, the products of the tree of [sums], got {K}")
        if K % (self.group or 1):
            raise ValueError(f"K must be a multiple of the group of [sums], {self.group}, got {K}")

    def as_table(self) -> dict[str, Any]:
        """The keys as a unit file has them; with a tree of places only the keys that apply to it."""
        absent: tuple[str, ...] = () if isinstance(self.tree, str) else ("group", "outer", "c")
        absent += ("F", "truncation", "e_zero") if self.F is None else ()
        absent += ("scaled",) if self.scaled is None else ()
        return {key: value for key, value in vars(self).items() if key not in absent}

    @property
    def adds_outside(self) -> bool:
        """Whether anything is added outside of a group; `outer` is the rounding of those additions."""
        return bool(self.group) or self.c == "last"


@dataclass(frozen=True)
class Node:
    """A node's rounding: the mode, and the format of its result."""

    mode: Mode
    format: Format

    @property
    def rho(self) -> Conversion:
        """The same as a conversion, as datapaths have them."""
        return Conversion(f"{self.mode}-{self.format.name.upper()}", self.mode, self.format, self.format)


@cache
def node_of(text: str) -> Node:
    """Parse a node such as RNE-e8m23 (`NODE`)."""
    found = NODE.fullmatch(text)
    assert found is not None
    mode, exp_bits, man_bits = found[1], int(found[2]), int(found[3])
    same = (
        f for f in FORMATS.values() if (f.exp_bits, f.man_bits, f.specials, f.pad_bits) == (exp_bits, man_bits, "ieee", 0)
    )
    storage = next(bits for bits in (8, 16, 32) if bits > exp_bits + man_bits)
    made = Format(
        name=f"e{exp_bits}m{man_bits}", exp_bits=exp_bits, man_bits=man_bits, bias=(1 << exp_bits - 1) - 1, specials="ieee",
        storage_bits=storage,
    )  # fmt: skip
    return Node(mode, next(same, made))  # type: ignore[arg-type]  # the pattern has the modes


class Sum(NamedTuple):
    """A step of a program: one sum, rounded once.

    Attributes:
        name: name of its result as a place. members: the places that it adds; "-" in front of one inverts its sign, and
            "x*y" is the exact product of two places.
        node: its rounding. align: how its terms are cut, None if they are added without loss.
    """

    name: str
    members: tuple[str, ...]
    node: Node
    align: Alignment | None = None


class Sort(NamedTuple):
    """A step of a program that sorts places by magnitude, row by row; of equal magnitudes the earlier comes first.

    Attributes:
        names: names of the places in the new order. members: the places. descending: whether the largest is first.
    """

    names: tuple[str, ...]
    members: tuple[str, ...]
    descending: bool


def places_read(member: str) -> list[str]:
    """The places that a member of a sum reads: one, or the two factors of a product."""
    return member.removeprefix("-").split("*")


@cache
def program(operation: Operation, table: SumTable, K: int) -> tuple[Sum | Sort, ...]:
    """The steps of a program of additions over K products, in order; the last one gives the sum.

    Places are p0, p1, … for the exact products, c, 0 for +0, scale_a0, scale_b0, scale_a1 … for the scales of blocks, and
    the names of earlier steps.
    """
    made = _Program(table)
    terms = [f"p{k}" for k in range(K)]
    if table.product != "exact":
        terms = [made.add((term,), node_of(table.product)) for term in terms]
    node, outer = node_of(table.node), node_of(table.outer)
    if not isinstance(table.tree, str):
        made.of_tree(table.tree, terms, node)
    elif not table.group:
        inside = {"first": ["c", *terms], "among": [*terms, "c"], "last": terms}[table.c]
        total = made.of_group(table.tree, inside, node, fixed=table.c == "first")
        if table.c == "last":
            made.add((total, "c"), outer)
    else:
        groups = [made.of_group(table.tree, terms[k : k + table.group], node) for k in range(0, K, table.group)]
        if table.scaled is not None:
            groups = made.scaled(operation, groups, node_of(table.scaled))
        made.in_order([*groups, "c"] if table.c == "last" else ["c", *groups], outer)
    return tuple(made.steps)


class _Program:
    """Collects the steps of a program."""

    def __init__(self, table: SumTable) -> None:
        self._align, self._group = table.align, table.group
        self.steps: list[Sum | Sort] = []

    def add(self, members: Sequence[str], node: Node, align: Alignment | None = None) -> str:
        name = f"s{len(self.steps)}"
        self.steps.append(Sum(name, tuple(members), node, align))
        return name

    def of_tree(self, tree: Tree, terms: Sequence[str], node: Node) -> str:
        if isinstance(tree, str):
            return terms[int(tree[1:])] if tree.startswith("p") else tree
        members = [self.of_tree(member, terms, node) for member in tree]
        return self.add(members, node, self._align if len(members) > 2 else None)

    def scaled(self, operation: Operation, groups: Sequence[str], node: Node) -> list[str]:
        """The sums of groups under the scales of their blocks."""
        assert operation.block_size is not None
        factors, found = dict[int, str](), []
        for number, group in enumerate(groups):
            block = number * self._group // operation.block_size
            if block not in factors:
                scales = [self.add((f"{name}{block}",), Node("RNE", node.format)) for name in operation.scale_operands]
                factors[block] = scales[0] if len(scales) == 1 else self.add(("*".join(scales),), node)
            found.append(self.add((f"{factors[block]}*{group}",), node))
        return found

    def in_order(self, terms: Sequence[str], node: Node) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.add((total, term), node)
        return total

    def of_group(self, tree: str, terms: Sequence[str], node: Node, fixed: bool = False) -> str:
        """The sum of a group. `fixed`: whether the first term, c, stays first where terms are sorted."""
        if len(terms) == 1 or tree == "exact":
            return self.add(terms, node, self._align)
        if tree in ("ascending", "descending"):
            head, rest = (terms[:1], terms[1:]) if fixed else (terms[:0], terms)
            names = tuple(f"t{len(self.steps)}_{k}" for k in range(len(rest)))
            self.steps.append(Sort(names, tuple(rest), tree == "descending"))
            return self.in_order([*head, *names], node)
        if tree == "compensated":
            return self._compensated(terms, node)
        if tree == "in-order":
            return self.in_order(terms, node)
        while len(terms) > 1:
            half = len(terms) // 2
            pairs = zip(terms[:half], terms[half:]) if tree == "halves" else zip(terms[::2], terms[1::2])  # noqa: B905
            terms = [*(self.add(pair, node) for pair in pairs), *terms[2 * half :]]
        return terms[0]

    def _compensated(self, terms: Sequence[str], node: Node) -> str:
        """Kahan's sum: each addition's error is taken from the next term."""
        total, lost = terms[0], "0"
        for place, term in enumerate(terms[1:], 2):
            corrected = self.add((term, f"-{lost}"), node)
            larger = self.add((total, corrected), node)
            if place < len(terms):
                lost = self.add((self.add((larger, f"-{total}"), node), f"-{corrected}"), node)
            total = larger
        return total


V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """Arithmetic on places, of one row or of many, which a program of sums is made of."""

    def negative(self, x: V) -> V:
        """The value with its sign inverted."""

    def times(self, x: V, y: V) -> V:
        """The exact product of two places."""

    def sum(self, terms: Sequence[V], step: Sum) -> V:
        """The sum of the terms as the step says."""

    def by_magnitude(self, terms: Sequence[V], descending: bool) -> list[V]:
        """The terms sorted by magnitude, row by row; of equal magnitudes the earlier comes first."""


def summed(steps: Sequence[Sum | Sort], operands: Mapping[str, V], arithmetic: Arithmetic[V]) -> V:
    """Compute a program of sums: from its operands, by their places, to the value of the last sum."""
    places = dict(operands)

    def place(name: str) -> V:
        read = reduce(arithmetic.times, [places[each] for each in places_read(name)])
        return arithmetic.negative(read) if name.startswith("-") else read

    for step in steps:
        terms = [place(name) for name in step.members]
        if isinstance(step, Sort):
            places.update(zip(step.names, arithmetic.by_magnitude(terms, step.descending), strict=True))
        else:
            places[step.name] = arithmetic.sum(terms, step)
    last = steps[-1]
    assert isinstance(last, Sum)
    return places[last.name]


class Place(NamedTuple):
    """An exact value on its way through a program: a term, its special if it is not finite, and its sign, zero's too."""

    term: Term
    special: Special | None
    sign: int

    @property
    def shown(self) -> float:
        """The value as float64, which holds the numbers of all formats of up to 32 bits."""
        if self.special is not None:
            return nan if self.special == NAN else -inf if self.special else inf
        if not self.term.sig:
            return -0.0 if self.sign else 0.0
        return float(self.term.sig * power_of_two(self.term.exp - self.term.frac))


def place_of(operand: Format, code: int) -> Place:
    """A code as a place."""
    x = operand.decode(code)
    return Place(addend(x, operand, operand.e_min), addend_special(x), x.sign)


Watch = Callable[[str, Sequence[float], float], None]  # what, terms, result of each step, for a trace


class OneRow:
    """The reference arithmetic: exact integers, one row at a time."""

    def __init__(self, watch: Watch = lambda what, terms, d: None) -> None:
        self._watch = watch

    def times(self, x: Place, y: Place) -> Place:
        specials, sign = [place.special for place in (x, y) if place.special is not None], x.sign ^ y.sign
        is_zero = any(place.special is None and not place.term.sig for place in (x, y))
        special: Special | None = None if not specials else NAN if NAN in specials or is_zero else 1 if sign else 0
        (sig, exp, frac), by = x.term, y.term
        return Place(Term(sig * by.sig, exp + by.exp, frac + by.frac), special, sign)

    def negative(self, x: Place) -> Place:
        special: Special | None = x.special if x.special in (None, NAN) else 0 if x.special else 1
        return Place(x.term._replace(sig=-x.term.sig), special, 1 - x.sign)

    def sum(self, terms: Sequence[Place], step: Sum) -> Place:
        d = place_of(step.node.format, self._code(terms, step))
        what = ("rounding", "addition")[len(terms) - 1] if len(terms) <= 2 else "aligned sum" if step.align else "exact sum"
        self._watch(what, [term.shown for term in terms], d.shown)
        return d

    def _code(self, terms: Sequence[Place], step: Sum) -> int:
        mode, d = step.node.mode, step.node.format
        special = combine(term.special for term in terms)
        if special is not None:
            return encode_special(special, d, quiet_nan(d))
        if step.align is None:
            total, lsb = exact_sum([term.term for term in terms])
            signs = [term.sign for term in terms]
            negative = any(signs) if mode == "RD" else all(signs)
        else:
            at = step.align
            cut = [term.term if term.term.sig else term.term._replace(exp=at.e_zero) for term in terms]
            e_max = max_exp(cut)
            total, lsb = sum(align(term, e_max, at.F, at.truncation) for term in cut), e_max - at.F
            negative = False
        if not total:
            return d.negative_zero if negative else 0
        return d.encode_scaled(total, lsb, mode, "by-mode")

    def by_magnitude(self, terms: Sequence[Place], descending: bool) -> list[Place]:
        def key(place: Place) -> float:
            return abs(place.shown) if place.special != NAN else inf

        return sorted(terms, key=(lambda place: -key(place)) if descending else key)


def sum_of(
    operation: Operation,
    table: SumTable,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
    watch: Watch = lambda what, terms, d: None,
) -> int:
    """Compute d, a code, by a program of sums over K products.

    Args:
        operation: operation that names the formats and rounds the sum to d's.
        watch: called with every sum.
    """
    o, frac = operation, operation.product_frac
    places = {"c": place_of(o.c, c), "0": place_of(o.c, 0)}
    for k, (x, y) in enumerate(zip(map(o.a.decode, a), map(o.b.decode, b), strict=True)):
        places[f"p{k}"] = Place(multiply(x, y, frac, o.product_exp_min), product_special(x, y), x.sign ^ y.sign)
    for name, codes in (("scale_a", scale_a), ("scale_b", scale_b)):
        if o.scale_format is not None and name in o.scale_operands:
            places |= {f"{name}{n}": place_of(o.scale_format, code) for n, code in enumerate(codes)}
    total = summed(program(o, table, len(a)), places, OneRow(watch))
    if total.special is not None:
        return encode_special(total.special, o.d, quiet_nan(o.d))
    if not total.term.sig:
        return o.d.negative_zero if total.sign else 0
    return o.d.encode_scaled(total.term.sig, total.term.exp - total.term.frac, "RNE")


def check_sums(operation: Operation, table: SumTable) -> None:
    """Raise ValueError unless a unit with a table [sums] has an operation that names formats and nothing else."""
    multiplies_and_adds = {"a", "b", "c"} <= {*operation.operands}
    plain = multiplies_and_adds and operation.structure.is_exact and operation.length == 1 and operation.d.width <= 32
    rho = operation.structure.rho
    plain = plain and (rho is None or rho.rounding_format == rho.d)
    if (
        not plain
        or set(operation.parameters()) - {"a", "b", "c", "L", "rho", *BLOCK_KEYS}
        or not _rounds_to_nearest(operation)
    ):
        raise ValueError(
            "[sums] goes with operation = E-FDPA with L = 1, or FMA of at most 32 bits, and a rho of RNE, which name "
            "formats and nothing else"
        )
    _check_scales(operation, table)
    for key in ("a", "b"):
        value = getattr(operation, key)
        if not _is_multiplied(value) or getattr(operation.carried, key) != value:
            raise ValueError(
                f"{key} of a unit with [sums] must be a floating-point format with fields, at most {MOST_SIG_BITS} "
                f"significant bits, exponents within {MOST_EXPONENT}, and beyond 16 bits IEEE 754's special values; "
                f"got {value}"
            )
    for key, value in (("c", operation.c), ("the format of rho", operation.d)):
        if not (_is_multiplied(value) and value.signed and value.subnormals and value.specials == "ieee") or value.pad_bits:
            raise ValueError(
                f"{key} of a unit with [sums] must have a sign, subnormals, IEEE 754's special values, no padding, at most "
                f"{MOST_SIG_BITS} significant bits and exponents within {MOST_EXPONENT}; got {value}"
            )


def _check_scales(operation: Operation, table: SumTable) -> None:
    """Raise ValueError unless both have scales or neither, and groups end where blocks do."""
    scale, block = operation.scale_format, operation.block_size
    if (scale is None) != (table.scaled is None):
        raise ValueError(
            f"[sums] scaled goes with scale and K_block of the unit, whose scales it multiplies; got scaled = "
            f"{table.scaled}, scale = {scale}"
        )
    if scale is not None and not _is_multiplied(scale):
        raise ValueError(
            f"scale of a unit with [sums] must have at most {MOST_SIG_BITS} significant bits, exponents within "
            f"{MOST_EXPONENT}, and beyond 16 bits IEEE 754's special values; got {scale}"
        )
    if block is not None and block % table.group:
        raise ValueError(
            f"[sums] group must divide K_block, so that its products share scales; got group = "
            f"{table.group}, K_block = {block}"
        )


MOST_SIG_BITS, MOST_EXPONENT = 24, 300
"""Limits of significant bits, and of |exponents|, of formats under [sums]: float64 holds every product exactly."""


def _is_multiplied(form: Format) -> bool:
    """Whether float64 holds the products of a format, and its codes are read by fields."""
    if not form.exp_bits or form.man_bits >= MOST_SIG_BITS or (form.width > 16 and form.specials != "ieee"):
        return False
    return max(abs(form.e_min - form.man_bits), abs(form.e_max)) <= MOST_EXPONENT


def _rounds_to_nearest(operation: Operation) -> bool:
    return str(operation.parameters().get("rho", "RNE-")).startswith("RNE-")
