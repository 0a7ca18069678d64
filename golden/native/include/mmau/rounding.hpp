// Rounding, as in golden/arithmetic/rounding.py and golden/arithmetic/conversion.py: the one place where bits are dropped.
#pragma once

#include "observe.hpp"

MMAU_NAMESPACE_BEGIN

/// Toward zero; nearest, ties to even; toward minus infinity; toward plus infinity; to odd, where inexact the neighbour whose
/// last bit is one; nearest, ties away.
enum class Mode { RZ, RNE, RD, RU, RO, RNA };

/// value / 2^shift truncated toward zero (RZ), toward minus infinity (RD) or to odd (RO); a negative shift is an exact left
/// shift.
template <class Int>
MMAU_FN Int truncated(const Int& value, int shift, Mode truncation) {
    if (shift <= 0) return shifted_left(value, -shift);
    if (truncation == Mode::RZ && is_negative(value)) return -shifted_right(Int(-value), shift);
    const Int floor = shifted_right(value, shift);
    return truncation == Mode::RO && any_below(magnitude(value), shift) ? made_odd(floor) : floor;
}

/// A magnitude / 2^shift rounded to an integer that fits 64 bits.
template <class Magnitude>
MMAU_FN uint64_t rounded(const Magnitude& magnitude, int shift, Mode mode, bool negative) {
    if (shift <= 0) return low_word(shifted_left(magnitude, -shift));
    const uint64_t floor = low_word(shifted_right(magnitude, shift));
    const bool half = low_word(shifted_right(magnitude, shift - 1)) & 1;
    const bool sticky = any_below(magnitude, shift - 1);
    switch (mode) {
        case Mode::RZ: return floor;
        case Mode::RNE: return floor + (half && (sticky || (floor & 1)));
        case Mode::RD: return floor + (negative && (half || sticky));
        case Mode::RO: return floor | (half || sticky);
        case Mode::RNA: return floor + half;
        default: return floor + (!negative && (half || sticky));
    }
}

/// Whether a sum beyond the range becomes the largest finite number, and not an infinity.
MMAU_FN constexpr bool overflows_to_largest(int overflow, Mode mode, bool negative) {
    if (overflow != MMAU_BY_MODE) return overflow == MMAU_SATURATE;
    return mode == Mode::RZ || mode == Mode::RO || mode == (negative ? Mode::RU : Mode::RD);
}

/// Steps normalise, round and encode: the code in a format with a sign of value · 2^exp, rounded once. A value that rounds to zero
/// keeps its sign; an exact zero is +0. `overflow` is an enum mmau_overflow; under `flush`, and in a format without subnormals,
/// what is below the normal numbers, rounded as if they had no lower end, becomes a zero of its sign. An observer sees it as
/// rounding `number` of the step.
template <class Int, class Observer>
MMAU_FN uint64_t encode_scaled(const Format& format, Mode mode, const Int& value, int exp, int overflow, bool flush,
                               Observer& see, int number) {
    const bool negative = is_negative(value);
    const auto mag = magnitude(value);
    if (bit_length(mag) == 0) {
        see.rounding_to(format, number, value, exp, exp, 0, false);
        return 0;
    }
    flush = flush || !format.subnormals;
    const int top = bit_length(mag) - 1 + exp;
    const int lsb = (flush ? top : larger(top, format.e_min())) - format.man_bits;
    const uint64_t sig = rounded(mag, lsb - exp, mode, negative);
    const int carry = static_cast<int>(sig >> (format.man_bits + 1));
    const bool flushes = flush && lsb + format.man_bits + carry < format.e_min();
    see.rounding_to(format, number, value, exp, lsb, sig, flushes);
    const uint64_t zero = negative ? format.negative_zero() : 0;
    if (flushes) return zero;
    // The hidden bit of a normal sig adds the 1 that a normal number's stored exponent has over a subnormal's, and a carry
    // out of sig moves to the next binade.
    const int above = lsb + format.man_bits - format.e_min();  // with more than a format's exponents, beyond all of them
    const uint64_t steps = static_cast<uint64_t>(smaller(above, 1 << format.exp_bits));
    const uint64_t field = (steps << format.man_bits) + sig - (format.subnormals ? 0 : uint64_t{1} << format.man_bits);
    if (field > format.max_field()) return format.overflowed(negative, overflows_to_largest(overflow, mode, negative));
    return field ? (negative ? format.sign_bit() : 0) | field << format.pad_bits : zero;
}

template <class Int>
MMAU_FN uint64_t encode_scaled(const Format& format, Mode mode, const Int& value, int exp) {
    NoObserver nobody;
    return encode_scaled(format, mode, value, exp, MMAU_INFINITY, false, nobody, 0);
}

/// ρ: round once to `rounding_format`, store as d, without low bits that this may not have.
struct Conversion {
    Mode mode;
    Format rounding_format;
    int dropped_bits;
};

MMAU_NAMESPACE_END
