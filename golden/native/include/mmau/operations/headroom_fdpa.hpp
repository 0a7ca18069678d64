// What OC- and PS-FDPA share: products h exponents above their own, NaNs by their cause, ρ (golden/operations/headroom_fdpa.py;
// numerics.md, section 5).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// An exact product at an exponent h higher; a zero product has exponent e_zero.
template <class Operands>
MMAU_FN Term<int64_t> raised_product(const Operands& operands, int k) {
    const Plan& plan = operands.plan();
    Term<int64_t> product = multiply(operands.a(k), operands.b(k), product_frac(plan), plan.e_zero);
    if (product.sig) product.exp += plan.h, product.frac += plan.h;
    return product;
}

constexpr uint64_t rdna_payload = 0xA3D;  ///< of the NaN for a NaN factor; narrower formats keep its low bits

/// That NaN.
MMAU_FN constexpr uint64_t factor_nan(const Format& d) {
    return d.sign_bit() | d.quiet_nan() | (rdna_payload & ((uint64_t{1} << (d.man_bits - 1)) - 1));
}

/// d where a term is not finite, by the first rule that applies: a NaN factor, an invalid product or infinite products of both
/// signs, a NaN c, infinities.
MMAU_FN uint64_t encode_special_terms(const Format& d, bool nan_factor, Special products, const Decoded& c, uint64_t c_code) {
    if (nan_factor) return factor_nan(d);
    const bool invalid = products.nan || (products.infinite[0] && products.infinite[1]);
    if (!invalid && c.cls == Cls::nan) return c_code | (uint64_t{1} << (d.man_bits - 1));
    products.add_term(c);
    return products.encode(d, d.sign_bit() | d.quiet_nan());
}

/// Whether a term is not finite; `code` is then d.
template <class Operands>
MMAU_FN bool find_special(const Operands& operands, const Decoded& c, uint64_t c_code, uint64_t& code) {
    Special products;
    bool nan_factor = false;
    for (int k = 0; k < operands.plan().L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        products.add_product(x, y);
        nan_factor = nan_factor || x.cls == Cls::nan || y.cls == Cls::nan;
    }
    if (!products.any() && c.cls < Cls::infinity) return false;
    code = encode_special_terms(operands.plan().d, nan_factor, products, c, c_code);
    return true;
}

/// ρ; what rounds to a zero is +0, before low bits are dropped.
template <class Int, class Observer>
MMAU_FN uint64_t convert_headroom(const Plan& plan, const Int& total, int exp, Observer& see) {
    const uint64_t rounded = convert(plan, total, exp, see);
    return rounded == plan.rho.rounding_format.sign_bit() ? 0 : rounded >> plan.rho.dropped_bits;
}

MMAU_NAMESPACE_END
