"""Rules for blocks of elements that share a scale."""

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import Decoded, Format
from golden.arithmetic.steps import Term, signed_sig
from golden.checks import check_choice, check_int
from golden.operations.base import MAX_LENGTH, format_of

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
