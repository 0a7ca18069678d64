// GST-FDPA by lanes: the steps of operations/gst_fdpa.hpp.
#pragma once

#include "t_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, and a group's sum of products in 32 bits (so no format that has infinities).
inline bool gst_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_GST_FDPA || plan.truncation != Mode::RZ) return false;
    const int sum_bits = fixed_point_bits(plan.a) + fixed_point_bits(plan.b) + ceil_log2(plan.G);
    return codes_fit_lanes(plan) && sum_bits <= 31 && plan.narrow;
}

/// An operand as an integer in units of its format's smallest subnormal.
MMAU_LANE_FN int32_t fixed_point_lane(const Lane& x) { return with_sign(static_cast<int32_t>(x.sig << (x.exp - 1)), x.sign); }

/// The exact dot product of the group that starts at product `first`, and whether any of its products is not zero.
template <class CodePair>
inline void sum_group(Block& block, const CodePair& codes, int first, Lanes<int32_t>& sum, Lanes<uint32_t>& any_product) {
    const LaneFormat x(block.plan.a), y(block.plan.b);
    for (int k = first; k < first + block.plan.G; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const Lane p = decode_lane(x, codes.a[k][r]), q = decode_lane(y, codes.b[k][r]);
            const int32_t product = fixed_point_lane(p) * fixed_point_lane(q);
            sum[r] += product;
            any_product[r] |= static_cast<uint32_t>(product);
            block.special[r] |= p.special | q.special;
        }
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class CodePair>
inline void gst_fdpa_lanes(Block& block, int k) {
    const Plan& plan = block.plan;
    const CodePair codes(block, k);
    const int groups = plan.L / plan.G;
    Accumulators c;
    decode_accumulators(k ? plan.d : plan.c, block, c);
    Lanes<int32_t> e_max, term_exp[max_lane_length], scale_sig, scale_exp;
    Lanes<int64_t> term[max_lane_length], total{};
    start_max_exp(plan, c, e_max);
    for (int g = 0; g < groups; ++g) {
        Lanes<int32_t> sum{};
        Lanes<uint32_t> any_product{};
        sum_group(block, codes, g * plan.G, sum, any_product);
        if (g * plan.G % plan.K_block == 0) multiply_scales(block, k + g * plan.G, scale_sig, scale_exp);
        for (int r = 0; r < lanes; ++r) {
            // A group whose products cancel keeps its exponent (numerics.md, section 5).
            term[g][r] = int64_t{sum[r]} * scale_sig[r];
            term_exp[g][r] = any_product[r] && scale_sig[r] ? scale_exp[r] : plan.e_zero;
            e_max[r] = larger(e_max[r], term_exp[g][r]);
        }
    }
    const LaneAlignment to(group_frac(plan), plan.F);
    for (int g = 0; g < groups; ++g) {
        for (int r = 0; r < lanes; ++r) total[r] += align_rz(term[g][r], to.up, e_max[r] - term_exp[g][r] + to.down);
    }
    convert_sums(block, c, e_max, total);
    resolve_specials(block, codes, plan.d.nvidia_nan());
}

MMAU_NAMESPACE_END
