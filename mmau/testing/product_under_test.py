"""A matrix product under test: an instruction, an order and operands, with the results that golden computes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FP32, FP64, Format
from golden.arrays import BitArray, bits_dtype, to_bits
from golden.products.gemm_order import instruction_products
from golden.products.k_layout import Gather, k_layout


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelProduct:
    """Operands as codes, with the instruction and the order that multiply them.

    Attributes:
        model: the instruction, or a unit in its place. order: the order of its accumulation.
        a: [M, K], b: [K, N], c: [M, N]; scale_a, scale_b: scales of the instruction or the order, else None.
    """

    model: golden.Instruction | golden.Unit
    order: golden.GemmOrder
    a: BitArray
    b: BitArray
    c: BitArray
    scale_a: BitArray | None = None
    scale_b: BitArray | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        return len(self.a), self.b.shape[1], self.a.shape[1]

    @property
    def output(self) -> Format:
        """The format of D."""
        return self.order.result_format(self.model)

    @property
    def k(self) -> int:
        """Number of products of one instruction."""
        return instruction_products(self.model)

    @cached_property
    def d(self) -> BitArray:
        """D [M, N], codes of `output`."""
        scales = self.scale_a, self.scale_b
        codes: BitArray = golden.gemm(self.model, self.a, self.b, self.c, *scales, order=self.order)
        return codes

    @property
    def sums(self) -> object:
        """Which products each sum of an element takes, and how the sums are added and rounded: the same for orders that say
        the same of this K in other words."""
        order, K = self.order, self.shape[2]
        if order.k_order == "stream-k":
            return order
        layout = k_layout(self.model, order, K)
        [(_, _, plan)] = order.regions(1, 1, layout.instructions, self.k, layout.pieces)
        places = Gather.of(self.model, K, order.k_order, plan.taken, layout.places).order
        rounded = len(plan.pieces) > 1 and self.output not in (FP32, FP64) and order.split_sum
        taken = None if places is None else np.minimum(places, K).tobytes()
        return plan.pieces, taken, rounded, order.promote_every, order.stripe_order, order.split_order

    def part(self, rows: Any, columns: Any) -> "KernelProduct":
        """The product of some rows and columns, for which their elements are what they are in the whole product.

        Raises:
            ValueError: an order in which an element depends on its place, or scales that rows share.
        """
        if self.order.k_order == "stream-k" or self.order.scale_block != (1, 1):
            raise ValueError("an element of this order depends on its place")
        parts: dict[str, Any] = {"a": self.a[rows], "b": self.b[:, columns], "c": self.c[np.ix_(rows, columns)]}
        if self.scale_a is not None and self.scale_b is not None:
            parts |= {"scale_a": self.scale_a[rows], "scale_b": self.scale_b[:, columns]}
        return self.changed(**{key: np.ascontiguousarray(value) for key, value in parts.items()})

    def changed(self, **parts: Any) -> "KernelProduct":
        """The product with some of its parts replaced."""
        return replace(self, **parts)


def kernel_product(
    arch: str, instr: str, operands: Mapping[str, Any], order: golden.GemmOrder | str | Path | None
) -> KernelProduct:
    """A product of an instruction of the catalogue.

    Args:
        operands: a, b, and c, scale_a, scale_b, which may be None or absent.
        order: None, an order, or the path of a gemm.toml.

    Raises:
        TypeError, ValueError, OSError: what `golden.gemm` would refuse, or `golden.load_order`.
    """
    model = golden.instruction(arch, instr)
    made = golden.load_order(order) if isinstance(order, (str, Path)) else order or golden.GemmOrder()
    if not isinstance(made, golden.GemmOrder):
        raise TypeError(f"order must be a golden.GemmOrder or the path of a gemm.toml, got {order!r:.80}")
    made.check(model)
    a, b = to_bits("a", operands["a"], model.a), to_bits("b", operands["b"], model.b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or not a.shape[1]:
        raise ValueError(f"a must be [M, K] and b [K, N] with the same K, at least 1; got {a.shape} and {b.shape}")
    c = operands.get("c")
    codes = np.zeros((len(a), b.shape[1]), bits_dtype(model.c)) if c is None else to_bits("c", c, model.c)
    scale = FP32 if made.scale_at == "promotion" else model.scale
    scales = {
        key: operands[key] if scale is None else to_bits(key, operands[key], scale)
        for key in ("scale_a", "scale_b")
        if operands.get(key) is not None
    }
    return KernelProduct(model=model, order=made, a=a, b=b, c=codes, **scales)
