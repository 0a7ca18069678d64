"""Matrix products of any size under an order of accumulation: `gemm` tiles them into instructions, `dots_in_order` computes
single elements.

The sums of instructions, the fp32 scales between promotions, and the checks of shapes are here too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from types import NoneType
from typing import Any, ParamSpec

import numpy as np

from golden.arithmetic.formats import FP32, Format
from golden.arrays import (
    BitArray,
    bits_dtype,
    check_shape,
    contiguous,
    from_bits,
    is_tensor,
    on_device_of,
    stacked,
    to_bits,
    unpacked,
)
from golden.chains.chain import PAIRED, Chain
from golden.engines.batched_dot import check_memory, matrix_scales
from golden.engines.engine import Batch, run
from golden.products.additions import Additions
from golden.products.epilogue import bias_codes, finished
from golden.products.gemm_order import GemmOrder, Plan, Run, instruction_products
from golden.products.gradients import needs_gradient, with_gradients
from golden.products.k_layout import Gather, k_layout
from golden.products.operand_parts import operand
from golden.products.recipes import order_of_library
from golden.products.sum_order import folded, order_of
from golden.units.instruction import Instruction
from golden.units.unit import Unit

P = ParamSpec("P")

Scale = Callable[[int], BitArray]
"""A function from the number of a group of instructions to its scales: codes of fp32 in the shape of C."""


@dataclass(frozen=True)
class Summation:
    """The sums of a model under an order, computed on an engine (None for the fastest one available)."""

    model: Instruction | Unit
    order: GemmOrder
    engine: str | None

    def __call__(self, batch: Batch, plan: Plan, bias: BitArray | None = None, scale: Scale | None = None) -> BitArray:
        """Compute D of a batch whose operands are already in the plan's order; D has codes of the order's output format.

        Args:
            bias: codes of fp32 for each column of D, if the order's epilogue adds a bias.
            scale: the scales of each promotion, if the order applies scales there.
        """
        order, operation = self.order, self.model.operation
        output = order.result_format(self.model)
        is_one_chain = len(plan.pieces) == 1 and len(plan.pieces[0]) == 1 and not order.promote_every and scale is None
        if is_one_chain and not order.epilogue and output == operation.d:
            return self.chained(batch, plan.pieces[0][0])
        additions = self.additions()
        zeros = batch._replace(c=np.zeros_like(batch.c))
        total = self._parts(batch, zeros, plan, additions, scale, output)
        if order.epilogue:
            c = additions.widened(batch.c, operation.c)
            total = finished(additions, total, order.epilogue, (order.alpha, order.beta), c, bias, output)
        return additions.rounded(total, output)

    def additions(self) -> Additions:
        """The arithmetic of whatever is added outside of instructions."""
        return Additions(self.model.operation, self.engine)

    def _parts(
        self, batch: Batch, zeros: Batch, plan: Plan, additions: Additions, scale: Scale | None, output: Format
    ) -> BitArray:
        """The sum of all pieces in the wide format; the first that is added starts from C, unless the epilogue takes it."""
        order, starts = self.order, [batch if self.order.starts_from_c else zeros]

        def rounded(total: BitArray) -> BitArray:
            return additions.widened(additions.rounded(total, output), output)

        def piece(number: int) -> BitArray:
            is_first, first = bool(starts), starts.pop() if starts else zeros
            part = self._piece(first, zeros, plan.pieces[number], additions, scale)
            return rounded(part) if order.split_sum == "workspace" or (is_first and order.split_sum == "in-place") else part

        def add(total: BitArray, part: BitArray) -> BitArray:
            both = additions.add(total, part)
            return rounded(both) if order.split_sum == "in-place" else both

        return folded(order_of(order.split_order, order.split_k, len(plan.pieces)), piece, add)

    def _piece(
        self, first: Batch, zeros: Batch, runs: tuple[Run, ...], additions: Additions, scale: Scale | None
    ) -> BitArray:
        """The sum of a piece's runs in the wide format; the first run that is added starts from the c of `first`, the others
        from +0."""
        starts = [first]

        def run_of(number: int) -> BitArray:
            return self._run(starts.pop() if starts else zeros, zeros, runs[number], additions, scale)

        count = 1 if self.order.stripes is None else self.order.stripes[0]
        return folded(order_of(self.order.stripe_order, count, len(runs)), run_of, additions.add)

    def _run(self, batch: Batch, zeros: Batch, run: Run, additions: Additions, scale: Scale | None) -> BitArray:
        """A chain from c, or with promotion chains from +0 that are added to c, scaled where the order says so."""
        operation = self.model.operation
        if not self.order.promote_every and scale is None:
            return additions.widened(self.chained(batch, run), operation.d)
        every = self.order.promote_every or run[1] - run[0]
        accumulator = additions.widened(batch.c, operation.c)
        for first in range(*run, every):
            chain = self.chained(zeros, (first, min(first + every, run[1])))
            addend = additions.widened(chain, operation.d)
            if scale is None:
                accumulator = additions.add(accumulator, addend)
            else:
                accumulator = additions.multiply_add(addend, scale(first // every), accumulator)
        return accumulator

    def chained(self, batch: Batch, instructions: Run) -> BitArray:
        """Run consecutive instructions from c: a plain chain continues across instructions, other chains restart in each."""
        k = instruction_products(self.model)
        chain = self.model.chain_over(k)
        together = instructions[1] - instructions[0] if _goes_on(chain) else 1
        d = batch.c
        for first in range(*instructions, together):
            part = _part(batch._replace(c=d), first * k, (first + together) * k, self.model.operation.block_size)
            d = run(self.engine, chain, part)
        return d


def _goes_on(chain: Chain) -> bool:
    """Whether a chain over K products can be continued: it equals a chain over the first products, then one over the rest
    that starts from the first sum."""
    return chain.is_plain or chain.order == PAIRED


def _part(batch: Batch, begin: int, end: int, block_size: int | None) -> Batch:
    """The part of a batch with products begin … end−1 and their scales."""
    if (begin, end) == (0, batch.a.shape[-1]):
        return batch
    part = batch._replace(a=batch.a[:, begin:end], b=batch.b[:, begin:end])
    if block_size is None or batch.scale_a is None or batch.scale_b is None:
        return part
    blocks = slice(begin // block_size, end // block_size)
    return part._replace(scale_a=batch.scale_a[:, blocks], scale_b=batch.scale_b[:, blocks])


@dataclass(frozen=True)
class PromotedScales:
    """Scales, in fp32, of the groups of instructions between promotions.

    Attributes:
        a, b: codes of fp32, [⌈M/rows⌉, groups] and [groups, ⌈N/columns⌉].
        rows, columns: number of rows of A, and of columns of B, that share a scale.
    """

    a: BitArray
    b: BitArray
    rows: int
    columns: int

    @classmethod
    def checked(
        cls, scale_a: Any, scale_b: Any, shape: tuple[int, int], groups: int, block: tuple[int, int]
    ) -> "PromotedScales":
        """Check the scales of a product of shape (M, N) and return them.

        Raises:
            TypeError: scales that are missing, or not fp32.
            ValueError: scales of another shape.
        """
        for key, scales in (("scale_a", scale_a), ("scale_b", scale_b)):
            if scales is None:
                raise TypeError(f"{key} is missing: scale_at = 'promotion' takes scales of fp32 for both A and B")
        a, b = to_bits("scale_a", scale_a, FP32), to_bits("scale_b", scale_b, FP32)
        (M, N), (rows, columns) = shape, block
        check_shape("scale_a", a, (-(-M // rows), groups), "one of fp32 for each block of rows and each promotion")
        check_shape("scale_b", b, (groups, -(-N // columns)), "one of fp32 for each promotion and each block of columns")
        return cls(a, b, rows, columns)

    def of(self, additions: Additions, group: int, rows: slice, columns: slice) -> BitArray:
        """The product of the scales of A and B for a group, rounded to fp32, for each element of a part of D."""
        i, j = np.arange(rows.start, rows.stop) // self.rows, np.arange(columns.start, columns.stop) // self.columns
        (first, i), (left, j) = (i[0], i - i[0]), (j[0], j - j[0])
        a, b = self.a[first : first + i[-1] + 1, group], self.b[group, left : left + j[-1] + 1]
        shape = (len(a), len(b))
        products = additions.multiply(contiguous(np.broadcast_to(a[:, None], shape)), contiguous(np.broadcast_to(b, shape)))
        wide = products if len(b) == len(j) else np.repeat(products, np.bincount(j), 1)
        return wide if len(a) == len(i) else np.repeat(wide, np.bincount(i), 0)


WORKSPACE = 1 << 24
"""Bytes of operands that `gemm` rearranges at a time; the bound keeps its memory independent of M and N."""

ADDITION_BYTES = 32
"""Bytes that additions outside of the instructions use for each element of D: sums, addends and factors."""


def _operands_first(function: Callable[P, Any]) -> Callable[P, Any]:
    """`gemm` on its operands' device, which also takes the matrices first, the instruction by its keyword or not at all."""

    @wraps(function)
    def taken(*arguments: P.args, **keys: P.kwargs) -> Any:
        given: tuple[Any, ...] = arguments
        if given and not isinstance(given[0], (Instruction, Unit, NoneType, str)):
            given = keys.pop("instruction", None), *given
        operands = [x for x in (*given, *keys.values()) if is_tensor(x)]
        if not operands:
            return function(*given, **keys)
        with on_device_of(*operands):
            return function(*given, **keys)

    return taken


@_operands_first
def gemm(
    instruction: Any = None,
    A: Any = None,
    B: Any = None,
    C: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    engine: str | None = None,
    *,
    order: GemmOrder | None = None,
    bias: Any = None,
    part: str | None = None,
    used_by: str | None = None,
) -> Any:
    """Compute D = A·B + C for any M, N and K, every element as the instruction or the unit computes it.

    Without an order, D[i,j] starts from C[i,j] and takes the products in tiles of k, in order: each tile is one instruction,
    whose C is the D of the tile before. An order changes that (numerics.md, section 12). For a unit a tile is one step, or
    with a table [chain] `usual_K` products, and in any case whole blocks of its scales. Every D[i,j] is computed
    independently, so M and N need not be multiples of the instruction's m and n. K is padded to a multiple of k with zeros
    (+0·+0), and scales with ones, as a kernel pads its last tile.

    Args:
        instruction: an instruction of the catalogue, or a unit; None if the order names it.
        A: [M, K]. B: [K, N]. C: [M, N] in the instruction's C format, zeros if None. NumPy arrays, CuPy arrays or
            torch tensors, in CPU memory or on a GPU, NVIDIA's or AMD's; of e2m1 also torch's two codes in a byte, along K.
        scale_a: [M, ⌈K/K_block⌉], scale_b: [⌈K/K_block⌉, N] if block-scaled, else None; with an order that scales at
            promotion, of fp32: [⌈M/rows⌉, groups] and [groups, ⌈N/columns⌉] (`GemmOrder.scale_block`).
        engine: as in `Instruction.dot`.
        order: the order of accumulation along K: promotion, split-K, stream-K, epilogue (`golden.load_order`).
        bias: [N], of fp32, fp16 or bf16, where the order's epilogue has that step.
        part, used_by: a part and a library ("H100", "cublas"), in the place of an instruction and an order, where one
            recorded order of that library on that part is known for the formats and the shape (golden.recipes).

    The matrices may come first, `gemm(A, B, part="H100", used_by="cublas")`. A, B, C and scales may have leading axes, as of
    a batch, which broadcast as those of `np.matmul`.
    Tensors that require a gradient get it: g·Bᵀ, Aᵀ·g and g, products of the same model and order.

    Returns:
        D [M, N] in the instruction's D format or the order's `output`, of the kind of C: bit patterns, floats or a torch
        tensor; without C, of the kind of A.

    Raises:
        TypeError: no instruction, or a wrong dtype. ValueError: a wrong shape, code, engine or order.
        MemoryError: more elements than the machine has memory for.
    """
    if part is not None or used_by is not None:
        if needs_gradient(A, B, C, bias):
            raise ValueError("the order of a library is that of one shape: give tensors that require no gradient, .detach()")
        if instruction is not None or order is not None:
            raise ValueError("part and used_by choose the instruction and the order: give those, or these")
        order = order_of_library(part, used_by, A, B)
    if max(getattr(A, "ndim", 2), getattr(B, "ndim", 2)) > 2:
        return _batched(partial(gemm, instruction, engine=engine, order=order, bias=bias), A, B, C, scale_a, scale_b)
    model = _model(instruction, order)
    A, B = unpacked(A, 1, model.a), unpacked(B, 0, model.b)
    order = GemmOrder() if order is None else order
    if needs_gradient(A, B, C, scale_a, scale_b, bias):
        product = partial(gemm, model, engine=engine, order=order)
        return with_gradients(product, model, order, (scale_a, scale_b, bias), A, B, C)
    k = instruction_products(model)
    operation = model.operation
    if not {"a", "b", "c"} <= {*operation.operands}:
        raise ValueError(
            f"a matrix product is of operations that multiply a by b and add c; {operation.name} has "
            f"{' and '.join(operation.operands)}: take dot"
        )
    made = order.convert, order.passes, order.pass_tile
    a, b = operand("A", A, model.a, *made, is_b=False), operand("B", B, model.b, *made, is_b=True)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or not a.shape[1]:
        raise ValueError(f"A must be [M, K] and B [K, N] with the same K, at least 1; got {a.shape} and {b.shape}")
    (M, K), N = a.shape, b.shape[1]
    layout = k_layout(model, order, K)
    instructions = layout.instructions
    output = order.result_format(model)
    row_bytes = instructions * k * max(a.itemsize, b.itemsize)
    element_bytes = (output.storage_bits + (operation.c.storage_bits if C is None else 0)) // 8
    check_memory(f"D of {M} x {N} elements, and a row and a column of {K}", M * N * element_bytes + 2 * row_bytes)
    if C is None and not order.starts_from_c and order.beta:
        raise ValueError(f"C is missing: the order's epilogue adds beta·C with beta = {order.beta}")
    c = np.zeros_like(a, bits_dtype(operation.c), shape=(M, N)) if C is None else to_bits("C", C, operation.c)
    check_shape("C", c, (M, N), "that of A·B")
    bias_of = bias_codes(bias, order.epilogue, N)
    scales = alpha = beta = None
    if order.scale_at == "promotion":
        groups = -(-instructions // order.promote_every) if order.promote_every else 1
        scales = PromotedScales.checked(scale_a, scale_b, (M, N), groups, order.scale_block)
    else:
        alpha, beta = matrix_scales(model.name, operation, scale_a, scale_b, (M, K, N), a)
    summation = Summation(model, order, engine)
    d = np.empty_like(c, bits_dtype(output))
    bytes_between = ADDITION_BYTES if order.adds else c.itemsize + d.itemsize
    for rows, columns, plan in order.regions(M, N, instructions, k, layout.pieces):
        gather = Gather.of(model, K, order.k_order, plan.taken, layout.places)
        for j in _slices(columns, WORKSPACE // row_bytes):
            b_j, beta_j = gather.products(b.T, j), gather.scales(beta if beta is None else beta.T, j)
            for i in _slices(rows, min(WORKSPACE // row_bytes, WORKSPACE // (len(b_j) * bytes_between))):
                a_i, alpha_i = gather.products(a, i), gather.scales(alpha, i)
                batch = Batch(a_i, b_j, c[i, j], alpha_i, beta_j, len(b_j))
                scale = None if scales is None else partial(_scale, scales, Additions(operation, engine), i, j)
                d[i, j] = summation(batch, plan, None if bias_of is None else bias_of[j], scale)
    return from_bits(d, output, A if C is None else C)


def _batched(product: Callable[..., Any], A: Any, B: Any, C: Any, scale_a: Any, scale_b: Any) -> Any:
    """The products of the matrices along their leading axes, which broadcast."""
    matrices = (A, B, C, scale_a, scale_b)
    for what, matrix in zip(("A", "B", "C", "scale_a", "scale_b"), matrices, strict=True):
        if getattr(matrix, "ndim", 0) < 2 and (matrix is not None or what in "AB"):
            got = f"one of shape {tuple(matrix.shape)}" if hasattr(matrix, "shape") else type(matrix).__name__
            raise TypeError(f"{what} of a batch must be an array of two axes or more, got {got}")
    shapes = [tuple(matrix.shape) for matrix in matrices if matrix is not None]
    try:
        leading = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    except ValueError:
        leading = (0,)
    if 0 in leading:
        raise ValueError(
            "the leading axes of A, B, C and scales of a batch must have the same lengths, at least 1, or be 1 or absent; "
            f"got {', '.join(map(str, shapes))}"
        )
    products = [product(*(_matrix(matrix, at) for matrix in matrices)) for at in np.ndindex(leading)]
    return stacked(products).reshape(*leading, *products[0].shape)


def _matrix(batch: Any, at: tuple[int, ...]) -> Any:
    """The matrix of a batch at a place of the leading axes that the batch is broadcast to."""
    if batch is None:
        return None
    own = batch.shape[:-2]
    return batch[tuple(0 if length == 1 else i for length, i in zip(own, at[len(at) - len(own) :], strict=True))]


def _scale(scales: PromotedScales, additions: Additions, rows: slice, columns: slice, group: int) -> BitArray:
    return scales.of(additions, group, rows, columns)


def dots_in_order(model: Instruction | Unit, batch: Batch, order: GemmOrder) -> BitArray:
    """Compute many dot products, each like an element of a matrix product D [rows, 1] under the order.

    Args:
        batch: rows whose number of products is a multiple of one instruction's, with all their scales.
        order: the order of accumulation along K, without what it may say of scales, an epilogue and an output.

    Raises:
        ValueError: another number of products, or an order that does not fit the model or says more than the order along K.
    """
    order.check(model)
    if order.scale_at != "unit" or order.epilogue or order.output is not None or order.converts:
        raise ValueError("an order of dot products must have scale_at = 'unit', no epilogue, output, convert and passes")
    check_products(model, batch.a.shape[-1])
    layout = k_layout(model, order, batch.a.shape[-1])
    d = np.empty_like(batch.c, bits_dtype(model.operation.d))
    summation = Summation(model, order, None)
    for rows, _, plan in order.regions(len(batch.c), 1, layout.instructions, instruction_products(model), layout.pieces):
        gather = Gather.of(model, batch.a.shape[-1], order.k_order, plan.taken, layout.places)
        a, b = gather.products(batch.a, rows), gather.products(batch.b, rows)
        scale_a, scale_b = gather.scales(batch.scale_a, rows), gather.scales(batch.scale_b, rows)
        d[rows] = summation(Batch(a, b, batch.c[rows], scale_a, scale_b), plan)
    return d


def check_products(model: Instruction | Unit, K: int) -> int:
    """The number of instructions that K products take.

    Raises:
        ValueError: K is not a multiple of the products of one instruction.
    """
    k = instruction_products(model)
    if K % k:
        raise ValueError(f"K must be a multiple of the {k} products of one instruction of {model.name}, got {K}")
    return K // k


def _model(instruction: Any, order: Any) -> Instruction | Unit:
    """The instruction or the unit to compute with: the given one, or the one that the order names."""
    if order is not None and not isinstance(order, GemmOrder):
        raise TypeError(f"order must be a golden.GemmOrder, as golden.load_order reads it, got {order!r:.80}")
    named = order.model if instruction is None and order is not None else instruction
    if not isinstance(named, (Instruction, Unit)):
        raise TypeError(f"instruction must be one of golden.instruction(arch, name), or a golden.Unit, got {named!r:.80}")
    if order is not None:
        order.check(named)
    return named


def _slices(whole: slice, step: int) -> Iterator[slice]:
    """Consecutive slices of length `step` (at least 1) that together make the whole."""
    for start in range(whole.start, whole.stop, max(1, step)):
        yield slice(start, min(start + max(1, step), whole.stop))
