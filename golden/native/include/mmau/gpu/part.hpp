// A part of K in the memory that a block shares: the operands of a tile, decoded once for 64 elements each.
#pragma once

#include "block.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether a step wants the codes of its operands, which decoding would lose: integers, and what passes NaN on.
MMAU_FN constexpr bool holds_codes(const Plan& plan) { return !has_rho(plan.operation) || is_ieee(plan.operation); }

/// A decoded operand in a word; multiplicands and scales have at most 12 bits of significand.
MMAU_FN uint32_t packed(const Decoded& x) {
    const auto exp = static_cast<uint32_t>(x.exp) << 16;
    return exp | static_cast<uint32_t>(x.sign) << 15 | static_cast<uint32_t>(x.cls) << 12 | static_cast<uint32_t>(x.sig);
}

MMAU_FN Decoded unpacked(uint32_t word) {
    return {static_cast<int>(word >> 15 & 1), static_cast<int32_t>(word) >> 16, word & 0xFFF, static_cast<Cls>(word >> 12 & 7)};
}

/// Where the parts of the operands lie. All but the plan follows from it.
struct PartLayout {
    int depth;              // products of a part at most
    int slots;              // blocks of scales that a part may touch
    int a, b, scale_a, scale_b, bytes;
};

MMAU_FN constexpr int part_bytes(const Plan& plan, const Format& stored) {
    return holds_codes(plan) ? stored.storage_bits / 8 : static_cast<int>(sizeof(uint32_t));
}

MMAU_FN constexpr PartLayout layout_of(const Plan& plan) {
    PartLayout layout{};
    layout.depth = larger(1, usual_depth / plan.L) * plan.L;
    layout.slots = has_scales(plan.operation) ? smaller(layout.depth, (layout.depth - 1) / plan.K_block + 2) : 0;
    layout.b = tile_side * layout.depth * part_bytes(plan, plan.stored_a);
    layout.scale_a = layout.b + tile_side * layout.depth * part_bytes(plan, plan.stored_b);
    layout.scale_b = layout.scale_a + tile_side * layout.slots * static_cast<int>(sizeof(uint32_t));
    layout.bytes = layout.scale_b + tile_side * layout.slots * static_cast<int>(sizeof(uint32_t));
    return layout;
}

/// Whether every decoded operand of a format fits a word.
MMAU_FN constexpr bool fits_word(const Format& format) {
    return format.man_bits < 12 && format.e_min() >= -(1 << 15) && format.e_limit() < 1 << 15;
}

/// Whether a step's operands fit the memory of a block, decoded ones a word each; others are read, and decoded, where they are
/// used.
MMAU_FN constexpr bool fits_parts(const Plan& plan) {
    const bool words = holds_codes(plan) || (fits_word(plan.a) && fits_word(plan.b));
    return layout_of(plan).bytes <= most_shared_bytes && words && (!has_scales(plan.operation) || fits_word(plan.scale));
}

/// Memory that a block of a plan shares; an array of none is not allowed.
MMAU_FN constexpr int shared_bytes(const Plan& plan) { return fits_parts(plan) ? layout_of(plan).bytes : 1; }

/// The part of K from product `start` on, of a tile.
template <class Planned>
struct Part {
    const Product<Planned>& product;
    PartLayout layout;
    Corner corner;
    int start, count;
    unsigned char* memory;

    MMAU_FN uint32_t* words(int offset) const { return reinterpret_cast<uint32_t*>(memory + offset); }

    /// Write what a thread brings of one operand: of a row every product that is its turn.
    MMAU_FN void load_side(const Format& stored, const Format& format, const void* codes, int offset, int row, int turn) const {
        const Plan& plan = product.plan();
        constexpr int turns = block_threads / (2 * tile_side);
#pragma unroll 1
        for (int k = turn; k < count; k += turns) {
            const uint64_t code = mmau::load(stored, codes, product_at(plan.order, product.K, start + k));
            const int place = k * tile_side + row;
            if (holds_codes(plan)) {
                store(stored, memory + offset, place, code);
            } else {
                words(offset)[place] = packed(decode(format, plan.fp16_order ? to_fp16(stored, code) : code, flushes(plan, format)));
            }
        }
    }

    MMAU_FN void load_scales(const void* codes, int offset, int row, int turn) const {
        const Plan& plan = product.plan();
        constexpr int turns = block_threads / (2 * tile_side);
        const int first = start / plan.K_block, blocks = (start + count - 1) / plan.K_block - first + 1;
#pragma unroll 1
        for (int slot = turn; slot < blocks; slot += turns) {
            words(offset)[slot * tile_side + row] = packed(decode(plan.scale, mmau::load(plan.scale, codes, first + slot)));
        }
    }

    MMAU_FN void load(int thread) const {
        const Plan& plan = product.plan();
        const auto [row, turn, is_of_b, from] = turn_of(product, corner, thread);
        if (is_of_b) {
            load_side(plan.stored_b, plan.b, from.b, layout.b, row, turn);
            if (has_scales(plan.operation)) load_scales(from.scale_b, layout.scale_b, row, turn);
        } else {
            load_side(plan.stored_a, plan.a, from.a, layout.a, row, turn);
            if (has_scales(plan.operation)) load_scales(from.scale_a, layout.scale_a, row, turn);
        }
    }
};

/// The operands of a step, products first … of a part, for an element of the tile: what a step asks of RowOperands.
template <class Planned>
struct PartOperands {
    Planned plan;
    const Part<Planned>& part;
    Place place;
    int first;

    MMAU_FN int at(int row, int k) const { return (first + k) * tile_side + row; }
    MMAU_FN uint64_t a_code(int k) const { return load(plan().stored_a, part.memory + part.layout.a, at(place.row, k)); }
    MMAU_FN uint64_t b_code(int k) const { return load(plan().stored_b, part.memory + part.layout.b, at(place.column, k)); }
    MMAU_FN int index(int k) const { return first + k; }
    template <class Code>
    MMAU_FN Code a_as(int index) const {
        return reinterpret_cast<const Code*>(part.memory + part.layout.a)[index * tile_side + place.row];
    }
    template <class Code>
    MMAU_FN Code b_as(int index) const {
        return reinterpret_cast<const Code*>(part.memory + part.layout.b)[index * tile_side + place.column];
    }
    MMAU_FN Decoded a(int k) const {
        if (holds_codes(plan())) return decode(plan().a, a_code(k), flushes(plan(), plan().a));
        return unpacked(part.words(part.layout.a)[at(place.row, k)]);
    }
    MMAU_FN Decoded b(int k) const {
        if (holds_codes(plan())) return decode(plan().b, b_code(k), flushes(plan(), plan().b));
        return unpacked(part.words(part.layout.b)[at(place.column, k)]);
    }
    MMAU_FN int slot(int k) const { return (part.start + first + k) / plan().K_block - part.start / plan().K_block; }
    MMAU_FN Decoded scale_a(int k) const { return unpacked(part.words(part.layout.scale_a)[slot(k) * tile_side + place.row]); }
    MMAU_FN Decoded scale_b(int k) const { return unpacked(part.words(part.layout.scale_b)[slot(k) * tile_side + place.column]); }
};

MMAU_NAMESPACE_END
