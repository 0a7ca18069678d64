// What the quick steps of quick_steps.hpp have in common in AVX-512: they take two rows of A at a time, whose 32 lanes are two
// vectors each in 32 bits, four in 64.
#pragma once

#include <immintrin.h>

#include "panel_products.hpp"
#include "quick_plans.hpp"

MMAU_NAMESPACE_BEGIN

/// Normal powers of two from their exponents, which are biased here as they are in fp32.
MMAU_LANE_FN __m512 powers_of_two(__m512i exp) { return _mm512_castsi512_ps(_mm512_slli_epi32(exp, 23)); }

/// What the steps of a plan have in every lane.
struct StepConstants {
    int L, F;
    __m512i no_exp;        ///< of 32 lanes: the largest exponent where every product is a zero, below that of any other
    __m512i lowest, range; ///< the smallest exponent of a simple sum, and how far the largest one is above it
    __m512i unit_exp;      ///< of 2^F

    /// Exponents are biased. 2^(F − no_exp) is finite up to F = 26.
    MMAU_LANE_FN StepConstants(const Plan& plan, int32_t lowest_exp) : L(plan.L), F(plan.F) {
        const int32_t none = smallest_product_exp(plan) - 1 + 127, first = larger(lowest_exp + 127, none + 1);
        no_exp = _mm512_set1_epi16(static_cast<int16_t>(none));
        lowest = _mm512_set1_epi32(first), range = _mm512_set1_epi32(254 - first);
        unit_exp = _mm512_set1_epi32(F + 2 * 127);
    }

    /// 2^(F − exp).
    MMAU_LANE_FN __m512 units(__m512i exp) const { return powers_of_two(_mm512_sub_epi32(unit_exp, exp)); }
};

/// What such a power is divided by to give 1.
MMAU_LANE_FN __m512 inverse(__m512 power) {
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32((2 * 127) << 23), _mm512_castps_si512(power)));
}

/// The two vectors of 32 lanes, for each of the rows.
template <class Vector>
using Pairs = Vector[step_rows][2];

/// Rows whose largest exponents are found together, before their products are: no product waits for them.
constexpr int prepared_rows = 8;

/// The largest exponents of a step's products for some rows: of every `groups`-th one.
template <int groups>
struct LargestExps {
    alignas(64) Lanes<int16_t> exp[prepared_rows][groups];

    MMAU_LANE_FN void find(const StepConstants& step, const Rows a, int rows, const Panel& b, int k) {
        const int end = k + step.L;
        for (int row = 0; row < rows; row += together) {
            const RowElements* four[together];
            for (int i = 0; i < together; ++i) four[i] = a[smaller(row + i, rows - 1)];
            for (int group = 0; group < groups; ++group) {
                __m512i most[together];
                for (int i = 0; i < together; ++i) most[i] = step.no_exp;
                for (int n = k + group; n < end; n += groups) {
                    const __m512i exp_b = _mm512_load_si512(b.exp[n]);
                    for (int i = 0; i < together; ++i) {
                        const __m512i exp_a = _mm512_set1_epi32(four[i]->biased_exp[n]);
                        most[i] = _mm512_max_epi16(most[i], _mm512_add_epi16(exp_b, exp_a));
                    }
                }
                for (int i = 0; i < together; ++i) _mm512_store_si512(exp[row + i][group], most[i]);
            }
        }
    }

  private:
    static constexpr int together = 4;
};

/// Those of the rows of a pair as 32-bit lanes.
template <int groups>
MMAU_LANE_FN void widen(const LargestExps<groups>& largest, int row, int group, Pairs<__m512i>& exp) {
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            const int16_t* half = largest.exp[row + i][group] + 16 * h;
            exp[i][h] = _mm512_cvtepi16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(half)));
        }
    }
}

/// The totals of a pair, to which a product of each row is added, times `unit` and truncated toward zero.
MMAU_LANE_FN void add_cut_product(const Rows a, const Panel& b, int n, const Pairs<__m512>& unit, Pairs<__m512i>& total) {
    const __m512 low = _mm512_load_ps(b.value[n]), high = _mm512_load_ps(b.value[n] + 16);
    for (int i = 0; i < step_rows; ++i) {
        const __m512 factor = _mm512_set1_ps(a[i]->value[n]);
        const __m512 x = _mm512_mul_ps(_mm512_mul_ps(low, factor), unit[i][0]);
        const __m512 y = _mm512_mul_ps(_mm512_mul_ps(high, factor), unit[i][1]);
        total[i][0] = _mm512_add_epi32(total[i][0], _mm512_cvttps_epi32(x));
        total[i][1] = _mm512_add_epi32(total[i][1], _mm512_cvttps_epi32(y));
    }
}

/// Adds products first, first + stride, … before `end` so to `sum`; the caller knows that it fits.
template <int stride>
MMAU_LANE_FN void add_cut_products(const Rows a, const Panel& b, int first, int end, const Pairs<__m512>& unit,
                                   Pairs<__m512i>& sum) {
    constexpr int together = 4;
    __m512i total[step_rows][2];
    for (int i = 0; i < step_rows; ++i) total[i][0] = sum[i][0], total[i][1] = sum[i][1];
    int n = first;
    for (; n + (together - 1) * stride < end; n += together * stride) {
        for (int i = 0; i < together; ++i) add_cut_product(a, b, n + i * stride, unit, total);
    }
    for (; n < end; n += stride) add_cut_product(a, b, n, unit, total);
    for (int i = 0; i < step_rows; ++i) sum[i][0] = total[i][0], sum[i][1] = total[i][1];
}

/// The exponents of sixteen accumulators. A subnormal one counts as a zero: with it alone no sum is simple.
MMAU_LANE_FN __m512i float_exps(__m512i code) {
    return _mm512_srli_epi32(_mm512_and_si512(code, _mm512_set1_epi32(float_infinity)), 23);
}

/// The exponents of a step's sums, and which of them are not simple.
struct SumExponents {
    Pairs<__m512i> exp;
    int not_simple = 0;

    /// The larger of the exponents of products and of c; where all terms are zero, any will do. That of an accumulator that is
    /// not finite is above every product's.
    MMAU_LANE_FN SumExponents(const StepConstants& step, const Accumulating d, const Pairs<__m512i>& products) {
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                exp[i][h] = _mm512_max_epi32(products[i][h], float_exps(_mm512_loadu_si512(*d[i] + 16 * h)));
                not_simple |= _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(exp[i][h], step.lowest), step.range);
            }
        }
        if (not_simple) not_simple = raise_zeros(step, d, products);
    }

  private:
    MMAU_LANE_FN int raise_zeros(const StepConstants& step, const Accumulating d, const Pairs<__m512i>& products) {
        const __m512i none = _mm512_srai_epi32(step.no_exp, 16);
        int beyond = 0;
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                const __m512i code = _mm512_loadu_si512(*d[i] + 16 * h);
                const __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi32(float_magnitude));
                const __mmask16 c_is_zero = _mm512_testn_epi32_mask(magnitude, magnitude);
                const __mmask16 all_zero = _mm512_mask_cmpeq_epi32_mask(c_is_zero, products[i][h], none);
                exp[i][h] = _mm512_mask_mov_epi32(exp[i][h], all_zero, _mm512_set1_epi32(127));
                beyond |= _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(exp[i][h], step.lowest), step.range);
            }
        }
        return beyond;
    }
};

MMAU_NAMESPACE_END
