// The products of a row of A and a panel of B: steps multiply, max_exp, align and accumulate.
//
// A product is exact in fp32: it has at most 22 bits, and `products_fit_fp32` says that its exponent fits. Times 2^(F − e_max),
// which is exact too, and converted to an integer, it is aligned and truncated toward zero.
#pragma once

#include "exact_products.hpp"
#include "panels.hpp"
#include "tr_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// The smallest exponent of a product that is taken here: it leaves 22 fraction bits above fp32's 2^−126, and 2^(F − exponent)
/// is a normal number.
inline int smallest_product_exp(const Plan& plan) { return larger(-100, plan.F - 127); }

/// Whether every product of such elements is a normal number of fp32, or zero. Its significand is below 4.
inline bool products_fit_fp32(const Plan& plan, const ExponentRange& a, const ExponentRange& b) {
    return !(a.special | b.special) && a.largest + b.largest <= 125 && a.smallest + b.smallest >= smallest_product_exp(plan);
}

/// Step max_exp over products 0, stride, … of `count`; a product of zero counts as `zero_exp` or less.
inline void find_largest(const int16_t* a, const Lanes<int16_t>* b, int count, int stride, Lanes<int32_t>& largest) {
    for (int part = 0; part < lanes; part += exp_vector_lanes) {
        ExpVector most = in_all_lanes(2 * zero_exp);
        for (int k = 0; k < count; k += stride) {
            const ExpVector exp = exp_vector(b[k] + part) + a[k];
            most = exp > most ? exp : most;
        }
        for (int r = 0; r < exp_vector_lanes; ++r) largest[part + r] = most[r];
    }
}

/// Σ of products 0, stride, … of `count`, each times `unit`, truncated toward zero; the caller knows that the sum fits.
inline void sum_cut_products(const float* a, const Lanes<float>* b, int count, int stride, const Lanes<float>& unit,
                             Lanes<int32_t>& sum) {
    for (int part = 0; part < lanes; part += 2 * vector_lanes) {
        FloatVector low_unit, high_unit;
        std::memcpy(&low_unit, unit + part, sizeof low_unit);
        std::memcpy(&high_unit, unit + part + vector_lanes, sizeof high_unit);
        IntVector low{}, high{};
        for (int k = 0; k < count; k += stride) {
            FloatVector x, y;
            std::memcpy(&x, b[k] + part, sizeof x);
            std::memcpy(&y, b[k] + part + vector_lanes, sizeof y);
            low += __builtin_convertvector(x * a[k] * low_unit, IntVector);
            high += __builtin_convertvector(y * a[k] * high_unit, IntVector);
        }
        std::memcpy(sum + part, &low, sizeof low);
        std::memcpy(sum + part + vector_lanes, &high, sizeof high);
    }
}

/// The same where an aligned product is too wide for 32 bits: 2^(narrow_F − F) of it, truncated, and what that leaves.
inline void sum_cut_products_wide(const float* a, const Lanes<float>* b, int count, int stride, const Lanes<float>& unit,
                                  int low_bits, Lanes<int64_t>& total) {
    const float up = power_of_two(float{}, low_bits), down = power_of_two(float{}, -low_bits);
    for (int part = 0; part < lanes; part += vector_lanes) {
        FloatVector part_unit;
        std::memcpy(&part_unit, unit + part, sizeof part_unit);
        IntVector high_sum{}, low_sum{};
        for (int k = 0; k < count; k += stride) {
            FloatVector x;
            std::memcpy(&x, b[k] + part, sizeof x);
            const FloatVector aligned = x * a[k] * part_unit;
            const IntVector high = __builtin_convertvector(aligned * down, IntVector);
            high_sum += high;
            low_sum += __builtin_convertvector(aligned - __builtin_convertvector(high, FloatVector) * up, IntVector);
        }
        for (int r = 0; r < vector_lanes; ++r) {
            total[part + r] += static_cast<int64_t>(static_cast<uint64_t>(int64_t{high_sum[r]}) << low_bits) + low_sum[r];
        }
    }
}

/// Steps align (RZ) and accumulate over products first, first + stride, … of a step from k on, at e_max.
inline void accumulate(const Plan& plan, const RowElements& a, const Panel& b, int k, int first, int stride,
                       const Lanes<int32_t>& e_max, Lanes<int64_t>& total) {
    const int smallest = smallest_product_exp(plan), F = plan.F;  // below it every product is zero
    Lanes<float> unit;
    for (int r = 0; r < lanes; ++r) unit[r] = power_of_two(float{}, F - larger(e_max[r], smallest));
    const int together = stride << products_together_log2(plan);
    for (int group = first; group < plan.L; group += together) {
        const int count = smaller(plan.L - group, together);
        const float* row = a.value + k + group;
        const Lanes<float>* columns = b.value + k + group;
        if (F > narrow_fraction) {
            sum_cut_products_wide(row, columns, count, stride, unit, F - narrow_fraction, total);
        } else {
            Lanes<int32_t> sum;
            sum_cut_products(row, columns, count, stride, unit, sum);
            for (int r = 0; r < lanes; ++r) total[r] += sum[r];
        }
    }
}

/// The sum of products first, first + stride, … of the step.
inline void sum_products(const Plan& plan, const RowElements& a, const Panel& b, int k, int first, int stride,
                         TruncatedSum& sum) {
    find_largest(a.exp + k + first, b.exp + k + first, plan.L - first, stride, sum.exp);
    for (int r = 0; r < lanes; ++r) sum.exp[r] = larger(sum.exp[r], no_product_exp), sum.total[r] = 0;
    accumulate(plan, a, b, k, first, stride, sum.exp, sum.total);
}

/// T of the dot product of a step.
inline void sum_products(const Plan& plan, const RowElements& a, const Panel& b, int k, TruncatedSum& dot) {
    if (plan.operation == MMAU_TR_FDPA) return sum_products(plan, a, b, k, 0, 1, dot);
    TruncatedSum even, odd;
    sum_products(plan, a, b, k, 0, 2, even);
    sum_products(plan, a, b, k, 1, 2, odd);
    add_groups(even, odd, dot);
}

MMAU_NAMESPACE_END
