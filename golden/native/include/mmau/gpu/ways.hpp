// The kernel of a matrix product on a GPU: the quick way that takes a plan, or else that of any operation.
#pragma once

#include "quick_groups.hpp"

MMAU_NAMESPACE_BEGIN

enum { general_way, quick_way, group_way };

MMAU_FN constexpr int way_of(const Plan& plan) { return is_quick(plan) ? quick_way : is_quick_groups(plan) ? group_way : general_way; }

/// A way: what a thread keeps, the memory of a block, the tile.
template <int way>
struct Way {
    using Own = Accumulated;
    static MMAU_FN constexpr int bytes(const Plan& plan) { return shared_bytes(plan); }

    template <class Int, class Planned>
    static MMAU_FN void compute(const Product<Planned>& product, int64_t number, unsigned char* memory, Block<Own>& block) {
        compute_tile<Int>(product, number, memory, block);
    }
};

template <>
struct Way<quick_way> {
    using Own = QuickAccumulated;
    static MMAU_FN constexpr int bytes(const Plan&) { return QuickLayout::bytes; }

    template <class Int, class Planned>
    static MMAU_FN void compute(const Product<Planned>& product, int64_t number, unsigned char* memory, Block<Own>& block) {
        Product<Planned>::plan().operation == MMAU_GTR_FDPA ? compute_quick_tile<Int, 2>(product, number, memory, block)
                                                            : compute_quick_tile<Int, 1>(product, number, memory, block);
    }
};

template <>
struct Way<group_way> {
    using Own = QuickAccumulated;
    static MMAU_FN constexpr int bytes(const Plan& plan) { return 2 * group_layout(plan).side * static_cast<int>(sizeof(uint32_t)); }

    template <class Int, class Planned>
    static MMAU_FN void compute(const Product<Planned>& product, int64_t number, unsigned char* memory, Block<Own>& block) {
        compute_group_tile<Int>(product, number, memory, block);
    }
};

MMAU_NAMESPACE_END
