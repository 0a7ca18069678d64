// T-, ST-, TR- and GTR-FDPA of a row of A and a panel of B: the steps of t_fdpa_lanes.hpp and tr_fdpa_lanes.hpp over decoded
// elements, those of ST-FDPA under their scales. All of them are finite; only accumulators may be special.
#pragma once

#include "quick_steps.hpp"

MMAU_NAMESPACE_BEGIN

/// One step of some rows of A, a multiple of step_rows, and every column of a panel: products k … k+L−1.
using PanelStep = void (*)(Block& block, int rows, Accumulating d, int k, Rows a, const Panel& b);

/// A step that takes every accumulator, of one row: the block's.
using WholeStep = void(Block& block, int k, const RowElements& a, const Panel& b);

template <WholeStep whole>
inline void whole_panel(Block& block, int rows, Accumulating d, int k, Rows a, const Panel& b) {
    for (int i = 0; i < rows; ++i) {
        std::memcpy(block.d, *d[i], sizeof block.d);
        whole(block, k, *a[i], b);
        std::memcpy(*d[i], block.d, sizeof block.d);
    }
}

/// A step of rows until step_rows of them have an accumulator that is not simple, and how many it took (quick_steps.hpp).
using QuickStep = int(const Plan& plan, int rows, Accumulating d, int k, Rows a, const Panel& b);

template <QuickStep quick, WholeStep whole>
inline void quick_panel(Block& block, int rows, Accumulating d, int k, Rows a, const Panel& b) {
    int i = 0;
    while ((i += quick(block.plan, rows - i, d + i, k, a + i, b)) < rows) {
        whole_panel<whole>(block, step_rows, d + i, k, a + i, b);
        i += step_rows;
    }
}

/// Products of which steps and scales both have whole ones, where an operation has scales.
inline int undivided_length(const Plan& plan) { return larger(plan.L, plan.K_block); }

/// Whether elements and their scales can be decoded together: elements of scale_elements, and whole blocks in a part.
inline bool scales_fit_panels(const Plan& plan) {
    return are_words<HalfWords>(plan) && undivided_length(plan) <= panel_length;
}

/// Whether a step of a panel can take a T- or ST-FDPA: RZ, few bits, and an e_zero below every accumulator, which is then a
/// floor of e_max whether or not there is a zero among the terms.
inline bool t_fdpa_fits_panels(const Plan& plan) {
    const bool is_floor = plan.e_zero <= plan.c.e_min() && plan.e_zero <= plan.d.e_min();
    const bool fits = plan.operation == MMAU_T_FDPA || (plan.operation == MMAU_ST_FDPA && scales_fit_panels(plan));
    return fits && plan.truncation == Mode::RZ && is_floor;
}

inline bool tr_fdpa_fits_panels(const Plan& plan) {
    return (plan.operation == MMAU_TR_FDPA || plan.operation == MMAU_GTR_FDPA) && plan.truncation == Mode::RD;
}

inline void t_fdpa_panel(Block& block, int k, const RowElements& a, const Panel& b) {
    const Plan& plan = block.plan;
    Accumulators c;
    decode_accumulators(k ? plan.d : plan.c, block, c);
    Lanes<int32_t> e_max;
    find_largest(a.exp + k, b.exp + k, plan.L, 1, e_max);
    const int32_t e_zero = plan.e_zero;
    for (int r = 0; r < lanes; ++r) {
        const int32_t c_exp = c.sig[r] ? c.exp[r] : e_zero;
        e_max[r] = larger(larger(e_max[r], e_zero), c_exp);
    }
    Lanes<int64_t> total{};
    accumulate(plan, a, b, k, 0, 1, e_max, total);
    convert_sums(block, c, e_max, total);
    if (any_special(block)) encode_specials(block, plan.d.nvidia_nan());
}

inline void tr_fdpa_panel(Block& block, int k, const RowElements& a, const Panel& b) {
    const Plan& plan = block.plan;
    TruncatedSum dot;
    sum_products(plan, a, b, k, dot);
    Accumulators c;
    decode_accumulators(plan.c, block, c);
    round_with_c(block, c, dot);
    if (any_special(block)) encode_specials(block, plan.d.quiet_nan());
}

/// The step for a plan; nullptr where there is none.
inline PanelStep panel_step(const Plan& plan) {
    const bool fits = !plan.own_keys && !plan.fp16_order && plan.L <= max_lane_length && plan.F <= widest_lane_fraction;
    if (!fits || !sums_fit_lanes(plan)) return nullptr;
    if (t_fdpa_fits_panels(plan)) {
        if (!t_fdpa_is_quick(plan)) return whole_panel<t_fdpa_panel>;
        return plan.rho.mode == Mode::RZ ? quick_panel<t_fdpa_quick<true>, t_fdpa_panel> : quick_panel<t_fdpa_quick<false>, t_fdpa_panel>;
    }
    if (!tr_fdpa_fits_panels(plan)) return nullptr;
    if (!tr_fdpa_is_quick(plan)) return whole_panel<tr_fdpa_panel>;
    return plan.operation == MMAU_GTR_FDPA ? quick_panel<tr_fdpa_quick<true>, tr_fdpa_panel> : quick_panel<tr_fdpa_quick<false>, tr_fdpa_panel>;
}

MMAU_NAMESPACE_END
