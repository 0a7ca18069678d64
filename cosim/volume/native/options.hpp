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
    std::string rows;                                        // a file of rows; empty for native rows
    uint64_t seed = 0;                                       // seed of the native rows
    int64_t first = 0, vectors = 0, base = 0;                // range of native rows; number of row 0 in the run
    std::vector<std::string> plusargs;                       // Verilator's arguments
    std::vector<std::pair<std::string, std::string>> held;   // inputs that are held at a value
    Keep keep;
    std::string schedule;                                    // the file of the schedule
    bool stops_at_first = false;                             // whether a mismatch ends the run
    int64_t bare = 0;                                        // vectors of a loop without comparison; 0 for a run
    Selection selection;                                     // selection of native rows
    int standstill = 60;                                     // time-out for a step of simulation (s)
};

/// @throws Refused for invalid options; the message states the rule.
Options read_options(int count, char** arguments);

}  // namespace volume
