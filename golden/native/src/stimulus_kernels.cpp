// The stimulus at volume, compiled once for each instruction set, as batch_kernels.cpp is.
#include "batch_kernels.hpp"

#include "mmau/stimulus/rows.hpp"

#define MMAU_JOIN(x, y) x##y
#define MMAU_ENTRY(isa) MMAU_JOIN(fill_tiles_, isa)

void mmau::MMAU_ENTRY(MMAU_ISA)(const mmau_stimulus& of, const void* corners, const TileRange& range) {
    const stimulus::Plan plan = stimulus::make_plan(of);
    const stimulus::Arrays out{range.a, range.b, range.c, range.scale_a, range.scale_b, range.label};
    stimulus::fill_tiles(plan, stimulus::corners_in(plan, corners), range.seed, range.first, range.tiles, range.m, range.n, out);
}
