// GST-FDPA by lanes: the steps of operations/gst_fdpa.hpp.
#pragma once

#include "group_sums.hpp"
#include "t_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, a group's sum of products in 32 bits, and no format with infinities.
inline bool gst_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_GST_FDPA || plan.truncation != Mode::RZ) return false;
    if (plan.a.specials == Specials::ieee || plan.b.specials == Specials::ieee) return false;
    const int product_bits = fixed_point_bits(plan.a) + fixed_point_bits(plan.b) + ceil_log2(plan.G);
    return codes_fit_lanes(plan) && product_bits <= 31 && sums_fit_lanes(plan);
}

inline void resolve_specials(Block& block, const Fp4Step&, uint64_t nan_code) { encode_specials(block, nan_code); }

/// One step of every row of a block: products k … k+L−1, whose scales are found by `scales_of`.
template <class Step, class Scales>
inline void gst_fdpa_lanes(Block& block, int k, const Step& codes, const Scales& scales_of) {
    const Plan& plan = block.plan;
    const int groups = plan.L / plan.G, e_zero = plan.e_zero;
    Accumulators c;
    decode_accumulators(k ? plan.d : plan.c, block, c);
    GroupSums products;
    sum_groups(block, codes, products);
    Lanes<int32_t> e_max, term_exp[max_lane_length], scale_sig, scale_exp;
    Lanes<int64_t> term[max_lane_length], total{};
    start_max_exp(plan, c, e_max);
    for (int g = 0; g < groups; ++g) {
        if (g * plan.G % plan.K_block == 0) scales_of(g * plan.G, scale_sig, scale_exp);
        for (int r = 0; r < lanes; ++r) {
            // A group whose products cancel keeps its exponent (numerics.md, section 5).
            const uint32_t any_product = static_cast<uint32_t>(products.any_product[g][r] != 0) & (scale_sig[r] != 0);
            term[g][r] = int64_t{products.sum[g][r]} * scale_sig[r];
            term_exp[g][r] = any_product ? scale_exp[r] : e_zero;
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

template <class Step>
inline void gst_fdpa_lanes(Block& block, int k, const Step& codes) {
    const int size = block.plan.K_block;
    if (block.plan.L == 4 * size) {
        const ScaleWords<uint32_t> words(block, k);
        gst_fdpa_lanes(block, k, codes, [&](int at, Lanes<int32_t>& sig, Lanes<int32_t>& exp) {
            words.multiply(block, at / size, sig, exp);
        });
        return;
    }
    gst_fdpa_lanes(block, k, codes, [&](int at, Lanes<int32_t>& sig, Lanes<int32_t>& exp) {
        multiply_scales(block, k + at, sig, exp);
    });
}

MMAU_NAMESPACE_END
