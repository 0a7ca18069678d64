// The parts of a trace that several operations share: special terms in words, sums, roundings.
#pragma once

#include "trace_text.hpp"

namespace trace {

constexpr int minus = 1, nan_result = 2;  // special results; 0 is +∞

inline const std::string infinities[] = {"+∞", "−∞"};

/// A special term, in words.
struct Reason {
    std::string text;
    int result;
};
using Reasons = std::vector<Reason>;

/// The result of some special terms; none makes none, −1.
inline int combined(const std::vector<int>& found) {
    int result = -1;
    for (const int each : found) result = each < 0 || result == each ? result : result < 0 ? each : nan_result;
    return result;
}

inline int special_product(const Decoded& x, const Decoded& y) {
    if (x.cls < Cls::infinity && y.cls < Cls::infinity) return -1;
    const auto any = [&](Cls cls) { return x.cls == cls || y.cls == cls; };
    return any(Cls::nan) || any(Cls::zero) ? nan_result : x.sign ^ y.sign;
}

inline int special_term(const Decoded& x) { return x.cls == Cls::nan ? nan_result : x.cls == Cls::infinity ? x.sign : -1; }

inline void add_reason(Reasons& reasons, const std::string& name, const Decoded& x) {
    const int special = special_term(x);
    if (special >= 0) reasons.push_back({name + " is " + (special == nan_result ? "NaN" : infinities[special]), special});
}

inline void add_reason(Reasons& reasons, const std::string& name, const Decoded& x, const Decoded& y, int special) {
    if (special < 0) return;
    std::string why = " is too large: it counts as " + infinities[special & 1];
    if (x.cls == Cls::nan || y.cls == Cls::nan) why = " has a NaN operand";
    else if (special == nan_result) why = " is 0·∞";
    else if (x.cls == Cls::infinity || y.cls == Cls::infinity) why = " is " + infinities[special];
    reasons.push_back({name + why, special});
}

inline std::vector<int> results_of(const Reasons& reasons) {
    std::vector<int> results;
    for (const Reason& each : reasons) results.push_back(each.result);
    return results;
}

/// Writes a trace, line by line.
class Lines {
  public:
    std::string text;

    void line(const std::string& words) { text += words + "\n"; }
    void heading(const std::string& words) { line("\n  " + words); }
    void fact(const std::string& word, const std::string& what) { line("  " + filled(word, 12) + " " + what); }
    void rows(const std::vector<Row>& cells) {
        for (const std::string& each : table(cells)) line("  " + each);
    }

    void special(const std::string& of, const Reasons& reasons, int result, int format, uint64_t code) {
        std::string deciding, all;
        for (const Reason& each : reasons) {
            all += (all.empty() ? "" : "; ") + each.text;
            if (each.result == result) deciding += (deciding.empty() ? "" : "; ") + each.text;
        }
        const std::string why = deciding.empty() ? all : deciding;
        const std::string what = result == nan_result ? "NaN" : infinities[result];
        fact(of == "d" ? "specials" : "specials, " + of, why + ": " + what + ", " + format_name(format) + " " + hex_of(unsigned_wide(code)));
    }

    /// The terms of a sum as a table.
    void terms(const std::string& of, const std::vector<Shown>& shown) {
        heading(of);
        std::vector<Row> cells{{"term", "sign", "exp", "sig", "frac", "class", "exact value"}};
        for (const Shown& each : shown) {
            cells.push_back({each.name, sign_text(is_negative(each.sig)), std::to_string(each.exp), hex_of(magnitude(each.sig)),
                             std::to_string(each.frac), each.classes, exact_text(each.sig, each.own_lsb())});
        }
        rows(cells);
    }

    /// The aligned terms and their total in columns, or what was cut off and the total where they are too wide. `point` is the
    /// exponent that they are aligned to, and is not there where nothing is cut.
    void picture(const std::vector<Shown>& shown, const Widest& total, int lsb, const int* point) {
        int top = 0, largest = 0;
        bool any = false;
        for (const Shown& each : shown) {
            if (!bit_length(magnitude(each.sig))) continue;
            const int lead = lead_of(each.sig, each.own_lsb());
            largest = any ? std::max(largest, lead) : lead;
            any = true;
        }
        const int at = point ? *point : largest;
        top = at;
        for (const Shown& each : shown) {
            if (bit_length(magnitude(each.aligned))) top = std::max(top, lead_of(each.aligned, each.lsb));
        }
        if (bit_length(magnitude(total))) top = std::max(top, lead_of(total, lsb));
        if ((!point && !any) || top - lsb + 1 > max_columns) return numbers(shown, exact_text(total, lsb));
        std::vector<Row> cells;
        for (const Shown& each : shown) {
            const bool negative = is_negative(bit_length(magnitude(each.aligned)) ? each.aligned : each.sig);
            cells.push_back({each.name, sign_text(negative), columns(each.aligned, each.lsb, top, lsb, at) + cut_columns(each), each.note()});
        }
        cells.push_back({"total", sign_text(is_negative(total)), columns(total, lsb, top, lsb, at), "= " + exact_text(total, lsb)});
        const Row lines = table(cells);
        int width = 0;
        for (const std::string& each : lines) width = std::max(width, width_of(each));
        for (std::size_t n = 0; n + 1 < lines.size(); ++n) line("  " + lines[n]);
        line("  " + std::string(static_cast<std::size_t>(width), '-'));
        line("  " + lines.back());
    }

    void numbers(const std::vector<Shown>& shown, const std::string& total) {
        for (const Shown& each : shown) {
            if (each.is_cut()) fact("align " + each.name, "cut " + each.cut_text());
        }
        fact("accumulate", "total = " + total);
    }

    /// An exact sum; its total, and the exponent of its lowest bit.
    void exact_sum(const std::string& of, std::vector<Shown>& shown) {
        terms(of, shown);
        int lsb = shown[0].own_lsb(), top = lsb;
        for (const Shown& each : shown) {
            lsb = std::min(lsb, each.own_lsb());
            if (bit_length(magnitude(each.sig))) top = std::max(top, lead_of(each.sig, each.own_lsb()));
        }
        if (top - lsb > 600) {
            Huge total(0);
            for (const Shown& each : shown) total += shifted_left(resized<Huge>(each.sig), each.own_lsb() - lsb);
            for (Shown& each : shown) each.lsb = each.own_lsb(), each.aligned = each.sig;
            return numbers(shown, exact_text(total, lsb));
        }
        Widest total(0);
        for (Shown& each : shown) {
            each.lsb = lsb;
            each.aligned = shifted_left(each.sig, each.own_lsb() - lsb);
            total += each.aligned;
        }
        picture(shown, total, lsb, nullptr);
    }
};

/// Bits above and below the last one that rounding keeps.
struct Rounded {
    int lead = 0, last = 0;
    Widest kept{0}, rounded{0};
    bool is_zero = false, negative = false, guard = false, sticky = false, away = false, carry = false;

    /// value · 2^exp, whose last bit is `last`; `made` is its magnitude once it is rounded.
    template <class Int, class Made>
    Rounded(const Int& value, int exp, int last_bit, const Made& made) : last(last_bit), negative(is_negative(value)) {
        const Widest mag = magnitude(resized<Widest>(value));
        const int shift = last - exp;
        is_zero = !bit_length(mag);
        lead = bit_length(mag) - 1 + exp;
        kept = shift > 0 ? shifted_right(mag, shift) : shifted_left(mag, -shift);
        guard = bit_of(mag, shift - 1);
        sticky = any_below(mag, shift - 1);
        rounded = made(kept, guard || sticky);
        Widest difference = rounded;
        difference += -kept;
        away = bit_length(magnitude(difference)) != 0;
    }

    std::string text(const std::string& mode) const {
        const std::string direction = !guard && !sticky ? "exact" : away ? "away from zero" : "toward zero";
        return mode + ": kept " + digits_of(kept, 1) + " in units of 2^" + std::to_string(last) + ", guard " + (guard ? "1" : "0") +
               ", sticky " + (sticky ? "1" : "0") + (guard && !sticky ? ", a tie" : "") + ": " + direction +
               (carry ? ", carry into a new leading bit" : "") + " → " + exact_text(negative ? -rounded : rounded, last);
    }

    /// What encode does beyond packing the code.
    std::string note(int format, uint64_t code) const {
        const Format f = mmau::format_of(format);
        const Decoded d = mmau::decode(f, code);
        if (d.cls == Cls::infinity) return "overflow: infinity";
        const Decoded largest = mmau::decode(f, f.max_field() << f.pad_bits);
        const int lead_of_largest = bit_length(largest.sig) - 1 + largest.exp - f.man_bits, own = lead_of(rounded, last);
        if (!is_zero && bit_length(magnitude(rounded)) && own >= lead_of_largest) {
            const int lsb = std::min(last, largest.exp - f.man_bits);
            Widest difference = shifted_left(rounded, last - lsb);
            difference += -shifted_left(unsigned_wide(largest.sig), largest.exp - f.man_bits - lsb);
            if (own > lead_of_largest || (!is_negative(difference) && bit_length(difference))) return "overflow: largest finite number";
        }
        if (d.cls == Cls::zero && !is_zero && bit_length(rounded)) return "subnormal, flushed to zero";
        return d.cls == Cls::subnormal ? "subnormal" : "";
    }
};

inline void write_rounding(Lines& to, const Rounded& made, const std::string& mode, const char* word = "round") {
    if (made.is_zero) return to.fact("normalise", "total is zero");
    to.fact("normalise", "leading one at 2^" + std::to_string(made.lead));
    to.fact(word, made.text(mode));
}

inline void write_code(Lines& to, int format, uint64_t code, const std::string& note) {
    to.fact("encode", described(format, code) + (note.empty() ? "" : " (" + note + ")"));
}

inline Shown shown(const std::string& name, const std::string& classes, const mmau::Term<Widest>& term) { return {name, classes, term.sig, term.exp, term.frac}; }

inline Widest wide_sig(const Decoded& x) { return x.sign ? -unsigned_wide(x.sig) : unsigned_wide(x.sig); }

inline Shown shown_product(const std::string& name, const Decoded& x, const Decoded& y, int frac, int zero_exp) {
    const Widest sig = mmau::sig_product(x.sig, y.sig);
    const int exp = bit_length(sig) ? x.exp + y.exp : zero_exp;
    return shown(name, class_name(x) + "·" + class_name(y), {x.sign != y.sign ? -sig : sig, exp, frac});
}

inline Shown shown_addend(const std::string& name, const Decoded& x, const Format& format, int zero_exp) {
    return shown(name, class_name(x), {wide_sig(x), x.sig ? x.exp : zero_exp, format.man_bits});
}

constexpr int fp32_number = MMAU_FP32;

}  // namespace trace
