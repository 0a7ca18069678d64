// Vectors in the order in which they are sent and received.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

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

}  // namespace volume
