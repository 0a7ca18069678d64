// What happens inside a step, for coverage: the general path hands an observer every sum and every rounding. The one that it
// has where nobody looks does nothing and costs nothing; `Recorder` writes the records of mmau.h.
#pragma once

#include "formats.hpp"
#include "integers.hpp"

MMAU_NAMESPACE_BEGIN

/// Where nobody looks.
struct NoObserver {
    template <class... Any>
    MMAU_FN void sum(const Any&...) {}
    template <class... Any>
    MMAU_FN void exact_sum(const Any&...) {}
    template <class... Any>
    MMAU_FN void rounding(const Any&...) {}
    template <class... Any>
    MMAU_FN void rounding_to(const Any&...) {}
};

#ifndef MMAU_ON_GPU

/// Exponent of the leading one of a magnitude in units of 2^lsb; of zero, whose record says that it is one, 0.
template <class Magnitude>
int16_t leading(const Magnitude& magnitude, int lsb) {
    const int bits = bit_length(magnitude);
    return static_cast<int16_t>(bits ? bits - 1 + lsb : 0);
}

template <class Magnitude>
bool bit_at(const Magnitude& magnitude, int place) {
    return place >= 0 && (low_word(shifted_right(magnitude, place)) & 1);
}

inline void set_flag(uint16_t& flags, int flag, bool on) { flags = static_cast<uint16_t>(flags | (on ? flag : 0)); }

/// Writes the records of one step, which are zero before.
struct Recorder {
    mmau_seen_term* terms;
    mmau_seen_sum* sums;
    mmau_seen_rounding* roundings;

    /// Sum `number` of the step, of `count` terms at exponent e_max, whose records begin at `first`: `term(k)` is the k-th,
    /// fraction_bits(k) what it keeps there, aligned(k) what it then is in units of 2^lsb, as the total.
    template <class Int, class TermOf, class FractionBits, class Aligned>
    void sum(int number, int first, int count, int e_max, const Int& total, int lsb, const TermOf& term,
             const FractionBits& fraction_bits, const Aligned& aligned) {
        mmau_seen_sum& seen = sums[number];
        bool any = false;
        int largest = 0;
        for (int k = 0; k < count; ++k) {
            const auto t = term(k);
            record_term(terms[first + k], t, e_max, e_max - t.exp + t.frac - fraction_bits(k));
            const auto mag = magnitude(aligned(k));
            if (!bit_length(mag)) continue;
            largest = any ? larger<int>(largest, leading(mag, lsb)) : leading(mag, lsb);
            any = true;
        }
        const auto mag = magnitude(total);
        seen.e_max = static_cast<int16_t>(e_max);
        seen.lead = leading(mag, lsb);
        seen.largest = static_cast<int16_t>(largest);
        set_flag(seen.flags, MMAU_SUM_MADE, true);
        set_flag(seen.flags, MMAU_SUM_NONZERO, bit_length(mag));
        set_flag(seen.flags, MMAU_SUM_NEGATIVE, is_negative(total));
        set_flag(seen.flags, MMAU_SUM_OF_SOMETHING, any);
    }

    /// A sum of which nothing is cut. e_max is the largest exponent of a term that is not zero, 0 without one.
    template <class Int, class TermOf, class Aligned>
    void exact_sum(int number, int first, int count, const Int& total, int lsb, const TermOf& term, const Aligned& aligned) {
        bool any = false;
        int e_max = 0;
        for (int k = 0; k < count; ++k) {
            const auto t = term(k);
            if (!bit_length(magnitude(t.sig))) continue;
            e_max = any ? larger(e_max, t.exp) : t.exp;
            any = true;
        }
        const auto everything = [&](int k) { return e_max - term(k).exp + term(k).frac; };
        sum(number, first, count, e_max, total, lsb, term, everything, aligned);
        for (int k = 0; k < count; ++k) {
            if (!(terms[first + k].flags & MMAU_TERM_NONZERO)) terms[first + k].gap = 0;  // a zero lies nowhere
        }
    }

    template <class Int, class TermOf>
    void exact_sum(int number, int first, int count, const Int& total, int lsb, const TermOf& term) {
        exact_sum(number, first, count, total, lsb, term,
                  [&](int k) { return shifted_left(Int(term(k).sig), term(k).exp - term(k).frac - lsb); });
    }

    /// Rounding `number` of the step: `kept` is the magnitude of value · 2^exp in units of 2^lsb once it is rounded.
    template <class Int>
    void rounding(int number, const Int& value, int exp, int lsb, uint64_t kept) {
        const auto mag = magnitude(value);
        const int shift = lsb - exp;
        mmau_seen_rounding& seen = roundings[number];
        seen.lead = leading(mag, exp);
        set_flag(seen.flags, MMAU_ROUNDING_MADE, true);
        set_flag(seen.flags, MMAU_ROUNDING_NONZERO, bit_length(mag));
        set_flag(seen.flags, MMAU_ROUNDING_NEGATIVE, is_negative(value));
        if (!bit_length(mag)) return;
        set_flag(seen.flags, MMAU_ROUNDING_LAST, bit_at(mag, shift));
        set_flag(seen.flags, MMAU_ROUNDING_GUARD, bit_at(mag, shift - 1));
        set_flag(seen.flags, MMAU_ROUNDING_STICKY, any_below(mag, shift - 1));
        set_flag(seen.flags, MMAU_ROUNDING_AWAY, shift > 0 && kept != low_word(shifted_right(mag, shift)));
    }

    /// The same, to a format.
    template <class Int>
    void rounding_to(const Format& format, int number, const Int& value, int exp, int lsb, uint64_t kept, bool flushes) {
        rounding(number, value, exp, lsb, kept);
        if (!bit_length(magnitude(value))) return;
        mmau_seen_rounding& seen = roundings[number];
        const uint64_t hidden = uint64_t{1} << format.man_bits;
        const bool carries = kept >> (format.man_bits + 1);
        const uint64_t steps = static_cast<uint64_t>(lsb + format.man_bits - format.e_min()), implied = format.subnormals ? 0 : hidden;
        const auto overflows = [&](uint64_t sig) {
            return sig >= hidden && !flushes && (steps << format.man_bits) + sig - implied > format.max_field();
        };
        set_flag(seen.flags, MMAU_ROUNDING_CARRY, carries);
        set_flag(seen.flags, MMAU_ROUNDING_TINY, seen.lead < format.e_min());
        set_flag(seen.flags, MMAU_ROUNDING_TO_ZERO, !kept || flushes);
        set_flag(seen.flags, MMAU_ROUNDING_FLUSHED, flushes);
        set_flag(seen.flags, MMAU_ROUNDING_SUBNORMAL, kept && kept < hidden);
        set_flag(seen.flags, MMAU_ROUNDING_OVERFLOW, overflows(kept));
        const uint64_t truncated = lsb > exp ? low_word(shifted_right(magnitude(value), lsb - exp)) : kept;
        set_flag(seen.flags, MMAU_ROUNDING_BEYOND, overflows(truncated));
    }

  private:
    template <class Term>
    static void record_term(mmau_seen_term& seen, const Term& term, int e_max, int dropped) {
        const auto mag = magnitude(term.sig);
        const int bits = bit_length(mag);
        seen.gap = static_cast<int16_t>(e_max - term.exp);
        seen.kept = static_cast<int16_t>(bits ? bits - dropped : 0);
        set_flag(seen.flags, MMAU_TERM_SUMMED, true);
        set_flag(seen.flags, MMAU_TERM_NONZERO, bits);
        set_flag(seen.flags, MMAU_TERM_NEGATIVE, is_negative(term.sig));
        set_flag(seen.flags, MMAU_TERM_CUT, any_below(mag, dropped));
        set_flag(seen.flags, MMAU_TERM_GONE, bits && bits <= dropped);
    }
};

#endif

MMAU_NAMESPACE_END
