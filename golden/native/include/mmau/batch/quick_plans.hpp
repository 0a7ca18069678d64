// Which T-, TR- and GTR-FDPA over a panel have quick steps (quick_steps.hpp and its AVX-512 counterparts).
#pragma once

#include "t_fdpa_lanes.hpp"
#include "tr_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

constexpr uint32_t float_magnitude = 0x7FFFFFFFu, float_infinity = 0x7F800000u;

/// Whether c, d and what ρ rounds to are fp32, or E8M13, and `mode` is its mode.
inline bool rounds_to_floats(const Plan& plan, Mode mode) {
    const bool are_floats = plan.c.storage_bits == 32 && plan.d.storage_bits == 32;
    return are_floats && plan.rho.mode == mode;
}

/// Whether `t_fdpa_quick` can take a plan: c is aligned in 32 bits, and only where all terms are zero e_max is e_zero.
inline bool t_fdpa_is_quick(const Plan& plan) {
    const bool to_nearest = rounds_to_floats(plan, Mode::RNE) && plan.rho.rounding_format.man_bits == 23;
    return (to_nearest || rounds_to_floats(plan, Mode::RZ)) && plan.F <= narrow_fraction && plan.e_zero < plan.c.e_min();
}

/// Whether `tr_fdpa_quick` can take a plan: T fits 32 bits, and so does what brings it to F2 bits.
inline bool tr_fdpa_is_quick(const Plan& plan) {
    const bool fits = plan.F <= narrow_fraction && plan.F + 2 + ceil_log2(plan.L) <= 31 && plan.F2 + 1 - plan.F <= 30;
    return rounds_to_floats(plan, Mode::RNE) && fits;
}

/// Whether sums of a plan that is quick fit 32 bits: |T| < 2^29 in units of 2^(e_dot − 24), and F2 + 1 is 8 bits more than F.
inline bool sums_are_narrow(const Plan& plan) {
    return plan.operation == MMAU_TR_FDPA && plan.F == 24 && plan.F2 == 31 && plan.L <= 8;
}

MMAU_NAMESPACE_END
