// One row of operands: which code a step sees as its k-th, under FP8 → fp16 conversion too (golden/chains/chain.py).
#pragma once

#include "plan.hpp"

MMAU_NAMESPACE_BEGIN

/// Operands of one dot product.
struct Row {
    const void *a, *b, *scale_a, *scale_b;
};

/// Address of element `index` of an array of codes; nullptr where there is no array.
MMAU_FN const void* element(const Format& format, const void* codes, int64_t index) {
    return codes ? static_cast<const char*>(codes) + index * (format.storage_bits / 8) : nullptr;
}

/// The index of the product that the steps take at position k: first those of every other run of `run` products.
MMAU_FN constexpr int product_at(int run, int K, int k) {
    if (!run) return k;
    const int half = K / 2, late = k >= half, i = late ? k - half : k;
    return i / run * 2 * run + i % run + run * late;
}

/// An FP8 code as fp16: exact, so a subnormal of e4m3 becomes a normal number.
MMAU_FN uint64_t to_fp16(const Format& source, uint64_t code) {
    const Format fp16 = format_of(MMAU_FP16);
    const Decoded x = decode(source, code);
    if (x.cls == Cls::nan) return fp16.quiet_nan();
    const uint64_t sign = x.sign ? fp16.sign_bit() : 0;
    if (x.cls == Cls::infinity) return sign | fp16.infinity();
    return sign | encode_scaled(fp16, Mode::RNE, static_cast<int64_t>(x.sig), x.exp - source.man_bits);
}

/// A plan that is known when the program runs. A kernel for a GPU is compiled for one, which its own type knows.
struct GivenPlan {
    const Plan& plan;
    MMAU_FN const Plan& operator()() const { return plan; }
};

/// The part of a row that one step takes: products from `first` on. A step knows its operands by these members alone, so that
/// another struct may hold them decoded (gpu/part.hpp).
template <class Planned>
struct OperandsOf {
    Planned plan;
    const Row& row;
    int first;

    MMAU_FN Decoded a(int k) const { return operand(plan().stored_a, plan().a, row.a, k); }
    MMAU_FN Decoded b(int k) const { return operand(plan().stored_b, plan().b, row.b, k); }
    MMAU_FN uint64_t a_code(int k) const { return load(plan().stored_a, row.a, index(k)); }
    MMAU_FN uint64_t b_code(int k) const { return load(plan().stored_b, row.b, index(k)); }
    template <class Code>
    MMAU_FN Code a_as(int index) const { return static_cast<const Code*>(row.a)[index]; }
    template <class Code>
    MMAU_FN Code b_as(int index) const { return static_cast<const Code*>(row.b)[index]; }
    MMAU_FN Decoded scale_a(int k) const { return scale(row.scale_a, k); }
    MMAU_FN Decoded scale_b(int k) const { return scale(row.scale_b, k); }

    /// Where the row has product k of the step.
    MMAU_FN int index(int k) const { return product_at(plan().order, plan().K, first + k); }

    MMAU_FN Decoded operand(const Format& stored, const Format& format, const void* codes, int k) const {
        const uint64_t code = load(stored, codes, index(k));
        return decode(format, plan().fp16_order ? to_fp16(stored, code) : code, flushes(plan(), format));
    }
    MMAU_FN Decoded scale(const void* codes, int k) const {
        return decode(plan().scale, load(plan().scale, codes, (first + k) / plan().K_block));
    }
};

using RowOperands = OperandsOf<GivenPlan>;

MMAU_NAMESPACE_END
