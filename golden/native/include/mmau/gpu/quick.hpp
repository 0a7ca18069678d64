// T-, ST-, TR- and GTR-FDPA on a GPU, the short way: exponents in pairs of 16 bits, products exact in fp32, sums in 32 bits. Scales
// of ST-FDPA are powers of two, which join the elements as they are decoded.
//
// A product has at most 22 bits, so that fp32 holds it, and holds it times the power of two that aligns it: what the conversion
// to an integer then drops is what alignment truncates. Operands whose products leave fp32's normal numbers, and special ones,
// are told by the row of their part; their steps, and those of special accumulators, are computed from memory by the general way.
#pragma once

#include "product.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int quick_zero_exp = -8192;      ///< of an element that is zero: below every exponent, also when it is doubled
constexpr int quick_smallest_exp = -100;   ///< of a product that is not zero (exponent value); 22 bits below it are normal
constexpr int quick_largest_exp = 125;     ///< of a product: it is below 4·2^125
constexpr int quick_fraction = 26;         ///< most F: 2^(F − exponent) of every such product is a normal number
constexpr int quick_largest_sum_exp = 119; ///< of a term of a sum that stays below 2^128
constexpr int quick_largest_value_exp = 127, quick_smallest_value_exp = -126; ///< of an element that fp32 holds, under its scale

/// T- and ST-FDPA, whose terms c is one of; TR- and GTR-FDPA add it to the rounded sum.
MMAU_FN constexpr bool sums_with_c(const Plan& plan) { return plan.operation == MMAU_T_FDPA || plan.operation == MMAU_ST_FDPA; }

/// T-FDPA whose e_zero is a floor of e_max whether or not there is a zero among the terms; TR-FDPA has a lower one. GTR-FDPA of
/// a single product is TR-FDPA.
MMAU_FN constexpr bool is_quick(const Plan& plan) {
    const bool is_floor = plan.e_zero <= plan.c.e_min() && plan.e_zero <= plan.d.e_min();
    const bool is_t = sums_with_c(plan) && plan.truncation == Mode::RZ && is_floor;
    const bool is_tr = plan.operation == MMAU_TR_FDPA || plan.operation == MMAU_GTR_FDPA;
    const bool fits = plan.L % 2 == 0 && plan.L <= usual_depth && plan.F <= quick_fraction && plan.narrow;
    return (is_t || is_tr) && fits && !plan.own_keys && !plan.fp16_order && !plan.order;
}

/// Products whose aligned sum is below 2^31: each is below 2^(F+2).
MMAU_FN constexpr int quick_together(const Plan& plan) { return 1 << (29 - plan.F); }

/// 2^n as fp32, subnormal ones too.
MMAU_FN float quick_power(int n) {
    return bits_as<float>(n < -126 ? 1u << (n + 149) : static_cast<uint32_t>(n + 127) << 23);
}

/// In each half of a word max(x + y, z): numbers of 16 bits.
MMAU_FN uint32_t add_max_pairs(uint32_t x, uint32_t y, uint32_t z) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return __viaddmax_s16x2(x, y, z);
#else
    const auto half = [](uint32_t pair, int n) { return static_cast<int>(static_cast<int16_t>(pair >> 16 * n)); };
    const int low = larger(half(x, 0) + half(y, 0), half(z, 0)), high = larger(half(x, 1) + half(y, 1), half(z, 1));
    return (static_cast<uint32_t>(low) & 0xFFFF) | static_cast<uint32_t>(high) << 16;
#endif
}

MMAU_FN uint32_t pair_of(int low, int high) { return (static_cast<uint32_t>(low) & 0xFFFF) | static_cast<uint32_t>(high) << 16; }

/// An integer as fp32, toward zero.
MMAU_FN float cut_to_float(int64_t x) {
#ifdef __CUDA_ARCH__
    const int narrow = static_cast<int>(x);
    return narrow == x ? __int2float_rz(narrow) : __ll2float_rz(x);
#else
    const uint64_t mag = magnitude(x);
    const int dropped = larger(bit_length(mag) - 24, 0);
    const auto cut = static_cast<float>(mag >> dropped << dropped);
    return x < 0 ? -cut : cut;
#endif
}

template <class Word>
struct alignas(4 * sizeof(Word)) Four {
    Word of[4];
};

/// The exponents of a row's elements in a part: smallest and largest; of specials a largest that fits no product.
struct ExponentSpan {
    int smallest, largest;

    MMAU_FN void add(const Decoded& x) {
        if (x.cls == Cls::zero) return;
        smallest = smaller(smallest, x.exp);
        largest = larger(largest, x.cls >= Cls::infinity ? 4096 : x.exp);
    }
};

/// What a thread keeps: the accumulators of four rows by four columns.
struct QuickAccumulated {
    uint32_t d[4][4];
};

/// Offsets in the memory of a block: values and pairs of exponents by product, then row; spans by side, turn and row.
struct QuickLayout {
    static constexpr int turns = block_threads / (2 * tile_side);
    static constexpr int side = tile_side * usual_depth * static_cast<int>(sizeof(float));
    static constexpr int exps = 2 * side, spans = exps + side, bytes = spans + 2 * turns * tile_side * 4;
};

/// A step of one element by the general way, from memory; rows beyond D count as its last.
template <class Int, class Planned>
MMAU_CALLED_FN uint64_t step_from_memory(const Product<Planned>& product, int64_t i, int64_t j, int k, uint64_t d) {
    const Plan& plan = product.plan();
    const Row row = product.row(smaller(i, product.rows() - 1), smaller(j, product.columns() - 1));
    return step_of_any<Int>(OperandsOf<Planned>{Planned(), row, k}, k ? plan.d : plan.c, d);
}

template <class Planned>
struct QuickPart {
    const Product<Planned>& product;
    Corner corner;
    int start, count;
    unsigned char* memory;

    template <class Word>
    MMAU_FN Word* at(int offset) const {
        return reinterpret_cast<Word*>(memory + offset);
    }

    MMAU_FN void load_side(const Format& format, const void* codes, const void* scales, int side, int row, int turn) const {
        const Plan& plan = product.plan();
        float* values = at<float>(side * QuickLayout::side);
        uint32_t* exps = at<uint32_t>(QuickLayout::exps + side * QuickLayout::side / 2);
        ExponentSpan span{4096, -4096};
        for (int k = 2 * turn; k < count; k += 2 * QuickLayout::turns) {
            int exp[2];
            for (int n = 0; n < 2; ++n) {
                Decoded x = decode(format, mmau::load(format, codes, start + k + n));
                if (has_scales(plan.operation)) {
                    const Decoded scale = decode(plan.scale, mmau::load(plan.scale, scales, (start + k + n) / plan.K_block));
                    x.exp = larger(x.exp + scale.exp, quick_smallest_value_exp - 1);  // lower ones do not fit either
                    if (scale.cls == Cls::nan) x.cls = Cls::nan;
                }
                const float sig = static_cast<float>(static_cast<int>(x.sig));
                values[(k + n) * tile_side + row] = (x.sign ? -sig : sig) * quick_power(x.exp - format.man_bits);
                exp[n] = x.cls == Cls::zero ? quick_zero_exp : x.exp;
                span.add(x);
            }
            exps[k / 2 * tile_side + row] = pair_of(exp[0], exp[1]);
        }
        at<uint32_t>(QuickLayout::spans)[(side * QuickLayout::turns + turn) * tile_side + row] = pair_of(span.smallest, span.largest);
    }

    /// The span of four rows of a side.
    MMAU_FN ExponentSpan span_of(int side, int four) const {
        ExponentSpan span{4096, -4096};
        for (int turn = 0; turn < QuickLayout::turns; ++turn) {
            for (int n = 0; n < 4; ++n) {
                const uint32_t pair = at<uint32_t>(QuickLayout::spans)[(side * QuickLayout::turns + turn) * tile_side + 4 * four + n];
                span.smallest = smaller(span.smallest, static_cast<int>(static_cast<int16_t>(pair)));
                span.largest = larger(span.largest, static_cast<int>(static_cast<int16_t>(pair >> 16)));
            }
        }
        return span;
    }

    MMAU_FN Four<float> values(int side, int k, int four) const {
        return at<Four<float>>(side * QuickLayout::side)[k * (tile_side / 4) + four];
    }
    MMAU_FN Four<uint32_t> exps(int side, int pair, int four) const {
        return at<Four<uint32_t>>(QuickLayout::exps + side * QuickLayout::side / 2)[pair * (tile_side / 4) + four];
    }
};

/// Whether fp32 holds such elements.
MMAU_FN bool values_fit(const ExponentSpan& x) {
    return x.largest <= quick_largest_value_exp && x.smallest >= quick_smallest_value_exp;
}

/// Whether every product of such elements is a normal number of fp32, or zero.
MMAU_FN bool products_fit(const ExponentSpan& a, const ExponentSpan& b, bool scaled) {
    const bool fit = a.largest + b.largest <= quick_largest_exp && a.smallest + b.smallest >= quick_smallest_exp;
    return fit && (!scaled || (values_fit(a) && values_fit(b)));
}

/// d of T-FDPA: c joins the sum at e_max, ρ. False, and d as it was, where the general way must compute it.
MMAU_FN bool finish_t_fdpa(const Plan& plan, const Format& c_format, const Decoded& z, int64_t total, int e_max, uint32_t& d) {
    const bool is_fp32 = plan.rho.mode == Mode::RZ && plan.d.storage_bits == 32 && c_format.storage_bits == 32;
    if (z.cls >= Cls::infinity) return false;
    if (!is_fp32) {
        NoObserver nobody;
        if (z.sig) total += align<int64_t>(addend(z, c_format, plan.e_zero), e_max, plan.F, Mode::RZ);
        d = static_cast<uint32_t>(convert_sum(plan, total, e_max, false, nobody));
        return true;
    }
    // Between these limits the sum is below 2^128, and one unit of it is a normal number, so that scaling is exact. Below them
    // only c can be other than zero.
    if (e_max > quick_largest_sum_exp || (e_max < plan.F - 126 && z.sig)) return false;
    const int exp = larger(e_max, plan.F - 126);
    total += static_cast<int>(bits_as<float>(d) * quick_power(plan.F - exp));
    const float sum = cut_to_float(total) * quick_power(exp - plan.F);
    d = bits_as<uint32_t>(sum) & ~((1u << plan.rho.rounding_format.pad_bits) - 1);
    return true;
}

/// d of TR-FDPA from the truncated sum at exponent e_dot.
MMAU_FN bool finish_tr_fdpa(const Plan& plan, const Decoded& z, int64_t total, int e_dot, uint32_t& d) {
    if (z.cls >= Cls::infinity) return false;
    NoObserver nobody;
    d = static_cast<uint32_t>(round_with_c(plan, Term<int64_t>{total, e_dot, plan.F}, z, nobody));
    return true;
}

/// Of an element the exponent at which its products are summed: of all; or of the even ones, and of the odd ones.
template <int sums>
struct SumExponents {
    int of[sums];
};

template <int sums>
MMAU_FN SumExponents<sums> sum_exponents(const Plan& plan, uint32_t pair, const Decoded& z) {
    const int even = static_cast<int16_t>(pair), odd = static_cast<int16_t>(pair >> 16), largest = larger(even, odd);
    SumExponents<sums> found;
    found.of[0] = sums == 1 ? largest : even;
    found.of[sums - 1] = sums == 1 ? largest : odd;
    for (int n = 0; n < sums; ++n) {
        const int own = found.of[n];
        found.of[n] = sums_with_c(plan) ? larger(larger(own, plan.e_zero), z.sig ? z.exp : plan.e_zero) : larger(own, no_product_exp);
    }
    return found;
}

/// d of a step from its truncated sums. False, and d as it was, where the general way must compute it.
template <int sums>
MMAU_FN bool finish(const Plan& plan, const Format& c_format, const Decoded& z, const int64_t (&sum)[sums],
                    const SumExponents<sums>& exp, uint32_t& d) {
    if (sums_with_c(plan)) return finish_t_fdpa(plan, c_format, z, sum[0], exp.of[0], d);
    const int e_dot = larger(exp.of[0], exp.of[sums - 1]);
    int64_t total = 0;
    for (int n = 0; n < sums; ++n) total += align<int64_t>(Term<int64_t>{sum[n], exp.of[n], plan.F}, e_dot, plan.F, plan.truncation);
    return finish_tr_fdpa(plan, z, total, e_dot, d);
}

/// A step of a thread's elements: products k … k+L−1 of a part, whose operands fit; one sum of all, or one of the even and one
/// of the odd products.
template <class Int, int sums, class Planned>
MMAU_FN void quick_step(const QuickPart<Planned>& part, int k, bool fits, int rows, int columns, QuickAccumulated& own) {
    const Plan& plan = part.product.plan();
    const Format& c_format = part.start + k ? plan.d : plan.c;
    // the largest exponents, of the even products and of the odd ones
    uint32_t pairs[4][4];
#pragma unroll
    for (int n = 0; n < 16; ++n) pairs[n / 4][n % 4] = pair_of(2 * quick_zero_exp, 2 * quick_zero_exp);
#pragma unroll
    for (int pair = 0; pair < plan.L / 2; ++pair) {
        const Four<uint32_t> a = part.exps(0, k / 2 + pair, rows), b = part.exps(1, k / 2 + pair, columns);
#pragma unroll
        for (int n = 0; n < 16; ++n) pairs[n / 4][n % 4] = add_max_pairs(a.of[n / 4], b.of[n % 4], pairs[n / 4][n % 4]);
    }
    float unit[4][4][sums];
    int64_t total[4][4][sums];
#pragma unroll
    for (int n = 0; n < 16; ++n) {
        const auto exp = sum_exponents<sums>(plan, pairs[n / 4][n % 4], decode(c_format, own.d[n / 4][n % 4]));
        for (int of = 0; of < sums; ++of) {
            unit[n / 4][n % 4][of] = quick_power(plan.F - larger(exp.of[of], plan.F - 126));
            total[n / 4][n % 4][of] = 0;
        }
    }
    // products, aligned and truncated; as many together as 32 bits hold
#pragma unroll
    for (int first = 0; fits && first < plan.L; first += quick_together(plan)) {
        int sum[4][4][sums] = {};
#pragma unroll
        for (int at = first; at < smaller(first + quick_together(plan), plan.L); ++at) {
            const Four<float> a = part.values(0, k + at, rows), b = part.values(1, k + at, columns);
#pragma unroll
            for (int n = 0; n < 16; ++n) {
                sum[n / 4][n % 4][at % sums] += static_cast<int>(a.of[n / 4] * b.of[n % 4] * unit[n / 4][n % 4][at % sums]);
            }
        }
#pragma unroll
        for (int n = 0; n < 16; ++n) {
            for (int of = 0; of < sums; ++of) total[n / 4][n % 4][of] += sum[n / 4][n % 4][of];
        }
    }
#pragma unroll
    for (int n = 0; n < 16; ++n) {
        uint32_t& d = own.d[n / 4][n % 4];
        const Decoded z = decode(c_format, d);
        const auto exp = sum_exponents<sums>(plan, pairs[n / 4][n % 4], z);
        const auto& sum = total[n / 4][n % 4];
        if (fits && finish<sums>(plan, c_format, z, sum, exp, d)) continue;
        const int64_t i = part.corner.row + 4 * rows + n / 4, j = part.corner.column + 4 * columns + n % 4;
        d = static_cast<uint32_t>(step_from_memory<Int>(part.product, i, j, part.start + k, d));
    }
}

/// What a thread has of a part, rows of a or of b, into the block's memory.
template <class Part>
MMAU_FN void load_part(const Part& part, int thread) {
    const Plan& plan = part.product.plan();
    const auto [row, turn, is_of_b, from] = turn_of(part.product, part.corner, thread);
    if (is_of_b) {
        part.load_side(plan.b, from.b, from.scale_b, 1, row, turn);
    } else {
        part.load_side(plan.a, from.a, from.scale_a, 0, row, turn);
    }
}

/// A block's tile of D, four rows by four columns a thread: `part_of` is a part of K, which every thread helps to load, `step` does
/// the steps of a part for a thread's elements.
template <class Planned, class PartOf, class Step>
MMAU_FN void compute_by_fours(const Product<Planned>& product, int64_t number, int depth, Block<QuickAccumulated>& block,
                              const PartOf& part_of, const Step& step) {
    const Plan& plan = product.plan();
    const mmau_batch& batch = product.batch;
    const Corner corner = corner_of(product, number);
    const auto place = [](int thread, int n) {
        return Place{thread / tile_across * 4 + n / 4, thread % tile_across * 4 + n % 4};
    };
    block.each([&](int thread, QuickAccumulated& own) {
#pragma unroll
        for (int n = 0; n < 16; ++n) {
            const Place at = place(thread, n);
            const bool reads = is_within(product, corner, at);
            own.d[n / 4][n % 4] = reads ? static_cast<uint32_t>(load(plan.c, batch.c, index_in_d(product, corner, at))) : 0;
        }
    });
#pragma unroll 1
    for (int start = 0; start < product.K; start += depth) {
        const auto part = part_of(corner, start, smaller(depth, product.K - start));
        block.each([&](int thread, QuickAccumulated&) { load_part(part, thread); });
        block.each([&](int thread, QuickAccumulated& own) { step(part, thread / tile_across, thread % tile_across, own); });
    }
    block.each([&](int thread, QuickAccumulated& own) {
#pragma unroll
        for (int n = 0; n < 16; ++n) {
            const Place at = place(thread, n);
            if (is_within(product, corner, at)) store(plan.d, batch.d, index_in_d(product, corner, at), own.d[n / 4][n % 4]);
        }
    });
}

/// A block's tile of D, as compute_tile, of a plan that is quick.
template <class Int, int sums, class Planned>
MMAU_FN void compute_quick_tile(const Product<Planned>& product, int64_t number, unsigned char* memory,
                                Block<QuickAccumulated>& block) {
    const Plan& plan = product.plan();
    const auto part_of = [&](const Corner& corner, int start, int count) {
        return QuickPart<Planned>{product, corner, start, count, memory};
    };
    const auto step = [&](const QuickPart<Planned>& part, int rows, int columns, QuickAccumulated& own) {
        const bool fits = products_fit(part.span_of(0, rows), part.span_of(1, columns), has_scales(plan.operation));
#pragma unroll 1
        for (int k = 0; k < part.count; k += plan.L) quick_step<Int, sums>(part, k, fits, rows, columns, own);
    };
    compute_by_fours(product, number, usual_depth / plan.L * plan.L, block, part_of, step);
}

MMAU_NAMESPACE_END
