// The trace of one dot product as text: golden's (golden/trace/trace.py), but for its first line, which names the model.
#include "trace.hpp"

#include "float_environment.hpp"
#include "trace_parts.hpp"

namespace {

using namespace trace;
using mmau::Mode;
using mmau::Plan;
using mmau::RowOperands;

/// Looks at one step and writes its parts.
class Narrator {
  public:
    Narrator(const mmau_parameters& parameters, const RowOperands& of, int c_format, uint64_t c_code)
        : p_(parameters), plan_(of.plan()), operands_(of), c_number_(c_format), c_format_(mmau::format_of(c_format)),
          c_(mmau::is_integer_format(c_format) ? parts_of(c_format, c_code) : mmau::decode(c_format_, c_code, flushes_c())),
          firsts_(static_cast<std::size_t>(plan_.L)) {}

    /// The parts, once the step has given d.
    std::string written(uint64_t d) {
        if (plan_.operation == MMAU_IDPA) write_narrowing(d);
        if (sums_ == 0 && plan_.operation != MMAU_FTZ_ADDMUL && !mmau::is_of_processors(plan_.operation)) write_specials(d);
        if (rounding_) write_conversion(d);
        std::string all;
        for (const Lines& each : firsts_) all += each.text;
        for (const Lines& each : levels_) all += each.text;
        return all + out_.text;
    }

    template <class Int, class TermOf, class FractionBits, class Aligned>
    void sum(int number, int, int count, int e_max, const Int& total, int lsb, const TermOf& term, const FractionBits& fraction_bits,
             const Aligned& aligned) {
        std::vector<Shown> all;
        const bool is_last = is_last_sum(number);
        for (int k = 0; k < count; ++k) {
            const auto t = term(k);
            Shown each = shown("", "", {resized<Widest>(t.sig), t.exp, t.frac});
            name(each, number, k, count);
            each.lsb = e_max - fraction_bits(k);
            each.aligned = resized<Widest>(aligned(k));
            if (each.lsb > lsb) each.aligned = exactly_halved(each.aligned, each.lsb - lsb);
            const bool is_c = is_last && k == count - 1;
            each.dropped = is_c && bit_length(magnitude(each.sig)) && drops(t.exp, e_max);
            all.push_back(each);
        }
        write_sum(number, all, e_max, resized<Widest>(total), lsb);
        const bool lone_group = plan_.operation == MMAU_GTR_FDPA && plan_.L == 1 && number == 0;
        if (lone_group) {  // golden adds a group of one product to nothing
            Shown only{"even products", "", resized<Widest>(total), e_max, plan_.F, resized<Widest>(total), lsb};
            only.counts = e_max != mmau::no_product_exp;
            std::vector<Shown> group{only};
            write_sum(2, group, e_max, resized<Widest>(total), lsb);
        }
    }

    template <class Int, class TermOf, class Aligned>
    void exact_sum(int number, int, int count, const Int&, int, const TermOf& term, const Aligned&) {
        exact_sum(number, count, term);
    }
    template <class Int, class TermOf>
    void exact_sum(int number, int, int count, const Int&, int, const TermOf& term) {
        exact_sum(number, count, term);
    }

    /// The truncation of a normalised sum.
    template <class Int>
    void rounding(int, const Int& value, int exp, int last, uint64_t) {
        const bool raises = plan_.truncation == Mode::RD && is_negative(value);
        const Rounded made(value, exp, last, [&](Widest kept, bool loses) {
            if (raises && loses) kept += Widest(1);
            return kept;
        });
        write_rounding(out_, made, name_of(static_cast<int>(plan_.truncation), modes), "truncate");
    }

    template <class Int>
    void rounding_to(const Format& format, int, const Int& value, int exp, int last, uint64_t kept, bool) {
        rounding_ = std::make_unique<Rounded>(value, exp, last, [&](const Widest&, bool) { return unsigned_wide(kept); });
        rounding_->carry = kept >> (format.man_bits + 1);
        if (plan_.sticky && exp != total_lsb_) {
            const bool below = total_is_negative_ && plan_.truncation == Mode::RZ;
            out_.fact("sticky", std::string("for what alignment cut off, an amount below every bit is added, ") + (below ? "negative" : "positive"));
        }
    }

    /// The operations that round every product and every sum to fp32.
    void product(int k, float x, float y) {
        const Decoded p = flushed_input(plan_.a, operands_.a_code(k)), q = flushed_input(plan_.b, operands_.b_code(k));
        const std::string name = product_name(k);
        Lines& to = firsts_[static_cast<std::size_t>(k)];
        const uint64_t code = code_of(mmau::flushed(mmau::rounded_product(x, y)));
        const int special = special_product(p, q);
        if (special >= 0) {
            Reasons reasons;
            add_reason(reasons, name, p, q, special);
            return to.special(name, reasons, special, fp32_number, code);
        }
        std::vector<Shown> one{shown_product(name, p, q, mmau::product_frac(plan_), plan_.a.e_min() + plan_.b.e_min())};
        write_fp32(to, name, one, false, code);
    }

    void addition(int number, float x, float y) {
        if (levels_.size() <= static_cast<std::size_t>(number)) levels_.resize(static_cast<std::size_t>(number) + 1);
        const int L = plan_.L;
        std::string names[2] = {"c", products_name(0, L)};
        if (number < L - 1) {
            int level = 0, first = number;
            while (first >= L >> (level + 1)) first -= L >> ++level;
            const int run = 1 << level;
            for (int n = 0; n < 2; ++n) names[n] = products_name((2 * first + n) * run, run);
        }
        const Decoded p = fp32_parts(code_of(x)), q = fp32_parts(code_of(y));
        const uint64_t code = code_of(mmau::flushed(mmau::rounded_sum(x, y)));
        write_addition(levels_[static_cast<std::size_t>(number)], names, p, q, mmau::format_of(fp32_number), fp32_number, code, false);
    }

    void flushed_fma(int number, uint32_t x, uint32_t y, uint32_t z) {
        const bool in_turn = plan_.operation == MMAU_FTZ_FMA;
        const std::string first = product_name(in_turn ? plan_.L - 1 - number : number);
        const std::string second = in_turn ? (number ? "the sum so far" : "c") : number < 2 ? "+0" : number % 2 ? "odd sum" : "even sum";
        const Decoded p = mmau::flushed_number(x), q = mmau::flushed_number(y), r = mmau::flushed_number(z);
        const uint64_t code = mmau::flushed_fma(x, y, z);
        Reasons reasons;
        add_reason(reasons, first, p, q, special_product(p, q));
        add_reason(reasons, second, r);
        const std::string of = first + " + " + second;
        if (!reasons.empty()) return out_.special(of, reasons, combined(results_of(reasons)), fp32_number, code);
        const Format fp32 = mmau::format_of(fp32_number);
        std::vector<Shown> terms{shown_product(first, p, q, 2 * fp32.man_bits, 2 * fp32.e_min()), shown_addend(second, r, fp32, fp32.e_min())};
        write_fp32(out_, of, terms, true, code);
    }

    void flushed_addition(int number, uint32_t x, uint32_t y) {
        const bool is_last = number > plan_.L;
        const std::string names[2] = {is_last ? "c" : "even sum", is_last ? "even sum + odd sum" : "odd sum"};
        const Format fp32 = mmau::format_of(fp32_number);
        write_addition(out_, names, mmau::flushed_number(x), mmau::flushed_number(y), fp32, fp32_number, mmau::flushed_addition(x, y), true);
    }

    void integers(int64_t c, int64_t total) {
        total_ = total;
        std::vector<Shown> all;
        for (int k = 0; k < plan_.L; ++k) {
            const Decoded x = parts_of(p_.a, operands_.a_code(k)), y = parts_of(p_.b, operands_.b_code(k));
            const int64_t term = mmau::multiplies_bytes(plan_) ? mmau::combined(operands_, k) : mmau::wide_product(operands_, k);
            all.push_back(shown(product_name(k), plan_.is_xor ? "xor" : class_name(x) + "·" + class_name(y), {Widest(term), 0, 0}));
        }
        all.push_back(shown("c", class_name(c_), {Widest(c), 0, 0}));
        out_.exact_sum("products and c", all);
        ++sums_;
    }

    /// x + y in one format, to nearest even.
    static void write_addition(Lines& to, const std::string (&names)[2], const Decoded& p, const Decoded& q, const Format& format,
                               int number, uint64_t code, bool flushes) {
        Reasons reasons;
        add_reason(reasons, names[0], p);
        add_reason(reasons, names[1], q);
        const std::string of = names[0] + " + " + names[1];
        if (!reasons.empty()) return to.special(of, reasons, combined(results_of(reasons)), number, code);
        std::vector<Shown> terms{shown_addend(names[0], p, format, format.e_min()), shown_addend(names[1], q, format, format.e_min())};
        write_rounded(to, of, terms, format, number, flushes, code);
    }

  private:
    bool flushes_c() const { return mmau::flushes(plan_, c_format_); }
    int groups() const { return plan_.L / plan_.G; }
    bool has_groups() const { return plan_.operation == MMAU_GST_FDPA || plan_.operation == MMAU_PS_FDPA; }
    bool is_tr() const { return plan_.operation == MMAU_TR_FDPA || plan_.operation == MMAU_GTR_FDPA; }
    bool is_last_sum(int number) const {
        if (is_tr()) return number == (plan_.operation == MMAU_GTR_FDPA && plan_.L > 1 ? 3 : 1);
        return number == (has_groups() ? groups() : 0);
    }
    std::string product_name(int k) const {
        const std::string at = "[" + std::to_string(operands_.index(k)) + "]";
        return "a" + at + "·b" + at;
    }
    /// The sum of `count` products of the step from k on.
    std::string products_name(int k, int count) const {
        if (count == 1) return product_name(k);
        return "products " + std::to_string(operands_.index(k)) + " … " + std::to_string(operands_.index(k + count - 1));
    }
    static uint32_t code_of(float x) { return mmau::code_of<uint32_t>(x, static_cast<uint32_t>(mmau::format_of(fp32_number).quiet_nan())); }
    static Decoded fp32_parts(uint64_t code) { return mmau::decode(mmau::format_of(fp32_number), code); }
    /// A code whose subnormals are read as +0.
    static Decoded flushed_input(const Format& format, uint64_t code) {
        const Decoded x = mmau::decode(format, code);
        return x.cls == Cls::subnormal ? Decoded{0, x.exp, 0, Cls::zero} : x;
    }
    static Widest exactly_halved(const Widest& x, int bits) { return is_negative(x) ? -shifted_right(-x, bits) : shifted_right(x, bits); }

    /// Whether a c that far below counts as zero.
    bool drops(int c_exp, int e_max) const {
        if (plan_.operation == MMAU_PS_FDPA) return c_exp < e_max - plan_.F;
        return plan_.operation == MMAU_GTR_FDPA && c_exp < e_max - plan_.F - 1;
    }

    /// The name and the classes of term k of a sum.
    void name(Shown& each, int number, int k, int count) {
        const bool is_last = is_last_sum(number);
        if (is_last && k == count - 1) {
            each.name = "c";
            each.classes = class_name(c_);
        } else if (is_last && has_groups()) {
            each.name = "group " + std::to_string(k);
            each.counts = something_[static_cast<std::size_t>(k)];
        } else if ((is_last && is_tr()) || (plan_.operation == MMAU_GTR_FDPA && number == 2)) {
            each.name = is_last ? "T" : k ? "odd products" : "even products";
            each.counts = each.exp != mmau::no_product_exp;
        } else {
            const bool by_turns = plan_.operation == MMAU_GTR_FDPA && plan_.L > 1;
            const int product = by_turns ? 2 * k + number : has_groups() ? number * plan_.G + k : k;
            const Decoded x = operands_.a(product), y = operands_.b(product);
            each.name = product_name(product);
            each.classes = class_name(x) + "·" + class_name(y);
            each.counts = false;  // a zero among products sets nothing
            if (plan_.operation == MMAU_ST_FDPA) write_scale(each, product, x, y);
        }
        if (is_last && k == count - 1) each.counts = false;
        const bool is_group = is_last && plan_.operation == MMAU_GST_FDPA && k < count - 1;
        if (is_group) {
            const Shown& own = group_terms_[static_cast<std::size_t>(k)];
            each.sig = own.sig, each.exp = own.exp, each.frac = own.frac;
        }
    }

    Decoded scale(bool of_b, int k) const { return of_b ? operands_.scale_b(k) : operands_.scale_a(k); }
    std::string scale_text(bool of_b, int k) const {
        const Decoded x = scale(of_b, k);
        return exact_text(wide_sig(x), x.exp - plan_.scale.man_bits);
    }
    void write_scaling(const std::string& of, const std::string& before, int k, const Shown& after) {
        out_.fact("scale " + of, before + " × " + scale_text(false, k) + " × " + scale_text(true, k) + " = " +
                                     exact_text(after.sig, after.own_lsb()) + " at exp " + std::to_string(after.exp));
    }

    /// A product under its scales; a zero has as many fraction bits as any.
    void write_scale(Shown& each, int k, const Decoded& x, const Decoded& y) {
        each.frac = mmau::product_frac(plan_) + 2 * plan_.scale.man_bits;
        const Widest sig(mmau::signed_sig(x) * mmau::signed_sig(y));
        write_scaling(each.name, exact_text(sig, x.exp + y.exp - mmau::product_frac(plan_)), k, each);
    }

    void write_sum(int number, std::vector<Shown>& all, int e, const Widest& total, int lsb) {
        ++sums_;
        total_lsb_ = lsb;
        total_is_negative_ = is_negative(total);
        const bool is_last = is_last_sum(number), adds_groups = number == 2 && !is_last;  // of GTR-FDPA
        std::string of = "products and c", exponent = "e_max", truncation = name_of(static_cast<int>(plan_.truncation), modes);
        if (has_groups()) {
            of = is_last ? "groups and c" : "products of group " + std::to_string(number);
            exponent = is_last ? "e_max" : "e_group";
        }
        if (plan_.operation == MMAU_PS_FDPA) truncation = "RD";
        if (plan_.operation == MMAU_OC_FDPA) truncation = "RZ, one's complement in the sign frame of c";
        if (is_tr()) {
            const bool grouped = plan_.operation == MMAU_GTR_FDPA;
            exponent = is_last ? "e_out" : grouped && !adds_groups ? "e_max" : "e_dot";
            of = is_last ? "T and c" : !grouped ? "products" : adds_groups ? "groups" : number ? "odd products" : "even products";
            if (!is_last && !adds_groups) truncation = "RZ";
        }
        std::string set_by;
        bool any = false;
        int last = all[0].lsb;
        for (const Shown& each : all) {
            const bool nonzero = bit_length(magnitude(each.sig));
            any = any || nonzero;
            last = std::min(last, each.lsb);
            if (each.exp == e && (nonzero || each.counts)) set_by += (set_by.empty() ? "" : ", ") + each.name;
        }
        if (!is_last) something_.push_back(any);
        out_.terms(of, all);
        out_.fact("max_exp", exponent + " = " + std::to_string(e) + ", set by " + (set_by.empty() ? "the floor of terms without a significand" : set_by));
        out_.fact("align", std::to_string(e - last) + " fraction bits at " + exponent + ", " + truncation);
        out_.picture(all, total, lsb, &e);
    }

    template <class TermOf>
    void exact_sum(int number, int count, const TermOf& term) {
        std::vector<Shown> all;
        const bool adds = plan_.operation == MMAU_ADD || plan_.operation == MMAU_CVT;
        for (int k = 0; k < count; ++k) {
            const bool is_c = !adds && plan_.operation != MMAU_MUL && plan_.operation != MMAU_GST_FDPA && k == count - 1;
            if (adds) {
                const Format& format = k ? plan_.b : plan_.a;
                const std::string at = "[" + std::to_string(operands_.index(0)) + "]";
                all.push_back(shown_addend((k ? "b" : "a") + at, k ? operands_.b(0) : operands_.a(0), format, format.e_min()));
            } else if (is_c) {
                all.push_back(shown_addend("c", c_, c_format_, c_format_.e_min()));
            } else {
                const int product = plan_.operation == MMAU_GST_FDPA ? number * plan_.G + k : k;
                all.push_back(shown_product(product_name(product), operands_.a(product), operands_.b(product), mmau::product_frac(plan_),
                                            plan_.a.e_min() + plan_.b.e_min()));
            }
        }
        (void)term;
        ++sums_;
        const std::string of = plan_.operation == MMAU_ADD   ? "a and b"
                               : plan_.operation == MMAU_CVT ? "a"
                               : plan_.operation == MMAU_MUL ? "product"
                                                             : "products and c";
        if (plan_.operation != MMAU_GST_FDPA) return out_.exact_sum(of, all);
        out_.exact_sum("products of group " + std::to_string(number), all);
        add_group(number, all);
    }

    /// The term that a group becomes under its scales.
    void add_group(int number, const std::vector<Shown>& products) {
        const int k = number * plan_.G, lsb = products[0].lsb;
        Widest total(0);
        bool any = false;
        for (const Shown& each : products) {
            total += each.aligned;
            any = any || bit_length(magnitude(each.sig));
        }
        const Decoded alpha = operands_.scale_a(k), beta = operands_.scale_b(k);
        const bool counts = any && alpha.sig && beta.sig;
        Shown term;
        term.name = "group " + std::to_string(number);
        term.frac = 2 * plan_.scale.man_bits - lsb;
        term.exp = counts ? alpha.exp + beta.exp : plan_.e_zero;
        if (counts) term.sig = times(times(total, alpha), beta);
        write_scaling(term.name, exact_text(total, lsb), k, term);
        something_.push_back(counts);
        group_terms_.push_back(term);
    }
    static Widest times(const Widest& x, const Decoded& scale) {
        Widest product(0);
        for (int bit = 0; bit < 64; ++bit) {
            if (scale.sig >> bit & 1) product += shifted_left(x, bit);
        }
        return scale.sign ? -product : product;
    }

    void write_narrowing(uint64_t d) {
        const int64_t beyond = total_ - mmau::wide_integer_of(plan_.d, d);
        std::string lost;
        if (beyond) {
            lost = "; " + name_of(plan_.overflow, overflows) + ": " + std::to_string(beyond < 0 ? -beyond : beyond) + " too " + (beyond > 0 ? "large" : "small");
        }
        out_.fact("narrow", std::to_string(total_) + lost + " → " + described(c_number_, d));
    }

    void write_conversion(uint64_t d) {
        const std::string mode = name_of(static_cast<int>(plan_.rho.mode), modes);
        write_rounding(out_, *rounding_, mode);
        const bool made_positive = rounding_->negative && !d && mmau::within(plan_.operation, MMAU_T_FDPA, MMAU_GST_FDPA);
        const uint64_t code = made_positive ? plan_.d.negative_zero() : d;
        if (!plan_.rho.dropped_bits) return write_code(out_, p_.d, code, rounding_->note(p_.d, code));
        // what it was rounded to, before low bits were dropped
        const int to = mmau::rounded_to(p_);
        Widest value = rounding_->negative ? -rounding_->rounded : rounding_->rounded;
        mmau::NoObserver nobody;
        const uint64_t rounded = mmau::encode_scaled(plan_.rho.rounding_format, Mode::RZ, value, rounding_->last, plan_.overflow, plan_.flush_results, nobody, 0);
        std::string note = rounding_->note(to, rounded);
        const bool drops = (note.empty() || note == "subnormal") && rounded & ((uint64_t{1} << plan_.rho.dropped_bits) - 1);
        if (drops) note += (note.empty() ? "low " : "; low ") + std::to_string(plan_.rho.dropped_bits) + " bits dropped";
        write_code(out_, p_.d, d, note);
    }

    static void write_fp32(Lines& to, const std::string& of, std::vector<Shown>& terms, bool flushes, uint64_t code) {
        write_rounded(to, of, terms, mmau::format_of(fp32_number), fp32_number, flushes, code);
    }

    /// The exact sum of a few terms, rounded to nearest even at once.
    static void write_rounded(Lines& to, const std::string& of, std::vector<Shown>& terms, const Format& format, int number, bool flushes,
                              uint64_t code) {
        to.exact_sum(of, terms);
        Widest total(0);
        int lsb = terms[0].own_lsb();
        for (const Shown& each : terms) lsb = std::min(lsb, each.own_lsb());
        for (const Shown& each : terms) total += shifted_left(each.sig, each.own_lsb() - lsb);
        struct Once {
            std::unique_ptr<Rounded> made;
            void rounding_to(const Format& d, int, const Widest& value, int exp, int last, uint64_t kept, bool) {
                made = std::make_unique<Rounded>(value, exp, last, [&](const Widest&, bool) { return unsigned_wide(kept); });
                made->carry = kept >> (d.man_bits + 1);
            }
        } once;
        mmau::encode_scaled(format, Mode::RNE, total, lsb, MMAU_INFINITY, flushes, once, 0);
        write_rounding(to, *once.made, "RNE");
        write_code(to, number, code, once.made->note(number, code));
    }

    void write_specials(uint64_t d) {
        Reasons reasons;
        if (plan_.operation == MMAU_ADD || plan_.operation == MMAU_CVT) {
            const std::string at = "[" + std::to_string(operands_.index(0)) + "]";
            add_reason(reasons, "a" + at, operands_.a(0));
            if (plan_.operation == MMAU_ADD) add_reason(reasons, "b" + at, operands_.b(0));
            return out_.special("d", reasons, combined(results_of(reasons)), p_.d, d);
        }
        if (mmau::has_headroom(plan_.operation)) return write_causes(d);
        add_products(reasons, [](const Decoded&, const Decoded&) { return true; });
        if (plan_.operation != MMAU_MUL) add_reason(reasons, "c", c_);
        if (mmau::has_scales(plan_.operation)) add_scales(reasons);
        out_.special("d", reasons, result(), p_.d, d);
    }

    /// The special result of the step.
    int result() const {
        if (!mmau::has_scales(plan_.operation)) {
            std::vector<int> found;
            for (int k = 0; k < plan_.L; ++k) found.push_back(of_product(operands_.a(k), operands_.b(k)));
            if (plan_.operation != MMAU_MUL) found.push_back(special_term(c_));
            return combined(found);
        }
        const mmau::Special special = mmau::sum_special(operands_, c_);
        return special.nan || (special.infinite[0] && special.infinite[1]) ? nan_result : special.infinite[1] ? minus : 0;
    }

    int of_product(const Decoded& x, const Decoded& y) const {
        const int special = special_product(x, y);
        return special < 0 && is_tr() && mmau::product_overflows(plan_, x, y) ? x.sign ^ y.sign : special;
    }

    template <class Chosen>
    void add_products(Reasons& reasons, const Chosen& chosen) const {
        for (int k = 0; k < plan_.L; ++k) {
            Decoded x = operands_.a(k);
            const Decoded y = operands_.b(k);
            if (!chosen(x, y)) continue;
            if (mmau::has_scales(plan_.operation)) x.sign ^= operands_.scale_a(k).sign ^ operands_.scale_b(k).sign;
            add_reason(reasons, product_name(k), x, y, of_product(x, y));
        }
    }

    /// NaN factors, else invalid products, else all of them.
    void write_causes(uint64_t d) {
        const auto has_nan = [](const Decoded& x, const Decoded& y) { return x.cls == Cls::nan || y.cls == Cls::nan; };
        Reasons reasons;
        add_products(reasons, has_nan);
        const bool of_nan = !reasons.empty();
        if (!of_nan) add_products(reasons, [](const Decoded&, const Decoded&) { return true; });
        const int products = combined(results_of(reasons));
        int decided = products;
        if (!of_nan && products != nan_result) {
            add_reason(reasons, "c", c_);
            decided = c_.cls == Cls::nan ? nan_result : combined(results_of(reasons));
        }
        out_.special("d", reasons, decided, p_.d, d);
    }

    void add_scales(Reasons& reasons) const {
        const Reasons before = reasons;
        struct Named {
            std::string name;
            Decoded scale;
            int products;
        };
        std::vector<Named> named;
        const int size = plan_.K_block;
        for (const bool of_b : {false, true}) {
            for (int first = 0; first < plan_.L; first += size) {
                std::vector<int> found;
                for (int k = first; k < std::min(first + size, plan_.L); ++k) {
                    mmau::Special special;
                    Decoded x = operands_.a(k), alpha = operands_.scale_a(k), beta = operands_.scale_b(k);
                    x.sign ^= alpha.sign ^ beta.sign;
                    alpha.sign = beta.sign = 0;
                    special.add_scaled(x, operands_.b(k), alpha, beta);
                    found.push_back(special.nan ? nan_result : special.infinite[0] ? 0 : special.infinite[1] ? minus : -1);
                }
                named.push_back({std::string("scale_") + (of_b ? "b" : "a") + "[" + std::to_string(first / size) + "]", scale(of_b, first), combined(found)});
            }
        }
        bool infinite = false;
        for (const Named& each : named) {
            if (each.scale.cls == Cls::nan) reasons.push_back({each.name + " is NaN", nan_result});
        }
        for (const Reason& each : reasons) infinite = infinite || each.result != nan_result;
        for (const Named& each : named) {
            const bool is_infinite = each.scale.cls == Cls::infinity;
            if (is_infinite && each.products >= 0) reasons.push_back({each.name + " is infinite", each.products});
            infinite = infinite || is_infinite;
        }
        for (const Named& each : named) {
            if (infinite && each.scale.cls == Cls::zero) reasons.push_back({each.name + " is zero, under it an infinite product is 0·∞", nan_result});
        }
    }

    const mmau_parameters& p_;
    const Plan& plan_;
    const RowOperands& operands_;
    int c_number_;
    Format c_format_;
    Decoded c_;
    Lines out_;
    std::vector<Lines> firsts_, levels_;  // rounded products, and sums of them
    std::unique_ptr<Rounded> rounding_;
    std::vector<Shown> group_terms_;
    std::vector<bool> something_;  // of each earlier sum: whether a term of it is not zero
    int sums_ = 0, total_lsb_ = 0;
    bool total_is_negative_ = false;
    int64_t total_ = 0;
};

// The hooks of the operations that have their own, found where a step is made for a Narrator.
[[maybe_unused]] void observe_product(Narrator& see, int k, float x, float y) { see.product(k, x, y); }
[[maybe_unused]] void observe_addition(Narrator& see, const Plan&, int number, float x, float y) { see.addition(number, x, y); }
[[maybe_unused]] void observe_flushed_fma(Narrator& see, int number, uint32_t x, uint32_t y, uint32_t z) { see.flushed_fma(number, x, y, z); }
[[maybe_unused]] void observe_flushed_addition(Narrator& see, int number, uint32_t x, uint32_t y) { see.flushed_addition(number, x, y); }
template <class Operands>
void observe_integers(Narrator& see, const Operands&, int64_t c, int64_t total) {
    see.integers(c, total);
}

Row operand_row(const std::string& name, int format, uint64_t code) {
    const Decoded x = parts_of(format, code);
    const bool finite = x.cls < Cls::infinity;
    return {name, padded_hex(code, mmau::format_of(format).storage_bits), split(format, code), class_name(x), sign_text(x.sign),
            finite ? std::to_string(x.exp) : "", finite ? hex_of(unsigned_wide(x.sig)) : ""};
}

const Row operand_header = {"operand", "code", "bits", "class", "sign", "exp", "sig"};

std::string title_of(const RowOperands& operands, int step, int steps) {
    const int L = operands.plan().L;
    std::string listed = std::to_string(operands.index(0));
    bool in_a_row = true;
    for (int k = 1; k < L; ++k) {
        in_a_row = in_a_row && operands.index(k) == operands.index(0) + k;
        listed += ", " + std::to_string(operands.index(k));
    }
    const std::string range = std::to_string(operands.index(0)) + " … " + std::to_string(operands.index(L - 1));
    const std::string products = L == 1 ? "product " + listed : "products " + (in_a_row ? range : listed);
    return "step " + std::to_string(step + 1) + " of " + std::to_string(steps) + ": " + products;
}

/// The table of a step's operands.
void write_operands(Lines& to, const mmau_parameters& p, const RowOperands& operands, int c_format, uint64_t c) {
    const Plan& plan = operands.plan();
    std::vector<Row> cells{operand_header};
    const bool has_b = plan.operation != MMAU_CVT, has_c = has_b && plan.operation != MMAU_MUL && plan.operation != MMAU_ADD;
    for (const bool of_b : {false, true}) {
        for (int k = 0; k < plan.L && (has_b || !of_b); ++k) {
            const Format& stored = of_b ? plan.stored_b : plan.stored_a;
            const uint64_t code = of_b ? operands.b_code(k) : operands.a_code(k);
            const std::string name = std::string(of_b ? "b" : "a") + "[" + std::to_string(operands.index(k)) + "]";
            if (plan.fp16_order) cells.push_back(operand_row(name, MMAU_FP16, mmau::to_fp16(stored, code)));
            else cells.push_back(operand_row(name, of_b ? p.b : p.a, code));
        }
    }
    if (has_c) cells.push_back(operand_row("c", c_format, c));
    for (const bool of_b : {false, true}) {
        for (int k = 0; k < plan.L && mmau::has_scales(plan.operation); k += plan.K_block) {
            const void* codes = of_b ? operands.row.scale_b : operands.row.scale_a;
            const std::string name = std::string(of_b ? "scale_b" : "scale_a") + "[" + std::to_string(k / plan.K_block) + "]";
            cells.push_back(operand_row(name, p.scale, mmau::load(plan.scale, codes, (operands.first + k) / plan.K_block)));
        }
    }
    to.rows(cells);
}

template <class Int>
uint64_t narrated(Narrator& see, const RowOperands& operands, const Format& c_format, uint64_t c) {
    if (operands.plan().operation == MMAU_FMA) return mmau::fma_step(operands, c, see);
    return mmau::step<Int>(operands, c_format, c, see);
}

}  // namespace

std::string trace::text_of(const mmau_parameters& p, const mmau::Row& row, uint64_t c) {
    const Plan plan = mmau::make_plan(p);
    const mmau::DefaultFloatEnvironment environment;
    Lines out;
    uint64_t d = plan.fp16_order ? 0 : c;
    const int steps = plan.K / plan.L, d_number = mmau::has_rho(p.operation) ? p.d : p.c;
    for (int step = 0; step < steps; ++step) {
        const RowOperands operands{{plan}, row, step * plan.L};
        const int c_number = step ? d_number : p.c;
        const Format c_format = mmau::format_of(c_number);
        out.line("\n" + title_of(operands, step, steps));
        write_operands(out, p, operands, c_number, d);
        Narrator see(p, operands, c_number, d);
        d = plan.narrow ? narrated<int64_t>(see, operands, c_format, d) : narrated<Widest>(see, operands, c_format, d);
        out.text += see.written(d);
        out.fact("d", described(d_number, d));
    }
    if (plan.fp16_order) {
        const std::string names[2] = {"sum of the products", "c"};
        out.line("\nc added at the end, RNE in " + format_name(d_number));
        out.rows({operand_header, operand_row(names[0], d_number, d), operand_row(names[1], d_number, c)});
        const uint64_t sum = mmau::rounded_addition(plan.d, d, c);
        Narrator::write_addition(out, names, mmau::decode(plan.d, d), mmau::decode(plan.d, c), plan.d, d_number, sum, false);
        out.fact("d", described(d_number, sum));
    }
    return out.text;
}
