"""Sources of the error of a network's product: the quantised operands, and the unit's sum of their products."""

from functools import cache
from typing import Any, NamedTuple

import golden
from mmau.explore.network.operator import matmul
from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.pytorch import torch
from mmau.explore.network.scaling import quantised, scale_exponent


class Errors(NamedTuple):
    """Root mean square errors of a product's elements, relative to that of the elements.

    Attributes:
        sums: the unit's results against exact sums of the same quantised operands.
        quantisation: those exact sums against a product of the operands as they were.
    """

    sums: float
    quantisation: float


def errors(a: Any, b: Any, product: Product) -> Errors:
    """The errors of a @ b, of fp32 tensors that `matmul` takes. Sums are in fp64, with an error of about 10^-14."""
    K = a.shape[-1]
    quantised_operands = [
        rounded(tensor, operand, product.unit.operation.d, K, product.infinities == "saturate")
        for tensor, operand in ((a, product.unit.a), (b, product.unit.b))
    ]
    truth, exact = a.double() @ b.double(), quantised_operands[0] @ quantised_operands[1]
    got = matmul(a, b, product).double()
    size = truth.square().mean().sqrt()
    sums, quantisation = (float((x - y).square().mean().sqrt() / size) for x, y in ((got, exact), (exact, truth)))
    return Errors(sums, quantisation)


def rounded(x: Any, operand: golden.Format, d: golden.Format, K: int, saturate: bool = False) -> Any:
    """The elements of a tensor after scaling and quantisation for the unit, in fp64."""
    s = scale_exponent(float(x.abs().max()), operand, d, K)
    codes = quantised(x * 2.0**s, operand, saturate)
    if operand.width <= 8:
        return values(operand)[codes.long()] * 2.0**-s
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "fp32": torch.float32}[operand.name]
    return codes.view(dtype).double() * 2.0**-s


@cache
def values(operand: golden.Format) -> Any:
    """The number of each code, in fp64; NaN for codes that are no number."""
    numbers = [operand.value(code) for code in range(operand.codes)]
    return torch.tensor([float("nan") if number is None else float(number) for number in numbers], dtype=torch.float64)
