"""What an operation is: the sums of one step as data, in the order in which they are made.

Every operation declares its structure once, next to its arithmetic. Whoever needs to know more of an operation than its
results reads it here and nowhere else: traces take the names of terms and sums from it, coverage its bins, the analysis of
errors its bounds, the native engine its parameters, the probe its families, and the variants of a model what may be wrong.

The vocabulary is small. A step adds *terms*: exact products (`Product`), the accumulator (`Addend`), an element by itself
(`Element`), the totals of earlier sums (`Partial`), and +0 where a chain begins (`Zero`). Four functions make the sums:

| node | meaning | operations |
| --- | --- | --- |
| `exact` | the terms are added as they are | E-FDPA, MUL, IDPA, the groups of GST-FDPA |
| `align` | each term is cut to F fraction bits at the largest exponent | T-, ST-, GST-, TR-, GTR-, OC-, PS-FDPA |
| `add` | two terms are added exactly and rounded to a format at once | ADD, FTZ-AddMul, FTZ-EO-FMA |
| `fma` | the same for a product and one term | FMA, FTZ-FMA, FTZ-EO-FMA |

A group is a sum whose total is a `Partial` of a later one. A step is the list of its sums, so T-FDPA is one `align`,
GST-FDPA some `exact` and an `align` of their totals, and FTZ-FMA a list of `fma`. `Structure.rho` is the one conversion of
the fused operations; where the last sum has no rounding, the step adds integers.

    >>> import golden
    >>> step = golden.instruction("gfx942", "v_mfma_f32_32x32x8_bf16").operation.structure
    >>> [(each.of, each.exponent) for each in step.sums], step.last.cut
    ([('products', 'e_dot'), ('T and c', 'e_out')], Cut(F=31, truncation='RD'))
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import Mode

NanRule = Literal["quiet", "ones", "first", "b-c-a", "cause", "none"]
"""The code of a NaN result. `quiet`: the quiet NaN, whose encoding is not measured. `ones`: all bits 1 but the sign
(NVIDIA). `first`: the first NaN operand, made quiet (x86). `cause`: one code for each cause (RDNA). `none`: integers have no
NaN."""

ZeroRule = Literal["positive", "exact", "ieee"]
"""The sign of a zero result. `positive`: always +0. `exact`: +0 for an exact zero, else the sign of the value that is
rounded to zero. `ieee`: that of IEEE 754."""


@dataclass(frozen=True)
class Rounding:
    """A value that is rounded to a format in the course of a step.

    Attributes:
        of: name of the value in reports.
        mode: rounding mode.
        to: format to whose precision the value is rounded.
        flushes: whether a result below the normal numbers becomes a zero of its sign.
    """

    of: str
    mode: Mode
    to: Format
    flushes: bool = False


@dataclass(frozen=True)
class Product:
    """The exact product a_k·b_k.

    Attributes:
        k: index of the product in the step.
        headroom: distance above its own exponent at which it counts (exponent value).
        scaled: whether the scales of its block are factors of it.
        rounding: rounding of the product before it is added; None if it is exact.
    """

    k: int
    headroom: int = 0
    scaled: bool = False
    rounding: Rounding | None = None


@dataclass(frozen=True)
class Addend:
    """The accumulator c.

    Attributes:
        kind: name of the term in coverage; if similar sums add a total in its place, the name of these totals.
    """

    kind: str = "c"


@dataclass(frozen=True)
class Element:
    """An element of a or b that is added by itself."""

    operand: Literal["a", "b"]


@dataclass(frozen=True)
class Zero:
    """The +0 that a chain begins with."""


@dataclass(frozen=True)
class Partial:
    """The total of an earlier sum of the same step.

    Attributes:
        of: index of that sum in the step.
        kind, kinds: name of such terms in coverage, singular and plural.
        scaled: whether the scales of its block are factors of it; it then has their exponent instead of its own.
    """

    of: int
    kind: str
    kinds: str
    scaled: bool = False


Node = Product | Addend | Element | Zero | Partial


@dataclass(frozen=True)
class Summand:
    """A node as a term of a sum.

    Attributes:
        node: the node that is added.
        F: fraction bits that it retains at the sum's largest exponent; None if it retains all.
        zero_exp: exponent with which a zero counts; None if a zero has no effect on the largest exponent.
        reach: largest distance of its exponent below the largest at which it still counts; it counts as 0 below that. None
            for no limit.
    """

    node: Node
    F: int | None = None
    zero_exp: int | None = None
    reach: int | None = None


@dataclass(frozen=True)
class Cut:
    """The truncation of a normalised total to F fraction bits."""

    F: int
    truncation: Mode


@dataclass(frozen=True)
class Sum:
    """One sum of a step: what is added, how it is cut, and how the total is rounded.

    Attributes:
        of: name of the terms in a trace.
        alike: name of the terms in coverage, the same for all sums of this kind.
        node: the vocabulary's function that makes the sum.
        total: name of the total as a term of a later sum; empty if the terms are consecutive products, which then name it.
        terms: the terms, in the order in which they are added.
        exponent: name of the largest exponent; empty if the sum is exact.
        truncation: how bits below F are dropped; None if the sum is exact.
        in_frame: whether magnitudes are cut and added in the sign frame of c, where those of the other sign are inverted.
        cut: truncation of the total, None if it is not truncated.
        rounding: rounding of the total, None if it enters a later sum unrounded, or is an integer.
    """

    of: str
    terms: tuple[Summand, ...]
    node: Literal["exact", "align", "add", "fma"] = "align"
    alike: str = ""
    total: str = ""
    exponent: str = ""
    truncation: Mode | None = None
    in_frame: bool = False
    cut: Cut | None = None
    rounding: Rounding | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that are added, in order."""
        return tuple(term.node for term in self.terms)

    @property
    def has_c(self) -> bool:
        """Whether the accumulator is one of the terms."""
        return any(isinstance(node, Addend) for node in self.nodes)

    @property
    def is_exact(self) -> bool:
        """Whether no term loses bits."""
        return self.truncation is None

    @property
    def floor(self) -> int | None:
        """The common exponent of all zero terms, which is a lower limit of the largest exponent; None if zero terms have no
        common exponent."""
        exponents = {term.zero_exp for term in self.terms}
        return exponents.pop() if len(exponents) == 1 and len(self.terms) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Structure:
    """One step of an operation as data: its sums, in the order in which they are made.

    Attributes:
        sums: the sums, in the order in which they are made; the last one contains c, if the operation has one.
        rho: conversion of the last total, if nothing else rounds; None if every sum rounds, or none does.
        flushed: formats of operands whose subnormals are read as zeros.
        widened: format to which elements are converted, exactly, before they are multiplied; None if they are not.
        headroom: distance above its own exponent at which a product counts; None if products count at their own.
        group: number of products of each group that is summed before it is aligned with c; None without such groups.
        sticky: whether rounding sees that alignment dropped bits.
        zero: sign of a zero result.
        nan: code of a NaN result.
        product_limit: exponent from which on a product is an infinity; None if products have no limit.
    """

    sums: tuple[Sum, ...]
    rho: Conversion | None = None
    flushed: tuple[Format, ...] = ()
    widened: Format | None = None
    headroom: int | None = None
    group: int | None = None
    sticky: bool = False
    zero: ZeroRule
    nan: NanRule
    product_limit: int | None = None

    @property
    def last(self) -> Sum:
        """The sum that gives d."""
        return self.sums[-1]

    @property
    def is_integer(self) -> bool:
        """Whether the step is exact arithmetic on integers."""
        return self.last.rounding is None

    @property
    def is_exact(self) -> bool:
        """Whether the step is one exact sum, rounded once."""
        return self.rho is not None and len(self.sums) == 1 and self.last.is_exact

    @property
    def is_multiply_add(self) -> bool:
        """Whether the step is one multiply-add, rounded by ρ; it has one product, whatever the length of a dot product."""
        return self.is_exact and self.last.node == "fma"

    @property
    def is_exact_dot_product(self) -> bool:
        """Whether the step is the exact sum of any number of products and c, rounded by ρ."""
        return self.is_exact and self.last.node == "exact" and self.last.has_c

    @property
    def is_aligned(self) -> bool:
        """Whether terms are cut to F fraction bits at the largest exponent, products and c at the same one."""
        return not self.last.is_exact

    @property
    def is_aligned_once(self) -> bool:
        """Whether terms are cut at one exponent, by their own exponents, and their total is not cut (T-, ST-, GST-FDPA)."""
        return self.is_aligned and self.headroom is None and self.last.cut is None

    @property
    def rounds_products(self) -> bool:
        """Whether every product is rounded before it is added."""
        return any(isinstance(node, Product) and node.rounding is not None for node in self.sums[0].nodes + self.last.nodes)

    @property
    def scales_groups(self) -> bool:
        """Whether scales are factors of the totals of groups."""
        return any(isinstance(node, Partial) and node.scaled for node in self.last.nodes)

    @property
    def adds_elements(self) -> bool:
        """Whether a and b are terms themselves, not factors."""
        return any(isinstance(node, Element) for node in self.last.nodes)

    @property
    def begins_with_zero(self) -> bool:
        """Whether a chain begins with +0, not with c or a product."""
        return any(isinstance(node, Zero) for each in self.sums for node in each.nodes)

    @cached_property
    def leaves(self) -> tuple[tuple[int, ...], ...]:
        """For each sum, the indices of the products that it adds, directly or through earlier sums, in order."""
        found: list[tuple[int, ...]] = []
        for each in self.sums:
            places: list[int] = []
            for node in each.nodes:
                if isinstance(node, Product):
                    places.append(node.k)
                elif isinstance(node, Partial):
                    places += found[node.of]
            found.append(tuple(places))
        return tuple(found)

    @property
    def has_places(self) -> bool:
        """Whether the place of a product within a step matters, because of its scales or of the sum that it belongs to."""
        of_products = [each for each in self.sums if any(isinstance(node, Product) for node in each.nodes)]
        scaled = any(getattr(node, "scaled", False) for each in self.sums for node in each.nodes)
        return scaled or (len(of_products) > 1 and any(len(each.terms) > 1 for each in of_products))


C = Addend()
"""The accumulator."""


def exact(of: str, nodes: Iterable[Node], *, alike: str = "", total: str = "", rounding: Rounding | None = None) -> Sum:
    """The exact sum of some nodes, rounded at once as `rounding` says, if it is given."""
    return _exact("exact", of, nodes, alike or of, total, rounding)


def _exact(
    node: Literal["exact", "add", "fma"], of: str, nodes: Iterable[Node], alike: str, total: str, rounding: Rounding | None
) -> Sum:
    return Sum(of=of, terms=tuple(map(Summand, nodes)), node=node, alike=alike, total=total, rounding=rounding)


def align(
    of: str, nodes: Iterable[Node], F: int, truncation: Mode, e_zero: int | None, *, alike: str = "", total: str = "",
    exponent: str = "e_max", in_frame: bool = False, rounding: Rounding | None = None,
) -> Sum:  # fmt: skip
    """The sum of some nodes, each cut to F fraction bits at the largest exponent; zeros have exponent `e_zero`."""
    terms = tuple(Summand(node, F, e_zero) for node in nodes)
    return Sum(
        of=of, terms=terms, alike=alike or of, total=total, exponent=exponent, truncation=truncation, in_frame=in_frame,
        rounding=rounding,
    )  # fmt: skip


def add(x: Node, y: Node, rounding: Rounding, *, alike: str, total: str = "") -> Sum:
    """The sum of two nodes, rounded at once."""
    return _exact("add", alike, (x, y), alike, total, rounding)


def fma(product: Product, addend: Node, rounding: Rounding, *, alike: str, total: str = "") -> Sum:
    """A product and one node added, and rounded at once."""
    return _exact("fma", alike, (product, addend), alike, total, rounding)


def products(places: Sequence[int], headroom: int = 0, scaled: bool = False) -> tuple[Product, ...]:
    """The exact products at some places of a step."""
    return tuple(Product(k, headroom, scaled) for k in places)
