"""The arithmetics under which the model runs, and what each does to its logits and tokens."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

import golden
from mmau.frameworks.core import instruction_of, multiply
from studies.model.transformer import Array, Product, Size, Transformer

E4M3 = ml_dtypes.float8_e4m3fn

SPLIT = golden.GemmOrder(split_k=4, split_tile=64, split_sum="workspace", output="bf16")
"""As cuBLAS on an A100 for some shapes (golden.recipes): parts rounded to bf16."""


class Outcome(NamedTuple):
    """The effect of an arithmetic.

    Attributes:
        differing: share of the prompt's logits with other bits than the first arithmetic's.
        furthest: largest distance to the exact model's logits, of the same bf16 operands in fp64.
        tokens: the tokens written. first: the first of them that is another than the first arithmetic's; None: none.
    """

    name: str
    differing: float
    furthest: float
    tokens: list[int]
    first: int | None


def on_part(arch: str, linear: golden.GemmOrder | None = None) -> Product:
    """Every product in bf16 on a part; linear layers in an order of their own."""
    instruction = instruction_of(arch, "bf16", "bf16")

    def product(place: str, a: Array, b: Array) -> npt.NDArray[np.float32]:
        order = linear if place == "linear" else None
        d = multiply(instruction, a, b, np.zeros((len(a), b.shape[1]), np.float32), order=order)
        return np.asarray(d, np.float32)

    return product


def in_fp8(arch: str, promote_every: int) -> Product:
    """Linear layers in e4m3 with a power of two for each row and column; the rest in bf16."""
    instruction, other = instruction_of(arch, "e4m3", "e4m3"), on_part(arch)
    order = golden.GemmOrder(promote_every=promote_every)

    def product(place: str, a: Array, b: Array) -> npt.NDArray[np.float32]:
        if place != "linear":
            return other(place, a, b)
        (x, rows), (y, columns) = _quantised(a, 1), _quantised(b, 0)
        d = multiply(instruction, x, y, np.zeros((len(a), b.shape[1]), np.float32), order=order)
        return np.asarray(d * rows * columns, np.float32)

    return product


def _quantised(x: Array, axis: int) -> tuple[Array, Array]:
    """Codes of e4m3, and the power of two of each row or column that brings its largest number below 448."""
    wide = x.astype(np.float32)
    scale = np.exp2(np.ceil(np.log2(np.maximum(np.abs(wide).max(axis, keepdims=True), 1e-30) / 448)))
    return (wide / scale).astype(E4M3), scale.astype(np.float32)


def exact(place: str, a: Array, b: Array) -> Any:
    """Products in fp64."""
    return a.astype(np.float64) @ b.astype(np.float64)


ARITHMETICS: dict[str, Callable[[], Product]] = {
    "sm_80, one pass": lambda: on_part("sm_80"),
    "sm_80, cuBLAS's split-K": lambda: on_part("sm_80", SPLIT),
    "sm_90, one pass": lambda: on_part("sm_90"),
    "gfx942": lambda: on_part("gfx942"),
    **({"gfx1201": lambda: on_part("gfx1201")} if "gfx1201" in golden.ARCHITECTURES else {}),
    "sm_90, FP8 promoted": lambda: in_fp8("sm_90", 4),
    "sm_90, FP8 not promoted": lambda: in_fp8("sm_90", 0),
}
"""The first one is what the others are compared with."""


def outcomes(size: Size, seed: int) -> tuple[list[Outcome], dict[str, npt.NDArray[np.float64]]]:
    """The outcome of each arithmetic, and for each the distances of the prompt's logits to the exact model's."""
    model = Transformer(size, seed)
    truth = model.logits(model.prompt, exact)
    made: list[Outcome] = []
    distances = {}
    for name, arithmetic in ARITHMETICS.items():
        product = arithmetic()
        logits, tokens = model.logits(model.prompt, product), model.written(product)
        if not made:
            first_logits, first_tokens = logits, tokens
        away = [at for at, (x, y) in enumerate(zip(tokens, first_tokens, strict=True)) if x != y]
        distances[name] = np.abs(logits.astype(np.float64) - truth).ravel()
        differing = float((logits.view("u4") != first_logits.view("u4")).mean())
        made.append(Outcome(name, differing, float(distances[name].max()), tokens, away[0] if away else None))
    return made, distances
