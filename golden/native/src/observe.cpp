// The general path with an observer, for coverage: one row after the other, every step recorded.
#include <cstring>

#include "float_environment.hpp"
#include "mmau/dot.hpp"

namespace {

using mmau::Plan;

/// How many records a step writes; the order is in mmau.h.
mmau_record_counts counts_of(const Plan& plan) {
    const int L = plan.L, steps = plan.K / L, groups = L / plan.G;
    switch (plan.operation) {
        case MMAU_FTZ_ADDMUL: return {steps, 2 * L, L, 2 * L};
        case MMAU_FTZ_FMA: return {steps, 2 * L, L, L};
        case MMAU_FTZ_EO_FMA: return {steps, 2 * (L + 2), L + 2, L + 2};
        case MMAU_IDPA: return {steps, L + 1, 1, 0};
        case MMAU_CVT:
        case MMAU_MUL: return {steps, 1, 1, 1};
        case MMAU_ADD: return {steps, 2, 1, 1};
        case MMAU_PS_FDPA:
        case MMAU_GST_FDPA: return {steps, L + groups + 1, groups + 1, 1};
        case MMAU_TR_FDPA: return {steps, L + 2, 2, 2};
        case MMAU_GTR_FDPA: return L > 1 ? mmau_record_counts{steps, L + 4, 4, 2} : mmau_record_counts{steps, L + 2, 2, 2};
        default: return {steps, L + 1, 1, 1};
    }
}

template <class Int>
uint64_t observed_step(const Plan& plan, const mmau::Row& row, int k, uint64_t c, mmau::Recorder& see) {
    const mmau::RowOperands operands{{plan}, row, k};
    if (plan.operation == MMAU_FMA) return mmau::fma_step(operands, c, see);
    return mmau::step<Int>(operands, k ? plan.d : plan.c, c, see);
}

template <class Int>
void observe_row(const Plan& plan, const mmau::Row& row, uint64_t c, const mmau_record_counts& counts,
                 const mmau_observation& of, int64_t first_step) {
    for (int step = 0; step < counts.steps; ++step) {
        const int64_t at = first_step + step;
        mmau::Recorder see{of.terms + at * counts.terms, of.sums + at * counts.sums, of.roundings + at * counts.roundings};
        of.c[at] = c;
        c = of.d[at] = observed_step<Int>(plan, row, step * plan.L, c, see);
    }
}

}  // namespace

extern "C" {

MMAU_API int mmau_count_records(const mmau_parameters* parameters, mmau_record_counts* counts) {
    if (!parameters || !counts) return MMAU_NULL_POINTER;
    if (const int status = mmau_check(parameters)) return status;
    *counts = counts_of(mmau::make_plan(*parameters));
    return MMAU_OK;
}

MMAU_API int mmau_observe(const mmau_parameters* parameters, const mmau_batch* batch, mmau_observation* observation) {
    if (!batch || !observation) return MMAU_NULL_POINTER;
    mmau_record_counts counts;
    if (const int status = mmau_count_records(parameters, &counts)) return status;
    const Plan plan = mmau::make_plan(*parameters);
    if (batch->rows < 0 || batch->columns != 0) return MMAU_BAD_ROWS;
    if (batch->rows == 0) return MMAU_OK;
    if (!batch->a || !batch->b || !batch->c || (plan.blocks && (!batch->scale_a || !batch->scale_b))) return MMAU_NULL_POINTER;
    const auto [terms, sums, roundings, c, d] = *observation;
    if (!terms || !sums || !roundings || !c || !d) return MMAU_NULL_POINTER;
    const int64_t steps = batch->rows * counts.steps;
    std::memset(terms, 0, static_cast<std::size_t>(steps * counts.terms) * sizeof *terms);
    std::memset(sums, 0, static_cast<std::size_t>(steps * counts.sums) * sizeof *sums);
    std::memset(roundings, 0, static_cast<std::size_t>(steps * counts.roundings) * sizeof *roundings);
    const mmau::DefaultFloatEnvironment environment;
    for (int64_t i = 0; i < batch->rows; ++i) {
        const mmau::Row row{mmau::element(plan.stored_a, batch->a, i * batch->a_stride),
                            mmau::element(plan.stored_b, batch->b, i * batch->b_stride),
                            mmau::element(plan.scale, batch->scale_a, i * batch->scale_a_stride),
                            mmau::element(plan.scale, batch->scale_b, i * batch->scale_b_stride)};
        const uint64_t code = plan.fp16_order ? 0 : mmau::load(plan.c, batch->c, i);
        if (plan.narrow) {
            observe_row<int64_t>(plan, row, code, counts, *observation, i * counts.steps);
        } else {
            observe_row<mmau::Widest>(plan, row, code, counts, *observation, i * counts.steps);
        }
    }
    return MMAU_OK;
}

}  // extern "C"
