// The words of a trace: exact numbers, codes, tables and bit pictures, as golden/trace/trace.py writes them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "mmau/dot.hpp"
#include "names.hpp"

namespace trace {

using mmau::Cls;
using mmau::Decoded;
using mmau::Format;
using mmau::Wide;
using mmau::Widest;
using mmau::any_below;
using mmau::bit_length;
using mmau::is_negative;
using mmau::magnitude;
using mmau::shifted_left;
using mmau::shifted_right;
using Row = std::vector<std::string>;

constexpr int shown_bits = 112;   // the longest significand that is shown in full
constexpr int max_columns = 100;  // of a bit picture
constexpr int cut_bits = 24;      // dropped bits that are shown

using Huge = Wide<2112>;  // the exact sum of two terms of any format

template <class Int>
Int resized(int64_t x) {
    return Int(x);
}

/// The same number with other limbs, as far as it fits.
template <class Int, int N>
Int resized(const Wide<N>& x) {
    Int made(static_cast<int64_t>(x.filler()));
    constexpr int limbs = sizeof(Int) / 8;
    for (int i = 0; i < limbs && i < N; ++i) made.limb[i] = x.limb[i];
    return made;
}

template <int N>
bool bit_of(const Wide<N>& magnitude, int place) {
    return 0 <= place && place < 64 * N && (magnitude.limb[place / 64] >> place % 64 & 1);
}

/// A magnitude in base 2 or 16, without leading zeros.
template <int N>
std::string digits_of(const Wide<N>& magnitude, int bits_each) {
    const int count = std::max(1, mmau::ceil_div(bit_length(magnitude), bits_each));
    std::string text;
    for (int k = count - 1; k >= 0; --k) {
        int digit = 0;
        for (int bit = bits_each - 1; bit >= 0; --bit) digit = 2 * digit + bit_of(magnitude, k * bits_each + bit);
        text += "0123456789abcdef"[digit];
    }
    return text;
}

template <int N>
std::string hex_of(const Wide<N>& magnitude) { return "0x" + digits_of(magnitude, 4); }

inline Widest unsigned_wide(uint64_t value) {
    Widest wide(0);
    wide.limb[0] = value;
    return wide;
}

/// A code with all digits of its word.
inline std::string padded_hex(uint64_t code, int bits) {
    const std::string digits = digits_of(unsigned_wide(code), 4);
    return "0x" + std::string(static_cast<std::size_t>(std::max(0, bits / 4 - static_cast<int>(digits.size()))), '0') + digits;
}

/// A number of at most 128 bits in base 10.
template <int N>
std::string decimal_of(const Wide<N>& magnitude) {
    unsigned __int128 left = static_cast<unsigned __int128>(magnitude.limb[1]) << 64 | magnitude.limb[0];
    std::string text;
    do text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
    while (left /= 10);
    return text;
}

inline std::string with_commas(int number) {
    std::string text = std::to_string(number);
    for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

/// The exact number sig · 2^exp.
template <int N>
std::string exact_text(const Wide<N>& sig, int exp) {
    Wide<N> mag = magnitude(sig);
    if (!bit_length(mag)) return "0";
    int zeros = 0;
    while (!bit_of(mag, zeros)) ++zeros;
    mag = shifted_right(mag, zeros);
    exp += zeros;
    const int bits = bit_length(mag);
    const std::string sign = is_negative(sig) ? "-" : "+";
    if (bits > shown_bits) {
        const int below = bits - shown_bits;
        return sign + hex_of(shifted_right(mag, below)) + "…·2^" + std::to_string(exp + below) + " (" + with_commas(bits) + " bits)";
    }
    return sign + decimal_of(mag) + (exp ? "·2^" + std::to_string(exp) : "");
}

inline const char* sign_text(bool negative) { return negative ? "−" : "+"; }

/// Characters, not bytes.
inline int width_of(const std::string& text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

inline std::string filled(const std::string& text, int width) { return text + std::string(static_cast<std::size_t>(std::max(0, width - width_of(text))), ' '); }

/// Rows as aligned columns, two spaces apart.
inline Row table(const std::vector<Row>& rows) {
    Row lines(rows.size());
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
        int width = 0;
        for (const Row& row : rows) width = std::max(width, width_of(row[column]));
        for (std::size_t n = 0; n < rows.size(); ++n) lines[n] += (column ? "  " : "") + filled(rows[n][column], width);
    }
    for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
    return lines;
}

/// The name of a value, `otherwise` where it has none.
inline std::string name_of(int value, const Named* names, const std::string& otherwise = "") {
    for (; names->name; ++names) {
        if (names->value == value) return names->name;
    }
    return otherwise;
}

/// The name of a format; one that the library does not know by name, a unit's own, is named by its fields.
inline std::string format_name(int number) {
    const Format f = mmau::format_of(number);
    const bool is_integer = mmau::is_integer_format(number);
    const std::string own = is_integer ? (f.is_signed ? "int" : "uint") + std::to_string(f.width())
                                       : "e" + std::to_string(f.exp_bits) + "m" + std::to_string(f.man_bits);
    return name_of(number, formats, own);
}

inline std::string class_name(const Decoded& x) {
    constexpr const char* names[] = {"zero", "subnormal", "normal", "infinity", "nan"};
    return names[static_cast<int>(x.cls)];
}

/// The parts of a code of any format, an integer's too.
inline Decoded parts_of(int number, uint64_t code) {
    const Format f = mmau::format_of(number);
    if (!mmau::is_integer_format(number)) return mmau::decode(f, code);
    const int64_t value = mmau::wide_integer_of(f, code);
    return {value < 0, 0, mmau::magnitude(value), value ? Cls::normal : Cls::zero};
}

/// The bits of a code by field.
inline std::string split(int number, uint64_t code) {
    const Format f = mmau::format_of(number);
    const int man_end = f.width() - f.pad_bits, exp_end = man_end - f.man_bits;
    std::string text;
    for (int at = 0; at < f.width(); ++at) {
        const bool edge = at == exp_end - f.exp_bits || at == exp_end || at == man_end;
        if (edge && at && !mmau::is_integer_format(number)) text += text.back() == '_' ? "" : "_";
        text += code >> (f.width() - 1 - at) & 1 ? '1' : '0';
    }
    return text;
}

/// A code in one line.
inline std::string described(int number, uint64_t code) {
    const Format f = mmau::format_of(number);
    const Decoded x = parts_of(number, code);
    const std::string head = format_name(number) + " " + padded_hex(code, f.storage_bits) + " " + split(number, code);
    if (mmau::is_integer_format(number)) return head + " = " + std::to_string(mmau::wide_integer_of(f, code));
    const std::string of_class = head + " " + class_name(x) + " sign=" + std::to_string(x.sign);
    if (x.cls >= Cls::infinity) return of_class;
    return of_class + " exp=" + std::to_string(x.exp) + " sig=" + hex_of(unsigned_wide(x.sig)) + " = " + (x.sign ? "-" : "+") +
           decimal_of(unsigned_wide(x.sig)) + "·2^" + std::to_string(x.exp - f.man_bits);
}

/// A term of a sum: before alignment sig · 2^(exp − frac), after it aligned · 2^lsb.
struct Shown {
    std::string name, classes;
    Widest sig{0};
    int exp = 0, frac = 0;
    Widest aligned{0};
    int lsb = 0;
    bool dropped = false, counts = true;  // whether it counts as zero by a rule; whether it may set the largest exponent

    int own_lsb() const { return exp - frac; }
    /// Whether alignment drops a one.
    bool loses() const { return any_below(magnitude(sig), lsb - own_lsb()); }

    /// What alignment cut off, exact minus aligned, in units of 2^cut_lsb.
    template <class Int>
    Int cut() const {
        Int difference = shifted_left(resized<Int>(sig), own_lsb() - cut_lsb());
        difference += -shifted_left(resized<Int>(aligned), lsb - cut_lsb());
        return difference;
    }
    int cut_lsb() const { return std::min(own_lsb(), lsb); }
    bool is_far() const { return lsb - own_lsb() > 600; }
    bool is_cut() const { return bit_length(magnitude(is_far() ? resized<Widest>(cut<Huge>()) : cut<Widest>())) != 0; }
    std::string cut_text() const { return is_far() ? exact_text(cut<Huge>(), cut_lsb()) : exact_text(cut<Widest>(), cut_lsb()); }
    /// Whether what is left is larger than what there was.
    bool is_raised() const {
        if (!bit_length(magnitude(sig))) return bit_length(magnitude(aligned)) != 0;
        return (is_far() ? is_negative(cut<Huge>()) : is_negative(cut<Widest>())) != is_negative(sig);
    }
    std::string note() const {
        if (dropped) return "too small to count: cut " + cut_text();
        return loses() || is_cut() ? "cut " + cut_text() + (is_raised() ? ", away from zero" : "") : "";
    }
};

inline int lead_of(const Widest& sig, int exp) { return bit_length(magnitude(sig)) - 1 + exp; }

/// The bits of a magnitude in the columns from exponent top to exponent lsb, the point after `point`.
inline std::string columns(const Widest& sig, int exp, int top, int lsb, int point) {
    const Widest mag = magnitude(sig);
    std::string text;
    bool leads = true;
    for (int place = top; place >= lsb; --place) {
        const bool one = bit_of(mag, place - exp);
        leads = leads && !one;
        text += place < exp ? " " : leads ? "·" : one ? "1" : "0";
        if (place == point) text += ".";
    }
    return text;
}

/// The bits of a term that alignment dropped, at most `cut_bits` of them.
inline std::string cut_columns(const Shown& term) {
    const int below = term.lsb - term.own_lsb();
    if (!term.loses()) return "";
    const Widest mag = magnitude(term.sig);
    int last = 0;
    while (!bit_of(mag, last)) ++last;  // trailing zeros are left out
    const int count = below - last, shown = count <= cut_bits ? count : cut_bits - 1;
    std::string text = "|";
    for (int n = 0; n < shown; ++n) text += bit_of(mag, below - 1 - n) ? '1' : '0';
    return text + (count > cut_bits ? "…" : "");
}

}  // namespace trace
