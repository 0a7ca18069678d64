// Runs of native vectors that repeat operands, as cosim/bench/stimulus.py makes them for the vectors of a file.
#pragma once

#include <cstdint>
#include <vector>

#include "bits.hpp"

namespace volume {

constexpr uint8_t repeated_label = 255;  // class of a vector that has operands of the one before it
constexpr int64_t repeats_period = 512;  // vectors for each run
constexpr int64_t long_every = 64;       // periods of which four in a row are one long run
constexpr int64_t long_from = 12;        // the first of these
constexpr int64_t long_periods = 4;

/// Consecutive vectors with equal operands.
struct Run {
    int64_t first, length;  // its first vector is as the stimulus has it
    unsigned held;          // the operands that are equal in all of them: a sum of the values below
};

constexpr unsigned hold_a = 1, hold_b = 2, hold_c = 4, hold_scale_a = 8, hold_scale_b = 16;

/// The run in a period of the stream; the same one in whatever batches the vectors are made.
/// @param lengths of runs, all equally likely; the last is the longest.
inline Run run_of(uint64_t seed, int64_t period, bool has_scales, const std::vector<int64_t>& lengths) {
    const int64_t place = period % long_every, group = period / long_every;
    const bool is_long = place >= long_from && place < long_from + long_periods;
    if (is_long) period -= place - long_from;
    Random random(seed, 0x5EED0FA11 + static_cast<uint64_t>(period));
    const unsigned kinds = has_scales ? 31 : 7;
    if (is_long) {  // every operand, then some
        const unsigned held = group % 2 ? 1 + static_cast<unsigned>(random.below(kinds)) : kinds;
        return {period * repeats_period, long_periods * repeats_period, held};
    }
    const int64_t first = period * repeats_period + static_cast<int64_t>(random.below(repeats_period - lengths.back()));
    const int64_t length = lengths[random.below(lengths.size())];
    return {first, length, 1 + static_cast<unsigned>(random.below(kinds))};
}

}  // namespace volume
