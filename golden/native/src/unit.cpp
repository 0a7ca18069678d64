// The reader of unit.toml: the part of TOML that describes one step of an operation, or of a chain that one call computes.
#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "mmau.h"
#include "mmau/plan.hpp"
#include "names.hpp"

namespace {

constexpr int words = parameter_words + 3;  // and flags, tininess, beside_nan

/// Why a file is no unit: the message, and no more is read.
struct Refusal {
    std::string message;
};

[[noreturn]] void refuse(const std::string& message) { throw Refusal{message}; }

std::string stripped(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// The line without its comment; a # in quotes begins none.
std::string uncommented(const std::string& line) {
    char quote = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (quote) {
            if (line[at] == quote) quote = 0;
        } else if (line[at] == '"' || line[at] == '\'') {
            quote = line[at];
        } else if (line[at] == '#') {
            return line.substr(0, at);
        }
    }
    return line;
}

bool is_bare(const std::string& key) {
    for (const char each : key) {
        if (!std::isalnum(static_cast<unsigned char>(each)) && each != '_' && each != '-') return false;
    }
    return !key.empty();
}

/// A string without its quotes, if the text is one without escapes.
bool read_string(const std::string& text, std::string& value) {
    if (text.size() < 2 || (text[0] != '"' && text[0] != '\'') || text.back() != text[0]) return false;
    value = text.substr(1, text.size() - 2);
    return value.find(text[0]) == std::string::npos && (text[0] == '\'' || value.find('\\') == std::string::npos);
}

/// A decimal integer of at most nine digits, `_` between them.
bool read_integer(const std::string& text, int& value) {
    std::size_t at = text[0] == '-' || text[0] == '+';
    if (at == text.size() || text.back() == '_' || text.find("__") != std::string::npos || text[at] == '_') return false;
    if (text[at] == '0' && at + 1 < text.size()) return false;
    int digits = 0;
    for (value = 0; at < text.size(); ++at) {
        if (text[at] == '_') continue;
        if (!std::isdigit(static_cast<unsigned char>(text[at])) || ++digits > 9) return false;
        value = 10 * value + (text[at] - '0');
    }
    if (text[0] == '-') value = -value;
    return true;
}

/// The value of a name; null where there is none.
const int* value_of(const Named* names, const std::string& name) {
    for (; names->name; ++names) {
        if (name == names->name) return &names->value;
    }
    return nullptr;
}

std::string listed(const Named* names) {
    std::string text;
    for (const Named* each = names; each->name; ++each) text += (each == names ? "" : ", ") + std::string(each->name);
    return text;
}

bool has_key(int operation, const char* name) {
    for (const Key& key : keys) {
        if (key.operation == operation && std::strcmp(key.name, name) == 0) return true;
    }
    return false;
}

/// The keys of a file, one a line.
class UnitFile {
  public:
    explicit UnitFile(const char* path) {
        std::ifstream file(path);
        if (!file) refuse("cannot be read");
        std::string line, table;
        while (std::getline(file, line)) read(stripped(uncommented(line)), table);
        if (file.bad()) refuse("cannot be read");
    }

    /// The value of a key, which is then no longer unused; null where there is none.
    const std::string* take(const std::string& table, const std::string& name) {
        for (int entry = 0; entry < count_; ++entry) {
            if (entries_[entry].table == table && entries_[entry].name == name) {
                entries_[entry].taken = true;
                return &entries_[entry].value;
            }
        }
        return nullptr;
    }

    /// The names of the tables [formats.NAME], in order.
    const std::vector<std::string>& format_names() const { return format_names_; }

    /// Refuse a key that nobody took.
    void check_all_taken(const std::string& of) const {
        for (int entry = 0; entry < count_; ++entry) {
            if (!entries_[entry].taken) refuse(of + " has no key " + entries_[entry].name);
        }
    }

  private:
    struct Entry {
        std::string table, name, value;
        bool taken;
    };
    static constexpr int most = 64;

    void read(const std::string& line, std::string& table) {
        if (line.empty()) return;
        if (line[0] == '[') {
            table = line.back() == ']' ? stripped(line.substr(1, line.size() - 2)) : line;
            if (table.rfind("formats.", 0) == 0) {
                std::string name = stripped(table.substr(8));
                if (!is_bare(name) && !read_string(name, name)) refuse("[" + table + "] must be [formats.NAME]");
                for (const std::string& other : format_names_) {
                    if (other == name) refuse("[formats." + name + "] is given twice");
                }
                format_names_.push_back(name);
                table = "formats." + name;
                return;
            }
            if (table != "implementation" && table != "array" && table != "chain") refuse("[" + table + "] is not read here: golden alone computes it");
            return;
        }
        if (table == "implementation" || table == "array") return;  // they never change a result
        const auto equals = line.find('=');
        if (equals == std::string::npos) refuse("a line must be key = value, got " + line);
        const std::string name = stripped(line.substr(0, equals));
        if (!is_bare(name)) refuse("a key must be letters, digits, _ and -, got " + name);
        if (take(table, name)) refuse(name + " is given twice");
        if (count_ == most) refuse("there are more keys than any operation has");
        entries_[count_++] = {table, name, stripped(line.substr(equals + 1)), false};
    }

    Entry entries_[most];
    int count_ = 0;
    std::vector<std::string> format_names_;
};

int chosen(const std::string& name, const std::string& text, const Named* names) {
    std::string value;
    const int* number = read_string(text, value) ? value_of(names, value) : nullptr;
    if (!number) refuse(name + " must be one of " + listed(names) + ", got " + text);
    return *number;
}

bool read_flag(const std::string& name, const std::string& text) {
    if (text != "true" && text != "false") refuse(name + " must be true or false, got " + text);
    return text == "true";
}

/// A format of the file's own.
struct OwnFormat {
    std::string name;
    int value;
};
using OwnFormats = std::vector<OwnFormat>;

constexpr Named specials[] = {{"ieee", MMAU_SPECIALS_IEEE}, {"fn", MMAU_SPECIALS_FN}, {"fnuz", MMAU_SPECIALS_FNUZ},
    {"finite", MMAU_SPECIALS_FINITE}, {"p3109", MMAU_SPECIALS_P3109}, {"merged", MMAU_SPECIALS_FN}, {nullptr, 0}};

/// The format of a table [formats.NAME] that has fields; formats by table and integers are golden's alone.
int format_from(UnitFile& file, const std::string& name) {
    const std::string table = "formats." + name;
    for (const char* key : {"bits", "values", "table"}) {
        if (file.take(table, key)) refuse("[" + table + "] has no fields and is not read here: golden alone computes it");
    }
    const auto given = [&](const char* key) -> const std::string& {
        const std::string* text = file.take(table, key);
        if (!text) refuse("[" + table + "] is missing " + key);
        return *text;
    };
    const auto number = [&](const char* key, int least, int most) {
        int value = 0;
        const std::string& text = given(key);
        if (text.empty() || !read_integer(text, value) || value < least || value > most) {
            refuse(std::string(key) + " of " + name + " must be an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", got " + text);
        }
        return value;
    };
    const int exp_bits = number("exp_bits", 1, 15), man_bits = number("man_bits", 0, 62), bias = number("bias", -16384, 16384);
    const int kind = chosen("specials of " + name, given("specials"), specials);
    const std::string *has_sign = file.take(table, "signed"), *has_subnormals = file.take(table, "subnormals");
    const bool is_signed = !has_sign || read_flag("signed of " + name, *has_sign);
    const bool subnormals = !has_subnormals || read_flag("subnormals of " + name, *has_subnormals);
    const bool too_few = exp_bits + man_bits < 2 || (kind == MMAU_SPECIALS_IEEE && (man_bits < 1 || exp_bits < 2));
    if (too_few || exp_bits + man_bits + is_signed > 64 || (kind == MMAU_SPECIALS_FNUZ && !is_signed)) {
        refuse("[" + table + "] has fields of which golden makes no format");
    }
    const int made = MMAU_FORMAT(exp_bits, man_bits, bias, kind, is_signed ? MMAU_SIGNED : MMAU_UNSIGNED, subnormals);
    const int* known = value_of(formats, name);
    if (known && *known != made) refuse("[" + table + "]: golden has another format of that name");
    return made;
}

/// The integer of a name intN or uintN, of N bits up to 64; 0 of another name, which is no format's.
int integer_of(const std::string& name) {
    const bool is_signed = name[0] != 'u';
    const std::string digits = name.substr(is_signed ? 3 : 4);
    int bits = 0;
    const bool is_number = !digits.empty() && digits.size() <= 2 && std::isdigit(static_cast<unsigned char>(digits[0])) && read_integer(digits, bits);
    if (!is_number || bits < 1 + is_signed || bits > 64) return 0;
    return MMAU_FORMAT(0, bits - is_signed, 0, MMAU_SPECIALS_FINITE, is_signed ? MMAU_SIGNED : MMAU_UNSIGNED, 1);
}

int value_of(const Key& key, const std::string& text, const OwnFormats& own) {
    if (key.names == flags) return read_flag(key.name, text);
    std::string name;
    if (key.names == formats && read_string(text, name)) {
        for (const OwnFormat& each : own) {
            if (name == each.name) return each.value;
        }
        const bool is_integer = name.rfind("int", 0) == 0 || name.rfind("uint", 0) == 0;
        if (const int made = is_integer && key.operation == MMAU_IDPA ? integer_of(name) : 0) return made;
    }
    if (key.names) return chosen(key.name, text, key.names);
    int value = 0;
    if (text.empty() || !read_integer(text, value)) refuse(std::string(key.name) + " must be an integer, got " + text);
    return value;
}

/// ρ to a format, whose codes d holds: those of a format with padding as the format that has all of its word.
void round_to(int32_t* values, int mode, int format) {
    values[rho_word] = mode;
    values[rounded_word] = 0;
    values[d_word] = format;
    const mmau::Format padded = mmau::format_of(format);
    for (const Named* each = formats; padded.pad_bits && each->name; ++each) {
        const mmau::Format word = mmau::format_of(each->value);
        const bool alike = word.exp_bits == padded.exp_bits && word.bias == padded.bias && word.specials == padded.specials;
        if (!alike || word.pad_bits || word.width() != padded.width()) continue;
        values[rounded_word] = format;
        values[d_word] = each->value;
        return;
    }
}

/// ρ as a file has it: a mode, and a format in capital letters.
void read_rho(int32_t* values, const std::string& text, const OwnFormats& own) {
    std::string value;
    const bool is_string = read_string(text, value);
    if (is_string && value == "RNE-FP32-RZ-BF16") {
        round_to(values, MMAU_RNE, MMAU_FP32);
        values[rounded_word] = MMAU_FP32;
        values[d_word] = MMAU_BF16;
        return;
    }
    const auto dash = value.find('-');
    const int* mode = is_string && dash != std::string::npos ? value_of(modes, value.substr(0, dash)) : nullptr;
    for (const OwnFormat& each : own) {
        if (mode && each.name == value.substr(dash + 1)) return round_to(values, *mode, each.value);
    }
    for (const Named* each = formats; mode && each->name; ++each) {
        std::string name = each->name;
        for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        if (name == value.substr(dash + 1)) return round_to(values, *mode, each->value);
    }
    refuse("rho must be a mode (" + listed(modes) + ") and a format, as RNE-FP32; got " + text);
}

/// The order of a chain: that of the steps, and nothing else than the defaults.
int order_of(UnitFile& file) {
    const std::string* order = file.take("chain", "order");
    const struct {
        const char *key, *value;
    } defaults[] = {{"add_c", "\"first\""}, {"addition", "\"RNE\""}, {"subtract", "false"}};
    for (const auto& each : defaults) {
        const std::string* given = file.take("chain", each.key);
        if (given && *given != each.value) refuse("[chain] " + std::string(each.key) + " is not read here: golden computes such a chain in several calls");
    }
    return order ? chosen("[chain] order", *order, runs) : 0;
}

void load(const char* path, int K, mmau_unit& unit) {
    UnitFile file(path);
    const std::string* name = file.take("", "name");
    std::string text;
    if (!name || !read_string(*name, text) || text.empty()) refuse("name must be given, in quotes");
    const std::string* kind = file.take("", "operation");
    if (!kind) refuse("operation must be given: one of " + listed(operations));
    int32_t values[words] = {chosen("operation", *kind, operations)};
    values[L_word] = 1;
    std::string operation;
    read_string(*kind, operation);
    const std::string* rho = nullptr;
    OwnFormats own;
    for (const std::string& each : file.format_names()) own.push_back({each, format_from(file, each)});
    for (const Key& key : keys) {
        if (key.operation != values[0]) continue;
        const std::string* given = file.take("", key.name);
        if (!given && key.fallback == required) refuse(operation + " is missing " + key.name);
        if (key.names == modes) {
            rho = given;
        } else {
            values[key.word] = given ? value_of(key, *given, own) : key.fallback;
        }
    }
    const std::string* scales = has_key(values[0], "scale") ? file.take("", "scales") : nullptr;
    if (scales && *scales != "\"both\"") refuse("scales must be \"both\" here: golden alone computes scales of one side; got " + *scales);
    if (!has_key(values[0], "b")) values[b_word] = values[a_word];
    if (!has_key(values[0], "c")) values[c_word] = values[a_word];
    if (!mmau::has_rho(values[0])) {
        values[d_word] = values[c_word];
    } else if (!rho) {
        round_to(values, MMAU_RNE, mmau::is_ieee(values[0]) ? values[c_word] : static_cast<int32_t>(MMAU_FP32));
    } else {
        read_rho(values, *rho, own);
    }
    if (values[0] == MMAU_CVT) values[c_word] = values[d_word];
    values[order_word] = order_of(file);
    file.check_all_taken(operation);
    values[K_word] = K ? K : values[L_word];
    std::memcpy(&unit.parameters, values, sizeof unit.parameters);
    unit.rules = values[parameter_words + 1] | values[parameter_words + 2] << 1;
    if (const int status = mmau_check(&unit.parameters)) refuse(mmau_message(status));
    unit.d = values[d_word];
}

}  // namespace

int mmau_unit_load(const char* path, int32_t K, mmau_unit* unit, char* message, int32_t message_bytes) {
    if (!path || !unit || (!message && message_bytes)) return MMAU_NULL_POINTER;
    std::string refusal;
    try {
        load(path, K, *unit);
        if (message_bytes > 0) *message = 0;
        return MMAU_OK;
    } catch (const Refusal& reason) {
        refusal = std::string(path) + ": " + reason.message;
    } catch (const std::exception& error) {  // no memory
        refusal = std::string(path) + ": " + error.what();
    }
    if (message_bytes > 0) std::snprintf(message, static_cast<std::size_t>(message_bytes), "%s", refusal.c_str());
    return MMAU_BAD_UNIT;
}
