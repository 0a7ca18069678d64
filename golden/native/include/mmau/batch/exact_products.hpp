// Products in floating point, where they are exact: steps multiply, max_exp, align and accumulate.
//
// A product of two fp16, FP8, FP6 or FP4 operands is exact in fp32, one of two bf16 or tf32 operands in double. Times 2^(F −
// e_max), which is exact too, and converted to an integer, it is aligned and truncated toward zero.
#pragma once

#include "lanes.hpp"
#include "vectors.hpp"

MMAU_NAMESPACE_BEGIN

// Operands as words: sign, exponent and significand where fp16, bf16 or tf32 have them. Narrower codes are moved there and
// keep their stored exponents, so a word's value is the operand's times 2^(bias of the operand − bias of the words).

/// fp16, FP8, FP6 and FP4, but for the format that has finite numbers where fp16 has infinity.
struct HalfWords {
    using Word = uint16_t;
    using Real = float;
    static constexpr int exp_bits = 5, man_bits = 10, bias = 15;
    static constexpr Word field_mask = 0x7FFF, exponent_mask = 0x7C00;

    static bool hold(const Format& format) {
        const bool beyond = format.exp_bits == exp_bits && format.specials != Specials::ieee;
        return format.exp_bits <= exp_bits && format.man_bits <= man_bits && !beyond;
    }
    static void multiply(const Lanes<Word>& a, const Lanes<Word>& b, Lanes<Real>& product) {
        multiply_halves(a, b, product);
    }
};

/// bf16 and FP8.
struct Bf16Words {
    using Word = uint16_t;
    using Real = double;
    static constexpr int exp_bits = 8, man_bits = 7, bias = 127;
    static constexpr Word field_mask = 0x7FFF, exponent_mask = 0x7F80;

    static bool hold(const Format& format) { return format.storage_bits <= 16 && format.man_bits <= man_bits; }
    static void multiply(const Lanes<Word>& a, const Lanes<Word>& b, Lanes<Real>& product) {
        for (int r = 0; r < lanes; ++r) product[r] = value(a[r]) * value(b[r]);
    }
    MMAU_LANE_FN static double value(uint32_t word) { return bits_as<float>(word << 16); }
};

struct Tf32Words {
    using Word = uint32_t;
    using Real = double;
    static constexpr int man_bits = 23, bias = 127;  // tf32's 10 bits and 13 of padding
    static constexpr Word field_mask = 0x7FFFE000u, exponent_mask = 0x7F800000u;

    static bool hold(const Format& format) { return format.storage_bits == 32; }
    static void multiply(const Lanes<Word>& a, const Lanes<Word>& b, Lanes<Real>& product) {
        for (int r = 0; r < lanes; ++r) product[r] = value(a[r]) * value(b[r]);
    }
    MMAU_LANE_FN static double value(uint32_t word) { return bits_as<float>(word & 0xFFFFE000u); }
};

/// The words of a step's codes: here, the codes themselves.
template <class Words, class Code>
struct Placed {
    static constexpr bool are_marked = false;
    const Lanes<Code>*a, *b;

    Placed(Block&, const StepCodes<Code>& codes) : a(codes.a), b(codes.b) {}
};

/// Marks the rows that have an 8-bit code which is not finite.
inline void mark_special_codes(const Format& format, const Lanes<uint8_t>* codes, int count, Lanes<uint32_t>& special) {
    if (format.specials == Specials::finite) return;
    using Code = uint8_t;
    const bool fnuz = format.specials == Specials::fnuz;
    const auto sign = static_cast<Code>(format.sign_bit());
    const auto field_mask = static_cast<Code>(format.field_mask() << format.pad_bits);
    // fnuz: the one code that is not finite has the sign alone, and becomes the largest; else fields from special_from on.
    const Code flipped = fnuz ? field_mask : 0, mask = fnuz ? sign | field_mask : field_mask;
    const Code special_from = fnuz ? mask : static_cast<Code>(LaneFormat(format).special_from << format.pad_bits);
    Lanes<Code> largest{};
    for (int k = 0; k < count; ++k) {
        for (int r = 0; r < lanes; ++r) largest[r] = larger<Code>(largest[r], (codes[k][r] ^ flipped) & mask);
    }
    for (int r = 0; r < lanes; ++r) special[r] |= static_cast<uint32_t>(largest[r] >= special_from) * suspect;
}

/// 8-bit codes, moved; those that are not finite are marked, for as words they are numbers.
template <class Words>
struct Placed<Words, uint8_t> {
    static constexpr bool are_marked = true;
    Lanes<uint16_t> a[max_lane_length], b[max_lane_length];

    Placed(Block& block, const StepCodes<uint8_t>& codes) {
        const Plan& plan = block.plan;
        mark_special_codes(plan.a, codes.a, plan.L, block.special);
        mark_special_codes(plan.b, codes.b, plan.L, block.special);
        place(plan.a, codes.a, plan.L, a);
        place(plan.b, codes.b, plan.L, b);
    }

  private:
    /// By multiplication, for compilers make 32-bit lanes of shifts by a variable.
    static void place(const Format& format, const Lanes<uint8_t>* codes, int count, Lanes<uint16_t>* words) {
        const auto sign_unit = static_cast<uint16_t>(1u << (16 - format.width()));
        const auto field_unit = static_cast<uint16_t>(1u << (Words::man_bits - format.man_bits));
        const auto field_mask = static_cast<uint16_t>(format.field_mask() * field_unit);
        for (int k = 0; k < count; ++k) {
            for (int r = 0; r < lanes; ++r) {
                const uint16_t code = codes[k][r];
                const auto sign = static_cast<uint16_t>(code * sign_unit), field = static_cast<uint16_t>(code * field_unit);
                words[k][r] = static_cast<uint16_t>((sign & 0x8000u) | (field & field_mask));
            }
        }
    }
};

template <class Words>
inline bool are_words(const Plan& plan) {
    return Words::hold(plan.a) && Words::hold(plan.b);
}

/// Whether both operands are words of one kind, whose products ExactProducts holds.
inline bool products_are_exact(const Plan& plan) {
    const bool one_kind = are_words<HalfWords>(plan) || are_words<Bf16Words>(plan) || are_words<Tf32Words>(plan);
    return codes_fit_lanes(plan) && one_kind;
}

constexpr int narrow_fraction = 26;       ///< up to this F an aligned product is below 2^28, and eight are added in 32 bits
constexpr int widest_lane_fraction = 50;  ///< up to this F its upper bits and its lower ones are, each by themselves

/// Whether products, aligned to F bits, can be added in lanes.
inline bool products_fit_lanes(const Plan& plan) { return products_are_exact(plan) && plan.F <= widest_lane_fraction; }

/// How many aligned products are added in 32 bits, as a power of two: |aligned product| < 2^(F+2).
inline int products_together_log2(const Plan& plan) { return 29 - smaller(plan.F, narrow_fraction); }

/// The products of a step.
template <class Words>
struct ExactProducts {
    const Plan& plan;
    Lanes<typename Words::Real> value[max_lane_length];

    template <class Code>
    ExactProducts(const Plan& step_plan, const Placed<Words, Code>& words) : plan(step_plan) {
        for (int k = 0; k < plan.L; ++k) Words::multiply(words.a[k], words.b[k], value[k]);
    }
};

/// What max_exp sees of products: the largest exponent of those that are not zero, no_product_exp where all are; and whether
/// one is zero.
struct LargestProducts {
    Lanes<int32_t> exp;
    Lanes<uint32_t> any_zero;
};

/// Step max_exp over products first, first + stride, …. Marks the rows with words that are not finite, if none has yet.
template <class Words, class Code>
inline void find_largest(Block& block, const Placed<Words, Code>& words, int first, int stride, LargestProducts& found) {
    using Word = typename Words::Word;
    constexpr Word hidden = Word{1} << Words::man_bits;
    const Plan& plan = block.plan;
    Lanes<Word> largest{}, largest_operand{}, smallest;
    for (int r = 0; r < lanes; ++r) smallest[r] = Words::field_mask;
    for (int k = first; k < plan.L; k += stride) {
        for (int r = 0; r < lanes; ++r) {
            const Word a = words.a[k][r] & Words::field_mask, b = words.b[k][r] & Words::field_mask;
            const Word a_exp = larger(a, hidden) & Words::exponent_mask, b_exp = larger(b, hidden) & Words::exponent_mask;
            const Word lesser = smaller(a, b);
            const auto not_zero = static_cast<Word>(0u - static_cast<uint32_t>(lesser != 0));
            const auto exp = static_cast<Word>((a_exp + b_exp) & not_zero);
            largest[r] = larger(largest[r], exp);
            smallest[r] = smaller(smallest[r], lesser);
            largest_operand[r] = larger(largest_operand[r], larger(a, b));
        }
    }
    if (!words.are_marked) {
        for (int r = 0; r < lanes; ++r) block.special[r] |= largest_operand[r] >= Words::exponent_mask ? suspect : 0;
    }
    const int bias = plan.a.bias + plan.b.bias;
    for (int r = 0; r < lanes; ++r) {
        const int32_t exp = static_cast<int32_t>(largest[r] >> Words::man_bits) - bias;
        found.exp[r] = largest[r] ? exp : no_product_exp;
        found.any_zero[r] = smallest[r] == 0;
    }
}

/// 2^exp, of a normal number.
MMAU_LANE_FN float power_of_two(float, int32_t exp) { return bits_as<float>(static_cast<uint32_t>(exp + 127) << 23); }
MMAU_LANE_FN double power_of_two(double, int32_t exp) {
    return bits_as<double>(static_cast<uint64_t>(static_cast<int64_t>(exp) + 1023) << 52);
}

/// Σ of every `stride`-th of `count` products times `unit`, truncated toward zero, where that is too wide for 32 bits: 2^low_bits
/// of them, truncated, are added apart from what that leaves.
template <class Real>
inline void sum_cut_wide(const Lanes<Real>* products, int count, int stride, const Lanes<Real>& unit, int low_bits,
                         Lanes<int64_t>& total) {
    const Real up = power_of_two(Real{}, low_bits), down = power_of_two(Real{}, -low_bits);
    Lanes<uint32_t> high_sum{}, low_sum{};  // unsigned: a row with infinity or NaN may overflow
    for (int k = 0; k < count; k += stride) {
        for (int r = 0; r < lanes; ++r) {
            const Real aligned = products[k][r] * unit[r];
            const int32_t high = cut_lane(aligned * down);
            high_sum[r] += static_cast<uint32_t>(high);
            low_sum[r] += static_cast<uint32_t>(cut_lane(aligned - static_cast<Real>(high) * up));
        }
    }
    for (int r = 0; r < lanes; ++r) {
        const auto high = static_cast<uint64_t>(int64_t{static_cast<int32_t>(high_sum[r])});
        total[r] += static_cast<int64_t>(high << low_bits) + static_cast<int32_t>(low_sum[r]);
    }
}

/// Steps align (RZ) and accumulate over products first, first + stride, …, at the exponents e_max − exp_offset.
template <class Words>
inline void accumulate(const ExactProducts<Words>& products, int first, int stride, const Lanes<int32_t>& e_max,
                       const Lanes<int32_t>& exp_offset, Lanes<int64_t>& total) {
    using Real = typename Words::Real;
    const Plan& plan = products.plan;
    // Below `lowest` every product is zero; from `highest` on every one is truncated to zero. So a unit is a normal number, and so
    // is a product in it.
    const int word_exp = plan.a.bias + plan.b.bias - 2 * Words::bias;
    const int lowest = 2 - 2 * Words::bias, highest = 2 * Words::bias + 4 + plan.F;
    Lanes<Real> unit;
    for (int r = 0; r < lanes; ++r) {
        const int32_t exp = smaller(larger(e_max[r] - exp_offset[r] + word_exp, lowest), highest);
        unit[r] = power_of_two(Real{}, plan.F - exp);
    }
    const int together = stride << products_together_log2(plan);
    for (int group = first; group < plan.L; group += together) {
        const int count = smaller(plan.L - group, together);
        if (plan.F > narrow_fraction) {
            sum_cut_wide(products.value + group, count, stride, unit, plan.F - narrow_fraction, total);
        } else {
            Lanes<int32_t> sum;
            sum_cut(products.value + group, count, stride, unit, sum);
            for (int r = 0; r < lanes; ++r) total[r] += sum[r];
        }
    }
}

MMAU_NAMESPACE_END
