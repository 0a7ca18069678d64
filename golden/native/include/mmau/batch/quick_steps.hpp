// T-, TR- and GTR-FDPA over a panel where rounding is simple: fp32 accumulators, and sums of which no bit lies below 2^−126.
//
// A sum is an integer below 2^52, so double holds it, and its last bits go before it is converted to fp32. What the conversion
// gives times the power of two that a last bit is worth is exact then, or an infinity where the result overflows. A block with a
// lane that is not so simple, or with an accumulator that is not finite, is left to panel_steps.hpp.
#pragma once

#include "panel_products.hpp"
#include "quick_plans.hpp"

#ifdef __AVX512DQ__
#include "quick_t_fdpa_avx512.hpp"
#include "quick_tr_fdpa_avx512.hpp"
#else

#ifdef __AVX2__
#include "quick_tr_fdpa_avx2.hpp"
#endif

MMAU_NAMESPACE_BEGIN

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

/// The double without its `count` last significand bits: truncated toward zero.
MMAU_LANE_FN double without_low_bits(double value, int count) {
    return bits_as<double>(bits_as<uint64_t>(value) & ~uint64_t{0} << count);
}

/// An fp32 code as an integer in units of 2^(exp − 23) of its exponent.
MMAU_LANE_FN int32_t float_sig(uint32_t code) {
    const uint32_t magnitude = code & float_magnitude, hidden = static_cast<uint32_t>(magnitude >= 1u << 23) << 23;
    return with_sign(static_cast<int32_t>((magnitude & ((1u << 23) - 1)) | hidden), static_cast<int32_t>(code) >> 31);
}

/// One step of t_fdpa_panel for a row; false, and nothing done, where a lane is not simple.
template <bool truncates>
inline bool t_fdpa_row(const Plan& plan, Lanes<uint32_t>& d, int k, const RowElements& a, const Panel& b) {
    const int32_t F = plan.F, e_zero = plan.e_zero;
    Lanes<int32_t> e_max;
    find_largest(a.exp + k, b.exp + k, plan.L, 1, e_max);
    Lanes<float> unit, unit_value;
    Simplicity found;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t magnitude = d[r] & float_magnitude;
        const int32_t c_exp = magnitude ? float_exp(magnitude) : e_zero;
        const int32_t exp = larger(larger(e_max[r], e_zero), c_exp);
        const int32_t e = exp == e_zero ? 0 : exp;  // all terms are zero: any exponent will do
        found.exp[r] = e, found.magnitude[r] = magnitude;
        unit[r] = power_of_two(float{}, F - e);
        unit_value[r] = power_of_two(float{}, e - F);
    }
    if (!found.holds(F - 126)) return false;
    Lanes<double> total;
    for (int r = 0; r < lanes; ++r) total[r] = static_cast<int32_t>(bits_as<float>(d[r]) * unit[r]);
    const int together = 1 << products_together_log2(plan);
    for (int group = 0; group < plan.L; group += together) {
        Lanes<int32_t> sum;
        sum_cut_products(a.value + k + group, b.value + k + group, smaller(plan.L - group, together), 1, unit, sum);
        for (int r = 0; r < lanes; ++r) total[r] += sum[r];
    }
    const int dropped = 52 - plan.rho.rounding_format.man_bits;
    for (int r = 0; r < lanes; ++r) {
        const double kept = truncates ? without_low_bits(total[r], dropped) : total[r];
        d[r] = bits_as<uint32_t>(static_cast<float>(kept) * unit_value[r]);
    }
    return true;
}

/// Steps 3 to 5 of tr_fdpa_panel, from T on; false, and nothing done, where a lane is not simple.
inline bool round_quickly(const Plan& plan, Lanes<uint32_t>& d, const TruncatedSum& dot) {
    const int32_t lsb_frac = larger(plan.F2 + 1, plan.F), F = plan.F, dot_up = plan.F2 + 1 - plan.F;
    const int32_t dot_unit = lsb_frac - plan.F2 - 1, c_up = larger(F - 23, 0), c_down = larger(23 - F, 0);
    const double c_unit = power_of_two(double{}, lsb_frac - F);
    const int32_t c_reach = plan.operation == MMAU_GTR_FDPA ? F + 1 : 1 << 30;  // a c further below e_out counts as 0
    const int dropped = 52 - plan.F2;
    Simplicity found;
    Lanes<int32_t>& e_out = found.exp;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t magnitude = d[r] & float_magnitude;
        const int32_t dot_exp = dot.exp[r], c_exp = float_exp(magnitude), exp = larger(dot_exp, c_exp);
        const int32_t c_exp_or_none = magnitude ? c_exp : no_product_exp;
        e_out[r] = larger(dot_exp, c_exp_or_none) == no_product_exp ? 0 : exp;  // all terms are zero: any exponent will do
        found.magnitude[r] = magnitude;
    }
    if (!found.holds(lsb_frac - 126)) return false;
    Lanes<int32_t> dot_aligned, c_aligned;
    Lanes<float> dot_value;  // of a unit of dot_aligned
    for (int r = 0; r < lanes; ++r) {
        const int32_t down = e_out[r] - dot.exp[r], c_below = e_out[r] - float_exp(d[r] & float_magnitude);
        // By `dot_up` left and by `down` right, rounded down: what is left of these two.
        dot_aligned[r] = static_cast<int32_t>(dot.total[r]) >> smaller(larger(down - dot_up, 0), 31);
        dot_value[r] = power_of_two(float{}, larger(dot_up - down, 0) + dot_unit);
        const int32_t aligned = static_cast<int32_t>(static_cast<uint32_t>(float_sig(d[r])) << c_up) >> smaller(c_below + c_down, 31);
        c_aligned[r] = c_below > c_reach ? 0 : aligned;
    }
    for (int r = 0; r < lanes; ++r) {
        const double dot_part = static_cast<double>(dot_aligned[r]) * static_cast<double>(dot_value[r]);
        const double total = dot_part + static_cast<double>(c_aligned[r]) * c_unit;
        // RD to F2 bits below the first: what is dropped of a negative total makes its magnitude larger.
        const uint64_t code = bits_as<uint64_t>(total), low_bits = (uint64_t{1} << dropped) - 1;
        const uint64_t away = (0 - (code >> 63)) & low_bits;
        const double kept = without_low_bits(bits_as<double>(code + away), dropped);
        d[r] = bits_as<uint32_t>(static_cast<float>(kept) * power_of_two(float{}, e_out[r] - lsb_frac));
    }
    return true;
}

/// One step of tr_fdpa_panel for a row; false, and nothing done, where a lane is not simple.
inline bool tr_fdpa_row(const Plan& plan, Lanes<uint32_t>& d, int k, const RowElements& a, const Panel& b) {
    TruncatedSum dot;
    sum_products(plan, a, b, k, dot);
    return round_quickly(plan, d, dot);
}

/// One step of rows until one has a lane that is not simple, and how many that are.
template <bool (*row)(const Plan& plan, Lanes<uint32_t>& d, int k, const RowElements& a, const Panel& b)>
inline int quick_rows(const Plan& plan, int rows, Accumulating d, int k, Rows a, const Panel& b) {
    int i = 0;
    while (i < rows && row(plan, *d[i], k, *a[i], b)) ++i;
    return i;
}

template <bool truncates>
inline int t_fdpa_quick(const Plan& plan, int rows, Accumulating d, int k, Rows a, const Panel& b) {
    return quick_rows<t_fdpa_row<truncates>>(plan, rows, d, k, a, b);
}

template <bool>
inline int tr_fdpa_quick(const Plan& plan, int rows, Accumulating d, int k, Rows a, const Panel& b) {
#ifdef __AVX2__
    if (sums_are_narrow(plan)) return tr_fdpa_narrow(plan, rows, d, k, a, b);
#endif
    return quick_rows<tr_fdpa_row>(plan, rows, d, k, a, b);
}

MMAU_NAMESPACE_END

#endif
