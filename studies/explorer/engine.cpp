// The native engine's general path, compiled to WebAssembly for the instruction explorer. The page writes operands into
// `mmau_memory` and calls the functions below with offsets into it.
#include "mmau/dot.hpp"

// Records of steps, for the trace.
#include "observe.cpp"

namespace {

// The largest entry of the catalogue, 256 products in steps of one, needs less than half of this (bytes).
alignas(16) unsigned char memory[1 << 18];

}  // namespace

extern "C" {

MMAU_API unsigned char* mmau_memory() { return memory; }

MMAU_API int mmau_memory_size() { return sizeof memory; }

int mmau_check(const mmau_parameters* parameters) { return mmau::check(*parameters); }

/// d = c + Σ a_k·b_k; 0, or the status of the first rule that the parameters break.
MMAU_API int mmau_dot(const mmau_parameters* parameters, const void* a, const void* b, const void* c, const void* scale_a,
                      const void* scale_b, void* d) {
    if (const int status = mmau_check(parameters)) return status;
    mmau::Plan plan = mmau::make_plan(*parameters);
    plan.machine_fma = false;  // musl's fma gives +0 for a tiny negative product and +0, where IEEE 754 has −0
    const mmau::Row row{mmau::element(plan.stored_a, a, 0), mmau::element(plan.stored_b, b, 0),
                        mmau::element(plan.scale, scale_a, 0), mmau::element(plan.scale, scale_b, 0)};
    mmau::store(plan.d, d, 0, mmau::dot(plan, row, mmau::load(plan.c, c, 0)));
    return MMAU_OK;
}

}  // extern "C"
