// FTZ-AddMul by lanes: the steps of operations/ftz_addmul.hpp.
#pragma once

#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

inline bool ftz_addmul_fits_lanes(const Plan& plan) {
    return plan.operation == MMAU_FTZ_ADDMUL && plan.L <= max_lane_length;
}

/// One step of every row of a block: products k … k+P−1.
template <float (*widened)(uint32_t)>
inline void ftz_addmul_lanes(Block& block, int, const StepCodes<uint16_t>& codes) {
    const Plan& plan = block.plan;
    Lanes<float> sum[max_lane_length];
    for (int i = 0; i < plan.L; ++i) {
        for (int r = 0; r < lanes; ++r) {
            sum[i][r] = flushed(rounded_product(widened(codes.a[i][r]), widened(codes.b[i][r])));
        }
    }
    for (int count = plan.L / 2; count; count /= 2) {
        for (int i = 0; i < count; ++i) {
            for (int r = 0; r < lanes; ++r) sum[i][r] = flushed(rounded_sum(sum[2 * i][r], sum[2 * i + 1][r]));
        }
    }
    const auto nan_code = static_cast<uint32_t>(plan.d.quiet_nan());
    for (int r = 0; r < lanes; ++r) {
        const float products = sum[0][r], c = flushed_input(bits_as<float>(block.d[r]));
        block.d[r] = code_of<uint32_t>(flushed(rounded_sum(c, products)), nan_code);
    }
}

MMAU_NAMESPACE_END
