// GST-FDPA: exact dot products of groups, scaled, then summed as in T-FDPA (golden/operations/gst_fdpa.py; paper 000,
// algorithm 9).
#pragma once

#include "t_fdpa.hpp"

MMAU_NAMESPACE_BEGIN

/// A group's exact dot product times its scales' significands, at the scales' exponent; to an observer the group's own sum,
/// of its terms times those significands.
template <class Int, class Operands, class Observer>
MMAU_FN Term<Int> group_term(const Operands& operands, int first, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded alpha = operands.scale_a(first), beta = operands.scale_b(first);
    // Subnormal exponents are the smallest, so every product is an integer in units of 2^(lowest − product_frac).
    const int lowest = plan.a.e_min() + plan.b.e_min();
    const int64_t scale_sig = signed_sig(alpha) * signed_sig(beta);
    Int sum(0);
    bool any_product = false;
    for (int k = first; k < first + plan.G; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        const int64_t product = signed_sig(x) * signed_sig(y);
        any_product = any_product || product;
        sum += shifted_left(Int(product * scale_sig), x.exp + y.exp - lowest);
    }
    see.exact_sum(first / plan.G, first, plan.G, sum, lowest - product_frac(plan), [&](int k) {
        const Decoded x = operands.a(first + k), y = operands.b(first + k);
        return Term<int64_t>{signed_sig(x) * signed_sig(y) * scale_sig, x.exp + y.exp, product_frac(plan)};
    });
    // A group whose products cancel keeps its exponent (numerics.md, section 5).
    const bool is_zero = !any_product || !scale_sig;
    return {sum, is_zero ? plan.e_zero : alpha.exp + beta.exp, group_frac(plan)};
}

template <class Int, class Operands>
MMAU_FN Term<Int> group_term(const Operands& operands, int first) {
    NoObserver nobody;
    return group_term<Int>(operands, first, nobody);
}

/// Whether alignment drops a one of any term of a unit that keeps a sticky bit.
template <class Int, class Operands>
MMAU_FN bool groups_set_sticky(const Operands& operands, const Term<int64_t>& c, int e_max) {
    const Plan& plan = operands.plan();
    bool sticky = is_truncated(c, e_max, plan.F);
    for (int k = 0; k < plan.L && !sticky; k += plan.G) sticky = is_truncated(group_term<Int>(operands, k), e_max, plan.F);
    return sticky;
}

template <class Int, class Operands, class Observer>
MMAU_FN uint64_t gst_fdpa_step(const Operands& operands, const Format& c_format, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded z = decode(c_format, c_code, plan.flush_inputs);
    const Special special = sum_special(operands, z);
    if (special.any()) return special.encode(plan.d, plan.d.nvidia_nan());
    const Term<int64_t> c = addend(z, c_format, plan.e_zero);
    int e_max = c.exp;
    for (int k = 0; k < plan.L; k += plan.G) e_max = larger(e_max, group_term<Int>(operands, k, see).exp);
    Int total = align<Int>(c, e_max, plan.F, plan.truncation);
    for (int k = 0; k < plan.L; k += plan.G) {
        total += align<Int>(group_term<Int>(operands, k), e_max, plan.F, plan.truncation);
    }
    const int groups = plan.L / plan.G;
    const auto term = [&](int k) {
        return k < groups ? group_term<Int>(operands, k * plan.G) : Term<Int>{Int(c.sig), c.exp, c.frac};
    };
    const auto aligned = [&](int k) { return align<Int>(term(k), e_max, plan.F, plan.truncation); };
    see.sum(groups, plan.L, groups + 1, e_max, total, e_max - plan.F, term, [&](int) { return plan.F; }, aligned);
    return convert_sum(plan, total, e_max, plan.sticky && groups_set_sticky<Int>(operands, c, e_max), see);
}

MMAU_NAMESPACE_END
