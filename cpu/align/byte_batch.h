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
    int32_t side;    // when tracing: rows of a tile, 16 times a power of two
    int definite;    // codes below it are letters that can be equal
    uint8_t* work;   // ByteLayout::bytes, 64-byte aligned
    const volatile bool* cancelled;
    uint64_t overflowed;    // bit set of lanes: scores that 8 bits do not hold, whose paths are not set
    Path paths[MAX_LANES];  // without runs
    // When tracing: a byte a column of each alignment, see byte_walk.h. They are written from the end of
    // `step_room` on downwards, 64 at a time; then `steps` is where they begin.
    uint8_t* step_room[MAX_LANES];  // its end: steps_room(...) bytes before, 64 readable ones after it
    uint8_t* steps[MAX_LANES];
    int32_t step_count[MAX_LANES];

    // Bytes for the steps of one pair.
    static size_t steps_room(int32_t rows, int32_t columns) {
        return (static_cast<size_t>(rows) + static_cast<size_t>(columns) + 64 + 63) / 64 * 64;
    }
};

// Where a batch keeps what. A border is a row above a band: two vectors a column; a left border two a row.
struct ByteLayout {
    size_t lanes, border_bytes;
    size_t borders, lefts, best, last_column, window, tile;  // offsets
    size_t bytes;                                            // of all
    int32_t tile_columns;
    int32_t window_columns;  // at most that many are filled again

    // Must be inlined, see bounded_product.
    inline __attribute__((always_inline)) ByteLayout(int lanes_, Mode mode, int32_t rows, int32_t columns,
                                                     bool trace, int32_t side)
        : lanes(static_cast<size_t>(lanes_)),
          border_bytes((static_cast<size_t>(columns) + 1) * 2 * lanes),
          tile_columns(mode == LOCAL ? side / 2 : side),
          window_columns(side + tile_columns < columns ? side + tile_columns : columns) {
        const size_t down = trace ? static_cast<size_t>((rows - 1) / side + 1) : 0;
        const size_t across = trace ? static_cast<size_t>((columns - 1) / tile_columns) : 0;
        const size_t height = trace ? static_cast<size_t>(side < rows ? side : rows) : 0;
        const size_t width = trace ? static_cast<size_t>(window_columns) : 0;
        borders = 0;
        lefts = bounded_product(down + 1, border_bytes, 1);
        best = lefts + bounded_product(across, static_cast<size_t>(rows), 2 * lanes);
        last_column = best + (trace ? bounded_product(down, across + 1, lanes) : lanes);
        window = last_column + (static_cast<size_t>(rows) + 1) * lanes;
        tile = window + 3 * (width + 1) * lanes;
        bytes = tile + bounded_product(height + 1, width + 1, lanes);
    }
};

struct ByteKernel {
    int lanes;
    size_t (*group_bytes)(int32_t columns, uint32_t row_codes);
    void (*prepare)(const Scheme& scheme, Group& group);
    void (*align)(ByteBatch& batch);
    // Runs of a CIGAR and counts from the steps of a path. `out`: as in write_cigar.
    int64_t (*write_runs)(uint8_t* steps, int32_t count, bool row_is_query, uint32_t* out, Summary& summary);
};

struct InstructionSet {
    const char* name;
    Kernel narrow, wide;  // 16-bit lanes, 32-bit lanes
    LongKernel long_pair;
    ByteKernel bytes, permuted_bytes;  // 8-bit lanes; and for processors with AVX-512 VBMI
};

// `base` of local mode, see byte_cell.h. Must be inlined.
inline __attribute__((always_inline)) int32_t byte_offset(const Scheme& s) {
    return s.mode == LOCAL ? room_below(s) : 0;
}

// What D adds to the score of two letters, in the other modes. Must be inlined.
inline __attribute__((always_inline)) int32_t byte_raise(const Scheme& s) {
    return s.gap_extend + s.gap_open;
}

}  // namespace pairalign
