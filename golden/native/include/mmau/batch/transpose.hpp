// From rows of codes to lanes: a square tile at a time, by interleaving vectors.
#pragma once

#include "block.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int vector_bytes = 16;

template <class Code>
struct VectorOf {
    typedef Code type __attribute__((vector_size(vector_bytes)));
};

template <class Code>
using Vector = typename VectorOf<Code>::type;

/// The low (high) halves of x and y, element by element in turn.
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

/// Transpose `side` vectors of `side` codes: after log2(side) rounds of interleaving vector i with vector i + side/2.
template <class Code, int side>
inline void transpose_tile(Vector<Code> (&tile)[side]) {
    for (int round = 1; round < side; round *= 2) {
        Vector<Code> next[side];
        for (int i = 0; i < side / 2; ++i) {
            next[2 * i] = interleave_low(tile[i], tile[i + side / 2]);
            next[2 * i + 1] = interleave_high(tile[i], tile[i + side / 2]);
        }
        for (int i = 0; i < side; ++i) tile[i] = next[i];
    }
}

/// Which operand of a row: its array.
using Member = const void* Row::*;

/// codes[k][r] = product first + k of row r.
template <class Code>
inline void gather(const Block& block, Member operand, int first, int count, Lanes<Code>* codes) {
    constexpr int side = vector_bytes / sizeof(Code);
    const int tiled = count / side * side;
    const auto row = [&](int r) { return static_cast<const Code*>(block.row[r].*operand) + first; };
    for (int r = 0; r < lanes; r += side) {
        for (int k = 0; k < tiled; k += side) {
            Vector<Code> tile[side];
            for (int i = 0; i < side; ++i) std::memcpy(&tile[i], row(r + i) + k, vector_bytes);
            transpose_tile<Code, side>(tile);
            for (int i = 0; i < side; ++i) std::memcpy(&codes[k + i][r], &tile[i], vector_bytes);
        }
    }
    for (int r = 0; r < lanes; ++r) {
        for (int k = tiled; k < count; ++k) codes[k][r] = row(r)[k];
    }
}

/// A step's operands as lanes.
template <class Code>
struct Codes {
    Lanes<Code> a[max_lane_length], b[max_lane_length];

    Codes(const Block& block, int first) {
        gather(block, &Row::a, first, block.plan.L, a);
        gather(block, &Row::b, first, block.plan.L, b);
    }
};

MMAU_NAMESPACE_END
