// What the stimulus at volume is made for: formats and lengths, checked, with what follows from them.
#pragma once

#include "../formats.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

constexpr int max_K = 1 << 16;
constexpr int max_tile = 1 << 10;  ///< m and n
constexpr int64_t max_elements = 1 << 26;  ///< of a tile's A, and of its B
constexpr int moderate = 24;       ///< exponents of `normal` products lie in −24 … 24 where the formats reach that far

/// A format, its range, and what its codes are put together from.
struct Operand {
    Format format;
    int lowest;               // exponent of the leading bit of the smallest positive number, subnormals included
    int e_max;                // exponent of the largest finite number
    int e_min, man_bits, pad_bits, sign_place;
    uint64_t max_field;       // exponent and mantissa of the largest finite number
    uint64_t hidden;          // the hidden bit, 0 in a format without subnormals
    uint64_t sign_bit;        // 0 where unsigned
    uint64_t sign_mask;       // the top bit of a code that has one, signed or not
    uint64_t negative_zero;   // 0 where the format has none
};

MMAU_FN constexpr Operand operand_of(const Format& f) {
    const int lowest = f.subnormals ? f.e_min() - f.man_bits : f.e_min();
    const int e_max = static_cast<int>(f.max_field() >> f.man_bits) - f.bias;
    const uint64_t hidden = f.subnormals ? uint64_t{1} << f.man_bits : 0;
    const bool has_top = f.width() > f.exp_bits + f.man_bits + f.pad_bits;
    const uint64_t sign_mask = has_top ? uint64_t{1} << (f.width() - 1) : 0;
    return {f, lowest, e_max, f.e_min(), f.man_bits, f.pad_bits, f.width() - 1, f.max_field(), hidden, f.sign_bit(), sign_mask,
            f.negative_zero()};
}

struct Plan {
    Operand a, b, c, d, scale;
    int K, K_block, blocks;  // K_block and blocks are 0 where unscaled
    int one_in_K;            // of 65,536: the odds at which one product of a row is met on average
    int low, high;           // exponents of the smallest and largest power-of-two product, scales included
    int element_low, element_high;  // the same without scales
    int pairs;               // k and k ^ p, 0 < p < pairs, lie in one block
    int places;              // k → k ^ p, 0 ≤ p < places, moves a row's products, and whole blocks with their scales
    bool rotates;            // products may also move by any number of places
    bool of_integers;
};

/// The lowest bit of x.
MMAU_FN constexpr int low_bit(int x) { return x & -x; }

MMAU_FN constexpr Plan make_plan(const mmau_stimulus& s) {
    Format d = format_of(s.d);
    d.man_bits = s.d_man_bits;
    Plan plan{operand_of(format_of(s.a)), operand_of(format_of(s.b)), operand_of(format_of(s.c)), operand_of(d),
              operand_of(format_of(s.scale)), s.K, s.K_block, 0, 65536 / s.K, 0, 0, 0, 0, 0, 0, false, s.c == MMAU_INT32};
    plan.element_low = plan.low = plan.a.lowest + plan.b.lowest;
    plan.element_high = plan.high = plan.a.e_max + plan.b.e_max;
    const int power = 1 << ceil_log2(s.K);
    plan.pairs = power;
    plan.places = low_bit(s.K);
    plan.rotates = power != s.K && !s.K_block;
    if (s.K_block) {
        plan.blocks = ceil_div(s.K, s.K_block);
        plan.low += 2 * plan.scale.lowest;
        plan.high += 2 * plan.scale.e_max;
        const int block_power = low_bit(s.K_block);
        plan.pairs = smaller(power, block_power);
        const bool blocks_move = block_power == s.K_block && s.K % s.K_block == 0;
        plan.places = blocks_move ? plan.places : smaller(plan.places, block_power);
    }
    return plan;
}

/// Integers as factors, of at most 8 bits.
MMAU_FN constexpr bool is_factor_integer(int format) { return is_integer_format(format) && format_of(format).width() <= 8; }

/// The formats of a stimulus of integers: at most 8 bits in a and b, int32 in c and d, no scales.
MMAU_FN constexpr bool are_integers(const mmau_stimulus& s) {
    const bool sums = s.c == MMAU_INT32 && s.d == MMAU_INT32 && !s.d_man_bits;
    return is_factor_integer(s.a) && is_factor_integer(s.b) && sums && !s.K_block;
}

/// MMAU_OK, or the first rule that a stimulus breaks.
MMAU_FN constexpr int check(const mmau_stimulus& s) {
    if (are_integers(s)) return s.K < 1 || s.K > max_K ? MMAU_BAD_K : MMAU_OK;
    if (!is_number_format(s.a) || !is_number_format(s.b)) return MMAU_BAD_FORMAT;
    if (!is_number_format(s.c) || !is_number_format(s.d)) return MMAU_BAD_FORMAT;
    if (s.d_man_bits < 1 || s.d_man_bits > format_of(s.d).man_bits) return MMAU_BAD_FORMAT;
    if (s.K < 1 || s.K > max_K) return MMAU_BAD_K;
    if (s.K_block < 0 || s.K_block > max_K) return MMAU_BAD_K_BLOCK;
    return is_number_format(s.scale) && (!s.K_block || format_of(s.scale).width() <= 32) ? MMAU_OK : MMAU_BAD_SCALE;
}

/// Whether tiles of m rows of A and n columns of B fit the counters.
MMAU_FN constexpr bool tile_fits(const mmau_stimulus& s, int m, int n) {
    if (m < 1 || n < 1 || m > max_tile || n > max_tile) return false;
    return int64_t{m} * s.K <= max_elements && int64_t{n} * s.K <= max_elements;
}

}  // namespace stimulus

MMAU_NAMESPACE_END
