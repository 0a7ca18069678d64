// A block of rows: where their operands lie, and their accumulators on the way from c to d.
#pragma once

#include "../dot.hpp"

MMAU_NAMESPACE_BEGIN

constexpr int block_rows = 64;

struct Block {
    int rows;
    Row row[block_rows];
    uint64_t d[block_rows];  ///< codes: of c at the start, then of the last step's d
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
    static const void* element(const Format& format, const void* codes, int64_t index) {
        return codes ? static_cast<const char*>(codes) + index * (format.storage_bits / 8) : nullptr;
    }

    const Plan& plan_;
    const mmau_batch& batch_;
    int64_t a_row_, b_row_;
};

MMAU_NAMESPACE_END
