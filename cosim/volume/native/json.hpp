// The outcome of a run as JSON.
#pragma once

#include <string>

#include "bench.hpp"
#include "judge.hpp"
#include "plan.hpp"
#include "rows.hpp"

namespace volume {

/// One JSON object, on one line.
std::string as_json(const Plan& plan, const Record& record, const Bench& bench, const Judge& judge, int64_t left_out,
                    double seconds);

}  // namespace volume
