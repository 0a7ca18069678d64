"""The Triton kernel of the recorded products. Imported only where Triton is, which compiles annotations of its own."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl


@triton.jit
def product(a, b, d, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, FORM: tl.constexpr):
    """Compute one tile of D in fp32. FORM: 0 accumulates inside `tl.dot`, 1 adds its result, 2 promotes every 64
    products."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        left = tl.load(a + rows[:, None] * K + k[None, :])
        right = tl.load(b + k[:, None] * N + columns[None, :])
        if FORM == 0:
            acc = tl.dot(left, right, acc, input_precision="tf32")
        elif FORM == 1:
            acc += tl.dot(left, right, input_precision="tf32")
        else:
            acc = tl.dot(left, right, acc, max_num_imprecise_acc=64)
    tl.store(d + rows[:, None] * N + columns[None, :], acc)
