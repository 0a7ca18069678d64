#include "options.hpp"

#include <charconv>
#include <functional>
#include <map>

namespace volume {
namespace {

template <typename Number>
void read_number(Number& number, const std::string& option, const std::string& text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
        throw Refused(option + " must be an integer from 0 on, got " + text);
    }
}

std::pair<std::string, std::string> assignment(const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) throw Refused("--set must be PORT=HEX, got " + text);
    return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Options read_options(int count, char** arguments) {
    Options options;
    using Take = std::function<void(const std::string&, const std::string&)>;
    const auto number = [](auto& target) -> Take { return [&target](auto& name, auto& text) { read_number(target, name, text); }; };
    const std::map<std::string, Take> with_value = {
        {"--rows", [&](auto&, auto& text) { options.rows = text; }},
        {"--seed", number(options.seed)},
        {"--first", number(options.first)},
        {"--vectors", number(options.vectors)},
        {"--base", number(options.base)},
        {"--schedule", [&](auto&, auto& text) { options.schedule = text; }},
        {"--keep", number(options.keep.mismatches)},
        {"--keep-of-a-group", number(options.keep.of_a_group)},
        {"--keep-agreeing", number(options.keep.agreeing)},
        {"--sample", number(options.keep.sample)},
        {"--bare", number(options.bare)},
        {"--standstill", number(options.standstill)},
        {"--only", [&](auto& name, auto& text) { read_number(options.selection.only.emplace_back(), name, text); }},
        {"--exclude", [&](auto& name, auto& text) { read_number(options.selection.exclude.emplace_back(), name, text); }},
        {"--set", [&](auto&, auto& text) { options.held.push_back(assignment(text)); }},
    };
    const std::map<std::string, bool*> flags = {
        {"--stop-at-first", &options.stops_at_first},
    };
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        const auto option = with_value.find(argument);
        const auto flag = flags.find(argument);
        if (option != with_value.end()) {
            if (++i == count) throw Refused(argument + " needs a value behind it");
            option->second(argument, arguments[i]);
        } else if (flag != flags.end()) {
            *flag->second = true;
        } else if (argument.rfind("+verilator+", 0) == 0) {
            options.plusargs.push_back(argument);
        } else if (argument.rfind("-", 0) == 0 || !options.plan.empty()) {
            throw Refused("unknown argument " + argument);
        } else {
            options.plan = argument;
        }
    }
    if (options.plan.empty()) throw Refused("name the plan of the design");
    if (options.rows.empty() == (options.vectors == 0)) throw Refused("give either --rows FILE or --vectors N");
    return options;
}

}  // namespace volume
