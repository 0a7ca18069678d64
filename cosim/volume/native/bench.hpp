// Drives a design: every vector in, every result compared, until all are there or nothing moves any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "judge.hpp"
#include "model.hpp"
#include "plan.hpp"
#include "rows.hpp"

namespace volume {

/// What a run came to, beside what the judge counts.
struct Counts {
    int64_t sent = 0, received = 0, dropped = 0, waiting = 0, surplus = 0, cycles = 0;
    std::string stopped;     // why it ended before its vectors did; empty where it did not
    std::string stopped_by;  // of which kind that is: "bench", "design" (it ended the simulation) or "standstill"
};

/// How hard a stream is made.
struct Manner {
    uint64_t seed = 0;           // of pauses and resets
    bool mostly_at_speed = false;  // pauses in few stretches alone
    bool stop_at_first = false;
};

/// The vectors of a source in the order in which they are sent and received. Those sent and not yet received stay.
class Stream {
  public:
    explicit Stream(Source& source) : source_(source) { ready_ = load(); }
    bool is_done() const { return !ready_; }  // whether all were sent
    bool is_waiting() const { return waiting_ > 0; }
    int64_t waiting() const { return waiting_; }
    const Batch& batch() const { return *batches_[send_.batch]; }
    int64_t vector() const { return send_.vector; }
    void sent();
    const Batch& oldest() const { return *batches_[receive_.batch]; }
    int64_t oldest_vector() const { return receive_.vector; }
    void received();
    /// Those that wait are sent again.
    /// @return how many.
    int64_t drop();

  private:
    struct Place {
        size_t batch = 0;
        int64_t vector = 0;
    };
    bool load();
    void advance(Place& place) const;

    Source& source_;
    std::deque<std::unique_ptr<Batch>> batches_;
    std::unique_ptr<Batch> spare_;
    Place send_, receive_;
    int64_t waiting_ = 0;
    bool ready_ = false;
};

/// Decisions whether to pause; the odds hold for a while, so that full speed and back-pressure both occur.
class Stalls {
  public:
    Stalls(uint64_t seed, uint64_t stream, bool mostly_at_speed) : random_(seed, stream), mostly_(mostly_at_speed) {}
    bool pause();

  private:
    Random random_;
    bool mostly_;
    int64_t cycle_ = 0;
    uint64_t odds_ = 0;  // of 4
};

class Bench {
  public:
    /// @param held inputs that keep a value: port and hexadecimal digits.
    /// @throws Refused where a port is missing, or driven twice.
    Bench(Model& model, const Plan& plan, const Record& record, Judge& judge, const Manner& manner,
          const std::vector<std::pair<std::string, std::string>>& held);
    /// Send everything. What the design does to end it is in `counts.stopped`.
    void run(Source& source);

    Counts counts;
    std::atomic<uint64_t> beats{0};  // goes up with every cycle or vector: a run that stands still is told by it

  private:
    struct Drive {
        uint8_t* data;
        int offset, bytes;
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
    void reset_in_the_middle(Stream& stream);
    void reset(int edges);
    void receive(Stream& stream);
    void show(const Stream& stream);
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
    Random resets_;
    bool is_offering_ = false, is_ready_ = true, has_waiting_result_ = false;
    std::vector<uint8_t> waiting_result_;
    int transfer_ = 0;  // of the vector on offer
    int64_t offer_waited_ = 0, result_waited_ = 0, enabled_edges_ = 0, settled_ = 0;
    std::deque<int64_t> due_;
};

}  // namespace volume
