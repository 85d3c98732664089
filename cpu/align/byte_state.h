// What the kernel of 8-bit lanes and its traceback share: where things are while a batch is aligned.
#pragma once

#include "byte_batch.h"
#include "byte_cell.h"
#include "bytes.h"

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

    // Semiglobal: the columns in which lanes end, ascending; and which lanes those are.
    int32_t end_columns[MAX_LANES] = {};
    alignas(64) uint8_t end_lanes[MAX_LANES][V::LANES] = {};
    int end_count = 0;

    PAIRALIGN_INLINE uint8_t* border(int32_t tile_row) const {
        return memory + layout.borders + static_cast<size_t>(tile_row) * layout.border_bytes;
    }
    // U and A, or H and e, of row `row` (from 1) in column tile_column * layout.tile_columns, for tile_column
    // > 0.
    PAIRALIGN_INLINE uint8_t* left(int32_t tile_column, int32_t row) const {
        const size_t index = (static_cast<size_t>(tile_column) - 1) * static_cast<size_t>(batch.rows) +
                             static_cast<size_t>(row) - 1;
        return memory + layout.lefts + index * 2 * V::LANES;
    }
    PAIRALIGN_INLINE uint8_t* last_column(int32_t row) const {
        return memory + layout.last_column + static_cast<size_t>(row) * V::LANES;
    }
    // Local: the best scores of a tile; without tiles, of all cells.
    PAIRALIGN_INLINE uint8_t* best(int32_t tile_row, int32_t tile_column) const {
        const size_t index = static_cast<size_t>(tile_row) * static_cast<size_t>(tile_columns()) +
                             static_cast<size_t>(tile_column);
        return memory + layout.best + index * V::LANES;
    }
    PAIRALIGN_INLINE int32_t tile_columns() const {
        return batch.trace ? (columns - 1) / layout.tile_columns + 1 : 1;
    }
    PAIRALIGN_INLINE int32_t tile_rows() const { return batch.trace ? (batch.rows - 1) / batch.side + 1 : 1; }
    PAIRALIGN_INLINE ByteCosts<V> costs() const {
        return {V::set(scheme.gap_open - scheme.gap_extend), V::set(scheme.gap_open),
                V::set(scheme.gap_extend), V::set(offset)};
    }
    // What a border cell of row or column `i` (from 1) holds: x and y, or v and w.
    PAIRALIGN_INLINE int edge(int32_t i) const {
        if (scheme.mode == LOCAL) return offset;
        if (scheme.mode == SEMIGLOBAL) return scheme.gap_extend;
        return i == 1 ? scheme.gap_extend - scheme.gap_open : 0;
    }
    PAIRALIGN_INLINE int edge_gap(int32_t i) const {
        return scheme.mode == LOCAL ? offset - scheme.gap_open : edge(i);
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
