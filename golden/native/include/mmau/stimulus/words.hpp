// The random words of the stimulus at volume: a hash of seed, row number and counter. No state, so that every machine gives a
// row the same words, in whatever batch.
#pragma once

#include "../portable.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// What a word is for: each use has counters of its own.
enum Stream : uint32_t {
    HEADER,         // what a row is about
    PRODUCT,        // of product k: exponent, sign, whether it is zero
    SPLIT,          // of product k: how its exponent is shared out between the factors
    A, A_HIGH,      // of a's element (i, k): fraction (upper half of 64 bits in A_HIGH)
    B, B_HIGH,
    C, C_HIGH,      // of c's element (i, j)
    C_KIND,         // of c's element (i, j): near the products, far from them, zero; changed or not
    ROW_A, ROW_B,   // of row i of A, of column j of B: sign and exponent shift
    NUDGE_A,        // of a's element (i, k): whether it has another last bit
    SPECIAL_A, SPECIAL_B, SPECIAL_C,
    BLOCK,          // of block k/K_block: exponent of both scales together
    SCALE_A, SCALE_B,
    SPECIAL_SCALE_A, SPECIAL_SCALE_B
};

constexpr int place_bits = 26;  ///< a counter is the stream, then the place in so many bits

struct Key {
    uint32_t low, high;
};

constexpr uint64_t weyl = 0x9E3779B97F4A7C15;  ///< 2^64 over the golden ratio

/// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
MMAU_FN constexpr uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/// The key of row (or tile) `index`: no two rows of a seed have the same.
MMAU_FN constexpr Key key_of(uint64_t seed, uint64_t index) {
    const uint64_t z = mixed(mixed(seed + weyl) + (index + 1) * weyl);
    return {static_cast<uint32_t>(z), static_cast<uint32_t>(z >> 32)};
}

/// 32 uniform bits: two rounds of multiply and shift (constants: C. Wellons, hash-prospector), the key's halves before each.
MMAU_LANE_FN constexpr uint32_t word(Key key, Stream stream, uint32_t place) {
    uint32_t x = key.low + (static_cast<uint32_t>(stream) << place_bits | place) * 0x9E3779B1U;
    x = (x ^ x >> 16) * 0x7FEB352DU ^ key.high;
    x = (x ^ x >> 15) * 0x846CA68BU;
    return x ^ x >> 16;
}

/// A word of which some bits have decided something, as new: its bits are no longer bound by that.
MMAU_LANE_FN constexpr uint32_t mixed_word(uint32_t x) {
    x = (x ^ x >> 15) * 0x7FEB352DU;
    x = (x ^ x >> 15) * 0x846CA68BU;
    return x ^ x >> 16;
}

/// A number from 0 to count − 1 from 16 uniform bits; count at most 65,536.
MMAU_LANE_FN constexpr int below(uint32_t bits, int count) {
    return static_cast<int>((bits & 0xFFFF) * static_cast<uint32_t>(count) >> 16);
}

/// Numbers drawn one after the other from a row's header words, two a word.
struct Draws {
    static constexpr int words = 12;  // made together, which is faster; more than any class needs
    uint32_t bits[words];
    int taken;

    MMAU_FN constexpr explicit Draws(Key key) : bits{}, taken(0) {
        for (int i = 0; i < words; ++i) bits[i] = word(key, HEADER, static_cast<uint32_t>(i));
    }
    MMAU_FN constexpr int below(int count) {
        const uint32_t drawn = bits[taken >> 1] >> (taken & 1 ? 16 : 0);
        ++taken;
        return stimulus::below(drawn, count);
    }
    /// low … high.
    MMAU_FN constexpr int between(int low, int high) { return low + below(high - low + 1); }
};

}  // namespace stimulus

MMAU_NAMESPACE_END
