// TR-FDPA's quick step in AVX2 for F = 24 and F2 = 31, whose sums fit 32 bits: NarrowRounding of quick_tr_fdpa_avx512.hpp for
// the four vectors of a row. AVX2 has no rounding mode of an instruction's own, and no table of more than eight lanes.
#pragma once

#include <immintrin.h>

#include "panel_products.hpp"
#include "quick_plans.hpp"

MMAU_NAMESPACE_BEGIN

class NarrowStep {
  public:
    /// Exponents are biased as they are in fp32; `none_` is that of products that are all zero.
    explicit NarrowStep(const Plan& plan)
        : L_(plan.L), none_(smallest_product_exp(plan) - 1 + 127), lowest_(larger(plan.F2 + 1 - 126 + 127, none_ + 1)) {}

    /// One step of a row; false, and nothing done, where a lane is not simple.
    MMAU_LANE_FN bool operator()(Lanes<uint32_t>& d, int k, const RowElements& a, const Panel& b) const {
        __m256i dot_exp[parts], e_out[parts], beyond = _mm256_setzero_si256();
        find_exps(k, a, b, dot_exp);
        for (int i = 0; i < parts; ++i) {
            e_out[i] = _mm256_max_epi32(dot_exp[i], float_exps(codes(d, i)));
            beyond = _mm256_max_epu32(beyond, _mm256_sub_epi32(e_out[i], all(lowest_)));
        }
        if (!are_within(beyond) && !raise_zeros(d, dot_exp, e_out)) return false;
        for (int i = 0; i < parts; i += 2) {
            __m256i low = _mm256_setzero_si256(), high = low;
            sum_products(k, a, b, i, powers_of_two(dot_exp[i]), powers_of_two(dot_exp[i + 1]), low, high);
            store(d, i, rounded(low, dot_exp[i], codes(d, i), e_out[i]));
            store(d, i + 1, rounded(high, dot_exp[i + 1], codes(d, i + 1), e_out[i + 1]));
        }
        return true;
    }

  private:
    static constexpr int vector = 8, parts = lanes / vector;
    int L_, none_, lowest_;

    MMAU_LANE_FN static __m256i all(int value) { return _mm256_set1_epi32(value); }
    MMAU_LANE_FN static __m256i codes(const Lanes<uint32_t>& d, int i) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(d + i * vector));
    }
    MMAU_LANE_FN static void store(Lanes<uint32_t>& d, int i, __m256 value) {
        _mm256_storeu_ps(reinterpret_cast<float*>(d + i * vector), value);
    }
    /// 2^(24 − exp).
    MMAU_LANE_FN static __m256 powers_of_two(__m256i exp) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_sub_epi32(all(24 + 2 * 127), exp), 23));
    }
    /// A subnormal accumulator counts as a zero: with it alone no sum is simple.
    MMAU_LANE_FN static __m256i float_exps(__m256i code) { return _mm256_srli_epi32(_mm256_slli_epi32(code, 1), 24); }
    /// Whether exponents, less the lowest one, are those of finite sums with no bit below 2^−126.
    MMAU_LANE_FN bool are_within(__m256i above_lowest) const {
        const __m256i range = all(254 - lowest_), outside = _mm256_cmpeq_epi32(_mm256_max_epu32(above_lowest, range), range);
        return _mm256_movemask_epi8(outside) == -1;
    }

    /// The largest exponents of the products.
    MMAU_LANE_FN void find_exps(int k, const RowElements& a, const Panel& b, __m256i (&exp)[parts]) const {
        __m256i low = _mm256_set1_epi16(static_cast<int16_t>(none_)), high = low;
        for (int n = k; n < k + L_; ++n) {
            const __m256i exp_a = all(a.biased_exp[n]);
            const auto* exp_b = reinterpret_cast<const __m256i*>(b.exp[n]);
            low = _mm256_max_epi16(low, _mm256_add_epi16(exp_a, _mm256_load_si256(exp_b)));
            high = _mm256_max_epi16(high, _mm256_add_epi16(exp_a, _mm256_load_si256(exp_b + 1)));
        }
        exp[0] = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(low));
        exp[1] = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(low, 1));
        exp[2] = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(high));
        exp[3] = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(high, 1));
    }

    /// Where all terms of a lane are zero, any exponent will do; whether all lanes are simple then.
    bool raise_zeros(const Lanes<uint32_t>& d, const __m256i (&dot_exp)[parts], __m256i (&e_out)[parts]) const {
        __m256i beyond = _mm256_setzero_si256();
        for (int i = 0; i < parts; ++i) {
            const __m256i c_is_zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(codes(d, i), 1), _mm256_setzero_si256());
            const __m256i all_zero = _mm256_and_si256(c_is_zero, _mm256_cmpeq_epi32(dot_exp[i], all(none_)));
            e_out[i] = _mm256_blendv_epi8(e_out[i], all(127), all_zero);
            beyond = _mm256_max_epu32(beyond, _mm256_sub_epi32(e_out[i], all(lowest_)));
        }
        return are_within(beyond);
    }

    /// The products of vectors i and i + 1, each times its unit and truncated toward zero.
    MMAU_LANE_FN void sum_products(int k, const RowElements& a, const Panel& b, int i, __m256 low_unit, __m256 high_unit,
                                   __m256i& low, __m256i& high) const {
        for (int n = k; n < k + L_; ++n) {
            const __m256 factor = _mm256_set1_ps(a.value[n]);
            const __m256 x = _mm256_mul_ps(_mm256_mul_ps(_mm256_load_ps(b.value[n] + i * vector), factor), low_unit);
            const __m256 y = _mm256_mul_ps(_mm256_mul_ps(_mm256_load_ps(b.value[n] + (i + 1) * vector), factor), high_unit);
            low = _mm256_add_epi32(low, _mm256_cvttps_epi32(x));
            high = _mm256_add_epi32(high, _mm256_cvttps_epi32(y));
        }
    }

    /// Rounded down. What underflows keeps its sign, by which it differs from 0; a zero of either sign is +0 before.
    MMAU_LANE_FN static __m256i times_rounded_down(__m256 c, __m256 unit) {
        const __m256 aligned = _mm256_mul_ps(_mm256_add_ps(c, _mm256_setzero_ps()), unit);
        const __m256i cut = _mm256_cvttps_epi32(aligned), code = _mm256_castps_si256(aligned);
        const __m256i is_whole = _mm256_cmpeq_epi32(code, _mm256_castps_si256(_mm256_cvtepi32_ps(cut)));
        return _mm256_add_epi32(cut, _mm256_andnot_si256(is_whole, _mm256_srai_epi32(code, 31)));
    }

    /// Steps 4 and 5: the sum of `dot`, which is at `dot_exp`, and of c, where e_out is the larger of the exponents.
    MMAU_LANE_FN static __m256 rounded(__m256i dot, __m256i dot_exp, __m256i c, __m256i e_out) {
        const __m256i exp = _mm256_max_epi32(dot_exp, _mm256_sub_epi32(e_out, all(5)));  // of the last bit, and 24
        const __m256i down = _mm256_sub_epi32(exp, dot_exp), three = all(3), below = _mm256_min_epi32(down, three);
        const __m256 unit = powers_of_two(exp);
        const __m256i cut = _mm256_srav_epi32(dot, _mm256_sub_epi32(down, below));  // with `below` bits under the units
        const __m256i sum = _mm256_add_epi32(_mm256_srav_epi32(cut, below), times_rounded_down(_mm256_castsi256_ps(c), unit));
        // What counts of three bits below, by the sum's first three; of fewer, the upper ones of these.
        const __m256i of_three = _mm256_permutevar8x32_epi32(_mm256_setr_epi32(7, 6, 4, 4, 4, 4, 6, 7), _mm256_srli_epi32(sum, 29));
        const __m256i counting = _mm256_srlv_epi32(of_three, _mm256_sub_epi32(three, below));
        const __m256i is_exact = _mm256_cmpeq_epi32(_mm256_and_si256(cut, counting), _mm256_setzero_si256());
        const __m256i odd = _mm256_or_si256(sum, _mm256_andnot_si256(is_exact, all(1)));
        const __m256i inverse = _mm256_sub_epi32(all((2 * 127) << 23), _mm256_castps_si256(unit));
        return _mm256_mul_ps(_mm256_cvtepi32_ps(odd), _mm256_castsi256_ps(inverse));
    }
};

/// One step of rows until one has a lane that is not simple, and how many that are.
inline int tr_fdpa_narrow(const Plan& plan, int rows, Accumulating d, int k, Rows a, const Panel& b) {
    const NarrowStep step(plan);
    int i = 0;
    while (i < rows && step(*d[i], k, *a[i], b)) ++i;
    return i;
}

MMAU_NAMESPACE_END
