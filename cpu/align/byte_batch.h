// What a kernel of 8-bit lanes is given and gives back: one row sequence against up to MAX_LANES column
// sequences. Shared by the engine and by every instruction set's kernels; see byte_kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "batch.h"

namespace pairalign {

struct ByteBatch {
    const Scheme* scheme;
    const Group* group;
    const uint8_t* row;
    int32_t rows;
    int first_lane;  // lanes before it are not part of the batch
    bool trace;      // false: only `score` is set
    int32_t side;    // when tracing: rows and columns of a tile, a multiple of 16
    uint8_t* work;   // ByteLayout::bytes, 64-byte aligned
    const volatile bool* cancelled;
    uint64_t overflowed;  // bit set of lanes: scores that 8 bits do not hold, whose paths are not set
    Path paths[MAX_LANES];
};

// Where a batch keeps what. A border is a row above a band: two vectors a column; a left border two a row.
struct ByteLayout {
    size_t lanes, border_bytes;
    size_t borders, lefts, last_column, end_state, window, tile;  // offsets
    size_t bytes;                                                 // of all
    int32_t window_columns;                                       // at most that many are filled again

    // Must be inlined, see bounded_product.
    inline __attribute__((always_inline)) ByteLayout(int lanes_, int32_t rows, int32_t columns, bool trace,
                                                     int32_t side)
        : lanes(static_cast<size_t>(lanes_)),
          border_bytes((static_cast<size_t>(columns) + 1) * 2 * lanes),
          window_columns(2 * side + 16 < columns ? 2 * side + 16 : columns) {
        const size_t down = trace ? static_cast<size_t>((rows - 1) / side + 1) : 0;
        const size_t across = trace ? static_cast<size_t>((columns - 1) / side) : 0;
        const size_t height = trace ? static_cast<size_t>(side < rows ? side : rows) : 0;
        const size_t width = trace ? static_cast<size_t>(window_columns) : 0;
        borders = 0;
        lefts = bounded_product(down + 1, border_bytes, 1);
        last_column = lefts + bounded_product(across, static_cast<size_t>(rows), 2 * lanes);
        end_state = last_column + (static_cast<size_t>(rows) + 1) * lanes;
        window = end_state + 8 * lanes;
        tile = window + (3 * (width + 1) + 3 * height + 1) * lanes;
        bytes = tile + bounded_product(height, width, 3 * lanes);
    }
};

struct ByteKernel {
    int lanes;
    size_t (*group_bytes)(int32_t columns, uint32_t row_codes);
    void (*prepare)(const Scheme& scheme, Group& group);
    void (*align)(ByteBatch& batch);
};

struct InstructionSet {
    const char* name;
    Kernel narrow, wide;  // 16-bit lanes, 32-bit lanes
    LongKernel long_pair;
    ByteKernel bytes, permuted_bytes;  // 8-bit lanes; and for processors with AVX-512 VBMI
};

// What every 8-bit value of the recurrences is raised by, see byte_cell.h. Must be inlined.
inline __attribute__((always_inline)) int32_t byte_offset(const Scheme& s) {
    if (s.mode == LOCAL) return room_below(s);
    return 2 * s.gap_extend + 2 * (s.gap_open - s.gap_extend);
}

}  // namespace pairalign
