// E-FDPA: the exact fused dot product and add (golden/operations/e_fdpa.py; paper 000, algorithm 6).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// An exact sum of zero: −0 where every product and c is negative, under RD where any of them is (IEEE 754, section 6.3).
template <class Operands>
MMAU_FN uint64_t ieee_zero(const Operands& operands, const Decoded& c) {
    const Plan& plan = operands.plan();
    bool any = c.sign, all = c.sign;
    for (int k = 0; k < plan.L; ++k) {
        const bool negative = operands.a(k).sign != operands.b(k).sign;
        any |= negative;
        all &= negative;
    }
    return (plan.rho.mode == Mode::RD ? any : all) ? plan.d.negative_zero() : 0;
}

template <class Operands, class Observer>
MMAU_FN uint64_t e_fdpa_step(const Operands& operands, const Format& c_format, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded c = decode(c_format, c_code, plan.flush_inputs);
    const Special special = sum_special(operands, c);
    if (special.any()) return special.encode(plan.d, plan.d.quiet_nan());
    // Every term is an integer in units of 2^lsb.
    const int product_lsb = plan.a.e_min() + plan.b.e_min() - product_frac(plan);
    const int lsb = smaller(product_lsb, c_format.e_min() - c_format.man_bits);
    Widest total = shifted_left(Widest(signed_sig(c)), c.exp - c_format.man_bits - lsb);
    for (int k = 0; k < plan.L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        const int shift = x.exp + y.exp - product_frac(plan) - lsb;
        total += shifted_left(Widest(signed_sig(x) * signed_sig(y)), shift);
    }
    see.exact_sum(0, 0, plan.L + 1, total, lsb, [&](int k) {
        if (k == plan.L) return addend(c, c_format, c_format.e_min());
        return multiply(operands.a(k), operands.b(k), product_frac(plan), plan.a.e_min() + plan.b.e_min());
    });
    if (plan.ieee_zero && !bit_length(magnitude(total))) return ieee_zero(operands, c);
    return convert(plan, total, lsb, see);
}

MMAU_NAMESPACE_END
