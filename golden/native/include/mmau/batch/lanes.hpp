// Operands taken apart in 32-bit lanes: step decode.
#pragma once

#include "transpose.hpp"

MMAU_NAMESPACE_BEGIN

/// The constants that take a format apart in a 32-bit lane.
struct LaneFormat {
    int sign_shift, pad_bits, man_bits;
    uint32_t field_mask, man_mask;
    uint32_t special_from, nan_from;  ///< fields from here on are Inf or NaN, are NaN
    uint32_t nan_code;                ///< the code that is NaN by itself (fnuz), else none

    explicit LaneFormat(const Format& format)
        : sign_shift(32 - format.width()), pad_bits(format.pad_bits), man_bits(format.man_bits),
          field_mask(static_cast<uint32_t>(format.field_mask())), man_mask((1u << format.man_bits) - 1),
          special_from(~0u), nan_from(~0u), nan_code(~0u) {
        const auto exponent_ones = static_cast<uint32_t>(format.exponent_ones());
        if (format.specials == Specials::ieee) special_from = exponent_ones, nan_from = exponent_ones + 1;
        if (format.specials == Specials::fn) special_from = nan_from = field_mask;
        if (format.specials == Specials::fnuz) nan_code = static_cast<uint32_t>(format.sign_bit());
    }
};

/// An operand in a lane: `sign` is 0 or −1; `exp` is the stored exponent, 1 for subnormals; `special` is 1 where not finite.
struct Lane {
    uint32_t sig;
    int32_t sign, exp;
    uint32_t special;
};

/// Step decode.
MMAU_LANE_FN Lane decode_lane(const LaneFormat& format, uint32_t code) {
    const uint32_t field = (code >> format.pad_bits) & format.field_mask;
    const uint32_t stored_exp = field >> format.man_bits;
    const uint32_t hidden = static_cast<uint32_t>(stored_exp != 0) << format.man_bits;
    return {(field & format.man_mask) | hidden, static_cast<int32_t>(code << format.sign_shift) >> 31,
            static_cast<int32_t>(larger(stored_exp, 1u)),
            static_cast<uint32_t>(field >= format.special_from) | static_cast<uint32_t>(code == format.nan_code)};
}

/// The magnitude, negated where sign is −1; undoes itself.
MMAU_LANE_FN int32_t with_sign(int32_t magnitude, int32_t sign) { return (magnitude ^ sign) - sign; }
MMAU_LANE_FN int64_t with_sign(int64_t magnitude, int64_t sign) { return (magnitude ^ sign) - sign; }

/// How `frac` fraction bits become F: left by `up`, then right by `down` and the difference to e_max.
struct LaneAlignment {
    int up, down;

    LaneAlignment(int frac, int F) : up(larger(F - frac, 0)), down(larger(frac - F, 0)) {}
};

/// Whether codes of a plan's operands fit 32-bit lanes, side by side.
inline bool codes_fit_lanes(const Plan& plan) {
    const bool one_storage = plan.stored_a.storage_bits == plan.stored_b.storage_bits && plan.a.storage_bits <= 32;
    return one_storage && plan.L <= max_lane_length;
}

MMAU_NAMESPACE_END
