// The steps that the fused operations share, as in golden/arithmetic/steps.py: multiply, align.
//
// A term is sig · 2^(exp − frac), sig signed; products are not renormalised, so |sig| may reach 4·2^frac.
#pragma once

#include "specials.hpp"

MMAU_NAMESPACE_BEGIN

template <class Int>
struct Term {
    Int sig;
    int exp;
    int frac;
};

/// Step multiply: the exact product; a zero product gets exponent `zero_exp`.
MMAU_FN Term<int64_t> multiply(const Decoded& x, const Decoded& y, int frac, int zero_exp) {
    const int64_t sig = signed_sig(x) * signed_sig(y);
    return {sig, sig ? x.exp + y.exp : zero_exp, frac};
}

/// The accumulator as a term; a zero gets exponent `zero_exp`.
MMAU_FN Term<int64_t> addend(const Decoded& c, const Format& format, int zero_exp) {
    return {signed_sig(c), c.sig ? c.exp : zero_exp, format.man_bits};
}

/// Step align: the term at exponent e_max, truncated to F fractional bits, in units of 2^(e_max − F).
template <class Int, class Sig>
MMAU_FN Int align(const Term<Sig>& term, int e_max, int F, Mode truncation) {
    return truncated(Int(term.sig), e_max - term.exp + term.frac - F, truncation);
}

/// Whether alignment drops a one.
template <class Sig>
MMAU_FN bool is_truncated(const Term<Sig>& term, int e_max, int F) {
    return any_below(magnitude(term.sig), e_max - term.exp + term.frac - F);
}

/// Steps normalise, round and encode: ρ of total · 2^exp; to an observer, rounding `number` of the step.
template <class Int, class Observer>
MMAU_FN uint64_t convert(const Plan& plan, const Int& total, int exp, Observer& see, int number = 0) {
    return encode_scaled(plan.rho.rounding_format, plan.rho.mode, total, exp, plan.overflow, plan.flush_results, see, number);
}

MMAU_NAMESPACE_END
