// Vectors of pieces of rows, and their interleaving: with intrinsics where a vector holds more than one piece.
#pragma once

#include "block.hpp"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

MMAU_NAMESPACE_BEGIN

constexpr int piece_bytes = 16;  ///< as many bytes of a row as a vector takes of it

#ifdef __AVX512BW__

/// Pieces of so many rows side by side.
template <class Code>
constexpr int pieces = 2;

template <class Code>
struct VectorOf {
    typedef Code type __attribute__((vector_size(piece_bytes * pieces<Code>)));
};

template <class Code>
using Vector = typename VectorOf<Code>::type;

/// The low (high) halves of every piece of x and y, element by element in turn.
inline Vector<uint8_t> interleave_low(Vector<uint8_t> x, Vector<uint8_t> y) {
    return (Vector<uint8_t>)_mm256_unpacklo_epi8((__m256i)x, (__m256i)y);
}
inline Vector<uint8_t> interleave_high(Vector<uint8_t> x, Vector<uint8_t> y) {
    return (Vector<uint8_t>)_mm256_unpackhi_epi8((__m256i)x, (__m256i)y);
}
inline Vector<uint16_t> interleave_low(Vector<uint16_t> x, Vector<uint16_t> y) {
    return (Vector<uint16_t>)_mm256_unpacklo_epi16((__m256i)x, (__m256i)y);
}
inline Vector<uint16_t> interleave_high(Vector<uint16_t> x, Vector<uint16_t> y) {
    return (Vector<uint16_t>)_mm256_unpackhi_epi16((__m256i)x, (__m256i)y);
}
inline Vector<uint32_t> interleave_low(Vector<uint32_t> x, Vector<uint32_t> y) {
    return (Vector<uint32_t>)_mm256_unpacklo_epi32((__m256i)x, (__m256i)y);
}
inline Vector<uint32_t> interleave_high(Vector<uint32_t> x, Vector<uint32_t> y) {
    return (Vector<uint32_t>)_mm256_unpackhi_epi32((__m256i)x, (__m256i)y);
}

inline __m128i load_piece(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

template <class TwoPieces>
inline void load_pieces(const void* const (&row)[2], TwoPieces& vector) {
    vector = (TwoPieces)_mm256_inserti128_si256(_mm256_castsi128_si256(load_piece(row[0])), load_piece(row[1]), 1);
}

#else

template <class Code>
constexpr int pieces = 1;

template <class Code>
struct VectorOf {
    typedef Code type __attribute__((vector_size(piece_bytes)));
};

template <class Code>
using Vector = typename VectorOf<Code>::type;

inline Vector<uint8_t> interleave_low(Vector<uint8_t> x, Vector<uint8_t> y) {
    return __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vector<uint8_t> interleave_high(Vector<uint8_t> x, Vector<uint8_t> y) {
    return __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
inline Vector<uint16_t> interleave_low(Vector<uint16_t> x, Vector<uint16_t> y) {
    return __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
}
inline Vector<uint16_t> interleave_high(Vector<uint16_t> x, Vector<uint16_t> y) {
    return __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
}
inline Vector<uint32_t> interleave_low(Vector<uint32_t> x, Vector<uint32_t> y) {
    return __builtin_shufflevector(x, y, 0, 4, 1, 5);
}
inline Vector<uint32_t> interleave_high(Vector<uint32_t> x, Vector<uint32_t> y) {
    return __builtin_shufflevector(x, y, 2, 6, 3, 7);
}

template <class OnePiece>
inline void load_pieces(const void* const (&row)[1], OnePiece& vector) {
    std::memcpy(&vector, row[0], piece_bytes);
}

#endif

MMAU_NAMESPACE_END
