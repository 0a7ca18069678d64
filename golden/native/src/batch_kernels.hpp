// The kernels as the library calls them: one entry point an instruction set.
#pragma once

#include <cstdint>

#include "mmau.h"

namespace mmau {

/// Compute rows begin … end−1 of a checked batch.
using RowsFunction = void(const mmau_parameters& parameters, const mmau_batch& batch, int64_t begin, int64_t end);

RowsFunction compute_rows_portable, compute_rows_x86_64_v3, compute_rows_x86_64_v4;

}  // namespace mmau
