"""Φ: the chain of steps with which an instruction computes K products (paper 000, algorithm 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, Protocol, get_args
from zlib import crc32

from golden.checks import check_choice, check_least, check_type
from golden.formats import FP16, Cls, Format
from golden.operations import Operation
from golden.operations.ieee import add
from golden.operations.t_fdpa import TFDPA
from golden.specials import nvidia_nan, quiet_nan

Order = Literal["in-order", "pairs-of-four", "even-odd"]
"""The order in which steps take products: by k; k mod 4 < 2 first, then the rest; even k first, then odd k (numerics.md,
section 9)."""

ORDERS: tuple[Order, ...] = get_args(Order)


class DotProduct(Protocol):
    """A function that computes one dot-product-accumulate from bit patterns."""

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int], scale_b: Sequence[int]
    ) -> int: ...


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


@dataclass(frozen=True)
class Chain:
    """d ← step(a[k:k+L], b[k:k+L], d) for k = 0, L, 2L …, starting from c.

    `operation` must have an L that divides K (`steps_for`).
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

    def order_over(self, K: int) -> list[int]:
        """The indices k of K products in the order in which the steps take them."""
        return list(range(K))

    def _blocks(self, k: int) -> slice:
        """The scales of the step that starts at product k."""
        block_size = self.operation.block_size
        if block_size is None:
            return slice(0)
        return slice(k // block_size, k // block_size + self.operation.scales_per_step)


@dataclass(frozen=True)
class ConvertedChain:
    """An FP8 `mma.sync` that runs on the fp16 datapath (sm_90, sm_100; numerics.md, section 9).

    A and B are converted to fp16 (exact), two chained T-FDPA steps start from zero and take the products in `order`, and C
    is added at the end in one RNE addition in d's format. The catalogue's order is pairs-of-four for both output formats.
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
        order = self.order_over(len(a))
        x = [to_fp16(self.a, a[k]) for k in order]
        y = [to_fp16(self.b, b[k]) for k in order]
        d = self.operation.d
        return add(Chain(self.operation)(x, y, 0), c, d, nvidia_nan(d))

    def order_over(self, K: int) -> list[int]:
        """The indices k of K products in the order in which the steps take them."""
        return product_order(self.order, K)


def _hash(chain: Chain | ConvertedChain) -> int:
    """A hash that is the same in every process, because it is pickled with the chain.

    Chains are keys of the native engine's caches, so it is computed once per chain.
    """
    return crc32(repr(chain).encode())


RUNS: dict[str, int] = {"in-order": 0, "even-odd": 1, "pairs-of-four": 2, "fours-of-eight": 4, "eights-of-sixteen": 8}
"""Every order of a chain, with the length r of its runs: first the k with k mod 2r < r, then the others; 0 is by k."""


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
