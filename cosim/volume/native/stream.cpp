// The order of vectors under way, and when a side of the handshake pauses: cosim/bench/run_vectors.py.
#include "stream.hpp"

#include <algorithm>
#include <utility>

namespace volume {
namespace {

constexpr int stall_period = 200;   // cycles for which the odds hold
constexpr int64_t first_long = 64;  // length of the first long pause; each further one is four times as long, and as late
constexpr int64_t longest = 8192;   // longest pause
constexpr int64_t before_repeated_length = 48;  // of a pause before operands that repeat some of the last ones (cycles)
constexpr int64_t often = 16;                   // before the first runs of such operands; later ever more rarely
constexpr int64_t first_before_repeated = 256;  // cycle before which there is none

}  // namespace

Stalls::Stalls(uint64_t seed, uint64_t stream, bool mostly_at_speed)
    : random_(seed, stream), lengths_(seed, stream + 16), regular_(seed, stream + 32), mostly_(mostly_at_speed), usual_length_(first_long),
      next_long_(between(first_long, 2 * first_long)) {}

int64_t Stalls::between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(lengths_.below(static_cast<uint64_t>(high - low)));
}

/// Begin a long pause with the next cycle, and draw the beginning of the next one.
void Stalls::begin_long() {
    const int64_t length = std::min(usual_length_, longest);
    remaining_ = between(length * 3 / 4, length);
    usual_length_ *= 4;
    next_long_ = between(usual_length_, 2 * usual_length_);
}

void Stalls::before_repeated(uint32_t which) {
    const bool begins = std::exchange(repeated_, which) != which;
    if (!which || !begins || cycle_ < first_before_repeated || at_speed_) return;
    const int64_t times = ++met_[which];
    if (times <= often || (times & (times - 1)) == 0) hold(before_repeated_length);
}

bool Stalls::pause() {
    if (at_speed_) {
        --at_speed_;
        ++cycle_;
        return false;
    }
    if (remaining_) {
        --remaining_;
        return true;
    }
    if (cycle_ >= next_long_) begin_long();
    if (cycle_++ % stall_period == 0) {
        const uint64_t drawn = random_.below(mostly_ ? 32 : 4);
        odds_ = drawn < 2 ? 0 : drawn == 2 ? 1 : drawn == 3 ? 3 : 0;
        every_ = odds_ && regular_.below(3) == 0 ? (regular_.below(3) ? 2 : 3) : 0;
    }
    if (every_) return cycle_ % every_ > 0;
    return odds_ && random_.below(4) < odds_;
}

bool Stream::load() {
    if (send_.batch < batches_.size()) return true;
    std::unique_ptr<Batch> batch = spare_ ? std::move(spare_) : std::make_unique<Batch>();
    if (!source_.next(*batch)) return false;
    batches_.push_back(std::move(batch));
    return true;
}

int64_t Stream::in_order(const Place& place) const {
    const int64_t from = place.index - changed_from_;
    return from == 0 ? place.vector + behind_ : place.vector - (from > 0 && from <= behind_);
}

void Stream::advance(Place& place) const {
    ++place.index;
    if (++place.vector == batches_[place.batch]->vectors) {
        ++place.batch;
        place.vector = 0;
    }
}

void Stream::sent() {
    ++waiting_;
    advance(send_);
    ready_ = load();
}

void Stream::received() {
    --waiting_;
    advance(receive_);
    while (receive_.batch > 0) {
        spare_ = std::move(batches_.front());
        batches_.pop_front();
        --receive_.batch;
        --send_.batch;
    }
}

int64_t Stream::drop() {
    const int64_t dropped = waiting_;
    const bool is_changed = behind_ && receive_.index == changed_from_;  // as long as none was received, it may be changed again
    if (receive_.index == changed_from_ || receive_.index > changed_from_ + behind_) {
        const bool is_in_batch = dropped && receive_.vector + dropped < batches_[receive_.batch]->vectors;
        changed_from_ = receive_.index;
        behind_ = is_in_batch && !is_changed ? dropped : 0;
    }
    send_ = receive_;
    waiting_ = 0;
    ready_ = load();
    return dropped;
}

}  // namespace volume
