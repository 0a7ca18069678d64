// From rows of codes to lanes: a square tile at a time, by interleaving vectors.
#pragma once

#include "interleave.hpp"

MMAU_NAMESPACE_BEGIN

/// Transpose `side` vectors of pieces of `side` codes: after log2(side) rounds of interleaving vector i with vector
/// i + side/2.
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
    constexpr int side = piece_bytes / sizeof(Code), rows = pieces<Code>;
    const int tiled = count / side * side;
    const auto at = [&](int r, int k) { return static_cast<const Code*>(block.row[r].*operand) + first + k; };
    for (int r = 0; r < lanes; r += rows * side) {
        for (int k = 0; k < tiled; k += side) {
            Vector<Code> tile[side];
            for (int i = 0; i < side; ++i) {
                const void* row[rows];
                for (int piece = 0; piece < rows; ++piece) row[piece] = at(r + piece * side + i, k);
                load_pieces(row, tile[i]);
            }
            transpose_tile<Code, side>(tile);
            for (int i = 0; i < side; ++i) std::memcpy(&codes[k + i][r], &tile[i], sizeof tile[i]);
        }
    }
    for (int r = 0; r < lanes; ++r) {
        for (int k = tiled; k < count; ++k) codes[k][r] = *at(r, k);
    }
}

/// The operands of one step as lanes.
template <class Code>
struct StepCodes {
    const Lanes<Code>*a, *b;
};

/// The operands of some steps as lanes: products first … first+count−1.
template <class Code>
struct Codes {
    using Step = StepCodes<Code>;
    Lanes<Code> a[max_lane_length], b[max_lane_length];

    Codes(const Block& block, int first, int count) {
        gather(block, &Row::a, first, count, a);
        gather(block, &Row::b, first, count, b);
    }
    Step step(int k) const { return {a + k, b + k}; }
};

MMAU_NAMESPACE_END
