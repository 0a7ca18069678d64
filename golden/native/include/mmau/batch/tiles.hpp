// Elements of a matrix product, tile by tile: what a tile takes of A and of B is decoded once (panels.hpp).
#pragma once

#include "panel_steps.hpp"
#include "rows.hpp"

MMAU_NAMESPACE_BEGIN

/// A part of D.
struct Tile {
    int64_t row, rows, column, columns;
};

constexpr int64_t fewest_tile_rows = 8, fewest_tile_columns = 24;  ///< with less, decoding is not worth while

/// Whether a batch is computed by tiles.
inline bool takes_tiles(const Plan& plan, const mmau_batch& batch) {
    const bool is_large = batch.columns >= fewest_tile_columns && batch.rows / batch.columns >= fewest_tile_rows;
    return is_large && batch.rows % batch.columns == 0 && panel_step(plan);
}

/// One tile of a checked batch that takes tiles.
class TileProduct {
  public:
    TileProduct(const Plan& plan, const mmau_batch& batch, const Tile& tile)
        : whole_(plan), plan_(plan), batch_(batch), tile_(tile), step_(panel_step(plan)), chain_(block_chain(plan)) {}

    /// A part of K at a time, all of whose steps' d are c of the next part.
    void compute() {
        const int unit = undivided_length(whole_), together = panel_length / unit * unit;
        for (int first = 0; first < whole_.K; first += together) {
            plan_.K = smaller(together, whole_.K - first);
            if (first) plan_.c = whole_.d;
            for (int64_t row = 0; row < tile_.rows; row += panel_rows) {
                compute_rows(first, tile_.row + row, static_cast<int>(smaller<int64_t>(panel_rows, tile_.rows - row)));
            }
        }
    }

  private:
    void compute_rows(int first, int64_t row, int rows) {
        for (int i = 0; i < rows; ++i) {
            a_[i].decode(plan_.a, a_row(row + i, first), plan_.K);
            if (plan_.K_block) a_[i].scale(a_scales(row + i, first), plan_.K_block, plan_.K);
            a_[i].bias_exps();
        }
        for (int64_t column = 0; column < tile_.columns; column += lanes) {
            Block block{plan_, static_cast<int>(smaller<int64_t>(lanes, tile_.columns - column)), {}, {}, {}};
            for (int r = 0; r < lanes; ++r) {
                const int64_t j = tile_.column + column + (r < block.rows ? r : 0);
                const void* scales = scales_from(batch_.scale_b, j * batch_.scale_b_stride, first);
                block.row[r] = {nullptr, element(plan_.b, batch_.b, j * batch_.b_stride + first), nullptr, scales};
            }
            b_.decode(plan_.b, block, 0, plan_.K);
            if (plan_.K_block) b_.scale(block, plan_.K_block, plan_.K);
            const auto at = [&](int i) { return (row + i) * batch_.columns + tile_.column + column; };
            for (int i = 0; i < rows; ++i) {
                load(block, first ? batch_.d : batch_.c, at(i));
                std::memcpy(d_[i], block.d, sizeof block.d);
            }
            compute_panel(block, row, rows, first);
            for (int i = 0; i < rows; ++i) {
                std::memcpy(block.d, d_[i], sizeof block.d);
                store(block, at(i));
            }
        }
    }

    /// All steps of a part for the panel's columns and the rows in a_, of which the first is `row` of A. Each step takes every
    /// row before the next one: rows do not wait for each other, as the steps of one do.
    void compute_panel(Block& block, int64_t row, int rows, int first) {
        int fitting[panel_rows], count = 0;
        for (int i = 0; i < rows; ++i) {
            if (products_fit_fp32(plan_, a_[i].range, b_.range)) {
                fitting[count++] = i;
            } else {
                compute_row(block, d_[i], row + i, first);
            }
        }
        for (int k = 0; k < plan_.K; k += plan_.L) {
            for (int i = 0; i < count; i += step_rows) step(block, fitting + i, smaller(step_rows, count - i), k);
        }
    }

    /// One step of some rows; where they are too few, the first stands in for others, whose d is nobody's.
    void step(Block& block, const int* rows, int count, int k) {
        Lanes<uint32_t> nobodys;
        Accumulating d;
        Rows a;
        for (int i = 0; i < step_rows; ++i) {
            const int row = rows[i < count ? i : 0];
            d[i] = i < count ? &d_[row] : &nobodys, a[i] = &a_[row];
            if (i >= count) std::memcpy(nobodys, d_[row], sizeof nobodys);
        }
        step_(block, d, k, a, b_);
    }

    /// A row whose products panels do not hold.
    void compute_row(Block& block, Lanes<uint32_t>& d, int64_t row_of_a, int first) {
        for (Row& row : block.row) row.a = a_row(row_of_a, first), row.scale_a = a_scales(row_of_a, first);
        std::memcpy(block.d, d, sizeof d);
        if (chain_) chain_(block);
        for (int r = 0; !chain_ && r < block.rows; ++r) block.d[r] = static_cast<uint32_t>(dot(plan_, block.row[r], block.d[r]));
        std::memcpy(d, block.d, sizeof d);
    }

    const void* a_row(int64_t i, int first) const { return element(plan_.a, batch_.a, i * batch_.a_stride + first); }
    const void* a_scales(int64_t i, int first) const {
        return scales_from(batch_.scale_a, i * batch_.scale_a_stride, first);
    }

    /// The scales of a part of K; nullptr where there are none.
    const void* scales_from(const void* scales, int64_t row, int first) const {
        return plan_.K_block ? element(plan_.scale, scales, row + first / plan_.K_block) : nullptr;
    }

    void load(Block& block, const void* codes, int64_t at) const {
        plan_.c.storage_bits == 16 ? load_codes<uint16_t>(codes, at, block) : load_codes<uint32_t>(codes, at, block);
    }
    void store(const Block& block, int64_t at) const {
        plan_.d.storage_bits == 16 ? store_codes<uint16_t>(block, batch_.d, at) : store_codes<uint32_t>(block, batch_.d, at);
    }

    const Plan& whole_;
    Plan plan_;  ///< of the part of K
    const mmau_batch& batch_;
    const Tile tile_;
    const PanelStep step_;
    const BlockChain chain_;
    RowElements a_[panel_rows];
    Panel b_;
    Lanes<uint32_t> d_[panel_rows];  ///< codes: of c at the start, then of the last step's d, row by row
};

MMAU_NAMESPACE_END
