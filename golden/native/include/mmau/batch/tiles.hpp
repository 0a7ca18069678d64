// Elements of a matrix product, tile by tile: what a tile takes of A and of B is decoded once (panels.hpp).
#pragma once

#include "panel_steps.hpp"
#include "rows.hpp"

#include <memory>

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
        : whole_(plan), plan_(plan), batch_(batch), tile_(tile), step_(panel_step(plan)), chain_(block_chain(plan)),
          a_(new RowElements[static_cast<size_t>(tile.rows)]) {}

    /// A part of K at a time, all of whose steps' d are c of the next part.
    void compute() {
        const int unit = undivided_length(whole_), together = panel_length / unit * unit;
        for (int first = 0; first < whole_.K; first += together) {
            plan_.K = smaller(together, whole_.K - first);
            if (first) plan_.c = whole_.d;
            for (int64_t row = 0; row < tile_.rows; ++row) decode_row(first, row);
            for (int64_t column = 0; column < tile_.columns; column += lanes) compute_columns(first, column);
        }
    }

  private:
    void decode_row(int first, int64_t row) {
        RowElements& a = a_[row];
        a.decode(plan_.a, a_row(row, first), plan_.K);
        if (plan_.K_block) a.scale(a_scales(row, first), plan_.K_block, plan_.K);
        a.bias_exps();
    }

    /// 32 columns of the tile, decoded once for all its rows.
    void compute_columns(int first, int64_t column) {
        Block block{plan_, static_cast<int>(smaller<int64_t>(lanes, tile_.columns - column)), {}, {}, {}};
        for (int r = 0; r < lanes; ++r) {
            const int64_t j = tile_.column + column + (r < block.rows ? r : 0);
            const void* scales = scales_from(batch_.scale_b, j * batch_.scale_b_stride, first);
            block.row[r] = {nullptr, element(plan_.b, batch_.b, j * batch_.b_stride + first), nullptr, scales};
        }
        b_.decode(plan_.b, block, 0, plan_.K);
        if (plan_.K_block) b_.scale(block, plan_.K_block, plan_.K);
        for (int64_t row = 0; row < tile_.rows; row += panel_rows) {
            const int rows = static_cast<int>(smaller<int64_t>(panel_rows, tile_.rows - row));
            const auto at = [&](int i) { return (tile_.row + row + i) * batch_.columns + tile_.column + column; };
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

    /// All steps of a part for the panel's columns and some rows of the tile. Each step takes every row before the next one: rows
    /// do not wait for each other, as the steps of one do.
    void compute_panel(Block& block, int64_t row, int rows, int first) {
        const RowElements* a[panel_rows + step_rows];
        Lanes<uint32_t>*d[panel_rows + step_rows], nobodys;
        int count = 0;
        for (int i = 0; i < rows; ++i) {
            if (products_fit_fp32(plan_, a_[row + i].range, b_.range)) {
                a[count] = &a_[row + i], d[count++] = &d_[i];
            } else {
                compute_row(block, d_[i], row + i, first);
            }
        }
        for (; count % step_rows; ++count) {  // the last row stands in for another one, whose d is nobody's
            std::memcpy(nobodys, *d[count - 1], sizeof nobodys);
            a[count] = a[count - 1], d[count] = &nobodys;
        }
        for (int k = 0; count && k < plan_.K; k += plan_.L) step_(block, count, d, k, a, b_);
    }

    /// A row whose products panels do not hold.
    void compute_row(Block& block, Lanes<uint32_t>& d, int64_t row_of_tile, int first) {
        for (Row& row : block.row) row.a = a_row(row_of_tile, first), row.scale_a = a_scales(row_of_tile, first);
        std::memcpy(block.d, d, sizeof d);
        if (chain_) chain_(block);
        for (int r = 0; !chain_ && r < block.rows; ++r) block.d[r] = static_cast<uint32_t>(dot(plan_, block.row[r], block.d[r]));
        std::memcpy(d, block.d, sizeof d);
    }

    /// Of a row of the tile.
    const void* a_row(int64_t row, int first) const {
        return element(plan_.a, batch_.a, (tile_.row + row) * batch_.a_stride + first);
    }
    const void* a_scales(int64_t row, int first) const {
        return scales_from(batch_.scale_a, (tile_.row + row) * batch_.scale_a_stride, first);
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
    const std::unique_ptr<RowElements[]> a_;  ///< the rows of the tile
    Panel b_;
    Lanes<uint32_t> d_[panel_rows];  ///< codes: of c at the start, then of the last step's d, row by row
};

MMAU_NAMESPACE_END
