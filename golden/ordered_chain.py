"""The table `[chain]` of a unit file: chains with a conversion, another order of products, or additions after the steps."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Literal, TypeVar, get_args

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.chain import ORDERS, RUNS, Chain, ConvertedChain, product_order, steps_for, to_fp16
from golden.checks import check_choice, check_least, check_type
from golden.formats import FP16, FP32, Format
from golden.operations import FMA, TFDPA, Operation
from golden.operations.base import check_flag
from golden.operations.fused import FusedOperation
from golden.rounding import MODES

ChainOrder = Literal["in-order", "pairs-of-four", "even-odd", "fours-of-eight", "eights-of-sixteen", "even-and-odd"]
"""The orders of `golden.chain.RUNS`, and two chains (over the even k and over the odd k) whose sums are added."""

CHAIN_ORDERS: tuple[ChainOrder, ...] = get_args(ChainOrder)

ADD_C: tuple[str, ...] = ("first", "last")
"""When c is added: in the first step; or after the chain, which then starts from +0."""

CONVERTED = ("e4m3", "e5m2")
"""Formats that can be converted to fp16."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ChainTable:
    """How a unit chains its steps over K products.

    Attributes:
        convert: "fp16": elements of e4m3 and e5m2 are first converted to fp16, which is exact; None: no conversion.
        order: one of `CHAIN_ORDERS`.
        add_c: one of `ADD_C`. With two chains and c first, the even chain starts from c and the odd one from +0. With
            E-FDPA's `zero = "ieee"` chains without c start from −0, which changes no sum.
        addition: the rounding mode of every addition outside of the steps, in d's format; it flushes and overflows as the
            steps do.
        subtract: whether the products are subtracted from c: every element of a has its sign inverted, also that of a NaN.
    """

    convert: str | None = None
    order: str = "in-order"
    add_c: str = "first"
    addition: str = "RNE"
    subtract: bool = False

    def __post_init__(self) -> None:
        if self.convert is not None:
            check_choice("[chain] convert", self.convert, (FP16.name,))
        check_choice("[chain] order", self.order, CHAIN_ORDERS)
        check_choice("[chain] add_c", self.add_c, ADD_C)
        check_choice("[chain] addition", self.addition, MODES)
        check_flag("[chain] subtract", self.subtract)

    def changed(self) -> dict[str, str | bool]:
        """The keys that are not at their defaults, with their values."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}

    @property
    def group(self) -> int:
        """The number of products that K must be a multiple of."""
        return 2 if self.order == "even-and-odd" else max(1, 2 * RUNS[self.order])

    @property
    def adds(self) -> bool:
        """Whether sums are added outside of the steps."""
        return self.add_c == "last" or self.order == "even-and-odd"

    def check(self, operation: Operation, a: Format, b: Format) -> None:
        """Raise ValueError if an operation cannot be chained in this way.

        Args:
            a, b: formats of the elements before they are converted.
        """
        if self != ChainTable() and operation.block_size is not None:
            raise ValueError(f"[chain] is for operations without scales, but {operation.name} has scales")
        if self.convert is not None and (a.name not in CONVERTED or b.name not in CONVERTED):
            raise ValueError(f"[chain] convert takes {' and '.join(CONVERTED)} to fp16; got a={a}, b={b}")
        if self.subtract and not a.negative_zero:
            raise ValueError(f"[chain] subtract inverts a bit that is a's sign alone, which {a} does not have")
        if not self.adds and self.addition != "RNE":
            raise ValueError(
                f"[chain] addition is for sums outside of the steps, of which there are none; got {self.addition}"
            )
        if not self.adds:
            return
        if not isinstance(operation, FusedOperation):
            raise ValueError(f"[chain] adds in the format of rho, but {operation.name} has no rho")
        if operation.c != operation.d:
            raise ValueError(f"[chain] adds in the format of d: c must be {operation.d}, got {operation.c}")


@dataclass(frozen=True)
class OrderedChain(Chain):
    """The chain that a table [chain] describes; the L of `operation` divides the products of each of its chains.

    Attributes:
        a, b: formats of the elements before they are converted.
    """

    table: ChainTable
    a: Format
    b: Format

    def __post_init__(self) -> None:
        super().__post_init__()
        check_type("table of a chain", self.table, ChainTable)
        self.table.check(self.operation, self.a, self.b)

    __hash__ = Chain.__hash__

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        if self.table.convert is not None:
            a, b = [to_fp16(self.a, code) for code in a], [to_fp16(self.b, code) for code in b]
        a = [code ^ self.inverted for code in a]
        step_chain, starts = Chain(self.operation), self.starts(c, self.zero)
        sums = [
            step_chain([a[k] for k in products], [b[k] for k in products], start)
            for products, start in zip(self.products(len(a)), starts, strict=True)
        ]
        d, *others = self.addends(sums, c)
        for other in others:
            d = self.addition.step([d], [self.one], other)
        return d

    def products(self, K: int) -> list[list[int]]:
        """The indices k of each chain, in the order in which its steps take them."""
        if self.table.order == "even-and-odd":
            return [list(range(0, K, 2)), list(range(1, K, 2))]
        return [product_order(self.table.order, K)]

    def order_over(self, K: int) -> list[int]:
        return [k for products in self.products(K) for k in products]

    def starts(self, c: T, zero: T) -> list[T]:
        """The initial value of each chain: codes, or arrays of them."""
        first = c if self.table.add_c == "first" else zero
        return [first, zero] if self.table.order == "even-and-odd" else [first]

    def addends(self, sums: Sequence[T], c: T) -> list[T]:
        """The summands of the final additions, from left to right: codes, or arrays of them."""
        return [*sums, c] if self.table.add_c == "last" else list(sums)

    @property
    def zero(self) -> int:
        """The start of a chain that does not begin with c, in c's format: the zero that changes no sum."""
        return self.operation.c.negative_zero if getattr(self.operation, "zero", "positive") == "ieee" else 0

    @property
    def inverted(self) -> int:
        """The bits of every element of a that the table inverts."""
        return self.operation.a.negative_zero if self.table.subtract else 0

    @cached_property
    def addition(self) -> FMA:
        """The multiply-add of the additions after the steps: x + y is computed as x·1 + y."""
        d, operation = self.operation.d, self.operation
        assert isinstance(operation, FusedOperation)
        keys = {key: getattr(operation, key) for key in FusedOperation.own_keys}
        return FMA(a=d, b=d, c=d, rho=f"{self.table.addition}-{d.name.upper()}", **keys)

    @property
    def one(self) -> int:
        """The code of 1 in d's format."""
        return self.operation.d.encode(1)


def chain_of(operation: Operation, table: ChainTable, a: Format, b: Format, K: int) -> Chain | ConvertedChain:
    """The chain of an operation over K products: a plain chain, the published chain of FP8 as fp16, or the table's chain.

    Args:
        a, b: formats of the elements before they are converted.

    Raises:
        TypeError, ValueError: K does not fit.
    """
    if table == ChainTable():
        return Chain(steps_for(operation, K))
    parts = 2 if table.order == "even-and-odd" else 1
    groups = table.group
    check_least("K", K, 1)
    if K % groups:
        raise ValueError(f"K must be a multiple of {groups} for the order {table.order}, got {K}")
    fitted = steps_for(operation, K // parts)
    if isinstance(fitted, TFDPA) and _is_published(fitted, table, K):
        return ConvertedChain(fitted, a, b, table.order)  # type: ignore[arg-type]  # it is one of ORDERS
    return OrderedChain(fitted, table, a, b)


def _is_published(operation: TFDPA, table: ChainTable, K: int) -> bool:
    """Whether the table describes the published chain of FP8 as fp16, `ConvertedChain`, which every engine runs."""
    converts = table.convert is not None and table.add_c == "last" and table.order in ORDERS
    flushes = any(key in operation.parameters() for key in FusedOperation.own_keys)
    plain = table.addition == "RNE" and not table.subtract and not flushes
    return converts and plain and operation.c in (FP16, FP32) and K % 4 == 0


@cache
def fp16_codes(source: Format) -> BitArray:
    """A table of every code of an FP8 format as fp16."""
    return np.array([to_fp16(source, code) for code in range(source.codes)], bits_dtype(FP16))
