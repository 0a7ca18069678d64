// T-FDPA and ST-FDPA by lanes: the steps of operations/t_fdpa.hpp.
#pragma once

#include "accumulators.hpp"
#include "exact_products.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RZ, few bits, and one scale a step.
inline bool t_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_T_FDPA && plan.operation != MMAU_ST_FDPA) return false;
    const bool one_scale = plan.operation == MMAU_T_FDPA || plan.K_block % plan.L == 0;
    return one_scale && plan.truncation == Mode::RZ && products_fit_lanes(plan) && sums_fit_lanes(plan);
}

/// A scale in a lane: `sig`, unbiased `exp`, and whether it is NaN.
MMAU_LANE_FN Lane decode_scale_lane(const LaneFormat& format, int bias, bool subnormals, uint32_t code) {
    if (!subnormals) return {1, 0, static_cast<int32_t>(code) - bias, static_cast<uint32_t>(code == format.field_mask)};
    const Lane scale = decode_lane(format, code);
    return {scale.sig, 0, scale.exp - bias, scale.special};
}

/// The scales of a block of products: significand and exponent of alpha·beta; marks the rows where one is NaN.
template <bool subnormals>
inline void multiply_scales(Block& block, const Lanes<uint8_t>& a, const Lanes<uint8_t>& b, Lanes<int32_t>& sig,
                            Lanes<int32_t>& exp) {
    const Format& scale = block.plan.scale;
    const LaneFormat format(scale);
    const int bias = scale.bias;
    for (int r = 0; r < lanes; ++r) {
        const Lane alpha = decode_scale_lane(format, bias, subnormals, a[r]);
        const Lane beta = decode_scale_lane(format, bias, subnormals, b[r]);
        block.special[r] |= (alpha.special | beta.special) * nan_term;
        sig[r] = static_cast<int32_t>(alpha.sig * beta.sig);
        exp[r] = alpha.exp + beta.exp;
    }
}

/// The codes of the scales of a step, from product k on: as many in a word as it has blocks.
template <class Word>
struct ScaleWords {
    Lanes<Word> a, b;

    ScaleWords(const Block& block, int k) {
        const int index = k / block.plan.K_block;
        for (int r = 0; r < lanes; ++r) {
            std::memcpy(&a[r], static_cast<const uint8_t*>(block.row[r].scale_a) + index, sizeof(Word));
            std::memcpy(&b[r], static_cast<const uint8_t*>(block.row[r].scale_b) + index, sizeof(Word));
        }
    }

    /// Those of block `number` of the step.
    void multiply(Block& block, int number, Lanes<int32_t>& sig, Lanes<int32_t>& exp) const {
        Lanes<uint8_t> alpha, beta;
        for (int r = 0; r < lanes; ++r) {
            alpha[r] = static_cast<uint8_t>(a[r] >> (8 * number)), beta[r] = static_cast<uint8_t>(b[r] >> (8 * number));
        }
        block.plan.scale.subnormals ? multiply_scales<true>(block, alpha, beta, sig, exp)
                                    : multiply_scales<false>(block, alpha, beta, sig, exp);
    }
};

inline void multiply_scales(Block& block, int k, Lanes<int32_t>& sig, Lanes<int32_t>& exp) {
    ScaleWords<uint8_t>(block, k).multiply(block, 0, sig, exp);
}

/// Step max_exp over the products and c.
inline void find_e_max(const Plan& plan, const LargestProducts& products, const Lanes<int32_t>& scale_exp,
                       const Accumulators& c, Lanes<int32_t>& e_max) {
    const int32_t e_zero = plan.e_zero;
    for (int r = 0; r < lanes; ++r) {
        const int32_t scaled = products.exp[r] + scale_exp[r];
        const int32_t product_exp = products.exp[r] == no_product_exp ? e_zero : scaled;
        const int32_t c_exp = c.sig[r] ? c.exp[r] : e_zero;
        const int32_t floor = products.any_zero[r] ? e_zero : c_exp;
        e_max[r] = larger(product_exp, larger(c_exp, floor));
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class Words, class Code>
inline void t_fdpa_lanes(Block& block, int k, const StepCodes<Code>& codes) {
    const Plan& plan = block.plan;
    Accumulators c;
    decode_accumulators(k ? plan.d : plan.c, block, c);
    const Placed<Words, Code> words(block, codes);
    Lanes<int32_t> scale_sig, scale_exp{}, e_max;
    if (plan.operation == MMAU_ST_FDPA) multiply_scales(block, k, scale_sig, scale_exp);
    const ExactProducts<Words> products(plan, words);
    LargestProducts largest;
    find_largest<Words>(block, words, 0, 1, largest);
    find_e_max(plan, largest, scale_exp, c, e_max);
    Lanes<int64_t> total{};
    accumulate(products, 0, 1, e_max, scale_exp, total);
    convert_sums(block, c, e_max, total);
    resolve_specials(block, codes, plan.d.nvidia_nan());
}

MMAU_NAMESPACE_END
