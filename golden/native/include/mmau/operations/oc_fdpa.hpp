// OC-FDPA: the fused dot product and add of RDNA3, in one's complement (golden/operations/oc_fdpa.py).
#pragma once

#include "headroom_fdpa.hpp"

MMAU_NAMESPACE_BEGIN

/// A magnitude in the sign frame of c, out of it again: of the other sign its complement there, −t − 1.
template <class Int>
MMAU_FN Int in_frame(const Int& aligned, bool negative, bool frame_is_negative) {
    if (negative == frame_is_negative) return aligned;
    Int shifted = aligned;
    shifted += Int(frame_is_negative ? 1 : -1);
    return shifted;
}

template <class Int, class Operands, class Observer>
MMAU_FN uint64_t oc_fdpa_step(const Operands& operands, uint64_t c_code, Observer& see) {
    const Plan& plan = operands.plan();
    const Decoded z = decode(plan.d, c_code, flushes(plan, plan.d));
    uint64_t special = 0;
    if (find_special(operands, z, c_code, special)) return special;
    // 1. exact terms; 2. the largest exponent
    const Term<int64_t> c = addend(z, plan.d, plan.e_zero);
    int e_max = c.exp;
    for (int k = 0; k < plan.L; ++k) e_max = larger(e_max, raised_product(operands, k).exp);
    // 3. align each term, truncate its magnitude to F bits; 4. add in the sign frame of c
    const auto term = [&](int k) { return k < plan.L ? raised_product(operands, k) : c; };
    const auto aligned = [&](int k) {
        const Int cut = align<Int>(term(k), e_max, plan.F, Mode::RZ);
        return k < plan.L ? in_frame(cut, operands.a(k).sign != operands.b(k).sign, z.sign) : cut;
    };
    Int total = aligned(plan.L);
    for (int k = 0; k < plan.L; ++k) total += aligned(k);
    see.sum(0, 0, plan.L + 1, e_max, total, e_max - plan.F, term, [&](int) { return plan.F; }, aligned);
    return convert_headroom(plan, total, e_max - plan.F, see);
}

MMAU_NAMESPACE_END
