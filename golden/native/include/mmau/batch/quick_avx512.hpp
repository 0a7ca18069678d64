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

/// 2^(F − exp).
MMAU_LANE_FN __m512 units(int32_t F, __m512i exp) {
    return powers_of_two(_mm512_sub_epi32(_mm512_set1_epi32(F + 2 * 127), exp));
}

/// The two vectors of 32 lanes, for each of the rows.
template <class Vector>
using Pairs = Vector[step_rows][2];

/// The largest exponents of products first, first + stride, … of a step, as 32-bit lanes.
MMAU_LANE_FN void find_largest(const Rows& a, const Panel& b, int k, int first, int stride, int L, Pairs<__m512i>& largest) {
    __m512i most[step_rows];
    for (int i = 0; i < step_rows; ++i) most[i] = _mm512_set1_epi16(2 * zero_exp);
    for (int n = k + first; n < k + L; n += stride) {
        const __m512i exp = _mm512_load_si512(b.exp[n]);
        for (int i = 0; i < step_rows; ++i) {
            most[i] = _mm512_max_epi16(most[i], _mm512_add_epi16(exp, _mm512_set1_epi32(a[i]->biased_exp[n])));
        }
    }
    for (int i = 0; i < step_rows; ++i) {
        largest[i][0] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(most[i]));
        largest[i][1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(most[i], 1));
    }
}

/// Adds products first, first + stride, … before `end`, each times `unit`, truncated toward zero, to `sum`; the caller knows that
/// it fits.
MMAU_LANE_FN void add_cut_products(const Rows& a, const Panel& b, int first, int end, int stride, const Pairs<__m512>& unit,
                                   Pairs<__m512i>& sum) {
    __m512i total[step_rows][2];
    for (int i = 0; i < step_rows; ++i) total[i][0] = sum[i][0], total[i][1] = sum[i][1];
    for (int n = first; n < end; n += stride) {
        const __m512 low = _mm512_load_ps(b.value[n]), high = _mm512_load_ps(b.value[n] + 16);
        for (int i = 0; i < step_rows; ++i) {
            const __m512 factor = _mm512_set1_ps(a[i]->value[n]);
            const __m512 x = _mm512_mul_ps(_mm512_mul_ps(low, factor), unit[i][0]);
            const __m512 y = _mm512_mul_ps(_mm512_mul_ps(high, factor), unit[i][1]);
            total[i][0] = _mm512_add_epi32(total[i][0], _mm512_cvttps_epi32(x));
            total[i][1] = _mm512_add_epi32(total[i][1], _mm512_cvttps_epi32(y));
        }
    }
    for (int i = 0; i < step_rows; ++i) sum[i][0] = total[i][0], sum[i][1] = total[i][1];
}

/// Sixteen accumulators. A subnormal one counts as a zero in `exp`: with it alone no sum is simple.
struct FloatVector16 {
    __m512i code, magnitude, exp;

    MMAU_LANE_FN explicit FloatVector16(const uint32_t* codes)
        : code(_mm512_loadu_si512(codes)), magnitude(_mm512_and_si512(code, _mm512_set1_epi32(float_magnitude))),
          exp(_mm512_srli_epi32(magnitude, 23)) {}

    MMAU_LANE_FN __m512 value() const { return _mm512_castsi512_ps(code); }
};

/// The exponents of a step's sums, and which of them are not simple.
struct SumExponents {
    Pairs<__m512i> exp;
    int not_simple = 0;

    /// The larger of the exponents of products and of c, which must be `lowest` at least; where all terms are zero, any will do.
    MMAU_LANE_FN SumExponents(const Accumulating& d, const Pairs<__m512i>& products, int32_t lowest) {
        int low = 0;
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                const FloatVector16 c(*d[i] + 16 * h);
                exp[i][h] = _mm512_max_epi32(products[i][h], c.exp);
                low |= _mm512_cmplt_epi32_mask(exp[i][h], _mm512_set1_epi32(lowest));
                not_simple |= _mm512_cmpge_epi32_mask(c.magnitude, _mm512_set1_epi32(float_infinity));
            }
        }
        if (low) not_simple |= raise_zeros(d, products, lowest);
    }

  private:
    int raise_zeros(const Accumulating& d, const Pairs<__m512i>& products, int32_t lowest) {
        int low = 0;
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) {
                const FloatVector16 c(*d[i] + 16 * h);
                const __mmask16 c_is_zero = _mm512_testn_epi32_mask(c.magnitude, c.magnitude);
                const __m512i none = _mm512_set1_epi32(no_product_exp);
                const __mmask16 all_zero = _mm512_mask_cmplt_epi32_mask(c_is_zero, products[i][h], none);
                exp[i][h] = _mm512_mask_mov_epi32(exp[i][h], all_zero, _mm512_set1_epi32(127));
                low |= _mm512_cmplt_epi32_mask(exp[i][h], _mm512_set1_epi32(lowest));
            }
        }
        return low;
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
MMAU_LANE_FN bool sum_fits_int32(const Plan& plan) { return int64_t{4 * plan.L + 2} << plan.F <= int64_t{1} << 31; }

/// The sum of a step's products and an accumulator, rounded to fp32 in units of the sum's last bit.
template <bool truncates>
MMAU_LANE_FN void sum_step(const Plan& plan, const Rows& a, const Panel& b, int k, const Pairs<__m512>& unit, Pairs<__m512i>& c,
                           Pairs<__m512>& rounded) {
    if (sum_fits_int32(plan)) {
        add_cut_products(a, b, k, k + plan.L, 1, unit, c);
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
    const int group = 1 << products_together_log2(plan), end = k + plan.L;
    for (int first = k; first < end; first += group) {
        Pairs<__m512i> sum = {};
        add_cut_products(a, b, first, smaller(first + group, end), 1, unit, sum);
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

/// One step of t_fdpa_panel; false, and nothing done, where a lane is not simple.
template <bool truncates>
inline bool t_fdpa_quick(const Plan& plan, const Accumulating& d, int k, const Rows& a, const Panel& b) {
    Pairs<__m512i> largest, c;
    Pairs<__m512> unit, rounded;
    find_largest(a, b, k, 0, 1, plan.L, largest);
    const SumExponents found(d, largest, plan.F - 126 + 127);
    if (found.not_simple) return false;
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            unit[i][h] = units(plan.F, found.exp[i][h]);
            c[i][h] = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_loadu_ps(*d[i] + 16 * h), unit[i][h]));
        }
    }
    sum_step<truncates>(plan, a, b, k, unit, c, rounded);
    const __m512i kept = _mm512_set1_epi32(static_cast<int32_t>(~0u << (23 - plan.rho.rounding_format.man_bits)));
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            const __m512 whole = rounded[i][h];
            const __m512 cut = truncates ? _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(whole), kept)) : whole;
            _mm512_storeu_ps(*d[i] + 16 * h, _mm512_mul_ps(cut, powers_of_two(_mm512_sub_epi32(found.exp[i][h], _mm512_set1_epi32(plan.F)))));
        }
    }
    return true;
}

/// T of products first, first + stride, … of a step, which fits 32 bits.
struct VectorSums {
    Pairs<__m512i> exp, total;

    MMAU_LANE_FN VectorSums(const Plan& plan, const Rows& a, const Panel& b, int k, int first, int stride) : total{} {
        const __m512i smallest = _mm512_set1_epi32(smallest_product_exp(plan) + 127);
        Pairs<__m512> unit;
        find_largest(a, b, k, first, stride, plan.L, exp);
        for (int i = 0; i < step_rows; ++i) {
            for (int h = 0; h < 2; ++h) unit[i][h] = units(plan.F, _mm512_max_epi32(exp[i][h], smallest));
        }
        add_cut_products(a, b, k + first, k + plan.L, stride, unit, total);
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

template <bool grouped>
MMAU_LANE_FN VectorSums step_sums(const Plan& plan, const Rows& a, const Panel& b, int k) {
    if (!grouped) return {plan, a, b, k, 0, 1};
    VectorSums even(plan, a, b, k, 0, 2);
    even.join({plan, a, b, k, 1, 2});
    return even;
}

/// Steps 4 and 5 of TR- and GTR-FDPA for every other lane: dot and c, aligned, are added, and cut to F2 bits. A lane of 64 bits
/// has its 32-bit integers in its lower half.
struct WideRounding {
    int dot_down;
    __m512i dot_factor, c_factor, dot_up, low_bits;

    explicit WideRounding(const Plan& plan)
        : dot_down(larger(plan.F - plan.F2 - 1, 0)), dot_factor(_mm512_set1_epi64(int64_t{1} << larger(plan.F2 + 1 - plan.F, 0))),
          c_factor(dot_factor), dot_up(_mm512_set1_epi64(dot_down)),
          low_bits(_mm512_set1_epi64((int64_t{1} << (52 - plan.F2)) - 1)) {}

    MMAU_LANE_FN __m512d operator()(__m512i dot, __m512i below, __m512i c) const {
        __m512i aligned = _mm512_srav_epi64(_mm512_mul_epi32(dot, dot_factor), below);
        if (dot_down) aligned = _mm512_sllv_epi64(aligned, dot_up);
        const __m512i total = _mm512_add_epi64(aligned, _mm512_mul_epi32(c, c_factor));
        // RD to F2 bits below the first: what is dropped of a negative total makes its magnitude larger.
        const __m512i code = _mm512_castpd_si512(_mm512_cvtepi64_pd(total));
        const __m512i away = _mm512_mask_add_epi64(code, _mm512_movepi64_mask(code), code, low_bits);
        return _mm512_castsi512_pd(_mm512_andnot_si512(low_bits, away));
    }

    /// Of all 16 lanes, then rounded to fp32.
    MMAU_LANE_FN __m512 floats(__m512i dot, __m512i below, __m512i c) const {
        const auto odd = [](__m512i x) { return _mm512_srli_epi64(x, 32); };
        const __m512i lower_half = _mm512_set1_epi64(0xFFFFFFFF);
        const __m256 evens = _mm512_cvtpd_ps((*this)(dot, _mm512_and_si512(below, lower_half), c));
        const __m256 odds = _mm512_cvtpd_ps((*this)(odd(dot), odd(below), odd(c)));
        const __m512i in_turn = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        return _mm512_permutex2var_ps(_mm512_castps256_ps512(evens), in_turn, _mm512_castps256_ps512(odds));
    }
};

/// One step of tr_fdpa_panel; false, and nothing done, where a lane is not simple.
template <bool grouped>
inline bool tr_fdpa_quick(const Plan& plan, const Accumulating& d, int k, const Rows& a, const Panel& b) {
    const VectorSums dot = step_sums<grouped>(plan, a, b, k);
    const int32_t lsb_frac = larger(plan.F2 + 1, plan.F);
    const SumExponents found(d, dot.exp, lsb_frac - 126 + 127);
    if (found.not_simple) return false;
    const WideRounding round(plan);
    const __m512i lsb = _mm512_set1_epi32(lsb_frac), one = _mm512_set1_epi32(1), reach = _mm512_set1_epi32(plan.F + 1);
    for (int i = 0; i < step_rows; ++i) {
        for (int h = 0; h < 2; ++h) {
            const __m512i e_out = found.exp[i][h];
            const FloatVector16 z(*d[i] + 16 * h);
            __m512 value = z.value();
            if (grouped) {  // a c further below e_out counts as 0
                const __m512i c_below = _mm512_sub_epi32(e_out, _mm512_max_epi32(z.exp, one));
                value = _mm512_maskz_mov_ps(_mm512_cmple_epi32_mask(c_below, reach), value);
            }
            // Rounded down twice, for the first may leave a subnormal number; a zero of either sign is 0.
            const __m512 aligned = _mm512_mul_round_ps(value, units(plan.F, e_out), toward_minus);
            const __m512i c = _mm512_cvt_roundps_epi32(aligned, toward_minus);
            __m512i below = _mm512_sub_epi32(e_out, dot.exp[i][h]);
            if (round.dot_down) below = _mm512_add_epi32(below, _mm512_set1_epi32(round.dot_down));
            const __m512 rounded = round.floats(dot.total[i][h], below, c);
            _mm512_storeu_ps(*d[i] + 16 * h, _mm512_mul_ps(rounded, powers_of_two(_mm512_sub_epi32(e_out, lsb))));
        }
    }
    return true;
}

MMAU_NAMESPACE_END
