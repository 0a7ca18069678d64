"""Comparison on the GPU: one launch computes the model for every element of D, indexed by tile, compares and counts.

Only the counters and the first differences come back to the host.
"""

from typing import Any

import numpy as np

from golden import Instruction
from golden.chains.chain import Chain
from golden.native.cuda import plan_source
from hwtests.tally import KEPT_ROWS, NAN_CODES, OTHER_NANS, Difference, Tally

ENTRY = "compare_tiles"
"""Name of the entry point: compare_tiles(a, b, c, scale_a, scale_b, d, labels, tiles, every, m, n, counters,
differences)."""

LABELS = 256
"""Number of possible labels; a label is a byte."""

THREADS = 128

FIXED = ("negative_zeros", "differences", "other_nans")
"""The counters that belong neither to a label nor to a NaN code, in this order."""

COUNTERS = 2 * LABELS + len(FIXED) + 2 * NAN_CODES
"""Number of counters (64-bit words): compared by label, wrong by label, the `FIXED` ones, the NaN codes (0 is a free place),
their counts."""

DIFFERENCE_WORDS = 3
"""Number of 64-bit words of a difference: index of the element in the batch, the device's code, the model's code."""

_KERNEL = """
constexpr int K = {k}, BLOCKS = {blocks};
constexpr bool NAN_IS_FIXED = {nan_is_fixed};
constexpr bool OF_INTEGERS = {of_integers};  // neither NaN nor −0
constexpr uint64_t SIGN = {sign}ull, INFINITE = {infinity}ull;
enum {{ COMPARED = 0, WRONG = {labels}, NEGATIVE_ZEROS = 2 * {labels}, DIFFERENCES, OTHER_NANS,
       NAN_CODES, NAN_COUNTS = NAN_CODES + {nan_codes} }};
typedef unsigned long long Word;

__device__ inline bool is_nan(uint64_t code) {{ return !OF_INTEGERS && (code & (SIGN - 1)) > INFINITE; }}

/// Adds to the count of a NaN code; a code is its own mark of a slot, for none is 0.
__device__ inline void count_nans(Word* counters, Word code, Word count) {{
    if (!count) return;
    for (int slot = 0; slot < {nan_codes}; ++slot) {{
        const Word found = atomicCAS(&counters[NAN_CODES + slot], 0ull, code);
        if (found == 0 || found == code) {{
            atomicAdd(&counters[NAN_COUNTS + slot], count);
            return;
        }}
    }}
    atomicAdd(&counters[OTHER_NANS], count);
}}

extern "C" __global__ void compare_tiles(const void* a, const void* b, const void* c, const void* scale_a,
                                         const void* scale_b, const void* d, const unsigned char* labels, long long tiles,
                                         int every, int m, int n, Word* counters, Word* differences) {{
    __shared__ unsigned int compared[{labels}], wrong[{labels}];
    for (int label = threadIdx.x; label < {labels}; label += blockDim.x) compared[label] = wrong[label] = 0;
    __syncthreads();
    const long long size = m * n, elements = (tiles + every - 1) / every * size, step = (long long)gridDim.x * blockDim.x;
    Word negative_zeros = 0, nan_code = 0, nan_count = 0;
    for (long long turn = (long long)blockIdx.x * blockDim.x + threadIdx.x; turn < elements; turn += step) {{
        const long long tile = turn / size * every, index = tile * size + turn % size;
        const long long i = index / n, j = tile * n + index % n;
        const mmau::Row row = {{mmau::element(plan.stored_a, a, i * K), mmau::element(plan.stored_b, b, j * K),
                               mmau::element(plan.scale, scale_a, i * BLOCKS),
                               mmau::element(plan.scale, scale_b, j * BLOCKS)}};
        const uint64_t start = mmau::load(plan.c, c, index), got = mmau::load(plan.d, d, index);
        const uint64_t expected = mmau::dot_in<Sum<plan.narrow>::Int>(plan, row, start);
        const int label = labels[tile];
        atomicAdd(&compared[label], 1u);
        if (got != expected && (NAN_IS_FIXED || !is_nan(got) || !is_nan(expected))) {{
            atomicAdd(&wrong[label], 1u);
            const Word place = atomicAdd(&counters[DIFFERENCES], 1ull);
            if (place < {kept_rows}) {{
                differences[{difference_words} * place] = index;
                differences[{difference_words} * place + 1] = got;
                differences[{difference_words} * place + 2] = expected;
            }}
        }}
        if (is_nan(got)) {{
            if (got != nan_code) {{
                count_nans(counters, nan_code, nan_count);
                nan_code = got;
                nan_count = 0;
            }}
            ++nan_count;
        }}
        negative_zeros += !OF_INTEGERS && got == SIGN;
    }}
    count_nans(counters, nan_code, nan_count);
    if (negative_zeros) atomicAdd(&counters[NEGATIVE_ZEROS], negative_zeros);
    __syncthreads();
    for (int label = threadIdx.x; label < {labels}; label += blockDim.x) {{
        if (compared[label]) atomicAdd(&counters[COMPARED + label], (Word)compared[label]);
        if (wrong[label]) atomicAdd(&counters[WRONG + label], (Word)wrong[label]);
    }}
}}
"""


def comparison_source(chain: Chain, k: int) -> str:
    """Source of the kernel that compares with a chain over k products. It compares every `every`-th tile; m and n of the
    tiles are arguments."""
    operation = chain.operation
    return plan_source(chain, k) + _KERNEL.format(
        k=k, blocks=k // operation.block_size if operation.block_size else 0,
        nan_is_fixed="true" if operation.nan_is_fixed() else "false",
        of_integers="true" if operation.d.infinity is None else "false",
        sign=operation.d.negative_zero, infinity=operation.d.infinity or 0, labels=LABELS, nan_codes=NAN_CODES,
        kept_rows=KEPT_ROWS, difference_words=DIFFERENCE_WORDS,
    )  # fmt: skip


def tally_of(
    counters: Any, differences: Any, labels: Any, instruction: Instruction, names: tuple[str, ...], first_tile: int
) -> Tally:
    """The tally of a batch, without the operands of the differing rows.

    Args:
        counters: uint64 [COUNTERS], as the kernel left them.
        differences: uint64 [KEPT_ROWS, DIFFERENCE_WORDS], as the kernel left them.
        labels: label of each tile, on the host.
        names: class or corner of each label.
        first_tile: number of the batch's first tile.
    """
    words = [int(word) for word in np.asarray(counters)]
    found = Tally()
    for label, name in enumerate(names):
        if words[label]:
            found.compared[name] = words[label]
        if words[LABELS + label]:
            found.wrong[name] = words[LABELS + label]
    fixed = dict(zip(FIXED, words[2 * LABELS :], strict=False))
    found.negative_zeros = fixed["negative_zeros"]
    codes = words[2 * LABELS + len(FIXED) :]
    nans = {code: count for code, count in zip(codes[:NAN_CODES], codes[NAN_CODES:], strict=True) if code}
    found.nans = {f"{code:#x}": nans[code] for code in sorted(nans)}
    if fixed["other_nans"]:
        found.nans[OTHER_NANS] = fixed["other_nans"]
    for index, got, expected in np.asarray(differences)[: min(fixed["differences"], KEPT_ROWS)].tolist():
        tile, element = divmod(index, instruction.m * instruction.n)
        row, column = divmod(element, instruction.n)
        name = names[int(labels[tile])]
        found.differences.append(Difference(name, first_tile + tile, row, column, got, expected))
    found.differences.sort(key=lambda x: (x.tile, x.row, x.column))
    return found
