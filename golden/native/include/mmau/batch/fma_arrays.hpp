// FMA of arrays: rows of one product, whose operands lie one after another, as the machine computes it (operations/fma.hpp).
// The additions between the instructions of a matrix product are such batches (golden/products/additions.py).
#pragma once

#include "block.hpp"

MMAU_NAMESPACE_BEGIN

inline bool is_fma_of_arrays(const Plan& plan, const mmau_batch& batch) {
    const bool are_arrays = plan.K == 1 && batch.columns == 0 && batch.a_stride == 1 && batch.b_stride == 1;
    return plan.operation == MMAU_FMA && plan.machine_fma && are_arrays;
}

/// Rows begin … end−1; compilers make vector instructions of the loop where the instruction set has the operation.
template <class Code, class Float>
inline void fma_arrays(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    const auto* a = static_cast<const Code*>(batch.a);
    const auto* b = static_cast<const Code*>(batch.b);
    const auto* c = static_cast<const Code*>(batch.c);
    auto* d = static_cast<Code*>(batch.d);
    const auto nan_code = static_cast<Code>(plan.d.quiet_nan());
    for (int64_t r = begin; r < end; ++r) {
        const Float value = fused_multiply_add(bits_as<Float>(a[r]), bits_as<Float>(b[r]), bits_as<Float>(c[r]));
        d[r] = code_of<Code>(value, nan_code);
    }
}

MMAU_NAMESPACE_END
