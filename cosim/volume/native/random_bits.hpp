// Random bits added below the last place of a result, which are then dropped (docs/numerics.md, section 15).
#pragma once

#include <cstdint>

#include "plan.hpp"

namespace volume {

/// The code of d of a wide code and its random bits; infinities and NaN take none.
inline uint64_t with_random(const mmau::Format& wide, const mmau::Format& d, const RandomBits& random, uint64_t code, uint64_t bits) {
    const int places = wide.man_bits - d.man_bits;
    const bool negative = (code & wide.sign_bit()) != 0;
    const uint64_t magnitude = code & ~wide.sign_bit();
    const bool is_nan = negative && magnitude == 0 && wide.negative_zero() == 0;
    if (is_nan || magnitude > wide.max_field()) return code >> places;
    const uint64_t kept = (magnitude + (random.half ? 2 * bits + 1 : bits)) >> places;
    if (kept > d.max_field()) return d.overflowed(negative, random.saturates);
    return !negative ? kept : kept ? d.sign_bit() | kept : random.negative_zero;
}

}  // namespace volume
