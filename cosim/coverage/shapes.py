"""The sums of a step of each operation, in the order of its records (golden/native/include/mmau.h)."""

from dataclasses import dataclass, replace

from golden import Operation
from golden.formats import FP32, Format
from golden.operations import FTZFMA, GSTFDPA, OCFDPA, PSFDPA, FTZAddMul
from golden.operations.flushed_fma import FlushedFMA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.operations.t_fdpa import TruncatedFDPA
from golden.operations.tr_fdpa import NO_PRODUCT_EXP, RoundedFDPA

OF_A_GROUP = "products of a group"
"""The sum of a group of GST-FDPA."""

OF_NEIGHBOURS = "neighbouring products"
"""The sum of a group of PS-FDPA."""


@dataclass(frozen=True)
class Kind:
    """Terms of one kind in a sum.

    Attributes:
        name, plural: their names. count: number of terms.
        lowest, highest: range of the exponent of a term that is not zero (exponent values).
        frac: number of fraction bits of its significand at its exponent.
        fraction_bits: fraction bits that alignment retains at e_max; None if it retains all.
        lead: how far a leading one may lie above the exponent (bits).
        least_bits: of the smallest significand at the lowest exponent. higher_bits: at those above it.
        zeros: the least and the largest exponent of one that is zero, None where a zero has no exponent that counts.
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
    higher_bits: int = 1
    zeros: tuple[int, int] | None = None


@dataclass(frozen=True)
class SumShape:
    """A sum of a step, or several equal ones.

    Attributes:
        name: name of the sum. sums: indices of the records of the sums. terms: index of the first term of each.
        kinds: its terms in order, c apart from the others.
        e_zero: exponent value of every zero term, None if zero terms have another exponent.
        inverted: whether a term may be inverted where another sum negates it, which adds a unit of the last place.
    """

    name: str
    sums: tuple[int, ...]
    terms: tuple[int, ...]
    kinds: tuple[Kind, ...]
    e_zero: int | None = None
    inverted: bool = False

    @property
    def count(self) -> int:
        """The number of terms of one sum."""
        return sum(kind.count for kind in self.kinds)

    @property
    def is_exact(self) -> bool:
        """Whether the sum is exact: alignment cuts no bits."""
        return all(kind.fraction_bits is None for kind in self.kinds)


def terms_of(operation: Operation) -> Kind:
    """The products of an operation, scales and headroom included."""
    a, b = operation.a, operation.b
    flush = flushes(operation, a) and flushes(operation, b)
    lowest, highest, frac, lead = a.e_min + b.e_min, a.e_max + b.e_max, a.man_bits + b.man_bits, 1
    least_bits, higher_bits = (frac + 1, frac + 1) if flush else (1, min(a.man_bits, b.man_bits) + 1)
    scale = operation.scale_format
    if scale is not None:
        lowest, highest = lowest + 2 * scale.e_min, highest + 2 * scale.e_max
        frac += 2 * scale.man_bits
        higher_bits = least_bits
    if isinstance(operation, HeadroomFDPA):
        lowest, highest, frac, lead = lowest + operation.h, highest + operation.h, frac + operation.h, lead - operation.h
    fraction_bits = operation.F if isinstance(operation, TruncatedFDPA | RoundedFDPA | HeadroomFDPA) else None
    zeros = (operation.e_zero, operation.e_zero) if isinstance(operation, TruncatedFDPA | HeadroomFDPA) else None
    L = operation.length
    return Kind("product", "products", L, lowest, highest, frac, fraction_bits, lead, least_bits, higher_bits, zeros)


def flushes(operation: Operation, operand: Format) -> bool:
    """Return whether the operation flushes the subnormal inputs of a format."""
    if isinstance(operation, HeadroomFDPA):
        return operation.flush_inputs and operand.e_min == FP32.e_min
    if isinstance(operation, FlushedFMA):
        return operation.a.exp_bits == FP32.exp_bits  # fp16's are normal numbers of fp32
    return isinstance(operation, FTZAddMul) or bool(getattr(operation, "flush_inputs", False))


def c_of(operation: Operation, chained: bool) -> Kind:
    """The accumulator as a term; in a chain it can also be the d of a step."""
    c = operation.c
    fraction_bits = operation.F if isinstance(operation, TruncatedFDPA | RoundedFDPA | HeadroomFDPA) else None
    zero = operation.e_zero if isinstance(operation, TruncatedFDPA | HeadroomFDPA) else c.e_min
    zeros = (zero, zero) if fraction_bits is not None else None
    bits = c.man_bits + 1
    least_bits = bits if flushes(operation, c) else 1
    of_c = Kind("c", "c", 1, c.e_min, c.e_max, c.man_bits, fraction_bits, 0, least_bits, bits, zeros)
    if not chained or operation.c is operation.d:
        return of_c
    d = operation.d
    # Of two formats one has its subnormal numbers above the lowest exponent of the other.
    subnormal_above = c.e_min != d.e_min and not flushes(operation, c)
    return replace(
        of_c, lowest=min(c.e_min, d.e_min), highest=max(c.e_max, d.e_max), frac=max(c.man_bits, d.man_bits), least_bits=1,
        higher_bits=1 if subnormal_above else min(c.man_bits, d.man_bits) + 1,
    )  # fmt: skip


def sums_of(operation: Operation, chained: bool) -> tuple[SumShape, ...]:
    """The sums of a step; the one with c is the last.

    Args:
        chained: whether c is the d of another step in some steps.
    """
    product, c = terms_of(operation), c_of(operation, chained)
    if isinstance(operation, FTZAddMul):
        return _additions(operation, product, c)
    if isinstance(operation, FlushedFMA):
        return _multiply_adds(operation)
    if isinstance(operation, GSTFDPA):
        return _groups(operation, c)
    if isinstance(operation, RoundedFDPA):
        return _rounded(operation, product, c)
    if isinstance(operation, PSFDPA):
        return _neighbours(operation, product, c)
    e_zero = operation.e_zero if isinstance(operation, TruncatedFDPA | HeadroomFDPA) else None
    return (SumShape("products and c", (0,), (0,), (product, c), e_zero, inverted=isinstance(operation, OCFDPA)),)


def _additions(operation: FTZAddMul, product: Kind, c: Kind) -> tuple[SumShape, ...]:
    """FTZ-AddMul: sums of two fp32 numbers, which are not subnormal, level by level."""
    P, fp32 = operation.P, operation.d
    lowest = max(product.lowest, fp32.e_min)
    levels = (P - 1).bit_length()
    # A sum of products can cancel down to a unit in the last place of what is summed, but not below the normal numbers.
    lowest_sum = lowest if P <= 2 else max(fp32.e_min, lowest - product.frac)
    highest = min(product.highest + 1 + levels, fp32.e_max)

    def fp32_term(name: str, plural: str, count: int) -> Kind:
        return Kind(name, plural, count, lowest_sum, highest, fp32.man_bits, None, 0, fp32.man_bits + 1)

    sum_of_products, addend = fp32_term("sum of products", "sums of products", 1), fp32_term("addend", "addends", 2)
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
    low, high, e_zero = 2 * scale.e_min, 2 * scale.e_max, operation.e_zero
    zeros = (min(e_zero, low), max(e_zero, high)) if G > 1 else (e_zero, e_zero)
    group = Kind("group", "groups", groups, low, high, group_frac, operation.F, lead, zeros=zeros)
    inner = SumShape(OF_A_GROUP, tuple(range(groups)), tuple(range(0, L, G)), (product,))
    return inner, SumShape("groups and c", (groups,), (L,), (group, c), operation.e_zero)


def _rounded(operation: RoundedFDPA, product: Kind, c: Kind) -> tuple[SumShape, ...]:
    """TR-FDPA: the products; T and c. GTR-FDPA: the even and the odd products; both; T and c."""
    L, F, F2 = operation.L, operation.F, operation.F2

    def of(name: str, count: int) -> Kind:
        return replace(product, name=name, count=count)

    def total(name: str, count: int, summed: int, fraction_bits: int) -> Kind:
        lead = 2 + (summed - 1).bit_length()
        # A sum is zero where products cancel, or where the fraction bits hold nothing of one that has a small significand.
        own = summed > 1 or product.frac - F >= product.least_bits
        zeros = (NO_PRODUCT_EXP, product.highest if own else NO_PRODUCT_EXP)
        return Kind(name, f"{name}s", count, product.lowest, product.highest, F, fraction_bits, lead, zeros=zeros)

    T = total("T", 1, L, F2 + 1)
    if operation.name == "TR-FDPA" or L == 1:
        products = SumShape("products", (0,), (0,), (of("product", L),))
        return products, SumShape("T and c", (1,), (L,), (T, c))
    even, odd = (L + 1) // 2, L // 2
    return (
        SumShape("even products", (0,), (0,), (of("product", even),)),
        SumShape("odd products", (1,), (even,), (of("product", odd),)),
        SumShape("both sums", (2,), (L,), (total("sum", 2, even, F),)),
        SumShape("T and c", (3,), (L + 2,), (T, c)),
    )


def _neighbours(operation: PSFDPA, product: Kind, c: Kind) -> tuple[SumShape, ...]:
    """PS-FDPA: the products of each group; the groups and c."""
    L, P, F = operation.L, operation.P, operation.F
    groups = L // P
    # A sum is zero where products cancel, or where the fraction bits hold nothing of one that has a small significand.
    own = P > 1 or product.frac - F >= product.least_bits
    zeros = (min(operation.e_zero, product.lowest), product.highest) if own else (operation.e_zero, operation.e_zero)
    lead = product.lead + (P - 1).bit_length() + 1  # rounding down may carry
    group = Kind("group", "groups", groups, product.lowest, product.highest, F, F, lead, zeros=zeros)
    e_zero = operation.e_zero
    floor = e_zero if P > 1 else None  # a product alone is at the largest exponent
    inner = SumShape(OF_NEIGHBOURS, tuple(range(groups)), tuple(range(0, L, P)), (replace(product, count=P),), floor)
    return inner, SumShape("groups and c", (groups,), (L,), (group, c), e_zero)


def _multiply_adds(operation: FlushedFMA) -> tuple[SumShape, ...]:
    """FTZ-FMA: each product and what it is added to. FTZ-EO-FMA: the same, but for +0; the chains; c and their sum."""
    a, L = operation.a, operation.L
    lowest, highest = 2 * lowest_factor(a), 2 * a.e_max
    product = Kind("product", "products", 1, lowest, highest, 2 * a.man_bits, None, 1)
    c = Kind("c", "c", 1, FP32.e_min, FP32.e_max, FP32.man_bits, None, 0)
    if isinstance(operation, FTZFMA):
        addend = Kind("addend", "addends", 1, FP32.e_min, FP32.e_max, FP32.man_bits, None, 0)
        return (SumShape("product and addend", tuple(range(L)), tuple(range(0, 2 * L, 2)), (product, addend)),)
    grown = highest + 1 + (L // 2 - 1).bit_length()
    low, high = max(lowest, FP32.e_min), min(grown, FP32.e_max)
    chain = Kind("chain", "chains", 1, low, high, FP32.man_bits, None, 0)
    # With two products each chain is a product, normalised.
    ends = Kind("product", "products", 2, low, high, 2 * a.man_bits + 1, None, 0) if L == 2 else Kind(
        "chain", "chains", 2, low, high, FP32.man_bits, None, 0
    )  # fmt: skip
    both = Kind("sum", "sums", 1, low, min(grown + 1, FP32.e_max), FP32.man_bits, None, 0)
    last = (SumShape("even and odd", (L,), (2 * L,), (ends,)), SumShape("c and sum", (L + 1,), (2 * L + 2,), (c, both)))
    if L == 2:
        return last
    return (SumShape("product and chain", tuple(range(2, L)), tuple(range(4, 2 * L, 2)), (product, chain)), *last)


def lowest_factor(operand: Format) -> int:
    """Exponent of the smallest element that is not zero: fp16's subnormals are normal in fp32, bf16's are flushed."""
    return operand.e_min - operand.man_bits if operand.exp_bits < FP32.exp_bits else operand.e_min
