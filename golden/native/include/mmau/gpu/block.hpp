// A block of threads as phases: what each of its threads does between two barriers is a function of the thread's number and of
// what is the thread's own. A GPU runs a phase as its threads; a host as a loop over them, in any order, for no thread may read
// what another writes in the same phase. One source is thus both: a host build computes what the GPU is asked for, but for the
// barrier itself and the few machine functions that `MMAU_ON_GPU` chooses.
#pragma once

#include "../dot.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int block_threads = 256;

#ifdef MMAU_ON_GPU

#ifdef __HIP__
#define MMAU_CALLED_FN __device__ __attribute__((noinline))  // seldom taken, and long
#define MMAU_KERNEL extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(mmau::block_threads, mmau::block_threads)))
MMAU_FN int thread_number() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
MMAU_FN int64_t block_number() { return __builtin_amdgcn_workgroup_id_x(); }
MMAU_FN void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
#define MMAU_CALLED_FN __device__ __noinline__
#define MMAU_KERNEL extern "C" __global__ __launch_bounds__(mmau::block_threads)
MMAU_FN int thread_number() { return static_cast<int>(threadIdx.x); }
MMAU_FN int64_t block_number() { return blockIdx.x; }
MMAU_FN void barrier() { __syncthreads(); }
#endif

template <class Own>
struct Block {
    Own own;

    template <class Phase>
    MMAU_FN void each(const Phase& phase) {
        phase(thread_number(), own);
        barrier();
    }
};

#else

#define MMAU_CALLED_FN inline

template <class Own>
struct Block {
    bool descending;  // the order of the threads in a phase, which no result depends on
    Own own[block_threads];

    template <class Phase>
    void each(const Phase& phase) {
        for (int n = 0; n < block_threads; ++n) {
            const int thread = descending ? block_threads - 1 - n : n;
            phase(thread, own[thread]);
        }
    }
};

#endif

/// The elements of D that a block computes, side by side, and those of a thread: every tile_across-th of a row and of a column.
constexpr int tile_side = 64, tile_across = 16, tile_each = tile_side / tile_across;

/// Bytes of memory that a block shares, at most: what CUDA gives every block unasked.
constexpr int most_shared_bytes = 48 << 10;

/// Products that a block takes at once, where whole steps allow it.
constexpr int usual_depth = 32;

/// A matrix product on a GPU: D [rows][columns] of a batch, over K products, K a multiple of the plan's L. The plan, Planned()(), is
/// that of any such chain.
template <class Planned>
struct Product {
    const mmau_batch& batch;
    int K;

    static MMAU_FN const Plan& plan() { return Planned()(); }
    MMAU_FN int64_t rows() const { return batch.rows / batch.columns; }
    MMAU_FN int64_t columns() const { return batch.columns; }
    MMAU_FN int64_t tiles_across() const { return (columns() + tile_side - 1) / tile_side; }
    MMAU_FN int64_t tiles() const { return (rows() + tile_side - 1) / tile_side * tiles_across(); }

    /// The operands of an element.
    MMAU_FN Row row(int64_t i, int64_t j) const {
        return {element(plan().stored_a, batch.a, i * batch.a_stride), element(plan().stored_b, batch.b, j * batch.b_stride),
                element(plan().scale, batch.scale_a, i * batch.scale_a_stride),
                element(plan().scale, batch.scale_b, j * batch.scale_b_stride)};
    }
};

/// The place of an element in a tile.
struct Place {
    int row, column;
};

/// That of element `each` of a thread.
MMAU_FN constexpr Place place_of(int thread, int each) {
    return {thread / tile_across + each / tile_each * tile_across, thread % tile_across + each % tile_each * tile_across};
}

/// A tile of D: its first row and column.
struct Corner {
    int64_t row, column;
};

template <class Planned>
MMAU_FN Corner corner_of(const Product<Planned>& product, int64_t block) {
    return {block / product.tiles_across() * tile_side, block % product.tiles_across() * tile_side};
}

/// Whether an element lies within D.
/// What a thread brings of a part: a row of A or a column of B, by its number in the tile, and of that row every product whose
/// turn it is. Rows beyond the last are copies of it.
struct Turn {
    int row, turn;
    bool is_of_b;
    Row from;
};

template <class Planned>
MMAU_FN Turn turn_of(const Product<Planned>& product, const Corner& corner, int thread) {
    const int row = thread % tile_side;
    const int64_t i = smaller<int64_t>(corner.row + row, product.rows() - 1);
    const int64_t j = smaller<int64_t>(corner.column + row, product.columns() - 1);
    return {row, thread / (2 * tile_side), thread / tile_side % 2 != 0, product.row(i, j)};
}

template <class Planned>
MMAU_FN bool is_within(const Product<Planned>& product, const Corner& corner, const Place& place) {
    return corner.row + place.row < product.rows() && corner.column + place.column < product.columns();
}

template <class Planned>
MMAU_FN int64_t index_in_d(const Product<Planned>& product, const Corner& corner, const Place& place) {
    return (corner.row + place.row) * product.columns() + corner.column + place.column;
}

MMAU_NAMESPACE_END
