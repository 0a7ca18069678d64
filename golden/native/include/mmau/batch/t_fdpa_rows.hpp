// T-FDPA and ST-FDPA by lanes: the steps of operations/t_fdpa.hpp, a row's L products side by side.
#pragma once

#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, few bits, and one scale a step.
inline bool t_fdpa_lanes_fit(const Plan& plan) {
    if (plan.operation != MMAU_T_FDPA && plan.operation != MMAU_ST_FDPA) return false;
    const bool one_scale = plan.operation == MMAU_T_FDPA || plan.K_block % plan.L == 0;
    return one_scale && plan.truncation == Mode::RZ && lanes_hold(plan);
}

/// One step of every row of a block: products k … k+L−1.
template <int L, class Code>
inline void t_fdpa_rows(const Plan& plan, Block& block, int k) {
    const LaneFormat x(plan.a), y(plan.b);
    const LaneAlignment to(plan);
    const Format c_format = k ? plan.d : plan.c;
    for (int r = 0; r < block.rows; ++r) {
        const Operands operands{plan, block.row[r], k};
        const Decoded z = decode(c_format, block.d[r]);
        int bias = plan.a.bias + plan.b.bias;  // of a sum of stored exponents
        bool special = z.cls >= Cls::infinity;
        if (plan.operation == MMAU_ST_FDPA) {
            const Decoded alpha = operands.scale_a(0), beta = operands.scale_b(0);
            bias -= alpha.exp + beta.exp;
            special = special || alpha.cls == Cls::nan || beta.cls == Cls::nan;
        }
        const Term<int64_t> c = addend(z, c_format, plan.e_zero);
        const auto products = multiply_lanes<L>(x, y, static_cast<const Code*>(operands.row.a) + k,
                                                static_cast<const Code*>(operands.row.b) + k, plan.e_zero + bias);
        const int32_t e_max = max_exp(products, c.exp + bias);
        const int64_t total = accumulate(products, to, e_max) + align<int64_t>(c, e_max - bias, plan.F, Mode::RZ);
        block.d[r] = special || products.special ? t_fdpa_step<int64_t>(operands, c_format, block.d[r])
                                                 : convert_sum(plan, total, e_max - bias);
    }
}

MMAU_NAMESPACE_END
