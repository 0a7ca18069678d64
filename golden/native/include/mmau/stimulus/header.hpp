// The header of a row (or tile): what its class is, and what its words then decide.
#pragma once

#include "corners.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// The classes, in the order of their labels; the corners' labels follow.
enum class Class { bits, normal, cancel, specials, tiny, huge, apart, completed };

constexpr int classes = 8;

/// Exponents from `low` on, `span` of them.
struct Exponents {
    int low, span;
};

struct Header {
    Key key;
    int label;
    bool is_corner;
    Variation corner;
    // products (under scales: elements' products)
    int top, gap, spread;   // exponents: big ones top, others top − gap − (0 … spread)
    int big_place, big_odds;  // big: product big_place, and so many of 256 others
    uint32_t plain_big;     // 1: big products are powers of two
    int zero_odds;          // so many of 256 are zero, but for big_place
    uint32_t mixed_signs;   // 1: each element's sign is its own; 0: one a row of A or column of B
    Fractions frac_a, frac_b, frac_c;
    int pair;               // products k and k ^ pair cancel; 0: none do
    int nudge_odds;         // so many of 65,536 elements of a (cancelling ones, or a corner's) have another last bit
    int menu, special_odds; // so many of 65,536 operands are landmarks
    // scales: as the products, for blocks
    int scale_top, scale_gap, scale_spread;
    // c
    Exponents near, far;
    int zero_c, far_c;      // so many of 256 are zero; from there on to far_c they are far
    bool completes;         // c takes product big_place away, all but the bits that c has not

    MMAU_FN bool is(Class which) const { return !is_corner && label == static_cast<int>(which); }
};

constexpr int gaps = 48;  ///< exponents between big products and others: more than the widest published alignment, F = 35

/// −24 … 24 where the formats reach that far.
MMAU_FN int moderate_top(const Plan& plan, Draws& draw) {
    return draw.between(larger(plan.low, smaller(-moderate, plan.high)), smaller(plan.high, larger(moderate, plan.low)));
}

/// Exponents of products around `top`: under scales they are shared out between the elements and the scales.
MMAU_FN void place_products(const Plan& plan, Draws& draw, int top, int gap, int spread, Header& h) {
    const int clipped = smaller(larger(top, plan.low), plan.high);
    h.top = clipped;
    h.gap = gap;
    h.spread = spread;
    if (!plan.K_block) return;
    const int reach = draw.below(1 + plan.a.man_bits + plan.b.man_bits);
    h.top = plan.element_high - reach;
    h.gap = 0;
    h.spread = smaller(spread, plan.element_high - plan.element_low);
    h.scale_top = clipped - h.top;
    h.scale_gap = gap;
    h.scale_spread = spread;
}

MMAU_FN Fractions any_fractions(const Operand& x, Draws& draw) {
    const int kind = draw.below(8);
    return fractions_of(x.man_bits, kind, draw.below(x.man_bits));
}

/// What all classes draw: fractions, signs, c from far below to a little above 2^top, one in eight zero, one in eight of any
/// exponent.
MMAU_FN void start(const Plan& plan, Draws& draw, Header& h) {
    h.frac_a = any_fractions(plan.a, draw);
    h.frac_b = any_fractions(plan.b, draw);
    h.frac_c = any_fractions(plan.c, draw);
    h.mixed_signs = static_cast<uint32_t>(draw.below(2));
    h.big_place = draw.below(plan.K);
    h.far = {plan.c.lowest, plan.c.e_max - plan.c.lowest + 1};
    h.zero_c = 32;
    h.far_c = 64;
}

/// 0, 1, 3, 7, 15, 31 or 63.
MMAU_FN int any_spread(Draws& draw) { return (1 << draw.below(7)) - 1; }

MMAU_FN void make_normal(const Plan& plan, Draws& draw, Header& h) {
    const int top = moderate_top(plan, draw);
    place_products(plan, draw, top, 0, any_spread(draw), h);
    h.near = {top - 28, 36};
}

MMAU_FN void make_cancel(const Plan& plan, Draws& draw, Header& h) {
    make_normal(plan, draw, h);
    h.completes = plan.K == 1 || draw.below(4) == 0;
    h.pair = plan.pairs > 1 ? 1 + draw.below(plan.pairs - 1) : 0;
    h.nudge_odds = draw.below(2) ? 0 : plan.one_in_K;
}

MMAU_FN void make_specials(const Plan& plan, Draws& draw, Header& h) {
    make_normal(plan, draw, h);
    h.menu = draw.below(3);
    const int odds = draw.below(3);
    h.special_odds = odds == 2 ? 21845 : smaller(odds ? 2 * plan.one_in_K : plan.one_in_K >> 1, 65536);
}

/// Products about the smallest result, or (a quarter of the rows) the smallest products; or in half of the rows powers of two
/// about the smallest result, or half of it, with others far below. All, half or a few of them are not zero.
MMAU_FN void make_tiny(const Plan& plan, Draws& draw, Header& h) {
    const int at_inputs = plan.low + draw.below(24);
    const int at_result = plan.d.lowest - 12 + draw.below(plan.d.man_bits + 18);
    const int at_edge = plan.d.lowest - 1 + draw.below(3), gap = draw.below(gaps), spread = any_spread(draw);
    const int where = draw.below(4), zeros = draw.below(4);
    const bool is_edge = where > 1;
    const int top = is_edge ? at_edge : where == 0 ? at_inputs : at_result;
    place_products(plan, draw, top, is_edge ? gap : 0, is_edge ? spread & 3 : spread, h);
    h.plain_big = is_edge;
    h.zero_odds = zeros < 2 ? 0 : zeros == 2 ? 128 : 224;
    h.near = {top - 28, 36};
    h.far = {plan.c.lowest, plan.c.man_bits + 2};
    h.zero_c = draw.below(2) ? 256 : 64;
    h.far_c = 160;
}

/// Products whose sum is about the largest result, or (a quarter of the rows) the largest products.
MMAU_FN void make_huge(const Plan& plan, Draws& draw, Header& h) {
    const int at_inputs = plan.high - draw.below(4);
    const int at_result = plan.d.e_max + 1 - draw.below(9);
    const int top = draw.below(4) ? at_result : at_inputs;
    place_products(plan, draw, top, 0, any_spread(draw), h);
    h.near = {top - 28, 36};
    h.far = {plan.c.e_max - 1, 2};
    h.far_c = 144;
}

/// A few big products, and all others far below: at every distance that an alignment may have.
MMAU_FN void make_apart(const Plan& plan, Draws& draw, Header& h) {
    const int gap = draw.below(larger(gaps, 2 * plan.d.man_bits + 8));
    const int top = moderate_top(plan, draw);
    place_products(plan, draw, top, gap, (1 << draw.below(5)) - 1, h);
    h.big_odds = draw.below(2) ? 32 : 0;
    h.plain_big = static_cast<uint32_t>(draw.below(2));
    h.near = {top - 4, 8};
    h.far = {top - gap - 8, 12};
    h.zero_c = 64;
    h.far_c = 160;
}

/// c takes one product away, all but its last bits, and the other products are below.
MMAU_FN void make_completed(const Plan& plan, Draws& draw, Header& h) {
    make_apart(plan, draw, h);
    h.completes = true;
}

/// The header of row (or tile) `index`: every other one varies a corner where there is a table, the others go through the
/// classes in turn.
MMAU_FN Header header_of(const Plan& plan, const Corners& corners, uint64_t seed, uint64_t index) {
    Header h{};
    h.key = key_of(seed, index);
    Draws draw(h.key);
    h.is_corner = corners.rows && index & 1;
    if (h.is_corner) {
        h.corner = variation_of(plan, corners, h.key, draw);
        h.label = corners.about[h.corner.row * ABOUT + LABEL];
        h.nudge_odds = draw.below(4) ? 0 : plan.one_in_K;
        return h;
    }
    h.label = static_cast<int>((corners.rows ? index >> 1 : index) % classes);
    if (h.is(Class::bits)) return h;
    start(plan, draw, h);
    switch (static_cast<Class>(h.label)) {
        case Class::normal: make_normal(plan, draw, h); break;
        case Class::cancel: make_cancel(plan, draw, h); break;
        case Class::specials: make_specials(plan, draw, h); break;
        case Class::tiny: make_tiny(plan, draw, h); break;
        case Class::huge: make_huge(plan, draw, h); break;
        case Class::apart: make_apart(plan, draw, h); break;
        default: make_completed(plan, draw, h); break;
    }
    return h;
}

}  // namespace stimulus

MMAU_NAMESPACE_END
