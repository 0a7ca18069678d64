"""Which sums and roundings a step of an operation is made of, in the order of its records (golden/native/include/mmau.h)."""

from dataclasses import dataclass

from golden import Operation
from golden.formats import Format
from golden.operations import GSTFDPA, FTZAddMul
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import NO_PRODUCT_EXP, RoundedFDPA
from golden.rounding import Mode


@dataclass(frozen=True)
class Kind:
    """Terms of one kind in a sum.

    Attributes:
        name, plural: what they are. count: how many.
        lowest, highest: exponents that one can have which is not zero (exponent values).
        frac: low bits of its significand that are fraction bits at its exponent.
        fraction_bits: what alignment keeps of it at e_max; None where it keeps everything.
        lead: how far a leading one may lie above the exponent (bits).
        least_bits: of the smallest significand at the lowest exponent.
    """

    name: str
    plural: str
    count: int
    lowest: int
    highest: int
    frac: int
    fraction_bits: int | None
    lead: int
    least_bits: int = 1


@dataclass(frozen=True)
class SumShape:
    """A sum of a step, or several alike.

    Attributes:
        name: what is summed. sums: the records of the sums. terms: of the first term of each.
        kinds: its terms in order, c apart from the others.
        floor: exponent of a term that is zero, where it can be the largest; None where it cannot.
    """

    name: str
    sums: tuple[int, ...]
    terms: tuple[int, ...]
    kinds: tuple[Kind, ...]
    floor: int | None = None

    @property
    def count(self) -> int:
        """Terms of one sum."""
        return sum(kind.count for kind in self.kinds)

    @property
    def is_exact(self) -> bool:
        """Whether alignment cuts nothing."""
        return all(kind.fraction_bits is None for kind in self.kinds)


@dataclass(frozen=True)
class RoundingShape:
    """A rounding of a step, or several alike.

    Attributes:
        name: what is rounded. roundings: their records. mode: of rounding. to: the format; None of a truncation.
        flushes: whether what is no normal number becomes zero.
        largest: the largest magnitude that is rounded lies below 2 to this (exponent value).
        finest: no bit of what is rounded lies below 2 to this (exponent value).
        excess: how many bits below the last that is kept there can be.
    """

    name: str
    roundings: tuple[int, ...]
    mode: Mode
    to: Format | None
    flushes: bool
    finest: int


def terms_of(operation: Operation) -> Kind:
    """The products that an operation sums, with their scales."""
    a, b, flush = operation.a, operation.b, bool(getattr(operation, "flush_inputs", False))
    flush = flush or isinstance(operation, FTZAddMul)
    lowest, highest, frac, lead = a.e_min + b.e_min, a.e_max + b.e_max, a.man_bits + b.man_bits, 1
    least_bits = frac + 1 if flush else 1
    scale = operation.scale_format
    if scale is not None:
        lowest, highest = lowest + 2 * scale.e_min, highest + 2 * scale.e_max
        frac += 2 * scale.man_bits
    fraction_bits = operation.F if isinstance(operation, TruncatedFDPA | RoundedFDPA) else None
    return Kind("product", "products", operation.length, lowest, highest, frac, fraction_bits, lead, least_bits)


def c_of(operation: Operation, c: Format) -> Kind:
    """The accumulator as a term."""
    flush = bool(getattr(operation, "flush_inputs", False)) or isinstance(operation, FTZAddMul)
    fraction_bits = operation.F if isinstance(operation, TruncatedFDPA | RoundedFDPA) else None
    return Kind("c", "c", 1, c.e_min, c.e_max, c.man_bits, fraction_bits, 0, c.man_bits + 1 if flush else 1)


def sums_of(operation: Operation) -> tuple[SumShape, ...]:
    """The sums of a step; the one with c is the last."""
    L, product, c = operation.length, terms_of(operation), c_of(operation, operation.c)
    if isinstance(operation, FTZAddMul):
        return _additions(operation, product, c)
    if isinstance(operation, GSTFDPA):
        return _groups(operation, c)
    if isinstance(operation, RoundedFDPA):
        return _rounded(operation, product, c)
    floor = operation.e_zero if isinstance(operation, TruncatedFDPA) else None
    del L
    return (SumShape("products and c", (0,), (0,), (product, c), floor),)


def _additions(operation: FTZAddMul, product: Kind, c: Kind) -> tuple[SumShape, ...]:
    """FTZ-AddMul: sums of two fp32 numbers, which are not subnormal, level by level."""
    P, fp32 = operation.P, operation.d
    lowest = max(product.lowest, fp32.e_min)
    levels = (P - 1).bit_length()
    # A sum of products can cancel down to a unit in the last place of what is summed, but not below the normal numbers.
    lowest_sum = lowest if P == 1 else max(fp32.e_min, lowest - product.frac)
    highest = min(product.highest + 1 + levels, fp32.e_max)
    addend = Kind("addend", "addends", 2, lowest_sum, highest, fp32.man_bits, None, 0, fp32.man_bits + 1)
    sum_of_products = Kind("sum of products", "sums of products", 1, lowest_sum, highest, fp32.man_bits, None, 0, fp32.man_bits + 1)
    last = SumShape("products and c", (P - 1,), (2 * (P - 1),), (c, sum_of_products))
    if P == 1:
        return (last,)
    return SumShape("products", tuple(range(P - 1)), tuple(range(0, 2 * (P - 1), 2)), (addend,)), last


def _groups(operation: GSTFDPA, c: Kind) -> tuple[SumShape, ...]:
    """GST-FDPA: the products of each group, exact; the groups and c."""
    L, G, scale = operation.L, operation.G, operation.scale
    a, b = operation.a, operation.b
    groups = L // G
    flush = operation.flush_inputs
    frac = a.man_bits + b.man_bits
    product = Kind("product", "products", G, a.e_min + b.e_min, a.e_max + b.e_max, frac, None, 1, frac + 1 if flush else 1)
    group_frac = frac - a.e_min - b.e_min + 2 * scale.man_bits
    lead = a.e_max + b.e_max + 2 + (G - 1).bit_length() + (2 if scale.man_bits else 0)
    group = Kind("group", "groups", groups, 2 * scale.e_min, 2 * scale.e_max, group_frac, operation.F, lead)
    inner = SumShape("products of a group", tuple(range(groups)), tuple(range(0, L, G)), (product,))
    return inner, SumShape("groups and c", (groups,), (L,), (group, c), operation.e_zero)


def _rounded(operation: RoundedFDPA, product: Kind, c: Kind) -> tuple[SumShape, ...]:
    """TR-FDPA: the products; T and c. GTR-FDPA: the even and the odd products; both; T and c."""
    L, F, F2 = operation.L, operation.F, operation.F2

    def of(name: str, count: int) -> Kind:
        return Kind(name, "products", count, product.lowest, product.highest, product.frac, F, 1, product.least_bits)

    def total(name: str, count: int, summed: int, fraction_bits: int) -> Kind:
        lead = 2 + (summed - 1).bit_length()
        return Kind(name, f"{name}s", count, product.lowest, product.highest, F, fraction_bits, lead)

    T = total("T", 1, L, F2 + 1)
    if operation.name == "TR-FDPA" or L == 1:
        products = SumShape("products", (0,), (0,), (of("product", L),), NO_PRODUCT_EXP)
        return products, SumShape("T and c", (1,), (L,), (T, c))
    even, odd = (L + 1) // 2, L // 2
    return (
        SumShape("even products", (0,), (0,), (of("product", even),), NO_PRODUCT_EXP),
        SumShape("odd products", (1,), (even,), (of("product", odd),), NO_PRODUCT_EXP),
        SumShape("both sums", (2,), (L,), (total("sum", 2, even, F),), NO_PRODUCT_EXP),
        SumShape("T and c", (3,), (L + 2,), (T, c)),
    )


def roundings_of(operation: Operation) -> tuple[RoundingShape, ...]:
    """The roundings of a step; the one that gives d is the last."""
    product, c, d = terms_of(operation), c_of(operation, operation.c), operation.d
    own = min(product.lowest - product.frac, c.lowest - c.frac)
    if isinstance(operation, FTZAddMul):
        P = operation.P
        of_products = max(product.lowest, 2 * operation.a.e_min) - product.frac
        kept = max(of_products, d.e_min - d.man_bits)
        shapes = [RoundingShape("product", tuple(range(P)), "RNE", d, True, of_products)]
        if P > 1:
            shapes.append(RoundingShape("sum of products", tuple(range(P, 2 * P - 1)), "RNE", d, True, kept))
        return (*shapes, RoundingShape("result", (2 * P - 1,), "RNE", d, True, min(kept, d.e_min - d.man_bits)))
    assert isinstance(operation, FusedOperation)
    rho = operation.conversion
    to, flushes = rho.rounding_format, operation.flush_results
    if isinstance(operation, RoundedFDPA):
        finest = max(own, operation.c.e_min - operation.F2)
        truncation = RoundingShape("truncation", (0,), operation.truncation, None, False, own)
        return truncation, RoundingShape("result", (1,), rho.mode, to, flushes, finest)
    if isinstance(operation, TruncatedFDPA):
        if isinstance(operation, GSTFDPA):
            group = sums_of(operation)[-1].kinds[0]
            own = min(group.lowest - group.frac, c.lowest - c.frac)
        own = max(own, min(operation.e_zero, c.lowest) - operation.F)
    return (RoundingShape("result", (0,), rho.mode, to, flushes, own),)
