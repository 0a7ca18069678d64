"""Whole matrices: the elements of one instruction's D, and products of any size tiled into instructions."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from golden.arrays import BitArray, bits_dtype, check_shape, from_bits, scale_codes, to_bits
from golden.chain import Chain, ConvertedChain
from golden.engines import Batch, run
from golden.formats import Format
from golden.memory import check_memory
from golden.operations import Operation

Matrices = tuple[Any, Any, Any, Any, Any]
"""A [M, K], B [K, N], C [M, N], scale_a [M, blocks], scale_b [blocks, N]; the scales are None where there are none."""


WORKSPACE = 1 << 24
"""Bytes of operands that `gemm` rearranges at a time, so that what it needs does not grow with M and N."""


class Multiplier(Protocol):
    """What a matrix product takes from an instruction: its formats and how it spends its k products."""

    @property
    def name(self) -> str: ...
    @property
    def k(self) -> int: ...
    @property
    def a(self) -> Format: ...
    @property
    def b(self) -> Format: ...
    @property
    def c(self) -> Format: ...
    @property
    def d(self) -> Format: ...
    @property
    def scale(self) -> Format | None: ...
    @property
    def block_size(self) -> int | None: ...
    @property
    def chain(self) -> Chain | ConvertedChain: ...
    @property
    def operation(self) -> Operation: ...


def gemm(
    instruction: Multiplier,
    A: Any,
    B: Any,
    C: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    engine: str | None = None,
) -> Any:
    """D = A·B + C for any M, N and K, every element as the instruction computes it.

    The order of accumulation is the instruction's: D[i,j] starts from C[i,j] and takes the products in tiles of k, in order,
    each tile one instruction whose C is the D of the tile before. M and N do not matter, for every D[i,j] is computed alone.
    K is padded to a multiple of k with zeros (+0·+0), and scales with ones, as a kernel pads its last tile.

    Args:
        instruction: of the catalogue.
        A: [M, K]. B: [K, N]. C: [M, N] in the instruction's C format, zeros if None. NumPy arrays or torch tensors.
        scale_a: [M, ⌈K/K_block⌉], scale_b: [⌈K/K_block⌉, N] where block-scaled.
        engine: as in `Instruction.dot`.

    Returns:
        D [M, N], of the kind of C: bits, floats or a torch tensor. Without a C, of the kind of A.

    Raises:
        TypeError: no instruction, or a wrong dtype. ValueError: a wrong shape, code or engine.
        MemoryError: more elements than the machine has memory for.
    """
    if not isinstance(getattr(instruction, "chain", None), (Chain, ConvertedChain)):
        raise TypeError(f"instruction must be one of golden.instruction(arch, name), got {instruction!r:.80}")
    a, b = to_bits("A", A, instruction.a), to_bits("B", B, instruction.b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or not a.shape[1]:
        raise ValueError(f"A must be [M, K] and B [K, N] with the same K, at least 1; got {a.shape} and {b.shape}")
    (M, K), N = a.shape, b.shape[1]
    tiles = -(-K // instruction.k)
    row_bytes = tiles * instruction.k * max(a.itemsize, b.itemsize)
    element_bytes = (instruction.d.storage_bits + (instruction.c.storage_bits if C is None else 0)) // 8
    check_memory(f"D of {M} x {N} elements, and a row and a column of {K}", M * N * element_bytes + 2 * row_bytes)
    c = np.zeros_like(a, bits_dtype(instruction.c), shape=(M, N)) if C is None else to_bits("C", C, instruction.c)
    check_shape("C", c, (M, N), "that of A·B")
    alpha, beta = _scales(instruction, scale_a, scale_b, (M, K, N))
    padding, scale_padding = tiles * instruction.k - K, _scale_padding(instruction, K)
    d = np.empty_like(c, bits_dtype(instruction.d))
    for j in _slices(N, WORKSPACE // row_bytes):
        columns, beta_j = _block(b.T, j, padding), None if beta is None else _block(beta.T, j, *scale_padding)
        for i in _slices(M, min(WORKSPACE // row_bytes, WORKSPACE // (len(columns) * (c.itemsize + d.itemsize)))):
            rows, alpha_i = _block(a, i, padding), None if alpha is None else _block(alpha, i, *scale_padding)
            batch = Batch(rows, columns, c[i, j], alpha_i, beta_j, len(columns))
            d[i, j] = _chained(instruction, batch, tiles, engine)
    return from_bits(d, instruction.d, A if C is None else C)


def _slices(length: int, step: int) -> Iterator[slice]:
    """Slices of `step`, or of 1 where that is less, that together make `length`."""
    for start in range(0, length, max(1, step)):
        yield slice(start, start + max(1, step))


def _chained(instruction: Multiplier, batch: Batch, tiles: int, engine: str | None) -> BitArray:
    """All tiles of K. A plain chain goes on from tile to tile; a converted one starts anew in each."""
    if isinstance(instruction.chain, Chain):
        return run(engine, instruction.chain, batch)
    d = batch.c
    for tile in range(tiles):
        products = slice(tile * instruction.k, (tile + 1) * instruction.k)
        d = run(engine, instruction.chain, batch._replace(a=batch.a[:, products], b=batch.b[:, products], c=d))
    return d


def _block(rows: BitArray, block: slice, padding: int, code: int = 0) -> BitArray:
    """Some of the rows, each contiguous and followed by `padding` times the code."""
    chosen = rows[block]
    return np.ascontiguousarray(np.pad(chosen, ((0, 0), (0, padding)), constant_values=code) if padding else chosen)


def _scale_padding(instruction: Multiplier, K: int) -> tuple[int, int]:
    """How many scales K lacks to whole tiles, and the code of one."""
    scale, block_size = instruction.scale, instruction.block_size
    if scale is None or block_size is None:
        return 0, 0
    return -(-K // instruction.k) * instruction.k // block_size - -(-K // block_size), scale.encode(1)


def _scales(
    instruction: Multiplier, scale_a: Any, scale_b: Any, shape: tuple[int, int, int]
) -> tuple[BitArray | None, BitArray | None]:
    """The scales, [M, blocks] and [blocks, N], with every block begun in K."""
    M, K, N = shape
    operation, block_size = instruction.operation, instruction.block_size
    blocks = 0 if block_size is None else -(-K // block_size)
    alpha = scale_codes("scale_a", scale_a, operation, (M, blocks), f"m×k/K_block of {instruction.name}")
    beta = scale_codes("scale_b", scale_b, operation, (blocks, N), f"k/K_block×n of {instruction.name}")
    return alpha, beta


def matrix_product(instruction: Multiplier, shape: tuple[int, int, int], matrices: Matrices, engine: str | None) -> Any:
    """D of one instruction of that shape (m, n, k).

    Raises:
        TypeError: a wrong dtype. ValueError: a wrong shape, code or engine.
    """
    A, B, C, scale_a, scale_b = matrices
    m, n, k = shape
    a, b, c = to_bits("A", A, instruction.a), to_bits("B", B, instruction.b), to_bits("C", C, instruction.c)
    if a.shape != (m, k) or b.shape != (k, n) or c.shape != (m, n):
        check_shape("A", a, (m, k), f"m×k of {instruction.name}")
        check_shape("B", b, (k, n), f"k×n of {instruction.name}")
        check_shape("C", c, (m, n), f"m×n of {instruction.name}")
    alpha, beta = _scales(instruction, scale_a, scale_b, (m, k, n))
    d = run(engine, instruction.chain, Batch(a, b.T, c, alpha, None if beta is None else beta.T, n))
    return from_bits(d, instruction.d, C)
