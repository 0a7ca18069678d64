// Many rows: block by block, each step of a chain over the whole block before the next one.
#pragma once

#include "t_fdpa_rows.hpp"

MMAU_NAMESPACE_BEGIN

/// Computes one step, products k … k+L−1, of every row of a block.
using BlockStep = void (*)(const Plan& plan, Block& block, int k);

template <int L>
inline BlockStep t_fdpa_block_step(const Plan& plan) {
    switch (plan.a.storage_bits) {
        case 8: return t_fdpa_rows<L, uint8_t>;
        case 16: return t_fdpa_rows<L, uint16_t>;
        default: return t_fdpa_rows<L, uint32_t>;
    }
}

/// The kernel that takes a plan's steps by lanes; nullptr where there is none.
inline BlockStep block_step(const Plan& plan) {
    if (t_fdpa_lanes_fit(plan)) {
        switch (plan.L) {
            case 4: return t_fdpa_block_step<4>(plan);
            case 8: return t_fdpa_block_step<8>(plan);
            case 16: return t_fdpa_block_step<16>(plan);
            case 32: return t_fdpa_block_step<32>(plan);
        }
    }
    return nullptr;
}

/// Every row by the general path.
inline void general_rows(const Plan& plan, Block& block) {
    for (int r = 0; r < block.rows; ++r) block.d[r] = dot(plan, block.row[r], block.d[r]);
}

/// Rows begin … end−1 of a checked batch.
inline void dot_rows(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    const BlockStep step = plan.fp16_order ? nullptr : block_step(plan);
    Cursor cursor(plan, batch, begin);
    Block block;
    for (int64_t first = begin; first < end; first += block_rows) {
        block.rows = static_cast<int>(smaller<int64_t>(block_rows, end - first));
        for (int r = 0; r < block.rows; ++r) {
            block.row[r] = cursor.next();
            block.d[r] = load(plan.c, batch.c, first + r);
        }
        if (step) {
            for (int k = 0; k < plan.K; k += plan.L) step(plan, block, k);
        } else {
            general_rows(plan, block);
        }
        for (int r = 0; r < block.rows; ++r) store(plan.d, batch.d, first + r, block.d[r]);
    }
}

MMAU_NAMESPACE_END
