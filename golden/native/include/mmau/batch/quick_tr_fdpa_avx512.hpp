// TR- and GTR-FDPA's quick steps in AVX-512: sums stay integers, and a c that is cut down is one too.
#pragma once

#include "quick_avx512.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int toward_minus = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// T of a step's products, or of a group of them, which fits 32 bits.
struct VectorSums {
    Pairs<__m512i> exp, total;

    template <int groups>
    MMAU_LANE_FN VectorSums(const StepConstants& step, const Rows a, const Panel& b, int k, const LargestExps<groups>& largest,
                            int row, int group)
        : total{} {
        Pairs<__m512> unit;
        widen(largest, row, group, exp);
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) unit[i][h] = step.units(exp[i][h]);
        }
        add_cut_products<groups>(a, b, k + group, k + step.L, unit, total);
    }

    /// GTR-FDPA: the sums of the even and of the odd products at the larger of their exponents.
    MMAU_LANE_FN void join(const VectorSums& other) {
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                const __m512i joint = _mm512_max_epi32(exp[i][h], other.exp[i][h]);
                const __m512i mine = _mm512_srav_epi32(total[i][h], _mm512_sub_epi32(joint, exp[i][h]));
                const __m512i others = _mm512_srav_epi32(other.total[i][h], _mm512_sub_epi32(joint, other.exp[i][h]));
                exp[i][h] = joint, total[i][h] = _mm512_add_epi32(mine, others);
            }
        }
    }
};

template <int groups>
MMAU_LANE_FN VectorSums step_sums(const StepConstants& step, const Rows a, const Panel& b, int k,
                                  const LargestExps<groups>& largest, int row) {
    VectorSums dot(step, a, b, k, largest, row, 0);
    if (groups == 2) dot.join({step, a, b, k, largest, row, groups - 1});
    return dot;
}

/// Steps 4 and 5 of TR- and GTR-FDPA in 64 bits.
struct WideRounding : StepConstants {
    int32_t dot_down;
    __m512i lsb, dot_factor, c_factor, dot_up, low_bits;

    MMAU_LANE_FN explicit WideRounding(const Plan& plan)
        : StepConstants(plan, larger(plan.F2 + 1, plan.F) - 126), dot_down(larger(plan.F - plan.F2 - 1, 0)),
          lsb(_mm512_set1_epi32(larger(plan.F2 + 1, plan.F))),
          dot_factor(_mm512_set1_epi64(int64_t{1} << larger(plan.F2 + 1 - plan.F, 0))), c_factor(dot_factor),
          dot_up(_mm512_set1_epi64(dot_down)), low_bits(_mm512_set1_epi64((int64_t{1} << (52 - plan.F2)) - 1)) {}

    /// The sum of `dot`, which is at `dot_exp`, and of c, where e_out is the larger of the exponents.
    MMAU_LANE_FN __m512 operator()(__m512i dot, __m512i dot_exp, __m512 c, __m512i e_out) const {
        // Rounded down twice, for the first may leave a subnormal number; a zero of either sign is 0.
        const __m512 aligned = _mm512_mul_round_ps(c, units(e_out), toward_minus);
        const __m512i c_part = _mm512_cvt_roundps_epi32(aligned, toward_minus);
        __m512i below = _mm512_sub_epi32(e_out, dot_exp);
        if (dot_down) below = _mm512_add_epi32(below, _mm512_set1_epi32(dot_down));
        const auto odd = [](__m512i x) { return _mm512_srli_epi64(x, 32); };
        const __m512i lower_half = _mm512_set1_epi64(0xFFFFFFFF);
        const __m256 evens = _mm512_cvtpd_ps(cut_sum(dot, _mm512_and_si512(below, lower_half), c_part));
        const __m256 odds = _mm512_cvtpd_ps(cut_sum(odd(dot), odd(below), odd(c_part)));
        const __m512i in_turn = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512 rounded = _mm512_permutex2var_ps(_mm512_castps256_ps512(evens), in_turn, _mm512_castps256_ps512(odds));
        return _mm512_mul_ps(rounded, powers_of_two(_mm512_sub_epi32(e_out, lsb)));
    }

  private:
    /// Every other lane: a lane of 64 bits has its 32-bit integers in its lower half.
    MMAU_LANE_FN __m512d cut_sum(__m512i dot, __m512i below, __m512i c) const {
        __m512i aligned = _mm512_srav_epi64(_mm512_mul_epi32(dot, dot_factor), below);
        if (dot_down) aligned = _mm512_sllv_epi64(aligned, dot_up);
        const __m512i total = _mm512_add_epi64(aligned, _mm512_mul_epi32(c, c_factor));
        // RD to F2 bits below the first: what is dropped of a negative total makes its magnitude larger.
        const __m512i code = _mm512_castpd_si512(_mm512_cvtepi64_pd(total));
        const __m512i away = _mm512_mask_add_epi64(code, _mm512_movepi64_mask(code), code, low_bits);
        return _mm512_castsi512_pd(_mm512_andnot_si512(low_bits, away));
    }
};

/// The same in 32 bits, for F = 24 and F2 = 31. Let c's exponent be n above that of the products, 0 where it is not above.
///
/// Up to n = 5 the sum of T and c · 2^n is exact, below 2^31, and has no more bits than F2 keeps. For a larger n let the unit
/// be 2^(e_out − 24): |c| is 2^24 at least and |T| below 2^23, and so the sum is above 2^23. It is taken with five bits below the
/// unit, 28 bits at least: of what lies below these, rounding to nearest needs only to know whether it is 0, which the last bit
/// says. Three bits lie there, for T is cut 8 bits below the unit; two from a sum of 2^24 on and one from 2^25 on, for F2 keeps
/// 32 bits.
struct NarrowRounding : StepConstants {
    __m512i few_below, most_below;

    MMAU_LANE_FN explicit NarrowRounding(const Plan& plan)
        : StepConstants(plan, plan.F2 + 1 - 126),
          few_below(_mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)),
          most_below(_mm512_setr_epi32(3, 3, 2, 2, 2, 2, 3, 3, 7, 6, 4, 4, 4, 4, 6, 7)) {}

    MMAU_LANE_FN __m512 operator()(__m512i dot, __m512i dot_exp, __m512 c, __m512i e_out) const {
        const __m512i exp = _mm512_max_epi32(dot_exp, _mm512_sub_epi32(e_out, _mm512_set1_epi32(5)));  // of the last bit, and 24
        const __m512i down = _mm512_sub_epi32(exp, dot_exp);
        const __m512 unit = units(exp);
        // Rounded down twice, for the first may leave a subnormal number; a zero of either sign is 0.
        const __m512i c_part = _mm512_cvt_roundps_epi32(_mm512_mul_round_ps(c, unit, toward_minus), toward_minus);
        const __m512i three = _mm512_set1_epi32(3), below = _mm512_min_epu32(down, three);
        const __m512i cut = _mm512_srav_epi32(dot, _mm512_subs_epu16(down, three));  // with `below` bits under the units
        const __m512i sum = _mm512_add_epi32(_mm512_srav_epi32(cut, below), c_part);
        // What counts of those bits, by their number and by the sum's first three.
        const __m512i which = _mm512_or_si512(_mm512_srli_epi32(sum, 29), _mm512_slli_epi32(below, 3));
        const __m512i counting = _mm512_permutex2var_epi32(few_below, which, most_below);
        const __mmask16 is_inexact = _mm512_test_epi32_mask(cut, counting);
        const __m512i odd = _mm512_mask_or_epi32(sum, is_inexact, sum, _mm512_set1_epi32(1));
        return _mm512_mul_ps(_mm512_cvtepi32_ps(odd), inverse(unit));
    }
};

/// One step of tr_fdpa_panel for a pair of rows from T on; false, and nothing done, where a lane is not simple.
template <bool grouped, class Rounding>
MMAU_LANE_FN bool round_pair(const Rounding& step, const Accumulating d, const VectorSums& dot) {
    const SumExponents found(step, d, dot.exp);
    if (found.not_simple) return false;
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            const __m512i e_out = found.exp[i][h];
            __m512 c = _mm512_loadu_ps(*d[i] + 16 * h);
            if (grouped) {  // a c further below e_out counts as 0
                const __m512i c_exp = _mm512_max_epi32(float_exps(_mm512_castps_si512(c)), _mm512_set1_epi32(1));
                const __m512i reach = _mm512_set1_epi32(step.F + 1);
                c = _mm512_maskz_mov_ps(_mm512_cmple_epi32_mask(_mm512_sub_epi32(e_out, c_exp), reach), c);
            }
            _mm512_storeu_ps(*d[i] + 16 * h, step(dot.total[i][h], dot.exp[i][h], c, e_out));
        }
    }
    return true;
}

/// One step of rows until a pair has a lane that is not simple, and how many that are.
template <bool grouped, class Rounding>
inline int tr_fdpa_rows(const Plan& plan, int rows, const Accumulating d, int k, const Rows a, const Panel& b) {
    const Rounding step(plan);
    LargestExps<grouped ? 2 : 1> largest;
    for (int first = 0; first < rows; first += prepared_rows) {
        const int count = smaller(prepared_rows, rows - first);
        largest.find(step, a + first, count, b, k);
        for (int row = 0; row < count; row += step_rows) {
            const int i = first + row;
            if (!round_pair<grouped>(step, d + i, step_sums(step, a + i, b, k, largest, row))) return i;
        }
    }
    return rows;
}

template <bool grouped>
inline int tr_fdpa_quick(const Plan& plan, int rows, const Accumulating d, int k, const Rows a, const Panel& b) {
    if (!grouped && sums_are_narrow(plan)) return tr_fdpa_rows<grouped, NarrowRounding>(plan, rows, d, k, a, b);
    return tr_fdpa_rows<grouped, WideRounding>(plan, rows, d, k, a, b);
}

MMAU_NAMESPACE_END
