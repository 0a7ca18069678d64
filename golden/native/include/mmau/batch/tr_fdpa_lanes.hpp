// TR-FDPA and GTR-FDPA by lanes: the steps of operations/tr_fdpa.hpp.
#pragma once

#include "accumulators.hpp"
#include "exact_products.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: RD as published, and few bits.
inline bool tr_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_TR_FDPA && plan.operation != MMAU_GTR_FDPA) return false;
    return plan.truncation == Mode::RD && products_fit_lanes(plan) && sums_fit_lanes(plan);
}

/// The sum of products first, first + stride, …, in units of 2^(exp − F).
struct TruncatedSum {
    Lanes<int32_t> exp;
    Lanes<int64_t> total;
};

template <class Words, class Code>
inline void sum_products(Block& block, const ExactProducts<Words>& products, const Placed<Words, Code>& words, int first,
                         int stride, TruncatedSum& sum) {
    const Lanes<int32_t> exp_offset{};
    LargestProducts largest;
    find_largest<Words>(block, words, first, stride, largest);
    for (int r = 0; r < lanes; ++r) sum.exp[r] = largest.exp[r], sum.total[r] = 0;
    accumulate(products, first, stride, sum.exp, exp_offset, sum.total);
}

/// GTR-FDPA: the sums of the even and of the odd products at the larger of their exponents.
inline void add_groups(const TruncatedSum& even, const TruncatedSum& odd, TruncatedSum& dot) {
    for (int r = 0; r < lanes; ++r) {
        dot.exp[r] = larger(even.exp[r], odd.exp[r]);
        dot.total[r] = align_rd(even.total[r], 0, dot.exp[r] - even.exp[r]);
        dot.total[r] += align_rd(odd.total[r], 0, dot.exp[r] - odd.exp[r]);
    }
}

/// T of the dot product.
template <class Words, class Code>
inline void sum_products(Block& block, const ExactProducts<Words>& products, const Placed<Words, Code>& words,
                         TruncatedSum& dot) {
    if (products.plan.operation == MMAU_TR_FDPA) return sum_products(block, products, words, 0, 1, dot);
    TruncatedSum even, odd;
    sum_products(block, products, words, 0, 2, even);
    sum_products(block, products, words, 1, 2, odd);
    add_groups(even, odd, dot);
}

/// Steps 3 to 5 of round_with_c.
template <Mode mode>
inline void round_with_c(Block& block, const Accumulators& c, const TruncatedSum& dot) {
    const Plan& plan = block.plan;
    const LaneRounding format(plan.rho.rounding_format);
    const int lsb_frac = larger(plan.F2 + 1, plan.F), c_e_min = plan.c.e_min();
    const int dot_up = lsb_frac - plan.F2 - 1, c_up = lsb_frac - plan.F;
    const int F2 = plan.F2;
    const int c_reach = plan.operation == MMAU_GTR_FDPA ? plan.F + 1 : 1 << 30;  // a c further below e_out counts as 0
    const LaneAlignment dot_to(plan.F, plan.F2 + 1), c_to(c.man_bits, plan.F);
    Lanes<uint32_t> d;
    for (int r = 0; r < lanes; ++r) {
        const int32_t e_out = larger(dot.exp[r], c.exp[r]);
        const int64_t c_all = c.sig[r], c_sig = e_out - c.exp[r] > c_reach ? 0 : c_all;
        const int64_t dot_aligned = align_rd(dot.total[r], dot_to.up, e_out - dot.exp[r] + dot_to.down);
        const int64_t c_aligned = align_rd(c_sig, c_to.up, e_out - c.exp[r] + c_to.down);
        const int64_t total = align_rd(dot_aligned, dot_up, 0) + align_rd(c_aligned, c_up, 0);
        const int32_t lsb = e_out - lsb_frac;
        const double mag = magnitude_as_double(static_cast<uint64_t>(with_sign(total, total >> 63)));
        const auto e_norm = static_cast<int32_t>(larger<int64_t>(exponent_of(mag) + lsb, c_e_min));
        const int32_t shift = e_norm - F2 - lsb;
        const int64_t kept = align_rd(total, smaller(larger(-shift, 0), 63), larger(shift, 0));
        d[r] = encode_lane<mode>(format, kept, e_norm - F2);
    }
    std::memcpy(block.d, d, sizeof d);
}

inline void round_with_c(Block& block, const Accumulators& c, const TruncatedSum& dot) {
    switch (block.plan.rho.mode) {
        case Mode::RZ: return round_with_c<Mode::RZ>(block, c, dot);
        case Mode::RNE: return round_with_c<Mode::RNE>(block, c, dot);
        case Mode::RD: return round_with_c<Mode::RD>(block, c, dot);
        default: return round_with_c<Mode::RU>(block, c, dot);
    }
}

/// Marks the infinities that finite operands make: products of magnitude 2^128 or more. (Infinite operands make them too.)
inline void mark_overflows(Block&, const Lanes<float>*) {}  // of words of fp16: all below 2^33

inline void mark_overflows(Block& block, const Lanes<double>* products) {
    const double limit = power_of_two(double{}, product_overflow_exp);
    for (int k = 0; k < block.plan.L; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const double product = products[k][r];
            block.special[r] |= product >= limit ? plus_infinity : 0;
            block.special[r] |= product <= -limit ? minus_infinity : 0;
        }
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class Words, class Code>
inline void tr_fdpa_lanes(Block& block, int, const StepCodes<Code>& codes) {
    const Plan& plan = block.plan;
    Accumulators c;
    decode_accumulators(plan.c, block, c);
    const Placed<Words, Code> words(block, codes);
    const ExactProducts<Words> products(plan, words);
    TruncatedSum dot;
    sum_products(block, products, words, dot);
    round_with_c(block, c, dot);
    // |s| < 4: only from exponent 126 on can a product reach 2^128.
    for (int r = 0; r < lanes; ++r) block.special[r] |= dot.exp[r] >= product_overflow_exp - 2 ? suspect : 0;
    if (any_special(block)) mark_overflows(block, products.value);
    resolve_specials(block, codes, plan.d.quiet_nan());
}

MMAU_NAMESPACE_END
