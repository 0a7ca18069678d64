// The plan of a design, written by cosim/volume/design_plan.py: timing, operand formats and reference computation.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mmau.h"
#include "mmau/formats.hpp"

namespace volume {

/// A request that cannot be carried out; the text is the message for the user.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The format of an operand port: elements of `width` bits in a vector, each in `storage` bytes of an array.
struct Operand {
    std::string port;
    int width = 0, storage = 0;
    bool is_negated = false;  // whether the port holds its negative: the sign bit inverted
    std::vector<uint64_t> codes, carried;  // of a format without fields, whose carrier the arrays have: the code next to each
                                           // code of the carrier, and the carrier's of each code; else empty
};

/// A port with a code, or with random bits.
struct Input {
    std::string port;
    int width = 0;
    uint64_t code = 0;
};

/// A port with exception flags of libmmau: which ones, bit 0 first, and what raises them (enum mmau_flag_rule).
struct Flags {
    std::string port;
    int rules = 0;
    std::vector<int> bits;
};

/// The random bits of each result: the port that has them, and how many; `wide` is the format of libmmau's results.
struct RandomBits {
    std::string port;
    int width = 0;
    mmau::Format wide{};
    bool half = false, saturates = false;
    uint64_t negative_zero = 0;  // the code of a negative result that becomes zero
};

/// Bits of d above the results, which return an input of the same transfer.
struct Echo {
    std::string port;
    int width = 0, low = 0;
    bool has_flags = false;
};

/// What scales of one side alone are made with: the code of 1, that of the largest finite number, the mask without the sign.
struct OneSide {
    int64_t one = 0, largest = 0, mask = 0;
    bool has_zero = false;
};

/// One kind of dot product that a design computes.
struct Product {
    mmau_parameters parameters{};
    mmau::Format d{};
    bool nan_is_fixed = false, is_integer = false;
    Operand a, b, c, scale_a, scale_b;  // scale_a.port is empty where unscaled
    int m = 1, n = 1, steps = 1, c_step = 0;
    int rows = 1;                         // of a in a transfer: m, or 1 where b stays while they pass
    int scales = 0;                       // of a row or column
    std::vector<int> blocks;              // which of them each step takes, all steps one after another
    OneSide one_side;
    std::vector<int> order;               // k of the products of all steps, in order of their places
    std::vector<int32_t> stimulus;        // struct mmau_stimulus, member by member
    std::string corners;                  // path of the file with the directed corners
    std::vector<Input> selects, randoms;  // inputs that choose it; inputs that it does not read
    std::vector<Flags> flags;
    RandomBits random;                    // its port is empty where there are none
    mmau_parameters before{}, last{};  // of the products before the last ones and of these,
    int last_K = 0;                    // so many, if their flags alone count; else 0

    int L() const { return static_cast<int>(order.size()) / steps; }
    int scales_per_step() const { return static_cast<int>(blocks.size()) / steps; }
    int passes() const { return m / rows; }
    int transfers() const { return steps * passes(); }
};

struct Plan {
    std::string library;   // libmmau
    std::string protocol;  // as in cosim/bench/protocol.py, and the four after it
    int latency = 0;
    bool enable = false;
    std::string reset;
    int stages = 0;
    int results = 1;  // dot products in a vector
    int c_bits = -1;  // low bits of c from which its sign is extended, 0 where there is no c; -1 for any c
    uint64_t no_c = 0;  // the code of c where there is none
    std::string nan, zero_sign;
    std::vector<int64_t> distances;  // upper ends of the ranges of distances that groups of mismatches have (ulp)
    std::vector<int64_t> repeats;    // lengths of runs of native vectors that repeat operands
    std::vector<std::string> record;  // operand ports in the order in which a transfer holds them
    std::vector<Product> products;
    std::vector<Echo> echoes;
    std::string metadata;           // the port with codes of 4 bits, each of which selects two of four elements of b; or empty
    std::vector<uint64_t> selections;  // its codes: the place of the first in the low two bits, that of the second above
    std::string mask;  // the port with one bit for each product; empty where there is none

    int elements() const { return results * products.front().m * products.front().n; }
    int transfers() const { return products.front().transfers(); }
};

/// @throws Refused if the file cannot be read or is not a plan.
Plan read_plan(const std::string& path);

}  // namespace volume
