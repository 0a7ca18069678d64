// The corner table: directed rows made once (golden/stimulus/volume/fill.py), which the stimulus varies.
//
// One block of memory, each part filled up to a multiple of 8 bytes:
//     int64_t rows, bytes             bytes: of the whole block
//     mmau_stimulus                   what it was made for
//     int32_t about[rows][8]          see About
//     a[rows][K], b[rows][K], c[rows], and where scaled scale_a[rows][blocks], scale_b[rows][blocks]
#pragma once

#include "numbers.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// What is known of a corner row: its label, and how far exponents may be moved down and up without leaving the normal numbers:
/// those of a (where scaled, of scale_a), of b (of scale_b), and of c.
enum About { LABEL, A_DOWN, A_UP, B_DOWN, B_UP, C_DOWN, C_UP, ABOUT = 8 /* how many, one spare */ };

struct Corners {
    int64_t rows;  // 0: there is no table
    const int32_t* about;
    const void *a, *b, *c, *scale_a, *scale_b;
};

constexpr int64_t head_bytes = 16 + sizeof(mmau_stimulus);

MMAU_FN constexpr int64_t filled_up(int64_t bytes) { return (bytes + 7) / 8 * 8; }

MMAU_FN constexpr int64_t bytes_of(const Operand& x, int64_t count) { return filled_up(count * (x.format.storage_bits / 8)); }

/// Bytes of a table of so many rows.
MMAU_FN constexpr int64_t table_bytes(const Plan& plan, int64_t rows) {
    return head_bytes + filled_up(rows * ABOUT * 4) + bytes_of(plan.a, rows * plan.K) + bytes_of(plan.b, rows * plan.K) +
           bytes_of(plan.c, rows) + 2 * bytes_of(plan.scale, rows * plan.blocks);
}

/// The parts of a table; `table` may be null.
MMAU_FN Corners corners_in(const Plan& plan, const void* table) {
    if (!table) return {0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    const int64_t rows = static_cast<const int64_t*>(table)[0];
    const char* part = static_cast<const char*>(table) + head_bytes;
    Corners corners{rows, reinterpret_cast<const int32_t*>(part), nullptr, nullptr, nullptr, nullptr, nullptr};
    part += filled_up(rows * ABOUT * 4);
    corners.a = part;
    part += bytes_of(plan.a, rows * plan.K);
    corners.b = part;
    part += bytes_of(plan.b, rows * plan.K);
    corners.c = part;
    part += bytes_of(plan.c, rows);
    corners.scale_a = part;
    corners.scale_b = part + bytes_of(plan.scale, rows * plan.blocks);
    return corners;
}

MMAU_FN constexpr bool same(const mmau_stimulus& x, const mmau_stimulus& y) {
    const bool scales = x.K_block == y.K_block && (!x.K_block || x.scale == y.scale);
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.d_man_bits == y.d_man_bits && x.K == y.K && scales;
}

/// Whether a block of memory is a table that was made for this stimulus, as far as its head tells.
MMAU_FN bool is_table(const mmau_stimulus& stimulus, const void* table, int64_t bytes) {
    if (bytes < head_bytes) return false;
    const int64_t* sizes = static_cast<const int64_t*>(table);
    if (sizes[0] < 1 || sizes[0] > bytes || sizes[1] != bytes) return false;
    if (!same(stimulus, *reinterpret_cast<const mmau_stimulus*>(sizes + 2))) return false;
    return table_bytes(make_plan(stimulus), sizes[0]) == bytes;
}

constexpr uint32_t corner_word = 31;  ///< the place of the header word that chooses a corner

/// How one row varies its corner.
struct Variation {
    int64_t row;               // of the table
    uint32_t signs;            // 1: signs of a_k and b_k may change together
    int swap, turn;            // product k is the table's (k + turn) mod K, then ^ swap
    int down_a, span_a;        // exponents of a (or its scales) move by −down_a … span_a − 1 − down_a
    int down_b, span_b;
};

/// Variation of the row with these draws: half of the rows keep the places, half the exponents.
MMAU_FN Variation variation_of(const Plan& plan, const Corners& corners, Key key, Draws& draw) {
    Variation v{0, 0, 0, 0, 0, 1, 0, 1};
    const uint64_t random = static_cast<uint64_t>(word(key, HEADER, corner_word));
    v.row = static_cast<int64_t>(random * static_cast<uint64_t>(corners.rows) >> 32);
    const int32_t* about = corners.about + v.row * ABOUT;
    v.signs = draw.below(4) > 0;
    const bool moves = draw.below(2);
    const int swap = draw.below(plan.places), turn = plan.rotates ? draw.below(plan.K) : 0;
    v.swap = moves ? swap : 0;
    v.turn = moves ? turn : 0;
    if (draw.below(2)) {
        v.down_a = smaller(about[A_DOWN], about[C_DOWN] >> 1);
        v.span_a = v.down_a + smaller(about[A_UP], about[C_UP] >> 1) + 1;
        v.down_b = smaller(about[B_DOWN], (about[C_DOWN] + 1) >> 1);
        v.span_b = v.down_b + smaller(about[B_UP], (about[C_UP] + 1) >> 1) + 1;
    }
    return v;
}

/// The table's place of product k.
MMAU_LANE_FN constexpr int place_of(const Plan& plan, const Variation& v, int k) {
    const int turned = k + v.turn;
    return (turned >= plan.K ? turned - plan.K : turned) ^ v.swap;
}

/// By how much exponents of row i of A move, or of column j of B.
MMAU_LANE_FN constexpr int shift_of(uint32_t row_word, int down, int span) { return below(row_word >> 16, span) - down; }

}  // namespace stimulus

MMAU_NAMESPACE_END
