// NaN and infinity, the same for every fused operation (golden/arithmetic/specials.py; numerics.md, section 3).
#pragma once

#include "row.hpp"

MMAU_NAMESPACE_BEGIN

/// The special terms of a sum, seen so far.
struct Special {
    bool nan = false, infinite[2] = {false, false};  // by sign

    MMAU_FN bool any() const { return nan || infinite[0] || infinite[1]; }

    MMAU_FN void add_product(const Decoded& x, const Decoded& y) {
        if (x.cls < Cls::infinity && y.cls < Cls::infinity) return;
        if (x.cls == Cls::nan || y.cls == Cls::nan || x.cls == Cls::zero || y.cls == Cls::zero) {
            nan = true;
        } else {
            infinite[x.sign ^ y.sign] = true;
        }
    }
    MMAU_FN void add_term(const Decoded& c) {
        if (c.cls == Cls::nan) nan = true;
        if (c.cls == Cls::infinity) infinite[c.sign] = true;
    }
    MMAU_FN void add_scale(const Decoded& scale) { nan = nan || scale.cls == Cls::nan; }

    /// The result's code in d: the infinity of the terms' sign; where that is none, or NaN, `nan_code`.
    MMAU_FN uint64_t encode(const Format& d, uint64_t nan_code) const {
        if (nan || (infinite[0] && infinite[1]) || !d.has_infinity()) return nan_code;
        return (infinite[1] ? d.sign_bit() : 0) | d.infinity();
    }
};

/// Whether a scale of product k is zero: an infinite product under it is 0·∞.
template <class Operands>
MMAU_FN bool is_under_zero_scale(const Operands& operands, int k) {
    return operands.scale_a(k).cls == Cls::zero || operands.scale_b(k).cls == Cls::zero;
}

/// The special terms of c + Σ a_k·b_k under its scales.
template <class Operands>
MMAU_FN Special sum_special(const Operands& operands, const Decoded& c) {
    const Plan& plan = operands.plan();
    Special special;
    special.add_term(c);
    for (int k = 0; k < plan.L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        special.add_product(x, y);
        const bool infinite = x.cls == Cls::infinity || y.cls == Cls::infinity;
        if (infinite && plan.operation == MMAU_GST_FDPA && is_under_zero_scale(operands, k)) special.nan = true;
    }
    for (int k = 0; k < plan.L && has_scales(plan.operation); k += smaller(plan.L, plan.K_block)) {
        special.add_scale(operands.scale_a(k));
        special.add_scale(operands.scale_b(k));
    }
    return special;
}

MMAU_NAMESPACE_END
