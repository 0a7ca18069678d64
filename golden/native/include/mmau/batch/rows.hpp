// Many rows: block by block, each step of a chain over the whole block before the next one.
#pragma once

#include <type_traits>

#include "converted_codes.hpp"
#include "e_fdpa_lanes.hpp"
#include "ftz_addmul_lanes.hpp"
#include "gst_fdpa_lanes.hpp"
#include "tr_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Computes one step, products k … k+L−1, of every row of a block.
using BlockStep = void (*)(Block& block, int k);

template <class Words, class CodePair>
inline BlockStep block_step_for(const Plan& plan) {
    if (t_fdpa_fits_lanes(plan)) return t_fdpa_lanes<Words, CodePair>;
    if (gst_fdpa_fits_lanes(plan)) {
        return is_fp4(plan.a) && is_fp4(plan.b) ? gst_fdpa_lanes<Fp4Codes> : gst_fdpa_lanes<CodePair>;
    }
    if (tr_fdpa_fits_lanes(plan)) return tr_fdpa_lanes<Words, CodePair>;
    if constexpr (!std::is_same_v<CodePair, Codes<uint8_t>>) {
        if (e_fdpa_fits_lanes(plan)) return e_fdpa_lanes<Words, CodePair>;
    }
    return nullptr;
}

/// The kernel that takes a plan's steps by lanes; nullptr where there is none.
inline BlockStep block_step(const Plan& plan) {
    if (ftz_addmul_fits_lanes(plan)) {
        return plan.a.exp_bits == 8 ? ftz_addmul_lanes<widened_bf16> : ftz_addmul_lanes<widened_fp16>;
    }
    if (plan.fp16_order) {
        return t_fdpa_fits_lanes(plan) && plan.K <= max_lane_length ? t_fdpa_lanes<HalfWords, ConvertedCodes> : nullptr;
    }
    switch (plan.a.storage_bits) {
        case 8:
            return are_words<HalfWords>(plan) ? block_step_for<HalfWords, Codes<uint8_t>>(plan)
                                              : block_step_for<Bf16Words, Codes<uint8_t>>(plan);
        case 16:
            return are_words<HalfWords>(plan) ? block_step_for<HalfWords, Codes<uint16_t>>(plan)
                                              : block_step_for<Bf16Words, Codes<uint16_t>>(plan);
        default: return block_step_for<Tf32Words, Codes<uint32_t>>(plan);
    }
}

/// All steps of a block by a kernel.
inline void chain_by_lanes(Block& block, BlockStep step) {
    const Plan& plan = block.plan;
    Lanes<uint32_t> c;
    for (int r = 0; r < lanes && plan.fp16_order; ++r) c[r] = block.d[r], block.d[r] = 0;
    for (int k = 0; k < plan.K; k += plan.L) step(block, k);
    for (int r = 0; r < lanes && plan.fp16_order; ++r) {
        block.d[r] = static_cast<uint32_t>(rounded_addition(plan.d, block.d[r], c[r]));
    }
}

/// The accumulators of a block's rows, from row `first` on; lanes that are no rows have the first row's.
template <class Code>
inline void load_codes(const void* codes, int64_t first, Block& block) {
    const Code* from = static_cast<const Code*>(codes) + first;
    for (int r = 0; r < block.rows; ++r) block.d[r] = from[r];
    for (int r = block.rows; r < lanes; ++r) block.d[r] = from[0];
}

template <class Code>
inline void store_codes(const Block& block, void* codes, int64_t first) {
    Code* to = static_cast<Code*>(codes) + first;
    for (int r = 0; r < block.rows; ++r) to[r] = static_cast<Code>(block.d[r]);
}

inline void rows_by_lanes(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end, BlockStep step) {
    Cursor cursor(plan, batch, begin);
    Block block{plan, 0, {}, {}, {}};
    for (int64_t first = begin; first < end; first += lanes) {
        block.rows = static_cast<int>(smaller<int64_t>(lanes, end - first));
        for (int r = 0; r < block.rows; ++r) block.row[r] = cursor.next();
        for (int r = block.rows; r < lanes; ++r) block.row[r] = block.row[0];
        plan.c.storage_bits == 16 ? load_codes<uint16_t>(batch.c, first, block) : load_codes<uint32_t>(batch.c, first, block);
        chain_by_lanes(block, step);
        plan.d.storage_bits == 16 ? store_codes<uint16_t>(block, batch.d, first) : store_codes<uint32_t>(block, batch.d, first);
    }
}

/// Rows begin … end−1 of a checked batch: by lanes where a kernel takes the plan, else one after another.
inline void dot_rows(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    if (const BlockStep step = block_step(plan)) return rows_by_lanes(plan, batch, begin, end, step);
    Cursor cursor(plan, batch, begin);
    for (int64_t r = begin; r < end; ++r) store(plan.d, batch.d, r, dot(plan, cursor.next(), load(plan.c, batch.c, r)));
}

MMAU_NAMESPACE_END
