// One dot product: a chain of steps over K products (golden/chains/chain.py; paper 000, algorithm 5). This is the general path:
// every parameter set that golden accepts, one row at a time; batch.hpp has faster ways for many rows.
#pragma once

#include "operations/e_fdpa.hpp"
#include "operations/flushed_fma.hpp"
#include "operations/gst_fdpa.hpp"
#include "operations/idpa.hpp"
#include "operations/oc_fdpa.hpp"
#include "operations/ps_fdpa.hpp"
#include "operations/t_fdpa.hpp"
#include "operations/tr_fdpa.hpp"

MMAU_NAMESPACE_BEGIN

/// One step whose exact sums fit Int (E-FDPA always takes the widest).
template <class Int, class Operands, class Observer>
MMAU_FN uint64_t step(const Operands& operands, const Format& c_format, uint64_t c, Observer& see) {
    switch (operands.plan().operation) {
        case MMAU_FTZ_ADDMUL: return ftz_addmul_step(operands, c, see);
        case MMAU_FTZ_FMA: return ftz_fma_step(operands, c, see);
        case MMAU_FTZ_EO_FMA: return ftz_eo_fma_step(operands, c, see);
        case MMAU_IDPA: return idpa_step(operands, c, see);
        case MMAU_MUL: return mul_step(operands, see);
        case MMAU_ADD: return add_step(operands, see);
        case MMAU_CVT: return cvt_step(operands, see);
        case MMAU_E_FDPA: return e_fdpa_step(operands, c_format, c, see);
        case MMAU_T_FDPA:
        case MMAU_ST_FDPA: return t_fdpa_step<Int>(operands, c_format, c, see);
        case MMAU_GST_FDPA: return gst_fdpa_step<Int>(operands, c_format, c, see);
        case MMAU_OC_FDPA: return oc_fdpa_step<Int>(operands, c, see);
        case MMAU_PS_FDPA: return ps_fdpa_step<Int>(operands, c, see);
        default: return tr_fdpa_step<Int>(operands, c_format, c, see);
    }
}

/// d ← step(products k … k+L−1, d) for k = 0, L, 2L …, starting from c.
template <class Int>
MMAU_FN uint64_t chain(const Plan& plan, const Row& row, uint64_t c) {
    uint64_t d = c;
    NoObserver nobody;
    for (int k = 0; k < plan.K; k += plan.L) d = step<Int>(RowOperands{{plan}, row, k}, k ? plan.d : plan.c, d, nobody);
    return d;
}

/// As `rounded_addition`, in one format.
template <int FORMAT>
MMAU_FN uint64_t rounded_addition_in(uint64_t x, uint64_t y) {
    constexpr Format format = format_of(FORMAT);
    const Decoded p = decode(format, x), q = decode(format, y);
    Special special;
    special.add_term(p);
    special.add_term(q);
    if (special.any()) return special.encode(format, format.nvidia_nan());
    if (FORMAT == MMAU_FP32) {
        return bits_as<uint32_t>(rounded_sum(bits_as<float>(static_cast<uint32_t>(x)), bits_as<float>(static_cast<uint32_t>(y))));
    }
    if (!p.sig && !q.sig) return x & y;  // −0 where both are
    constexpr int lsb = format.e_min() - format.man_bits;  // of fp16: its numbers span 40 bits
    int64_t total = shifted_left(signed_sig(p), p.exp - format.e_min());
    total += shifted_left(signed_sig(q), q.exp - format.e_min());
    return encode_scaled(format, Mode::RNE, total, lsb);
}

/// RNE of x + y in fp16 or fp32, IEEE 754's zeros, NVIDIA's NaN: the last step of the converted FP8 chains.
MMAU_FN uint64_t rounded_addition(const Format& format, uint64_t x, uint64_t y) {
    return format.storage_bits == 32 ? rounded_addition_in<MMAU_FP32>(x, y) : rounded_addition_in<MMAU_FP16>(x, y);
}

/// d = c + Σ a_k·b_k, with sums in Int.
template <class Int>
MMAU_FN uint64_t dot_in(const Plan& plan, const Row& row, uint64_t c) {
    if (plan.operation == MMAU_FMA) return fma_dot(plan, row, c);
    if (!plan.fp16_order) return chain<Int>(plan, row, c);
    return rounded_addition(plan.d, chain<Int>(plan, row, 0), c);
}

/// d = c + Σ a_k·b_k.
MMAU_FN uint64_t dot(const Plan& plan, const Row& row, uint64_t c) {
    return plan.narrow ? dot_in<int64_t>(plan, row, c) : dot_in<Widest>(plan, row, c);
}

MMAU_NAMESPACE_END
