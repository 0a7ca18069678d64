// OC-FDPA and PS-FDPA by lanes: the steps of operations/oc_fdpa.hpp and ps_fdpa.hpp, with sums in 32 bits.
#pragma once

#include "accumulators.hpp"
#include "exact_products.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int headroom_length = 16;  ///< the longest step that these lanes take (products)

/// Whether the lanes can take the plan: sums of 30 bits, RNE, an order whose steps lie together.
inline bool headroom_fits_lanes(const Plan& plan) {
    if (!has_headroom(plan.operation) || plan.L > headroom_length || !products_are_exact(plan)) return false;
    const int bits = larger(plan.F + 1, plan.F + 2 - plan.h) + ceil_log2(plan.L + 1);
    const bool together = !plan.order || (plan.order % plan.L == 0 && plan.K <= max_lane_length);
    return bits <= 30 && plan.F >= plan.d.man_bits && plan.rho.mode == Mode::RNE && together;
}

/// The products of a step, exact, and the exponents at which they count.
template <class Words>
struct RaisedProducts {
    using Word = typename Words::Word;
    using Real = typename Words::Real;
    Lanes<Real> value[headroom_length];
    Lanes<int32_t> exp[headroom_length];
    Lanes<int32_t> negative[headroom_length];  ///< 0 or −1, of zeros too
    Lanes<int32_t> largest;

    RaisedProducts(Block& block, const Lanes<Word>* a, const Lanes<Word>* b, bool is_marked) {
        const Plan& plan = block.plan;
        Lanes<Word> flushed_a[headroom_length], flushed_b[headroom_length];
        if (flushes(plan, plan.a)) a = flush(a, plan.L, flushed_a);
        if (flushes(plan, plan.b)) b = flush(b, plan.L, flushed_b);
        for (int r = 0; r < lanes; ++r) largest[r] = -no_exponent;
        for (int k = 0; k < plan.L; ++k) {
            Words::multiply(a[k], b[k], value[k]);
            find_exponents(block, a[k], b[k], exp[k], negative[k], is_marked);
            for (int r = 0; r < lanes; ++r) largest[r] = larger(largest[r], exp[k][r]);
        }
    }

  private:
    static constexpr int no_exponent = 1 << 20;

    static const Lanes<Word>* flush(const Lanes<Word>* words, int count, Lanes<Word>* flushed) {
        constexpr Word sign = static_cast<Word>(~Words::field_mask);
        for (int k = 0; k < count; ++k) {
            for (int r = 0; r < lanes; ++r) {
                const Word word = words[k][r];
                flushed[k][r] = word & Words::exponent_mask ? word : static_cast<Word>(word & sign);
            }
        }
        return flushed;
    }

    static void find_exponents(Block& block, const Lanes<Word>& a, const Lanes<Word>& b, Lanes<int32_t>& exp,
                               Lanes<int32_t>& negative, bool is_marked) {
        constexpr uint32_t hidden = uint32_t{1} << Words::man_bits, field_mask = Words::field_mask;
        constexpr uint32_t exponent_mask = Words::exponent_mask;
        const Plan& plan = block.plan;
        const int32_t raise = plan.h - plan.a.bias - plan.b.bias, e_zero = plan.e_zero;
        for (int r = 0; r < lanes; ++r) {
            const uint32_t x = a[r] & field_mask, y = b[r] & field_mask;
            const uint32_t stored = (larger(x, hidden) & exponent_mask) + (larger(y, hidden) & exponent_mask);
            const auto own = static_cast<int32_t>(stored >> Words::man_bits) + raise;
            exp[r] = x && y ? own : e_zero;
            negative[r] = 0 - static_cast<int32_t>((a[r] ^ b[r]) >> (8 * sizeof(Word) - 1));
        }
        if (is_marked) return;
        for (int r = 0; r < lanes; ++r) {
            const uint32_t x = a[r] & field_mask, y = b[r] & field_mask;
            block.special[r] |= larger(x, y) >= exponent_mask ? suspect : 0;
        }
    }
};

/// 2^(F − exp) of products' words: a normal number, under which every product that is not zero counts or is cut off whole.
template <class Words>
MMAU_LANE_FN typename Words::Real unit_of(const Plan& plan, int32_t exp) {
    using Real = typename Words::Real;
    const int word_exp = plan.a.bias + plan.b.bias - 2 * Words::bias;
    const int lowest = 2 - 2 * Words::bias, highest = 2 * Words::bias + 4 + plan.F;
    return power_of_two(Real{}, plan.F - smaller(larger(exp + word_exp, lowest), highest));
}

MMAU_LANE_FN int32_t magnitude_of(int32_t x) { return x < 0 ? -x : x; }

/// A value below 2^30 as an integer toward minus infinity.
template <class Real>
MMAU_LANE_FN int32_t floor_lane(Real value) {
    const int32_t integer = cut_lane(value);
    return integer - (static_cast<Real>(integer) > value);
}

/// Steps 3 and 4 of OC-FDPA: magnitudes in the sign frame of c, out of it again.
template <class Words>
inline void sum_in_frame(const Plan& plan, const RaisedProducts<Words>& products, const Accumulators& c,
                         const Lanes<int32_t>& frame, const Lanes<int32_t>& e_max, Lanes<int32_t>& total) {
    const int up = plan.F - c.man_bits;
    for (int r = 0; r < lanes; ++r) total[r] = magnitude_of(c.sig[r]) << up >> smaller(larger(e_max[r] - c.exp[r], 0), 31);
    for (int k = 0; k < plan.L; ++k) {
        for (int r = 0; r < lanes; ++r) {
            const int32_t cut = magnitude_of(cut_lane(products.value[k][r] * unit_of<Words>(plan, e_max[r])));
            total[r] += cut ^ (products.negative[k][r] ^ frame[r]);
        }
    }
    for (int r = 0; r < lanes; ++r) total[r] = with_sign(total[r], frame[r]);
}

/// Steps 2 to 4 of PS-FDPA: floors of groups at their own exponents, floors of these and of c at e_max.
template <class Words>
inline void sum_groups(const Plan& plan, const RaisedProducts<Words>& products, const Accumulators& c,
                       const Lanes<int32_t>& e_max, Lanes<int32_t>& total) {
    const int up = plan.F - c.man_bits, F = plan.F;
    for (int r = 0; r < lanes; ++r) {
        const int32_t below = larger(e_max[r] - c.exp[r], 0);
        const int32_t aligned = static_cast<int32_t>(static_cast<uint32_t>(c.sig[r]) << up) >> smaller(below, 31);
        total[r] = below > F ? 0 : aligned;
    }
    for (int first = 0; first < plan.L; first += plan.G) {
        Lanes<int32_t> e_group, group{};
        for (int r = 0; r < lanes; ++r) e_group[r] = products.exp[first][r];
        for (int k = first + 1; k < first + plan.G; ++k) {
            for (int r = 0; r < lanes; ++r) e_group[r] = larger(e_group[r], products.exp[k][r]);
        }
        for (int k = first; k < first + plan.G; ++k) {
            for (int r = 0; r < lanes; ++r) group[r] += floor_lane(products.value[k][r] * unit_of<Words>(plan, e_group[r]));
        }
        for (int r = 0; r < lanes; ++r) total[r] += group[r] >> smaller(e_max[r] - e_group[r], 31);
    }
}

/// encode_lane, RNE, as `flush_results` has it: rounded as if exponents had no lower end, +0 below the normal numbers.
MMAU_LANE_FN uint32_t encode_flushed_lane(const LaneRounding& format, int64_t value, int64_t exp) {
    const int64_t sign = value >> 63;
    const double mag = magnitude_as_double(static_cast<uint64_t>(with_sign(value, sign)));
    const int64_t lead = exponent_of(mag);
    const uint64_t sig = round_lane<Mode::RNE>(mag, larger<int64_t>(lead - format.man_bits, -40), sign);
    const int64_t steps = lead + exp - format.e_min;
    const int64_t field = smaller((steps << format.man_bits) + static_cast<int64_t>(sig), static_cast<int64_t>(format.exponent_ones));
    const bool is_normal = mag != 0 && field >= int64_t{1} << format.man_bits;
    return static_cast<uint32_t>(((static_cast<uint64_t>(sign) & format.sign_bit) | static_cast<uint64_t>(field)) & keep_if(is_normal));
}

/// ρ of every row's total; what rounds to a zero is +0, before low bits are dropped.
template <bool flush>
inline void convert_headroom_lanes(Block& block, const Lanes<int32_t>& e_max, const Lanes<int32_t>& total) {
    const Plan& plan = block.plan;
    LaneRounding format(plan.rho.rounding_format);
    const int dropped = plan.rho.dropped_bits, F = plan.F;
    const auto negative_zero = static_cast<uint32_t>(format.sign_bit);
    const auto largest = static_cast<uint32_t>(format.exponent_ones << format.pad_bits) - 1;
    const uint32_t stops = plan.overflow == MMAU_SATURATE ? largest : ~uint32_t{0};
    Lanes<uint32_t> d;
    for (int r = 0; r < lanes; ++r) {
        const int64_t exp = e_max[r] - F;
        const uint32_t code = flush ? encode_flushed_lane(format, total[r], exp) : encode_lane<Mode::RNE>(format, total[r], exp);
        const uint32_t magnitude = smaller(code & (negative_zero - 1), stops);
        d[r] = magnitude ? ((code & negative_zero) | magnitude) >> dropped : 0;
    }
    std::memcpy(block.d, d, sizeof d);
}

/// What the general path says of a row that may be special.
MMAU_APART_FN void resolve_suspect(Block& block, int r, int k, uint32_t c_code) {
    const Plan& plan = block.plan;
    const Decoded c = decode(plan.d, c_code, flushes(plan, plan.d));
    uint64_t code = 0;
    if (find_special(RowOperands{{plan}, block.row[r], k}, c, c_code, code)) block.d[r] = static_cast<uint32_t>(code);
}

/// Rows that the lanes have marked. A special c beside finite products stays, a NaN made quiet; of the others the general path
/// says what their special terms come to.
inline void resolve_headroom(Block& block, int k, const Lanes<uint32_t>& c_codes) {
    if (!any_special(block)) return;
    const Plan& plan = block.plan;
    const uint32_t quiet = uint32_t{1} << (plan.d.man_bits - 1);
    uint32_t any_suspect = 0;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t special_c = c_codes[r] | (block.special[r] & nan_term ? quiet : 0);
        block.d[r] = block.special[r] & ~suspect ? special_c : block.d[r];
        any_suspect |= block.special[r] & suspect;
    }
    for (int r = 0; any_suspect && r < lanes; ++r) {
        if (block.special[r] & suspect) resolve_suspect(block, r, k, c_codes[r]);
    }
}

/// One step of every row of a block: products k … k+L−1 in the order of the steps.
template <class Words, class Code>
inline void headroom_lanes(Block& block, int k, const StepCodes<Code>& codes) {
    const Plan& plan = block.plan;
    Accumulators c;
    Lanes<uint32_t> c_codes;
    Lanes<int32_t> frame, e_max, total;
    std::memcpy(c_codes, block.d, sizeof c_codes);
    decode_accumulators(plan.d, block, c);
    const int32_t smallest = flushes(plan, plan.d) ? 1 << c.man_bits : 1;
    for (int r = 0; r < lanes; ++r) {
        frame[r] = static_cast<int32_t>(c_codes[r] << (32 - plan.d.storage_bits)) >> 31;
        c.sig[r] = magnitude_of(c.sig[r]) >= smallest ? c.sig[r] : 0;
        c.exp[r] = c.sig[r] ? c.exp[r] : plan.e_zero;
    }
    const Placed<Words, Code> words(block, codes);
    const RaisedProducts<Words> products(block, words.a, words.b, words.are_marked);
    for (int r = 0; r < lanes; ++r) e_max[r] = larger(products.largest[r], c.exp[r]);
    if (plan.operation == MMAU_OC_FDPA) {
        sum_in_frame(plan, products, c, frame, e_max, total);
    } else {
        sum_groups(plan, products, c, e_max, total);
    }
    plan.flush_results ? convert_headroom_lanes<true>(block, e_max, total) : convert_headroom_lanes<false>(block, e_max, total);
    resolve_headroom(block, k, c_codes);
}

/// All steps, in their order: of a row whose order is another than that of k all codes are gathered at once.
template <class Words, class Code>
inline void headroom_chain(Block& block) {
    const Plan& plan = block.plan;
    const int together = plan.order ? plan.K : max_lane_length / plan.L * plan.L;
    for (int first = 0; first < plan.K; first += together) {
        const int count = smaller(together, plan.K - first);
        const Codes<Code> codes(block, first, count);
        for (int k = 0; k < count; k += plan.L) headroom_lanes<Words>(block, first + k, codes.step(product_at(plan.order, count, k)));
    }
}

MMAU_NAMESPACE_END
