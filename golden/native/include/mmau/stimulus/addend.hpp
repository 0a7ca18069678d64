// c's element of a row or tile.
#pragma once

#include "elements.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// A product as it is built up: sign, exponent of the leading bit, the leading 64 bits of the significand (0: it is zero).
struct Magnitude {
    uint32_t sign;
    int lead;
    uint64_t sig;
};

/// The upper half of x·y.
MMAU_FN constexpr uint64_t upper_product(uint64_t x, uint64_t y) {
    const uint64_t low = 0xFFFFFFFF, x0 = x & low, x1 = x >> 32, y0 = y & low, y1 = y >> 32;
    const uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (middle & low);
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

/// product · the number that a code is; what lies below 64 bits is cut off.
MMAU_FN Magnitude times(const Magnitude& product, const Format& format, uint64_t code) {
    const Decoded x = decode(format, code);
    if (!x.sig || !product.sig) return {0, 0, 0};
    const int length = bit_length(x.sig);
    const uint64_t half = upper_product(product.sig, x.sig << (64 - length));  // in 2^62 … 2^64 − 1
    const bool carried = half >> 63;
    return {product.sign ^ static_cast<uint32_t>(x.sign), product.lead + x.exp - format.man_bits + length - 1 + carried,
            carried ? half : half << 1};
}

/// A code that takes product big_place of (i, j) away, but for the bits that c has not; +0 where that product is zero.
MMAU_FN uint64_t completing(const Plan& plan, const Corners& corners, const Header& h, int i, int j) {
    const int k = h.big_place;
    const Side a = side_of(true), b = side_of(false);
    Magnitude product{0, 0, uint64_t{1} << 63};
    product = times(product, plan.a.format, factor_at(plan, corners, h, a, i, k));
    product = times(product, plan.b.format, factor_at(plan, corners, h, b, j, k));
    if (plan.K_block) {
        product = times(product, plan.scale.format, scale_at(plan, corners, h, a, i, k / plan.K_block));
        product = times(product, plan.scale.format, scale_at(plan, corners, h, b, j, k / plan.K_block));
    }
    const uint64_t frac = product.sig << 1 >> (64 - plan.c.man_bits);
    return product.sig ? number<uint64_t>(plan.c, product.sign ^ 1, product.lead, frac) : 0;
}

/// The code one ulp up or down where two bits say so, in a quarter of the cases each.
MMAU_FN uint64_t one_off(const Operand& x, uint64_t code, uint32_t bits) {
    if ((bits & 3) > 1 || !changeable(x, code)) return code;
    const uint64_t ulp = uint64_t{1} << x.pad_bits;
    return bits & 1 ? code + ulp : code - ulp;
}

/// The code of c's element (i, j) of a tile of n columns.
MMAU_FN uint64_t addend_at(const Plan& plan, const Corners& corners, const Header& h, int i, int j, int n) {
    const Operand& x = plan.c;
    const uint32_t place = static_cast<uint32_t>(i * n + j);
    if (h.is(Class::bits)) return any_code(x, code_word<uint64_t>(h.key, C, place));
    const uint32_t kind = word(h.key, C_KIND, place);
    if (h.is_corner) {
        const Side a = side_of(true), b = side_of(false);
        const uint32_t of_a = row_word(h, a, i), of_b = row_word(h, b, j);
        const uint64_t stored = load(x.format, corners.c, h.corner.row);
        const uint64_t moved = shifted(x, stored, row_shift(h, a, of_a) + row_shift(h, b, of_b));
        return negated(x, h.nudge_odds ? one_off(x, moved, kind) : moved, (of_a ^ of_b) & 1);
    }
    if (h.completes) {
        const uint64_t code = completing(plan, corners, h, i, j);
        return kind & 4 ? code : one_off(x, code, kind);
    }
    const int which = static_cast<int>(kind & 0xFF);
    const Exponents exponents = which < h.far_c ? h.far : h.near;
    const uint32_t sign = kind >> 8 & 1;
    const uint64_t frac = fraction<uint64_t>(h.frac_c, x.man_bits, code_word<uint64_t>(h.key, C, place));
    const uint64_t finite = number<uint64_t>(x, sign, exponents.low + below(kind >> 16, exponents.span), frac);
    const uint64_t code = zero_or(x, which < h.zero_c, finite);
    return h.special_odds ? special_or(x, h, code, SPECIAL_C, place) : code;
}

}  // namespace stimulus

MMAU_NAMESPACE_END
