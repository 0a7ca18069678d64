// One element of a row's or tile's operands: a function of header and place alone. A device computes each so; rows.hpp computes
// many at once from the same functions.
#pragma once

#include "header.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// A product's factors, but for their fractions.
struct Factors {
    int lead_a, lead_b;           // exponents of leading bits
    uint32_t sign_a, sign_b;      // 0 or 1
    uint32_t zero_a, zero_b;
    uint32_t plain;               // 1: both are powers of two
};

/// Two factors' exponents that add up to `lead`, every feasible pair equally likely; the first one.
MMAU_LANE_FN int split(const Operand& x, const Operand& y, int lead, uint32_t random) {
    const int low = larger(x.lowest, lead - y.e_max), high = smaller(x.e_max, lead - y.lowest);
    return low + below(random, high - low + 1);
}

/// The product whose words k takes: its own, or in a cancelling pair the first one's.
MMAU_LANE_FN int source_of(const Plan& plan, const Header& h, int k) {
    const int partner = k ^ h.pair;
    return (partner < k) & (partner < plan.K) ? partner : k;
}

/// The factors of product k, which is not in a corner. Without branches.
MMAU_LANE_FN Factors factors_of(const Plan& plan, const Header& h, int k) {
    const int source = source_of(plan, h, k);
    const uint32_t product = word(h.key, PRODUCT, static_cast<uint32_t>(source));
    const uint32_t sharing = word(h.key, SPLIT, static_cast<uint32_t>(source));
    const int chosen = source == h.big_place;
    const int is_big = chosen | (static_cast<int>(product & 0xFF) < h.big_odds);
    const int down = h.gap + below(product >> 16, h.spread + 1);
    const int lead = smaller(larger(h.top - (down & (is_big - 1)), plan.element_low), plan.element_high);
    Factors f;
    f.lead_a = split(plan.a, plan.b, lead, sharing);
    f.lead_b = lead - f.lead_a;
    const uint32_t sign = sharing >> 16 & 1;
    f.sign_b = sign ^ (sharing >> 17 & h.mixed_signs);
    f.sign_a = sign ^ (source != k);
    const uint32_t is_zero = (1 - chosen) & (static_cast<int>(product >> 8 & 0xFF) < h.zero_odds);
    f.zero_a = is_zero & sharing >> 18;
    f.zero_b = is_zero ^ f.zero_a;
    f.plain = static_cast<uint32_t>(is_big) & h.plain_big;
    return f;
}

/// An element of a or b: `random` is its own word, `of_row` that of its row of A or column of B.
template <class Code>
MMAU_LANE_FN Code factor_code(const Operand& x, const Fractions& kind, uint32_t mixed_signs, Code random, uint32_t of_row,
                              uint32_t sign, uint32_t is_zero, uint32_t plain, int lead) {
    const uint32_t own = static_cast<uint32_t>(random) & mixed_signs, flipped = sign ^ own ^ (of_row & (1 - mixed_signs));
    const Code frac = fraction(kind, x.man_bits, random) & (Code{plain} - 1);
    return zero_or(x, is_zero, number(x, flipped, lead, frac));
}

/// A word of 32 bits, or of 64 from two streams.
template <class Code>
MMAU_LANE_FN Code code_word(Key key, Stream stream, uint32_t place) {
    const uint32_t low = word(key, stream, place);
    if (sizeof(Code) == 4) return static_cast<Code>(low);
    const uint64_t high = word(key, static_cast<Stream>(stream + 1), place);
    return static_cast<Code>(high << 32 | low);
}

/// One side of all products: A's rows, or B's columns.
struct Side {
    Stream codes, row, special, scale, special_scale;
    bool is_a;
};

MMAU_FN constexpr Side side_of(bool is_a) {
    return is_a ? Side{A, ROW_A, SPECIAL_A, SCALE_A, SPECIAL_SCALE_A, true}
                : Side{B, ROW_B, SPECIAL_B, SCALE_B, SPECIAL_SCALE_B, false};
}

/// The word of row i of A, or of column i of B.
MMAU_LANE_FN uint32_t row_word(const Header& h, const Side& side, int i) {
    return word(h.key, side.row, static_cast<uint32_t>(i));
}

/// By how much the exponents of that row move, in a corner.
MMAU_LANE_FN int row_shift(const Header& h, const Side& side, uint32_t of_row) {
    const Variation& v = h.corner;
    return side.is_a ? shift_of(of_row, v.down_a, v.span_a) : shift_of(of_row, v.down_b, v.span_b);
}

/// An element of a corner, `stored` at `place` of the table: `of_row` is the row's word, `shift` what its exponents move by
/// (under scales 0: these move).
template <class Code>
MMAU_LANE_FN Code corner_code(const Operand& x, const Header& h, Code stored, int place, uint32_t of_row, int shift) {
    const uint32_t sign = word(h.key, PRODUCT, static_cast<uint32_t>(place)) & h.corner.signs;
    return negated(x, shifted(x, stored, shift), (of_row & 1) ^ sign);
}

/// Whether element (i, k) of a gets another last bit: a few of cancelling pairs' second products, and of corners.
MMAU_LANE_FN uint32_t is_nudged(const Plan& plan, const Header& h, int k, uint32_t place) {
    const uint32_t may = h.is_corner | (source_of(plan, h, k) != k);
    return may & (static_cast<int>(word(h.key, NUDGE_A, place) & 0xFFFF) < h.nudge_odds);
}

/// The code with another last bit, where that leaves a number.
template <class Code>
MMAU_LANE_FN Code nudged(const Operand& x, Code code) {
    return code ^ static_cast<Code>(Code{changeable(x, code)} << x.pad_bits);
}

/// Whether a word makes its element a landmark.
MMAU_LANE_FN uint32_t is_special(const Header& h, uint32_t drawn) {
    return static_cast<int>(drawn & 0xFFFF) < h.special_odds;
}

/// The code, or a landmark in its place.
MMAU_FN uint64_t special_or(const Operand& x, const Header& h, uint64_t code, Stream stream, uint32_t place) {
    const uint32_t drawn = word(h.key, stream, place);
    return is_special(h, drawn) ? landmark(x, h.menu, mixed_word(drawn)) : code;
}

/// The code of a's element (i, k), which is a product's and not in a corner; of side B, b's element k of column i.
template <class Code>
MMAU_FN uint64_t product_code(const Plan& plan, const Header& h, const Side& side, int i, int k) {
    const Factors f = factors_of(plan, h, k);
    const Code random = code_word<Code>(h.key, side.codes, static_cast<uint32_t>(i * plan.K + source_of(plan, h, k)));
    const uint32_t of_row = row_word(h, side, i);
    if (side.is_a) return factor_code(plan.a, h.frac_a, h.mixed_signs, random, of_row, f.sign_a, f.zero_a, f.plain, f.lead_a);
    return factor_code(plan.b, h.frac_b, h.mixed_signs, random, of_row, f.sign_b, f.zero_b, f.plain, f.lead_b);
}

/// The code of a's element (i, k); of side B, b's element k of column i.
MMAU_FN uint64_t factor_at(const Plan& plan, const Corners& corners, const Header& h, const Side& side, int i, int k) {
    const Operand& x = side.is_a ? plan.a : plan.b;
    const bool wide = x.format.storage_bits == 64;
    const uint32_t place = static_cast<uint32_t>(i * plan.K + k);
    if (h.is(Class::bits)) {
        if (wide) return any_code(x, code_word<uint64_t>(h.key, side.codes, place));
        return any_code(x, code_word<uint32_t>(h.key, side.codes, place));
    }
    uint64_t code = 0;
    if (h.is_corner) {
        const int in_table = place_of(plan, h.corner, k);
        const uint64_t stored = load(x.format, side.is_a ? corners.a : corners.b, h.corner.row * plan.K + in_table);
        const uint32_t of_row = row_word(h, side, i);
        code = corner_code(x, h, stored, in_table, of_row, plan.K_block ? 0 : row_shift(h, side, of_row));
    } else {
        code = wide ? product_code<uint64_t>(plan, h, side, i, k) : product_code<uint32_t>(plan, h, side, i, k);
    }
    if (side.is_a && is_nudged(plan, h, k, place)) code = nudged(x, code);
    return h.special_odds ? special_or(x, h, code, side.special, place) : code;
}

/// The exponents of a block's two scales: that of side A, and of both together.
MMAU_LANE_FN int scale_lead(const Plan& plan, const Header& h, const Side& side, int block) {
    const uint32_t drawn = word(h.key, BLOCK, static_cast<uint32_t>(block));
    const bool is_big = block == h.big_place / plan.K_block || static_cast<int>(drawn & 0xFF) < h.big_odds;
    const int drop = below(drawn >> 16, h.scale_spread + 1);
    const int wanted = is_big ? h.scale_top : h.scale_top - h.scale_gap - drop;
    const int both = smaller(larger(wanted, 2 * plan.scale.lowest), 2 * plan.scale.e_max);
    const int lead_a = split(plan.scale, plan.scale, both, mixed_word(drawn));
    return side.is_a ? lead_a : both - lead_a;
}

/// The code of the scale of row i's block (of side B, column i's).
MMAU_FN uint64_t scale_at(const Plan& plan, const Corners& corners, const Header& h, const Side& side, int i, int block) {
    const uint32_t place = static_cast<uint32_t>(i * plan.blocks + block);
    const uint32_t random = word(h.key, side.scale, place);
    if (h.is(Class::bits)) return any_code(plan.scale, random);
    if (h.is_corner) {
        const int in_table = place_of(plan, h.corner, block * plan.K_block) / plan.K_block;
        const void* codes = side.is_a ? corners.scale_a : corners.scale_b;
        const uint64_t stored = load(plan.scale.format, codes, h.corner.row * plan.blocks + in_table);
        return shifted(plan.scale, stored, row_shift(h, side, row_word(h, side, i)));
    }
    const uint32_t frac = random & 1 ? (random >> 1) & ((1U << plan.scale.man_bits) - 1) : 0;
    const uint64_t code = number<uint32_t>(plan.scale, random >> 31, scale_lead(plan, h, side, block), frac);
    return h.special_odds ? special_or(plan.scale, h, code, side.special_scale, place) : code;
}

}  // namespace stimulus

MMAU_NAMESPACE_END
