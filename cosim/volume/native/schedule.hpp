// The schedule of a simulation, which cosim/bench/schedule.py writes: when the sides of a design pause, when it is reset, when its
// inputs change. The names are those of the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace volume {

/// The pauses of one side: decisions in turn without and with a pause; behind the last, those from `again` on repeat.
struct Side {
    size_t again = 0;
    std::vector<int64_t> runs, shown;
};

/// A reset in the middle of a stream; where `within` is not 0, in the middle of a vector of several transfers.
struct Reset {
    int64_t due, edges, asynchronous_edges, offers, disables, at_once, stall, gap, within;
    /// The number of accepted transfers of a vector at which it comes.
    int64_t transfer_of(int64_t transfers) const { return 1 + within % (transfers - 1); }
};

struct Schedule {
    Side offers, takes, enables;
    std::vector<Reset> resets;
    std::vector<std::pair<int64_t, int64_t>> joint;  // first cycle, length
    std::vector<int64_t> late_inputs, mixed_for, waver_for, waits;
    int64_t half_period, power_up, after_long_pause, resets_first, at_speed_from, at_speed, long_from;
    int64_t repeated, repeated_often, repeated_from, after_valid, of_results, gaps_from, stalls_from, patience, extra_cycles;
};

/// @throws Refused if the file cannot be read or is not a schedule of this version.
Schedule read_schedule(const std::string& path);

/// The pauses of one side, as a schedule has them, and those that the bench asks for: `Stalls` in cosim/bench/handshake.py.
class Stalls {
  public:
    Stalls(const Schedule& schedule, const Side& side) : schedule_(schedule), side_(side), left_(side.runs[0]) {}
    bool pause();
    void hold(int64_t cycles) { held_ = std::max(held_, cycles); }  // pause for some cycles from now on
    void go_on(int64_t cycles) { at_speed_ = cycles; }  // pause in none of some cycles; what is drawn comes after them
    /// Pause, if a run of transfers begins that repeat just these operands of the last one, and there were few such runs or twice
    /// as many as at the last pause.
    /// @param which a bit for each operand port.
    void before_repeated(uint32_t which);
    bool is_at_speed() const { return at_speed_ > 0; }  // whether the next cycle has no pause, whatever is drawn
    bool in_long_pause() const;                         // whether the next cycle belongs to a long pause
    /// One of several things that the side may show while it pauses.
    int64_t shown(size_t among) { return side_.shown[shown_++ % side_.shown.size()] % static_cast<int64_t>(among); }
    int64_t shown(const std::vector<int64_t>& among) { return among[static_cast<size_t>(shown(among.size()))]; }

  private:
    const Schedule& schedule_;
    const Side& side_;
    size_t at_ = 0, shown_ = 0;
    int64_t left_, cycle_ = 0, held_ = 0, at_speed_ = 0;
    std::map<uint32_t, int64_t> met_;  // runs that repeated these operands
    uint32_t repeated_ = 0;            // by the last transfer
};

}  // namespace volume
