// T-, TR- and GTR-FDPA over a panel where rounding is simple: fp32 accumulators, and sums of which no bit lies below 2^−126.
//
// A sum is an integer below 2^52, so double holds it, and its last bits go before it is converted to fp32. What the conversion
// gives times the power of two that a last bit is worth is exact then, or an infinity where the result overflows. A block with a
// lane that is not so simple, or with an accumulator that is not finite, is left to panel_steps.hpp.
#pragma once

#include "panel_products.hpp"
#include "t_fdpa_lanes.hpp"
#include "tr_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

constexpr uint32_t float_magnitude = 0x7FFFFFFFu, float_infinity = 0x7F800000u;

/// The exponent of an fp32 code without its sign; e_min of a zero.
MMAU_LANE_FN int32_t float_exp(uint32_t magnitude) { return larger(static_cast<int32_t>(magnitude >> 23), 1) - 127; }

/// What a block must have for a quick step: the smallest exponent that its sums are at, and no accumulator beyond the finite ones.
struct Simplicity {
    Lanes<int32_t> exp;
    Lanes<uint32_t> magnitude;

    bool holds(int32_t lowest) const {
        int32_t smallest = exp[0];
        uint32_t largest = magnitude[0];
        for (int r = 0; r < lanes; ++r) smallest = smaller(smallest, exp[r]), largest = larger(largest, magnitude[r]);
        return smallest >= lowest && largest < float_infinity;
    }
};

/// Whether c, d and what ρ rounds to are fp32, or E8M13, and `mode` is its mode.
inline bool rounds_to_floats(const Plan& plan, Mode mode) {
    const bool are_floats = plan.c.storage_bits == 32 && plan.d.storage_bits == 32;
    return are_floats && plan.rho.mode == mode;
}

/// The double without its `count` last significand bits: truncated toward zero.
MMAU_LANE_FN double without_low_bits(double value, int count) {
    return bits_as<double>(bits_as<uint64_t>(value) & ~uint64_t{0} << count);
}

/// The largest integer up to a value of magnitude below 2^51; +0 of a zero.
MMAU_LANE_FN double floor_of(double value) {
    constexpr double shifter = 3.0 * (int64_t{1} << 51);
    const double nearest = (value + shifter) - shifter;
    return nearest - (nearest > value ? 1.0 : 0.0);
}

/// Whether `t_fdpa_quick` can take a plan: c is aligned in 32 bits, and only where all terms are zero e_max is e_zero.
inline bool t_fdpa_is_quick(const Plan& plan) {
    const bool to_nearest = rounds_to_floats(plan, Mode::RNE) && plan.rho.rounding_format.man_bits == 23;
    return (to_nearest || rounds_to_floats(plan, Mode::RZ)) && plan.F <= narrow_fraction && plan.e_zero < plan.c.e_min();
}

/// One step of t_fdpa_panel; false, and nothing done, where a lane is not simple.
template <bool truncates>
inline bool t_fdpa_quick(Block& block, int k, const RowElements& a, const Panel& b) {
    const Plan& plan = block.plan;
    const int32_t F = plan.F, e_zero = plan.e_zero;
    Lanes<int32_t> e_max;
    find_largest(a.exp + k, b.exp + k, plan.L, 1, e_max);
    Lanes<float> unit, unit_value;
    Simplicity found;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t magnitude = block.d[r] & float_magnitude;
        const int32_t c_exp = magnitude ? float_exp(magnitude) : e_zero;
        const int32_t exp = larger(larger(e_max[r], e_zero), c_exp);
        const int32_t e = exp == e_zero ? 0 : exp;  // all terms are zero: any exponent will do
        found.exp[r] = e, found.magnitude[r] = magnitude;
        unit[r] = power_of_two(float{}, F - e);
        unit_value[r] = power_of_two(float{}, e - F);
    }
    if (!found.holds(F - 126)) return false;
    Lanes<double> total;
    for (int r = 0; r < lanes; ++r) total[r] = static_cast<int32_t>(bits_as<float>(block.d[r]) * unit[r]);
    const int together = 1 << products_together_log2(plan);
    for (int group = 0; group < plan.L; group += together) {
        Lanes<int32_t> sum;
        sum_cut_products(a.value + k + group, b.value + k + group, smaller(plan.L - group, together), 1, unit, sum);
        for (int r = 0; r < lanes; ++r) total[r] += sum[r];
    }
    const int dropped = 52 - plan.rho.rounding_format.man_bits;
    for (int r = 0; r < lanes; ++r) {
        const double kept = truncates ? without_low_bits(total[r], dropped) : total[r];
        block.d[r] = bits_as<uint32_t>(static_cast<float>(kept) * unit_value[r]);
    }
    return true;
}

/// Whether `round_quickly` can take a plan: T fits 32 bits.
inline bool tr_fdpa_is_quick(const Plan& plan) {
    return rounds_to_floats(plan, Mode::RNE) && plan.F + 2 + ceil_log2(plan.L) <= 31;
}

/// Steps 3 to 5 of tr_fdpa_panel, from T on; false, and nothing done, where a lane is not simple.
inline bool round_quickly(Block& block, const TruncatedSum& dot) {
    const Plan& plan = block.plan;
    const int32_t lsb_frac = larger(plan.F2 + 1, plan.F), F = plan.F, dot_up = plan.F2 + 1 - plan.F;
    const double dot_unit = power_of_two(double{}, lsb_frac - plan.F2 - 1), c_unit = power_of_two(double{}, lsb_frac - F);
    const int32_t c_reach = plan.operation == MMAU_GTR_FDPA ? F + 1 : 1 << 30;  // a c further below e_out counts as 0
    const int dropped = 52 - plan.F2;
    Lanes<uint32_t> c_code;
    Simplicity found;
    Lanes<int32_t>& e_out = found.exp;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t code = block.d[r], magnitude = code & float_magnitude;
        const int32_t dot_exp = dot.exp[r], c_exp = float_exp(magnitude), exp = larger(dot_exp, c_exp);
        const int32_t c_exp_or_none = magnitude ? c_exp : no_product_exp;
        e_out[r] = larger(dot_exp, c_exp_or_none) == no_product_exp ? 0 : exp;  // all terms are zero: any exponent will do
        c_code[r] = exp - c_exp > c_reach ? 0 : code;
        found.magnitude[r] = magnitude;
    }
    if (!found.holds(lsb_frac - 126)) return false;
    for (int r = 0; r < lanes; ++r) {
        const int32_t down = smaller(e_out[r] - dot.exp[r], 1000);
        const double dot_total = static_cast<double>(static_cast<int32_t>(dot.total[r]));
        const double dot_aligned = floor_of(dot_total * power_of_two(double{}, dot_up - down));
        const double c_value = bits_as<float>(c_code[r]);
        const double c_aligned = floor_of(c_value * power_of_two(double{}, F - e_out[r]));
        const double total = dot_aligned * dot_unit + c_aligned * c_unit;
        // RD to F2 bits below the first: what is dropped of a negative total makes its magnitude larger.
        const uint64_t code = bits_as<uint64_t>(total), low_bits = (uint64_t{1} << dropped) - 1;
        const uint64_t away = (code >> 63) * low_bits;
        const double kept = without_low_bits(bits_as<double>(code + away), dropped);
        block.d[r] = bits_as<uint32_t>(static_cast<float>(kept) * power_of_two(float{}, e_out[r] - lsb_frac));
    }
    return true;
}

MMAU_NAMESPACE_END
