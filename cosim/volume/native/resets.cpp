// Power-up and resets of the design that a bench drives: cosim/bench/run_vectors.py.
#include "bench.hpp"

namespace volume {
void Bench::power_up() {
    if (en_) *en_ = 1;
    reset(schedule_.power_up);
}

/// Let the side pause that a reset needs.
/// @return for how many cycles.
int64_t Bench::pause_before(const Reset& reset) {
    if (out_ready_ && reset.stall) {
        out_.hold(reset.stall);
        return reset.stall;
    }
    if (reset.gap) in_.hold(reset.gap);
    return reset.gap;
}

/// Reset while vectors are inside: they are dropped and sent again, and none of their results may appear.
void Bench::reset_in_the_middle(Stream& stream, const Reset& kind) {
    const int64_t dropped = stream.drop();
    counts.sent -= dropped;
    counts.dropped += dropped;
    judge_.reset();
    transfer_ = 0;
    is_offering_ = has_waiting_result_ = false;
    offer_waited_ = result_waited_ = 0;
    was_ready_ = false;
    due_.clear();
    idle_ = never;
    gap_ = held_ = 0;
    stall_ = -1;
    if (in_valid_) *in_valid_ = kind.offers != 0;
    const bool is_asynchronous = plan_.reset == "asynchronous";
    if (en_) *en_ = !(is_asynchronous && kind.disables);
    invert();
    reset(is_asynchronous ? kind.asynchronous_edges : kind.edges);
    if (kind.at_once) {
        for (Stalls* stalls : {&in_, &enable_}) stalls->go_on(1);
    }
}

void Bench::reset(int64_t edges) {
    *clk_ = 0;
    if (rst_) *rst_ = 1;
    settle();
    for (int64_t i = 0; i < edges; ++i) {
        edge(1);
        edge(0);
    }
    if (rst_) {
        if (out_valid_ && *out_valid_) stop("out_valid was high during a reset");
        *rst_ = 0;
    }
    settle();
}

}  // namespace volume
