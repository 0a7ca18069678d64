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

/// Whether every exact sum of a step is an integer below 2^52, which double holds.
inline bool sums_fit_lanes(const Plan& plan) { return sum_bits(plan) <= 52; }

/// A magnitude below 2^52 as a double, exact.
MMAU_LANE_FN double magnitude_as_double(uint64_t mag) {
    constexpr uint64_t two_to_52 = uint64_t{1023 + 52} << 52;
    return bits_as<double>(mag | two_to_52) - bits_as<double>(two_to_52);
}

/// The exponent of a normal double; −1023 of zero.
MMAU_LANE_FN int64_t exponent_of(double value) { return static_cast<int64_t>(bits_as<uint64_t>(value) >> 52) - 1023; }

/// mag / 2^shift rounded to an integer; mag is an integer below 2^(shift + 51), shift below 62.
template <Mode mode>
MMAU_LANE_FN uint64_t round_lane(double mag, int64_t shift, bool negative) {
    const auto unit_code = static_cast<uint64_t>(shift + 52 + 1023) << 52;
    const double unit = bits_as<double>(unit_code);  // 2^(52 + shift): the last bit of a sum with it is 2^shift
    const double sum = mag + unit, nearest = sum - unit;
    const uint64_t integer = bits_as<uint64_t>(sum) - unit_code;
    const uint64_t floor = integer - (nearest > mag), ceiling = integer + (nearest < mag);
    switch (mode) {
        case Mode::RZ: return floor;
        case Mode::RNE: return integer;
        case Mode::RD: return negative ? ceiling : floor;
        default: return negative ? floor : ceiling;
    }
}

/// The constants that a format is rounded and encoded with, in a 64-bit lane.
struct LaneRounding {
    int64_t e_min, man_bits;
    int pad_bits;
    uint64_t sign_bit, exponent_ones;

    explicit LaneRounding(const Format& format)
        : e_min(format.e_min()), man_bits(format.man_bits), pad_bits(format.pad_bits), sign_bit(format.sign_bit()),
          exponent_ones(format.exponent_ones()) {}
};

/// encode_scaled for |value| < 2^52 and a format of at most 32 bits.
template <Mode mode>
MMAU_LANE_FN uint32_t encode_lane(const LaneRounding& format, int64_t value, int64_t exp) {
    const int64_t sign = value >> 63;
    const double mag = magnitude_as_double(static_cast<uint64_t>(with_sign(value, sign)));
    const int64_t top = larger(exponent_of(mag) + exp, format.e_min);
    const int64_t lsb = top - format.man_bits;
    const int64_t shift = smaller<int64_t>(lsb - exp, 60);  // further right, any value is a tiny one as well
    const uint64_t sig = round_lane<mode>(mag, shift, sign);
    const auto steps = static_cast<uint64_t>(top - format.e_min);
    const uint64_t field = smaller((steps << format.man_bits) + sig, format.exponent_ones);
    const uint64_t code = (static_cast<uint64_t>(sign) & format.sign_bit) | field << format.pad_bits;
    return static_cast<uint32_t>(code & keep_if(mag != 0));
}

/// c meets the sum of a T-, ST- or GST-FDPA's other terms, then ρ; a zero becomes +0.
template <Mode mode>
inline void convert_sums(Block& block, const Accumulators& c, const Lanes<int32_t>& e_max, const Lanes<int64_t>& total) {
    const Plan& plan = block.plan;
    const LaneRounding format(plan.rho.rounding_format);
    const LaneAlignment to(c.man_bits, plan.F);
    const int F = plan.F;
    const auto negative_zero = static_cast<uint32_t>(plan.d.sign_bit());
    Lanes<uint32_t> d;
    for (int r = 0; r < lanes; ++r) {
        const int below = larger(e_max[r] - c.exp[r], 0);  // a zero c may lie above e_max
        const int64_t sum = total[r] + align_rz(c.sig[r], to.up, below + to.down);
        const uint32_t code = encode_lane<mode>(format, sum, e_max[r] - F);
        d[r] = code == negative_zero ? 0 : code;
    }
    std::memcpy(block.d, d, sizeof d);
}

inline void convert_sums(Block& block, const Accumulators& c, const Lanes<int32_t>& e_max, const Lanes<int64_t>& total) {
    switch (block.plan.rho.mode) {
        case Mode::RZ: return convert_sums<Mode::RZ>(block, c, e_max, total);
        case Mode::RNE: return convert_sums<Mode::RNE>(block, c, e_max, total);
        case Mode::RD: return convert_sums<Mode::RD>(block, c, e_max, total);
        default: return convert_sums<Mode::RU>(block, c, e_max, total);
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
