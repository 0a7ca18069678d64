// IDPA: the exact dot product and add of integers (golden/operations/idpa.py; numerics.md, section 5).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// A code of at most 8 bits as a number.
MMAU_FN int32_t integer_of(const Format& format, uint8_t code) {
    const auto sign = static_cast<int32_t>(format.sign_bit());
    return (code ^ sign) - sign;
}

/// The term of product k of a step: the product, or of two bits whether they differ.
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
        return Term<int64_t>{combined(operands, k), 0, 0};
    };
    see.exact_sum(0, 0, plan.L + 1, total, 0, term);
}

#endif

template <class Operands, class Observer>
MMAU_FN uint64_t idpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    constexpr int64_t largest = 0x7FFFFFFF, smallest = -largest - 1;
    const int64_t c = static_cast<int32_t>(static_cast<uint32_t>(c_code));
    int64_t total = c;
    for (int k = 0; k < plan.L; ++k) total += combined(operands, k);
    observe_integers(see, operands, c, total);
    if (plan.overflow == MMAU_SATURATE) total = total > largest ? largest : total < smallest ? smallest : total;
    return static_cast<uint32_t>(total);
}

MMAU_NAMESPACE_END
