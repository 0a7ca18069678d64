// FMA: IEEE 754 fused multiply-add (golden/operations/fma.py; paper 000, algorithm 3).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

MMAU_FN float fused_multiply_add(float x, float y, float z) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(x, y, z);
#else
    return std::fma(x, y, z);
#endif
}

MMAU_FN double fused_multiply_add(double x, double y, double z) {
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
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

/// Whether an exact sum of zero is −0 (IEEE 754, section 6.3).
MMAU_FN bool is_zero_negative(int x_sign, int y_sign, Mode mode) {
    return mode == Mode::RD ? x_sign || y_sign : x_sign && y_sign;
}

/// Which NaN is written: the quiet one; or the first of the operands', made quiet, and without one the negative quiet one.
MMAU_FN uint64_t written_nan(const Plan& plan, uint64_t a, uint64_t b, uint64_t c) {
    const Format& d = plan.d;
    if (!plan.first_nan) return d.quiet_nan();
    const uint64_t codes[] = {a, b, c};
    for (const uint64_t code : codes) {
        if ((code & ~d.sign_bit()) > d.infinity()) return code | (uint64_t{1} << (d.man_bits - 1));
    }
    return d.sign_bit() | d.quiet_nan();
}

/// One step in any format and rounding mode.
template <class Observer>
MMAU_FN uint64_t fma_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan;
    const Decoded x = operands.a(0), y = operands.b(0), z = decode(plan.c, c_code, plan.flush_inputs);
    const Special special = sum_special(operands, z);
    if (special.any()) {
        const uint64_t a = load(plan.a, operands.row.a, operands.first), b = load(plan.b, operands.row.b, operands.first);
        return special.encode(plan.d, written_nan(plan, a, b, c_code));
    }
    const int sign = x.sign ^ y.sign;
    const Widest sig = sig_product(x.sig, y.sig);
    const Term<Widest> product{sign ? -sig : sig, x.exp + y.exp, product_frac(plan)};
    const Term<Widest> c{Widest(signed_sig(z)), z.exp, plan.c.man_bits};
    const int lsb = larger(leading_exp(product), leading_exp(c)) - fma_window;
    Widest total = align<Widest>(product, lsb, 0, Mode::RO);
    total += align<Widest>(c, lsb, 0, Mode::RO);
    const auto term = [&](int k) { return k ? c : product; };
    see.exact_sum(0, 0, 2, total, lsb, term, [&](int k) { return align<Widest>(term(k), lsb, 0, Mode::RO); });
    if (bit_length(magnitude(total))) return convert(plan, total, lsb, see);
    return is_zero_negative(sign, z.sign, plan.rho.mode) ? plan.d.sign_bit() : 0;
}

MMAU_APART_FN uint64_t fma_steps(const Plan& plan, const Row& row, uint64_t c) {
    uint64_t d = c;
    NoObserver nobody;
    for (int k = 0; k < plan.K; ++k) d = fma_step({plan, row, k}, d, nobody);
    return d;
}

/// All K steps: the machine's own fused multiply-add is IEEE 754's to nearest even.
MMAU_FN uint64_t fma_dot(const Plan& plan, const Row& row, uint64_t c) {
    if (!plan.machine_fma) return fma_steps(plan, row, c);
    if (plan.a.storage_bits == 32) {
        return fma_chain<uint32_t, float>(static_cast<const uint32_t*>(row.a), static_cast<const uint32_t*>(row.b),
                                          static_cast<uint32_t>(c), plan.K, plan.d);
    }
    return fma_chain<uint64_t, double>(static_cast<const uint64_t*>(row.a), static_cast<const uint64_t*>(row.b), c, plan.K,
                                       plan.d);
}

MMAU_NAMESPACE_END
