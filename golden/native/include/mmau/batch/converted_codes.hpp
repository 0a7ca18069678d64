// FP8 operands of a step, converted to fp16, as lanes (numerics.md, section 9).
#pragma once

#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// to_fp16 of an e5m2 code: fp16 has its exponents.
MMAU_LANE_FN uint32_t e5m2_to_fp16(const LaneFormat&, uint32_t code) { return code << 8; }

/// to_fp16 of an e4m3 code: every number of e4m3 is a normal number of fp16, so its fp32 fields need only be rebiased.
MMAU_LANE_FN uint32_t e4m3_to_fp16(const LaneFormat& e4m3, uint32_t code) {
    constexpr int unit = 127 - 7 - 3;  // stored fp32 exponent of 2^−(bias + man_bits of e4m3)
    constexpr uint32_t rebias = 112u << 10, quiet_nan = 0x7E00u;
    const Lane x = decode_lane(e4m3, code);
    const float value = static_cast<float>(static_cast<int32_t>(x.sig)) *
                        bits_as<float>(static_cast<uint32_t>(x.exp + unit) << 23);
    const uint32_t magnitude = (bits_as<uint32_t>(value) >> 13) - rebias;
    const uint32_t finite = magnitude & (0u - static_cast<uint32_t>(x.sig != 0));
    return (static_cast<uint32_t>(x.sign) & 0x8000u) | (x.special ? quiet_nan : finite);
}

/// All products in the plan's order; K is at most max_lane_length.
struct ConvertedCodes {
    using Step = StepCodes<uint16_t>;
    Lanes<uint16_t> a[max_lane_length], b[max_lane_length];

    ConvertedCodes(const Block& block, int, int) {
        convert(block, block.plan.stored_a, &Row::a, a);
        convert(block, block.plan.stored_b, &Row::b, b);
    }
    Step step(int k) const { return {a + k, b + k}; }

  private:
    static void convert(const Block& block, const Format& format, Member operand, Lanes<uint16_t>* codes) {
        const Plan& plan = block.plan;
        Lanes<uint8_t> stored[max_lane_length];
        gather(block, operand, 0, plan.K, stored);
        for (int k = 0; k < plan.K; ++k) {
            const Lanes<uint8_t>& from = stored[product_at(plan.order, plan.K, k)];
            format.exp_bits == 5 ? convert_lanes<e5m2_to_fp16>(format, from, codes[k])
                                 : convert_lanes<e4m3_to_fp16>(format, from, codes[k]);
        }
    }

    template <uint32_t (*to_fp16)(const LaneFormat&, uint32_t)>
    static void convert_lanes(const Format& format, const Lanes<uint8_t>& from, Lanes<uint16_t>& to) {
        const LaneFormat lane_format(format);
        for (int r = 0; r < lanes; ++r) to[r] = static_cast<uint16_t>(to_fp16(lane_format, from[r]));
    }
};

MMAU_NAMESPACE_END
