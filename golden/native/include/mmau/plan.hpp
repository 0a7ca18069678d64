// A plan: the parameters of a dot product, checked, with everything that follows from them.
#pragma once

#include "rounding.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int max_length = 1024;      ///< golden's limit on L
constexpr int max_fraction = 128;     ///< golden's limit on F and F2 (bits)
constexpr int exponent_limit = 1024;  ///< golden's limit on |e_zero| (exponent value)
constexpr int max_headroom = 8;       ///< golden's limit on h (exponent value)
constexpr int max_K = 1 << 30;        ///< K is an int, as are sums of a few K
constexpr int widest_sum = 630;       ///< bits of the widest integer, sign and carries of a rounding aside

struct Plan {
    int operation;                        // enum mmau_operation
    int fp16_order;                       // enum mmau_fp16_order
    Format stored_a, stored_b;            // what the arrays hold
    Format a, b;                          // what a step multiplies
    Format c, d;                          // d is also the accumulator's format from the second step on
    Format scale;
    Conversion rho;
    Mode truncation;
    bool sticky, flush_inputs, flush_results;
    int overflow;                         // enum mmau_overflow
    int nan;                              // FMA, MUL, ADD, CVT: enum mmau_nan
    bool ieee_zero;                       // E-FDPA: MMAU_IEEE_ZERO
    bool own_keys;                        // a key is set, or a format is there, that lanes do not know
    bool is_usual;                        // lanes know all formats
    bool machine_fma;                     // FMA as the machine has it, but for NaN: fp32 or fp64, RNE
    int K, L, F, F2, G, K_block, e_zero;  // L fitted to K
    int h;                                // how far a product counts above its own exponent
    bool is_xor;                          // IDPA: MMAU_XOR
    int order;                            // products of a run (mmau.h), 0: by k; of a converted chain that of fp16_order
    int blocks;                           // scales of A, and of B, in a row
    bool narrow;                          // every exact sum fits int64_t
};

MMAU_FN constexpr bool within(int value, int low, int high) { return low <= value && value <= high; }

/// Fraction bits of an exact product's significand.
MMAU_FN constexpr int product_frac(const Plan& plan) { return plan.a.man_bits + plan.b.man_bits; }

MMAU_FN constexpr bool has_scales(int operation) { return operation == MMAU_ST_FDPA || operation == MMAU_GST_FDPA; }

/// OC- and PS-FDPA: products count h exponents above their own.
MMAU_FN constexpr bool has_headroom(int operation) { return operation == MMAU_OC_FDPA || operation == MMAU_PS_FDPA; }

/// Whether a subnormal of that operand's format is read as a zero: in OC- and PS-FDPA only what is subnormal in fp32 too.
MMAU_FN constexpr bool flushes(const Plan& plan, const Format& format) {
    return plan.flush_inputs && (!has_headroom(plan.operation) || format.e_min() == format_of(MMAU_FP32).e_min());
}

/// The operations that processors run: without ρ, with rules of their own for subnormals, NaN and overflow.
MMAU_FN constexpr bool is_of_processors(int operation) { return within(operation, MMAU_FTZ_FMA, MMAU_IDPA); }

/// FMA, MUL, ADD and CVT: one product or none, rounded as IEEE 754 says.
MMAU_FN constexpr bool is_ieee(int operation) {
    return operation == MMAU_FMA || operation == MMAU_MUL || operation == MMAU_ADD || operation == MMAU_CVT;
}

/// Whether a ρ ends the operation.
MMAU_FN constexpr bool has_rho(int operation) { return operation != MMAU_FTZ_ADDMUL && !is_of_processors(operation); }

/// The formats that lanes multiply, and that they add to and round to.
MMAU_FN constexpr bool lanes_multiply(int format) {
    constexpr int known[] = {MMAU_FP64, MMAU_FP32, MMAU_TF32, MMAU_FP16, MMAU_BF16, MMAU_E5M2, MMAU_E4M3, MMAU_E4M3FNUZ,
                             MMAU_E5M2FNUZ, MMAU_E3M2, MMAU_E2M3, MMAU_E2M1, MMAU_E4M3IEEE};
    for (const int each : known) {
        if (format == each) return true;
    }
    return is_integer_format(format) && format_of(format).width() <= 8;
}
MMAU_FN constexpr bool is_accumulator(int format) {
    return format == MMAU_FP32 || format == MMAU_FP16 || format == MMAU_BF16;
}
MMAU_FN constexpr bool lanes_add(int format) {
    return is_accumulator(format) || format == MMAU_FP64 || format == MMAU_E8M13 || format == MMAU_INT32;
}

/// A format that scales may have, and whether lanes know those of an operation, if it has any.
MMAU_FN constexpr bool is_scale(int format) {
    return is_number_format(format) && format_of(format).width() <= 32 && !format_of(format).pad_bits;
}
MMAU_FN constexpr bool lanes_scale(const mmau_parameters& p) {
    if (!has_scales(p.operation) || p.scale == MMAU_UE8M0) return true;
    return p.operation == MMAU_GST_FDPA && p.scale == MMAU_UE4M3;
}

/// A format that a sum may have: with a sign, and all of its word.
MMAU_FN constexpr bool is_addend(int format) {
    return is_number_format(format) && format_of(format).is_signed && !format_of(format).pad_bits;
}

/// Integers as factors, of at most 8 bits and of at most 16; and as sums, with a sign.
MMAU_FN constexpr bool is_factor_integer(int format) { return is_integer_format(format) && format_of(format).width() <= 8; }
MMAU_FN constexpr bool is_short_integer(int format) { return is_integer_format(format) && format_of(format).width() <= 16; }
MMAU_FN constexpr bool is_integer_sum(int format) {
    return is_integer_format(format) && format_of(format).is_signed && format_of(format).width() >= 8;
}

/// Two formats whose products have significands of 62 bits at most.
MMAU_FN constexpr bool are_multiplied(int a, int b) {
    return is_number_format(a) && is_number_format(b) && format_of(a).man_bits + format_of(b).man_bits <= 60;
}

/// The formats that each operation takes, as in golden/operations/.
MMAU_FN constexpr bool formats_fit(const mmau_parameters& p) {
    switch (p.operation) {
        case MMAU_FMA: {
            const bool widens = p.a == MMAU_BF16 && p.c == MMAU_FP32;
            return is_addend(p.c) && format_of(p.c).subnormals && p.b == p.a && (p.c == p.a || widens);
        }
        case MMAU_MUL:
        case MMAU_ADD: return is_addend(p.a) && format_of(p.a).subnormals && p.b == p.a && p.c == p.a;
        case MMAU_CVT: return is_number_format(p.a) && p.b == p.a && p.c == p.d;
        case MMAU_FTZ_FMA:
        case MMAU_FTZ_EO_FMA:
        case MMAU_FTZ_ADDMUL: return (p.a == MMAU_FP16 || p.a == MMAU_BF16) && p.b == p.a && p.c == MMAU_FP32;
        case MMAU_IDPA: return is_short_integer(p.a) && is_short_integer(p.b) && is_integer_sum(p.c);
        case MMAU_TR_FDPA:
        case MMAU_GTR_FDPA: return are_multiplied(p.a, p.b) && p.c == MMAU_FP32;
        case MMAU_OC_FDPA:
        case MMAU_PS_FDPA: return are_multiplied(p.a, p.b) && is_accumulator(p.c);
        default: return are_multiplied(p.a, p.b) && is_addend(p.c) && format_of(p.c).man_bits <= 60;
    }
}

MMAU_FN constexpr bool fits_fp16(int format) { return format == MMAU_E4M3 || format == MMAU_E5M2; }

MMAU_FN constexpr int fitted_length(const mmau_parameters& p) {
    return is_ieee(p.operation) ? 1 : smaller(p.L, p.K);
}

MMAU_FN constexpr int check_lengths(const mmau_parameters& p) {
    if (!within(p.K, 1, max_K)) return MMAU_BAD_K;
    if (p.operation == MMAU_FMA) return MMAU_OK;
    if (is_ieee(p.operation)) return p.K == 1 ? MMAU_OK : MMAU_BAD_K;
    const int L = fitted_length(p);
    if (!within(p.L, 1, max_length) || p.K % L) return MMAU_BAD_L;
    if (p.operation == MMAU_FTZ_ADDMUL && (p.L & (p.L - 1) || L & (L - 1))) return MMAU_BAD_L;
    if (p.operation == MMAU_FTZ_EO_FMA && (p.L % 2 || L % 2)) return MMAU_BAD_L;
    return MMAU_OK;
}

MMAU_FN constexpr int check_scales(const mmau_parameters& p) {
    const int L = fitted_length(p);
    if (!within(p.K_block, 1, max_length) || (p.K_block % L && L % p.K_block)) return MMAU_BAD_K_BLOCK;
    if (!is_scale(p.scale)) return MMAU_BAD_SCALE;
    if (p.operation == MMAU_ST_FDPA) return MMAU_OK;
    return within(p.G, 1, max_length) && L % p.G == 0 && p.K_block % p.G == 0 ? MMAU_OK : MMAU_BAD_G;
}

/// Whether a chain of more than one step can take its own result as c (TR- and GTR-FDPA take fp32 alone).
MMAU_FN constexpr bool accumulates(const mmau_parameters& p) {
    const bool takes_fp32_alone = p.operation == MMAU_TR_FDPA || p.operation == MMAU_GTR_FDPA;
    return !takes_fp32_alone || p.K == fitted_length(p) || p.d == MMAU_FP32;
}

/// What the sum is rounded to.
MMAU_FN constexpr int rounded_to(const mmau_parameters& p) { return p.rounded ? p.rounded : p.d; }

/// Whether a code of the format that a sum is rounded to is one of d, or is after it lost its low bits.
MMAU_FN constexpr bool is_stored(int rounded, int d) {
    if (rounded == d) return is_addend(d);
    const Format from = format_of(rounded), to = format_of(d);
    const bool alike = is_number_format(rounded) && is_addend(d) && from.is_signed && from.exp_bits == to.exp_bits &&
                       from.bias == to.bias && from.specials == Specials::ieee && to.specials == Specials::ieee;
    return alike && from.subnormals && to.subnormals && from.width() >= to.width();
}

/// Whether the operation has that ρ: CVT any, FMA, MUL and ADD those to c's format, OC- and PS-FDPA too, TR- and GTR-FDPA those to
/// fp32, fp16 and bf16; OC- and PS-FDPA alone drop bits of what they round to.
MMAU_FN constexpr bool rho_fits(const mmau_parameters& p) {
    if (!within(p.rho, 0, MMAU_MODES - 1) || !is_stored(rounded_to(p), p.d)) return false;
    const bool drops = format_of(rounded_to(p)).width() > format_of(p.d).width(), is_whole = rounded_to(p) == p.d;
    if (p.operation == MMAU_CVT) return !drops;
    if (is_ieee(p.operation)) return is_whole && p.d == p.c;
    if (has_headroom(p.operation)) return p.d == p.c;
    const bool is_rounded = p.operation == MMAU_TR_FDPA || p.operation == MMAU_GTR_FDPA;
    return !drops && (is_accumulator(p.d) || !is_rounded);
}

/// The products of the runs that a converted chain takes by turns.
MMAU_FN constexpr int run_of(int fp16_order) { return fp16_order == MMAU_PAIRS_OF_FOUR ? 2 : fp16_order == MMAU_EVEN_ODD ? 1 : 0; }

MMAU_FN constexpr bool order_fits(const mmau_parameters& p) {
    if (p.order == 0) return true;
    const bool is_run = within(p.order, 1, 8) && (p.order & (p.order - 1)) == 0;
    return is_run && (has_headroom(p.operation) || p.operation == MMAU_IDPA) && p.K % (2 * p.order) == 0;
}

/// The keys that every operation with a ρ has.
MMAU_FN constexpr int check_range_keys(const mmau_parameters& p) {
    if (!within(p.flush_inputs, 0, 1) || !within(p.flush_results, 0, 1)) return MMAU_BAD_FLUSH;
    return within(p.overflow, 0, MMAU_BY_MODE) ? MMAU_OK : MMAU_BAD_OVERFLOW;
}

MMAU_FN constexpr int check_truncation(const mmau_parameters& p) {
    if (p.truncation != MMAU_RZ && p.truncation != MMAU_RD && p.truncation != MMAU_RO) return MMAU_BAD_TRUNCATION;
    if (p.operation == MMAU_TR_FDPA || p.operation == MMAU_GTR_FDPA) {
        return p.truncation == MMAU_RO ? MMAU_BAD_TRUNCATION : MMAU_OK;
    }
    const bool sticky_fits = within(p.sticky, 0, 1) && !(p.sticky && p.truncation == MMAU_RO);
    return sticky_fits ? MMAU_OK : MMAU_BAD_STICKY;
}

MMAU_FN constexpr bool combination_fits(const mmau_parameters& p) {
    return p.combination == MMAU_MULTIPLY || (p.combination == MMAU_XOR && p.a == MMAU_B1 && p.b == MMAU_B1);
}

MMAU_FN constexpr int check_headroom(const mmau_parameters& p) {
    if (!within(p.F, 1, max_fraction)) return MMAU_BAD_F;
    if (!within(p.h, 0, max_headroom)) return MMAU_BAD_H;
    if (!within(p.e_zero, -exponent_limit, exponent_limit)) return MMAU_BAD_E_ZERO;
    const int L = fitted_length(p);
    return p.operation == MMAU_OC_FDPA || (within(p.G, 1, L) && L % p.G == 0) ? MMAU_OK : MMAU_BAD_G;
}

/// Bits of the largest significand of a format, written as an integer in units of its smallest subnormal.
MMAU_FN constexpr int fixed_point_bits(const Format& format) {
    return format.man_bits + 1 + format.e_limit() - format.e_min();
}

/// Bits of an exact sum of a step that an integer of the widest kind must hold, sign aside.
MMAU_FN constexpr bool sum_fits(const mmau_parameters& p) {
    const Format a = format_of(p.a), b = format_of(p.b), c = format_of(p.c), d = format_of(p.d);
    const int products = fixed_point_bits(a) + fixed_point_bits(b), carries = ceil_log2(fitted_length(p) + 1);
    if (has_scales(p.operation)) {
        const int scales = 2 * (format_of(p.scale).man_bits + 1);
        const bool sums_groups = p.operation == MMAU_GST_FDPA;
        return (!sums_groups || products + carries + scales <= widest_sum) && a.man_bits + b.man_bits + 2 + scales <= 62;
    }
    if (p.operation != MMAU_E_FDPA) return true;
    const int product_lsb = a.e_min() + b.e_min() - a.man_bits - b.man_bits;
    const auto span_with = [=](const Format& z) {
        const int lsb = smaller(product_lsb, z.e_min() - z.man_bits);
        const int top = larger(product_lsb + products, z.e_min() - z.man_bits + fixed_point_bits(z));
        return top - lsb + carries;
    };
    return larger(span_with(c), p.K > fitted_length(p) ? span_with(d) : 0) <= widest_sum;
}

/// Whether the operation can write that NaN: a NaN of an operand, if all have one format of IEEE 754's; of CVT any such formats.
MMAU_FN constexpr bool nan_fits(const mmau_parameters& p) {
    if (p.operation == MMAU_CVT && p.nan != MMAU_QUIET_NAN) {
        return p.nan == MMAU_FIRST_NAN && format_of(p.a).specials == Specials::ieee && format_of(p.d).specials == Specials::ieee;
    }
    const bool is_one = p.a == p.c && p.b == p.c && format_of(p.c).specials == Specials::ieee;
    return within(p.nan, 0, MMAU_NANS - 1) && (p.nan == MMAU_QUIET_NAN || is_one);
}

/// MMAU_OK, or the first rule that the parameters break.
MMAU_FN constexpr int check(const mmau_parameters& p) {
    if (!within(p.operation, 0, MMAU_OPERATIONS - 1)) return MMAU_BAD_OPERATION;
    if (!within(p.fp16_order, 0, MMAU_FP16_ORDERS - 1)) return MMAU_BAD_FP16_ORDER;
    if (!formats_fit(p)) return MMAU_BAD_FORMAT;
    if (const int status = check_lengths(p)) return status;
    if (!order_fits(p)) return MMAU_BAD_ORDER;
    if (!has_rho(p.operation)) {
        if (p.fp16_order) return MMAU_BAD_FP16_ORDER;
        if (p.operation == MMAU_IDPA && !combination_fits(p)) return MMAU_BAD_COMBINATION;
        const bool bad_range = p.operation == MMAU_IDPA && p.overflow != MMAU_SATURATE && p.overflow != MMAU_WRAP;
        return bad_range ? MMAU_BAD_OVERFLOW : MMAU_OK;
    }
    if (!rho_fits(p) || !accumulates(p)) return MMAU_BAD_RHO;
    if (const int status = check_range_keys(p)) return status;
    if (p.fp16_order) {
        const bool fits = p.operation == MMAU_T_FDPA && fits_fp16(p.a) && fits_fp16(p.b) && p.K % 4 == 0;
        if (!fits || p.c != p.d || (p.c != MMAU_FP16 && p.c != MMAU_FP32)) return MMAU_BAD_FP16_ORDER;
    }
    if (is_ieee(p.operation)) return nan_fits(p) ? MMAU_OK : MMAU_BAD_NAN;
    if (p.operation == MMAU_E_FDPA) return !within(p.zero, 0, MMAU_ZEROS - 1) ? MMAU_BAD_ZERO : sum_fits(p) ? MMAU_OK : MMAU_BAD_WIDTH;
    if (has_headroom(p.operation)) return check_headroom(p);
    if (const int status = check_truncation(p)) return status;
    if (!within(p.F, 1, max_fraction)) return MMAU_BAD_F;
    if (p.operation == MMAU_TR_FDPA || p.operation == MMAU_GTR_FDPA) {
        return within(p.F2, 1, max_fraction) ? MMAU_OK : MMAU_BAD_F;
    }
    if (!within(p.e_zero, -exponent_limit, exponent_limit)) return MMAU_BAD_E_ZERO;
    if (const int status = has_scales(p.operation) ? check_scales(p) : MMAU_OK) return status;
    return sum_fits(p) ? MMAU_OK : MMAU_BAD_WIDTH;
}

/// Bits, sign aside, of the exact sum of a GST-FDPA group under its scales.
MMAU_FN constexpr int group_bits(const Plan& plan) {
    return fixed_point_bits(plan.a) + fixed_point_bits(plan.b) + ceil_log2(plan.G) + 2 * (plan.scale.man_bits + 1);
}

/// Fraction bits of that sum at the exponent of its scales.
MMAU_FN constexpr int group_frac(const Plan& plan) {
    return product_frac(plan) - plan.a.e_min() - plan.b.e_min() + 2 * plan.scale.man_bits;
}

/// Bits, sign aside, of the largest exact sum of a step. A product is below 4·2^frac, so an aligned one is below 2^(F+2).
MMAU_FN constexpr int sum_bits(const Plan& plan) {
    const int carries = ceil_log2(plan.L + 1);
    switch (plan.operation) {
        case MMAU_OC_FDPA:
        case MMAU_PS_FDPA:
        case MMAU_T_FDPA: return plan.F + 2 + carries;
        case MMAU_ST_FDPA: return plan.F + (plan.scale.is_power_of_two() ? 2 : 4) + carries;
        case MMAU_GST_FDPA: {
            const int aligned = larger(group_bits(plan) - group_frac(plan), 1) + plan.F;
            return larger(group_bits(plan), aligned + ceil_log2(plan.L / plan.G + 1));
        }
        case MMAU_TR_FDPA:
        case MMAU_GTR_FDPA: return larger(plan.F2 + 1, plan.F) + 4 + carries;
        default: return 1 << 30;  // E-FDPA, FMA, MUL, ADD, CVT: too many for any machine integer; others have sums of their own
    }
}

/// Formats that lanes know, but not together: fp32 and fp64 as factors of a fused operation, an accumulator other than theirs of
/// FMA, an accumulator of fp64 or a rounding to fp64 or to E8M13 where no published unit has it.
MMAU_FN constexpr bool mixes_formats(const mmau_parameters& p) {
    if (!has_rho(p.operation)) return false;
    const bool widens = p.a == MMAU_BF16 && p.c == MMAU_FP32;
    if (p.operation == MMAU_CVT) return true;
    if (is_ieee(p.operation)) return p.a != p.b || !(p.a == p.c || widens) || !(p.a == MMAU_FP64 || is_accumulator(p.a));
    const bool multiplies_wide = p.a == MMAU_FP32 || p.a == MMAU_FP64 || p.b == MMAU_FP32 || p.b == MMAU_FP64;
    const bool rounds_newly = rounded_to(p) == MMAU_E8M13 && p.rho != MMAU_RZ;
    return multiplies_wide || !is_accumulator(p.c) || !is_accumulator(p.d) || rounds_newly;
}

/// The plan for parameters that `check` has passed.
MMAU_FN constexpr Plan make_plan(const mmau_parameters& p) {
    Plan plan{};
    const bool rounds = has_rho(p.operation), truncates = within(p.operation, MMAU_T_FDPA, MMAU_GTR_FDPA);
    plan.operation = p.operation;
    plan.fp16_order = p.fp16_order;
    plan.stored_a = format_of(p.a);
    plan.stored_b = format_of(p.b);
    plan.a = p.fp16_order ? format_of(MMAU_FP16) : plan.stored_a;
    plan.b = p.fp16_order ? format_of(MMAU_FP16) : plan.stored_b;
    plan.c = format_of(p.c);
    plan.d = rounds ? format_of(p.d) : plan.c;
    plan.rho = {rounds ? static_cast<Mode>(p.rho) : Mode::RNE, rounds ? format_of(rounded_to(p)) : plan.c, 0};
    plan.rho.dropped_bits = plan.rho.rounding_format.width() - plan.d.width();
    plan.truncation = static_cast<Mode>(p.truncation);
    plan.sticky = truncates && p.operation <= MMAU_GST_FDPA && p.sticky;
    plan.flush_inputs = rounds && p.flush_inputs;
    plan.flush_results = rounds && p.flush_results;
    plan.overflow = rounds || p.operation == MMAU_IDPA ? p.overflow : int{MMAU_INFINITY};
    plan.nan = is_ieee(p.operation) ? p.nan : int{MMAU_QUIET_NAN};
    plan.ieee_zero = p.operation == MMAU_E_FDPA && p.zero == MMAU_IEEE_ZERO;
    const bool new_mode = plan.rho.mode == Mode::RO || plan.rho.mode == Mode::RNA;
    const bool flushes_any = plan.flush_inputs || plan.flush_results;
    const bool known_formats = lanes_multiply(p.a) && lanes_multiply(p.b) && lanes_add(p.c) && (!rounds || lanes_add(p.d)) &&
                               (!rounds || lanes_add(rounded_to(p))) && !mixes_formats(p) && lanes_scale(p);
    const bool other_numbers = !known_formats || new_mode || plan.ieee_zero || plan.sticky || flushes_any ||
                               plan.overflow != MMAU_INFINITY;
    plan.is_usual = known_formats;
    plan.own_keys = other_numbers || plan.nan != MMAU_QUIET_NAN;
    plan.K = p.K;
    plan.L = fitted_length(p);
    plan.F = p.F;
    plan.F2 = p.F2;
    plan.e_zero = p.e_zero;
    plan.G = p.operation == MMAU_GST_FDPA || p.operation == MMAU_PS_FDPA ? p.G : 1;
    plan.h = has_headroom(p.operation) ? p.h : 0;
    plan.is_xor = p.operation == MMAU_IDPA && p.combination == MMAU_XOR;
    plan.order = p.fp16_order ? run_of(p.fp16_order) : p.order;
    if (has_scales(p.operation)) {
        plan.scale = format_of(p.scale);
        plan.K_block = p.K_block;
        plan.blocks = ceil_div(p.K, p.K_block);
    }
    plan.machine_fma = plan.a.storage_bits >= 32 && p.a == p.c && plan.rho.mode == Mode::RNE && !other_numbers;
    plan.narrow = sum_bits(plan) <= 61;  // int64_t, with bits to spare
    return plan;
}

MMAU_NAMESPACE_END
