"""Rules for blocks of elements that share a scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import Decoded, Format
from golden.arithmetic.steps import Term, signed_sig
from golden.checks import check_choice, check_int
from golden.operations.base import MAX_LENGTH, format_of
from golden.operations.fused import FusedOperation

MAX_SCALE_BITS = 32
"""Upper limit of a scale's width (bits)."""

SCALES = {"both": ("scale_a", "scale_b"), "a": ("scale_a",), "b": ("scale_b",)}
"""The choices of the key `scales`, and the operands that hold scales."""


def scale_of(value: Format | str) -> Format:
    """The format of scales that is given by itself or by its name in golden.

    Raises:
        ValueError: no floating-point format of at most `MAX_SCALE_BITS`.
    """
    scale = format_of("scale", value, None)
    if scale.width > MAX_SCALE_BITS or scale.pad_bits or isinstance(scale, CodedFormat):
        raise ValueError(f"scale must be a format with fields, at most {MAX_SCALE_BITS} bits and no padding, got {scale}")
    return scale


def check_scales(scales: str, scale: Format) -> None:
    """Raise ValueError unless the key `scales` is a choice of `SCALES`. Scales of one side alone must have the normal number
    1: as scales of the other side it changes no product and no exponent."""
    check_choice("scales", scales, SCALES)
    one = scale.encode(1)
    if scales != "both" and (scale.value(one) != 1 or scale.decode(one).exp):
        raise ValueError(f'scale must have the normal number 1 where scales is "{scales}", got {scale}')


def check_block(K_block: int, L: int) -> None:
    """Check that a step covers whole blocks, or lies inside one."""
    check_int("K_block", K_block, 1, MAX_LENGTH)
    if K_block % L and L % K_block:
        raise ValueError(f"K_block must divide L or be a multiple of it; got K_block={K_block}, L={L}")


def scaled_product(product: Term, alpha: Decoded, beta: Decoded, scale: Format, zero_exp: int) -> Term:
    """A product times its block's scales, exponents added; a zero one has exponent `zero_exp`."""
    sig, frac = product.sig * signed_sig(alpha) * signed_sig(beta), product.frac + 2 * scale.man_bits
    return Term(sig, product.exp + alpha.exp + beta.exp if sig else zero_exp, frac)


BLOCK_KEYS = ("K_block", "scale", "scales")
"""The keys of `BlockScaled`."""


@dataclass(frozen=True, kw_only=True)
class BlockScaled(FusedOperation):
    """An operation of products that may have the scales of their block as factors.

    Attributes:
        scale, scales, K_block: as in ST-FDPA; without `scale`, as published, there are none, and K_block is 0.
    """

    golden_alone = BLOCK_KEYS

    K_block: int = 0
    scale: Format | None = None
    scales: str = "both"

    def _check_blocks(self) -> None:
        """Check and coerce the keys; the length must have been checked before."""
        if self.scale is None:
            if self.K_block or self.scales != "both":
                raise ValueError(f"K_block and scales go with scale; got K_block={self.K_block}, scales={self.scales}")
            return
        if not self.K_block:
            raise ValueError(f"K_block must say how many elements share a {self.scale} scale; got 0")
        object.__setattr__(self, "scale", scale_of(self.scale))
        check_scales(self.scales, self.scale)
        check_block(self.K_block, self.length)

    @property
    def is_native(self) -> bool:
        return self.scale is None

    @property
    def scale_format(self) -> Format | None:
        return self.scale

    @property
    def block_size(self) -> int | None:
        return self.K_block or None

    @property
    def scale_operands(self) -> tuple[str, ...]:
        return () if self.scale is None else SCALES[self.scales]

    @property
    def is_scaled(self) -> bool:
        """Whether blocks of elements have scales."""
        return self.scale is not None

    @property
    def scaled_exp_min(self) -> int:
        """The smallest exponent of a product that is not zero, under its scales."""
        return self.product_exp_min + (0 if self.scale is None else len(self.scale_operands) * self.scale.e_min)

    def factors(
        self, x: Sequence[Decoded], y: Sequence[Decoded], scale_a: Sequence[int], scale_b: Sequence[int]
    ) -> list[tuple[Decoded, ...]]:
        """The factors of each product: two elements and, where there are scales, the two of their block."""
        pairs = list(zip(x, y, strict=True))
        if self.scale is None:
            return list(pairs)
        alpha, beta = self.decoded_scales("scale_a", scale_a), self.decoded_scales("scale_b", scale_b)
        return [(p, q, alpha[k // self.K_block], beta[k // self.K_block]) for k, (p, q) in enumerate(pairs)]
