#include "stream.hpp"

#include <utility>

namespace volume {
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
