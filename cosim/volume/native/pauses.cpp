// What a bench drives while a side pauses, or while the design is disabled: cosim/bench/handshake.py.
#include "bench.hpp"

#include <algorithm>
#include <cstring>

namespace volume {

/// Let a pause begin before operands that repeat some of those at the ports, if it is time.
/// @return whether they repeat some.
bool Bench::pause_if_repeated(const Stream& stream) {
    const uint8_t* coming = record_of(stream);
    uint32_t which = 0;
    for (size_t k = 0; k < drives_.size(); ++k) {
        const bool is_equal = !std::memcmp(drives_[k].data, coming + drives_[k].offset, static_cast<size_t>(drives_[k].bytes));
        which |= static_cast<uint32_t>(is_equal) << k;
    }
    in_.before_repeated(which);
    return which != 0;
}

/// Drive the next operands into a disabled design, which must not take them; a transfer on offer stays. Under valid/ready
/// in_valid, which may be high from the last transfer, falls every other time; else it comes and goes, as out_ready does.
void Bench::disturb(const Stream& stream) {
    if (out_ready_) waver(*out_ready_, out_run_, out_);
    if (is_offering_ || stream.is_done()) return;
    show(stream);
    ++disturbed_;
    if (in_valid_ && !in_ready_) {
        waver(*in_valid_, in_run_, in_);
    } else if (in_valid_ && disturbed_ % 2) {
        *in_valid_ = 0;
    }
}

/// Change a level, or, if it changed only some cycles before, keep it.
/// @param run the cycles for which it stays.
void Bench::waver(uint8_t& level, int64_t& run, Stalls& stalls) {
    if (run == 0) {
        run = stalls.shown(schedule_.waver_for);
        level = !level;
    }
    --run;
}

/// Drive other operands in a gap: the inverse of the last ones, or, for all of it or its first cycle, at each port these, their
/// inverse or zero, so that one operand changes while another stays.
void Bench::pass() {
    if (is_shown_ && !is_gap_) {
        is_gap_ = true;
        mixed_ = in_.shown(schedule_.mixed_for);
        last_.clear();
        for (const Drive& drive : drives_) last_.insert(last_.end(), drive.data, drive.data + drive.bytes);
        if (mixed_) {
            for (const Drive& drive : drives_) {
                const int64_t drawn = in_.shown(3);
                if (drawn == 1) std::memset(drive.data, 0, static_cast<size_t>(drive.bytes));
                if (drawn == 2) invert(drive);
            }
        }
    }
    if (mixed_ > 0) {
        --mixed_;
    } else {
        invert();
    }
}

/// Drive the inverse of the last operands, once: a design that takes them without in_valid, or late, takes wrong ones.
void Bench::invert() {
    if (!is_shown_) return;
    const uint8_t* last = last_.data();
    for (const Drive& drive : drives_) {
        if (is_gap_) std::memcpy(drive.data, last, static_cast<size_t>(drive.bytes));
        last += drive.bytes;
        invert(drive);
    }
    is_shown_ = false;
}

void Bench::invert(const Drive& drive) {
    for (int i = 0; i < drive.bytes; ++i) {
        const int bits = std::clamp(drive.bits - 8 * i, 0, 8);
        drive.data[i] = static_cast<uint8_t>(~drive.data[i] & ((1 << bits) - 1));
    }
}

}  // namespace volume
