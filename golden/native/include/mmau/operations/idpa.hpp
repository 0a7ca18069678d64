// IDPA: the exact dot product and add of integers (golden/operations/idpa.py; numerics.md, section 11).
#pragma once

#include "../steps.hpp"

MMAU_NAMESPACE_BEGIN

/// An element of 8 bits as a number.
MMAU_FN int32_t integer_at(const Format& format, const void* codes, int k) {
    return format.is_signed ? static_cast<const int8_t*>(codes)[k] : static_cast<const uint8_t*>(codes)[k];
}

MMAU_FN void observe_integers(NoObserver&, const Operands&, int64_t, int64_t) {}

#ifndef __CUDACC_RTC__

/// The exact sum of the products and c.
inline void observe_integers(Recorder& see, const Operands& operands, int64_t c, int64_t total) {
    const Plan& plan = operands.plan;
    const auto term = [&](int k) {
        const int at = operands.first + k;
        if (k == plan.L) return Term<int64_t>{c, 0, 0};
        return Term<int64_t>{integer_at(plan.a, operands.row.a, at) * integer_at(plan.b, operands.row.b, at), 0, 0};
    };
    see.exact_sum(0, 0, plan.L + 1, total, 0, term);
}

#endif

template <class Observer>
MMAU_FN uint64_t idpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan;
    constexpr int64_t largest = 0x7FFFFFFF, smallest = -largest - 1;
    const int64_t c = static_cast<int32_t>(static_cast<uint32_t>(c_code));
    int64_t total = c;
    for (int k = operands.first; k < operands.first + plan.L; ++k) {
        total += integer_at(plan.a, operands.row.a, k) * integer_at(plan.b, operands.row.b, k);
    }
    observe_integers(see, operands, c, total);
    if (plan.overflow == MMAU_SATURATE) total = total > largest ? largest : total < smallest ? smallest : total;
    return static_cast<uint32_t>(total);
}

MMAU_NAMESPACE_END
