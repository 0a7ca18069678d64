// FTZ-FMA and FTZ-EO-FMA: chains of fused multiply-adds in fp32 that flush subnormals and keep the first NaN
// (golden/operations/flushed_fma.py; numerics.md, section 11).
#pragma once

#include "ftz_addmul.hpp"

MMAU_NAMESPACE_BEGIN

constexpr uint32_t fp32_magnitude = 0x7FFFFFFFu, fp32_infinity = 0x7F800000u, fp32_smallest_normal = 0x00800000u;

/// An fp16 or bf16 code as fp32, exact: a subnormal of fp16 becomes a normal number, a NaN keeps its payload.
MMAU_FN uint32_t widened_code(const Format& format, uint32_t code) {
    if (format.exp_bits == 8) return code << 16;
    const uint32_t sign = (code & 0x8000u) << 16, field = code & 0x7FFFu;
    if (field >= 0x7C00u) return sign | fp32_infinity | (field & 0x03FFu) << 13;
    if (field >= 0x0400u) return sign | ((field << 13) + (112u << 23));  // the difference of the biases
    return sign | bits_as<uint32_t>(static_cast<float>(field) * 0x1p-24f);
}

MMAU_FN bool is_fp32_nan(uint32_t code) { return (code & fp32_magnitude) > fp32_infinity; }

/// The first NaN of three, made quiet; without one that of an invalid operation.
MMAU_FN uint32_t first_nan(uint32_t x, uint32_t y, uint32_t z) {
    constexpr uint32_t quiet = 0x00400000u, invalid = 0xFFC00000u;
    return is_fp32_nan(x) ? x | quiet : is_fp32_nan(y) ? y | quiet : is_fp32_nan(z) ? z | quiet : invalid;
}

/// A subnormal as a zero of its sign.
MMAU_FN float flushed_operand(uint32_t code) { return flushed(bits_as<float>(code)); }

/// x·y + z, RNE to 24 bits as if exponents had no lower end, then flushed.
///
/// The machine's sum is rounded to a multiple of 2^−149. Below 2^−126 it comes of a sum that is flushed either way, and above
/// it has 24 bits; 2^−126 itself may come of a sum that lies too far below. That sum is told from the others 2^64 higher up,
/// where no subnormal is near: its terms are small, for they cancel.
MMAU_FN uint32_t flushed_fma(uint32_t x_code, uint32_t y_code, uint32_t z_code) {
    const float x = flushed_operand(x_code), y = flushed_operand(y_code), z = flushed_operand(z_code);
    const uint32_t sum = bits_as<uint32_t>(fused_multiply_add(x, y, z)), magnitude = sum & fp32_magnitude;
    if (magnitude > fp32_infinity) return first_nan(x_code, y_code, z_code);
    if (magnitude > fp32_smallest_normal) return sum;
    if (magnitude < fp32_smallest_normal) return sum & ~fp32_magnitude;
    const bool x_is_smaller = (x_code & fp32_magnitude) < (y_code & fp32_magnitude);
    const float small = x_is_smaller ? x : y, large = x_is_smaller ? y : x;
    const float sum_above = fused_multiply_add(rounded_product(small, 0x1p64f), large, rounded_product(z, 0x1p64f));
    const uint32_t lifted = bits_as<uint32_t>(sum_above);
    return (lifted & fp32_magnitude) < bits_as<uint32_t>(0x1p-62f) ? sum & ~fp32_magnitude : sum;
}

/// x + y, flushed: what is below 2^−126 is exact there.
MMAU_FN uint32_t flushed_addition(uint32_t x_code, uint32_t y_code) {
    const float sum = rounded_sum(flushed_operand(x_code), flushed_operand(y_code));
    return sum == sum ? bits_as<uint32_t>(flushed(sum)) : first_nan(x_code, y_code, y_code);
}

/// Operation `number` of a step, in the order in which they are carried out, is its sum and its rounding `number`.
MMAU_FN void observe_flushed_fma(NoObserver&, int, uint32_t, uint32_t, uint32_t) {}
MMAU_FN void observe_flushed_addition(NoObserver&, int, uint32_t, uint32_t) {}

#ifndef MMAU_ON_GPU

/// An operand as the operations see it: a subnormal is a zero.
inline Decoded flushed_number(uint32_t code) { return decode(format_of(MMAU_FP32), code, true); }

inline Term<Widest> flushed_term(const Decoded& x) { return {Widest(signed_sig(x)), x.exp, format_of(MMAU_FP32).man_bits}; }

inline void observe_flushed_sum(Recorder& see, int number, const Term<Widest>& first, const Term<Widest>& second) {
    const Format fp32 = format_of(MMAU_FP32);
    const int lsb = 2 * (fp32.e_min() - fp32.man_bits);
    Widest total = shifted_left(first.sig, first.exp - first.frac - lsb);
    total += shifted_left(second.sig, second.exp - second.frac - lsb);
    see.exact_sum(number, 2 * number, 2, total, lsb, [&](int k) { return k ? second : first; });
    encode_scaled(fp32, Mode::RNE, total, lsb, MMAU_INFINITY, true, see, number);
}

inline void observe_flushed_fma(Recorder& see, int number, uint32_t x_code, uint32_t y_code, uint32_t z_code) {
    const Decoded x = flushed_number(x_code), y = flushed_number(y_code), z = flushed_number(z_code);
    if (x.cls >= Cls::infinity || y.cls >= Cls::infinity || z.cls >= Cls::infinity) return;
    const Widest sig = sig_product(x.sig, y.sig);
    const Term<Widest> product{x.sign != y.sign ? -sig : sig, x.exp + y.exp, 2 * format_of(MMAU_FP32).man_bits};
    observe_flushed_sum(see, number, product, flushed_term(z));
}

inline void observe_flushed_addition(Recorder& see, int number, uint32_t x_code, uint32_t y_code) {
    const Decoded x = flushed_number(x_code), y = flushed_number(y_code);
    if (x.cls < Cls::infinity && y.cls < Cls::infinity) observe_flushed_sum(see, number, flushed_term(x), flushed_term(y));
}

#endif

/// Product k of a step added to z, its operation `number`.
template <class Operands, class Observer>
MMAU_FN uint32_t flushed_fma_of(const Operands& operands, int k, uint32_t z, int number, Observer& see) {
    const Plan& plan = operands.plan();
    const int at = operands.index(k);
    const uint32_t x = widened_code(plan.a, operands.template a_as<uint16_t>(at));
    const uint32_t y = widened_code(plan.b, operands.template b_as<uint16_t>(at));
    observe_flushed_fma(see, number, x, y, z);
    return flushed_fma(x, y, z);
}

/// From c, the last product of the step first.
template <class Operands, class Observer>
MMAU_FN uint64_t ftz_fma_step(const Operands& operands, uint64_t c, Observer& see) {
    const int L = operands.plan().L;
    auto d = static_cast<uint32_t>(c);
    for (int n = 0; n < L; ++n) d = flushed_fma_of(operands, L - 1 - n, d, n, see);
    return d;
}

/// A chain over the even elements and one over the odd ones, each from +0; c + (even + odd).
template <class Operands, class Observer>
MMAU_FN uint64_t ftz_eo_fma_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const int L = operands.plan().L;
    const auto c = static_cast<uint32_t>(c_code);
    uint32_t chains[2] = {0, 0};
    for (int k = 0; k < L; ++k) chains[k % 2] = flushed_fma_of(operands, k, chains[k % 2], k, see);
    observe_flushed_addition(see, L, chains[0], chains[1]);
    const uint32_t both = flushed_addition(chains[0], chains[1]);
    observe_flushed_addition(see, L + 1, c, both);
    return flushed_addition(c, both);
}

MMAU_NAMESPACE_END
