// Replays a schedule as cosim/bench/run_vectors.py and handshake.py do. A cycle has two halves: the inputs are driven while the clock
// is low; when they have settled, the handshake of the coming rising edge is sampled.
#include "bench.hpp"

#include <algorithm>
#include <cstring>

#include "bits.hpp"

namespace volume {
Bench::Bench(Model& model, const Plan& plan, const Record& record, Judge& judge, const Schedule& schedule, bool stops_at_first,
             const std::vector<std::pair<std::string, std::string>>& held)
    : gaps(plan, schedule.waits), stalls(plan, schedule.waits), model_(model), plan_(plan), record_(record), judge_(judge),
      schedule_(schedule), stops_at_first_(stops_at_first), ports_(model.ports()), in_(schedule, schedule.offers),
      out_(schedule, schedule.takes), enable_(schedule, schedule.enables) {
    for (const Record::Field& field : record.fields()) {
        const Port& operand = port(field.port);
        if (operand.bytes() != field.bytes) throw Refused("port " + field.port + " has another width than the plan says");
        drives_.push_back({operand.data, field.offset, field.bytes, operand.bits});
    }
    d_ = port("d").data;
    d_bytes_ = port("d").bytes();
    const std::pair<const char*, uint8_t**> controls[] = {
        {"clk", &clk_}, {"rst", &rst_}, {"en", &en_}, {"in_valid", &in_valid_}, {"in_ready", &in_ready_},
        {"out_valid", &out_valid_}, {"out_ready", &out_ready_}};
    for (const auto& [name, data] : controls) {
        for (const Port& each : ports_) {
            if (each.name == name) *data = each.data;
        }
    }
    for (const Port& each : ports_) {
        if (each.is_input) std::memset(each.data, 0, static_cast<size_t>(each.bytes()));
    }
    for (const auto& [name, digits] : held) {
        const Port& input = port(name);
        if (!input.is_input) throw Refused("--set is for inputs, " + name + " is an output");
        for (const Record::Field& field : record.fields()) {
            if (field.port == name) throw Refused("--set is for inputs that no vector drives; " + name + " is an operand");
        }
        int64_t bit = 0;
        for (size_t i = digits.size(); i-- > 0; bit += 4) {
            const size_t digit = std::string("0123456789abcdef").find(digits[i]);
            if (digit == std::string::npos || (digit && bit + 31 - __builtin_clz(static_cast<unsigned>(digit)) >= input.bits)) {
                throw Refused("--set " + name + " must be hexadecimal digits for " + std::to_string(input.bits) + " bits, got " +
                              digits);
            }
            if (bit < input.bits) put_bits(input.data, bit, 4, digit);
        }
    }
}

Port& Bench::port(const std::string& name) {
    for (Port& each : ports_) {
        if (each.name == name) return each;
    }
    throw Refused("the design has no port " + name);
}

void Bench::run(Source& source) {
    Stream stream(source);
    try {
        if (plan_.protocol == "combinational") {
            combinational(stream);
        } else {
            clocked(stream);
        }
        if (counts.stopped.empty()) model_.end();
    } catch (const Ended& ended) {
        stop(std::string("the design ended the simulation: ") + ended.what(), "design");
    }
    counts.waiting = stream.waiting();
}

void Bench::combinational(Stream& stream) {
    while (!stream.is_done() && counts.stopped.empty()) {
        for (transfer_ = 0; transfer_ < plan_.transfers(); ++transfer_) show(stream);
        transfer_ = 0;
        stream.sent();
        ++counts.sent;
        settle();
        receive(stream);
        beats.fetch_add(1, std::memory_order_relaxed);
    }
}

void Bench::clocked(Stream& stream) {
    power_up();
    std::vector<Reset> resets;
    for (const Reset& each : schedule_.resets) {
        if (rst_ && (!each.within || plan_.transfers() > 1)) resets.push_back(each);
    }
    int64_t results_first = 0;  // that show what the last reset within a vector left behind, before a further one mends it
    const auto has_come = [&](const Reset& reset) {
        if (counts.received < results_first) return false;
        return reset.within ? transfer_ == reset.transfer_of(plan_.transfers()) : stream.is_waiting();
    };
    const auto due = [&](size_t reset) { return reset < resets.size() ? resets[reset].due : 0; };
    const size_t first = std::min(resets.size(), static_cast<size_t>(schedule_.resets_first));
    int64_t next_reset = due(0), at_speed_until = -1, late_left = schedule_.late_inputs[0];
    size_t reset = 0, joint = 0, late = 0;
    bool is_prepared = false;  // for the next reset
    int64_t extra = 0;
    for (int64_t at = 0; extra < schedule_.extra_cycles && counts.stopped.empty(); ++at) {
        if (!is_prepared && in_long_pause()) next_reset = std::max(next_reset, at + schedule_.after_long_pause);
        if (reset < resets.size() && at >= next_reset && (has_come(resets[reset]) || is_prepared)) {
            const int64_t pause = is_prepared ? 0 : pause_before(resets[reset]);
            is_prepared = pause > 0;
            if (is_prepared) {
                next_reset = at + pause;
            } else {
                results_first = counts.received + (resets[reset].within != 0);
                reset_in_the_middle(stream, resets[reset++]);
                next_reset = at + due(reset);
            }
        }
        if (at_speed_until < 0 && at >= schedule_.at_speed_from && reset >= first && !is_prepared && !in_long_pause()) {
            at_speed_until = at + schedule_.at_speed;
            next_reset = std::max(next_reset, at_speed_until);
        }
        if (at <= at_speed_until) {  // it ends for all sides at once, however often each was asked
            for (Stalls* stalls : {&in_, &out_, &enable_}) stalls->go_on(at_speed_until - at);
        }
        const bool is_free = out_ready_ && !is_offering_ && !out_.is_at_speed() && stream.is_waiting();
        if (is_free && joint < schedule_.joint.size() && at >= schedule_.joint[joint].first) {
            for (Stalls* stalls : {&in_, &out_}) stalls->hold(schedule_.joint[joint].second);
            ++joint;
        }
        while (!late_left) {  // the last two repeat
            late = late + 1 < schedule_.late_inputs.size() ? late + 1 : schedule_.late_inputs.size() - 2;
            late_left = schedule_.late_inputs[late];
        }
        --late_left;
        change_after_rise_ = late % 2;
        cycle(stream);
        extra = stream.is_done() && !stream.is_waiting() ? extra + 1 : 0;
    }
}

void Bench::cycle(Stream& stream) {
    const bool is_enabled = !(en_ && enable_.pause());
    if (!change_after_rise_) *clk_ = 0;
    if (en_) *en_ = is_enabled;
    if (is_enabled) {
        drive_inputs(stream);
    } else {
        disturb(stream);
    }
    settle();
    if (change_after_rise_) edge(0);
    if (is_enabled) take_result(stream, take_offer(stream));
    const std::vector<uint8_t> before = is_enabled ? std::vector<uint8_t>() : outputs();
    edge(1);
    if (!is_enabled && outputs() != before) stop("an output changed at a clock edge without enable");
    const int64_t patience = schedule_.patience;
    if (offer_waited_ > patience) stop("in_ready stayed low for " + std::to_string(patience) + " cycles");
    if (result_waited_ > patience) {
        stop("no result for " + std::to_string(patience) + " cycles although vectors are inside: out_valid stayed low" +
             (was_ready_ ? "" : " as long as out_ready, for which it must not wait"));
    }
    beats.fetch_add(1, std::memory_order_relaxed);
}

/// Offer the next transfer, keep offering the current one, or pause; be ready for a result, or pause. At times the bench is
/// ready only for a result that waits: out_valid must not wait for out_ready.
void Bench::drive_inputs(Stream& stream) {
    if (!is_offering_) {
        is_offering_ = !stream.is_done() && !pauses();
        if (in_valid_) *in_valid_ = is_offering_;
        if (is_offering_) {
            show(stream);
        } else if (!stream.is_done()) {  // a vector that is sent alone has no neighbour
            pass();
        }
    }
    if (out_ready_) {
        is_ready_ = takes(stream);
        *out_ready_ = is_ready_;
    }
}

/// Whether to pause before an offer, as the schedule has it, or for as long as the gap that the next vector is to meet.
bool Bench::pauses() {
    const bool meets = gap_ && !in_.is_at_speed() && !in_.in_long_pause();
    const bool pauses = meets ? idle_ < gap_ : in_.pause();
    idle_ += pauses;
    return pauses;
}

/// Whether to be ready, as the schedule has it, or once the next result has met the stall that it is to meet.
bool Bench::takes(const Stream& stream) {
    const bool is_calm = !out_.is_at_speed();
    if (is_calm && counts.received % schedule_.of_results < schedule_.after_valid) return has_waiting_result_;
    if (stall_ < 0 && counts.received >= schedule_.stalls_from && stream.is_waiting()) {
        stall_ = stalls.wanted(stream.oldest(), stream.oldest_vector());
    }
    if (stall_ > 0 && is_calm && !out_.in_long_pause()) return held_ >= stall_;
    return !out_.pause();
}

/// Check whether the transfer on offer is accepted at the coming edge.
/// @return whether it was accepted and was the last one of its vector, which then counts as sent.
bool Bench::take_offer(Stream& stream) {
    const bool is_accepted = is_offering_ && (!in_ready_ || *in_ready_);
    const bool is_refused = is_offering_ && !is_accepted;
    if (is_refused) idle_ = never;  // to the design the gap is longer than it is at its port
    offer_waited_ = is_refused ? offer_waited_ + (is_ready_ || !stream.is_waiting()) : 0;
    if (plan_.stages && is_refused && (is_ready_ || stream.waiting() < plan_.stages)) {
        stop("in_ready was low although the pipeline of " + std::to_string(plan_.stages) + " stages had room");
    }
    if (!is_accepted) return false;
    if (!transfer_) gaps.meet(idle_, stream.batch(), stream.vector());
    is_offering_ = false;
    idle_ = gap_ = 0;
    const bool is_complete = ++transfer_ == plan_.transfers();
    if (is_complete) {
        transfer_ = 0;
        stream.sent();
        ++counts.sent;
    }
    if (!stream.is_done() && !pause_if_repeated(stream) && is_complete && counts.sent >= schedule_.gaps_from) {
        gap_ = gaps.wanted(stream.batch(), stream.vector());
    }
    return is_complete;
}

/// Receive the result of the coming edge, if any.
void Bench::take_result(Stream& stream, bool is_accepted) {
    const bool is_there = has_result();
    const bool is_as_before = is_there && std::equal(waiting_result_.begin(), waiting_result_.end(), d_);
    if (has_waiting_result_ && !is_as_before) {
        stop("a result changed, or was withdrawn, while out_valid was high and out_ready low");
    }
    has_waiting_result_ = is_there && !is_ready_;
    if (has_waiting_result_) waiting_result_.assign(d_, d_ + d_bytes_);
    const bool is_waited_for = !is_there && stream.is_waiting();
    if (is_there && is_ready_) {
        if (stream.is_waiting()) stalls.meet(held_, stream.oldest(), stream.oldest_vector());
        receive(stream);
        held_ = 0;
        stall_ = -1;
    }
    held_ += is_there && !is_ready_;
    result_waited_ = is_waited_for ? result_waited_ + 1 : 0;
    was_ready_ = is_waited_for && (was_ready_ || is_ready_);
    if (is_accepted && !out_valid_) due_.push_back(enabled_edges_ + plan_.latency);
    ++enabled_edges_;
}

/// Whether there is a result at d.
bool Bench::has_result() {
    if (out_valid_) return *out_valid_ != 0;
    if (due_.empty() || due_.front() != enabled_edges_) return false;
    due_.pop_front();
    return true;
}

void Bench::receive(Stream& stream) {
    if (!stream.is_waiting()) {
        if (!counts.surplus) counts.first_surplus = counts.cycles;
        ++counts.surplus;
        return;
    }
    ++counts.received;
    const Batch& batch = stream.oldest();
    const int64_t vector = stream.oldest_vector();
    if (!judge_.compare(batch, vector, d_, {counts.cycles, settled_ * schedule_.half_period}) && stops_at_first_) {
        stop("stopped at the first mismatch, vector " + std::to_string(batch.number_of(vector)));
    }
    stream.received();
}

/// The operands of the transfer that comes next.
const uint8_t* Bench::record_of(const Stream& stream) const {
    return stream.batch().transfers + (stream.vector() * plan_.transfers() + transfer_) * record_.bytes();
}

/// Drive the transfer on the operand ports.
void Bench::show(const Stream& stream) {
    const uint8_t* record = record_of(stream);
    for (const Drive& drive : drives_) std::memcpy(drive.data, record + drive.offset, static_cast<size_t>(drive.bytes));
    is_shown_ = true;
    is_gap_ = false;
}

void Bench::edge(int level) {
    *clk_ = static_cast<uint8_t>(level);
    counts.cycles += level;
    settle();
}

/// Half a clock period, in which the outputs follow the inputs.
void Bench::settle() {
    model_.eval();
    model_.wait(schedule_.half_period);
    ++settled_;
}

/// End the run; the first reason counts.
void Bench::stop(const std::string& reason, const char* by) {
    if (!counts.stopped.empty()) return;
    counts.stopped = reason;
    counts.stopped_by = by;
}

/// The bytes of d and out_valid.
std::vector<uint8_t> Bench::outputs() const {
    std::vector<uint8_t> bytes(d_, d_ + d_bytes_);
    if (out_valid_) bytes.push_back(*out_valid_);
    return bytes;
}

}  // namespace volume
