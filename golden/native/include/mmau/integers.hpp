// Signed integers that hold an exact sum: int64_t where it fits, Wide where it does not. The same functions work on both.
#pragma once

#include "portable.hpp"

MMAU_NAMESPACE_BEGIN

/// A two's complement integer of N 64-bit limbs, the lowest first.
template <int N>
struct Wide {
    uint64_t limb[N];

    MMAU_FN Wide(int64_t value = 0) {
        for (int i = 0; i < N; ++i) limb[i] = i ? static_cast<uint64_t>(value >> 63) : static_cast<uint64_t>(value);
    }
    MMAU_FN Wide& operator+=(const Wide& y) {
        uint64_t carry = 0;
        for (int i = 0; i < N; ++i) {
            const uint64_t partial = limb[i] + y.limb[i];
            const uint64_t sum = partial + carry;
            carry = (partial < limb[i]) | (sum < partial);
            limb[i] = sum;
        }
        return *this;
    }
    MMAU_FN Wide operator-() const {
        Wide negated;
        uint64_t carry = 1;
        for (int i = 0; i < N; ++i) {
            negated.limb[i] = ~limb[i] + carry;
            carry = carry && negated.limb[i] == 0;
        }
        return negated;
    }
    MMAU_FN uint64_t filler() const { return static_cast<int64_t>(limb[N - 1]) < 0 ? ~uint64_t{0} : 0; }
};

/// Wide enough for the widest exact sum of any operation: 1,024 products of tf32 under scales, 556 bits (plan.hpp).
using Widest = Wide<10>;

MMAU_FN bool is_negative(int64_t x) { return x < 0; }

template <int N>
MMAU_FN bool is_negative(const Wide<N>& x) {
    return x.filler() != 0;
}

/// |x| as an unsigned value.
MMAU_FN uint64_t magnitude(int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }

template <int N>
MMAU_FN Wide<N> magnitude(const Wide<N>& x) {
    return is_negative(x) ? -x : x;
}

/// Bits of a non-negative x.
template <int N>
MMAU_FN int bit_length(const Wide<N>& x) {
    for (int i = N - 1; i >= 0; --i) {
        if (x.limb[i]) return 64 * i + bit_length(x.limb[i]);
    }
    return 0;
}

MMAU_FN uint64_t low_word(uint64_t x) { return x; }

template <int N>
MMAU_FN uint64_t low_word(const Wide<N>& x) {
    return x.limb[0];
}

/// x · 2^shift; the caller knows that it fits.
MMAU_FN int64_t shifted_left(int64_t x, int shift) { return static_cast<int64_t>(static_cast<uint64_t>(x) << shift); }
MMAU_FN uint64_t shifted_left(uint64_t x, int shift) { return x << shift; }

template <int N>
MMAU_FN Wide<N> shifted_left(const Wide<N>& x, int shift) {
    Wide<N> shifted;
    const int limbs = shift / 64, bits = shift % 64;
    for (int i = limbs; i < N; ++i) {
        shifted.limb[i] = x.limb[i - limbs] << bits;
        if (bits && i > limbs) shifted.limb[i] |= x.limb[i - limbs - 1] >> (64 - bits);
    }
    return shifted;
}

/// floor(x / 2^shift), shift ≥ 0 of any size.
MMAU_FN int64_t shifted_right(int64_t x, int shift) { return x >> smaller(shift, 63); }
MMAU_FN uint64_t shifted_right(uint64_t x, int shift) { return shift < 64 ? x >> shift : 0; }

template <int N>
MMAU_FN Wide<N> shifted_right(const Wide<N>& x, int shift) {
    Wide<N> shifted;
    const int limbs = shift / 64, bits = shift % 64;
    for (int i = 0; i < N; ++i) {
        const uint64_t low = i + limbs < N ? x.limb[i + limbs] : x.filler();
        const uint64_t high = i + limbs + 1 < N ? x.limb[i + limbs + 1] : x.filler();
        shifted.limb[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
    return shifted;
}

/// x with its lowest bit set.
MMAU_FN int64_t made_odd(int64_t x) { return x | 1; }

template <int N>
MMAU_FN Wide<N> made_odd(Wide<N> x) {
    x.limb[0] |= 1;
    return x;
}

/// Whether a non-negative x has a one among its lowest `bits` bits.
MMAU_FN bool any_below(uint64_t x, int bits) { return bits > 0 && (bits >= 64 ? x : x << (64 - bits)) != 0; }

template <int N>
MMAU_FN bool any_below(const Wide<N>& x, int bits) {
    for (int i = 0; i < N && bits > 0; ++i, bits -= 64) {
        if (any_below(x.limb[i], bits)) return true;
    }
    return false;
}

MMAU_NAMESPACE_END
