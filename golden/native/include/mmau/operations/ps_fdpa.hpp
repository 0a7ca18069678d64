// PS-FDPA: the fused dot product and add of RDNA4, over sums of neighbouring products (golden/operations/ps_fdpa.py).
#pragma once

#include "headroom_fdpa.hpp"

MMAU_NAMESPACE_BEGIN

/// Σ RD_F(product at the largest exponent) of a group, in units of 2^(exp − F); to an observer the group's own sum.
template <class Int, class Operands, class Observer>
MMAU_FN Term<Int> pair_sum(const Operands& operands, int first, Observer& see) {
    const Plan& plan = operands.plan();
    const auto product = [&](int k) { return raised_product(operands, first + k); };
    int e_group = product(0).exp;
    for (int k = 1; k < plan.G; ++k) e_group = larger(e_group, product(k).exp);
    const auto aligned = [&](int k) { return align<Int>(product(k), e_group, plan.F, Mode::RD); };
    Int total(0);
    for (int k = 0; k < plan.G; ++k) total += aligned(k);
    see.sum(first / plan.G, first, plan.G, e_group, total, e_group - plan.F, product, [&](int) { return plan.F; }, aligned);
    return {total, e_group, plan.F};
}

template <class Int, class Operands>
MMAU_FN Term<Int> pair_sum(const Operands& operands, int first) {
    NoObserver nobody;
    return pair_sum<Int>(operands, first, nobody);
}

template <class Int, class Operands, class Observer>
MMAU_FN uint64_t ps_fdpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded z = decode(plan.d, c_code, flushes(plan, plan.d));
    uint64_t special = 0;
    if (find_special(operands, z, c_code, special)) return special;
    // 1. and 2. the sum of each group; 3. the largest exponent
    const int groups = plan.L / plan.G;
    const Term<int64_t> c = addend(z, plan.d, plan.e_zero);
    int e_max = c.exp;
    for (int group = 0; group < groups; ++group) e_max = larger(e_max, pair_sum<Int>(operands, group * plan.G, see).exp);
    // 4. align sums and c, add exactly; a c that lies wholly below the grid counts as 0
    const Int c_aligned = c.exp < e_max - plan.F ? Int(0) : align<Int>(c, e_max, plan.F, Mode::RD);
    const auto term = [&](int group) {
        return group < groups ? pair_sum<Int>(operands, group * plan.G) : Term<Int>{Int(c.sig), c.exp, c.frac};
    };
    const auto aligned = [&](int group) { return group < groups ? align<Int>(term(group), e_max, plan.F, Mode::RD) : c_aligned; };
    Int total = c_aligned;
    for (int group = 0; group < groups; ++group) total += aligned(group);
    see.sum(groups, plan.L, groups + 1, e_max, total, e_max - plan.F, term, [&](int) { return plan.F; }, aligned);
    return convert_headroom(plan, total, e_max - plan.F, see);
}

MMAU_NAMESPACE_END
