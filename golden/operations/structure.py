"""What an operation is: the sums of one step as data, in the order in which they are made.

Every operation declares its structure once, next to its arithmetic. Whoever needs to know more of an operation than its
results reads it here and nowhere else: traces take the names of terms and sums from it, coverage its bins, the analysis of
errors its bounds, the native engine its parameters, the probe its families, and the variants of a model what may be wrong.

The vocabulary is small. A step adds *terms*: exact products (`Product`), the accumulator (`Addend`), the totals of earlier
sums (`Partial`), and +0 where a chain begins (`Zero`). Four functions make the sums:

| node | meaning | operations |
| --- | --- | --- |
| `exact` | the terms are added as they are | E-FDPA, FMA, IDPA, the groups of GST-FDPA |
| `align` | each term is cut to F fraction bits at the largest exponent | T-, ST-, GST-, TR-, GTR-, OC-, PS-FDPA |
| `add` | two terms are added exactly and rounded to a format at once | FTZ-AddMul, FTZ-EO-FMA |
| `fma` | the same for a product and one term | FTZ-FMA, FTZ-EO-FMA |

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

from golden.conversion import Conversion
from golden.formats import Format
from golden.rounding import Mode

NanRule = Literal["quiet", "ones", "first", "cause", "none"]
"""The code of a NaN result: the quiet NaN, whose encoding is not measured; all bits 1 but the sign (NVIDIA); the first NaN
operand, made quiet (x86); one code for each cause (RDNA); integers have none."""

ZeroRule = Literal["positive", "exact", "ieee"]
"""The sign of a zero result: always +0; +0 of an exact zero, else the sign of what is rounded to zero; that of IEEE 754."""


@dataclass(frozen=True)
class Rounding:
    """A value that is rounded to a format in the course of a step.

    Attributes:
        of: the value, as reports call it. mode: the rounding mode. to: the format to whose precision it is rounded.
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
        k: its place in the step.
        headroom: how far it counts above its own exponent (exponent value).
        scaled: whether the scales of its block are factors of it.
        rounding: how it is rounded before it is added; None if it is not.
    """

    k: int
    headroom: int = 0
    scaled: bool = False
    rounding: Rounding | None = None


@dataclass(frozen=True)
class Addend:
    """The accumulator c.

    Attributes:
        kind: what coverage calls it in a sum whose like add totals in its place.
    """

    kind: str = "c"


@dataclass(frozen=True)
class Zero:
    """+0, with which a chain begins."""


@dataclass(frozen=True)
class Partial:
    """The total of an earlier sum of the same step.

    Attributes:
        of: the number of that sum.
        kind, kinds: what coverage calls such terms, one and several.
        scaled: whether the scales of its block are factors of it; it then has their exponent, not its own.
    """

    of: int
    kind: str
    kinds: str
    scaled: bool = False


Node = Product | Addend | Zero | Partial


@dataclass(frozen=True)
class Summand:
    """A node as a term of a sum.

    Attributes:
        node: what is added.
        F: the fraction bits that it retains at the sum's largest exponent; None if it retains all.
        zero_exp: the exponent with which it counts where it is zero; None if it then counts with none.
        reach: how far its exponent may lie below the largest; it counts as 0 where it lies lower. None if it always counts.
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
    """One sum of a step.

    Attributes:
        of: what is added, as a trace says it. alike: the same of all sums of its kind, as coverage says it.
        node: the node of the vocabulary that it is.
        total: what its total is called as a term of a later sum; empty for the products from the first to the last of it.
        terms: in the order in which they are added.
        exponent: the name of the largest exponent; empty if the sum is exact.
        truncation: how bits below F are dropped; None if the sum is exact.
        in_frame: whether magnitudes are cut and added in the sign frame of c: those of the other sign are inverted.
        cut: the truncation of the total, None if it is not truncated.
        rounding: the rounding of the total, None if it goes unrounded into a later sum, or is an integer.
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
        """What is added."""
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
        """The exponent of every zero term, below which the largest exponent never is; None if they have no common one."""
        exponents = {term.zero_exp for term in self.terms}
        return exponents.pop() if len(exponents) == 1 and len(self.terms) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Structure:
    """One step of an operation.

    Attributes:
        sums: in the order in which they are made; the last one has c.
        rho: the conversion of the last total, which alone rounds; None if every sum rounds, or none does.
        flushed: the formats of operands whose subnormals are read as zeros.
        widened: the format to which elements are converted, exactly, before they are multiplied; None if they are not.
        headroom: how far a product counts above its own exponent; None if products count with their own.
        group: products of each group that is summed before it is aligned with c; None if there are no such groups.
        sticky: whether rounding sees that alignment dropped bits.
        zero: the sign of a zero result. nan: the code of a NaN.
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
        """Whether the step is one multiply-add, rounded by ρ: it has one product whatever the length of a dot product."""
        return self.is_exact and self.last.node == "fma"

    @property
    def is_exact_dot_product(self) -> bool:
        """Whether the step is the exact sum of any number of products and c, rounded by ρ."""
        return self.is_exact and self.last.node == "exact"

    @property
    def is_aligned(self) -> bool:
        """Whether terms are cut to F fraction bits at the largest exponent, products and c at one."""
        return not self.last.is_exact

    @property
    def is_aligned_once(self) -> bool:
        """Whether terms are cut at one exponent, their own counting, and their total is not cut (T-, ST-, GST-FDPA)."""
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
    def begins_with_zero(self) -> bool:
        """Whether a chain begins with +0, not with c or a product."""
        return any(isinstance(node, Zero) for each in self.sums for node in each.nodes)

    @cached_property
    def leaves(self) -> tuple[tuple[int, ...], ...]:
        """The places of the products that each sum adds up, by itself and through earlier sums, in order."""
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
        """Whether the place of a product matters within a step: for its scales, or for the sum that it goes into."""
        of_products = [each for each in self.sums if any(isinstance(node, Product) for node in each.nodes)]
        scaled = any(getattr(node, "scaled", False) for each in self.sums for node in each.nodes)
        return scaled or (len(of_products) > 1 and any(len(each.terms) > 1 for each in of_products))


C = Addend()
"""The accumulator."""


def exact(of: str, nodes: Iterable[Node], *, alike: str = "", total: str = "", rounding: Rounding | None = None) -> Sum:
    """The exact sum of some nodes, rounded at once where `rounding` says how."""
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
