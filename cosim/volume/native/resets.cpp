// Power-up and resets of the design that a bench drives: cosim/bench/run_vectors.py.
#include "bench.hpp"

namespace volume {
namespace {

constexpr int reset_cycles = 4;
constexpr int edges_of[kinds_of_resets] = {1, 2, 3, 1, 2, 70};               // clock edges of each kind of reset,
constexpr int edges_of_asynchronous[kinds_of_resets] = {0, 2, 3, 0, 1, 70};  // which must act without one
constexpr bool is_offering[kinds_of_resets] = {true, false, true, false, false, true};  // whether operands are on offer
constexpr bool is_disabled[kinds_of_resets] = {false, true, true, true, false, false};  // if asynchronous; the other ones next time
constexpr int without_pause = 4;  // the number of kinds after which operands come in the very next cycle
constexpr int stall_before_reset = 16;  // cycles of a stall at whose end one kind of reset comes
constexpr int idle_before_reset = 64;   // cycles without new operands before another one, which lasts long

}  // namespace

void Bench::power_up() {
    if (en_) *en_ = 1;
    reset(reset_cycles);
}

/// Let the side pause that a reset needs.
/// @return for how many cycles.
int Bench::pause_before_reset(int64_t number) {
    if (out_ready_ && number % kinds_of_resets == stalled_reset) {
        out_.hold(stall_before_reset);
        return stall_before_reset;
    }
    if (number % kinds_of_resets == long_reset) {
        in_.hold(idle_before_reset);
        return idle_before_reset;
    }
    return 0;
}

/// Reset while vectors are inside: they are dropped and sent again, and none of their results may appear.
/// @param number of the reset, from 0. Of some kinds operands are on offer, which must not be taken; of some, where it is
///     asynchronous, the design is not enabled.
void Bench::reset_in_the_middle(Stream& stream, int64_t number) {
    const int64_t dropped = stream.drop();
    counts.sent -= dropped;
    counts.dropped += dropped;
    transfer_ = 0;
    is_offering_ = has_waiting_result_ = false;
    offer_waited_ = result_waited_ = 0;
    was_ready_ = false;
    due_.clear();
    if (in_valid_) *in_valid_ = is_offering[number % kinds_of_resets];
    const bool is_next_time = number / kinds_of_resets % 2;
    if (en_) *en_ = plan_.reset != "asynchronous" || is_disabled[number % kinds_of_resets] == is_next_time;
    invert();
    reset((plan_.reset == "asynchronous" ? edges_of_asynchronous : edges_of)[number % kinds_of_resets]);
    if (number % kinds_of_resets < without_pause) {
        for (Stalls* stalls : {&in_, &enable_}) stalls->go_on(1);
    }
}

void Bench::reset(int edges) {
    *clk_ = 0;
    if (rst_) *rst_ = 1;
    settle();
    for (int i = 0; i < edges; ++i) {
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
