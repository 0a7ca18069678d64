// IDPA: the exact dot product and add of integers (golden/operations/idpa.py; numerics.md, section 11).
#pragma once

#include "../row.hpp"

MMAU_NAMESPACE_BEGIN

/// An element of 8 bits as a number.
MMAU_FN int32_t integer_at(const Format& format, const void* codes, int k) {
    return format.is_signed ? static_cast<const int8_t*>(codes)[k] : static_cast<const uint8_t*>(codes)[k];
}

MMAU_FN uint64_t idpa_step(const Operands& operands, uint64_t c) {
    const Plan& plan = operands.plan;
    constexpr int64_t largest = 0x7FFFFFFF, smallest = -largest - 1;
    int64_t total = static_cast<int32_t>(static_cast<uint32_t>(c));
    for (int k = operands.first; k < operands.first + plan.L; ++k) {
        total += integer_at(plan.a, operands.row.a, k) * integer_at(plan.b, operands.row.b, k);
    }
    if (plan.overflow == MMAU_SATURATE) total = total > largest ? largest : total < smallest ? smallest : total;
    return static_cast<uint32_t>(total);
}

MMAU_NAMESPACE_END
