"""PyTorch's products of FP8 tensors with scales: `_scaled_mm` and `_scaled_mm_v2`.

Scales are applied to the sum in fp32, each operation rounded once: of rows and columns as cuBLAS does on an H100
(docs/evidence/library-products.md), scale_a · (scale_b · sum); of whole tensors (scale_a · scale_b) · sum, which is not
recorded. Then comes the bias, then one rounding to the output's dtype. Scales of blocks of 128 products are applied where
the sum is promoted, as DeepGEMM and cuBLAS do. Scales of 32 products in e8m0 and of 16 in e4m3 are operands of the part's
block-scaled instruction; `_scaled_mm` and SWIZZLE_32_4_4 have them in tiles of 128 rows by 4 scales, as cuBLAS does.
"""

from dataclasses import replace
from typing import Any, Protocol

import golden
from mmau.frameworks.core import Part, scaled_instruction_of
from mmau.frameworks.pytorch import torch

BLOCK = 128
"""Products that share a scale, and columns of a block of B."""

OUTPUTS = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}

EIGHTS = (torch.float8_e4m3fn, torch.float8_e5m2)
"""Dtypes of a result that `scale_result` multiplies."""

TENSOR, ROWS, BLOCKS_OF_16, BLOCKS_OF_32, BLOCKS_OF_1, BLOCKS_OF_128 = range(6)
"""The recipes of `torch.nn.functional.ScalingType`, blocks by their products."""

OPERAND_SCALES = {torch.float8_e8m0fnu: (32, "ue8m0"), torch.float8_e4m3fn: (16, "ue4m3")}
"""Dtype of scales that are operands of an instruction: how many products share one, and its format."""

TILE_ROWS, TILE_SCALES = 128, 4
"""Size of a tile of scales in cuBLAS's order: the scale of row r, column s is at index 16·(r mod 32) + 4·(r / 32) + s."""


class Mode(Protocol):
    """The part of `torch_mode`'s mode that products with scales need."""

    @property
    def part(self) -> Part: ...
    def format(self, tensor: Any) -> str: ...
    def compute(
        self, instruction: golden.Instruction, a: Any, b: Any, c: Any, order: golden.GemmOrder, *, promotion: str = "",
        **keys: Any,
    ) -> Any: ...  # fmt: skip


def scaled_mm(
    mode: Mode, a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any = None,
    scale_result: Any = None, out_dtype: Any = None, use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """`torch._scaled_mm` on a part; the shapes of the scales say what they are of.

    Raises:
        ValueError: a dtype of the result, or scales, that are not computed, or that nobody has recorded.
    """
    part = mode.part
    out = torch.bfloat16 if out_dtype is None else out_dtype
    if out not in (*OUTPUTS, *EIGHTS):
        raise ValueError(
            f"aten._scaled_mm with out_dtype {out} cannot be computed as on {part.arch}: take fp32, bf16, fp16, "
            f"float8_e4m3fn or float8_e5m2"
        )
    factor = _result_scale(part, scale_result, out)
    if scale_a.dtype in OPERAND_SCALES and scale_b.dtype == scale_a.dtype:
        d = with_operand_scales(mode, a, b, scale_a, scale_b, swizzled=True)
        return _finished(d, bias, factor, out)
    for name, scale in (("scale_a", scale_a), ("scale_b", scale_b)):
        if scale.dtype != torch.float32:
            raise ValueError(
                f"aten._scaled_mm with {name} of {scale.dtype} cannot be computed as on {part.arch}: take float32, or for "
                f"both sides float8_e8m0fnu (blocks of 32) or float8_e4m3fn (blocks of 16)"
            )
    instruction = part.instruction(mode.format(a), mode.format(b))
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    blocks = -(-K // BLOCK)
    kinds = _kind(scale_a, (M, 1), (M, blocks)), _kind(scale_b, (1, N), (blocks, N), (blocks, -(-N // BLOCK)))
    if None in kinds or ("block" in kinds) != (kinds[0] == "block" and kinds[1] in ("block", "square")):
        raise ValueError(
            f"aten._scaled_mm with scales of shapes {tuple(scale_a.shape)} and {tuple(scale_b.shape)} cannot be computed as "
            f"on {part.arch}: take one of a tensor, rows and columns, or blocks of {BLOCK} products"
        )
    zeros = a.new_zeros(M, N, dtype=torch.float32)
    if kinds[0] == "block":
        width = BLOCK if kinds[1] == "square" else 1
        keys: dict[str, Any] = {"promote_every": BLOCK // instruction.k, "scale_at": "promotion", "scale_block": (1, width)}
        in_eight = out in EIGHTS
        keys |= {"epilogue": () if bias is None or in_eight else ("bias",), "output": OUTPUTS.get(out, "fp32")}
        d = mode.compute(
            instruction, a, b, zeros, replace(part.order, **keys), promotion="the scales of the call", scale_a=scale_a,
            scale_b=scale_b, bias=None if in_eight else bias,
        )  # fmt: skip
        return _finished(d, bias, factor, out) if in_eight else d
    promotion = part.promotion(use_fast_accum)
    every = _instructions(promotion.value, instruction)
    order = replace(part.order, promote_every=every, output="fp32")
    sums = mode.compute(instruction, a, b, zeros, order, promotion=promotion.source)
    d = sums * (scale_a * scale_b) if kinds == ("tensor", "tensor") else scale_a * (scale_b * sums)
    return _finished(d, bias, factor, out)


def _instructions(products: int, instruction: golden.Instruction) -> int:
    """Promotion after so many products, in instructions.

    Raises:
        ValueError: the products are not whole instructions.
    """
    if products % instruction.k:
        raise ValueError(
            f"fp8_promote must be a multiple of the {instruction.k} products of {instruction.label}, got {products}"
        )
    return products // instruction.k


def _result_scale(part: Part, scale_result: Any, out: Any) -> Any:
    """The factor of the result, None for none.

    Raises:
        ValueError: it depends on PyTorch's version, and the part does not say.
    """
    if scale_result is None or out not in EIGHTS or (scale_result.numel() == 1 and float(scale_result) == 1):
        return None
    if part.scale_result is None:
        raise ValueError(
            f"aten._scaled_mm with scale_result for a result of {out} depends on PyTorch's version, 2.9.1 multiplies by it "
            f"and 2.10 does not (pytorch/pytorch#190449): give scale_result = 'applied' or 'ignored' to torch_mode.on"
        )
    return scale_result if part.scale_result == "applied" else None


def _finished(d: Any, bias: Any, factor: Any, out: Any) -> Any:
    """The scaled sum in fp32 plus the bias, times the scale of the result, rounded once; FP8 saturates."""
    d = d if bias is None else d + bias.float()
    d = d if factor is None else d * factor
    if out in EIGHTS:
        most = torch.finfo(out).max
        d = d.clamp(-most, most)
    return d.to(out)


def with_operand_scales(mode: Mode, a: Any, b: Any, scale_a: Any, scale_b: Any, swizzled: bool, whole: Any = None) -> Any:
    """The product of a block-scaled instruction: fp32 sums, times `whole`.

    Args:
        scale_a, scale_b: a scale of each block of each row of A, of each column of B. swizzled: whether in cuBLAS's order.
        whole: product of the scales of both tensors in fp32, None for none.

    Raises:
        ValueError: no such instruction on the part, or scales of another number.
    """
    block, scale = OPERAND_SCALES[scale_a.dtype]
    formats = ["e2m1" if x.dtype == torch.float4_e2m1fn_x2 else mode.format(x) for x in (a, b)]
    instruction = scaled_instruction_of(mode.part.arch, *formats, block, scale)
    a_codes, b_codes = _codes(a), _codes(b.t())
    (M, K), N = a_codes.shape, len(b_codes)
    alpha, beta = (_rows_of_scales(x, rows, K // block, swizzled) for x, rows in ((scale_a, M), (scale_b, N)))
    if K % block or alpha is None or beta is None:
        raise ValueError(
            f"scales of shapes {tuple(scale_a.shape)} and {tuple(scale_b.shape)} do not fit {M} rows, {N} columns and {K} "
            f"products in blocks of {block}" + (", in tiles of 128 rows by 4 scales" if swizzled else "")
        )
    zeros, order = a.new_zeros(M, N, dtype=torch.float32), replace(mode.part.order, output="fp32")
    d = mode.compute(instruction, a_codes, b_codes.t(), zeros, order, scale_a=alpha, scale_b=beta.t())
    return d if whole is None else d * whole


def _codes(rows: Any) -> Any:
    """The codes of a matrix, one in a byte; of float4_e2m1fn_x2, which holds two, the low one is first."""
    codes = rows.contiguous().view(torch.uint8)
    if rows.dtype != torch.float4_e2m1fn_x2:
        return codes
    return torch.stack([codes & 0xF, codes >> 4], -1).reshape(len(rows), -1)


def _rows_of_scales(scales: Any, rows: int, blocks: int, swizzled: bool) -> Any:
    """The codes of scales as [rows, blocks], None where their number is another."""
    codes = scales.contiguous().view(torch.uint8)
    if not swizzled:
        return codes if tuple(codes.shape) == (rows, blocks) else None
    tiles = -(-rows // TILE_ROWS), -(-blocks // TILE_SCALES)
    if codes.numel() != tiles[0] * tiles[1] * TILE_ROWS * TILE_SCALES:
        return None
    in_tiles = codes.reshape(*tiles, 32, TILE_ROWS // 32, TILE_SCALES).permute(0, 3, 2, 1, 4)
    return in_tiles.reshape(tiles[0] * TILE_ROWS, -1)[:rows, :blocks]


def _kind(scale: Any, rows: tuple[int, int], block: tuple[int, int], square: tuple[int, int] | None = None) -> str | None:
    """The kind of a scale, by its shape; the coarser reading where two fit."""
    if scale.numel() == 1 and block[0] * block[1] != 1:
        return "tensor"
    shape = tuple(scale.shape)
    return {square: "square", block: "block", rows: "rows"}.get(shape) if shape != rows else "rows"


def scaled_mm_v2(
    mode: Mode, a: Any, b: Any, scale_a: list[Any], recipe_a: list[int],
    swizzle_a: list[int], scale_b: list[Any], recipe_b: list[int], swizzle_b: list[int], bias: Any = None,
    out_dtype: Any = None, contraction_dim: Any = (), use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """`torch.nn.functional.scaled_mm` on a part: with one scale a side, or with scales of blocks of 16 and of the whole
    tensor.

    Raises:
        ValueError: a recipe that is not computed.
    """
    recipes = tuple(recipe_a), tuple(recipe_b)
    out = torch.bfloat16 if out_dtype is None else out_dtype
    block = {(BLOCKS_OF_32,): 32, (BLOCKS_OF_16,): 16, (BLOCKS_OF_16, TENSOR): 16}.get(recipes[0])
    orders = {(*swizzle, 0)[0] for swizzle in (swizzle_a, swizzle_b)}
    as_operands = block is not None and recipes[0] == recipes[1] and not any((*swizzle_a[1:], *swizzle_b[1:]))
    of_block = all(OPERAND_SCALES.get(x[0].dtype, (None,))[0] == block for x in (scale_a, scale_b))
    if as_operands and of_block and orders in ({0}, {1}) and out in OUTPUTS and not contraction_dim:
        whole = scale_a[1] * scale_b[1] if len(recipe_a) > 1 else None
        d = with_operand_scales(mode, a, b, scale_a[0], scale_b[0], orders == {1}, whole)
        return _finished(d, bias, None, out)
    computed = {(TENSOR,), (ROWS,), (BLOCKS_OF_1,), (BLOCKS_OF_128,)}
    if not set(recipes) <= computed or any(swizzle_a) or any(swizzle_b) or contraction_dim:
        raise ValueError(
            f"aten._scaled_mm_v2 with recipes {list(recipe_a)} and {list(recipe_b)}, swizzles {list(swizzle_a)} and "
            f"{list(swizzle_b)} cannot be computed as on {mode.part.arch}: take TensorWise, RowWise, BlockWise1x128 or "
            f"128x128, or for both sides BlockWise1x32 of float8_e8m0fnu or BlockWise1x16 of float8_e4m3fn"
        )
    return scaled_mm(mode, a, b, scale_a[0], scale_b[0], bias, None, out_dtype, use_fast_accum)
