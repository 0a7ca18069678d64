"""A decoder-only transformer in NumPy whose matrix products are handed in: everything between them is the same for all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

Product = Callable[[str, Array, Array], npt.NDArray[np.float32]]
"""product(place, a, b): a @ b of bf16 matrices in fp32; the place is "linear", "attention" or "logits"."""

BF16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Size:
    """The size of a model, and of what it reads and writes (tokens)."""

    width: int = 256
    hidden: int = 1024
    heads: int = 4
    layers: int = 2
    vocabulary: int = 512
    prompt: int = 32
    written: int = 96


class Transformer:
    """The weights, in bf16, and the forward pass."""

    def __init__(self, size: Size, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.size = size

        def weights(rows: int, columns: int) -> Array:
            drawn: Array = (rng.standard_normal((rows, columns)) / rows**0.5).astype(BF16)
            return drawn

        d, h = size.width, size.hidden
        self.embedding = rng.standard_normal((size.vocabulary, d)).astype(BF16)
        self.positions = (0.3 * rng.standard_normal((size.prompt + size.written, d))).astype(BF16)
        self.layers = [[weights(d, d) for _ in "qkvo"] + [weights(d, h), weights(h, d)] for _ in range(size.layers)]
        self.head = (2 * rng.standard_normal((d, size.vocabulary)) / d**0.5).astype(BF16)
        self.prompt = rng.integers(0, size.vocabulary, size.prompt).tolist()

    def logits(self, tokens: list[int], product: Product) -> npt.NDArray[np.float32]:
        """Logits [tokens, vocabulary]; activations are rounded to bf16 after every product and every addition."""
        x = self.embedding[tokens] + self.positions[: len(tokens)]
        for q, k, v, o, up, down in self.layers:
            y = normalised(x)
            heads = [_heads(product("linear", y, w).astype(BF16), self.size.heads) for w in (q, k, v)]
            mixed = np.concatenate(
                [_attended(q_of, k_of, v_of, product) for q_of, k_of, v_of in zip(*heads, strict=True)], 1
            )
            x = x + product("linear", mixed, o).astype(BF16)
            hidden = np.maximum(product("linear", normalised(x), up), 0).astype(BF16)
            x = x + product("linear", hidden, down).astype(BF16)
        return product("logits", normalised(x), self.head)

    def written(self, product: Product) -> list[int]:
        """The tokens that follow the prompt, the likeliest each time."""
        tokens = list(self.prompt)
        for _ in range(self.size.written):
            tokens.append(int(self.logits(tokens, product)[-1].argmax()))
        return tokens[self.size.prompt :]


def normalised(x: Array) -> Array:
    """Each row divided by its root mean square, in bf16; sums in fp64, so that no order of addition enters."""
    wide = x.astype(np.float64)
    root = np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-6)
    normal: Array = (wide / root).astype(np.float32).astype(BF16)
    return normal


def _heads(x: Array, count: int) -> list[Array]:
    return [np.ascontiguousarray(part) for part in np.split(x, count, 1)]


def _attended(q: Array, k: Array, v: Array, product: Product) -> Array:
    """Causal attention of one head: two products, softmax between them in fp64, rounded once."""
    scores = product("attention", q, np.ascontiguousarray(k.T)).astype(np.float64) / q.shape[1] ** 0.5
    scores[np.triu_indices(len(q), 1)] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    attended: Array = product("attention", weights.astype(np.float32).astype(BF16), v).astype(BF16)
    return attended
