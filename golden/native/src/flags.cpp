// The general path with exception flags: one row after the other.
#include "float_environment.hpp"
#include "mmau/flags.hpp"

extern "C" {

MMAU_API int mmau_dot_flags(const mmau_parameters* parameters, const mmau_batch* batch, int rules, uint8_t* flags) {
    if (!parameters || !batch) return MMAU_NULL_POINTER;
    if (const int status = mmau_check(parameters)) return status;
    const mmau::Plan plan = mmau::make_plan(*parameters);
    if (!mmau::has_flags(plan)) return MMAU_BAD_OPERATION;
    if (rules & ~(MMAU_TINY_BEFORE | MMAU_QUIET_BESIDE_NAN)) return MMAU_BAD_RULES;
    if (batch->rows < 0 || batch->columns != 0) return MMAU_BAD_ROWS;
    if (batch->rows == 0) return MMAU_OK;
    if (!batch->a || !batch->b || !batch->c || !batch->d || !flags) return MMAU_NULL_POINTER;
    const mmau::DefaultFloatEnvironment environment;
    for (int64_t i = 0; i < batch->rows; ++i) {
        const mmau::Row row{mmau::element(plan.stored_a, batch->a, i * batch->a_stride),
                            mmau::element(plan.stored_b, batch->b, i * batch->b_stride), nullptr, nullptr};
        const uint64_t d = mmau::flagged_dot(plan, row, mmau::load(plan.c, batch->c, i), rules, flags[i]);
        mmau::store(plan.d, batch->d, i, d);
    }
    return MMAU_OK;
}

}  // extern "C"
