// Codes at any bit position of a little-endian integer.
#pragma once

#include <cstdint>
#include <cstring>

namespace volume {

inline uint64_t low_mask(int width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

/// `width` bits from bit `low` on; reads only the bytes that hold them.
inline uint64_t get_bits(const uint8_t* data, int64_t low, int width) {
    const int shift = static_cast<int>(low & 7);
    const uint8_t* start = data + (low >> 3);
    if (shift == 0 && width == 32) {  // most results: a copy of known size is one instruction
        uint32_t code;
        std::memcpy(&code, start, sizeof code);
        return code;
    }
    uint64_t word = 0;
    const int bytes = (shift + width + 7) / 8;
    std::memcpy(&word, start, bytes < 8 ? bytes : 8);
    word >>= shift;
    if (bytes > 8) word |= uint64_t{start[8]} << (64 - shift);
    return word & low_mask(width);
}

/// Write `width` bits from bit `low` on; these bits must be zero before.
inline void put_bits(uint8_t* data, int64_t low, int width, uint64_t code) {
    for (int done = 0; done < width;) {
        const int64_t bit = low + done;
        const int shift = static_cast<int>(bit & 7), room = 8 - shift;
        data[bit >> 3] = static_cast<uint8_t>(data[bit >> 3] | (code >> done) << shift);
        done += room;
    }
}

/// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
inline uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// SplitMix64: 64 random bits for each call.
class Random {
  public:
    explicit Random(uint64_t seed, uint64_t stream = 0) : state_(mixed(seed + 1) ^ mixed(~stream)) {}
    uint64_t next() { return mixed(state_ += 0x9E3779B97F4A7C15); }
    uint64_t below(uint64_t limit) { return next() % limit; }

  private:
    uint64_t state_;
};

}  // namespace volume
