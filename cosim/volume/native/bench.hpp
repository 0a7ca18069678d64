// Drives a design: sends every vector and compares every result, until all have come or the design is stuck.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "model.hpp"
#include "plan.hpp"
#include "rows.hpp"
#include "schedule.hpp"
#include "stream.hpp"
#include "waits.hpp"

namespace volume {

/// Counts of a run, beside those of the judge.
struct Counts {
    int64_t sent = 0, received = 0, dropped = 0, waiting = 0, surplus = 0, cycles = 0;
    int64_t first_surplus = -1;  // cycle of the first surplus result; -1 where there is none
    std::string stopped;     // why it ended before all vectors were sent and answered, or empty
    std::string stopped_by;  // kind of that reason: "bench", "design" (it ended the simulation) or "standstill"
};

class Bench {
  public:
    /// @param held inputs that are held at a value: port and hexadecimal digits.
    /// @throws Refused if a port is missing, or driven twice.
    /// @param stops_at_first whether a mismatch ends the stream.
    Bench(Model& model, const Plan& plan, const Record& record, Judge& judge, const Schedule& schedule, bool stops_at_first,
          const std::vector<std::pair<std::string, std::string>>& held);
    /// Send every vector. If the run ends early, the reason is in `counts.stopped`.
    void run(Source& source);

    Counts counts;
    Waits gaps, stalls;  // met by results
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
    bool pauses();
    bool takes(const Stream& stream);
    int64_t pause_before(const Reset& reset);
    void reset_in_the_middle(Stream& stream, const Reset& kind);
    void reset(int64_t edges);
    void receive(Stream& stream);
    const uint8_t* record_of(const Stream& stream) const;
    void show(const Stream& stream);
    bool pause_if_repeated(const Stream& stream);
    void pass();
    void invert();
    static void invert(const Drive& drive);
    static constexpr int64_t never = int64_t{1} << 30;  // cycles since the last offer where there was none
    void waver(uint8_t& level, int64_t& run, Stalls& stalls);
    void edge(int level);
    void settle();
    void stop(const std::string& reason, const char* by = "bench");
    std::vector<uint8_t> outputs() const;

    Model& model_;
    const Plan& plan_;
    const Record& record_;
    Judge& judge_;
    const Schedule& schedule_;
    const bool stops_at_first_;
    std::vector<Port> ports_;
    std::vector<Drive> drives_;
    uint8_t *d_ = nullptr, *clk_ = nullptr, *rst_ = nullptr, *en_ = nullptr;
    uint8_t *in_valid_ = nullptr, *in_ready_ = nullptr, *out_valid_ = nullptr, *out_ready_ = nullptr;
    int d_bytes_ = 0;
    Stalls in_, out_, enable_;
    bool is_offering_ = false, is_ready_ = true, has_waiting_result_ = false;
    bool is_shown_ = false;           // whether the operands of a transfer, or some of them, are at the ports
    bool is_gap_ = false;             // whether there was a pause since
    int64_t mixed_ = 0;               // further cycles of this pause in which some ports keep their operands
    std::vector<uint8_t> last_;       // operands before the pause
    int64_t out_run_ = 0, in_run_ = 0;  // further cycles for which out_ready, in_valid of a disabled design stay
    int64_t idle_ = never, gap_ = 0;  // cycles since the last offer, and how many there are to be before the next; 0 for any
    int64_t held_ = 0, stall_ = -1;   // cycles for which a result waits, and how many it is to; -1: the next result is not known
    bool change_after_rise_ = false;  // whether the inputs of this cycle change while the clock is high
    bool was_ready_ = false;  // in a cycle in which a result was waited for
    std::vector<uint8_t> waiting_result_;
    int transfer_ = 0;  // of the vector on offer
    int64_t disturbed_ = 0;  // cycles without enable and without an offer
    int64_t offer_waited_ = 0, result_waited_ = 0, enabled_edges_ = 0, settled_ = 0;
    std::deque<int64_t> due_;
};

}  // namespace volume
