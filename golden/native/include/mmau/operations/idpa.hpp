// IDPA: the exact dot product and add of integers (golden/operations/idpa.py; numerics.md, section 5).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// A code of at most 8 bits as a number.
MMAU_FN int32_t integer_of(const Format& format, uint8_t code) {
    const auto sign = static_cast<int32_t>(format.sign_bit());
    return (code ^ sign) - sign;
}

/// A code of any width as a number.
MMAU_FN int64_t wide_integer_of(const Format& format, uint64_t code) {
    const auto sign = static_cast<int64_t>(format.sign_bit());
    return (static_cast<int64_t>(code) ^ sign) - sign;
}

/// Whether factors are bytes; their products are then added faster.
MMAU_FN constexpr bool multiplies_bytes(const Plan& plan) { return plan.a.storage_bits == 8 && plan.b.storage_bits == 8; }

/// The term of product k of a step, of any integers.
template <class Operands>
MMAU_FN int64_t wide_product(const Operands& operands, int k) {
    const Plan& plan = operands.plan();
    return wide_integer_of(plan.a, operands.a_code(k)) * wide_integer_of(plan.b, operands.b_code(k));
}

/// The term of product k of a step, of bytes: the product, or of two bits whether they differ.
template <class Operands>
MMAU_FN int32_t combined(const Operands& operands, int k) {
    const Plan& plan = operands.plan();
    const int at = operands.index(k);
    const int32_t x = integer_of(plan.a, operands.template a_as<uint8_t>(at)), y = integer_of(plan.b, operands.template b_as<uint8_t>(at));
    return plan.is_xor ? x ^ y : x * y;
}

template <class Operands>
MMAU_FN void observe_integers(NoObserver&, const Operands&, int64_t, int64_t) {}

#ifndef MMAU_ON_GPU

/// The exact sum of the products and c.
template <class Operands>
inline void observe_integers(Recorder& see, const Operands& operands, int64_t c, int64_t total) {
    const Plan& plan = operands.plan();
    const auto term = [&](int k) {
        if (k == plan.L) return Term<int64_t>{c, 0, 0};
        return Term<int64_t>{multiplies_bytes(plan) ? combined(operands, k) : wide_product(operands, k), 0, 0};
    };
    see.exact_sum(0, 0, plan.L + 1, total, 0, term);
}

#endif

/// The step of integers of any width.
template <class Operands, class Observer>
MMAU_APART_FN uint64_t wide_idpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const int64_t largest = static_cast<int64_t>(plan.c.sign_bit()) - 1, smallest = -largest - 1;
    const int64_t c = wide_integer_of(plan.c, c_code);
    int64_t total = c;
    for (int k = 0; k < plan.L; ++k) total += plan.is_xor ? combined(operands, k) : wide_product(operands, k);
    observe_integers(see, operands, c, total);
    if (plan.overflow == MMAU_SATURATE) total = total > largest ? largest : total < smallest ? smallest : total;
    return static_cast<uint64_t>(total) & ((plan.c.sign_bit() << 1) - 1);
}

template <class Operands, class Observer>
MMAU_FN uint64_t idpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    if (!plan.is_usual) return wide_idpa_step(operands, c_code, see);
    constexpr int64_t largest = 0x7FFFFFFF, smallest = -largest - 1;
    const int64_t c = static_cast<int32_t>(static_cast<uint32_t>(c_code));
    int64_t total = c;
    for (int k = 0; k < plan.L; ++k) total += combined(operands, k);
    observe_integers(see, operands, c, total);
    if (plan.overflow == MMAU_SATURATE) total = total > largest ? largest : total < smallest ? smallest : total;
    return static_cast<uint32_t>(total);
}

MMAU_NAMESPACE_END
