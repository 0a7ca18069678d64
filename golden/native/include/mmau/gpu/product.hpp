// D = A·B + C on a GPU, of any operation: a block computes a tile of D, part of K after part, each decoded once.
#pragma once

#include "part.hpp"

MMAU_NAMESPACE_BEGIN

/// What a thread keeps: the accumulators of its elements.
struct Accumulated {
    uint64_t d[tile_each * tile_each];
};

/// One step of any operation; FMA's is one product, which the machine's own fused multiply-add computes where it is IEEE 754's.
template <class Int, class Operands>
MMAU_FN uint64_t step_of_any(const Operands& operands, const Format& c_format, uint64_t d) {
    const Plan& plan = operands.plan();
    NoObserver nobody;
    if (plan.operation != MMAU_FMA) return step<Int>(operands, c_format, d, nobody);
    if (!plan.machine_fma) return fma_step(operands, d, nobody);
    const uint64_t quiet = plan.d.quiet_nan();
    uint64_t code;
    if (plan.a.storage_bits == 32) {
        const auto of = [](uint64_t code) { return bits_as<float>(static_cast<uint32_t>(code)); };
        const float sum = fused_multiply_add(of(operands.a_code(0)), of(operands.b_code(0)), of(d));
        code = code_of<uint32_t>(sum, static_cast<uint32_t>(quiet));
    } else {
        const double sum = fused_multiply_add(bits_as<double>(operands.a_code(0)), bits_as<double>(operands.b_code(0)), bits_as<double>(d));
        code = code_of<uint64_t>(sum, quiet);
    }
    return plan.nan != MMAU_QUIET_NAN && code == quiet ? fma_step(operands, d, nobody) : code;
}

/// All steps of a thread's elements, each from memory: where a step is longer than a part can be.
template <class Int, class Planned>
MMAU_FN void accumulate_from_memory(const Product<Planned>& product, const Corner& corner, int thread, Accumulated& own) {
    const Plan& plan = product.plan();
#pragma unroll 1
    for (int each = 0; each < tile_each * tile_each; ++each) {
        const Place place = place_of(thread, each);
        if (!is_within(product, corner, place)) continue;
        const Row row = product.row(corner.row + place.row, corner.column + place.column);
#pragma unroll 1
        for (int k = 0; k < product.K; k += plan.L) {
            own.d[each] = step_of_any<Int>(OperandsOf<Planned>{Planned(), row, k}, k ? plan.d : plan.c, own.d[each]);
        }
    }
}

/// The steps of a part.
template <class Int, class Planned>
MMAU_FN void accumulate_part(const Part<Planned>& part, int thread, Accumulated& own) {
    const Plan& plan = part.product.plan();
#pragma unroll 1
    for (int each = 0; each < tile_each * tile_each; ++each) {
        uint64_t d = own.d[each];
#pragma unroll 1
        for (int k = 0; k < part.count; k += plan.L) {
            const PartOperands<Planned> operands{Planned(), part, place_of(thread, each), k};
            d = step_of_any<Int>(operands, part.start + k ? plan.d : plan.c, d);
        }
        own.d[each] = d;
    }
}

/// A block's tile of D, sums in Int. `memory` is what its threads share. A converted chain starts from zero, and adds c at its end.
template <class Int, class Planned>
MMAU_FN void compute_tile(const Product<Planned>& product, int64_t number, unsigned char* memory, Block<Accumulated>& block) {
    const Plan& plan = product.plan();
    const mmau_batch& batch = product.batch;
    const PartLayout layout = layout_of(plan);
    const Corner corner = corner_of(product, number);
    block.each([&](int thread, Accumulated& own) {
#pragma unroll 1
        for (int each = 0; each < tile_each * tile_each; ++each) {
            const Place place = place_of(thread, each);
            const bool reads = !plan.fp16_order && is_within(product, corner, place);
            own.d[each] = reads ? load(plan.c, batch.c, index_in_d(product, corner, place)) : 0;
        }
        if (!fits_parts(plan)) accumulate_from_memory<Int>(product, corner, thread, own);
    });
#pragma unroll 1
    for (int start = 0; fits_parts(plan) && start < product.K; start += layout.depth) {
        const Part<Planned> part{product, layout, corner, start, smaller(layout.depth, product.K - start), memory};
        block.each([&](int thread, Accumulated&) { part.load(thread); });
        block.each([&](int thread, Accumulated& own) { accumulate_part<Int>(part, thread, own); });
    }
    block.each([&](int thread, Accumulated& own) {
#pragma unroll 1
        for (int each = 0; each < tile_each * tile_each; ++each) {
            const Place place = place_of(thread, each);
            if (!is_within(product, corner, place)) continue;
            const int64_t index = index_in_d(product, corner, place);
            const uint64_t d = own.d[each];
            store(plan.d, batch.d, index, plan.fp16_order ? rounded_addition(plan.d, d, load(plan.c, batch.c, index)) : d);
        }
    });
}

MMAU_NAMESPACE_END
