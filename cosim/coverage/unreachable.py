"""Unreachable bins that no unit of the coverage job and no sample hits: their arguments have no counterpart.

A bin that is unreachable because of a unit's numbers can be hit in another unit, whose numbers differ.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Argued:
    """Bins that are unreachable by argument only.

    Attributes:
        operations: the names of the operations. bins: a regular expression for "covergroup | bin".
        words: description of the bins. why: reason why no unit of these operations hits them.
    """

    operations: tuple[str, ...]
    bins: str
    words: str
    why: str

    def has(self, operation: str, of_bin: str) -> bool:
        """Return whether a bin of an operation, written "covergroup | bin", is one of these."""
        return operation in self.operations and re.fullmatch(self.bins, of_bin) is not None


ARGUED_ALONE = (
    Argued(
        ("FTZ-AddMul",),
        r"(product|sum of products|result): .*|class of d .*|overflow .*",
        "products, their sum and the result: some directions and outcomes; subnormal d; overflow to the largest number",
        "there are two formats: with bf16 subnormal results are flushed, sums next to them are exact, a product is too "
        "narrow, and RNE overflows to infinity; with fp16 a product is exact, a sum is normal, and none overflows",
    ),
    Argued(("FTZ-AddMul",), r".*: cancellation .*32 or more.*", "32 or more bits cancel", "no term has more than 24 bits"),
    Argued(
        ("GTR-FDPA",),
        r"both sums: alignment .*several sums.*",
        "several sums have the largest exponent, a sum is cut",
        "there are two sums: none is left to lie below",
    ),
    Argued(
        ("GTR-FDPA",),
        r"(even|odd) products: alignment \| product, product, (partly|wholly) cut",
        "of even or odd products that are one product: it is cut",
        "a term alone has the largest exponent",
    ),
    Argued(
        ("GTR-FDPA",),
        r"(even|odd) products: cancellation .*32 or more.*",
        "even or odd products: 32 or more bits cancel",
        "the units of several even or odd products have too few fraction bits, or too short products: at most 26 do",
    ),
    Argued(
        ("FTZ-FMA", "FTZ-EO-FMA"),
        r".*: cancellation .*32 or more.*",
        "32 or more bits cancel",
        "no term has more than 24 bits",
    ),
    Argued(
        ("FTZ-FMA", "FTZ-EO-FMA"),
        r".*: outcome .*(subnormal|to zero).*|class of d .*subnormal|overflow .*largest.*",
        "subnormal results and those rounded to zero; overflow to the largest number",
        "subnormal results are flushed, and RNE overflows to infinity; with fp16 products have no bits so low, "
        "nor do they overflow",
    ),
    Argued(
        ("PS-FDPA",),
        r"groups and c: alignment \| group, group, (partly|wholly) cut",
        "of one group: it is cut",
        "a term alone has the largest exponent",
    ),
    Argued(
        ("PS-FDPA",),
        r"neighbouring products: cancellation .*32 or more.*",
        "neighbouring products: 32 or more bits cancel",
        "units with several products a group have at most 26 fraction bits",
    ),
    Argued(
        ("FTZ-EO-FMA",),
        r"first products: .*|each operation . product [01], .*",
        "the first two products: roundings and their outcomes",
        "they are added to +0, and a product of bf16 or fp16 has no more bits than fp32 holds",
    ),
    Argued(
        ("FTZ-EO-FMA",),
        r"(even and odd|result): outcome .*up to the smallest normal.*",
        "sum of the chains and the result: rounded up to the smallest normal number",
        "sums of fp32 numbers have no bits below those of a subnormal number, and are exact there",
    ),
    Argued(
        ("ADD",),
        r"result: outcome \| (subnormal, inexact|up to the smallest normal|to zero), .",
        "inexact subnormal results; those rounded up to the smallest normal number, or to zero",
        "a sum of two numbers of the format of d has no bits below those of its subnormal numbers, and is exact there",
    ),
    Argued(
        ("IDPA",),
        r"size of each product .*bit 15, .|.*: cancellation .*32 or more.*",
        "a product whose leading one is bit 15, beyond the seventh or negative; 32 or more bits cancel",
        "255 · 255 alone gets to that bit, and the longest unit of uint8 and uint8 has 7 products; −128 · 255 does not; "
        "of sums with a c of int32 fewer bits cancel",
    ),
)
"""All bins that are unreachable by argument only; each entry matches at least one bin that no unit hits."""
