"""Operands of dot products as arrays: checked, computed row by row on an engine, or traced; and the matrix product of one
instruction."""

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype, check_shape, from_bits, is_tensor, on_device_of, scale_codes, to_bits
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run, run_flagged
from golden.operations import Operation

if TYPE_CHECKING:
    from golden.trace import Trace


@cache
def machine_bytes() -> int:
    """Memory of this machine (bytes); an upper limit if the system does not report it, as on Windows."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(what: str, size: int) -> None:
    """Raise MemoryError if `size` bytes are more than this machine has."""
    if size > machine_bytes():
        found = f"{size / 2**30:.3g} GiB, and this machine has {machine_bytes() / 2**30:.3g}"
        raise MemoryError(f"{what} would take {found}; compute fewer rows at a time")


def check_operands(operands: Sequence[Any], result: Format) -> None:
    """Raise MemoryError if contiguous copies of a, b, c, the scales, and d (format `result`) do not fit in memory."""
    copies = [array for array in operands if isinstance(array, np.ndarray) and not array.flags.c_contiguous]
    results = operands[2].size if isinstance(operands[2], np.ndarray) else 0
    size = sum(array.size * array.itemsize for array in copies) + results * result.storage_bits // 8
    check_memory("d and contiguous copies of the operands", size)


def batched_dot(
    chain: Chain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
    engine: str | None,
    flags: bool = False,
) -> Any:
    """Check operands of shape [..., K], run the chain over their rows, and shape the result like c; without c it is +0, and
    the result of the kind of a. With `flags` return d and the exception flags."""
    with on_device_of(*operands) if is_tensor(operands[0]) else nullcontext():
        batch, lead = _batch(chain, K, operands)
        like = operands[0] if operands[2] is None else operands[2]
        if flags:
            d, raised = run_flagged(engine, chain, batch)
            return from_bits(d.reshape(lead), chain.operation.d, like), raised.reshape(lead)
        return from_bits(run(engine, chain, batch).reshape(lead), chain.operation.d, like)


def explained(
    name: str,
    chain: Chain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
) -> "Trace":
    """Check one row of operands (a and b of shape [K]) and trace the chain over it; `name` is the model's, for the trace."""
    from golden.trace import trace_of  # a dot product does without

    batch, lead = _batch(chain, K, operands)
    if lead:
        raise ValueError(f"explain takes one dot product: a and b must have shape [{K}], got {(*lead, K)}")
    (a,), (b,), (c,) = batch.a.tolist(), batch.b.tolist(), batch.c.tolist()
    scale_a, scale_b = ((), ()) if batch.scale_a is None or batch.scale_b is None else (batch.scale_a[0], batch.scale_b[0])
    return trace_of(name, chain, a, b, c, list(map(int, scale_a)), list(map(int, scale_b)))


def _batch(
    chain: Chain,
    K: int,
    operands: tuple[Any, Any, Any, Any, Any],
) -> tuple[Batch, tuple[int, ...]]:
    """Check operands of shape [..., K]; return them as rows, and the shape of c. A c that is left out is +0, and so is the b
    of an operation without one."""
    a, b, c, scale_a, scale_b = operands
    operation = chain.operation
    check_operands(operands, operation.d)
    a_bits = to_bits("a", a, chain.a)
    lead = a_bits.shape[:-1]
    no_b = b is None and "b" not in operation.operands
    b_bits = np.zeros_like(a_bits, bits_dtype(chain.b)) if no_b else to_bits("b", b, chain.b)
    c_bits = np.zeros_like(a_bits, bits_dtype(operation.c), shape=lead) if c is None else to_bits("c", c, operation.c)
    for name, bits in (("b", b_bits), ("c", c_bits)):
        if name not in operation.operands and bits.any():
            raise ValueError(f"{name} must be left out, or +0: {operation.name} has no {name}")
    check_shape("a", a_bits, (*lead, K), "the last axis is K")
    check_shape("b", b_bits, (*lead, K), "that of a")
    check_shape("c", c_bits, lead, "that of a without K")
    blocks = 0 if operation.block_size is None else -(-K // operation.block_size)
    rule = f"one scale for every {operation.block_size} elements"
    scales = [
        None if codes is None else codes.reshape(-1, blocks)
        for codes in (
            scale_codes("scale_a", scale_a, operation, (*lead, blocks), rule, a_bits),
            scale_codes("scale_b", scale_b, operation, (*lead, blocks), rule, a_bits),
        )
    ]
    return Batch(a_bits.reshape(-1, K), b_bits.reshape(-1, K), c_bits.reshape(-1), scales[0], scales[1]), lead


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
    if is_tensor(matrices[0]):
        with on_device_of(*matrices):
            return _product(instruction, shape, matrices, engine)
    return _product(instruction, shape, matrices, engine)


def _product(instruction: Multiplier, shape: tuple[int, int, int], matrices: Matrices, engine: str | None) -> Any:
    A, B, C, scale_a, scale_b = matrices
    m, n, k = shape
    a, b = to_bits("A", A, instruction.a), to_bits("B", B, instruction.b)
    c = np.zeros_like(a, bits_dtype(instruction.c), shape=(m, n)) if C is None else to_bits("C", C, instruction.c)
    if a.shape != (m, k) or b.shape != (k, n) or c.shape != (m, n):
        check_shape("A", a, (m, k), f"m×k of {instruction.name}")
        check_shape("B", b, (k, n), f"k×n of {instruction.name}")
        check_shape("C", c, (m, n), f"m×n of {instruction.name}")
    alpha, beta = matrix_scales(instruction.name, instruction.operation, scale_a, scale_b, (m, k, n), a)
    d = run(engine, instruction.chain, Batch(a, b.T, c, alpha, None if beta is None else beta.T, n))
    return from_bits(d, instruction.operation.d, A if C is None else C)


def matrix_scales(
    name: str, operation: Operation, scale_a: Any, scale_b: Any, shape: tuple[int, int, int], like: Any
) -> tuple[BitArray | None, BitArray | None]:
    """Check the scales, [M, blocks] and [blocks, N] with blocks = ⌈K/K_block⌉, and return their codes.

    Args:
        name: the model's name, for messages.
        shape: M, K and N.
        like: an array of the kind of the codes.

    Raises:
        TypeError: a wrong dtype. ValueError: a wrong shape or code, or scales of an operation that has none.
    """
    block_size = operation.block_size
    if block_size is None and scale_a is None and scale_b is None:
        return None, None
    M, K, N = shape
    blocks = 0 if block_size is None else -(-K // block_size)
    alpha = scale_codes("scale_a", scale_a, operation, (M, blocks), f"m×k/K_block of {name}", like)
    beta = scale_codes("scale_b", scale_b, operation, (blocks, N), f"k/K_block×n of {name}", like)
    return alpha, beta
