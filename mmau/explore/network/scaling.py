"""Numbers of a network in a unit's formats: one power of two for a whole tensor, then the nearest code.

A format with fewer exponent bits than fp32 holds neither the largest gradients nor the smallest. So a
tensor is multiplied by 2^s before it is quantised, and the product of two by 2^-(s_a + s_b) afterwards. s follows from the
tensor's largest magnitude (amax): it is the largest with which neither that overflows nor any sum of K products does. Both
factors are powers of two, so scaling rounds only numbers far below the format's smallest one. Formats with fp32's
exponents take the numbers as they are.

Quantisation rounds to the nearest code, ties to even, and gives the largest finite number for larger ones. An infinity
becomes the format's, its NaN where it has none, or the largest number where it has neither or is asked to saturate.
It is done on the bits of fp32 in integers, and so the same on every device.
"""

import math
from functools import cache
from typing import Any

import golden
from golden.arithmetic.formats import FP32
from mmau.frameworks.pytorch import torch

MAX_SCALE = 126
"""Largest |s|: 2^s and 2^-s are normal fp32 numbers."""


def scale_exponent(amax: float, operand: golden.Format, d: golden.Format, K: int) -> int:
    """s of a tensor whose largest magnitude is `amax`, so that amax·2^s ≤ max(operand) and K·(amax·2^s)² ≤ 2^e_max of d.

    Args:
        amax: NaN and infinities give s = 0, as zero does.
        d: format in which the K products are summed.
    """
    if operand.exp_bits >= FP32.exp_bits or not math.isfinite(amax) or amax == 0:
        return 0
    mantissa, exp = math.frexp(amax)  # amax = mantissa · 2^exp, mantissa in [1/2, 1)
    limit, limit_exp = _limit(operand, d, K)
    s = limit_exp - exp - (mantissa > limit)
    return max(-MAX_SCALE, min(MAX_SCALE, s))


@cache
def _limit(operand: golden.Format, d: golden.Format, K: int) -> tuple[float, int]:
    """The largest magnitude after scaling, as (mantissa, exponent) of `math.frexp`."""
    _, exp, sig, _ = operand.decode(operand.max_finite)
    largest = math.ldexp(sig, exp - operand.man_bits)
    of_sums = 2.0 ** ((d.e_max - (K - 1).bit_length()) // 2)
    return math.frexp(min(largest, of_sums))


def quantised(x: Any, operand: golden.Format, saturate: bool = False) -> Any:
    """The codes of the numbers of a format nearest to those of a tensor of fp32; fp32 itself is taken as it is.

    Returns:
        A tensor of integers of the format's storage width, in the shape of x: uint8, or int16 or int32 with the same bits.

    Raises:
        ValueError: x has a NaN, and the format has none.
    """
    if operand.width > 8:
        return _nearest(x, operand, saturate)
    # Of fp32's mantissa five bits decide, the last of them or'ed with all below: two more than the three that remain.
    bits = x.contiguous().view(torch.int32)
    index = (bits >> _BELOW).bitwise_and_(_INDEX).bitwise_or_((bits & ((1 << _BELOW) - 1)) != 0)
    codes = _table(operand, saturate, str(x.device))[index]
    if operand.nan is None and bool(x.isnan().any()):
        raise ValueError(f"a tensor to quantise must have no NaN: {operand} has no code for it")
    return codes


_BELOW = FP32.man_bits - 5
_INDEX = (1 << (32 - _BELOW)) - 1


@cache
def _table(operand: golden.Format, saturate: bool, device: str) -> Any:
    """The code of each sign, exponent and five bits of a mantissa."""
    floats = (torch.arange(_INDEX + 1) << _BELOW).int().view(torch.float32)
    numbers = floats.where(~floats.isnan(), 0.0) if operand.nan is None else floats
    return _nearest(numbers, operand, saturate).to(device)


def _nearest(x: Any, operand: golden.Format, saturate: bool) -> Any:
    """`quantised` in integers, for any format with a NaN or numbers without."""
    bits = x.contiguous().view(torch.int32)
    if operand is FP32:
        return bits
    mag = bits & 0x7FFFFFFF
    # 1. decode: the exponent value, and the significand with its hidden bit
    stored_exp = mag >> FP32.man_bits
    sig = (mag & 0x7FFFFF).add_(stored_exp.clamp(max=1) << FP32.man_bits)
    exp = stored_exp.clamp_(min=1).sub_(FP32.bias)
    # 2. round to nearest, ties to even: below e_min the last retained bit is that of the subnormals
    kept_exp = exp.clamp(min=operand.e_min)
    shift = (kept_exp - exp).add_(FP32.man_bits - operand.man_bits).clamp_(max=FP32.man_bits + 2)
    odd = (sig >> shift).bitwise_and_(1)
    below_half = torch.bitwise_left_shift(1, shift - 1).sub_(1)
    sig = sig.add_(odd).add_(below_half).bitwise_right_shift_(shift)
    # 3. encode: a carry out of the significand runs into the exponent, where it belongs
    code = kept_exp.sub_(operand.e_min).bitwise_left_shift_(operand.man_bits).add_(sig)
    code = code.clamp_(max=operand.max_finite >> operand.pad_bits).bitwise_left_shift_(operand.pad_bits)
    of_infinity = operand.nan if operand.infinity is None else operand.infinity
    if of_infinity is not None and not saturate:
        code.masked_fill_(mag == FP32.infinity, _as_int32(of_infinity))
    sign = (bits >> 31).bitwise_and_(_as_int32(1 << (operand.width - 1)))
    if operand.specials == "fnuz":
        sign *= code != 0  # it has no −0
    code |= sign
    if operand.nan is not None:
        code.masked_fill_(mag > FP32.infinity, operand.nan)
    return code.to({8: torch.uint8, 16: torch.int16, 32: torch.int32}[operand.storage_bits])


def _as_int32(bits: int) -> int:
    """32 bits as the signed number that PyTorch has for them."""
    return bits - (bits >> 31 << 32)


def unscaled(codes: Any, d: golden.Format, exponent: int) -> Any:
    """The results d·2^exponent in fp32, RNE: codes of d as a tensor of int16 or int32."""
    floats = codes.view({"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[d.name])
    return (floats.double() * 2.0**exponent).float()
