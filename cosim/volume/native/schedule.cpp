#include "schedule.hpp"

#include <cstring>
#include <fstream>
#include <sstream>

#include "plan.hpp"

namespace volume {
namespace {

using Numbers = std::vector<int64_t>;

/// The lines of a file, each a name and numbers.
class Lines {
  public:
    explicit Lines(const std::string& path) : path_(path) {
        std::ifstream stream(path);
        for (std::string line; std::getline(stream, line);) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            for (int64_t number; words >> number;) found_[name].push_back(number);
        }
    }

    /// The numbers of a line; `each` divides their count.
    Numbers numbers(const std::string& name, size_t each = 1) const {
        const auto found = found_.find(name);
        const Numbers numbers = found == found_.end() ? Numbers() : found->second;
        if (numbers.size() % each) refuse(name);
        return numbers;
    }
    int64_t number(const std::string& name) const {
        const Numbers found = numbers(name);
        if (found.size() != 1) refuse(name);
        return found.front();
    }
    Side side(const std::string& name) const {
        Numbers runs = numbers(name);
        Side side{0, {}, numbers(name + "_shown")};
        if (runs.size() < 3 || side.shown.empty()) refuse(name);
        side.again = static_cast<size_t>(runs.front());
        side.runs.assign(runs.begin() + 1, runs.end());
        return side;
    }

  private:
    [[noreturn]] void refuse(const std::string& name) const {
        throw Refused(path_ + " is no schedule of this version: key " + name);
    }
    const std::string path_;
    std::map<std::string, Numbers> found_;
};

}  // namespace

Schedule read_schedule(const std::string& path) {
    const Lines lines(path);
    Schedule s{};
    s.offers = lines.side("offers");
    s.takes = lines.side("takes");
    s.enables = lines.side("enables");
    constexpr size_t columns = sizeof(Reset) / sizeof(int64_t);
    const Numbers resets = lines.numbers("resets", columns), joint = lines.numbers("joint", 2);
    s.resets.resize(resets.size() / columns);
    if (!resets.empty()) std::memcpy(s.resets.data(), resets.data(), resets.size() * sizeof(int64_t));
    for (size_t i = 0; i < joint.size(); i += 2) s.joint.emplace_back(joint[i], joint[i + 1]);
    s.late_inputs = lines.numbers("late_inputs", 2);
    s.mixed_for = lines.numbers("mixed_for");
    s.waver_for = lines.numbers("waver_for");
    s.waits = lines.numbers("waits");
    const std::pair<const char*, int64_t*> rules[] = {
        {"half_period", &s.half_period}, {"power_up", &s.power_up}, {"after_long_pause", &s.after_long_pause},
        {"resets_first", &s.resets_first}, {"at_speed_from", &s.at_speed_from}, {"at_speed", &s.at_speed},
        {"long_from", &s.long_from}, {"repeated", &s.repeated}, {"repeated_often", &s.repeated_often},
        {"repeated_from", &s.repeated_from}, {"after_valid", &s.after_valid}, {"of_results", &s.of_results},
        {"gaps_from", &s.gaps_from}, {"stalls_from", &s.stalls_from}, {"patience", &s.patience},
        {"extra_cycles", &s.extra_cycles}};
    for (const auto& [name, rule] : rules) *rule = lines.number(name);
    return s;
}

bool Stalls::in_long_pause() const {
    return held_ > 0 || (at_ % 2 && left_ > 0 && side_.runs[at_] >= schedule_.long_from);
}

bool Stalls::pause() {
    ++cycle_;
    if (at_speed_) {
        --at_speed_;
        return false;
    }
    if (held_) {
        --held_;
        return true;
    }
    while (!left_) {
        at_ = at_ + 1 < side_.runs.size() ? at_ + 1 : side_.again;
        left_ = side_.runs[at_];
    }
    --left_;
    return at_ % 2;
}

void Stalls::before_repeated(uint32_t which) {
    const bool begins = std::exchange(repeated_, which) != which;
    if (!which || !begins || cycle_ < schedule_.repeated_from || at_speed_) return;
    const int64_t times = ++met_[which];
    if (times <= schedule_.repeated_often || (times & (times - 1)) == 0) hold(schedule_.repeated);
}

}  // namespace volume
