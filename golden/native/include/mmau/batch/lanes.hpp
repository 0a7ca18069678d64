// Operands taken apart in 32-bit lanes, and products in lanes: steps decode, multiply, max_exp, align and accumulate.
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

/// The products of a step. `sig` is shifted to F fraction bits where they are more than a product's own, and carries the sign
/// in its top bit.
struct LaneProducts {
    Lanes<uint32_t> sig[max_lane_length];
    Lanes<int32_t> exp[max_lane_length];
};

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

/// Whether a plan's products, aligned to F bits, are below 2^28.
inline bool products_fit_lanes(const Plan& plan) {
    return codes_fit_lanes(plan) && product_frac(plan) + 2 <= 28 && plan.F + 2 <= 28;
}

/// Steps decode and multiply. exp = e_a + e_b + exp_offset[r], or zero_exp where the product is zero. Marks the rows with
/// operands that are not finite.
template <class CodePair>
inline void multiply(Block& block, const CodePair& codes, const Lanes<int32_t>& exp_offset, int32_t zero_exp,
                     LaneProducts& products) {
    const Plan& plan = block.plan;
    const LaneFormat x(plan.a), y(plan.b);
    const int up = LaneAlignment(product_frac(plan), plan.F).up;
    const int32_t bias = plan.a.bias + plan.b.bias;
    Lanes<uint32_t> special{};
    for (int k = 0; k < plan.L; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const Lane p = decode_lane(x, codes.a[k][r]), q = decode_lane(y, codes.b[k][r]);
            const uint32_t sig = p.sig * q.sig;
            products.sig[k][r] = sig << up | (static_cast<uint32_t>(p.sign ^ q.sign) & 0x80000000u);
            products.exp[k][r] = sig ? p.exp + q.exp - bias + exp_offset[r] : zero_exp;
            special[r] |= p.special | q.special;
        }
    }
    for (int r = 0; r < lanes; ++r) block.special[r] |= special[r];
}

/// Step max_exp over products first, first + stride, …; e_max holds what the largest is compared with.
inline void max_exp(const Plan& plan, const LaneProducts& products, int first, int stride, Lanes<int32_t>& e_max) {
    for (int k = first; k < plan.L; k += stride) {
        for (int r = 0; r < lanes; ++r) e_max[r] = larger(e_max[r], products.exp[k][r]);
    }
}

/// Steps align (RZ) and accumulate over products first, first + stride, …: eight aligned products fit 32 bits.
inline void accumulate(const Plan& plan, const LaneProducts& products, int first, int stride, const Lanes<int32_t>& e_max,
                       Lanes<int64_t>& total) {
    const int down = LaneAlignment(product_frac(plan), plan.F).down;
    for (int group = first; group < plan.L; group += 8 * stride) {
        Lanes<int32_t> sum{};
        for (int k = group; k < smaller(plan.L, group + 8 * stride); k += stride) {
            for (int r = 0; r < lanes; ++r) {
                const int shift = smaller(e_max[r] - products.exp[k][r] + down, 31);
                const auto aligned = static_cast<int32_t>((products.sig[k][r] & 0x7FFFFFFFu) >> shift);
                sum[r] += with_sign(aligned, static_cast<int32_t>(products.sig[k][r]) >> 31);
            }
        }
        for (int r = 0; r < lanes; ++r) total[r] += sum[r];
    }
}

MMAU_NAMESPACE_END
