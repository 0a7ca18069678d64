// Exact dot products of the groups of a GST-FDPA step, as integers in units of the product of both formats' smallest
// subnormals.
#pragma once

#include "special_lanes.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

MMAU_NAMESPACE_BEGIN

/// Group g's sum, and whether any of its products is not zero.
struct GroupSums {
    Lanes<int32_t> sum[max_lane_length];
    Lanes<uint32_t> any_product[max_lane_length];
};

/// An operand as an integer in units of its format's smallest subnormal.
MMAU_LANE_FN int32_t fixed_point_lane(const Lane& x) {
    return with_sign(static_cast<int32_t>(x.sig << (x.exp - 1)), x.sign);
}

/// Any formats whose sums fit 32 bits. Marks the rows with operands that are not finite.
template <class Code>
inline void sum_groups(Block& block, const StepCodes<Code>& codes, GroupSums& groups) {
    const Plan& plan = block.plan;
    const LaneFormat x(plan.a), y(plan.b);
    for (int g = 0; g < plan.L / plan.G; ++g) {
        Lanes<int32_t> sum{};
        Lanes<uint32_t> any_product{}, special{};
        for (int k = g * plan.G; k < (g + 1) * plan.G; ++k) {
            for (int r = 0; r < lanes; ++r) {
                const Lane p = decode_lane(x, codes.a[k][r]), q = decode_lane(y, codes.b[k][r]);
                const int32_t product = fixed_point_lane(p) * fixed_point_lane(q);
                sum[r] += product;
                any_product[r] |= static_cast<uint32_t>(product);
                special[r] |= p.special | q.special;
            }
        }
        for (int r = 0; r < lanes; ++r) {
            groups.sum[g][r] = sum[r], groups.any_product[g][r] = any_product[r], block.special[r] |= special[r];
        }
    }
}

/// FP4 operands of a step, where they are in the rows.
struct Fp4Step {
    int first;  ///< product
};

struct Fp4Rows {
    using Step = Fp4Step;
    int first;

    Fp4Rows(const Block&, int first_product, int) : first(first_product) {}
    Step step(int k) const { return {first + k}; }
};

inline bool is_fp4(const Format& format) { return format.width() == 4; }

/// FP4 codes as integers in units of 2^−1: the magnitudes 0, 1, 2, 3, 4, 6, 8, 12 are the largest of three straight lines.
MMAU_LANE_FN int8_t fp4_value(uint8_t code) {
    const auto m = static_cast<int8_t>(code & 7), sign = static_cast<int8_t>(-(code >> 3));
    const auto line_2 = static_cast<int8_t>(2 * m - 4), line_4 = static_cast<int8_t>(4 * m - 16);
    const int8_t magnitude = larger(m, larger(line_2, line_4));
    return static_cast<int8_t>((magnitude ^ sign) - sign);
}

/// The codes as lanes; the sum of max_lane_length products of at most 144 fits 16 bits.
inline void sum_fp4_lanes(const Block& block, int first, GroupSums& groups) {
    const Plan& plan = block.plan;
    const Codes<uint8_t> codes(block, first, plan.L);
    for (int g = 0; g < plan.L / plan.G; ++g) {
        Lanes<int16_t> total{}, any{};
        for (int k = g * plan.G; k < (g + 1) * plan.G; ++k) {
            for (int r = 0; r < lanes; ++r) {
                const auto product = static_cast<int16_t>(fp4_value(codes.a[k][r]) * fp4_value(codes.b[k][r]));
                total[r] = static_cast<int16_t>(total[r] + product);
                any[r] = static_cast<int16_t>(any[r] | product);
            }
        }
        for (int r = 0; r < lanes; ++r) groups.sum[g][r] = total[r], groups.any_product[g][r] = any[r] != 0;
    }
}

#ifdef __AVX2__

constexpr int row_bytes = 64, group_bytes = 16;  // a step of four groups

#ifdef __AVX512BW__

using Fp4Vector = __m512i;  ///< a whole step of a row

MMAU_LANE_FN Fp4Vector fp4_table(__m128i values) { return _mm512_broadcast_i32x4(values); }

/// Four partial sums of each group, each of four products |a| · (±b), for one factor must be unsigned.
MMAU_LANE_FN Fp4Vector multiply_fp4(const uint8_t* a_codes, const uint8_t* b_codes, Fp4Vector magnitudes, Fp4Vector values,
                                    uint64_t& not_zero) {
    const __m512i sign = _mm512_set1_epi8(8), magnitude = _mm512_set1_epi8(7);
    const __m512i a = _mm512_loadu_si512(a_codes), b = _mm512_loadu_si512(b_codes);
    const __m512i signed_b = _mm512_xor_si512(b, _mm512_and_si512(a, sign));
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_shuffle_epi8(magnitudes, a), _mm512_shuffle_epi8(values, signed_b));
    not_zero = _mm512_mask_test_epi8_mask(_mm512_test_epi8_mask(a, magnitude), b, magnitude);
    return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}

/// The sums of a vector's groups for four rows, from the partial sums of each.
MMAU_LANE_FN Fp4Vector joined_fp4(const Fp4Vector (&row)[4]) {
    const __m512i even = _mm512_add_epi32(_mm512_unpacklo_epi32(row[0], row[1]), _mm512_unpackhi_epi32(row[0], row[1]));
    const __m512i odd = _mm512_add_epi32(_mm512_unpacklo_epi32(row[2], row[3]), _mm512_unpackhi_epi32(row[2], row[3]));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
}

#else

using Fp4Vector = __m256i;  ///< half a step of a row

MMAU_LANE_FN Fp4Vector fp4_table(__m128i values) { return _mm256_broadcastsi128_si256(values); }

MMAU_LANE_FN Fp4Vector multiply_fp4(const uint8_t* a_codes, const uint8_t* b_codes, Fp4Vector magnitudes, Fp4Vector values,
                                    uint64_t& not_zero) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a_codes));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b_codes));
    const __m256i signed_b = _mm256_xor_si256(b, _mm256_and_si256(a, _mm256_set1_epi8(8)));
    const __m256i x = _mm256_shuffle_epi8(magnitudes, a), y = _mm256_shuffle_epi8(values, signed_b);
    const __m256i magnitude = _mm256_set1_epi8(7);
    const __m256i smaller = _mm256_min_epu8(_mm256_and_si256(a, magnitude), _mm256_and_si256(b, magnitude));
    const __m256i zeros = _mm256_cmpeq_epi8(smaller, _mm256_setzero_si256());
    not_zero = ~static_cast<uint32_t>(_mm256_movemask_epi8(zeros));
    return _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), _mm256_set1_epi16(1));
}

MMAU_LANE_FN Fp4Vector joined_fp4(const Fp4Vector (&row)[4]) {
    const __m256i even = _mm256_add_epi32(_mm256_unpacklo_epi32(row[0], row[1]), _mm256_unpackhi_epi32(row[0], row[1]));
    const __m256i odd = _mm256_add_epi32(_mm256_unpacklo_epi32(row[2], row[3]), _mm256_unpackhi_epi32(row[2], row[3]));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
}

#endif

inline void sum_groups(Block& block, const Fp4Step& step, GroupSums& groups) {
    const Plan& plan = block.plan;
    if (plan.L != row_bytes || plan.G != group_bytes) return sum_fp4_lanes(block, step.first, groups);
    constexpr int bytes = sizeof(Fp4Vector), together = bytes / group_bytes;
    const Fp4Vector magnitudes = fp4_table(_mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, 1, 2, 3, 4, 6, 8, 12));
    const Fp4Vector values = fp4_table(_mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12));
    for (int first = 0; first < row_bytes; first += bytes) {
        Lanes<uint64_t> not_zero;
        for (int r = 0; r < lanes; r += 4) {
            Fp4Vector row[4];
            for (int i = 0; i < 4; ++i) {
                const auto* a = static_cast<const uint8_t*>(block.row[r + i].a) + step.first + first;
                const auto* b = static_cast<const uint8_t*>(block.row[r + i].b) + step.first + first;
                row[i] = multiply_fp4(a, b, magnitudes, values, not_zero[r + i]);
            }
            const Fp4Vector sums = joined_fp4(row);
            __m128i of_group[together];
            std::memcpy(of_group, &sums, sizeof sums);
            for (int g = 0; g < together; ++g) std::memcpy(&groups.sum[first / group_bytes + g][r], &of_group[g], sizeof of_group[g]);
        }
        for (int g = 0; g < together; ++g) {
            Lanes<uint32_t>& any = groups.any_product[first / group_bytes + g];
            for (int r = 0; r < lanes; ++r) any[r] = not_zero[r] >> (g * group_bytes) & 0xFFFFu;
        }
    }
}

#else

inline void sum_groups(Block& block, const Fp4Step& step, GroupSums& groups) { sum_fp4_lanes(block, step.first, groups); }

#endif

MMAU_NAMESPACE_END
