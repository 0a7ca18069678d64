// T-FDPA and ST-FDPA: the truncated fused dot product and add of NVIDIA's tensor cores (golden/operations/t_fdpa.py,
// st_fdpa.py; paper 000, algorithms 7 and 8).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// An exact product; in ST-FDPA its block's scales are factors of it.
template <class Operands>
MMAU_FN Term<int64_t> scaled_product(const Operands& operands, int k) {
    const Plan& plan = operands.plan();
    Term<int64_t> product = multiply(operands.a(k), operands.b(k), product_frac(plan), plan.e_zero);
    if (plan.operation != MMAU_ST_FDPA || !product.sig) return product;
    const Decoded alpha = operands.scale_a(k), beta = operands.scale_b(k);
    product.exp += alpha.exp + beta.exp;
    if (plan.scale.is_power_of_two()) return product;
    product.sig *= signed_sig(alpha) * signed_sig(beta);
    product.frac += 2 * plan.scale.man_bits;
    if (!product.sig) product.exp = plan.e_zero;
    return product;
}

/// ρ of a total other than 0 plus an amount below every bit that rounding could keep: under RZ of the sign of the total, under
/// RD positive (golden/arithmetic/steps.py, add_sticky).
template <class Int, class Observer>
MMAU_FN uint64_t convert_sticky(const Plan& plan, const Int& total, int exp, Observer& see) {
    const int below = plan.rho.rounding_format.man_bits + 3;  // one more than rounding needs, so that a one is left under its half
    Widest sum = shifted_left(Widest(total), below);
    sum += Widest(is_negative(total) && plan.truncation == Mode::RZ ? -1 : 1);
    return convert(plan, sum, exp - below, see);
}

/// Step 4 of T-FDPA: convert; a zero of either sign becomes +0.
template <class Int, class Observer>
MMAU_FN uint64_t convert_sum(const Plan& plan, const Int& total, int e_max, bool sticky, Observer& see) {
    const int lsb = e_max - plan.F;
    const bool joins = sticky && bit_length(magnitude(total)) != 0;
    const uint64_t d = joins ? convert_sticky(plan, total, lsb, see) : convert(plan, total, lsb, see);
    return d == plan.d.negative_zero() ? 0 : d;
}

/// Whether alignment drops a one of any term of a unit that keeps a sticky bit.
template <class Operands>
MMAU_FN bool products_set_sticky(const Operands& operands, const Term<int64_t>& c, int e_max) {
    const Plan& plan = operands.plan();
    bool sticky = is_truncated(c, e_max, plan.F);
    for (int k = 0; k < plan.L && !sticky; ++k) sticky = is_truncated(scaled_product(operands, k), e_max, plan.F);
    return sticky;
}

template <class Int, class Operands, class Observer>
MMAU_FN uint64_t t_fdpa_step(const Operands& operands, const Format& c_format, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded z = decode(c_format, c_code, plan.flush_inputs);
    const Special special = sum_special(operands, z);
    if (special.any()) return special.encode(plan.d, plan.d.nvidia_nan());
    // 1. exact terms, one without a significand has exponent e_zero; 2. the largest exponent
    const Term<int64_t> c = addend(z, c_format, plan.e_zero);
    int e_max = c.exp;
    for (int k = 0; k < plan.L; ++k) e_max = larger(e_max, scaled_product(operands, k).exp);
    // 3. align each term, truncate it to F bits, add exactly
    Int total = align<Int>(c, e_max, plan.F, plan.truncation);
    for (int k = 0; k < plan.L; ++k) total += align<Int>(scaled_product(operands, k), e_max, plan.F, plan.truncation);
    const auto term = [&](int k) { return k < plan.L ? scaled_product(operands, k) : c; };
    const auto aligned = [&](int k) { return align<Int>(term(k), e_max, plan.F, plan.truncation); };
    see.sum(0, 0, plan.L + 1, e_max, total, e_max - plan.F, term, [&](int) { return plan.F; }, aligned);
    return convert_sum(plan, total, e_max, plan.sticky && products_set_sticky(operands, c, e_max), see);
}

MMAU_NAMESPACE_END
