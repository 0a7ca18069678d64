// Operands of a matrix product, decoded once for many elements: a panel of 32 columns of B, and rows of A, over a part of K.
//
// An element is kept as its exponent and as its value in fp32, which holds formats of at most 16 bits, and tf32, exactly.
// The scale of an element's block is a power of two, which joins both: after that ST-FDPA has the steps of T-FDPA.
#pragma once

#include "transpose.hpp"
#include "lanes.hpp"
#include "vectors.hpp"

MMAU_NAMESPACE_BEGIN

// Vectors as wide as a register, for compilers take wider ones apart.
#if defined(__AVX512BW__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
typedef uint8_t HalfByteVector __attribute__((vector_size(vector_bytes / 2)));
typedef int16_t ExpVector __attribute__((vector_size(vector_bytes)));
typedef float FloatVector __attribute__((vector_size(vector_bytes)));
typedef int32_t IntVector __attribute__((vector_size(vector_bytes)));
constexpr int exp_vector_lanes = vector_bytes / 2, vector_lanes = vector_bytes / 4;

constexpr int panel_length = 128;   ///< products that are decoded at a time
constexpr int panel_rows = 64;      ///< rows of A whose steps are computed in turn: what they need lies in the nearest cache
constexpr int16_t zero_exp = -8192; ///< exponent of a zero: with any other below every e_zero and every product

/// Exponents of the elements that are not zero, and whether all are finite.
struct ExponentRange {
    int32_t smallest = 1 << 14, largest = -(1 << 14);
    uint32_t special = 0;
};

inline ExponentRange joined(const ExponentRange& x, const ExponentRange& y) {
    return {smaller(x.smallest, y.smallest), larger(x.largest, y.largest), x.special | y.special};
}

/// A value in every lane.
MMAU_LANE_FN ExpVector in_all_lanes(int value) { return ExpVector{} + static_cast<int16_t>(value); }

/// Some lanes of an array as a vector of 16-bit ones.
MMAU_LANE_FN ExpVector exp_vector(const int16_t* from) {
    ExpVector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}
MMAU_LANE_FN ExpVector exp_vector(const uint16_t* from) { return exp_vector(reinterpret_cast<const int16_t*>(from)); }
MMAU_LANE_FN ExpVector exp_vector(const uint8_t* from) {
    HalfByteVector bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return __builtin_convertvector(bytes, ExpVector);
}

/// The same in lanes.
struct LaneRanges {
    static constexpr int parts = lanes / exp_vector_lanes;
    ExpVector smallest[parts], largest[parts], special[parts];

    LaneRanges() {
        const ExponentRange none;
        for (int i = 0; i < parts; ++i) {
            smallest[i] = in_all_lanes(none.smallest), largest[i] = in_all_lanes(none.largest), special[i] = ExpVector{};
        }
    }

    /// Lanes of part i: their exponents, and where they are not finite.
    MMAU_LANE_FN void join(int i, ExpVector exp, ExpVector is_special) {
        const ExponentRange none;
        const ExpVector low = exp == zero_exp ? in_all_lanes(none.smallest) : exp;
        const ExpVector high = exp == zero_exp ? in_all_lanes(none.largest) : exp;
        smallest[i] = low < smallest[i] ? low : smallest[i];
        largest[i] = high > largest[i] ? high : largest[i];
        special[i] |= is_special;
    }

    ExponentRange all() const {
        ExponentRange range;
        for (int i = 0; i < parts; ++i) {
            for (int r = 0; r < exp_vector_lanes; ++r) {
                range = joined(range, {smallest[i][r], largest[i][r], static_cast<uint32_t>(special[i][r] != 0)});
            }
        }
        return range;
    }
};

/// The constants that take elements of a format apart, and make floats of them.
struct ElementFormat {
    LaneFormat lane;
    int bias, man_bits;
    bool has_fp32_exponents;  ///< bf16 and tf32: the upper bits of a float
    int float_shift;          ///< by which such a code moves up to its place in a float
    uint32_t float_mask;
    bool extends_to_half;  ///< with more bits it is a code of fp16, whose value is 2^(bias − 15) times the element's

    explicit ElementFormat(const Format& format)
        : lane(format), bias(format.bias), man_bits(format.man_bits), has_fp32_exponents(format.exp_bits == 8),
          float_shift(32 - format.width()), float_mask(~((1u << format.pad_bits) - 1)),
          extends_to_half(format.exp_bits < 5 || (format.exp_bits == 5 && format.specials == Specials::ieee)) {}
};

/// Step decode of 32 codes: exponents.
template <class Code>
MMAU_LANE_FN void decode_exps(const ElementFormat& format, const Lanes<Code>& codes, Lanes<int16_t>& exp, LaneRanges& ranges) {
    const auto limited = [](uint32_t field) { return static_cast<int16_t>(smaller(field, 0x7FFFu)); };
    const LaneFormat& lane = format.lane;
    const int16_t field_mask = limited(lane.field_mask), special_from = limited(lane.special_from);
    for (int i = 0; i < LaneRanges::parts; ++i) {
        const ExpVector code = exp_vector(codes + i * exp_vector_lanes), field = code & field_mask;
        const ExpVector stored = field >> format.man_bits, one = in_all_lanes(1);
        const ExpVector unbiased = (stored > one ? stored : one) - static_cast<int16_t>(format.bias);
        const ExpVector found = field == 0 ? in_all_lanes(zero_exp) : unbiased;
        const ExpVector is_nan_code = code == static_cast<int16_t>(lane.nan_code);
        ranges.join(i, found, (field >= special_from) | is_nan_code);
        std::memcpy(exp + i * exp_vector_lanes, &found, sizeof found);
    }
}

template <>
MMAU_LANE_FN void decode_exps(const ElementFormat& format, const Lanes<uint32_t>& codes, Lanes<int16_t>& exp, LaneRanges& ranges) {
    Lanes<int16_t> special;
    for (int r = 0; r < lanes; ++r) {
        const Lane x = decode_lane(format.lane, codes[r]);
        exp[r] = static_cast<int16_t>(x.sig ? x.exp - format.bias : zero_exp);
        special[r] = static_cast<int16_t>(x.special);
    }
    for (int r = 0; r < lanes; r += exp_vector_lanes) ranges.join(r / exp_vector_lanes, exp_vector(exp + r), exp_vector(special + r));
}

/// Step decode of 32 codes: values.
template <class Code>
MMAU_LANE_FN void decode_values(const ElementFormat& format, const Lanes<Code>& codes, Lanes<float>& value) {
    if (format.has_fp32_exponents) {
        const int shift = format.float_shift;
        const uint32_t mask = format.float_mask;
        for (int r = 0; r < lanes; ++r) value[r] = bits_as<float>((uint32_t{codes[r]} << shift) & mask);
        return;
    }
    const LaneFormat lane = format.lane;
#ifdef __F16C__
    if (format.extends_to_half) {
        const int sign_up = lane.sign_shift - 16, up = 10 - format.man_bits;
        Lanes<uint16_t> half;
        for (int r = 0; r < lanes; ++r) {
            half[r] = static_cast<uint16_t>((codes[r] << sign_up & 0x8000u) | (codes[r] & lane.field_mask) << up);
        }
        return widen_halves(half, power_of_two(float{}, 15 - format.bias), value);
    }
#endif
    const int float_bias = 127 - format.bias - format.man_bits;
    for (int r = 0; r < lanes; ++r) {
        const Lane x = decode_lane(lane, codes[r]);
        const float unit = bits_as<float>(static_cast<uint32_t>(x.exp + float_bias) << 23);
        value[r] = static_cast<float>(with_sign(static_cast<int32_t>(x.sig), x.sign)) * unit;
    }
}

template <class Code>
MMAU_LANE_FN void decode_elements(const ElementFormat& format, const Lanes<Code>& codes, Lanes<float>& value, Lanes<int16_t>& exp,
                                  LaneRanges& ranges) {
    decode_exps(format, codes, exp, ranges);
    decode_values(format, codes, value);
}

/// Exponents that elements of HalfWords keep under their scales: their values are normal numbers of fp32, and a scale of
/// 2^−127, which fp32 has as a subnormal number, leaves none of them among these.
constexpr int smallest_scaled_exp = -110, largest_scaled_exp = 126;

/// Step scale of 32 elements, each by a ue8m0 code; `ranges` are those of the scaled elements.
inline void scale_elements(const Lanes<uint8_t>& scale, Lanes<float>& value, Lanes<int16_t>& exp, LaneRanges& ranges) {
    constexpr int16_t scale_bias = 127, scale_nan = 0xFF;
    for (int r = 0; r < lanes; r += exp_vector_lanes) {
        const ExpVector code = exp_vector(scale + r), unscaled = exp_vector(exp + r);
        const ExpVector scaled = unscaled == zero_exp ? unscaled : unscaled + code - scale_bias;
        ranges.join(r / exp_vector_lanes, scaled, code == scale_nan);
        std::memcpy(exp + r, &scaled, sizeof scaled);
    }
    for (int r = 0; r < lanes; ++r) value[r] *= bits_as<float>(uint32_t{scale[r]} << 23);
}

/// The range of scaled elements; special too where a value may not be a number of fp32.
inline ExponentRange scaled_range(const ExponentRange& scaled, uint32_t special) {
    const bool any = scaled.smallest <= scaled.largest;
    const bool fits = !any || (scaled.smallest >= smallest_scaled_exp && scaled.largest <= largest_scaled_exp);
    return joined(scaled, {scaled.smallest, scaled.largest, special | !fits});
}

/// A part of 32 columns of B: the elements of one k side by side.
struct Panel {
    alignas(64) Lanes<float> value[panel_length];
    alignas(64) Lanes<int16_t> exp[panel_length];
    ExponentRange range;

    /// Products first … first + count − 1 of the block's columns.
    void decode(const Format& format, const Block& block, int first, int count) {
        switch (format.storage_bits) {
            case 8: return decode_as<uint8_t>(format, block, first, count);
            case 16: return decode_as<uint16_t>(format, block, first, count);
            default: return decode_as<uint32_t>(format, block, first, count);
        }
    }

    /// Step scale: each K_block of the `count` elements by the columns' next code.
    void scale(const Block& block, int K_block, int count) {
        LaneRanges ranges;
        for (int first = 0; first < count; first += K_block) {
            Lanes<uint8_t> codes;
            for (int r = 0; r < lanes; ++r) codes[r] = static_cast<const uint8_t*>(block.row[r].scale_b)[first / K_block];
            const int end = smaller(first + K_block, count);
            for (int k = first; k < end; ++k) scale_elements(codes, value[k], exp[k], ranges);
        }
        range = scaled_range(ranges.all(), range.special);
    }

  private:
    template <class Code>
    void decode_as(const Format& format, const Block& block, int first, int count) {
        const ElementFormat elements(format);
        Lanes<Code> codes[panel_length];
        gather(block, &Row::b, first, count, codes);
        LaneRanges ranges;
        for (int k = 0; k < count; ++k) decode_elements(elements, codes[k], value[k], exp[k], ranges);
        range = ranges.all();
    }
};

/// A part of a row of A: its elements one after the other.
struct RowElements {
    alignas(64) float value[panel_length];
    alignas(64) int16_t exp[panel_length];
    alignas(64) int32_t biased_exp[panel_length];  ///< under fp32's bias, in both halves: a vector of them is one load
    ExponentRange range;

    void bias_exps() {
        for (int k = 0; k < panel_length; ++k) biased_exp[k] = static_cast<int32_t>(static_cast<uint16_t>(exp[k] + 127) * 0x10001u);
    }

    /// `count` elements from `codes` on.
    void decode(const Format& format, const void* codes, int count) {
        switch (format.storage_bits) {
            case 8: return decode_as<uint8_t>(format, codes, count);
            case 16: return decode_as<uint16_t>(format, codes, count);
            default: return decode_as<uint32_t>(format, codes, count);
        }
    }

    /// Step scale: each K_block of the `count` elements by the next code.
    void scale(const void* codes, int K_block, int count) {
        uint8_t code_of[panel_length] = {};
        for (int first = 0; first < count; first += K_block) {
            const uint8_t code = static_cast<const uint8_t*>(codes)[first / K_block];
            std::memset(code_of + first, code, static_cast<size_t>(smaller(K_block, count - first)));
        }
        LaneRanges ranges;
        for (int k = 0; k < count; k += lanes) {
            Lanes<float>& values = *reinterpret_cast<Lanes<float>*>(value + k);
            Lanes<int16_t>& exps = *reinterpret_cast<Lanes<int16_t>*>(exp + k);
            scale_elements(*reinterpret_cast<Lanes<uint8_t>*>(code_of + k), values, exps, ranges);
        }
        range = scaled_range(ranges.all(), range.special);
    }

  private:
    template <class Code>
    void decode_as(const Format& format, const void* codes, int count) {
        const ElementFormat elements(format);
        LaneRanges ranges;
        for (int k = 0; k < count; k += lanes) {
            Lanes<Code> some{};  // zeros behind the last element
            std::memcpy(some, static_cast<const Code*>(codes) + k, sizeof(Code) * static_cast<size_t>(smaller(lanes, count - k)));
            Lanes<float>& values = *reinterpret_cast<Lanes<float>*>(value + k);
            Lanes<int16_t>& exps = *reinterpret_cast<Lanes<int16_t>*>(exp + k);
            decode_elements(elements, some, values, exps, ranges);
        }
        range = ranges.all();
    }
};

/// Rows of A that are taken together: with registers for two, one does not wait for the other.
#ifdef __AVX512DQ__
constexpr int step_rows = 2;
#else
constexpr int step_rows = 1;
#endif

using Rows = const RowElements* const*;
using Accumulating = Lanes<uint32_t>* const*;  ///< codes of the accumulators of each

MMAU_NAMESPACE_END
