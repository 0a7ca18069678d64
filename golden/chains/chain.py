"""Φ: how the steps of an operation make a dot product of K products (paper 000, algorithm 5), and the table `[chain]`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, reduce
from typing import Any, Literal, Protocol, Self, TypeVar, get_args
from zlib import crc32

import numpy as np

from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.formats import FORMATS, FP16, FP32, Cls, Format
from golden.arithmetic.rounding import MODES
from golden.arithmetic.specials import nvidia_nan, quiet_nan
from golden.arrays import BitArray, bits_dtype
from golden.chains.sum_chain import SumTable, check_sums, sum_of
from golden.checks import check_choice, check_least, check_type
from golden.operations import FMA, TFDPA, Operation
from golden.operations.base import check_flag
from golden.operations.exact_sum import ExactSum
from golden.operations.fused import FusedOperation
from golden.operations.ieee import add

Order = Literal["in-order", "pairs-of-four", "even-odd"]
"""The orders of products that the datapath of `NVIDIA` chains may have (numerics.md, section 9)."""

ORDERS: tuple[Order, ...] = get_args(Order)

RUNS: dict[str, int] = {"in-order": 0, "even-odd": 1, "pairs-of-four": 2, "fours-of-eight": 4, "eights-of-sixteen": 8}
"""Orders of the products in one chain, each with the length r of its runs: a chain takes the k with k mod 2r < r first, then
the others. r = 0 takes them by k."""

CHAIN_ORDERS: tuple[str, ...] = (*RUNS, "even-and-odd")
"""The orders that a unit file can have: those of `RUNS`, and two chains (over the even k and over the odd k) whose sums
are added."""

PAIRED = "paired"
"""The order of Arm's BFDOT, which no unit file has: every step is a chain of its own, the sums of two neighbouring steps are
added, and the result is added to d (numerics.md, section 11)."""

ADD_C: tuple[str, ...] = ("first", "last")
"""When c is added: in the first step; or after the chain, which then starts from +0."""

CONVERTED = ("e4m3", "e5m2")
"""Formats that can be converted to fp16."""

NVIDIA = "RNE-nvidia"
"""The addition of c in an FP8 `mma.sync` that runs on the fp16 datapath (sm_90, sm_100; numerics.md, section 9): RNE with
NVIDIA's NaN. Every engine computes such a chain in one call, this addition included."""

T = TypeVar("T")


class DotProduct(Protocol):
    """A function that computes one dot-product-accumulate from bit patterns."""

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int], scale_b: Sequence[int]
    ) -> int: ...


@dataclass(frozen=True, kw_only=True)
class ChainTable:
    """How a unit chains its steps over K products.

    Attributes:
        convert: "fp16": elements of e4m3 and e5m2 are first converted to fp16, which is exact; None: no conversion.
        order: one of `CHAIN_ORDERS`.
        add_c: one of `ADD_C`. With two chains and c first, the even chain starts from c and the odd one from +0. With
            E-FDPA's `zero = "ieee"` chains without c start from −0: it changes no sum but an exact zero of RD, which is −0.
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
        if self != ChainTable() and "c" not in operation.operands:
            raise ValueError(f"[chain] is for operations that add to c, which {operation.name} does not have")
        if self.convert is not None and not {a, b} <= {FORMATS[name] for name in CONVERTED}:
            raise ValueError(f"[chain] convert takes {' and '.join(CONVERTED)} to fp16; got a={a}, b={b}")
        if self.subtract and not a.negative_zero:
            raise ValueError(f"[chain] subtract inverts a bit that is a's sign alone, which {a} does not have")
        if not self.adds and self.addition != "RNE":
            raise ValueError(
                f"[chain] addition is for sums outside of the steps, of which there are none; got {self.addition}"
            )
        if not self.adds:
            return
        if operation.structure.rho is None:
            raise ValueError(f"[chain] adds in the format of rho, but {operation.name} has no rho")
        if operation.c != operation.d:
            raise ValueError(f"[chain] adds in the format of d: c must be {operation.d}, got {operation.c}")
        if not operation.d.subnormals:
            raise ValueError(f"[chain] adds as FMA does, in formats with subnormals; got d = {operation.d}")


@dataclass(frozen=True)
class Chain:
    """d from K products: steps of an operation in an order, and additions after them.

    By default d ← step(a[k:k+L], b[k:k+L], d) for k = 0, L, 2L …, starting from c. The L of `operation` must divide the
    products of each chain of steps (`steps_for`).

    Attributes:
        order: one of `CHAIN_ORDERS`, or `PAIRED`.
        convert: the formats of a and b before they are converted to fp16; None if they are not.
        add_c: as in `ChainTable`; a paired chain adds its pairs to c.
        addition: the mode of every addition outside of the steps, or `NVIDIA`. A paired chain's has the ρ of its steps.
        subtract: as in `ChainTable`.
        sums: the program of additions that is computed in place of the operation, which names the formats; or None.
    """

    operation: Operation
    order: str = "in-order"
    convert: tuple[Format, Format] | None = None
    add_c: str = "first"
    addition: str = "RNE"
    subtract: bool = False
    sums: SumTable | None = None

    def __post_init__(self) -> None:
        check_type("operation of a chain", self.operation, Operation)
        o = self.operation
        if self.convert is not None and (o.a, o.b) != (FP16, FP16):
            raise ValueError(f"a chain that converts to fp16 must multiply fp16 by fp16, got a={o.a}, b={o.b}")
        if self.addition == NVIDIA:
            check_type("operation of a converted chain", o, TFDPA)
            check_choice("order of a converted chain", self.order, ORDERS)
            if self.convert is None or self.add_c != "last" or self.subtract:
                raise ValueError(f"the addition {NVIDIA} goes with a conversion and c last, got {self}")
        if self.sums is not None:
            check_type("sums of a chain", self.sums, SumTable)
            check_sums(o, self.sums)
        elif self.order == PAIRED:
            if not o.structure.is_multiply_add or o.d != FP32 or o.a == FP32:
                raise ValueError(
                    f"operation of a paired chain must be FMA of bf16 with fp32; got {o.name}, a={o.a}, d={o.d}"
                )
        elif not self.is_plain:
            self.table.check(o, self.a, self.b)

    @classmethod
    def of_table(cls, operation: Operation, table: ChainTable, converted: tuple[Format, Format] | None = None) -> "Chain":
        """The chain that a table [chain] describes; `converted` has the formats before the conversion, if it converts."""
        return cls(operation, table.order, converted, table.add_c, table.addition, table.subtract)

    @classmethod
    def nvidia(cls, operation: Operation, a: Format, b: Format, order: str) -> "Chain":
        """An FP8 `mma.sync` that runs on the fp16 datapath: chained from zero, c added at the end (`NVIDIA`)."""
        return cls(operation, order, (a, b), "last", NVIDIA)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """A hash that is the same in every process, because it is pickled with the chain. Chains are keys of the native
        engine's caches, so it is computed once per chain."""
        return crc32(repr(self).encode())

    @property
    def a(self) -> Format:
        """Format of the elements of A, before they are converted."""
        return self.operation.a if self.convert is None else self.convert[0]

    @property
    def b(self) -> Format:
        """Format of the elements of B, before they are converted."""
        return self.operation.b if self.convert is None else self.convert[1]

    @property
    def carried(self) -> Self:
        """The chain on the carriers of coded elements."""
        return replace(self, operation=self.operation.carried)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the chain is nothing but its steps in order of k, starting from c."""
        return all(getattr(self, field.name) == field.default for field in fields(self)[1:])

    @property
    def fp16_order(self) -> Order | None:
        """The order of the products in an FP8 `mma.sync` that runs on the fp16 datapath; None for any other chain."""
        return self.order if self.addition == NVIDIA else None  # type: ignore[return-value]  # checked when it was made

    @property
    def table(self) -> ChainTable:
        """The table [chain] of a unit file.

        Raises:
            ValueError: a paired chain, which no file describes.
        """
        return ChainTable(
            convert=None if self.convert is None else FP16.name, order=self.order, add_c=self.add_c,
            addition="RNE" if self.addition == NVIDIA else self.addition, subtract=self.subtract,
        )  # fmt: skip

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        if self.sums is not None:
            return sum_of(self.operation, self.sums, a, b, c, scale_a, scale_b)
        if self.convert is not None:
            a, b = ([to_fp16(own, code) for code in codes] for own, codes in zip(self.convert, (a, b), strict=True))
        if self.subtract:
            a = [code ^ self.inverted for code in a]
        sums = [
            self._steps([a[k] for k in products], [b[k] for k in products], start, scale_a, scale_b)
            for products, start in self.parts(len(a), c, self.zero)
        ]
        return self.summed(sums, c, self.added)

    def check_flags(self) -> None:
        """Raise ValueError if exception flags are not defined for the chain: of steps that round one exact sum alone."""
        if not isinstance(self.operation, ExactSum) or not self.is_plain:
            what = self.operation.name if self.is_plain else f"a chain of {self.operation.name} with [chain] or [sums]"
            raise ValueError(
                f"flags are defined for plain steps of FMA, MUL, ADD, CVT and E-FDPA (numerics.md, section 14), "
                f"not for {what}"
            )
        self.operation.check_flags()

    def flagged(self, a: Sequence[int], b: Sequence[int], c: int) -> tuple[int, int]:
        """d, and the exception flags that its steps raise together.

        Raises:
            ValueError: they are not defined (`check_flags`).
        """
        self.check_flags()
        operation, d, raised = self.operation, c, 0
        assert isinstance(operation, ExactSum)
        for k in range(0, len(a), operation.length):
            if k:
                operation = operation.accumulating()
            step = (a[k : k + operation.length], b[k : k + operation.length], d)
            raised |= operation.flags_of(*step)
            d = operation.step(*step)
        return d, raised

    def _steps(self, a: Sequence[int], b: Sequence[int], d: int, scale_a: Sequence[int], scale_b: Sequence[int]) -> int:
        """Compute d, a code, by consecutive steps over the products a·b, starting from d."""
        operation = self.operation
        for k in range(0, len(a), operation.length):
            if k:
                operation = operation.accumulating()
            blocks = self._blocks(k)
            end = k + operation.length
            d = operation.step(a[k:end], b[k:end], d, scale_a[blocks], scale_b[blocks])
        return d

    def _blocks(self, k: int) -> slice:
        """The scales, as a slice, of the step that starts at product k."""
        block_size = self.operation.block_size
        if block_size is None:
            return slice(0)
        return slice(k // block_size, k // block_size + self.operation.scales_per_step)

    def parts(self, K: int, c: T, zero: T) -> list[tuple[list[int], T]]:
        """The chains of steps: the indices k of each in the order in which its steps take them, and its start, c or zero.

        Raises:
            ValueError: a paired chain over an odd K.
        """
        first = c if self.add_c == "first" else zero
        if self.order == "even-and-odd":
            return [(list(range(0, K, 2)), first), (list(range(1, K, 2)), zero)]
        if self.order != PAIRED:
            return [(product_order(self.order, K), first)]
        if K % 2:
            raise ValueError(f"K of a paired chain must be even, got {K}")
        return [([k], zero) for k in range(K)]

    def order_over(self, K: int) -> list[int]:
        """The indices k of K products in the order in which the steps take them."""
        return [k for products, _ in self.parts(K, 0, 0) for k in products]

    def summed(self, sums: Sequence[T], c: T, add: Callable[[T, T], T]) -> T:
        """The sums of `parts` and c as d, from left to right: codes or arrays of them, which `add` adds."""
        if self.order == PAIRED:
            return reduce(add, map(add, sums[::2], sums[1::2]), c)
        return reduce(add, (*sums, c) if self.add_c == "last" else sums)

    @property
    def zero(self) -> int:
        """The start of a chain that does not begin with c, in c's format: the zero that changes no sum, but in RD that of
        terms which are all +0."""
        is_negative = self.order == PAIRED or getattr(self.operation, "zero", "positive") == "ieee"
        return self.operation.c.negative_zero if is_negative else 0

    @property
    def inverted(self) -> int:
        """The bits of every element of a that are inverted."""
        return self.operation.a.negative_zero if self.subtract else 0

    @cached_property
    def adder(self) -> FMA:
        """The multiply-add of the additions after the steps: x + y is computed as x·1 + y."""
        operation, d = self.operation, self.operation.d
        if self.order == PAIRED:
            assert isinstance(operation, FMA)
            return operation.changed(a=d, b=d)  # with its steps, which may be watched
        assert isinstance(operation, FusedOperation)
        keys: dict[str, Any] = {key: getattr(operation, key) for key in FusedOperation.own_keys}
        return FMA(a=d, b=d, c=d, rho=rounding_to(self.addition, d), **keys)  # type: ignore[arg-type]  # a mode

    def added(self, x: int, y: int) -> int:
        """x + y, codes of d's format, rounded once."""
        d = self.operation.d
        if self.addition == NVIDIA:
            return add(x, y, d, nvidia_nan(d))
        return self.adder.step([x], [d.encode(1)], y)


def steps_for(operation: Operation, K: int) -> Operation:
    """The operation with L = min(K, L).

    Raises:
        TypeError, ValueError: K is not a positive multiple of that L, or the operation cannot have L = K.
    """
    check_least("K", K, 1)
    try:
        fitted = operation if operation.length <= K else operation.with_length(K)
    except ValueError as error:
        raise ValueError(f"{operation.name} of {operation.length} products cannot be fitted to K={K}: {error}") from error
    if K % fitted.length:
        raise ValueError(f"K must be a multiple of L={fitted.length} of {operation.name} where it is larger, got K={K}")
    return fitted


def chain_of(operation: Operation, table: ChainTable, converted: tuple[Format, Format] | None, K: int) -> Chain:
    """The chain of an operation over K products.

    A table that describes the published chain of FP8 as fp16 gives that chain, `Chain.nvidia`.

    Args:
        converted: formats of the elements of A and B before the table converts them, or None.

    Raises:
        TypeError, ValueError: K does not fit.
    """
    check_least("K", K, 1)
    if K % table.group:
        raise ValueError(f"K must be a multiple of {table.group} for the order {table.order}, got {K}")
    fitted = steps_for(operation, K // (2 if table.order == "even-and-odd" else 1))
    chain = Chain.of_table(fitted, table, converted)
    if converted is not None and _is_published(fitted, table, K):
        return Chain.nvidia(fitted, *converted, table.order)
    return chain


def _is_published(operation: Operation, table: ChainTable, K: int) -> bool:
    """Whether the table describes the published chain of FP8 as fp16, which every engine computes in one call."""
    late = table.add_c == "last" and table.order in ORDERS and table.addition == "RNE" and not table.subtract
    flushes = any(key in operation.parameters() for key in FusedOperation.own_keys)
    return late and isinstance(operation, TFDPA) and not flushes and operation.c in (FP16, FP32) and K % 4 == 0


def product_order(order: str, K: int) -> list[int]:
    """The indices k in the order in which the steps take them.

    Raises:
        ValueError: an unknown order.
    """
    check_choice("order", order, RUNS)
    run = RUNS[order]
    return sorted(range(K), key=lambda k: k % (2 * run) >= run) if run else list(range(K))


@cache
def to_fp16(source: Format, code: int) -> int:
    """An FP8 code as fp16: exact, so a subnormal of e4m3 becomes a normal number."""
    sign, exp, sig, cls = source.decode(code)
    if cls is Cls.NAN:
        return quiet_nan(FP16)
    if cls is Cls.INFINITY:
        return FP16.signed_infinity(sign)
    if cls is Cls.ZERO:
        return FP16.negative_zero if sign else 0
    return FP16.encode_scaled(-sig if sign else sig, exp - source.man_bits, "RNE")


@cache
def fp16_codes(source: Format) -> BitArray:
    """A table of every code of an FP8 format as fp16."""
    return np.array([to_fp16(source, code) for code in range(source.codes)], bits_dtype(FP16))
