// Compiled once for each instruction set, with MMAU_ISA its name and the compiler's flags for it.
#include "batch_kernels.hpp"

#include "mmau/batch/rows.hpp"

#define MMAU_JOIN(x, y) x##y
#define MMAU_ENTRY(isa) MMAU_JOIN(compute_rows_, isa)

void mmau::MMAU_ENTRY(MMAU_ISA)(const mmau_parameters& parameters, const mmau_batch& batch, int64_t begin, int64_t end) {
    dot_rows(make_plan(parameters), batch, begin, end);
}
