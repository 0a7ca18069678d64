// Exception flags of the operations that round one exact sum (golden/operations/exact_sum.py; numerics.md, section 14).
#pragma once

#include "dot.hpp"

MMAU_NAMESPACE_BEGIN

/// FMA, MUL, ADD, CVT and E-FDPA.
MMAU_FN constexpr bool has_flags(const Plan& plan) {
    return (is_ieee(plan.operation) || plan.operation == MMAU_E_FDPA) && !plan.fp16_order;
}

/// Collects what the conversions of a step raise.
struct FlagObserver : NoObserver {
    Mode mode;
    bool tiny_before;
    int raised = 0;  // enum mmau_flag

    FlagObserver(Mode rounding, bool before) : mode(rounding), tiny_before(before) {}

    /// As `Recorder::rounding_to`. Rounded as if exponents had no ends, a value has its leading one where it was, or a carry
    /// one place higher.
    template <class Int>
    void rounding_to(const Format& format, int, const Int& value, int exp, int lsb, uint64_t, bool flushes) {
        const auto mag = magnitude(value);
        if (!bit_length(mag)) return;
        const int top = bit_length(mag) - 1 + exp;
        const uint64_t sig = rounded(mag, top - format.man_bits - exp, mode, is_negative(value));
        const int rounded_top = top + static_cast<int>(sig >> (format.man_bits + 1));
        const bool overflows = rounded_top >= format.e_limit();
        if (!any_below(mag, lsb - exp) && !flushes && !overflows) return;
        const bool tiny = (tiny_before ? top : rounded_top) < format.e_min();
        raised |= MMAU_NX | (tiny ? MMAU_UF : 0) | (overflows ? MMAU_OF : 0);
    }
};

/// Whether a NaN is quiet: by its highest mantissa bit in formats of IEEE 754; any other format's is.
MMAU_FN constexpr bool is_quiet(const Format& format, uint64_t code) {
    return format.specials != Specials::ieee || (code >> (format.pad_bits + format.man_bits - 1) & 1);
}

/// The operands of a step, as an invalid operation sees them.
struct Invalid {
    bool nan = false, signalling = false, no_product = false;  // no_product: 0 · ∞

    MMAU_FN void see(const Format& format, uint64_t code, const Decoded& x) {
        if (x.cls != Cls::nan) return;
        nan = true;
        signalling = signalling || !is_quiet(format, code);
    }
    MMAU_FN void see_product(const Decoded& x, const Decoded& y) {
        const bool x_infinite = x.cls == Cls::infinity, y_infinite = y.cls == Cls::infinity;
        no_product = no_product || (x_infinite && y.cls == Cls::zero) || (y_infinite && x.cls == Cls::zero);
    }
};

/// Whether a step is an invalid operation: of a signalling NaN, of 0 · ∞, or of infinities of both signs without a NaN.
MMAU_FN bool is_invalid(const RowOperands& operands, const Format& c_format, uint64_t c_code, bool quiet_beside_nan) {
    const Plan& plan = operands.plan();
    const bool adds = plan.operation == MMAU_ADD;
    Invalid found;
    Special special;
    for (int k = 0; k < plan.L; ++k) {
        const Decoded x = operands.a(k), y = operands.b(k);
        found.see(plan.a, operands.a_code(k), x);
        if (plan.operation == MMAU_CVT) continue;
        found.see(plan.b, operands.b_code(k), y);
        if (adds) {
            special.add_term(x);
            special.add_term(y);
        } else {
            found.see_product(x, y);
            special.add_product(x, y);
        }
    }
    if (plan.operation == MMAU_FMA || plan.operation == MMAU_E_FDPA) {
        const Decoded c = decode(c_format, c_code, plan.flush_inputs);
        found.see(c_format, c_code, c);
        special.add_term(c);
    }
    if (found.signalling) return true;
    if (found.nan) return found.no_product && !quiet_beside_nan;
    return special.nan || (special.infinite[0] && special.infinite[1]);
}

/// d, and the flags that the steps of a row raise together; `rules` is of enum mmau_flag_rule.
MMAU_FN uint64_t flagged_dot(const Plan& plan, const Row& row, uint64_t c, int rules, uint8_t& flags) {
    FlagObserver see(plan.rho.mode, rules & MMAU_TINY_BEFORE);
    for (int k = 0; k < plan.K; k += plan.L) {
        const RowOperands operands{{plan}, row, k};
        const Format& c_format = k ? plan.d : plan.c;
        if (is_invalid(operands, c_format, c, rules & MMAU_QUIET_BESIDE_NAN)) see.raised |= MMAU_NV;
        c = plan.operation == MMAU_FMA ? fma_step(operands, c, see) : step<Widest>(operands, c_format, c, see);
    }
    flags = static_cast<uint8_t>(see.raised);
    return c;
}

MMAU_NAMESPACE_END
