// A block of rows, each row a lane: lane r of every array belongs to row r. Loops over the lanes have no branches, so that a
// compiler turns them into vector instructions.
#pragma once

#include "../dot.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int lanes = 32;
constexpr int max_lane_length = 64;  ///< the longest step that lanes take (products)

template <class T>
using Lanes = T[lanes];

/// What the lanes found in a row that is not finite; `suspect` alone: to be looked at.
constexpr uint32_t suspect = 1, nan_term = 2, plus_infinity = 4, minus_infinity = 8;

struct Block {
    const Plan& plan;
    int rows;                 ///< lanes that are rows; the others repeat the first row
    Row row[lanes];
    Lanes<uint32_t> d;        ///< codes: of c at the start, then of the last step's d
    Lanes<uint32_t> special;  ///< what this step found (suspect …)
};

/// An operand's array as a cursor reads it.
struct Column {
    const char* codes;  ///< nullptr where there is no array
    int64_t step;       ///< bytes from row to row
    int64_t offset = 0;

    Column(const Format& format, const void* array, int64_t stride, int64_t row)
        : codes(static_cast<const char*>(array)), step(array ? stride * (format.storage_bits / 8) : 0), offset(row * step) {}

    const void* here() const { return codes ? codes + offset : nullptr; }
};

/// Walks the rows of a batch from `row` on.
class Cursor {
  public:
    Cursor(const Plan& plan, const mmau_batch& batch, int64_t row)
        : columns_(batch.columns), column_(columns_ ? row % columns_ : 0),
          a_(plan.stored_a, batch.a, batch.a_stride, columns_ ? row / columns_ : row),
          b_(plan.stored_b, batch.b, batch.b_stride, columns_ ? column_ : row),
          scale_a_(plan.scale, batch.scale_a, batch.scale_a_stride, columns_ ? row / columns_ : row),
          scale_b_(plan.scale, batch.scale_b, batch.scale_b_stride, columns_ ? column_ : row) {}

    MMAU_LANE_FN Row next() {
        const Row row{a_.here(), b_.here(), scale_a_.here(), scale_b_.here()};
        b_.offset += b_.step, scale_b_.offset += scale_b_.step;
        const bool row_of_a_ends = !columns_ || ++column_ == columns_;
        if (row_of_a_ends) a_.offset += a_.step, scale_a_.offset += scale_a_.step;
        if (columns_ && row_of_a_ends) column_ = b_.offset = scale_b_.offset = 0;
        return row;
    }

  private:
    int64_t columns_, column_;
    Column a_, b_, scale_a_, scale_b_;
};

MMAU_NAMESPACE_END
