"""Matrix products of any size, tiled into instructions."""

from collections.abc import Iterator
from math import lcm
from typing import Any

import numpy as np

from golden.additions import Additions
from golden.arrays import BitArray, bits_dtype, check_shape, from_bits, to_bits
from golden.chain import Chain, ConvertedChain
from golden.engines import Batch, run
from golden.gemm_order import GemmOrder, Pieces
from golden.instruction import Instruction
from golden.matrix import matrix_scales
from golden.memory import check_memory
from golden.paired_chain import PairedChain
from golden.unit import Unit

WORKSPACE = 1 << 24
"""Bytes of operands that `gemm` rearranges at a time, so that what it needs does not grow with M and N."""


def gemm(
    instruction: Instruction | Unit | None,
    A: Any,
    B: Any,
    C: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    engine: str | None = None,
    *,
    order: GemmOrder | None = None,
) -> Any:
    """D = A·B + C for any M, N and K, every element as the instruction or the unit computes it.

    Without an order D[i,j] starts from C[i,j] and takes the products in tiles of k, in order, each tile one instruction
    whose C is the D of the tile before; an order says otherwise (numerics.md, section 12). Of a unit, a tile is one step, or
    under a table [chain] its `usual_K` products, and at least as many as share a scale. M and N do not matter, for every
    D[i,j] is computed alone. K is padded to a multiple of k with zeros (+0·+0), and scales with ones, as a kernel pads its
    last tile.

    Args:
        instruction: of the catalogue, or a unit; None where the order names it.
        A: [M, K]. B: [K, N]. C: [M, N] in the instruction's C format, zeros if None. NumPy arrays or torch tensors.
        scale_a: [M, ⌈K/K_block⌉], scale_b: [⌈K/K_block⌉, N] where block-scaled.
        engine: as in `Instruction.dot`.
        order: how the instructions along K are spent: promotion, split-K, stream-K (`golden.load_order`).

    Returns:
        D [M, N], of the kind of C: bits, floats or a torch tensor. Without a C, of the kind of A.

    Raises:
        TypeError: no instruction, or a wrong dtype. ValueError: a wrong shape, code, engine or order.
        MemoryError: more elements than the machine has memory for.
    """
    model = _model(instruction, order)
    k = instruction_products(model)
    operation = model.operation
    a, b = to_bits("A", A, model.a), to_bits("B", B, model.b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or not a.shape[1]:
        raise ValueError(f"A must be [M, K] and B [K, N] with the same K, at least 1; got {a.shape} and {b.shape}")
    (M, K), N = a.shape, b.shape[1]
    instructions = -(-K // k)
    row_bytes = instructions * k * max(a.itemsize, b.itemsize)
    element_bytes = (operation.d.storage_bits + (operation.c.storage_bits if C is None else 0)) // 8
    check_memory(f"D of {M} x {N} elements, and a row and a column of {K}", M * N * element_bytes + 2 * row_bytes)
    c = np.zeros_like(a, bits_dtype(operation.c), shape=(M, N)) if C is None else to_bits("C", C, operation.c)
    check_shape("C", c, (M, N), "that of A·B")
    alpha, beta = matrix_scales(model.name, operation, scale_a, scale_b, (M, K, N))
    padding, scale_padding = instructions * k - K, _scale_padding(model, K)
    d = np.empty_like(c, bits_dtype(operation.d))
    order = GemmOrder() if order is None else order
    for rows, columns, pieces in order.regions(M, N, instructions):
        for j in _slices(columns, WORKSPACE // row_bytes):
            b_j, beta_j = _block(b.T, j, padding), None if beta is None else _block(beta.T, j, *scale_padding)
            for i in _slices(rows, min(WORKSPACE // row_bytes, WORKSPACE // (len(b_j) * (c.itemsize + d.itemsize)))):
                a_i, alpha_i = _block(a, i, padding), None if alpha is None else _block(alpha, i, *scale_padding)
                batch = Batch(a_i, b_j, c[i, j], alpha_i, beta_j, len(b_j))
                d[i, j] = _summed(model, batch, pieces, order.promote_every, engine)
    return from_bits(d, operation.d, A if C is None else C)


def dots_in_order(model: Instruction | Unit, batch: Batch, order: GemmOrder, engine: str | None = None) -> BitArray:
    """d of many dot products, each as an element of a product D [rows, 1] spends its instructions.

    Args:
        batch: rows with as many products as a multiple of the instruction's, and all their scales.

    Raises:
        ValueError: another number of products, or an order that does not fit.
    """
    order.check(model)
    instructions = check_products(model, batch.a.shape[-1])
    d = np.empty_like(batch.c, bits_dtype(model.operation.d))
    for rows, _, pieces in order.regions(len(batch.c), 1, instructions):
        part = Batch(*(None if array is None else array[rows] for array in batch[:5]))  # type: ignore[arg-type]
        d[rows] = _summed(model, part, pieces, order.promote_every, engine)
    return d


def check_products(model: Instruction | Unit, K: int) -> int:
    """How many instructions K products are.

    Raises:
        ValueError: no whole number.
    """
    k = instruction_products(model)
    if K % k:
        raise ValueError(f"K must be a multiple of the {k} products of one instruction of {model.name}, got {K}")
    return K // k


def _model(instruction: Any, order: Any) -> Instruction | Unit:
    """The instruction or the unit that computes."""
    if order is not None and not isinstance(order, GemmOrder):
        raise TypeError(f"order must be a golden.GemmOrder, as golden.load_order reads it, got {order!r:.80}")
    named = order.model if instruction is None and order is not None else instruction
    if not isinstance(named, (Instruction, Unit)):
        raise TypeError(f"instruction must be one of golden.instruction(arch, name), or a golden.Unit, got {named!r:.80}")
    if order is not None:
        order.check(named)
    return named


def instruction_products(model: Instruction | Unit) -> int:
    """Products along K of one instruction: k; of a unit one step, or with a table [chain] its `usual_K`, and as many as its
    scales have blocks for."""
    if isinstance(model, Instruction):
        return model.k
    return lcm(model.usual_K, model.operation.block_size or 1)


def _slices(whole: slice, step: int) -> Iterator[slice]:
    """Slices of `step`, or of 1 where that is less, that together make the whole."""
    for start in range(whole.start, whole.stop, max(1, step)):
        yield slice(start, min(start + max(1, step), whole.stop))


def _summed(model: Instruction | Unit, batch: Batch, pieces: Pieces, promote_every: int, engine: str | None) -> BitArray:
    """The sums of all pieces, added in their order; the first one starts from c, the others from +0."""
    if len(pieces) == 1 and not promote_every:
        return _chained(model, batch, pieces[0], engine)
    additions = Additions(model.operation, engine)
    total = _piece(model, batch, pieces[0], promote_every, additions)
    zeros = batch._replace(c=np.zeros_like(batch.c))
    for piece in pieces[1:]:
        total = additions.add(total, _piece(model, zeros, piece, promote_every, additions))
    return additions.rounded(total)


def _piece(
    model: Instruction | Unit, batch: Batch, piece: tuple[int, int], promote_every: int, additions: Additions
) -> BitArray:
    """One piece's sum in the additions' format: a chain from c; or promoted, chains from +0 that are added to c in turn."""
    operation = model.operation
    if not promote_every:
        return additions.widened(_chained(model, batch, piece, additions.engine), operation.d)
    accumulator, zeros = additions.widened(batch.c, operation.c), batch._replace(c=np.zeros_like(batch.c))
    for first in range(*piece, promote_every):
        chain = _chained(model, zeros, (first, min(first + promote_every, piece[1])), additions.engine)
        accumulator = additions.add(accumulator, additions.widened(chain, operation.d))
    return accumulator


def _chained(model: Instruction | Unit, batch: Batch, piece: tuple[int, int], engine: str | None) -> BitArray:
    """Consecutive instructions from c. A plain chain goes on from one to the next; others start anew in each."""
    k = instruction_products(model)
    chain = model.chain_over(k) if isinstance(model, Unit) else model.chain
    together = piece[1] - piece[0] if _goes_on(chain) else 1
    d = batch.c
    for first in range(*piece, together):
        d = run(engine, chain, _part(batch._replace(c=d), first * k, (first + together) * k, model.operation.block_size))
    return d


def _goes_on(chain: Chain | ConvertedChain) -> bool:
    """Whether a chain over more products is that over some of them, and then that over the others from its sum."""
    return type(chain) in (Chain, PairedChain)


def _part(batch: Batch, begin: int, end: int, block_size: int | None) -> Batch:
    """Products begin … end−1, and their scales."""
    if (begin, end) == (0, batch.a.shape[-1]):
        return batch
    part = batch._replace(a=batch.a[:, begin:end], b=batch.b[:, begin:end])
    if block_size is None or batch.scale_a is None or batch.scale_b is None:
        return part
    blocks = slice(begin // block_size, end // block_size)
    return part._replace(scale_a=batch.scale_a[:, blocks], scale_b=batch.scale_b[:, blocks])


def _block(rows: BitArray, block: slice, padding: int, code: int = 0) -> BitArray:
    """Some of the rows, each contiguous and followed by `padding` times the code."""
    chosen = rows[block]
    return np.ascontiguousarray(np.pad(chosen, ((0, 0), (0, padding)), constant_values=code) if padding else chosen)


def _scale_padding(model: Instruction | Unit, K: int) -> tuple[int, int]:
    """How many scales K lacks to whole instructions, and the code of one."""
    scale, block_size = model.operation.scale_format, model.operation.block_size
    if scale is None or block_size is None:
        return 0, 0
    k = instruction_products(model)
    return -(-K // k) * k // block_size - -(-K // block_size), scale.encode(1)
