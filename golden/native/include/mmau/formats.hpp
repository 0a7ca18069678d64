// The number formats, as in golden/arithmetic/formats.py: what the bits of an operand, an accumulator or a scale mean.
#pragma once

#include "portable.hpp"

MMAU_NAMESPACE_BEGIN

/// Which codes are special: ieee, Inf and NaN at the top exponent; fn, no Inf, NaN where all bits are ones; fnuz, no Inf and
/// no −0, whose code is NaN; finite, every code is a number.
enum class Specials { ieee, fn, fnuz, finite };

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
    int storage_bits, pad_bits;
    bool is_signed, subnormals;

    /// Bits of a code.
    MMAU_FN constexpr int width() const { return subnormals ? 1 + exp_bits + man_bits + pad_bits : exp_bits; }
    /// Exponent of the smallest normal number, and of every subnormal.
    MMAU_FN constexpr int e_min() const { return subnormals ? 1 - bias : -bias; }
    /// An exponent that no finite number exceeds.
    MMAU_FN constexpr int e_limit() const { return (1 << exp_bits) - 1 - bias; }
    MMAU_FN constexpr uint64_t sign_bit() const { return is_signed ? uint64_t{1} << (width() - 1) : 0; }
    /// Exponent and mantissa fields, all ones, without the pad.
    MMAU_FN constexpr uint64_t field_mask() const { return (uint64_t{1} << (exp_bits + man_bits)) - 1; }
    MMAU_FN constexpr uint64_t exponent_ones() const { return ((uint64_t{1} << exp_bits) - 1) << man_bits; }
    /// Code of +Inf (ieee formats).
    MMAU_FN constexpr uint64_t infinity() const { return exponent_ones() << pad_bits; }
    /// Code of the quiet NaN with an otherwise empty payload (ieee formats).
    MMAU_FN constexpr uint64_t quiet_nan() const {
        return (exponent_ones() | (uint64_t{1} << (man_bits - 1))) << pad_bits;
    }
    /// The one NaN that NVIDIA's fused units write: every bit but the sign.
    MMAU_FN constexpr uint64_t nvidia_nan() const { return (uint64_t{1} << (width() - 1)) - 1; }
};

/// The format of an mmau_format.
MMAU_FN constexpr Format format_of(int format) {
    switch (format) {
        case MMAU_FP64: return {11, 52, 1023, Specials::ieee, 64, 0, true, true};
        case MMAU_FP32: return {8, 23, 127, Specials::ieee, 32, 0, true, true};
        case MMAU_TF32: return {8, 10, 127, Specials::ieee, 32, 13, true, true};
        case MMAU_FP16: return {5, 10, 15, Specials::ieee, 16, 0, true, true};
        case MMAU_BF16: return {8, 7, 127, Specials::ieee, 16, 0, true, true};
        case MMAU_E5M2: return {5, 2, 15, Specials::ieee, 8, 0, true, true};
        case MMAU_E4M3: return {4, 3, 7, Specials::fn, 8, 0, true, true};
        case MMAU_E4M3FNUZ: return {4, 3, 8, Specials::fnuz, 8, 0, true, true};
        case MMAU_E5M2FNUZ: return {5, 2, 16, Specials::fnuz, 8, 0, true, true};
        case MMAU_E3M2: return {3, 2, 3, Specials::finite, 8, 0, true, true};
        case MMAU_E2M3: return {2, 3, 1, Specials::finite, 8, 0, true, true};
        case MMAU_E2M1: return {2, 1, 1, Specials::finite, 8, 0, true, true};
        case MMAU_E4M3IEEE: return {4, 3, 7, Specials::ieee, 8, 0, true, true};
        case MMAU_UE8M0: return {8, 0, 127, Specials::fn, 8, 0, false, false};
        case MMAU_UE4M3: return {4, 3, 7, Specials::fn, 8, 0, false, true};
        // Integers have no exponent: of these only the width and the sign count.
        case MMAU_INT8: return {0, 7, 0, Specials::finite, 8, 0, true, true};
        case MMAU_UINT8: return {0, 7, 0, Specials::finite, 8, 0, false, true};
        case MMAU_INT4: return {0, 3, 0, Specials::finite, 8, 0, true, true};
        case MMAU_UINT4: return {0, 3, 0, Specials::finite, 8, 0, false, true};
        case MMAU_B1: return {0, 0, 0, Specials::finite, 8, 0, false, true};
        default: return {0, 31, 0, Specials::finite, 32, 0, true, true};  // MMAU_INT32
    }
}

/// What RZ-E8M13 rounds to: an fp32 word whose low 10 bits are zero.
MMAU_FN constexpr Format e8m13() { return {8, 13, 127, Specials::ieee, 32, 10, true, true}; }

MMAU_FN constexpr bool is_nan(const Format& format, int sign, uint64_t field, uint64_t mantissa) {
    switch (format.specials) {
        case Specials::ieee: return field >= format.exponent_ones() && mantissa;
        case Specials::fn: return field == format.field_mask();
        case Specials::fnuz: return sign && field == 0;
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
    if (format.specials == Specials::ieee && field == format.exponent_ones()) {
        return {sign, format.e_min(), 0, Cls::infinity};
    }
    if (stored_exp == 0 && format.subnormals) {
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
