// NaN and infinity in lanes: the rules of specials.hpp, looked at only where a step has marked a row.
#pragma once

#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// What an operand is: 0 where finite, else NaN or the infinity of its sign.
MMAU_LANE_FN uint32_t special_of(const LaneFormat& format, uint32_t code) {
    const uint32_t field = (code >> format.pad_bits) & format.field_mask;
    const uint32_t negative = (code << format.sign_shift) >> 31;
    const uint32_t nan = static_cast<uint32_t>(field >= format.nan_from) | static_cast<uint32_t>(code == format.nan_code);
    const uint32_t infinite = static_cast<uint32_t>(field == format.special_from) & (nan ^ 1);
    return nan * nan_term | infinite * (plus_infinity << negative);
}

MMAU_LANE_FN uint32_t is_zero(const LaneFormat& format, uint32_t code) {
    return ((code >> format.pad_bits) & format.field_mask) == 0;
}

/// What a product is: NaN for NaN or 0·∞, the infinity of its sign for an infinite one.
MMAU_LANE_FN uint32_t special_product(const LaneFormat& x, const LaneFormat& y, uint32_t p, uint32_t q) {
    const uint32_t operands = special_of(x, p) | special_of(y, q);
    const uint32_t nan = ((operands & nan_term) != 0) | is_zero(x, p) | is_zero(y, q);
    const uint32_t negative = ((p << x.sign_shift) ^ (q << y.sign_shift)) >> 31;
    const uint32_t special = nan * nan_term | (nan ^ 1) * (plus_infinity << negative);
    return operands ? special : 0;
}

inline bool any_special(const Block& block) {
    uint32_t any = 0;
    for (int r = 0; r < lanes; ++r) any |= block.special[r];
    return any != 0;
}

/// Adds what the products of a step are.
template <class CodePair>
inline void classify_products(Block& block, const CodePair& codes) {
    const LaneFormat x(block.plan.a), y(block.plan.b);
    for (int k = 0; k < block.plan.L; ++k) {
        for (int r = 0; r < lanes; ++r) block.special[r] |= special_product(x, y, codes.a[k][r], codes.b[k][r]);
    }
}

/// Overwrites d where a row has special terms; rows that were only suspect keep theirs.
inline void encode_specials(Block& block, uint64_t nan) {
    const auto nan_code = static_cast<uint32_t>(nan), infinity = static_cast<uint32_t>(block.plan.d.infinity());
    const auto sign_bit = static_cast<uint32_t>(block.plan.d.sign_bit());
    for (int r = 0; r < lanes; ++r) {
        const uint32_t terms = block.special[r] & ~suspect, finite = block.d[r];
        const uint32_t is_nan = ((terms & nan_term) != 0) | (terms == (plus_infinity | minus_infinity));
        const uint32_t infinite = infinity | (terms == minus_infinity ? sign_bit : 0);
        const uint32_t special = is_nan ? nan_code : infinite;
        block.d[r] = terms ? special : finite;
    }
}

MMAU_NAMESPACE_END
