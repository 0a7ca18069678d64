"""The operator `torch.ops.mmau.product`: a matrix product in fp32 whose arithmetic is a unit's, forward and backward.

It quantises its operands, multiplies their codes on golden's native engine, or on golden's cuda engine through CuPy where
the tensors are on a CUDA device, and scales the results back. Its gradients are two further products on a unit. Importing
this module registers it, and needs PyTorch.

Numbers come into a unit's formats by one power of two for a whole tensor, then the nearest code. A format with fewer
exponent bits than fp32 holds neither the largest gradients nor the smallest. So a tensor is multiplied by 2^s before it is
quantised, and the product of two by 2^-(s_a + s_b) afterwards. s follows from the tensor's largest magnitude (amax): it is
the largest with which neither that overflows nor any sum of K products does. Both factors are powers of two, so scaling
rounds only numbers far below the format's smallest one. Formats with fp32's exponents take the numbers as they are.

Quantisation rounds to the nearest code, ties to even, and gives the largest finite number for larger ones. An infinity
becomes the format's, its NaN where it has none, or the largest number where it has neither or is asked to saturate. It is
done on the bits of fp32 in integers, and so the same on every device.
"""

import math
from functools import cache, partial
from math import prod
from typing import Any

import golden
from golden.arithmetic.formats import FP32
from mmau.explore.network.product_arithmetic import Product, product_of
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
    if not operand.negative_zero:
        sign *= code != 0
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


def matmul(a: Any, b: Any, product: Product, gradient: Product | None = None) -> Any:
    """a @ b, as `torch.matmul`, on a unit.

    Args:
        a, b: tensors of fp32; [M, K] and [K, N], or any shapes that `torch.matmul` takes. Each is scaled as a whole.
        product: computes it.
        gradient: computes the products of the backward pass; None for the same. The gradient of the result is its
            operand a in both, so that a unit with two formats, such as e5m2 by e4m3, has the gradient in the first.

    Raises:
        TypeError: tensors of another dtype. ValueError: shapes that do not fit.
    """
    for name, tensor in (("a", a), ("b", b)):
        if tensor.dtype != torch.float32:
            raise TypeError(
                f"{name} of a product on a unit must be a tensor of float32, which is quantised; got {tensor.dtype}"
            )
    rows, columns = a.dim() == 1, b.dim() == 1
    x, y = a.unsqueeze(0) if rows else a, b.unsqueeze(1) if columns else b
    if not x.dim() or not y.dim() or x.shape[-1] != y.shape[-2]:
        raise ValueError(f"a must be [..., M, K] and b [..., K, N] with one K, got {tuple(a.shape)} and {tuple(b.shape)}")
    texts = product.text, (gradient or product).text
    if y.dim() == 2:  # one matrix b: all rows of a in one product
        rows_of_x = x.reshape(1, prod(x.shape[:-1]), x.shape[-1])
        d = torch.ops.mmau.product(rows_of_x, y.unsqueeze(0), *texts).reshape(*x.shape[:-1], y.shape[-1])
    else:
        batch = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = (tensor.expand(*batch, *tensor.shape[-2:]).reshape(prod(batch), *tensor.shape[-2:]) for tensor in (x, y))
        d = torch.ops.mmau.product(x, y, *texts).reshape(*batch, x.shape[-2], y.shape[-1])
    d = d.squeeze(-1) if columns else d
    return d.squeeze(-1 if columns else -2) if rows else d


def _product(a: torch.Tensor, b: torch.Tensor, product: str, gradient: str) -> torch.Tensor:
    """D [batch, M, N] of a [batch, M, K] and b [batch, K, N], fp32; `product`, `gradient`: `Product.text`."""
    _check(a, b)
    made = product_of(product)
    (batch, M, K), N = a.shape, b.shape[2]
    if 0 in (batch, M, K, N):
        return a.new_zeros(batch, M, N)
    quantise = partial(quantised, saturate=True) if made.infinities == "saturate" else quantised
    codes, exponents = [], []
    for tensor, operand in ((a, made.unit.a), (b, made.unit.b)):
        s = scale_exponent(float(tensor.abs().max()), operand, made.unit.operation.d, K)
        codes.append(quantise(tensor * 2.0**s, operand))
        exponents.append(s)
    d = torch.stack([_multiplied(made, x, y) for x, y in zip(*codes, strict=True)])
    return unscaled(d, made.d, -sum(exponents))


def _check(a: torch.Tensor, b: torch.Tensor) -> None:
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise ValueError(f"a must be [batch, M, K] and b [batch, K, N], got {tuple(a.shape)} and {tuple(b.shape)}")
    if a.dtype != torch.float32 or b.dtype != torch.float32 or a.device != b.device:
        raise TypeError(f"a and b must be float32 on one device, got {a.dtype} on {a.device} and {b.dtype} on {b.device}")


def _multiplied(product: Product, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Codes of d, as a tensor of signed integers, of codes a [M, K] and b [K, N]."""
    x, y = (tensor.view(getattr(torch, f"uint{8 * tensor.element_size()}")) for tensor in (a, b))
    return product(x, y).view(getattr(torch, f"int{product.d.storage_bits}"))


def _fake(a: torch.Tensor, b: torch.Tensor, product: str, gradient: str) -> torch.Tensor:
    """The result's shape, dtype and device."""
    _check(a, b)
    return a.new_empty(a.shape[0], a.shape[1], b.shape[2])


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, _, ctx.gradient = inputs
    ctx.save_for_backward(a, b)


def _backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    """dL/da = g·bᵀ and dL/db = (gᵀ·a)ᵀ, both with the gradient g as operand a."""
    a, b = ctx.saved_tensors
    texts = ctx.gradient, ctx.gradient
    grad_a = torch.ops.mmau.product(grad, b.mT, *texts) if ctx.needs_input_grad[0] else None
    grad_b = torch.ops.mmau.product(grad.mT, a, *texts).mT if ctx.needs_input_grad[1] else None
    return grad_a, grad_b, None, None


operator = torch.library.custom_op("mmau::product", _product, mutates_args=(), device_types=("cpu", "cuda"))
operator.register_fake(_fake)
operator.register_autograd(_backward, setup_context=_setup_context)
