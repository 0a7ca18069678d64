"""The table `[chain]` of a unit file: a chain that is more than steps in order of k."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, TypeVar, get_args

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.chain import Chain, ConvertedChain, product_order, steps_for, to_fp16
from golden.checks import check_choice, check_least, check_type
from golden.formats import FP16, FP32, Format
from golden.operations import FMA, TFDPA, Operation
from golden.operations.fused import FusedOperation

ChainOrder = Literal["in-order", "pairs-of-four", "even-odd", "even-and-odd"]
"""`golden.chain.Order`, and two chains, one over the even k and one over the odd ones, that are added."""

CHAIN_ORDERS: tuple[ChainOrder, ...] = get_args(ChainOrder)

ADD_C: tuple[str, ...] = ("first", "last")
"""Where c is added: the first step takes it; or the chain starts from +0, and c is added to its sum."""

PUBLISHED: tuple[ChainOrder, ...] = CHAIN_ORDERS[:3]
"""Those of `golden.chain.ConvertedChain`."""

CONVERTED = ("e4m3", "e5m2")
"""Formats that become fp16."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ChainTable:
    """How a unit spends K products on its steps.

    Attributes:
        convert: "fp16": elements of e4m3 and e5m2 become fp16, which is exact, before all else; None: they stay.
        order: one of `CHAIN_ORDERS`.
        add_c: one of `ADD_C`. Of two chains the even one starts from c where that is first, and the odd one from +0.

    Every addition outside of the steps rounds to nearest even in d's format, and flushes and overflows as the steps do.
    """

    convert: str | None = None
    order: str = "in-order"
    add_c: str = "first"

    def __post_init__(self) -> None:
        if self.convert is not None:
            check_choice("[chain] convert", self.convert, (FP16.name,))
        check_choice("[chain] order", self.order, CHAIN_ORDERS)
        check_choice("[chain] add_c", self.add_c, ADD_C)

    @property
    def adds(self) -> bool:
        """Whether there are additions outside of the steps."""
        return self.add_c == "last" or self.order == "even-and-odd"

    def check(self, operation: Operation, a: Format, b: Format) -> None:
        """Raise ValueError where an operation cannot be chained so.

        Args:
            a, b: formats of the elements before they are converted.
        """
        if self != ChainTable() and operation.block_size is not None:
            raise ValueError(f"[chain] is for operations without scales, and {operation.name} has them")
        if self.convert is not None and (a.name not in CONVERTED or b.name not in CONVERTED):
            raise ValueError(f"[chain] convert takes {' and '.join(CONVERTED)} to fp16; got a={a}, b={b}")
        if not self.adds:
            return
        if not isinstance(operation, FusedOperation):
            raise ValueError(f"[chain] adds in the format of a rounding rho, and {operation.name} has none")
        if operation.c != operation.d:
            raise ValueError(f"[chain] adds in one format: c must be {operation.d}, as d; got {operation.c}")


@dataclass(frozen=True)
class OrderedChain(Chain):
    """A chain as a table says it. `operation` is fitted to the products of one of its chains.

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
        step_chain, starts = Chain(self.operation), self.starts(c, 0)
        sums = [
            step_chain([a[k] for k in products], [b[k] for k in products], start)
            for products, start in zip(self.products(len(a)), starts, strict=True)
        ]
        d, *others = self.addends(sums, c)
        for other in others:
            d = self.addition.step([d], [self.one], other)
        return d

    def products(self, K: int) -> list[list[int]]:
        """The products of each chain, in the order in which its steps take them."""
        if self.table.order == "even-and-odd":
            return [list(range(0, K, 2)), list(range(1, K, 2))]
        return [product_order(self.table.order, K)]  # type: ignore[arg-type]  # checked when the table was made

    def starts(self, c: T, zero: T) -> list[T]:
        """What each chain starts from: codes, or arrays of them."""
        first = c if self.table.add_c == "first" else zero
        return [first, zero] if self.table.order == "even-and-odd" else [first]

    def addends(self, sums: Sequence[T], c: T) -> list[T]:
        """What is added at the end, from the left: codes, or arrays of them."""
        return [*sums, c] if self.table.add_c == "last" else list(sums)

    @cached_property
    def addition(self) -> FMA:
        """One addition at the end: x + y is x·1 + y."""
        d, operation = self.operation.d, self.operation
        assert isinstance(operation, FusedOperation)
        keys = {key: getattr(operation, key) for key in FusedOperation.own_keys}
        return FMA(a=d, b=d, c=d, **keys)

    @property
    def one(self) -> int:
        """The code of 1 in d's format."""
        return self.operation.d.encode(1)


def chain_of(operation: Operation, table: ChainTable, a: Format, b: Format, K: int) -> Chain | ConvertedChain:
    """The chain of an operation over K products: a plain one, the published one of FP8 as fp16 work, or what the table says.

    Args:
        a, b: formats of the elements before they are converted.

    Raises:
        TypeError, ValueError: K does not fit.
    """
    if table == ChainTable():
        return Chain(steps_for(operation, K))
    parts = 2 if table.order == "even-and-odd" else 1
    groups = {"pairs-of-four": 4, "even-odd": 2, "even-and-odd": 2}.get(table.order, 1)
    check_least("K", K, 1)
    if K % groups:
        raise ValueError(f"K must be a multiple of {groups} for the order {table.order}, got {K}")
    fitted = steps_for(operation, K // parts)
    if isinstance(fitted, TFDPA) and _is_published(fitted, table, K):
        return ConvertedChain(fitted, a, b, table.order)  # type: ignore[arg-type]  # it is one of ORDERS
    return OrderedChain(fitted, table, a, b)


def _is_published(operation: TFDPA, table: ChainTable, K: int) -> bool:
    """Whether it is the chain of FP8 as fp16 work, which every engine runs."""
    converts = table.convert is not None and table.add_c == "last" and table.order in PUBLISHED
    flushes = any(key in operation.parameters() for key in FusedOperation.own_keys)
    return converts and not flushes and operation.c in (FP16, FP32) and K % 4 == 0


@cache
def fp16_codes(source: Format) -> BitArray:
    """Every code of an FP8 format as fp16."""
    return np.array([to_fp16(source, code) for code in range(source.codes)], bits_dtype(FP16))
