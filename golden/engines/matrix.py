"""The matrix product of one instruction."""

from typing import Any, Protocol

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype, check_shape, from_bits, scale_codes, to_bits
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.operations import Operation

Matrices = tuple[Any, Any, Any, Any, Any]
"""A [M, K], B [K, N], C [M, N], scale_a [M, blocks], scale_b [blocks, N]; the scales are None if unscaled."""


class Multiplier(Protocol):
    """The parts of an instruction that a matrix product needs: its formats and its chain over k."""

    @property
    def name(self) -> str: ...
    @property
    def a(self) -> Format: ...
    @property
    def b(self) -> Format: ...
    @property
    def c(self) -> Format: ...
    @property
    def chain(self) -> Chain: ...
    @property
    def operation(self) -> Operation: ...


def matrix_product(instruction: Multiplier, shape: tuple[int, int, int], matrices: Matrices, engine: str | None) -> Any:
    """Compute D of one instruction of shape (m, n, k).

    Raises:
        TypeError: a wrong dtype. ValueError: a wrong shape, code or engine.
    """
    A, B, C, scale_a, scale_b = matrices
    m, n, k = shape
    a, b = to_bits("A", A, instruction.a), to_bits("B", B, instruction.b)
    c = np.zeros_like(a, bits_dtype(instruction.c), shape=(m, n)) if C is None else to_bits("C", C, instruction.c)
    if a.shape != (m, k) or b.shape != (k, n) or c.shape != (m, n):
        check_shape("A", a, (m, k), f"m×k of {instruction.name}")
        check_shape("B", b, (k, n), f"k×n of {instruction.name}")
        check_shape("C", c, (m, n), f"m×n of {instruction.name}")
    alpha, beta = matrix_scales(instruction.name, instruction.operation, scale_a, scale_b, (m, k, n))
    d = run(engine, instruction.chain, Batch(a, b.T, c, alpha, None if beta is None else beta.T, n))
    return from_bits(d, instruction.operation.d, A if C is None else C)


def matrix_scales(
    name: str, operation: Operation, scale_a: Any, scale_b: Any, shape: tuple[int, int, int]
) -> tuple[BitArray | None, BitArray | None]:
    """Check the scales, [M, blocks] and [blocks, N] with blocks = ⌈K/K_block⌉, and return their codes.

    Args:
        name: the model's name, for messages.
        shape: M, K and N.

    Raises:
        TypeError: a wrong dtype. ValueError: a wrong shape or code, or scales of an operation that has none.
    """
    block_size = operation.block_size
    if block_size is None and scale_a is None and scale_b is None:
        return None, None
    M, K, N = shape
    blocks = 0 if block_size is None else -(-K // block_size)
    alpha = scale_codes("scale_a", scale_a, operation, (M, blocks), f"m×k/K_block of {name}")
    beta = scale_codes("scale_b", scale_b, operation, (blocks, N), f"k/K_block×n of {name}")
    return alpha, beta
