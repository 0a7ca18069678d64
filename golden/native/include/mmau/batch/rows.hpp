// Many rows: block by block, each step of a chain over the whole block before the next one.
#pragma once

#include "converted_codes.hpp"
#include "e_fdpa_lanes.hpp"
#include "fma_arrays.hpp"
#include "ftz_addmul_lanes.hpp"
#include "gst_fdpa_lanes.hpp"
#include "headroom_lanes.hpp"
#include "tr_fdpa_lanes.hpp"

MMAU_NAMESPACE_BEGIN

/// Computes the whole chain of every row of a block.
using BlockChain = void (*)(Block& block);

/// One step after another, each over every row: `compute_step` takes products k … k+L−1. As many steps' codes are gathered
/// together as fit.
template <class Codes, void (*compute_step)(Block& block, int k, const typename Codes::Step& codes)>
inline void chain_by_lanes(Block& block) {
    const Plan& plan = block.plan;
    const int together = max_lane_length / plan.L * plan.L;
    for (int first = 0; first < plan.K; first += together) {
        const int count = smaller(together, plan.K - first);
        const Codes codes(block, first, count);
        for (int k = 0; k < count; k += plan.L) compute_step(block, first + k, codes.step(k));
    }
}

template <class Words, class Code>
inline BlockChain block_chain_for(const Plan& plan) {
    if (has_headroom(plan.operation)) return headroom_chain<Words, Code>;
    if (t_fdpa_fits_lanes(plan)) return chain_by_lanes<Codes<Code>, t_fdpa_lanes<Words, Code>>;
    if (gst_fdpa_fits_lanes(plan)) {
        return is_fp4(plan.a) && is_fp4(plan.b) ? chain_by_lanes<Fp4Rows, gst_fdpa_lanes<Fp4Step>>
                                                : chain_by_lanes<Codes<Code>, gst_fdpa_lanes<StepCodes<Code>>>;
    }
    if (tr_fdpa_fits_lanes(plan)) return chain_by_lanes<Codes<Code>, tr_fdpa_lanes<Words, Code>>;
    if constexpr (sizeof(Code) > 1) {
        if (e_fdpa_fits_lanes(plan)) return chain_by_lanes<Codes<Code>, e_fdpa_lanes<Words, Code>>;
    }
    return nullptr;
}

/// The kernel that takes a plan by lanes; nullptr where there is none.
inline BlockChain block_chain(const Plan& plan) {
    if (has_headroom(plan.operation) ? !(plan.is_usual && headroom_fits_lanes(plan)) : plan.own_keys) return nullptr;
    if (ftz_addmul_fits_lanes(plan)) {
        return plan.a.exp_bits == 8 ? chain_by_lanes<Codes<uint16_t>, ftz_addmul_lanes<widened_bf16>>
                                    : chain_by_lanes<Codes<uint16_t>, ftz_addmul_lanes<widened_fp16>>;
    }
    if (plan.fp16_order) {
        const bool fits = t_fdpa_fits_lanes(plan) && plan.K <= max_lane_length;
        return fits ? chain_by_lanes<ConvertedCodes, t_fdpa_lanes<HalfWords, uint16_t>> : nullptr;
    }
    switch (plan.a.storage_bits) {
        case 8: return are_words<HalfWords>(plan) ? block_chain_for<HalfWords, uint8_t>(plan)
                                                  : block_chain_for<Bf16Words, uint8_t>(plan);
        case 16: return are_words<HalfWords>(plan) ? block_chain_for<HalfWords, uint16_t>(plan)
                                                   : block_chain_for<Bf16Words, uint16_t>(plan);
        default: return block_chain_for<Tf32Words, uint32_t>(plan);
    }
}

/// All steps of a block by a kernel; converted chains start from zero, and add c at the end.
inline void compute_block(Block& block, BlockChain chain) {
    const Plan& plan = block.plan;
    if (!plan.fp16_order) return chain(block);
    Lanes<uint32_t> c;
    for (int r = 0; r < lanes; ++r) c[r] = block.d[r], block.d[r] = 0;
    chain(block);
    for (int r = 0; r < lanes; ++r) block.d[r] = static_cast<uint32_t>(rounded_addition(plan.d, block.d[r], c[r]));
}

/// The accumulators of a block's rows, from row `first` on; lanes that are no rows have the first row's.
template <class Code>
inline void load_codes(const void* codes, int64_t first, Block& block) {
    const Code* from = static_cast<const Code*>(codes) + first;
    if (sizeof(Code) == sizeof block.d[0]) {
        std::memcpy(block.d, from, sizeof(Code) * static_cast<size_t>(block.rows));
    } else {
        for (int r = 0; r < block.rows; ++r) block.d[r] = from[r];
    }
    for (int r = block.rows; r < lanes; ++r) block.d[r] = from[0];
}

template <class Code>
inline void store_codes(const Block& block, void* codes, int64_t first) {
    Code* to = static_cast<Code*>(codes) + first;
    if (sizeof(Code) == sizeof block.d[0]) {
        std::memcpy(to, block.d, sizeof(Code) * static_cast<size_t>(block.rows));
    } else {
        for (int r = 0; r < block.rows; ++r) to[r] = static_cast<Code>(block.d[r]);
    }
}

inline void rows_by_lanes(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end, BlockChain chain) {
    const bool c_is_short = plan.c.storage_bits == 16, d_is_short = plan.d.storage_bits == 16;
    Cursor cursor(plan, batch, begin);
    Block block{plan, 0, {}, {}, {}};
    for (int64_t first = begin; first < end; first += lanes) {
        block.rows = static_cast<int>(smaller<int64_t>(lanes, end - first));
        for (int r = 0; r < block.rows; ++r) block.row[r] = cursor.next();
        for (int r = block.rows; r < lanes; ++r) block.row[r] = block.row[0];
        c_is_short ? load_codes<uint16_t>(batch.c, first, block) : load_codes<uint32_t>(batch.c, first, block);
        compute_block(block, chain);
        d_is_short ? store_codes<uint16_t>(block, batch.d, first) : store_codes<uint32_t>(block, batch.d, first);
    }
}

/// Rows begin … end−1 of a checked batch: by lanes where a kernel takes the plan, else one after another.
inline void dot_rows(const Plan& plan, const mmau_batch& batch, int64_t begin, int64_t end) {
    if (is_machine_fma(plan)) {
        return plan.a.storage_bits == 32 ? machine_fma<uint32_t, float>(plan, batch, begin, end)
                                         : machine_fma<uint64_t, double>(plan, batch, begin, end);
    }
    if (const BlockChain chain = block_chain(plan)) return rows_by_lanes(plan, batch, begin, end, chain);
    Cursor cursor(plan, batch, begin);
    for (int64_t r = begin; r < end; ++r) store(plan.d, batch.d, r, dot(plan, cursor.next(), load(plan.c, batch.c, r)));
}

MMAU_NAMESPACE_END
