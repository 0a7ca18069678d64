// Operands of a matrix product, decoded once for many elements: a panel of 32 columns of B, and rows of A, over a part of K.
//
// An element is kept as its exponent and as its value in fp32, which holds formats of at most 16 bits, and tf32, exactly.
// The scale of an element's block is a power of two, which joins both: after that ST-FDPA has the steps of T-FDPA.
#pragma once

#include "transpose.hpp"
#include "lanes.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int panel_length = 128;   ///< products that are decoded at a time
constexpr int panel_rows = 64;      ///< rows of A that meet a panel once it is decoded
constexpr int16_t zero_exp = -8192; ///< exponent of a zero: with any other below every e_zero and every product

/// Exponents of the elements that are not zero, and whether all are finite.
struct ExponentRange {
    int32_t smallest = 1 << 14, largest = -(1 << 14);
    uint32_t special = 0;
};

inline ExponentRange joined(const ExponentRange& x, const ExponentRange& y) {
    return {smaller(x.smallest, y.smallest), larger(x.largest, y.largest), x.special | y.special};
}

/// The same in lanes.
struct LaneRanges {
    Lanes<int32_t> smallest, largest;
    Lanes<uint32_t> special;

    LaneRanges() {
        const ExponentRange none;
        for (int r = 0; r < lanes; ++r) smallest[r] = none.smallest, largest[r] = none.largest, special[r] = 0;
    }
    ExponentRange all() const {
        ExponentRange range;
        for (int r = 0; r < lanes; ++r) range = joined(range, {smallest[r], largest[r], special[r]});
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

    explicit ElementFormat(const Format& format)
        : lane(format), bias(format.bias), man_bits(format.man_bits), has_fp32_exponents(format.exp_bits == 8),
          float_shift(32 - format.width()), float_mask(~((1u << format.pad_bits) - 1)) {}
};

/// Step decode of 32 codes.
template <bool has_fp32_exponents, class Code>
inline void decode_elements(const ElementFormat& format, const Lanes<Code>& codes, Lanes<float>& value, Lanes<int16_t>& exp,
                            LaneRanges& ranges) {
    const ExponentRange none;
    const LaneFormat lane = format.lane;
    const int bias = format.bias, float_bias = 127 - format.bias - format.man_bits, float_shift = format.float_shift;
    const uint32_t float_mask = format.float_mask;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t code = codes[r];
        const Lane x = decode_lane(lane, code);
        const int32_t unbiased = x.exp - bias;
        const bool zero = x.sig == 0;
        exp[r] = static_cast<int16_t>(zero ? zero_exp : unbiased);
        ranges.smallest[r] = smaller(ranges.smallest[r], zero ? none.smallest : unbiased);
        ranges.largest[r] = larger(ranges.largest[r], zero ? none.largest : unbiased);
        ranges.special[r] |= x.special;
        if constexpr (has_fp32_exponents) {
            value[r] = bits_as<float>((code << float_shift) & float_mask);
        } else {
            const float unit = bits_as<float>(static_cast<uint32_t>(x.exp + float_bias) << 23);
            value[r] = static_cast<float>(with_sign(static_cast<int32_t>(x.sig), x.sign)) * unit;
        }
    }
}

template <class Code>
inline void decode_elements(const ElementFormat& format, const Lanes<Code>& codes, Lanes<float>& value, Lanes<int16_t>& exp,
                            LaneRanges& ranges) {
    format.has_fp32_exponents ? decode_elements<true>(format, codes, value, exp, ranges)
                              : decode_elements<false>(format, codes, value, exp, ranges);
}

/// Exponents that elements of HalfWords keep under their scales: their values are normal numbers of fp32, and a scale of
/// 2^−127, which fp32 has as a subnormal number, leaves none of them among these.
constexpr int smallest_scaled_exp = -110, largest_scaled_exp = 126;

/// Step scale of 32 elements, each by a ue8m0 code; `ranges` are those of the scaled elements.
inline void scale_elements(const Lanes<uint8_t>& scale, Lanes<float>& value, Lanes<int16_t>& exp, LaneRanges& ranges) {
    constexpr int scale_bias = 127;
    const ExponentRange none;
    for (int r = 0; r < lanes; ++r) {
        const uint32_t code = scale[r];
        const bool zero = exp[r] == zero_exp;
        const int32_t scaled = exp[r] + static_cast<int32_t>(code) - scale_bias;
        exp[r] = static_cast<int16_t>(zero ? zero_exp : scaled);
        value[r] *= bits_as<float>(code << 23);
        ranges.smallest[r] = smaller(ranges.smallest[r], zero ? none.smallest : scaled);
        ranges.largest[r] = larger(ranges.largest[r], zero ? none.largest : scaled);
        ranges.special[r] |= code == 0xFF;
    }
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

/// Rows of A that a step takes at once: with registers for two, one does not wait for the other.
#ifdef __AVX512DQ__
constexpr int step_rows = 2;
#else
constexpr int step_rows = 1;
#endif

using Rows = const RowElements* [step_rows];
using Accumulating = Lanes<uint32_t>* [step_rows];  ///< codes of the accumulators of each

MMAU_NAMESPACE_END
