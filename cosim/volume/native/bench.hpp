// Drives a design: sends every vector and compares every result, until all have come or the design is stuck.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "judge.hpp"
#include "model.hpp"
#include "plan.hpp"
#include "rows.hpp"
#include "stream.hpp"

namespace volume {

constexpr int64_t kinds_of_resets = 6;  // in turn: short ones of each length, one of them
constexpr int64_t stalled_reset = 3;    // at the end of a stall,
constexpr int64_t long_reset = 5;       // and a long one of an idle design

/// Counts of a run, beside those of the judge.
struct Counts {
    int64_t sent = 0, received = 0, dropped = 0, waiting = 0, surplus = 0, cycles = 0;
    int64_t first_surplus = -1;  // cycle of the first surplus result; -1 where there is none
    std::string stopped;     // why it ended before all vectors were sent and answered, or empty
    std::string stopped_by;  // kind of that reason: "bench", "design" (it ended the simulation) or "standstill"
};

/// Pauses and resets of a stream, and whether a mismatch ends it.
struct Manner {
    uint64_t seed = 0;           // seed of pauses and resets
    bool mostly_at_speed = false;  // pauses in few periods only
    int64_t resets = std::numeric_limits<int64_t>::max();  // resets in the middle, at most
    bool stop_at_first = false;
};

class Bench {
  public:
    /// @param held inputs that are held at a value: port and hexadecimal digits.
    /// @throws Refused if a port is missing, or driven twice.
    Bench(Model& model, const Plan& plan, const Record& record, Judge& judge, const Manner& manner,
          const std::vector<std::pair<std::string, std::string>>& held);
    /// Send every vector. If the run ends early, the reason is in `counts.stopped`.
    void run(Source& source);

    Counts counts;
    std::atomic<uint64_t> beats{0};  // heartbeat: goes up with every cycle or vector

  private:
    struct Drive {
        uint8_t* data;
        int offset, bytes, bits;
    };
    Port& port(const std::string& name);
    void combinational(Stream& stream);
    void clocked(Stream& stream);
    void cycle(Stream& stream);
    void drive_inputs(Stream& stream);
    void disturb(const Stream& stream);
    bool take_offer(Stream& stream);
    void take_result(Stream& stream, bool is_accepted);
    bool has_result();
    void power_up();
    bool in_long_pause() const { return in_.in_long_pause() || out_.in_long_pause() || enable_.in_long_pause(); }
    int pause_before_reset(int64_t number);
    void reset_in_the_middle(Stream& stream, int64_t number);
    void reset(int edges);
    void receive(Stream& stream);
    const uint8_t* record_of(const Stream& stream) const;
    void show(const Stream& stream);
    void pause_if_repeated(const Stream& stream);
    void pass();
    void invert();
    static void invert(const Drive& drive);
    void waver(uint8_t& level, int& run);
    void edge(int level);
    void settle();
    void stop(const std::string& reason, const char* by = "bench");
    std::vector<uint8_t> outputs() const;

    Model& model_;
    const Plan& plan_;
    const Record& record_;
    Judge& judge_;
    const Manner manner_;
    std::vector<Port> ports_;
    std::vector<Drive> drives_;
    uint8_t *d_ = nullptr, *clk_ = nullptr, *rst_ = nullptr, *en_ = nullptr;
    uint8_t *in_valid_ = nullptr, *in_ready_ = nullptr, *out_valid_ = nullptr, *out_ready_ = nullptr;
    int d_bytes_ = 0;
    Stalls in_, out_, enable_;
    Random resets_, further_;  // `further_`: what a pause shows
    bool is_offering_ = false, is_ready_ = true, has_waiting_result_ = false;
    bool is_shown_ = false;           // whether the operands of a transfer, or some of them, are at the ports
    bool is_gap_ = false;             // whether there was a pause since
    int64_t mixed_ = 0;               // further cycles of this pause in which some ports keep their operands
    std::vector<uint8_t> last_;       // operands before the pause
    int out_run_ = 0, in_run_ = 0;    // further cycles for which out_ready, in_valid of a disabled design stay
    bool change_after_rise_ = false;  // whether the inputs of this cycle change while the clock is high
    bool was_ready_ = false;  // in a cycle in which a result was waited for
    std::vector<uint8_t> waiting_result_;
    int transfer_ = 0;  // of the vector on offer
    int64_t disturbed_ = 0;  // cycles without enable and without an offer
    int64_t offer_waited_ = 0, result_waited_ = 0, enabled_edges_ = 0, settled_ = 0;
    std::deque<int64_t> due_;
};

}  // namespace volume
