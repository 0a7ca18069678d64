// TR-FDPA and GTR-FDPA: a truncated fused dot product, then a rounded sum with c (golden/operations/tr_fdpa.py, gtr_fdpa.py;
// paper 000, algorithms 10 and 11, with the second floor of numerics.md, section 5).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int no_product_exp = -999;      ///< e_dot of a dot product without a non-zero product (exponent value)
constexpr int product_overflow_exp = 128; ///< a product of magnitude 2^128 or more becomes an infinity (exponent value)

/// Whether the exact product of two finite operands is an infinity to these units.
MMAU_FN bool product_overflows(const Plan& plan, const Decoded& x, const Decoded& y) {
    const uint64_t sig = x.sig * y.sig;
    return sig && bit_length(sig) + x.exp + y.exp - product_frac(plan) > product_overflow_exp;
}

template <class Operands>
MMAU_FN Special rounded_sum_special(const Operands& operands, const Decoded& c) {
    Special special;
    special.add_term(c);
    for (int k = 0; k < operands.plan().L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        special.add_product(x, y);
        if (product_overflows(operands.plan(), x, y)) special.infinite[x.sign ^ y.sign] = true;
    }
    return special;
}

/// Σ RZ_F(product at the largest exponent) over every `stride`-th product from `first` on: in units of 2^(exp − F). To an
/// observer sum `first` of the step; records of its terms follow those of the products of a smaller `first`.
template <class Int, class Operands, class Observer>
MMAU_FN Term<Int> truncated_sum(const Operands& operands, int first, int stride, Observer& see) {
    const Plan& plan = operands.plan();
    const auto product = [&](int k) {
        return multiply(operands.a(k), operands.b(k), product_frac(plan), no_product_exp);
    };
    int e_dot = no_product_exp;
    for (int k = first; k < plan.L; k += stride) e_dot = larger(e_dot, product(k).exp);
    Int total(0);
    for (int k = first; k < plan.L; k += stride) total += align<Int>(product(k), e_dot, plan.F, Mode::RZ);
    const auto own = [&](int k) { return product(first + k * stride); };
    const auto aligned = [&](int k) { return align<Int>(own(k), e_dot, plan.F, Mode::RZ); };
    see.sum(first, first ? ceil_div(plan.L, stride) : 0, ceil_div(plan.L - first, stride), e_dot, total, e_dot - plan.F, own,
            [&](int) { return plan.F; }, aligned);
    return {total, e_dot, plan.F};
}

/// T: for GTR-FDPA the sums of the even and of the odd products, truncated again at the larger of their exponents.
template <class Int, class Operands, class Observer>
MMAU_FN Term<Int> dot_sum(const Operands& operands, Observer& see) {
    const Plan& plan = operands.plan();
    if (plan.operation == MMAU_TR_FDPA || plan.L == 1) return truncated_sum<Int>(operands, 0, 1, see);
    const Term<Int> even = truncated_sum<Int>(operands, 0, 2, see), odd = truncated_sum<Int>(operands, 1, 2, see);
    const int e_dot = larger(even.exp, odd.exp);
    Int total = align<Int>(even, e_dot, plan.F, plan.truncation);
    total += align<Int>(odd, e_dot, plan.F, plan.truncation);
    const auto group = [&](int k) { return k ? odd : even; };
    const auto aligned = [&](int k) { return align<Int>(group(k), e_dot, plan.F, plan.truncation); };
    see.sum(2, plan.L, 2, e_dot, total, e_dot - plan.F, group, [&](int) { return plan.F; }, aligned);
    return {total, e_dot, plan.F};
}

/// Steps 3 to 5: T and c at the larger of their exponents, truncated, added, normalised, truncated to F2 bits, converted.
template <class Int, class Observer>
MMAU_FN uint64_t round_with_c(const Plan& plan, const Term<Int>& dot, const Decoded& c, Observer& see) {
    // 3. the exponent of the sum with c, whose zero counts as e_min
    const int e_out = larger(dot.exp, c.exp);
    // 4. T and c at e_out, added in units of 2^(e_out − lsb_frac)
    const int lsb_frac = larger(plan.F2 + 1, plan.F);
    const bool drops_c = plan.operation == MMAU_GTR_FDPA && c.exp < e_out - plan.F - 1;
    const Term<int64_t> c_term{drops_c ? 0 : signed_sig(c), c.exp, plan.c.man_bits};
    const Int aligned_dot = shifted_left(align<Int>(dot, e_out, plan.F2 + 1, plan.truncation), lsb_frac - plan.F2 - 1);
    const Int aligned_c = shifted_left(align<Int>(c_term, e_out, plan.F, plan.truncation), lsb_frac - plan.F);
    Int total = aligned_dot;
    total += aligned_c;
    // 5. normalise, truncate to F2 fractional bits there, convert
    const int lsb = e_out - lsb_frac;
    const int e_norm = larger(bit_length(magnitude(total)) - 1 + lsb, plan.c.e_min());
    const Int kept = truncated(total, e_norm - plan.F2 - lsb, plan.truncation);
    const bool has_groups = plan.operation == MMAU_GTR_FDPA && plan.L > 1;
    see.sum(has_groups ? 3 : 1, plan.L + (has_groups ? 2 : 0), 2, e_out, total, lsb,
            [&](int k) { return k ? Term<Int>{Int(signed_sig(c)), c.exp, plan.c.man_bits} : dot; },
            [&](int k) { return k ? plan.F : plan.F2 + 1; }, [&](int k) { return k ? aligned_c : aligned_dot; });
    see.rounding(0, total, lsb, e_norm - plan.F2, low_word(magnitude(kept)));
    // RZ took all of a negative sum: it keeps its sign, as any tiny result does.
    if (is_negative(total) && bit_length(magnitude(kept)) == 0) return plan.d.sign_bit();
    return convert(plan, kept, e_norm - plan.F2, see, 1);
}

template <class Int, class Operands, class Observer>
MMAU_FN uint64_t tr_fdpa_step(const Operands& operands, const Format& c_format, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded c = decode(c_format, c_code, plan.flush_inputs);
    const Special special = rounded_sum_special(operands, c);
    if (special.any()) return special.encode(plan.d, plan.d.quiet_nan());
    return round_with_c(plan, dot_sum<Int>(operands, see), c, see);
}

MMAU_NAMESPACE_END
