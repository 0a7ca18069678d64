// Vectors in the order in which they are sent and received, and the pauses of a side of the handshake.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "bits.hpp"
#include "rows.hpp"

namespace volume {

/// The vectors of a source in the order in which they are sent and received. Vectors without a result stay in memory.
class Stream {
  public:
    explicit Stream(Source& source) : source_(source) { ready_ = load(); }
    bool is_done() const { return !ready_; }  // whether all were sent
    bool is_waiting() const { return waiting_ > 0; }
    int64_t waiting() const { return waiting_; }
    const Batch& batch() const { return *batches_[send_.batch]; }
    int64_t vector() const { return in_order(send_); }
    void sent();
    const Batch& oldest() const { return *batches_[receive_.batch]; }
    int64_t oldest_vector() const { return in_order(receive_); }
    void received();
    /// Send the vectors without a result again, after the one that would have come next: an operand that stays in the design over
    /// a reset is another one than the first that comes. The order stays where that one is in another batch, or a part of the last
    /// changed order was received.
    /// @return their number.
    int64_t drop();

  private:
    struct Place {
        size_t batch = 0;
        int64_t vector = 0;  // in its batch
        int64_t index = 0;   // in the stream
    };
    int64_t in_order(const Place& place) const;
    bool load();
    void advance(Place& place) const;

    Source& source_;
    std::deque<std::unique_ptr<Batch>> batches_;
    std::unique_ptr<Batch> spare_;
    Place send_, receive_;
    int64_t waiting_ = 0;
    int64_t changed_from_ = -1, behind_ = 0;  // from this place on, so many vectors come after the one behind them
    bool ready_ = false;
};

/// Random decisions whether to pause: short pauses by odds that hold for a period, or in all cycles but every second or third, so
/// that full speed and backpressure both occur, and a few long ones.
class Stalls {
  public:
    Stalls(uint64_t seed, uint64_t stream, bool mostly_at_speed);
    bool pause();
    void hold(int64_t cycles) { remaining_ = std::max(remaining_, cycles); }  // pause for some cycles from now on
    void go_on(int64_t cycles) { at_speed_ = cycles; }  // pause in none of some cycles; a long pause due in them comes after them
    /// Pause, if a run of transfers begins that repeat just these operands of the last one, and there were few such runs or twice
    /// as many as at the last pause.
    /// @param which a bit for each operand port.
    void before_repeated(uint32_t which);
    bool is_at_speed() const { return at_speed_ > 0; }  // whether the next cycle has no pause, whatever is drawn
    bool in_long_pause() const { return remaining_ > 0; }  // whether one goes on in the next cycle

  private:
    int64_t between(int64_t low, int64_t high);
    void begin_long();

    Random random_, lengths_, regular_;
    bool mostly_;
    int64_t usual_length_, next_long_;  // of the long pauses
    int64_t cycle_ = 0, remaining_ = 0, at_speed_ = 0;
    uint64_t odds_ = 0;  // of 4
    int64_t every_ = 0;  // in a period of regular pauses, how often a cycle has none
    std::map<uint32_t, int64_t> met_;  // runs that repeated these operands
    uint32_t repeated_ = 0;            // by the last transfer
};

}  // namespace volume
