// The number formats, as in golden/arithmetic/formats.py: what the bits of an operand, an accumulator or a scale mean.
#pragma once

#include "portable.hpp"

MMAU_NAMESPACE_BEGIN

/// Which codes are special: ieee, Inf and NaN at the top exponent; fn, no Inf, NaN where all bits are ones; fnuz, no Inf and
/// no −0, whose code is NaN; finite, every code is a number; p3109, as fnuz, and Inf where all bits are ones, or without a sign
/// NaN there and Inf one below.
enum class Specials { ieee, fn, fnuz, finite, p3109 };

/// The class of a bit pattern; everything from infinity on is not finite.
enum class Cls { zero, subnormal, normal, infinity, nan };

/// An operand's parts: for a finite one, value = (−1)^sign · sig · 2^(exp − man_bits). exp is unbiased and stays at e_min for
/// subnormals and zero.
struct Decoded {
    int sign;
    int exp;
    uint64_t sig;
    Cls cls;
};

/// A binary floating-point format; the members are golden's.
struct Format {
    int exp_bits, man_bits, bias;
    Specials specials;
    int storage_bits, pad_bits, code_bits;
    bool is_signed, subnormals;

    /// Bits of a code.
    MMAU_FN constexpr int width() const { return code_bits; }
    /// Exponent of the smallest normal number, and of every subnormal.
    MMAU_FN constexpr int e_min() const { return subnormals ? 1 - bias : -bias; }
    /// An exponent that no finite number exceeds.
    MMAU_FN constexpr int e_limit() const { return (1 << exp_bits) - 1 - bias; }
    MMAU_FN constexpr uint64_t sign_bit() const { return is_signed ? uint64_t{1} << (width() - 1) : 0; }
    /// Exponent and mantissa fields, all ones, without the pad.
    MMAU_FN constexpr uint64_t field_mask() const { return (uint64_t{1} << (exp_bits + man_bits)) - 1; }
    MMAU_FN constexpr uint64_t exponent_ones() const { return ((uint64_t{1} << exp_bits) - 1) << man_bits; }
    /// Exponent and mantissa of the largest finite number.
    MMAU_FN constexpr uint64_t max_field() const {
        switch (specials) {
            case Specials::ieee: return exponent_ones() - 1;
            case Specials::fn: return field_mask() - 1;
            case Specials::p3109: return field_mask() - (is_signed ? 1 : 2);
            default: return field_mask();
        }
    }
    MMAU_FN constexpr bool has_infinity() const { return specials == Specials::ieee || specials == Specials::p3109; }
    /// Code of +Inf, where there is one.
    MMAU_FN constexpr uint64_t infinity() const { return (max_field() + 1) << pad_bits; }
    /// Whether every number is a power of two, as those of ue8m0.
    MMAU_FN constexpr bool is_power_of_two() const { return !man_bits && !is_signed && !subnormals; }
    /// Code of −0, 0 where there is none.
    MMAU_FN constexpr uint64_t negative_zero() const {
        return specials == Specials::fnuz || specials == Specials::p3109 ? 0 : sign_bit();
    }
    /// Code of the quiet NaN with an otherwise empty payload, or of the only one; 0 where there is none.
    MMAU_FN constexpr uint64_t quiet_nan() const {
        switch (specials) {
            case Specials::ieee: return (exponent_ones() | (uint64_t{1} << (man_bits - 1))) << pad_bits;
            case Specials::finite: return 0;
            case Specials::fn: return field_mask() << pad_bits;
            default: return is_signed ? sign_bit() : field_mask();
        }
    }
    /// The one NaN that NVIDIA's fused units write: every bit but the sign, or the only NaN.
    MMAU_FN constexpr uint64_t nvidia_nan() const {
        return specials == Specials::ieee ? (uint64_t{1} << (width() - 1)) - 1 : quiet_nan();
    }
    /// Code of what lies beyond the largest finite number: that number, an infinity, or NaN where there is none.
    MMAU_FN constexpr uint64_t overflowed(bool negative, bool saturates) const {
        const uint64_t sign = negative ? sign_bit() : 0;
        if (saturates || specials == Specials::finite) return sign | max_field() << pad_bits;
        return specials == Specials::fnuz ? quiet_nan() : sign | infinity();
    }
};

/// The format of an mmau_format.
MMAU_FN constexpr Format format_of(int format) {
    const int exp_bits = format & 15, man_bits = format >> 4 & 63, specials = format >> 10 & 7, layout = format >> 13 & 3;
    const int fields = exp_bits + man_bits + (layout != MMAU_UNSIGNED), width = layout == MMAU_PADDED ? 32 : fields;
    const int storage = width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
    const bool is_signed = layout == MMAU_SIGNED || layout == MMAU_PADDED;
    return {exp_bits, man_bits, format >> 16, static_cast<Specials>(specials), storage, width - fields, width, is_signed,
            (format >> 15 & 1) != 0};
}

/// Whether a number is an mmau_format that has an exponent: codes of at most 64 bits, and numbers beside NaN and infinity.
MMAU_FN constexpr bool is_number_format(int format) {
    const Format f = format_of(format);
    const bool is_padded = (format >> 13 & 3) == MMAU_PADDED;
    const bool is_ieee = f.specials == Specials::ieee, takes_sign = f.specials == Specials::fnuz;
    if (f.exp_bits < 1 || f.exp_bits + f.man_bits < 2 || (format >> 10 & 7) >= MMAU_SPECIALS) return false;
    if (f.width() - f.pad_bits > (is_padded ? 32 : 64)) return false;
    return !(is_ieee && (f.man_bits < 1 || f.exp_bits < 2)) && !(takes_sign && !f.is_signed);
}

/// Whether a number is an mmau_format of integers.
MMAU_FN constexpr bool is_integer_format(int format) {
    const Format f = format_of(format);
    const int layout = format >> 13 & 3;
    const bool is_plain = f.specials == Specials::finite && f.subnormals && f.bias == 0;
    return f.exp_bits == 0 && is_plain && layout <= MMAU_SIGNED && f.man_bits >= 1 && f.width() <= 48;
}

MMAU_FN constexpr bool is_nan(const Format& format, int sign, uint64_t field, uint64_t mantissa) {
    switch (format.specials) {
        case Specials::ieee: return field >= format.exponent_ones() && mantissa;
        case Specials::fn: return field == format.field_mask();
        case Specials::fnuz: return sign && field == 0;
        case Specials::p3109: return format.is_signed ? sign && field == 0 : field == format.field_mask();
        default: return false;
    }
}

/// Step decode: split a bit pattern into sign, exponent, significand and class. Under `flush` a subnormal is a zero of its sign.
MMAU_FN constexpr Decoded decode(const Format& format, uint64_t code, bool flush = false) {
    const int sign = (code & format.sign_bit()) != 0;
    const uint64_t field = (code >> format.pad_bits) & format.field_mask();
    const uint64_t hidden = uint64_t{1} << format.man_bits;
    const uint64_t mantissa = field & (hidden - 1);
    const int stored_exp = static_cast<int>(field >> format.man_bits);
    if (is_nan(format, sign, field, mantissa)) return {sign, format.e_min(), 0, Cls::nan};
    if (format.has_infinity() && field == format.max_field() + 1) return {sign, format.e_min(), 0, Cls::infinity};
    const bool may_be_zero = format.is_signed || format.man_bits;
    if (stored_exp == 0 && (format.subnormals || (!field && may_be_zero))) {
        const uint64_t sig = flush ? 0 : mantissa;
        return {sign, format.e_min(), sig, sig ? Cls::subnormal : Cls::zero};
    }
    return {sign, stored_exp - format.bias, mantissa | hidden, Cls::normal};
}

/// The significand with its sign.
MMAU_FN constexpr int64_t signed_sig(const Decoded& x) {
    return x.sign ? -static_cast<int64_t>(x.sig) : static_cast<int64_t>(x.sig);
}

/// Element k of an array of codes.
MMAU_FN uint64_t load(const Format& format, const void* codes, int64_t k) {
    switch (format.storage_bits) {
        case 8: return static_cast<const uint8_t*>(codes)[k];
        case 16: return static_cast<const uint16_t*>(codes)[k];
        case 32: return static_cast<const uint32_t*>(codes)[k];
        default: return static_cast<const uint64_t*>(codes)[k];
    }
}

/// Write element k of an array of codes.
MMAU_FN void store(const Format& format, void* codes, int64_t k, uint64_t code) {
    switch (format.storage_bits) {
        case 8: static_cast<uint8_t*>(codes)[k] = static_cast<uint8_t>(code); break;
        case 16: static_cast<uint16_t*>(codes)[k] = static_cast<uint16_t>(code); break;
        case 32: static_cast<uint32_t*>(codes)[k] = static_cast<uint32_t>(code); break;
        default: static_cast<uint64_t*>(codes)[k] = code;
    }
}

MMAU_NAMESPACE_END
