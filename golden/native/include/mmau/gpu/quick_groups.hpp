// GST-FDPA of FP4 on a GPU, the short way: elements are integers in units of a half, four in a word, and a group's exact sum is
// one of integers of 8 bits. What comes after, scales, alignment and ρ, are the steps of the operation itself.
#pragma once

#include "quick.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int group_depth = 128;  ///< products that a block takes at once, where whole steps allow it

MMAU_FN constexpr bool is_e2m1(const Format& format) { return format.exp_bits == 2 && format.man_bits == 1 && format.storage_bits == 8; }

/// GST-FDPA of FP4 whose groups are whole words.
MMAU_FN constexpr bool is_quick_groups(const Plan& plan) {
    const bool is_fp4 = is_e2m1(plan.a) && is_e2m1(plan.b) && plan.a.is_signed && plan.b.is_signed;
    const bool fits = plan.G % 4 == 0 && plan.G <= 32 && plan.L <= group_depth && plan.truncation == Mode::RZ && plan.narrow;
    return plan.operation == MMAU_GST_FDPA && is_fp4 && fits && !plan.own_keys;
}

/// An element of FP4 in units of a half: −12 … 12, a byte.
MMAU_FN constexpr uint32_t halves_of_fp4(uint64_t code) {
    const auto exp = static_cast<int>(code >> 1 & 3), bit = static_cast<int>(code & 1);
    const int magnitude = exp ? (2 + bit) << (exp - 1) : bit;
    return static_cast<uint32_t>(code >> 3 & 1 ? -magnitude : magnitude) & 0xFF;
}

/// The sum of four products of bytes, and z.
MMAU_FN int add_four_products(uint32_t x, uint32_t y, int z) {
#ifdef __CUDA_ARCH__
    return __dp4a(static_cast<int>(x), static_cast<int>(y), z);
#else
    for (int n = 0; n < 32; n += 8) z += static_cast<int8_t>(x >> n) * static_cast<int8_t>(y >> n);
    return z;
#endif
}

/// Offsets in the memory of a block: of a side words of elements; and of each group a word that tells which elements are not
/// zero, and its scale, decoded.
struct GroupLayout {
    int depth, words, masks, scales, side;
};

MMAU_FN constexpr GroupLayout group_layout(const Plan& plan) {
    GroupLayout layout{};
    layout.depth = larger(1, group_depth / plan.L) * plan.L;
    const int of_words = layout.depth / 4 * tile_side, of_groups = layout.depth / plan.G * tile_side;
    layout.masks = of_words, layout.scales = of_words + of_groups, layout.side = of_words + 2 * of_groups;
    return layout;
}

template <class Planned>
struct GroupPart {
    const Product<Planned>& product;
    Corner corner;
    int start, count;
    uint32_t* memory;

    MMAU_FN void load_side(const Format& format, const void* codes, const void* scales, int side, int row, int turn) const {
        const Plan& plan = product.plan();
        const GroupLayout layout = group_layout(plan);
        uint32_t* at = memory + side * layout.side;
#pragma unroll 1
        for (int group = turn; group < count / plan.G; group += block_threads / (2 * tile_side)) {
            uint32_t mask = 0;
            for (int four = 0; four < plan.G / 4; ++four) {
                uint32_t word = 0;
                for (int n = 0; n < 4; ++n) {
                    const uint64_t code = mmau::load(format, codes, start + group * plan.G + 4 * four + n);
                    word |= halves_of_fp4(code) << 8 * n;
                    mask |= static_cast<uint32_t>((code & 7) != 0) << (4 * four + n);
                }
                at[(group * (plan.G / 4) + four) * tile_side + row] = word;
            }
            const uint64_t scale = mmau::load(plan.scale, scales, (start + group * plan.G) / plan.K_block);
            at[layout.masks + group * tile_side + row] = mask;
            at[layout.scales + group * tile_side + row] = packed(decode(plan.scale, scale));
        }
    }

    /// A word of four rows of a side, from an offset on.
    MMAU_FN Four<uint32_t> words(int side, int offset, int at, int four) const {
        const uint32_t* from = memory + side * group_layout(product.plan()).side + offset + at * tile_side;
        return reinterpret_cast<const Four<uint32_t>*>(from)[four];
    }
};

/// The scales of a group: the product of their significands, and the exponent of the group's sum.
struct GroupScale {
    int sig, exp;
    bool is_special;
};

MMAU_FN GroupScale group_scale(const Plan& plan, uint32_t alpha_word, uint32_t beta_word, bool any_product) {
    const Decoded alpha = unpacked(alpha_word), beta = unpacked(beta_word);
    const auto sig = static_cast<int>(alpha.sig * beta.sig);
    // A group whose products cancel keeps its exponent (numerics.md, section 5).
    const bool is_zero = !any_product || !sig;
    return {sig, is_zero ? plan.e_zero : alpha.exp + beta.exp, larger(alpha.cls, beta.cls) >= Cls::infinity};
}

/// A step of a thread's elements: products k … k+L−1 of a part.
template <class Int, class Planned>
MMAU_FN void group_step(const GroupPart<Planned>& part, int k, int rows, int columns, QuickAccumulated& own) {
    const Plan& plan = part.product.plan();
    const GroupLayout layout = group_layout(plan);
    const Format& c_format = part.start + k ? plan.d : plan.c;
    int e_max[4][4];
    uint32_t special = 0;  // a bit for each element
#pragma unroll
    for (int n = 0; n < 16; ++n) {
        const Decoded z = decode(c_format, own.d[n / 4][n % 4]);
        e_max[n / 4][n % 4] = addend(z, c_format, plan.e_zero).exp;
        special |= static_cast<uint32_t>(z.cls >= Cls::infinity) << n;
    }
    const auto scale_of = [&](const Four<uint32_t>(&of)[4], int n) {
        return group_scale(plan, of[2].of[n / 4], of[3].of[n % 4], of[0].of[n / 4] & of[1].of[n % 4]);
    };
    const auto of_group = [&](int group, Four<uint32_t>(&of)[4]) {
        of[0] = part.words(0, layout.masks, group, rows), of[1] = part.words(1, layout.masks, group, columns);
        of[2] = part.words(0, layout.scales, group, rows), of[3] = part.words(1, layout.scales, group, columns);
    };
#pragma unroll 1
    for (int group = k / plan.G; group < (k + plan.L) / plan.G; ++group) {
        Four<uint32_t> of[4];
        of_group(group, of);
#pragma unroll
        for (int n = 0; n < 16; ++n) {
            const GroupScale scale = scale_of(of, n);
            e_max[n / 4][n % 4] = larger(e_max[n / 4][n % 4], scale.exp);
            special |= static_cast<uint32_t>(scale.is_special) << n;
        }
    }
    int64_t total[4][4];
#pragma unroll
    for (int n = 0; n < 16; ++n) {
        const Decoded z = decode(c_format, own.d[n / 4][n % 4]);
        total[n / 4][n % 4] = align<int64_t>(addend(z, c_format, plan.e_zero), e_max[n / 4][n % 4], plan.F, Mode::RZ);
    }
#pragma unroll 1
    for (int group = k / plan.G; group < (k + plan.L) / plan.G; ++group) {
        int sum[4][4] = {};
#pragma unroll
        for (int four = 0; four < plan.G / 4; ++four) {
            const Four<uint32_t> a = part.words(0, 0, group * (plan.G / 4) + four, rows);
            const Four<uint32_t> b = part.words(1, 0, group * (plan.G / 4) + four, columns);
#pragma unroll
            for (int n = 0; n < 16; ++n) sum[n / 4][n % 4] = add_four_products(a.of[n / 4], b.of[n % 4], sum[n / 4][n % 4]);
        }
        Four<uint32_t> of[4];
        of_group(group, of);
#pragma unroll
        for (int n = 0; n < 16; ++n) {
            const GroupScale scale = scale_of(of, n);
            const Term<int64_t> term{static_cast<int64_t>(sum[n / 4][n % 4]) * scale.sig, scale.exp, group_frac(plan)};
            total[n / 4][n % 4] += align<int64_t>(term, e_max[n / 4][n % 4], plan.F, Mode::RZ);
        }
    }
    NoObserver nobody;
#pragma unroll
    for (int n = 0; n < 16; ++n) {
        uint32_t& d = own.d[n / 4][n % 4];
        const int64_t i = part.corner.row + 4 * rows + n / 4, j = part.corner.column + 4 * columns + n % 4;
        d = static_cast<uint32_t>(special >> n & 1 ? step_from_memory<Int>(part.product, i, j, part.start + k, d)
                                                   : convert_sum(plan, total[n / 4][n % 4], e_max[n / 4][n % 4], false, nobody));
    }
}

/// A block's tile of D, as compute_tile, of a plan of quick groups.
template <class Int, class Planned>
MMAU_FN void compute_group_tile(const Product<Planned>& product, int64_t number, unsigned char* memory,
                                Block<QuickAccumulated>& block) {
    const Plan& plan = product.plan();
    const auto part_of = [&](const Corner& corner, int start, int count) {
        return GroupPart<Planned>{product, corner, start, count, reinterpret_cast<uint32_t*>(memory)};
    };
    const auto step = [&](const GroupPart<Planned>& part, int rows, int columns, QuickAccumulated& own) {
#pragma unroll 1
        for (int k = 0; k < part.count; k += plan.L) group_step<Int>(part, k, rows, columns, own);
    };
    compute_by_fours(product, number, group_layout(plan).depth, block, part_of, step);
}

MMAU_NAMESPACE_END
