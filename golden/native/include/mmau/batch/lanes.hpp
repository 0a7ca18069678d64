// Lanes: operands taken apart in 32-bit lanes, without branches, so that a compiler can use vector instructions.
#pragma once

#include "block.hpp"

MMAU_NAMESPACE_BEGIN

/// The constants that take a format apart in a 32-bit lane.
struct LaneFormat {
    int sign_shift, pad_bits, man_bits;
    uint32_t field_mask, man_mask;
    uint32_t special_from;  ///< fields from here on are Inf or NaN
    uint32_t nan_code;      ///< the code that is NaN by itself (fnuz), else none

    explicit LaneFormat(const Format& format)
        : sign_shift(32 - format.width()), pad_bits(format.pad_bits), man_bits(format.man_bits),
          field_mask(static_cast<uint32_t>(format.field_mask())), man_mask((1u << format.man_bits) - 1),
          special_from(~0u), nan_code(~0u) {
        if (format.specials == Specials::ieee) special_from = static_cast<uint32_t>(format.exponent_ones());
        if (format.specials == Specials::fn) special_from = field_mask;
        if (format.specials == Specials::fnuz) nan_code = static_cast<uint32_t>(format.sign_bit());
    }
};

/// Products of L lanes: their magnitudes, their signs (0 or −1), the sums of their *stored* exponents (at least 1 each).
template <int L>
struct LaneProducts {
    uint32_t sig[L];
    int32_t sign[L];
    int32_t exp[L];
    bool special;  ///< an operand is not finite
};

/// Steps decode and multiply; a zero product gets the stored exponent `zero_exp`.
template <int L, class Code>
inline LaneProducts<L> multiply_lanes(const LaneFormat& x, const LaneFormat& y, const Code* a, const Code* b,
                                      int32_t zero_exp) {
    LaneProducts<L> products;
    uint32_t special = 0;
    for (int k = 0; k < L; ++k) {
        const uint32_t p = a[k], q = b[k];
        const uint32_t p_field = (p >> x.pad_bits) & x.field_mask, q_field = (q >> y.pad_bits) & y.field_mask;
        const uint32_t p_exp = p_field >> x.man_bits, q_exp = q_field >> y.man_bits;
        const uint32_t p_sig = (p_field & x.man_mask) | static_cast<uint32_t>(p_exp != 0) << x.man_bits;
        const uint32_t q_sig = (q_field & y.man_mask) | static_cast<uint32_t>(q_exp != 0) << y.man_bits;
        const uint32_t sig = p_sig * q_sig;
        const auto exp = static_cast<int32_t>(larger(p_exp, 1u) + larger(q_exp, 1u));
        special |= static_cast<uint32_t>(p_field >= x.special_from) | static_cast<uint32_t>(q_field >= y.special_from) |
                   static_cast<uint32_t>(p == x.nan_code) | static_cast<uint32_t>(q == y.nan_code);
        products.sig[k] = sig;
        products.sign[k] = static_cast<int32_t>((p << x.sign_shift) ^ (q << y.sign_shift)) >> 31;
        products.exp[k] = sig ? exp : zero_exp;
    }
    products.special = special != 0;
    return products;
}

/// Step max_exp over every `stride`-th lane from `first` on.
template <int L>
inline int32_t max_exp(const LaneProducts<L>& products, int32_t floor) {
    int32_t e_max = floor;
    for (int k = 0; k < L; ++k) e_max = larger(e_max, products.exp[k]);
    return e_max;
}

/// How far a product's bits lie from where F fraction bits end: left by `up`, right by `down` and the difference to e_max.
struct LaneAlignment {
    int up, down;

    explicit LaneAlignment(const Plan& plan)
        : up(larger(plan.F - product_frac(plan), 0)), down(larger(product_frac(plan) - plan.F, 0)) {}
};

/// Steps align (RZ) and accumulate: an aligned product is below 2^28, so eight of them fit 32 bits.
template <int L>
inline int64_t accumulate(const LaneProducts<L>& products, const LaneAlignment& to, int32_t e_max) {
    constexpr int group = L < 8 ? L : 8;
    int64_t total = 0;
    for (int first = 0; first < L; first += group) {
        int32_t sum = 0;
        for (int k = first; k < first + group; ++k) {
            const int shift = smaller(e_max - products.exp[k] + to.down, 31);
            const auto aligned = static_cast<int32_t>((products.sig[k] << to.up) >> shift);
            sum += (aligned ^ products.sign[k]) - products.sign[k];
        }
        total += sum;
    }
    return total;
}

/// Whether products aligned to F bits are below 2^28 (and so below 2^31 before they are shifted).
inline bool lanes_hold(const Plan& plan) {
    const bool few_bits = product_frac(plan) + 2 <= 28;
    const bool one_storage = plan.a.storage_bits == plan.b.storage_bits && plan.a.storage_bits <= 32;
    return few_bits && one_storage && plan.F + 2 <= 28;
}

MMAU_NAMESPACE_END
