// Tiles by slices of their elements, for a device: a slice's header is made once, and its elements are shared out among lanes.
#pragma once

#include "addend.hpp"
#include "integers.hpp"

MMAU_NAMESPACE_BEGIN

namespace stimulus {

/// Where the operands of many tiles go; scale_a and scale_b are NULL where there are no scales, label where nobody asks.
struct Arrays {
    void *a, *b, *c, *scale_a, *scale_b;
    uint8_t* label;
};

constexpr int slice = 512;  ///< elements of one slice: many a lane, so that its header counts little

/// Elements of a tile of m rows of A and n columns of B.
MMAU_FN constexpr int64_t elements_of(const Plan& plan, int m, int n) {
    return int64_t{m + n} * (plan.K + plan.blocks) + int64_t{m} * n;
}

MMAU_FN constexpr int64_t slices_of(const Plan& plan, int m, int n) { return (elements_of(plan, m, n) + slice - 1) / slice; }

/// Element e of a tile: those of a come first, then those of b, c, scale_a and scale_b.
template <class AnyHeader>
MMAU_FN void fill_element(const Plan& plan, const Corners& corners, const AnyHeader& h, int64_t tile, int64_t e, int m, int n,
                          const Arrays& out) {
    const int64_t in_side[2] = {int64_t{m} * plan.K, int64_t{n} * plan.K};
    for (int s = 0; s < 2; ++s) {
        if (e < in_side[s]) {
            const Operand& x = s ? plan.b : plan.a;
            const uint64_t code = factor_at(plan, corners, h, side_of(!s), static_cast<int>(e / plan.K), static_cast<int>(e % plan.K));
            return store(x.format, s ? out.b : out.a, tile * in_side[s] + e, code);
        }
        e -= in_side[s];
    }
    const int64_t in_c = int64_t{m} * n;
    if (e < in_c) {
        const uint64_t code = addend_at(plan, corners, h, static_cast<int>(e / n), static_cast<int>(e % n), n);
        return store(plan.c.format, out.c, tile * in_c + e, code);
    }
    e -= in_c;
    const int blocks = larger(plan.blocks, 1);  // where there are none, nobody comes here
    const int64_t in_scale_a = int64_t{m} * blocks, in_scale_b = int64_t{n} * blocks;
    const bool is_a = e < in_scale_a;
    if (!is_a) e -= in_scale_a;
    const uint64_t code = scale_at(plan, corners, h, side_of(is_a), static_cast<int>(e / blocks), static_cast<int>(e % blocks));
    store(plan.scale.format, is_a ? out.scale_a : out.scale_b, tile * (is_a ? in_scale_a : in_scale_b) + e, code);
}

/// The lanes' share of a slice whose header is made.
template <class AnyHeader>
MMAU_FN void fill_elements(const Plan& plan, const Corners& corners, const AnyHeader& h, int64_t tile, int64_t begin, int m, int n,
                           int lane, int lanes, const Arrays& out) {
    const int64_t end = smaller(begin + slice, elements_of(plan, m, n));
    if (out.label && begin + lane == 0) out.label[tile] = static_cast<uint8_t>(h.label);
    for (int64_t e = begin + lane; e < end; e += lanes) fill_element(plan, corners, h, tile, e, m, n, out);
}

/// Every lanes-th element, from `lane` on, of slice `number` of the tiles from `first` on (`slices_of` slices a tile).
MMAU_FN void fill_slice(const Plan& plan, const Corners& corners, uint64_t seed, int64_t first, int64_t number, int m, int n,
                        int lane, int lanes, const Arrays& out) {
    const int64_t slices = slices_of(plan, m, n), tile = number / slices, begin = number % slices * slice;
    const uint64_t index = static_cast<uint64_t>(first + tile);
    if (plan.of_integers) {
        fill_elements(plan, corners, integer_header_of(plan, corners, seed, index), tile, begin, m, n, lane, lanes, out);
    } else {
        fill_elements(plan, corners, header_of(plan, corners, seed, index), tile, begin, m, n, lane, lanes, out);
    }
}

}  // namespace stimulus

MMAU_NAMESPACE_END
