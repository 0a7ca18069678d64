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
    /// A product that is not finite, or one of whose scales is not: 0·∞ of any of the four is NaN.
    MMAU_FN void add_scaled(const Decoded& x, const Decoded& y, const Decoded& alpha, const Decoded& beta) {
        const auto any = [&](Cls cls) { return x.cls == cls || y.cls == cls || alpha.cls == cls || beta.cls == cls; };
        if (any(Cls::nan) || (any(Cls::infinity) && any(Cls::zero))) nan = true;
        else if (any(Cls::infinity)) infinite[x.sign ^ y.sign ^ alpha.sign ^ beta.sign] = true;
    }

    /// The result's code in d: the infinity of the terms' sign; where that is none, or NaN, `nan_code`.
    MMAU_FN uint64_t encode(const Format& d, uint64_t nan_code) const {
        if (nan || (infinite[0] && infinite[1]) || !d.has_infinity()) return nan_code;
        return (infinite[1] ? d.sign_bit() : 0) | d.infinity();
    }
};

/// The special terms of c + Σ a_k·b_k under its scales.
template <class Operands>
MMAU_FN Special sum_special(const Operands& operands, const Decoded& c) {
    const Plan& plan = operands.plan();
    Special special;
    special.add_term(c);
    for (int k = 0; k < plan.L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        const bool any = x.cls >= Cls::infinity || y.cls >= Cls::infinity || plan.scale.has_infinity();
        if (has_scales(plan.operation) && any) special.add_scaled(x, y, operands.scale_a(k), operands.scale_b(k));
        else special.add_product(x, y);
    }
    for (int k = 0; k < plan.L && has_scales(plan.operation); k += smaller(plan.L, plan.K_block)) {
        special.add_scale(operands.scale_a(k));
        special.add_scale(operands.scale_b(k));
    }
    return special;
}

MMAU_NAMESPACE_END
