// NaN and infinity in lanes: the rules of specials.hpp, looked at only where a step has marked a row.
#pragma once

#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// A finite or special operand as LaneSpecials, its own sign's infinity.
inline uint32_t special_of(const LaneFormat& format, uint32_t code) {
    const uint32_t field = (code >> format.pad_bits) & format.field_mask;
    const bool nan = field >= format.nan_from || code == format.nan_code;
    const bool infinite = field == format.special_from && !nan;
    const bool negative = (code << format.sign_shift) >> 31;
    return nan ? nan_term : infinite ? (negative ? minus_infinity : plus_infinity) : 0;
}

/// The special value of a product: NaN for NaN or 0·∞, the sign for an infinite one.
inline uint32_t special_product(const LaneFormat& x, const LaneFormat& y, uint32_t p, uint32_t q) {
    const uint32_t p_special = special_of(x, p), q_special = special_of(y, q);
    const bool p_zero = ((p >> x.pad_bits) & x.field_mask) == 0, q_zero = ((q >> y.pad_bits) & y.field_mask) == 0;
    const bool any = (p_special | q_special) != 0;
    const bool nan = ((p_special | q_special) & nan_term) != 0 || p_zero || q_zero;
    const bool negative = ((p << x.sign_shift) ^ (q << y.sign_shift)) >> 31;
    return !any ? 0 : nan ? nan_term : negative ? minus_infinity : plus_infinity;
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
inline void encode_specials(Block& block, uint64_t nan_code) {
    const Format& d = block.plan.d;
    const uint64_t infinity = d.infinity(), sign_bit = d.sign_bit();
    for (int r = 0; r < lanes; ++r) {
        const uint32_t terms = block.special[r] & ~uint32_t{suspect};
        const uint64_t infinite = terms == minus_infinity ? sign_bit | infinity : infinity;
        const bool nan = (terms & nan_term) != 0 || terms == (plus_infinity | minus_infinity);
        block.d[r] = terms == 0 ? block.d[r] : nan ? nan_code : infinite;
    }
}

MMAU_NAMESPACE_END
