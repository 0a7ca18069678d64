// The quick steps of quick_steps.hpp in AVX-512, which rounds a conversion by a mode of its own: sums stay integers, those of 32
// bits become fp32 at once, and a c that is cut down is one too. Two vectors have a panel's 32 lanes in 32 bits, four in 64.
#pragma once

#include <immintrin.h>

#include "panel_products.hpp"
#include "quick_plans.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC, toward_minus = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// Normal powers of two from their exponents, which are biased here as they are in fp32.
MMAU_LANE_FN __m512 powers_of_two(__m512i exp) { return _mm512_castsi512_ps(_mm512_slli_epi32(exp, 23)); }

/// What the steps of a plan have in every lane.
struct StepConstants {
    int L, F;
    __m512i no_exp;        ///< of 32 lanes: the largest exponent where every product is a zero, below that of any other
    __m512i lowest, range; ///< the smallest exponent of a simple sum, and how far the largest one is above it
    __m512i unit_exp;      ///< of 2^(F − 0)

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

/// Powers of two by which such units are divided by.
MMAU_LANE_FN __m512 inverse(__m512 power) {
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32((2 * 127) << 23), _mm512_castps_si512(power)));
}

/// The two vectors of 32 lanes, for each of the rows.
template <class Vector>
using Pairs = Vector[step_rows][2];

/// Rows whose largest exponents are found together, before their products are: no product waits for them.
constexpr int prepared_rows = 8;

/// The largest exponents of a step's products for some rows; of products 0, groups, …, and of 1, groups + 1, … where there are two.
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
                        most[i] = _mm512_max_epi16(most[i], _mm512_add_epi16(exp_b, _mm512_set1_epi32(four[i]->biased_exp[n])));
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
MMAU_LANE_FN void add_cut_products(const Rows a, const Panel& b, int first, int end, const Pairs<__m512>& unit, Pairs<__m512i>& sum) {
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

    /// The larger of the exponents of products and of c; where all terms are zero, any will do. An accumulator that is not finite
    /// has one above every product's.
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
                const __m512i magnitude = _mm512_and_si512(_mm512_loadu_si512(*d[i] + 16 * h), _mm512_set1_epi32(float_magnitude));
                const __mmask16 c_is_zero = _mm512_testn_epi32_mask(magnitude, magnitude);
                const __mmask16 all_zero = _mm512_mask_cmpeq_epi32_mask(c_is_zero, products[i][h], none);
                exp[i][h] = _mm512_mask_mov_epi32(exp[i][h], all_zero, _mm512_set1_epi32(127));
                beyond |= _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(exp[i][h], step.lowest), step.range);
            }
        }
        return beyond;
    }
};

/// The low or the high half of a vector.
template <int half>
MMAU_LANE_FN __m256i half_of(__m512i x) {
    if constexpr (half == 0) return _mm512_castsi512_si256(x);
    return _mm512_extracti64x4_epi64(x, 1);
}

/// Eight of its 32-bit integers as doubles.
template <int half>
MMAU_LANE_FN __m512d as_doubles(__m512i x) {
    return _mm512_cvtepi32_pd(half_of<half>(x));
}

/// Two vectors of doubles as one of fp32.
template <bool truncates>
MMAU_LANE_FN __m512 as_floats(__m512d low, __m512d high) {
    const __m256 x = truncates ? _mm512_cvt_roundpd_ps(low, toward_zero) : _mm512_cvtpd_ps(low);
    const __m256 y = truncates ? _mm512_cvt_roundpd_ps(high, toward_zero) : _mm512_cvtpd_ps(high);
    return _mm512_insertf32x8(_mm512_castps256_ps512(x), y, 1);
}

/// Whether the sum of a step fits 32 bits: a product is below 4·2^F in magnitude, an accumulator below 2·2^F.
inline bool sum_fits_int32(const Plan& plan) { return int64_t{4 * plan.L + 2} << plan.F <= int64_t{1} << 31; }

/// The constants of a T-FDPA.
struct TruncatingConstants : StepConstants {
    int group;     ///< products whose sum fits 32 bits
    __m512i kept;  ///< bits of a result

    MMAU_LANE_FN explicit TruncatingConstants(const Plan& plan)
        : StepConstants(plan, plan.F - 126), group(1 << products_together_log2(plan)),
          kept(_mm512_set1_epi32(static_cast<int32_t>(~0u << (23 - plan.rho.rounding_format.man_bits)))) {}
};

/// The sum of a step's products and an accumulator, rounded to fp32 in units of the sum's last bit.
template <bool truncates, bool fits_int32>
MMAU_LANE_FN void sum_step(const TruncatingConstants& step, const Rows a, const Panel& b, int k, const Pairs<__m512>& unit,
                           Pairs<__m512i>& c, Pairs<__m512>& rounded) {
    if (fits_int32) {
        add_cut_products<1>(a, b, k, k + step.L, unit, c);
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                rounded[i][h] = truncates ? _mm512_cvt_roundepi32_ps(c[i][h], toward_zero) : _mm512_cvtepi32_ps(c[i][h]);
            }
        }
        return;
    }
    __m512d low[step_rows][2], high[step_rows][2];
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) low[i][h] = as_doubles<0>(c[i][h]), high[i][h] = as_doubles<1>(c[i][h]);
    }
    const int end = k + step.L;
    for (int first = k; first < end; first += step.group) {
        Pairs<__m512i> sum = {};
        add_cut_products<1>(a, b, first, smaller(first + step.group, end), unit, sum);
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                low[i][h] = _mm512_add_pd(low[i][h], as_doubles<0>(sum[i][h]));
                high[i][h] = _mm512_add_pd(high[i][h], as_doubles<1>(sum[i][h]));
            }
        }
    }
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) rounded[i][h] = as_floats<truncates>(low[i][h], high[i][h]);
    }
}

/// One step of t_fdpa_panel for a pair of rows; false, and nothing done, where a lane is not simple.
template <bool truncates, bool fits_int32>
MMAU_LANE_FN bool t_fdpa_pair(const TruncatingConstants& step, const Accumulating d, int k, const Rows a, const Panel& b,
                              const Pairs<__m512i>& largest) {
    const SumExponents found(step, d, largest);
    if (found.not_simple) return false;
    Pairs<__m512i> c;
    Pairs<__m512> unit, rounded;
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            unit[i][h] = step.units(found.exp[i][h]);
            c[i][h] = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_loadu_ps(*d[i] + 16 * h), unit[i][h]));
        }
    }
    sum_step<truncates, fits_int32>(step, a, b, k, unit, c, rounded);
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            const __m512 whole = rounded[i][h];
            const __m512 cut = truncates ? _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(whole), step.kept)) : whole;
            _mm512_storeu_ps(*d[i] + 16 * h, _mm512_mul_ps(cut, inverse(unit[i][h])));
        }
    }
    return true;
}

/// One step of rows until a pair has a lane that is not simple, and how many that are.
template <bool truncates, bool fits_int32>
inline int t_fdpa_rows(const Plan& plan, int rows, const Accumulating d, int k, const Rows a, const Panel& b) {
    const TruncatingConstants step(plan);
    LargestExps<1> largest;
    for (int first = 0; first < rows; first += prepared_rows) {
        const int count = smaller(prepared_rows, rows - first);
        largest.find(step, a + first, count, b, k);
        for (int row = 0; row < count; row += step_rows) {
            const int i = first + row;
            Pairs<__m512i> exp;
            widen(largest, row, 0, exp);
            if (!t_fdpa_pair<truncates, fits_int32>(step, d + i, k, a + i, b, exp)) return i;
        }
    }
    return rows;
}

template <bool truncates>
inline int t_fdpa_quick(const Plan& plan, int rows, const Accumulating d, int k, const Rows a, const Panel& b) {
    if (sum_fits_int32(plan)) return t_fdpa_rows<truncates, true>(plan, rows, d, k, a, b);
    return t_fdpa_rows<truncates, false>(plan, rows, d, k, a, b);
}

/// T of products first, first + stride, … of a step, which fits 32 bits.
struct VectorSums {
    Pairs<__m512i> exp, total;

    template <int groups>
    MMAU_LANE_FN VectorSums(const StepConstants& step, const Rows a, const Panel& b, int k, const LargestExps<groups>& largest, int row,
                            int group)
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
MMAU_LANE_FN VectorSums step_sums(const StepConstants& step, const Rows a, const Panel& b, int k, const LargestExps<groups>& largest, int row) {
    VectorSums dot(step, a, b, k, largest, row, 0);
    if (groups == 2) dot.join({step, a, b, k, largest, row, groups - 1});
    return dot;
}

/// Steps 4 and 5 of TR- and GTR-FDPA in 64 bits.
struct WideRounding : StepConstants {
    int32_t dot_down;
    __m512i lsb, dot_factor, c_factor, dot_up, low_bits;

    MMAU_LANE_FN explicit WideRounding(const Plan& plan)
        : StepConstants(plan, larger(plan.F2 + 1, plan.F) - 126), dot_down(larger(plan.F - plan.F2 - 1, 0)), lsb(_mm512_set1_epi32(larger(plan.F2 + 1, plan.F))),
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

/// Whether NarrowRounding takes a plan: |T| < 2^29 in units of 2^(e_dot − 24), and F2 + 1 is 8 bits more than F.
inline bool sums_are_narrow(const Plan& plan) { return plan.operation == MMAU_TR_FDPA && plan.F == 24 && plan.F2 == 31 && plan.L <= 8; }

/// The same in 32 bits, for F = 24 and F2 = 31. What is c's exponent above the products' counts as `up`.
///
/// Up to up = 5 the sum of T and of c · 2^up is exact, below 2^31, and has no more bits than F2 keeps. Above, |c| is at least 2^24
/// and |T| / 2^up below 2^23 in units of 2^(e_out − 24), so that the sum is 2^23 at least. It is taken in units of 2^(e_out − 29),
/// with 28 bits or more below the sign: of what lies below these only whether it is 0 counts for rounding to nearest, and this
/// goes into the last bit. Three bits lie there: T is cut 8 bits below those units of F. The last of them go where the sum has
/// more than 32 bits: one from 2^24 on, two from 2^25.
struct NarrowRounding : StepConstants {
    __m512i few_below, most_below;

    MMAU_LANE_FN explicit NarrowRounding(const Plan& plan)
        : StepConstants(plan, plan.F2 + 1 - 126), few_below(_mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)),
          most_below(_mm512_setr_epi32(3, 3, 2, 2, 2, 2, 3, 3, 7, 6, 4, 4, 4, 4, 6, 7)) {}

    MMAU_LANE_FN __m512 operator()(__m512i dot, __m512i dot_exp, __m512 c, __m512i e_out) const {
        const __m512i exp = _mm512_max_epi32(dot_exp, _mm512_sub_epi32(e_out, _mm512_set1_epi32(5)));  // of the units, and 24 more
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

/// One step of tr_fdpa_panel for a pair of rows from its dot products on; false, and nothing done, where a lane is not simple.
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
