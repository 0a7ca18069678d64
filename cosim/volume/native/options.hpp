// The options of one run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "judge.hpp"

namespace volume {

struct Options {
    std::string plan;
    std::string rows;                                        // a file of rows; where empty, native ones
    uint64_t seed = 0;                                       // of the native rows
    int64_t first = 0, vectors = 0, base = 0;                // which of them, and the number of the first one in the run
    std::vector<std::string> plusargs;                       // of Verilator
    std::vector<std::pair<std::string, std::string>> held;   // inputs that keep a value
    Keep keep;
    Manner manner;
    int64_t bare = 0;                                        // vectors of a loop that compares nothing; 0 for a run
    Selection selection;                                     // of native rows
    int standstill = 60;                                     // seconds after which a design that stands still is given up
};

/// @throws Refused for options that are wrong; the message says what is right.
Options read_options(int count, char** arguments);

}  // namespace volume
