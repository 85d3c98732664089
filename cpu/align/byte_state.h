// What the kernel of 8-bit lanes and its traceback share: where things are while a batch is aligned.
#pragma once

#include "byte_batch.h"
#include "byte_cell.h"
#include "bytes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// No pair has such a column; marks "no cell yet" in local mode.
constexpr int NO_BYTE_COLUMN = 65535;

enum ByteEndState { BYTE_BEST, BYTE_ROW_LOW, BYTE_ROW_HIGH, BYTE_COLUMN_LOW, BYTE_COLUMN_HIGH };

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

    // Semiglobal: the columns in which lanes end, ascending; which lanes those are; and the next of them.
    int32_t end_columns[MAX_LANES] = {};
    alignas(64) uint8_t end_lanes[MAX_LANES][V::LANES] = {};
    int end_count = 0, end_index = 0;
    int32_t next_end = 0;

    PAIRALIGN_INLINE uint8_t* border(int32_t tile_row) const {
        return memory + layout.borders + static_cast<size_t>(tile_row) * layout.border_bytes;
    }
    // U and A, or H and e, of row `row` (from 1) in column tile_column * side, for tile_column > 0.
    PAIRALIGN_INLINE uint8_t* left(int32_t tile_column, int32_t row) const {
        const size_t index = (static_cast<size_t>(tile_column) - 1) * static_cast<size_t>(batch.rows) +
                             static_cast<size_t>(row) - 1;
        return memory + layout.lefts + index * 2 * V::LANES;
    }
    PAIRALIGN_INLINE uint8_t* last_column(int32_t row) const {
        return memory + layout.last_column + static_cast<size_t>(row) * V::LANES;
    }
    PAIRALIGN_INLINE uint8_t* end_state(int which) const {
        return memory + layout.end_state + static_cast<size_t>(which) * V::LANES;
    }
    PAIRALIGN_INLINE ByteCosts<V> costs() const {
        return {V::set(scheme.gap_open - scheme.gap_extend), V::set(scheme.gap_open),
                V::set(scheme.gap_extend), V::set(offset)};
    }
    // What a border cell of row or column `i` (from 1) holds: x and y, or v and w.
    PAIRALIGN_INLINE int edge(int32_t i) const {
        if (scheme.mode == LOCAL) return offset;
        if (scheme.mode == SEMIGLOBAL) return scheme.gap_open;
        return i == 1 ? 0 : scheme.gap_open - scheme.gap_extend;
    }
    PAIRALIGN_INLINE int edge_gap(int32_t i) const {
        return scheme.mode == LOCAL ? offset - scheme.gap_open : edge(i);
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
