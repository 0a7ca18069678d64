"""Φ: how an instruction spends its K products on steps of its operation (paper 000, algorithm 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, get_args
from zlib import crc32

from golden.checks import check_choice, check_least, check_type
from golden.formats import FP16, Cls, Format
from golden.operations import Operation
from golden.operations.ieee import add
from golden.operations.t_fdpa import TFDPA
from golden.specials import nvidia_nan, quiet_nan

Order = Literal["in-order", "pairs-of-four", "even-odd"]
"""Which products each step takes: in order of k; first the k with k mod 4 < 2, then the rest; first the even k, then the
odd ones (numerics.md, section 9)."""

ORDERS: tuple[Order, ...] = get_args(Order)


class DotProduct(Protocol):
    """Anything that computes one dot-product-accumulate from bit patterns."""

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int], scale_b: Sequence[int]
    ) -> int: ...


def steps_for(operation: Operation, K: int) -> Operation:
    """The operation with L = min(K, L).

    Raises:
        TypeError, ValueError: K is not a positive multiple of that L.
    """
    check_least("K", K, 1)
    try:
        fitted = operation if operation.length <= K else operation.with_length(K)
    except ValueError as error:
        raise ValueError(f"{operation.name} of {operation.length} products cannot be fitted to K={K}: {error}") from error
    if K % fitted.length:
        raise ValueError(f"K must be a multiple of L={fitted.length} of {operation.name} where it is larger, got K={K}")
    return fitted


@dataclass(frozen=True)
class Chain:
    """d ← step(a[k:k+L], b[k:k+L], d) for k = 0, L, 2L …, starting from c.

    `operation` is fitted to K already (`steps_for`).
    """

    operation: Operation

    def __post_init__(self) -> None:
        check_type("operation of a chain", self.operation, Operation)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return _hash(self)

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        operation, d = self.operation, c
        for k in range(0, len(a), operation.length):
            if k:
                operation = operation.accumulating()
            blocks = self._blocks(k)
            end = k + operation.length
            d = operation.step(a[k:end], b[k:end], d, scale_a[blocks], scale_b[blocks])
        return d

    def _blocks(self, k: int) -> slice:
        """Which scales the step that starts at product k takes."""
        block_size = self.operation.block_size
        if block_size is None:
            return slice(0)
        return slice(k // block_size, k // block_size + self.operation.scales_per_step)


@dataclass(frozen=True)
class ConvertedChain:
    """FP8 `mma.sync` where no FP8 datapath stands behind it (sm_90, sm_100; numerics.md, section 9).

    A and B are converted to fp16 (exact), two chained T-FDPA run from zero over the products in `order`, and C is added at
    the end in one RNE addition in d's format. The catalogue's order is pairs-of-four for both outputs.
    """

    operation: TFDPA
    a: Format
    b: Format
    order: Order

    def __post_init__(self) -> None:
        check_type("operation of a converted chain", self.operation, TFDPA)
        check_choice("order of a converted chain", self.order, ORDERS)
        for key in ("a", "b"):
            check_type(f"{key} of a converted chain", getattr(self, key), Format)
            check_choice(f"{key} of a converted chain", getattr(self, key).name, ("e4m3", "e5m2"))
        step = self.operation
        if (step.a, step.b) != (FP16, FP16) or step.c != step.d:
            raise ValueError(
                f"operation of a converted chain must multiply fp16 by fp16 and have one format for c and d; "
                f"got a={step.a}, b={step.b}, c={step.c}, d={step.d}"
            )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return _hash(self)

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        order = product_order(self.order, len(a))
        x = [to_fp16(self.a, a[k]) for k in order]
        y = [to_fp16(self.b, b[k]) for k in order]
        d = self.operation.d
        return add(Chain(self.operation)(x, y, 0), c, d, nvidia_nan(d))


def _hash(chain: Chain | ConvertedChain) -> int:
    """Computed once, for chains are keys wherever the native engine is called; the same in every process, for it is pickled
    with the chain."""
    return crc32(repr(chain).encode())


def product_order(order: Order, K: int) -> list[int]:
    """The indices k in the order in which the steps take them.

    Raises:
        ValueError: no such order.
    """
    check_choice("order", order, ORDERS)
    match order:
        case "in-order":
            return list(range(K))
        case "pairs-of-four":
            return sorted(range(K), key=lambda k: k % 4 >= 2)
        case "even-odd":
            return sorted(range(K), key=lambda k: k % 2)


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
