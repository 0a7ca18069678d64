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

/// Walks the rows of a batch from `row` on.
class Cursor {
  public:
    Cursor(const Plan& plan, const mmau_batch& batch, int64_t row)
        : plan_(plan), batch_(batch), a_row_(batch.columns ? row / batch.columns : row),
          b_row_(batch.columns ? row % batch.columns : row) {}

    Row next() {
        const Row row{element(plan_.stored_a, batch_.a, a_row_ * batch_.a_stride),
                      element(plan_.stored_b, batch_.b, b_row_ * batch_.b_stride),
                      element(plan_.scale, batch_.scale_a, a_row_ * batch_.scale_a_stride),
                      element(plan_.scale, batch_.scale_b, b_row_ * batch_.scale_b_stride)};
        ++b_row_;
        if (!batch_.columns) {
            ++a_row_;
        } else if (b_row_ == batch_.columns) {
            b_row_ = 0;
            ++a_row_;
        }
        return row;
    }

  private:
    const Plan& plan_;
    const mmau_batch& batch_;
    int64_t a_row_, b_row_;
};

MMAU_NAMESPACE_END
