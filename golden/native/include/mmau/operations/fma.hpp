// FMA: IEEE 754 fused multiply-add, round to nearest even (golden/operations/fma.py; paper 000, algorithm 3).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

MMAU_FN float fused_multiply_add(float x, float y, float z) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(x, y, z);
#else
    return std::fma(x, y, z);
#endif
}

MMAU_FN double fused_multiply_add(double x, double y, double z) {
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#else
    return std::fma(x, y, z);
#endif
}

/// The code of a float or double; `nan_code` where it is a NaN.
template <class Code, class Float>
MMAU_LANE_FN Code code_of(Float value, Code nan_code) {
    return value == value ? bits_as<Code>(value) : nan_code;
}

template <class Code, class Float>
MMAU_FN Code fma_chain(const Code* a, const Code* b, Code c, int K, const Format& format) {
    Float d = bits_as<Float>(c);
    for (int k = 0; k < K; ++k) d = fused_multiply_add(bits_as<Float>(a[k]), bits_as<Float>(b[k]), d);
    return code_of<Code>(d, static_cast<Code>(format.quiet_nan()));
}

/// All K steps: the machine's own fused multiply-add is IEEE 754's.
MMAU_FN uint64_t fma_dot(const Plan& plan, const Row& row, uint64_t c) {
    if (plan.a.storage_bits == 32) {
        return fma_chain<uint32_t, float>(static_cast<const uint32_t*>(row.a), static_cast<const uint32_t*>(row.b),
                                          static_cast<uint32_t>(c), plan.K, plan.d);
    }
    return fma_chain<uint64_t, double>(static_cast<const uint64_t*>(row.a), static_cast<const uint64_t*>(row.b), c, plan.K,
                                       plan.d);
}

MMAU_NAMESPACE_END
