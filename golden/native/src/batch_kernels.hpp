// The kernels as the library calls them: one entry point an instruction set.
#pragma once

#include <cstdint>

#include "mmau.h"

namespace mmau {

/// Compute rows begin … end−1 of a checked batch.
using RowsFunction = void(const mmau_parameters& parameters, const mmau_batch& batch, int64_t begin, int64_t end);

RowsFunction compute_rows_portable, compute_rows_x86_64_v3, compute_rows_x86_64_v4;

/// A part of D of a matrix product.
struct DTile {
    int64_t row, rows, column, columns;
};

/// Compute a tile of a checked batch; false, and nothing done, where the batch is computed by rows. An empty tile asks.
using TileFunction = bool(const mmau_parameters& parameters, const mmau_batch& batch, const DTile& tile);

TileFunction compute_tile_portable, compute_tile_x86_64_v3, compute_tile_x86_64_v4;

/// Some tiles of a stimulus, and where their operands go.
struct TileRange {
    uint64_t seed;
    int64_t first, tiles;
    int32_t m, n;
    void *a, *b, *c, *scale_a, *scale_b;
    uint8_t* label;
};

/// Fill in a checked range of tiles; `corners` is a checked corner table, or null.
using FillFunction = void(const mmau_stimulus& stimulus, const void* corners, const TileRange& range);

FillFunction fill_tiles_portable, fill_tiles_x86_64_v3, fill_tiles_x86_64_v4;

}  // namespace mmau
