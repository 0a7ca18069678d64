// E-FDPA by lanes, in double: two exact partial sums of the products, then their sum with c, rounded to odd and then once to
// fp32. S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd"
// (IEEE Trans. Computers 57, 2008) gives the sum of three; 53 bits rounded to odd are enough for 24 rounded to nearest.
#pragma once

#include "accumulators.hpp"
#include "exact_products.hpp"

MMAU_NAMESPACE_BEGIN

/// Whether the lanes can take the plan: at most two products, each exact in double; or four of fp16, which two partial sums
/// hold (sum_products below). Formats that are words as they are: their NaN and infinities are a float's.
inline bool e_fdpa_fits_lanes(const Plan& plan) {
    if (plan.operation != MMAU_E_FDPA || !products_are_exact(plan) || plan.a.storage_bits == 8) return false;
    const bool to_fp32 = plan.rho.mode == Mode::RNE && plan.rho.rounding_format.man_bits == 23;
    return plan.L <= (are_words<HalfWords>(plan) ? 4 : 2) && to_fp32 && plan.c.man_bits == 23;
}

struct TwoSum {
    double sum, error;  ///< x + y = sum + error exactly
};

MMAU_LANE_FN TwoSum two_sum(double x, double y) {
    const double sum = x + y, y_part = sum - x;
    return {sum, (x - (sum - y_part)) + (y - y_part)};
}

/// x + y rounded to odd: where inexact, the neighbour whose last bit is one.
MMAU_LANE_FN double odd_sum(double x, double y) {
    const TwoSum exact = two_sum(x, y);
    const auto code = bits_as<int64_t>(exact.sum);
    const auto away = (code ^ bits_as<int64_t>(exact.error)) < 0 ? int64_t{-1} : int64_t{1};
    return bits_as<double>(exact.error != 0 && !(code & 1) ? code + away : code);
}

/// RNE-FP32 of x + y + z; an exact zero is +0. Special terms come out of the plain sum.
MMAU_LANE_FN uint32_t rounded_sum_of_three(double x, double y, double z, uint32_t nan_code) {
    const TwoSum low = two_sum(x, y), high = two_sum(z, low.sum);
    const double odd = odd_sum(high.sum, odd_sum(high.error, low.error));
    const double plain = z + (x + y);
    const bool finite = (bits_as<uint64_t>(plain) & 0x7FF0000000000000u) != 0x7FF0000000000000u;
    const auto rounded = static_cast<float>((finite ? odd : plain) + 0.0);
    return rounded == rounded ? bits_as<uint32_t>(rounded) : nan_code;
}

/// The products in two sums that are exact in double. Of two products, one each. Of four fp16 products, those below 2^3 in
/// one (bits 2^-48 … 2^5), the others in the other: their 22 bits lie at 2^-18 or above (bits 2^-18 … 2^34).
template <class Words, class Code>
inline void sum_products(const Plan& plan, const StepCodes<Code>& codes, Lanes<double>& low, Lanes<double>& high) {
    for (int r = 0; r < lanes; ++r) low[r] = high[r] = 0;
    for (int k = 0; k < plan.L; ++k) {
        Lanes<typename Words::Real> product;
        Words::multiply(codes.a[k], codes.b[k], product);
        const double limit = plan.L > 2 ? 8 : k == 0 ? HUGE_VAL : 0;
        for (int r = 0; r < lanes; ++r) {
            const double exact = product[r];
            const bool is_low = std::fabs(exact) < limit;
            low[r] += is_low ? exact : 0;
            high[r] += is_low ? 0 : exact;
        }
    }
}

/// One step of every row of a block: products k … k+L−1.
template <class Words, class Code>
inline void e_fdpa_lanes(Block& block, int, const StepCodes<Code>& codes) {
    const Plan& plan = block.plan;
    const auto nan_code = static_cast<uint32_t>(plan.d.quiet_nan());
    Lanes<double> low, high;
    sum_products<Words>(plan, codes, low, high);
    Lanes<uint32_t> d;
    for (int r = 0; r < lanes; ++r) {
        const double c = bits_as<float>(block.d[r]);
        d[r] = rounded_sum_of_three(low[r], high[r], c, nan_code);
    }
    std::memcpy(block.d, d, sizeof d);
}

MMAU_NAMESPACE_END
