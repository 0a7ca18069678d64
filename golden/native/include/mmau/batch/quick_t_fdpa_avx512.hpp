// T-FDPA's quick steps in AVX-512, which rounds a conversion by a mode of its own: sums stay integers, and those of 32 bits
// become fp32 at once.
#pragma once

#include "quick_avx512.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

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
            const __m512i kept = _mm512_and_si512(_mm512_castps_si512(whole), step.kept);
            const __m512 cut = truncates ? _mm512_castsi512_ps(kept) : whole;
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

MMAU_NAMESPACE_END
