// T-FDPA and ST-FDPA by lanes: the steps of operations/t_fdpa.hpp.
#pragma once

#include "accumulators.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, few bits, and one scale a step.
inline bool t_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_T_FDPA && plan.operation != MMAU_ST_FDPA) return false;
    const bool one_scale = plan.operation == MMAU_T_FDPA || plan.K_block % plan.L == 0;
    return one_scale && plan.truncation == Mode::RZ && products_fit_lanes(plan);
}

/// Scales as lanes: significand and exponent of a product of two; marks the rows where one is NaN.
inline void multiply_scales(Block& block, int k, Lanes<int32_t>& sig, Lanes<int32_t>& exp) {
    for (int r = 0; r < lanes; ++r) {
        const Operands operands{block.plan, block.row[r], k};
        const Decoded alpha = operands.scale_a(0), beta = operands.scale_b(0);
        block.special[r] |= alpha.cls == Cls::nan || beta.cls == Cls::nan ? nan_term : 0;
        sig[r] = static_cast<int32_t>(alpha.sig * beta.sig);
        exp[r] = alpha.exp + beta.exp;
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class CodePair>
inline void t_fdpa_lanes(Block& block, int k) {
    const Plan& plan = block.plan;
    const CodePair codes(block, k);
    Accumulators c;
    decode_accumulators(k ? plan.d : plan.c, block, c);
    Lanes<int32_t> scale_sig, scale_exp{}, e_max;
    if (plan.operation == MMAU_ST_FDPA) multiply_scales(block, k, scale_sig, scale_exp);
    LaneProducts products;
    multiply(block, codes, scale_exp, plan.e_zero, products);
    start_max_exp(plan, c, e_max);
    max_exp(plan, products, 0, 1, e_max);
    Lanes<int64_t> total{};
    accumulate(plan, products, 0, 1, e_max, total);
    convert_sums(block, c, e_max, total);
    resolve_specials(block, codes, plan.d.nvidia_nan());
}

MMAU_NAMESPACE_END
