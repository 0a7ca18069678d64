// The accumulators of a block: decoded before a step, rounded and encoded after it.
#pragma once

#include "special_lanes.hpp"

MMAU_NAMESPACE_BEGIN

struct Accumulators {
    Lanes<int32_t> sig, exp;  ///< sig is signed; exp is e_min for a zero
    int man_bits;
};

/// Step decode for c; starts the block's marks with what c is.
inline void decode_accumulators(const Format& format, Block& block, Accumulators& c) {
    const LaneFormat lane_format(format);
    c.man_bits = format.man_bits;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t code = block.d[r];
        const Lane z = decode_lane(lane_format, code);
        c.sig[r] = with_sign(static_cast<int32_t>(z.sig), z.sign);
        c.exp[r] = z.exp - format.bias;
        block.special[r] = special_of(lane_format, code);
    }
}

/// Step align, RZ: |sig| · 2^up < 2^62; `down` is not negative.
MMAU_LANE_FN int64_t align_rz(int64_t sig, int up, int down) {
    const int64_t sign = sig >> 63;
    return with_sign((with_sign(sig, sign) << up) >> smaller(down, 63), sign);
}

/// Step align, RD.
MMAU_LANE_FN int64_t align_rd(int64_t sig, int up, int down) {
    return static_cast<int64_t>(static_cast<uint64_t>(sig) << up) >> smaller(down, 63);
}

/// All ones or none: a select that compilers keep in one width.
MMAU_LANE_FN uint64_t keep_if(bool condition) { return uint64_t{0} - static_cast<uint64_t>(condition); }

/// doubled / 2^(shift + 1) rounded; shift is 0 … 62.
template <Mode mode>
MMAU_LANE_FN uint64_t round_lane(uint64_t doubled, uint64_t shift, bool negative) {
    const uint64_t halves = doubled >> shift, floor = halves >> 1, half = halves & 1;
    const uint64_t sticky = halves << shift != doubled;
    switch (mode) {
        case Mode::RZ: return floor;
        case Mode::RNE: return floor + (half & (sticky | floor));
        case Mode::RD: return floor + ((half | sticky) & negative);
        default: return floor + ((half | sticky) & !negative);
    }
}

/// encode_scaled for |value| < 2^61 and a format of at most 32 bits.
template <Mode mode>
MMAU_LANE_FN uint32_t encode_lane(const Format& format, int64_t value, int32_t exp) {
    const int64_t sign = value >> 63;
    const auto mag = static_cast<uint64_t>(with_sign(value, sign));
    const int32_t top = 63 - __builtin_clzll(mag | 1) + exp;
    const int32_t lsb = larger(top, format.e_min()) - format.man_bits;
    const auto right = static_cast<uint64_t>(smaller(larger(lsb - exp, 0), 62));
    const auto left = static_cast<uint64_t>(smaller(larger(exp - lsb, 0), 62));
    const uint64_t sig = round_lane<mode>(mag << left << 1, right, sign);
    const auto steps = static_cast<uint64_t>(static_cast<int64_t>(lsb + format.man_bits - format.e_min()));
    const uint64_t field = smaller((steps << format.man_bits) + sig, format.exponent_ones());
    const uint64_t code = (static_cast<uint64_t>(sign) & format.sign_bit()) | field << format.pad_bits;
    return static_cast<uint32_t>(code & keep_if(mag != 0));
}

/// c meets the sum of a T-, ST- or GST-FDPA's other terms, then ρ; a zero becomes +0.
template <Mode mode>
inline void convert_sums(Block& block, const Accumulators& c, const Lanes<int32_t>& e_max, const Lanes<int64_t>& total) {
    const Plan& plan = block.plan;
    const Format format = plan.rho.rounding_format;
    const LaneAlignment to(c.man_bits, plan.F);
    const auto negative_zero = static_cast<uint32_t>(plan.d.sign_bit());
    for (int r = 0; r < lanes; ++r) {
        const int below = larger(e_max[r] - c.exp[r], 0);  // a zero c may lie above e_max
        const int64_t sum = total[r] + align_rz(c.sig[r], to.up, below + to.down);
        const uint32_t code = encode_lane<mode>(format, sum, e_max[r] - plan.F);
        block.d[r] = code == negative_zero ? 0 : code;
    }
}

inline void convert_sums(Block& block, const Accumulators& c, const Lanes<int32_t>& e_max, const Lanes<int64_t>& total) {
    switch (block.plan.rho.mode) {
        case Mode::RZ: return convert_sums<Mode::RZ>(block, c, e_max, total);
        case Mode::RNE: return convert_sums<Mode::RNE>(block, c, e_max, total);
        case Mode::RD: return convert_sums<Mode::RD>(block, c, e_max, total);
        case Mode::RU: return convert_sums<Mode::RU>(block, c, e_max, total);
    }
}

/// The exponents that the accumulators bring to max_exp: a zero has e_zero.
inline void start_max_exp(const Plan& plan, const Accumulators& c, Lanes<int32_t>& e_max) {
    for (int r = 0; r < lanes; ++r) e_max[r] = c.sig[r] ? c.exp[r] : plan.e_zero;
}

/// Where a step has marked rows, gives them what their special terms come to.
template <class CodePair>
inline void resolve_specials(Block& block, const CodePair& codes, uint64_t nan_code) {
    if (!any_special(block)) return;
    classify_products(block, codes);
    encode_specials(block, nan_code);
}

MMAU_NAMESPACE_END
