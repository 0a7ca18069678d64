// Whole rows and tiles on the host: the elements of elements.hpp, many at once.
#pragma once

#include "slices.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

constexpr int chunk = 64;  ///< products whose factors are kept at a time

/// The factors of products first … first + count − 1, member by member so that loops over them become vectors.
struct FactorLanes {
    int source[chunk], lead_a[chunk], lead_b[chunk];
    uint32_t sign_a[chunk], sign_b[chunk], zero_a[chunk], zero_b[chunk], plain[chunk];
};

MMAU_FN void fill_factors(const Plan& plan, const Header& h, int first, int count, FactorLanes& __restrict lanes) {
    for (int k = 0; k < count; ++k) {
        const Factors f = factors_of(plan, h, first + k);
        lanes.source[k] = source_of(plan, h, first + k);
        lanes.lead_a[k] = f.lead_a;
        lanes.lead_b[k] = f.lead_b;
        lanes.sign_a[k] = f.sign_a;
        lanes.sign_b[k] = f.sign_b;
        lanes.zero_a[k] = f.zero_a;
        lanes.zero_b[k] = f.zero_b;
        lanes.plain[k] = f.plain;
    }
}

template <class Stored>
struct CodeOf {
    using Type = uint32_t;
};
template <>
struct CodeOf<uint64_t> {
    using Type = uint64_t;
};

/// The next `count` elements of row i of A (or of column i of B), which are products with those factors.
template <class Stored>
MMAU_FN void fill_products(const Plan& plan, const Header& h, const Side& side, const FactorLanes& lanes, int i, int count,
                           Stored* __restrict out) {
    using Code = typename CodeOf<Stored>::Type;
    const Operand& x = side.is_a ? plan.a : plan.b;
    const Fractions& kind = side.is_a ? h.frac_a : h.frac_b;
    const int* lead = side.is_a ? lanes.lead_a : lanes.lead_b;
    const uint32_t* sign = side.is_a ? lanes.sign_a : lanes.sign_b;
    const uint32_t* is_zero = side.is_a ? lanes.zero_a : lanes.zero_b;
    const uint32_t of_row_word = row_word(h, side, i);
    for (int k = 0; k < count; ++k) {
        const uint32_t source = static_cast<uint32_t>(i * plan.K + lanes.source[k]);
        const Code random = code_word<Code>(h.key, side.codes, source);
        out[k] = static_cast<Stored>(
            factor_code(x, kind, h.mixed_signs, random, of_row_word, sign[k], is_zero[k], lanes.plain[k], lead[k]));
    }
}

template <class Stored>
MMAU_FN void fill_bits(const Plan& plan, const Header& h, const Side& side, int64_t count, Stored* __restrict out) {
    using Code = typename CodeOf<Stored>::Type;
    const Operand& x = side.is_a ? plan.a : plan.b;
    const Key key = h.key;
    for (int64_t e = 0; e < count; ++e) {
        out[e] = static_cast<Stored>(any_code(x, code_word<Code>(key, side.codes, static_cast<uint32_t>(e))));
    }
}

/// Elements first … first + count − 1 of row i of A (or of column i of B) of a corner.
template <class Stored>
MMAU_FN void fill_corner(const Plan& plan, const Corners& corners, const Header& h, const Side& side, int i, int first,
                         int count, Stored* __restrict out) {
    using Code = typename CodeOf<Stored>::Type;
    const Operand& x = side.is_a ? plan.a : plan.b;
    const Stored* table = static_cast<const Stored*>(side.is_a ? corners.a : corners.b) + h.corner.row * plan.K;
    const uint32_t of_row_word = row_word(h, side, i);
    const int shift = plan.K_block ? 0 : row_shift(h, side, of_row_word);
    int place[chunk];
    Code stored[chunk];
    for (int k = 0; k < count; ++k) place[k] = place_of(plan, h.corner, first + k);
    for (int k = 0; k < count; ++k) stored[k] = table[place[k]];
    for (int k = 0; k < count; ++k) {
        out[k] = static_cast<Stored>(corner_code(x, h, stored[k], place[k], of_row_word, shift));
    }
}

/// What some classes do to finished elements: other last bits, landmarks.
template <class Stored>
MMAU_FN void change_some(const Plan& plan, const Header& h, const Side& side, int i, int first, int count, Stored* out) {
    using Code = typename CodeOf<Stored>::Type;
    const Operand& x = side.is_a ? plan.a : plan.b;
    const uint32_t place = static_cast<uint32_t>(i * plan.K + first);
    uint32_t drawn[chunk];
    if (side.is_a && h.nudge_odds) {
        for (int k = 0; k < count; ++k) drawn[k] = is_nudged(plan, h, first + k, place + static_cast<uint32_t>(k));
        for (int k = 0; k < count; ++k) {
            if (drawn[k]) out[k] = static_cast<Stored>(nudged(x, Code{out[k]}));
        }
    }
    if (h.special_odds) {
        for (int k = 0; k < count; ++k) drawn[k] = word(h.key, side.special, place + static_cast<uint32_t>(k));
        for (int k = 0; k < count; ++k) {
            if (is_special(h, drawn[k])) out[k] = static_cast<Stored>(landmark(x, h.menu, mixed_word(drawn[k])));
        }
    }
}

/// Call `fill(pointer)` with the array's element number `first` as its stored type.
template <class Fill>
MMAU_FN void as_stored(const Format& format, void* codes, int64_t first, const Fill& fill) {
    switch (format.storage_bits) {
        case 8: return fill(static_cast<uint8_t*>(codes) + first);
        case 16: return fill(static_cast<uint16_t*>(codes) + first);
        case 32: return fill(static_cast<uint32_t*>(codes) + first);
        default: return fill(static_cast<uint64_t*>(codes) + first);
    }
}

/// A tile's A and B: each_side(fill) calls fill(side, rows, its first element's address) for A and for B.
template <class EachSide>
MMAU_FN void fill_sides(const Plan& plan, const Corners& corners, const Header& h, const EachSide& each_side) {
    if (h.is(Class::bits)) {
        each_side([&](const Side& side, int rows, auto* codes) { fill_bits(plan, h, side, int64_t{rows} * plan.K, codes); });
        return;
    }
    for (int first = 0; first < plan.K; first += chunk) {
        const int count = smaller(chunk, plan.K - first);
        FactorLanes lanes;
        if (!h.is_corner) fill_factors(plan, h, first, count, lanes);
        each_side([&](const Side& side, int rows, auto* codes) {
            codes += first;
            for (int i = 0; i < rows; ++i, codes += plan.K) {
                if (h.is_corner) {
                    fill_corner(plan, corners, h, side, i, first, count, codes);
                } else {
                    fill_products(plan, h, side, lanes, i, count, codes);
                }
                change_some(plan, h, side, i, first, count, codes);
            }
        });
    }
}

MMAU_FN void fill_scales(const Plan& plan, const Corners& corners, const Header& h, const Side& side, int rows, int64_t first,
                         void* out) {
    for (int i = 0; i < rows; ++i) {
        for (int block = 0; block < plan.blocks; ++block) {
            store(plan.scale.format, out, first++, scale_at(plan, corners, h, side, i, block));
        }
    }
}

template <class AnyHeader>
MMAU_FN void fill_addends(const Plan& plan, const Corners& corners, const AnyHeader& h, int m, int n, int64_t first, void* out) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            store(plan.c.format, out, first + int64_t{i} * n + j, addend_at(plan, corners, h, i, j, n));
        }
    }
}

/// A side of a tile of integers.
MMAU_FN void fill_integers(const Plan& plan, const Corners& corners, const IntegerHeader& h, bool is_a, int rows, uint8_t* out) {
    const Side side = side_of(is_a);
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < plan.K; ++k) *out++ = static_cast<uint8_t>(factor_at(plan, corners, h, side, i, k));
    }
}

/// Tiles of integers, one after the other.
MMAU_FN void fill_integer_tiles(const Plan& plan, const Corners& corners, uint64_t seed, int64_t first_tile, int64_t tiles, int m,
                                int n, const Arrays& out) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const IntegerHeader h = integer_header_of(plan, corners, seed, static_cast<uint64_t>(first_tile + tile));
        fill_integers(plan, corners, h, true, m, static_cast<uint8_t*>(out.a) + tile * m * plan.K);
        fill_integers(plan, corners, h, false, n, static_cast<uint8_t*>(out.b) + tile * n * plan.K);
        fill_addends(plan, corners, h, m, n, tile * m * n, out.c);
        if (out.label) out.label[tile] = static_cast<uint8_t>(h.label);
    }
}

/// Tiles first_tile … first_tile + tiles − 1 of a seed, one after the other.
MMAU_FN void fill_tiles(const Plan& plan, const Corners& corners, uint64_t seed, int64_t first_tile, int64_t tiles, int m, int n,
                        const Arrays& out) {
    if (plan.of_integers) return fill_integer_tiles(plan, corners, seed, first_tile, tiles, m, n, out);
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const Header h = header_of(plan, corners, seed, static_cast<uint64_t>(first_tile + tile));
        const Side a = side_of(true), b = side_of(false);
        fill_sides(plan, corners, h, [&](const auto& fill) {
            as_stored(plan.a.format, out.a, tile * m * plan.K, [&](auto* codes) { fill(a, m, codes); });
            as_stored(plan.b.format, out.b, tile * n * plan.K, [&](auto* codes) { fill(b, n, codes); });
        });
        if (plan.K_block) {
            fill_scales(plan, corners, h, a, m, tile * m * plan.blocks, out.scale_a);
            fill_scales(plan, corners, h, b, n, tile * n * plan.blocks, out.scale_b);
        }
        fill_addends(plan, corners, h, m, n, tile * m * n, out.c);
        if (out.label) out.label[tile] = static_cast<uint8_t>(h.label);
    }
}

}  // namespace stimulus

MMAU_NAMESPACE_END
