// Codes put together from sign, exponent and fraction, and the landmarks of a format. Code is uint32_t, or uint64_t for fp64.
#pragma once

#include "plan.hpp"
#include "words.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// Where fractions come from: of two random ones x and y, (x & (y | widen) | y & fill) & keep | set.
struct Fractions {
    uint64_t widen, fill, keep, set;
};

/// All ones where a condition holds, else zero: what is random costs no mispredicted branch so.
MMAU_LANE_FN constexpr uint64_t mask_of(bool condition) { return uint64_t{0} - condition; }
MMAU_LANE_FN constexpr int int_mask(bool condition) { return -static_cast<int>(condition); }

/// Eight kinds: random (twice), sparse, dense, zeros, ones, without the last `few` bits, without the first `few`.
MMAU_FN constexpr Fractions fractions_of(int man_bits, int kind, int few) {
    const uint64_t ones = (uint64_t{1} << man_bits) - 1;
    const int last = few & int_mask(kind == 6), first = few & int_mask(kind == 7);
    const uint64_t kept = ones >> (last + first) << last;
    return {~mask_of(kind == 2), mask_of(kind == 3), kept & ~mask_of(kind == 4), ones & mask_of(kind == 5)};
}

/// A fraction of man_bits bits from a random word.
template <class Code>
MMAU_LANE_FN Code fraction(const Fractions& kind, int man_bits, Code random) {
    constexpr int bits = 8 * sizeof(Code);
    const Code x = static_cast<Code>(random >> 1 >> (bits - 1 - man_bits)), y = static_cast<Code>(random >> 1);
    const Code widen = static_cast<Code>(kind.widen), fill = static_cast<Code>(kind.fill);
    const Code blended = (x & (y | widen)) | (y & fill);
    return (blended & static_cast<Code>(kind.keep)) | static_cast<Code>(kind.set);
}

/// The code of (−1)^sign · 2^lead · (1 + frac/2^man_bits), never special. The exponent is clipped to the range; below e_min the
/// code is a subnormal and loses the low bits of frac. Without branches, so that loops over it become vectors.
template <class Code>
MMAU_LANE_FN Code number(const Operand& x, uint32_t sign, int lead, Code frac) {
    const int exp = smaller(larger(lead, x.lowest), x.e_max);
    const int above = larger(exp - x.e_min, 0), lost = larger(x.e_min - exp, 0);
    const Code sig = (frac | static_cast<Code>(x.hidden)) >> lost;  // a hidden bit adds one to the stored exponent
    const Code field = smaller(static_cast<Code>((static_cast<Code>(above) << x.man_bits) + sig), static_cast<Code>(x.max_field));
    return static_cast<Code>(field << x.pad_bits) | ((Code{0} - Code{sign}) & static_cast<Code>(x.sign_bit));
}

/// ±0 where `is_zero` is 1, else the code; +0 where the format has no −0.
template <class Code>
MMAU_LANE_FN Code zero_or(const Operand& x, uint32_t is_zero, Code code) {
    return code & (static_cast<Code>(x.negative_zero) | (Code{is_zero} - 1));
}

/// Any bit pattern.
template <class Code>
MMAU_LANE_FN Code any_code(const Operand& x, Code random) {
    constexpr int bits = 8 * sizeof(Code);
    return static_cast<Code>(random >> (bits - 1 - x.sign_place));
}

/// A code at which a format changes its behaviour: zero, smallest and largest subnormal, smallest normal, one, largest; with
/// menu 1 infinity too; with menu 0 also two NaNs. Bits that the format ignores are random in half of the codes.
MMAU_FN uint64_t landmark(const Operand& x, int menu, uint32_t random) {
    const Format& f = x.format;
    const uint64_t hidden = uint64_t{1} << f.man_bits;
    const bool ieee = f.specials == Specials::ieee, is_minus_zero = f.quiet_nan() && f.quiet_nan() == f.sign_bit();
    const uint64_t nan = f.specials == Specials::finite ? x.max_field : is_minus_zero ? 0 : f.field_mask();
    const int kinds = menu == 0 ? 9 : menu == 1 ? 7 : 6;
    uint64_t sign = random & 1, field = 0;
    switch (below(random >> 16, kinds)) {
        case 0: break;
        case 1: field = 1; break;
        case 2: field = hidden - 1; break;
        case 3: field = hidden; break;
        case 4: field = smaller(static_cast<uint64_t>(larger(f.bias, 0)) << f.man_bits, x.max_field); break;
        case 5: field = x.max_field; break;
        case 6: field = x.max_field + f.has_infinity(); break;
        case 7: field = ieee ? f.exponent_ones() | hidden >> 1 : nan; break;
        default: field = ieee ? f.exponent_ones() | 1 : nan; break;
    }
    if (is_minus_zero && field == 0) sign = below(random >> 16, kinds) >= 7;
    const uint64_t ignored = random & 2 ? (random >> 2) & ((uint64_t{1} << f.pad_bits) - 1) : 0;
    return (f.is_signed ? sign << (f.width() - 1) : 0) | field << f.pad_bits | ignored;
}

/// Exponent and mantissa of a code.
template <class Code>
MMAU_LANE_FN Code field_of(const Operand& x, Code code) {
    return static_cast<Code>((code & ~static_cast<Code>(x.sign_mask)) >> x.pad_bits);
}

/// Whether one added to the field, or taken from it, leaves a finite number that is not zero.
template <class Code>
MMAU_LANE_FN uint32_t changeable(const Operand& x, Code code) {
    const Code field = field_of(x, code);
    return (field > 1) & (field < static_cast<Code>(x.max_field & ~uint64_t{1}));
}

/// The code with its exponent moved by `shift`; subnormals, zeros and special values stay as they are.
template <class Code>
MMAU_LANE_FN Code shifted(const Operand& x, Code code, int shift) {
    const Code field = field_of(x, code);
    const uint32_t moves = (field >= static_cast<Code>(x.hidden)) & (field <= static_cast<Code>(x.max_field));
    const Code by = static_cast<Code>(static_cast<Code>(static_cast<int64_t>(shift)) << (x.man_bits + x.pad_bits));
    return code + (by & (Code{0} - Code{moves}));
}

/// The code with its sign changed where `sign` is 1; a format without −0 keeps its zero and NaN.
template <class Code>
MMAU_LANE_FN Code negated(const Operand& x, Code code, uint32_t sign) {
    const uint32_t has_sign = x.negative_zero || field_of(x, code) != 0;
    return code ^ (static_cast<Code>(x.sign_bit) & (Code{0} - Code{sign & has_sign}));
}

}  // namespace stimulus

MMAU_NAMESPACE_END
