#include "json.hpp"

#include <cstdio>

namespace volume {
namespace {

std::string quoted(const std::string& text) {
    std::string escaped = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            escaped += '\\';
            escaped += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
            escaped += code;
        } else {
            escaped += c;
        }
    }
    return escaped + "\"";
}

/// A little-endian integer as hexadecimal text.
std::string hexadecimal(const uint8_t* data, size_t bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text = "\"0x";
    for (size_t i = bytes; i-- > 0;) {
        text += digits[data[i] >> 4];
        text += digits[data[i] & 15];
    }
    return text + "\"";
}

/// Enclose pieces, each followed by a comma, in brackets.
std::string listed(std::string pieces, char open, char close) {
    if (!pieces.empty()) pieces.pop_back();
    return open + pieces + close;
}

std::string transfers_of(const Compared& row, const Record& record) {
    std::string transfers;
    for (size_t start = 0; start < row.transfers.size(); start += static_cast<size_t>(record.bytes())) {
        std::string ports;
        for (const Record::Field& field : record.fields()) {
            const uint8_t* data = row.transfers.data() + start + field.offset;
            ports += quoted(field.port) + ":" + hexadecimal(data, static_cast<size_t>(field.bytes)) + ",";
        }
        transfers += listed(ports, '{', '}') + ",";
    }
    return listed(transfers, '[', ']');
}

std::string row_as_json(const Compared& row, const Plan& plan, const Record& record) {
    std::string expected;
    for (const uint64_t code : row.expected) expected += std::to_string(code) + ",";
    const bool has_clock = plan.protocol != "combinational";
    return "{\"vector\":" + std::to_string(row.number) + ",\"element\":" + std::to_string(row.element) +
           ",\"product\":" + std::to_string(row.product) + ",\"label\":" + std::to_string(row.label) +
           ",\"agrees\":" + (row.agrees ? "true" : "false") + ",\"sampled\":" + (row.sampled ? "true" : "false") +
           ",\"cycle\":" + (has_clock ? std::to_string(row.arrival.cycle) : "null") +
           ",\"time\":" + std::to_string(row.arrival.time) + ",\"transfers\":" + transfers_of(row, record) +
           ",\"got\":" + hexadecimal(row.got.data(), row.got.size()) + ",\"expected\":" + listed(expected, '[', ']') + "}";
}

/// The lengths that each class of results has met.
std::string lengths_of(const Waits& waits) {
    std::string classes;
    for (const std::set<int64_t>& met : waits.met()) {
        std::string lengths;
        for (const int64_t length : met) lengths += std::to_string(length) + ",";
        classes += listed(lengths, '[', ']') + ",";
    }
    return listed(classes, '[', ']');
}

/// What came at each output beside d: results by label and code that they must have, and counts of origins.
std::string returned_of(const Judge& judge) {
    std::string outputs;
    for (const Returned& each : judge.returned) {
        std::string raised, counts;
        for (const auto& [key, count] : each.raised) {
            raised += "[" + std::to_string(key.first) + "," + std::to_string(key.second) + "," + std::to_string(count) + "],";
        }
        for (const auto& of : each.counts) {
            std::string numbers;
            for (const int64_t count : of) numbers += std::to_string(count) + ",";
            counts += listed(numbers, '[', ']') + ",";
        }
        outputs += "{\"raised\":" + listed(raised, '[', ']') + ",\"counts\":" + listed(counts, '[', ']') + "},";
    }
    return listed(outputs, '[', ']');
}

}  // namespace

std::string as_json(const Plan& plan, const Record& record, const Bench& bench, const Judge& judge, int64_t left_out,
                    double seconds) {
    const Counts& counts = bench.counts;
    const bool has_clock = plan.protocol != "combinational";
    std::string classes, result_classes, result_pairs, waived, rows, groups;
    for (const auto& [label, count] : judge.classes) classes += quoted(std::to_string(label)) + ":" + std::to_string(count) + ",";
    for (const int64_t count : judge.result_classes) result_classes += std::to_string(count) + ",";
    for (const int64_t count : judge.result_pairs) result_pairs += std::to_string(count) + ",";
    for (const auto& [rule, count] : judge.waived) {
        if (count) waived += quoted(rule) + ":" + std::to_string(count) + ",";
    }
    std::vector<size_t> place(judge.compared.size());  // among the rows written: rows that agree are needed only with mismatches
    size_t written = 0;
    for (size_t i = 0; i < judge.compared.size(); ++i) {
        const Compared& row = judge.compared[i];
        if (row.agrees && !row.sampled && !judge.mismatches) continue;
        place[i] = written++;
        rows += row_as_json(row, plan, record) + ",";
    }
    for (const Group& group : judge.groups()) {
        std::string members;
        for (const size_t row : group.rows) members += std::to_string(place[row]) + ",";
        groups += "{\"count\":" + std::to_string(group.count) + ",\"rows\":" + listed(members, '[', ']') + "},";
    }
    char time[32];
    std::snprintf(time, sizeof time, "%.6f", seconds);
    const auto or_null = [](const std::string& text) { return text.empty() ? std::string("null") : quoted(text); };
    const auto number = [](const char* key, int64_t value) { return quoted(key) + ":" + std::to_string(value) + ","; };
    return "{" + number("sent", counts.sent) + number("received", counts.received) + number("dropped", counts.dropped) +
           number("waiting", counts.waiting) + number("surplus", counts.surplus) + number("first_surplus", counts.first_surplus) + number("left_out", left_out) + number("cycles", counts.cycles) +
           number("mismatches", judge.mismatches) + number("elements", judge.elements) +
           "\"stopped\":" + or_null(counts.stopped) + ",\"stopped_by\":" + or_null(counts.stopped_by) + ",\"seconds\":" + time +
           ",\"classes\":" + listed(classes, '{', '}') + ",\"result_classes\":" + listed(result_classes, '[', ']') +
           ",\"result_pairs\":" + listed(result_pairs, '[', ']') +
           ",\"waits\":{" + (has_clock ? "\"gap\":" + lengths_of(bench.gaps) : "") +
           (has_clock && plan.protocol == "valid-ready" ? ",\"stall\":" + lengths_of(bench.stalls) : "") + "}" +
           ",\"returned\":" + returned_of(judge) + ",\"waived\":" + listed(waived, '{', '}') + ",\"groups\":" + listed(groups, '[', ']') +
           ",\"rows\":" + listed(rows, '[', ']') + "}\n";
}

}  // namespace volume
