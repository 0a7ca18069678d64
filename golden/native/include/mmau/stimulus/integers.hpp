// Rows and tiles of integers (a and b of at most 8 bits, c int32): classes with the names of the others, and corners as they are.
//
// A number is a word shifted right, so that it has few bits or all; a c that completes a sum is computed from the elements.
#pragma once

#include "elements.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// What an element or c is made as.
enum class Made {
    number,      // any bits, but for those that it lacks
    single_bit,  // one bit, all below one bit, or the complement of these
    end,         // about the largest number, or about the smallest
    to_zero,     // c alone: what makes the whole sum −1, 0 or 1
    to_end       // c alone: what takes the whole sum to an end of c's range, a few short of it or beyond
};

struct IntegerHeader {
    Key key;
    int label;
    bool is_corner;
    Variation corner;      // its places alone: no integer's exponent or sign is changed
    int lack_a, lack_b, lack_c;  // bits that numbers lack, of 8 and of 32
    Made elements, addend;
    uint32_t mixed_ends, top_end;  // of `end`: each at an end of its own, or all at the largest or the smallest
    int pair;              // products k and k ^ pair cancel; 0: none do
    int only;              // product `only` alone is not zero; −1: no product is left out
    int special_odds;      // so many of 65,536 are landmarks
    bool one_off;          // of a corner: c may be one more or less
};

constexpr int few_bits = 2;        ///< of `tiny` numbers, and how far elements lie from an end
constexpr int few_bits_of_c = 20;  ///< how far c lies from an end at most

/// Products that cancel need a sign.
MMAU_FN constexpr bool has_signs(const Plan& plan) { return plan.a.format.is_signed || plan.b.format.is_signed; }

/// The header of row (or tile) `index`, as `header_of` shares them out. All classes draw the same numbers.
MMAU_FN IntegerHeader integer_header_of(const Plan& plan, const Corners& corners, uint64_t seed, uint64_t index) {
    IntegerHeader h{};
    h.key = key_of(seed, index);
    h.only = -1;
    Draws draw(h.key);
    h.is_corner = corners.rows && index & 1;
    if (h.is_corner) {
        h.corner = variation_of(plan, corners, h.key, draw);
        h.label = corners.about[h.corner.row * ABOUT + LABEL];
        h.one_off = draw.below(4) == 0;
        return h;
    }
    h.label = static_cast<int>((corners.rows ? index >> 1 : index) % classes);
    const int lack_a = draw.below(8), lack_b = draw.below(8), lack_c = draw.below(32);
    const int place = draw.below(plan.K), odds = draw.below(3), pair = 1 + draw.below(larger(plan.pairs - 1, 1));
    const bool either = draw.below(2);
    h.mixed_ends = static_cast<uint32_t>(draw.below(2));
    h.top_end = static_cast<uint32_t>(draw.below(2));
    h.lack_a = lack_a;
    h.lack_b = lack_b;
    h.lack_c = lack_c;
    switch (static_cast<Class>(h.label)) {
        case Class::bits: h.lack_a = h.lack_b = h.lack_c = 0; break;
        case Class::cancel:
            h.pair = plan.K > 1 && has_signs(plan) ? pair : 0;
            h.addend = either && h.pair ? Made::number : Made::to_zero;
            break;
        case Class::specials: h.special_odds = odds == 2 ? 21845 : smaller(odds ? 2 * plan.one_in_K : plan.one_in_K, 65536); break;
        case Class::tiny:
            h.lack_a = h.lack_b = 8 - few_bits;
            h.lack_c = 32 - few_bits;
            break;
        case Class::huge: h.elements = h.addend = Made::end; break;
        case Class::apart:
            h.elements = h.addend = Made::single_bit;
            h.only = either ? place : -1;
            break;
        case Class::completed:
            h.elements = either ? Made::end : Made::number;
            h.addend = Made::to_end;
            break;
        default: break;
    }
    return h;
}

MMAU_LANE_FN constexpr uint32_t all_bits(const Operand& x) { return ~uint32_t{0} >> (31 - x.sign_place); }

/// The number that a code stands for.
MMAU_LANE_FN int64_t integer_of(const Operand& x, uint64_t code) {
    return static_cast<int64_t>(code) - static_cast<int64_t>((code & x.sign_bit) << 1);
}

/// A number's code: the random bits but for `lack`, below the sign where there is one.
MMAU_LANE_FN uint32_t number_code(const Operand& x, uint32_t random, int lack) {
    return static_cast<uint32_t>(integer_of(x, random & all_bits(x)) >> lack) & all_bits(x);
}

/// 2^i or 2^i − 1, or the complement, by the bits of a word.
MMAU_LANE_FN uint32_t single_bit_code(const Operand& x, uint32_t bits) {
    const uint32_t one = uint32_t{1} << (bits & static_cast<uint32_t>(x.sign_place));
    return ((one - (bits >> 8 & 1)) ^ (0 - (bits >> 9 & 1))) & all_bits(x);
}

/// A few below the largest number or above the smallest.
MMAU_LANE_FN uint32_t end_code(const Operand& x, uint32_t few, uint32_t is_top) {
    const uint32_t largest = all_bits(x) >> x.format.is_signed;
    return (is_top ? largest - few : largest + 1 + few) & all_bits(x);
}

/// One of eight landmarks: 0, 1, −1 (or all ones), both ends and what lies next to them, a single bit.
MMAU_FN uint32_t integer_landmark(const Operand& x, uint32_t bits) {
    switch (bits >> 10 & 7) {
        case 0: return 0;
        case 1: return 1;
        case 2: return all_bits(x);
        case 3: return end_code(x, 0, 1);
        case 4: return end_code(x, 1, 1);
        case 5: return end_code(x, 0, 0);
        case 6: return end_code(x, 1, 0);
        default: return single_bit_code(x, bits);
    }
}

/// Elements and c alike, from two words; `few` bits are left of an `end`.
MMAU_FN uint32_t integer_code(const Operand& x, const IntegerHeader& h, Made made, int lack, int few, uint32_t random, uint32_t bits) {
    if (static_cast<int>(bits >> 16) < h.special_odds) return integer_landmark(x, bits);
    if (made == Made::single_bit) return single_bit_code(x, bits);
    if (made != Made::end) return number_code(x, random, lack);
    return end_code(x, (random & all_bits(x)) >> larger(x.sign_place + 1 - few, 0), h.mixed_ends ? bits >> 10 & 1 : h.top_end);
}

/// The code of a's element (i, k); of side B, b's element k of column i.
MMAU_FN uint64_t factor_at(const Plan& plan, const Corners& corners, const IntegerHeader& h, const Side& side, int i, int k) {
    const Operand& x = side.is_a ? plan.a : plan.b;
    if (h.is_corner) {
        return load(x.format, side.is_a ? corners.a : corners.b, h.corner.row * plan.K + place_of(plan, h.corner, k));
    }
    if (h.only >= 0 && k != h.only) return 0;
    const int partner = k ^ h.pair;
    const bool is_second = partner < k && partner < plan.K;
    const uint32_t place = static_cast<uint32_t>(i * plan.K + (is_second ? partner : k));
    const uint32_t random = word(h.key, side.codes, place), bits = word(h.key, side.special, place);
    const int lack = larger((side.is_a ? h.lack_a : h.lack_b) - (7 - x.sign_place), 0);
    const uint32_t code = integer_code(x, h, h.elements, lack, few_bits, random, bits);
    const bool is_negated = is_second && side.is_a == plan.a.format.is_signed;
    return is_negated ? (0 - code) & all_bits(x) : code;
}

/// Σ a·b of row i and column j.
MMAU_FN int64_t product_sum(const Plan& plan, const Corners& corners, const IntegerHeader& h, int i, int j) {
    int64_t total = 0;
    for (int k = 0; k < plan.K; ++k) {
        const int64_t x = integer_of(plan.a, factor_at(plan, corners, h, side_of(true), i, k));
        total += x * integer_of(plan.b, factor_at(plan, corners, h, side_of(false), j, k));
    }
    return total;
}

/// The code of c's element (i, j) of a tile of n columns.
MMAU_FN uint64_t addend_at(const Plan& plan, const Corners& corners, const IntegerHeader& h, int i, int j, int n) {
    const Operand& x = plan.c;
    const uint32_t place = static_cast<uint32_t>(i * n + j), kind = word(h.key, C_KIND, place);
    if (h.is_corner) {
        const uint32_t stored = static_cast<uint32_t>(load(x.format, corners.c, h.corner.row));
        return stored + (h.one_off ? 1 - (kind & 2) : 0);
    }
    const bool completes = h.addend == Made::to_zero || h.addend == Made::to_end;
    if (!completes) {
        const int few = smaller(32 - h.lack_c, few_bits_of_c);
        return integer_code(x, h, h.addend, h.lack_c, few, word(h.key, C, place), word(h.key, SPECIAL_C, place));
    }
    const int64_t largest = 0x7FFFFFFF, smallest = -largest - 1, sum = product_sum(plan, corners, h, i, j);
    const int64_t wanted = h.addend == Made::to_zero ? below(kind, 3) - 1 : (sum < 0 ? smallest : largest) + below(kind, 8) - 4;
    return static_cast<uint32_t>(smaller(larger(wanted - sum, smallest), largest));
}

/// Integers have no scales: nobody asks for one.
MMAU_FN constexpr uint64_t scale_at(const Plan&, const Corners&, const IntegerHeader&, const Side&, int, int) { return 0; }

}  // namespace stimulus

MMAU_NAMESPACE_END
