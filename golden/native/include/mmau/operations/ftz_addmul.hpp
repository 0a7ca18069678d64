// FTZ-AddMul: binary multiplications and additions that flush subnormals (golden/operations/ftz_addmul.py; paper 000,
// algorithms 1 and 2).
#pragma once

#include "fma.hpp"

MMAU_NAMESPACE_BEGIN

// Never fused: a product is rounded and flushed before it is added.
MMAU_LANE_FN float rounded_product(float x, float y) {
#ifdef __CUDA_ARCH__
    return __fmul_rn(x, y);
#else
    return x * y;
#endif
}

MMAU_LANE_FN float rounded_sum(float x, float y) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(x, y);
#else
    return x + y;
#endif
}

/// A subnormal result becomes a zero of its sign.
MMAU_LANE_FN float flushed(float x) {
    const uint32_t code = bits_as<uint32_t>(x);
    return bits_as<float>(code & 0x7F800000u ? code : code & 0x80000000u);
}

/// A subnormal input becomes +0; a zero keeps its sign.
MMAU_LANE_FN float flushed_input(float x) {
    const uint32_t code = bits_as<uint32_t>(x);
    return bits_as<float>(code & 0x7F800000u || !(code & 0x7FFFFFFFu) ? code : 0u);
}

/// An fp16 code as fp32, exact; a subnormal becomes +0.
MMAU_LANE_FN float widened_fp16(uint32_t code) {
    constexpr uint32_t rebias = 112u << 23;  // the difference of the biases; twice that takes Inf and NaN to the top exponent
    const uint32_t sign = (code & 0x8000u) << 16, field = code & 0x7FFFu;
    const uint32_t is_normal = field >= 0x0400u, is_zero = field == 0, is_special = field >= 0x7C00u;
    const uint32_t magnitude = (field << 13) + (rebias << is_special);
    return bits_as<float>((sign & (0u - (is_normal | is_zero))) | (magnitude & (0u - is_normal)));
}

/// A bf16 code as fp32, exact; a subnormal becomes +0.
MMAU_LANE_FN float widened_bf16(uint32_t code) { return flushed_input(bits_as<float>(code << 16)); }

MMAU_FN float widened(const Format& format, uint32_t code) {
    return format.exp_bits == 8 ? widened_bf16(code) : widened_fp16(code);
}

/// An addition of two finite numbers is sum `number` of the step and rounding `number` after those of the products.
MMAU_FN void observe_addition(NoObserver&, const Plan&, int, float, float) {}

/// The product k of two finite numbers is its rounding k.
MMAU_FN void observe_product(NoObserver&, int, float, float) {}

#ifndef MMAU_ON_GPU

/// RNE-FP32 as the records see it: a subnormal result is flushed.
inline void observe_flushed(Recorder& see, int number, const Widest& total, int lsb) {
    encode_scaled(format_of(MMAU_FP32), Mode::RNE, total, lsb, MMAU_INFINITY, false, see, number);
    uint16_t& flags = see.roundings[number].flags;
    constexpr int moved = MMAU_ROUNDING_SUBNORMAL | MMAU_ROUNDING_TO_ZERO | MMAU_ROUNDING_FLUSHED;
    if (flags & MMAU_ROUNDING_SUBNORMAL) flags = static_cast<uint16_t>(flags ^ moved);
}

inline void observe_addition(Recorder& see, const Plan& plan, int number, float x, float y) {
    const Format fp32 = format_of(MMAU_FP32);
    const Decoded p = decode(fp32, bits_as<uint32_t>(x)), q = decode(fp32, bits_as<uint32_t>(y));
    if (p.cls >= Cls::infinity || q.cls >= Cls::infinity) return;
    const int lsb = fp32.e_min() - fp32.man_bits;
    const auto term = [&](int k) { return addend(k ? q : p, fp32, fp32.e_min()); };
    Widest total = shifted_left(Widest(signed_sig(p)), p.exp - fp32.e_min());
    total += shifted_left(Widest(signed_sig(q)), q.exp - fp32.e_min());
    see.exact_sum(number, 2 * number, 2, total, lsb, term);
    observe_flushed(see, plan.L + number, total, lsb);
}

inline void observe_product(Recorder& see, int k, float x, float y) {
    const Format fp32 = format_of(MMAU_FP32);
    const Decoded p = decode(fp32, bits_as<uint32_t>(x)), q = decode(fp32, bits_as<uint32_t>(y));
    if (p.cls >= Cls::infinity || q.cls >= Cls::infinity) return;
    observe_flushed(see, k, Widest(signed_sig(p) * signed_sig(q)), p.exp + q.exp - 2 * fp32.man_bits);
}

#endif

/// The number of the addition that ends at product i on a level of the tree of `count` products: level by level.
MMAU_FN constexpr int addition_number(int count, int level, int i) { return count - (count >> level) + (i >> (level + 1)); }

/// The sum of `count` (a power of two) products, added in pairs.
template <class Operands, class Observer>
MMAU_FN float pairwise_sum(const Operands& operands, int k, int count, Observer& see) {
    const Plan& plan = operands.plan();
    // A binary counter of partial sums: sums[i] holds 2^i products while that bit of the count so far is set.
    float sums[11];  // max_length is 2^10
    for (int i = 0; i < count; ++i) {
        const int at = operands.index(k + i);
        const uint32_t x = operands.template a_as<uint16_t>(at), y = operands.template b_as<uint16_t>(at);
        observe_product(see, i, widened(plan.a, x), widened(plan.b, y));
        float sum = flushed(rounded_product(widened(plan.a, x), widened(plan.b, y)));
        int level = 0;
        for (; i >> level & 1; ++level) {
            observe_addition(see, plan, addition_number(count, level, i), sums[level], sum);
            sum = flushed(rounded_sum(sums[level], sum));
        }
        sums[level] = sum;
    }
    return sums[ceil_log2(count)];
}

template <class Operands, class Observer>
MMAU_FN uint64_t ftz_addmul_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const float c = flushed_input(bits_as<float>(static_cast<uint32_t>(c_code)));
    const float products = pairwise_sum(operands, 0, operands.plan().L, see);
    observe_addition(see, operands.plan(), operands.plan().L - 1, c, products);
    const float d = flushed(rounded_sum(c, products));
    return code_of<uint32_t>(d, static_cast<uint32_t>(operands.plan().d.quiet_nan()));
}

MMAU_NAMESPACE_END
