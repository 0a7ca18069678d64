// FMA: IEEE 754 fused multiply-add; MUL and ADD, its parts (golden/operations/fma.py; paper 000, algorithm 3); and CVT (cvt.py).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

MMAU_FN float fused_multiply_add(float x, float y, float z) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(x, y, z);
#elif defined(__HIP__)
    return __builtin_fmaf(x, y, z);
#else
    return std::fma(x, y, z);
#endif
}

MMAU_FN double fused_multiply_add(double x, double y, double z) {
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#elif defined(__HIP__)
    return __builtin_fma(x, y, z);
#else
    return std::fma(x, y, z);
#endif
}

/// The code of a float or double; `nan_code` where it is a NaN.
template <class Code, class Float>
MMAU_LANE_FN Code code_of(Float value, Code nan_code) {
    return value == value ? bits_as<Code>(value) : nan_code;
}

template <class Code, class Float>
MMAU_FN Code fma_chain(const Code* a, const Code* b, Code c, int K, const Format& format) {
    Float d = bits_as<Float>(c);
    for (int k = 0; k < K; ++k) d = fused_multiply_add(bits_as<Float>(a[k]), bits_as<Float>(b[k]), d);
    return code_of<Code>(d, static_cast<Code>(format.quiet_nan()));
}

/// The exact product of two significands of at most 53 bits.
MMAU_FN Widest sig_product(uint64_t x, uint64_t y) {
    constexpr int half = 27;
    constexpr uint64_t low = (uint64_t{1} << half) - 1;
    const auto wide = [](uint64_t partial) { return Widest(static_cast<int64_t>(partial)); };
    Widest product = shifted_left(wide((x >> half) * (y >> half)), 2 * half);
    product += shifted_left(wide((x >> half) * (y & low)), half);
    product += shifted_left(wide((x & low) * (y >> half)), half);
    product += wide((x & low) * (y & low));
    return product;
}

/// The exponent of a term's leading one; that of a zero lies below all others.
MMAU_FN int leading_exp(const Term<Widest>& term) {
    const int bits = bit_length(magnitude(term.sig));
    return bits ? bits - 1 + term.exp - term.frac : -(1 << 20);
}

/// How far below the larger term's leading one the terms are added, rounded to odd there: so far below the last place that ρ
/// keeps that of what goes only being inexact is left to see (bits).
constexpr int fma_window = 300;

/// Which NaN is written: the quiet one; or the first of the operands', made quiet, and without one the negative quiet one. The
/// first is looked for from a on, or from b on, where a is the last.
template <int count>
MMAU_FN uint64_t written_nan(const Plan& plan, const uint64_t (&operands)[count]) {
    const Format& d = plan.d;
    if (plan.nan == MMAU_QUIET_NAN) return d.quiet_nan();
    for (int k = 0; k < count; ++k) {
        const uint64_t code = operands[(k + (plan.nan == MMAU_BCA_NAN)) % count];
        if ((code & ~d.sign_bit()) > d.infinity()) return code | (uint64_t{1} << (d.man_bits - 1));
    }
    return d.sign_bit() | d.quiet_nan();
}

/// A term and its sign, which a zero has too.
struct SignedTerm {
    Term<Widest> term;
    int sign;
};

MMAU_FN SignedTerm signed_product(const Plan& plan, const Decoded& x, const Decoded& y) {
    const int sign = x.sign ^ y.sign;
    const Widest sig = sig_product(x.sig, y.sig);
    return {{sign ? -sig : sig, x.exp + y.exp, product_frac(plan)}, sign};
}

MMAU_FN SignedTerm signed_addend(const Decoded& z, const Format& format) {
    return {{Widest(signed_sig(z)), z.exp, format.man_bits}, z.sign};
}

/// ρ of the exact sum of one or two terms; the sign of an exact zero is that of IEEE 754, section 6.3.
template <int count, class Observer>
MMAU_FN uint64_t rounded_terms(const Plan& plan, const SignedTerm (&terms)[count], Observer& see) {
    int leading = leading_exp(terms[0].term), negative = terms[0].sign;
    for (int k = 1; k < count; ++k) leading = larger(leading, leading_exp(terms[k].term));
    const int lsb = leading - fma_window;
    Widest total = align<Widest>(terms[0].term, lsb, 0, Mode::RO);
    for (int k = 1; k < count; ++k) {
        total += align<Widest>(terms[k].term, lsb, 0, Mode::RO);
        negative = plan.rho.mode == Mode::RD ? negative | terms[k].sign : negative & terms[k].sign;
    }
    const auto term = [&](int k) { return terms[k].term; };
    see.exact_sum(0, 0, count, total, lsb, term, [&](int k) { return align<Widest>(term(k), lsb, 0, Mode::RO); });
    if (bit_length(magnitude(total))) return convert(plan, total, lsb, see);
    return negative ? plan.d.negative_zero() : 0;
}

/// One step in any format and rounding mode.
template <class Operands, class Observer>
MMAU_FN uint64_t fma_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded z = decode(plan.c, c_code, plan.flush_inputs);
    const Special special = sum_special(operands, z);
    if (special.any()) {
        return special.encode(plan.d, written_nan(plan, {operands.a_code(0), operands.b_code(0), c_code}));
    }
    return rounded_terms(plan, {signed_product(plan, operands.a(0), operands.b(0)), signed_addend(z, plan.c)}, see);
}

/// a·b.
template <class Operands, class Observer>
MMAU_FN uint64_t mul_step(const Operands& operands, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded x = operands.a(0), y = operands.b(0);
    Special special;
    special.add_product(x, y);
    if (special.any()) return special.encode(plan.d, written_nan(plan, {operands.a_code(0), operands.b_code(0)}));
    return rounded_terms(plan, {signed_product(plan, x, y)}, see);
}

/// a + b.
template <class Operands, class Observer>
MMAU_FN uint64_t add_step(const Operands& operands, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded x = operands.a(0), y = operands.b(0);
    Special special;
    special.add_term(x);
    special.add_term(y);
    if (special.any()) return special.encode(plan.d, written_nan(plan, {operands.a_code(0), operands.b_code(0)}));
    return rounded_terms(plan, {signed_addend(x, plan.a), signed_addend(y, plan.b)}, see);
}

/// The NaN of a conversion: the quiet one, or a's, made quiet, with its sign and the high bits of its fraction.
MMAU_FN uint64_t converted_nan(const Plan& plan, uint64_t a) {
    const Format &from = plan.a, &to = plan.rho.rounding_format;
    if (plan.nan == MMAU_QUIET_NAN) return plan.d.quiet_nan();
    const uint64_t fraction = a >> from.pad_bits & ((uint64_t{1} << from.man_bits) - 1);
    const int longer = to.man_bits - from.man_bits;
    const uint64_t kept = longer < 0 ? fraction >> -longer : fraction << longer;
    return (a & from.sign_bit() ? to.sign_bit() : 0) | to.quiet_nan() | kept << to.pad_bits;
}

/// a in another format.
template <class Operands, class Observer>
MMAU_FN uint64_t cvt_step(const Operands& operands, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded x = operands.a(0);
    Special special;
    special.add_term(x);
    if (special.any()) return special.encode(plan.d, special.nan ? converted_nan(plan, operands.a_code(0)) : plan.d.quiet_nan());
    return rounded_terms(plan, {signed_addend(x, plan.a)}, see);
}

MMAU_APART_FN uint64_t fma_steps(const Plan& plan, const Row& row, uint64_t c) {
    uint64_t d = c;
    NoObserver nobody;
    for (int k = 0; k < plan.K; ++k) d = fma_step(RowOperands{{plan}, row, k}, d, nobody);
    return d;
}

/// All K steps: the machine's own fused multiply-add is IEEE 754's to nearest even. Where a NaN of the operands is kept, a chain
/// that ends in one is computed again, step by step.
MMAU_FN uint64_t fma_dot(const Plan& plan, const Row& row, uint64_t c) {
    if (!plan.machine_fma) return fma_steps(plan, row, c);
    const uint64_t d =
        plan.a.storage_bits == 32
            ? fma_chain<uint32_t, float>(static_cast<const uint32_t*>(row.a), static_cast<const uint32_t*>(row.b),
                                         static_cast<uint32_t>(c), plan.K, plan.d)
            : fma_chain<uint64_t, double>(static_cast<const uint64_t*>(row.a), static_cast<const uint64_t*>(row.b), c, plan.K, plan.d);
    return plan.nan != MMAU_QUIET_NAN && d == plan.d.quiet_nan() ? fma_steps(plan, row, c) : d;
}

MMAU_NAMESPACE_END
