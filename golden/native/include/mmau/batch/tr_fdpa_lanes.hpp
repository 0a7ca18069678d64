// TR-FDPA and GTR-FDPA by lanes: the steps of operations/tr_fdpa.hpp.
#pragma once

#include "accumulators.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RD as published, and few bits.
inline bool tr_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_TR_FDPA && plan.operation != MMAU_GTR_FDPA) return false;
    return plan.truncation == Mode::RD && products_fit_lanes(plan) && plan.narrow;
}

/// T of the dot product, in units of 2^(e_dot − F).
inline void sum_products(const Plan& plan, const LaneProducts& products, Lanes<int32_t>& e_dot, Lanes<int64_t>& total) {
    for (int r = 0; r < lanes; ++r) e_dot[r] = no_product_exp, total[r] = 0;
    if (plan.operation == MMAU_TR_FDPA) {
        max_exp(plan, products, 0, 1, e_dot);
        return accumulate(plan, products, 0, 1, e_dot, total);
    }
    Lanes<int32_t> e_group[2];
    Lanes<int64_t> sum[2]{};
    for (int odd = 0; odd < 2; ++odd) {
        for (int r = 0; r < lanes; ++r) e_group[odd][r] = no_product_exp;
        max_exp(plan, products, odd, 2, e_group[odd]);
        accumulate(plan, products, odd, 2, e_group[odd], sum[odd]);
    }
    for (int r = 0; r < lanes; ++r) {
        e_dot[r] = larger(e_group[0][r], e_group[1][r]);
        total[r] = align_rd(sum[0][r], 0, e_dot[r] - e_group[0][r]) + align_rd(sum[1][r], 0, e_dot[r] - e_group[1][r]);
    }
}

/// Steps 3 to 5 of round_with_c.
template <Mode mode>
inline void round_with_c(Block& block, const Accumulators& c, const Lanes<int32_t>& e_dot, const Lanes<int64_t>& dot) {
    const Plan& plan = block.plan;
    const Format format = plan.rho.rounding_format;
    const int lsb_frac = larger(plan.F2 + 1, plan.F), c_e_min = plan.c.e_min();
    const int dot_up = lsb_frac - plan.F2 - 1, c_up = lsb_frac - plan.F;
    const int c_reach = plan.operation == MMAU_GTR_FDPA ? plan.F + 1 : 1 << 30;  // a c further below e_out counts as 0
    const LaneAlignment dot_to(plan.F, plan.F2 + 1), c_to(c.man_bits, plan.F);
    for (int r = 0; r < lanes; ++r) {
        const int32_t e_out = larger(e_dot[r], c.exp[r]);
        const int64_t c_all = c.sig[r], c_sig = e_out - c.exp[r] > c_reach ? 0 : c_all;
        const int64_t dot_aligned = align_rd(dot[r], dot_to.up, e_out - e_dot[r] + dot_to.down);
        const int64_t c_aligned = align_rd(c_sig, c_to.up, e_out - c.exp[r] + c_to.down);
        const int64_t total = align_rd(dot_aligned, dot_up, 0) + align_rd(c_aligned, c_up, 0);
        const int32_t lsb = e_out - lsb_frac;
        const auto mag = static_cast<uint64_t>(with_sign(total, total >> 63));
        const int32_t e_norm = larger(63 - __builtin_clzll(mag | 1) + lsb, c_e_min);
        const int32_t shift = e_norm - plan.F2 - lsb;
        const int64_t kept = align_rd(total, smaller(larger(-shift, 0), 63), larger(shift, 0));
        block.d[r] = encode_lane<mode>(format, kept, e_norm - plan.F2);
    }
}

inline void round_with_c(Block& block, const Accumulators& c, const Lanes<int32_t>& e_dot, const Lanes<int64_t>& dot) {
    switch (block.plan.rho.mode) {
        case Mode::RZ: return round_with_c<Mode::RZ>(block, c, e_dot, dot);
        case Mode::RNE: return round_with_c<Mode::RNE>(block, c, e_dot, dot);
        case Mode::RD: return round_with_c<Mode::RD>(block, c, e_dot, dot);
        case Mode::RU: return round_with_c<Mode::RU>(block, c, e_dot, dot);
    }
}

/// Marks the infinities that finite operands make: products of magnitude 2^128 or more.
inline void mark_overflows(Block& block, const LaneProducts& products) {
    const Plan& plan = block.plan;
    const int frac = product_frac(plan) + LaneAlignment(product_frac(plan), plan.F).up;
    for (int k = 0; k < plan.L; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const uint32_t sig = products.sig[k][r] & 0x7FFFFFFFu;
            const int room = larger(smaller(product_overflow_exp - products.exp[k][r] + frac, 31), 0);
            const uint32_t infinity = products.sig[k][r] >> 31 ? minus_infinity : plus_infinity;
            block.special[r] |= sig >> room ? infinity : 0;
        }
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class CodePair>
inline void tr_fdpa_lanes(Block& block, int k) {
    const Plan& plan = block.plan;
    const CodePair codes(block, k);
    Accumulators c;
    decode_accumulators(plan.c, block, c);
    const Lanes<int32_t> exp_offset{};
    LaneProducts products;
    multiply(block, codes, exp_offset, no_product_exp, products);
    Lanes<int32_t> e_dot;
    Lanes<int64_t> total;
    sum_products(plan, products, e_dot, total);
    round_with_c(block, c, e_dot, total);
    // |s| < 4: only from exponent 126 on can a product reach 2^128.
    for (int r = 0; r < lanes; ++r) block.special[r] |= e_dot[r] >= product_overflow_exp - 2 ? suspect : 0;
    if (any_special(block)) mark_overflows(block, products);
    resolve_specials(block, codes, plan.d.quiet_nan());
}

MMAU_NAMESPACE_END
