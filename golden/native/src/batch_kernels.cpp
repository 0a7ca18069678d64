// Compiled once for each instruction set, with MMAU_ISA its name and the compiler's flags for it.
#include "batch_kernels.hpp"

#include "mmau/batch/tiles.hpp"

#define MMAU_JOIN(x, y) x##y
#define MMAU_ENTRY(name, isa) MMAU_JOIN(name, isa)

void mmau::MMAU_ENTRY(compute_rows_, MMAU_ISA)(const mmau_parameters& parameters, const mmau_batch& batch, int64_t begin, int64_t end) {
    dot_rows(make_plan(parameters), batch, begin, end);
}

bool mmau::MMAU_ENTRY(compute_tile_, MMAU_ISA)(const mmau_parameters& parameters, const mmau_batch& batch, const DTile& tile) {
    const Plan plan = make_plan(parameters);
    if (!takes_tiles(plan, batch)) return false;
    if (tile.rows && tile.columns) TileProduct(plan, batch, {tile.row, tile.rows, tile.column, tile.columns}).compute();
    return true;
}
