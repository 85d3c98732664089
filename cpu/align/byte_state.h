// What the kernel of 8-bit lanes and its traceback share: where things are while a batch is aligned.
#pragma once

#include "../core/byte_batch.h"
#include "byte_cell.h"
#include "../simd/bytes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteWork {
    ByteBatch& batch;
    const Scheme& scheme;
    ByteLayout layout;
    int32_t columns;  // of the longest lane in use
    int32_t offset;   // byte_offset
    uint8_t* memory;
    const uint8_t *tables, *codes;  // of the group
    const uint8_t* profile = nullptr;
    int32_t profile_of[CODES] = {};

    bool levels = false;  // whether tiers are tried as in byte_levels.h

    // Of batches with own rows: classes or residues of the rows; see OwnLayout.
    OwnLayout own = {};
    uint8_t* own_group = nullptr;
    const uint8_t* own_rows = nullptr;

    // Of a band, when tracing.
    BandRow* band = nullptr;
    PAIRALIGN_INLINE bool is_outside(int32_t tile_row, int32_t column) const {
        const BandRow& row = band[tile_row];
        return column > row.last || (row.before > 0 && column <= row.before);
    }

    // Semiglobal, end gaps, own rows: the columns in which lanes end, ascending; and which lanes those are.
    int32_t end_columns[MAX_LANES] = {};
    alignas(64) uint8_t end_lanes[MAX_LANES][V::LANES] = {};
    int end_count = 0;

    PAIRALIGN_INLINE bool is_query(int l) const { return batch.row_is_query >> l & 1; }
    PAIRALIGN_INLINE int32_t rows_of(int l) const { return batch.own ? batch.own->lengths[l] : batch.rows; }

    PAIRALIGN_INLINE uint8_t* border(int32_t tile_row) const {
        if (band) return memory + layout.borders + band[tile_row].border;
        return memory + layout.borders + static_cast<size_t>(tile_row) * layout.border_bytes;
    }
    // One more, of no row.
    PAIRALIGN_INLINE uint8_t* spare_border() const { return memory + layout.spare; }
    // U and A, or H and e, of row `row` (from 1) in column tile_column * layout.tile_columns, for tile_column
    // > 0; then the floor they are above, if they are.
    PAIRALIGN_INLINE uint8_t* left(int32_t tile_column, int32_t row) const {
        if (band) return left_of_band(tile_column, row);
        const size_t index = (static_cast<size_t>(tile_column) - 1) * static_cast<size_t>(batch.rows) +
                             static_cast<size_t>(row) - 1;
        return memory + layout.lefts + index * layout.left_bytes;
    }
    PAIRALIGN_INLINE int32_t tile_height(int32_t top) const {
        return batch.rows - top < batch.side ? batch.rows - top : batch.side;
    }
    PAIRALIGN_INLINE uint8_t* left_of_band(int32_t tile_column, int32_t row) const {
        const int32_t tile_row = (row - 1) >> __builtin_ctz(static_cast<unsigned>(batch.side)),
                      top = tile_row * batch.side, height = tile_height(top);
        const auto index = static_cast<std::ptrdiff_t>(tile_column) * height + (row - 1 - top);
        return memory + layout.borders + band[tile_row].lefts +
               index * static_cast<std::ptrdiff_t>(layout.left_bytes);
    }
    PAIRALIGN_INLINE size_t left_bytes() const { return layout.left_bytes; }
    PAIRALIGN_INLINE uint8_t* last_column(int32_t row) const {
        return memory + layout.last_column + static_cast<size_t>(row) * V::LANES;
    }
    // V of column j of each lane's last row; bytes from a column to the next.
    PAIRALIGN_INLINE uint8_t* last_row(int32_t j) const {
        if (batch.own) return memory + layout.last_row + static_cast<size_t>(j) * V::LANES;
        return border(batch.has_tiles() ? tile_rows() : 0) + static_cast<size_t>(j) * 2 * V::LANES;
    }
    PAIRALIGN_INLINE size_t last_row_step() const { return batch.own ? V::LANES : 2 * V::LANES; }
    // Local: the best scores of a tile; without tiles, of all cells.
    PAIRALIGN_INLINE uint8_t* best(int32_t tile_row, int32_t tile_column) const {
        const size_t index = static_cast<size_t>(tile_row) * static_cast<size_t>(tile_columns()) +
                             static_cast<size_t>(tile_column);
        return memory + layout.best + index * layout.best_bytes;
    }
    // The floors of a border, a number a lane for each block of columns; and the highest byte seen.
    PAIRALIGN_INLINE uint8_t* floors(int32_t tile_row) const {
        return memory + layout.floors + static_cast<size_t>(tile_row) * layout.floors_bytes;
    }
    PAIRALIGN_INLINE size_t floors_bytes() const { return layout.floors_bytes; }
    PAIRALIGN_INLINE uint8_t* peak() const { return memory + layout.peak; }
    PAIRALIGN_INLINE int32_t tile_columns() const {
        return batch.has_tiles() ? (columns - 1) / layout.tile_columns + 1 : 1;
    }
    PAIRALIGN_INLINE int32_t tile_rows() const {
        return batch.has_tiles() ? (batch.rows - 1) / batch.side + 1 : 1;
    }
    // Codes of cells that are filled for the traceback: a row has so many bytes.
    PAIRALIGN_INLINE size_t row_bytes() const {
        return (static_cast<size_t>(layout.window_columns) + 1) * V::LANES;
    }
    PAIRALIGN_INLINE ByteCosts<V> costs() const {
        return {V::set(scheme.gap_open - scheme.gap_extend), V::set(scheme.gap_open),
                V::set(scheme.gap_extend), V::set(offset)};
    }
    // What x and y of a border cell of row `i` are, or v and w of one of column `i` (from 1).
    PAIRALIGN_INLINE V row_edge(int32_t i) const { return V::load(row_edges[i == 1 ? 0 : 1]); }
    PAIRALIGN_INLINE V column_edge(int32_t i) const { return V::load(column_edges[i == 1 ? 0 : 1]); }

    // [0]: of the first cell of the border; [1]: of all others.
    alignas(64) uint8_t row_edges[2][V::LANES] = {}, column_edges[2][V::LANES] = {};

    void find_edges() {
        const auto edge = [&](int32_t first, int32_t start) {
            return static_cast<uint8_t>(scheme.mode == LOCAL    ? offset
                                        : scheme.mode == GLOBAL ? scheme.gap_extend - first
                                                                : scheme.gap_extend - start);
        };
        const auto set = [&](uint8_t (*edges)[V::LANES], int l, const GapCost& start) {
            edges[0][l] = edge(scheme.gap_open, start.open);
            edges[1][l] = edge(scheme.gap_extend, start.extend);
        };
        const bool differ = scheme.mode == END_GAPS;  // from lane to lane
        for (int l = 0; l < (differ ? V::LANES : 1); l++) {
            set(row_edges, l, scheme.of_row(is_query(l)).start);
            set(column_edges, l, scheme.of_column(is_query(l)).start);
        }
        if (differ) return;
        for (int k = 0; k < 2; k++) {
            V::set(row_edges[k][0]).store(row_edges[k]);
            V::set(column_edges[k][0]).store(column_edges[k]);
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
