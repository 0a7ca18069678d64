// FMA as the machine computes it (operations/fma.hpp): of any rows, and of arrays, rows of one product whose operands lie one
// after another. The additions between the instructions of a matrix product are such (golden/products/additions.py).
#pragma once

#include "block.hpp"

MMAU_NAMESPACE_BEGIN

/// FMA whose every NaN is the quiet one, too, as the machine has it.
inline bool is_machine_fma(const Plan& plan) { return plan.operation == MMAU_FMA && plan.machine_fma && plan.nan == MMAU_QUIET_NAN; }

inline bool are_arrays(const Plan& plan, const mmau_batch& batch) {
    return plan.K == 1 && batch.columns == 0 && batch.a_stride == 1 && batch.b_stride == 1;
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

/// Rows begin … end−1, one chain after another.
template <class Code, class Float>
inline void fma_rows(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    const auto* c = static_cast<const Code*>(batch.c);
    auto* d = static_cast<Code*>(batch.d);
    Cursor cursor(plan, batch, begin);
    for (int64_t r = begin; r < end; ++r) {
        const Row row = cursor.next();
        d[r] = static_cast<Code>(fma_chain<Code, Float>(static_cast<const Code*>(row.a), static_cast<const Code*>(row.b), c[r],
                                                        plan.K, plan.d));
    }
}

template <class Code, class Float>
inline void machine_fma(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    are_arrays(plan, batch) ? fma_arrays<Code, Float>(plan, batch, begin, end) : fma_rows<Code, Float>(plan, batch, begin, end);
}

MMAU_NAMESPACE_END
