// The loops that compilers do not turn into the best vector instructions: with intrinsics where the instruction set has
// them, else as plain loops of the same name and the same results.
#pragma once

#include "block.hpp"

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

MMAU_NAMESPACE_BEGIN

/// value truncated toward zero; 0 where it does not fit, which only a row with infinity or NaN has.
MMAU_LANE_FN int32_t cut_lane(float value) {
    const uint32_t code = bits_as<uint32_t>(value);
    const bool fits = static_cast<int32_t>(code & 0x7FFFFFFFu) < (127 + 31) << 23;
    return static_cast<int32_t>(bits_as<float>(code & (0u - static_cast<uint32_t>(fits))));
}
MMAU_LANE_FN int32_t cut_lane(double value) {
    const uint64_t code = bits_as<uint64_t>(value);
    const bool fits = static_cast<int64_t>(code & ~uint64_t{0} >> 1) < int64_t{1023 + 31} << 52;
    return static_cast<int32_t>(bits_as<double>(code & (uint64_t{0} - static_cast<uint64_t>(fits))));
}

#ifdef __AVX512F__

/// The values of fp16 codes, times a power of two.
inline void widen_halves(const Lanes<uint16_t>& codes, float factor, Lanes<float>& value) {
    for (int r = 0; r < lanes; r += 16) {
        const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + r)));
        _mm512_storeu_ps(value + r, _mm512_mul_ps(x, _mm512_set1_ps(factor)));
    }
}

/// The products of fp16 codes: exact in fp32, for they have 22 bits and exponents −48 … 31.
inline void multiply_halves(const Lanes<uint16_t>& a, const Lanes<uint16_t>& b, Lanes<float>& product) {
    for (int r = 0; r < lanes; r += 16) {
        const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + r)));
        const __m512 y = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + r)));
        _mm512_storeu_ps(product + r, _mm512_mul_ps(x, y));
    }
}

/// Σ of every `stride`-th of `count` products, each times `unit`, truncated toward zero; the caller knows that the sum fits.
inline void sum_cut(const Lanes<float>* products, int count, int stride, const Lanes<float>& unit, Lanes<int32_t>& sum) {
    const __m512 low_unit = _mm512_loadu_ps(unit), high_unit = _mm512_loadu_ps(unit + 16);
    __m512i low = _mm512_setzero_si512(), high = low;
    for (int k = 0; k < count; k += stride) {
        low = _mm512_add_epi32(low, _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_loadu_ps(products[k]), low_unit)));
        high = _mm512_add_epi32(high, _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_loadu_ps(products[k] + 16), high_unit)));
    }
    _mm512_storeu_si512(sum, low);
    _mm512_storeu_si512(sum + 16, high);
}

inline void sum_cut(const Lanes<double>* products, int count, int stride, const Lanes<double>& unit, Lanes<int32_t>& sum) {
    for (int r = 0; r < lanes; r += 8) {
        const __m512d row_unit = _mm512_loadu_pd(unit + r);
        __m256i total = _mm256_setzero_si256();
        for (int k = 0; k < count; k += stride) {
            const __m512d aligned = _mm512_mul_pd(_mm512_loadu_pd(products[k] + r), row_unit);
            total = _mm256_add_epi32(total, _mm512_cvttpd_epi32(aligned));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + r), total);
    }
}

#else

#ifdef __F16C__

inline void widen_halves(const Lanes<uint16_t>& codes, float factor, Lanes<float>& value) {
    for (int r = 0; r < lanes; r += 8) {
        const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + r)));
        _mm256_storeu_ps(value + r, _mm256_mul_ps(x, _mm256_set1_ps(factor)));
    }
}

inline void multiply_halves(const Lanes<uint16_t>& a, const Lanes<uint16_t>& b, Lanes<float>& product) {
    for (int r = 0; r < lanes; r += 8) {
        const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + r)));
        const __m256 y = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + r)));
        _mm256_storeu_ps(product + r, _mm256_mul_ps(x, y));
    }
}

#else

/// An fp16 code as fp32, exact: its fields under fp32's bias, times the power of two between the biases.
MMAU_LANE_FN float widened_half(uint32_t code) {
    constexpr uint32_t infinity = 0x7F800000u;
    const float rebias = bits_as<float>((127u + 127 - 15) << 23);
    const float magnitude = bits_as<float>((code & 0x7FFFu) << 13) * rebias;
    const uint32_t special = 0u - static_cast<uint32_t>((code & 0x7C00u) == 0x7C00u);
    return bits_as<float>(bits_as<uint32_t>(magnitude) | (special & infinity) | (code & 0x8000u) << 16);
}

inline void multiply_halves(const Lanes<uint16_t>& a, const Lanes<uint16_t>& b, Lanes<float>& product) {
    for (int r = 0; r < lanes; ++r) product[r] = widened_half(a[r]) * widened_half(b[r]);
}

#endif

template <class Real>
inline void sum_cut(const Lanes<Real>* products, int count, int stride, const Lanes<Real>& unit, Lanes<int32_t>& sum) {
    Lanes<uint32_t> total{};  // unsigned: a row with infinity or NaN may overflow
    for (int k = 0; k < count; k += stride) {
        for (int r = 0; r < lanes; ++r) total[r] += static_cast<uint32_t>(cut_lane(products[k][r] * unit[r]));
    }
    for (int r = 0; r < lanes; ++r) sum[r] = static_cast<int32_t>(total[r]);
}

#endif

MMAU_NAMESPACE_END
