// GST-FDPA by lanes: the steps of operations/gst_fdpa.hpp.
#pragma once

#include "t_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, and a group's sum of products in 32 bits (so no format that has infinities).
inline bool gst_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_GST_FDPA || plan.truncation != Mode::RZ) return false;
    const int product_bits = fixed_point_bits(plan.a) + fixed_point_bits(plan.b) + ceil_log2(plan.G);
    return codes_fit_lanes(plan) && product_bits <= 31 && sums_fit_lanes(plan);
}

/// An operand as an integer in units of its format's smallest subnormal.
MMAU_LANE_FN int32_t fixed_point_lane(const Lane& x) { return with_sign(static_cast<int32_t>(x.sig << (x.exp - 1)), x.sign); }

/// The exact dot product of the group that starts at product `first`, and whether any of its products is not zero.
template <class Code>
inline void sum_group(Block& block, const StepCodes<Code>& codes, int first, Lanes<int32_t>& sum, Lanes<uint32_t>& any_product) {
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

/// FP4 operands as integers in units of 2^−1.
struct Fp4Codes {
    using Code = int8_t;
    Lanes<Code> a[max_lane_length], b[max_lane_length];

    Fp4Codes(const Block& block, int first, int count) {
        const Codes<uint8_t> codes(block, first, count);
        for (int k = 0; k < count; ++k) {
            for (int r = 0; r < lanes; ++r) a[k][r] = value(codes.a[k][r]), b[k][r] = value(codes.b[k][r]);
        }
    }

  private:
    /// The magnitudes 0, 1, 2, 3, 4, 6, 8, 12 are the largest of three straight lines.
    MMAU_LANE_FN static int8_t value(uint8_t code) {
        const auto m = static_cast<int8_t>(code & 7), sign = static_cast<int8_t>(-(code >> 3));
        const auto line_2 = static_cast<int8_t>(2 * m - 4), line_4 = static_cast<int8_t>(4 * m - 16);
        const int8_t magnitude = larger(m, larger(line_2, line_4));
        return static_cast<int8_t>((magnitude ^ sign) - sign);
    }
};

inline bool is_fp4(const Format& format) { return format.width() == 4; }

/// As above: the sum of max_lane_length products of at most 144 fits 16 bits.
inline void sum_group(Block& block, const StepCodes<int8_t>& codes, int first, Lanes<int32_t>& sum, Lanes<uint32_t>& any_product) {
    Lanes<int16_t> total{}, any{};
    for (int k = first; k < first + block.plan.G; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const auto product = static_cast<int16_t>(codes.a[k][r] * codes.b[k][r]);
            total[r] = static_cast<int16_t>(total[r] + product);
            any[r] = static_cast<int16_t>(any[r] | product);
        }
    }
    for (int r = 0; r < lanes; ++r) sum[r] = total[r], any_product[r] = any[r] != 0;
}

inline void resolve_specials(Block& block, const StepCodes<int8_t>&, uint64_t nan_code) { encode_specials(block, nan_code); }

/// One step of every row of a block: products k … k+L−1.
template <class Code>
inline void gst_fdpa_lanes(Block& block, int k, const StepCodes<Code>& codes) {
    const Plan& plan = block.plan;
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
