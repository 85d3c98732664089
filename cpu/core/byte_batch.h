// What a kernel of 8-bit lanes is given and gives back: one row sequence against up to MAX_LANES column
// sequences. Shared by the engine and by every instruction set's kernels; see byte_kernel.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "batch.h"

namespace pairalign {

// Classes of residues, where the score of two depends on row ^ column of their classes alone. Equal classes
// are equal, unambiguous residues.
struct ResidueClasses {
    uint8_t row[CODES], column[CODES];
    uint8_t scores[16];  // as cells take them; those below 8 are used

    // The same for bands (lane_bands.h): after its last residue a sequence has PAD, which keeps H' on
    // a diagonal against another PAD, and loses `unopened`, open - extend, against residues. Numbers from 128
    // on have no score, which is that.
    ResidueClasses with_ends(int32_t unopened) const {
        constexpr uint8_t BOTH_END = 8, ENDED = 128;
        ResidueClasses c = *this;
        c.row[PAD] = ENDED + BOTH_END;
        c.column[PAD] = ENDED;
        c.scores[BOTH_END] = static_cast<uint8_t>(unopened);
        return c;
    }
};

// The sequences of which the lanes of a batch have one each, where these are few. A table has the scores of
// some of them: of three where the residues of the batch are few, else of two.
struct FewRows {
    static constexpr int TABLES = 4, MOST = TABLES * 3, MOST_RESIDUES = 2 * CODES / 3;
    int count;              // 0: there are more
    int of_table;           // sequences of a table
    uint32_t codes;         // bit set: residues have their numbers in it
    int first_lanes[MOST];  // a lane that has it
    uint8_t of[MAX_LANES];  // its number

    static int most_of_table(uint32_t codes) {
        return __builtin_popcount(codes | 1u << PAD) <= MOST_RESIDUES ? 3 : 2;
    }
    void set_codes(uint32_t used) {
        of_table = most_of_table(used);
        codes = of_table == 3 ? used | 1u << PAD : ~0u;
    }
    // Must be inlined, see bounded_product.
    inline __attribute__((always_inline)) int number(int code) const {
        return __builtin_popcount(codes & ((1u << code) - 1));
    }
    inline __attribute__((always_inline)) int numbers() const { return 2 * CODES / of_table; }
    inline __attribute__((always_inline)) int tables() const { return (count + of_table - 1) / of_table; }
};

// Row sequences of a batch in which every lane has its own, as Group has the columns.
struct OwnRows {
    static constexpr size_t ROWS = 4;
    const uint8_t* codes[MAX_LANES];
    int32_t lengths[MAX_LANES];
    int32_t rows;                   // of the longest, and PAD up to a multiple of ROWS
    uint32_t row_codes;             // bit set of the residues, with PAD
    int unambiguous;                // codes below it are residues that can be equal
    const ResidueClasses* classes;  // null: scores are looked up or come from profiles
    bool lookup;                    // which of these, see ByteKernel::looks_up
    FewRows few;
};

// Where the group of such a batch keeps what, see own_group.h.
struct OwnLayout {
    static constexpr int AT_ONCE = 64;  // columns whose scores are made ready at a time
    static constexpr size_t TABLE_BYTES = 2 * CODES;
    static constexpr int IN_BLOCK = 16;  // rows whose offsets stand together, of each lane
    size_t line_stride = 0, stride = 0;  // of sequences; of the residues of a profile
    size_t profile_bytes = 0;            // of a lane
    size_t codes = 0, rows = 0, others = 0, lines = 0, tables = 0, offsets = 0, taken = 0, scores = 0,
           profiles = 0;
    size_t bytes = 0;  // of all

    OwnLayout() = default;
    // Must be inlined, see bounded_product.
    inline __attribute__((always_inline)) OwnLayout(size_t lanes, const OwnRows& own, int32_t columns) {
        const size_t height = round(static_cast<size_t>(own.rows), IN_BLOCK),
                     width = round(static_cast<size_t>(columns), 16);
        line_stride = round(height > width ? height : width, 64) + 2 * AT_ONCE;
        rows = (width + 1) * lanes;
        others = rows + height * lanes;
        lines = others + lanes;
        bytes = tables = lines + line_stride * lanes;
        if (own.classes) return;
        bytes = offsets = tables + CODES * TABLE_BYTES;
        if (own.few.count) return;
        taken = offsets + height * lanes * sizeof(uint32_t);
        scores = taken + AT_ONCE * lanes;
        bytes = profiles = scores + 8 * AT_ONCE * lanes;
        if (own.lookup) return;
        stride = round(width, 64);
        // An odd number of cache lines, so that lanes do not meet in the same places of a cache.
        const size_t blocks = static_cast<size_t>(__builtin_popcount(own.row_codes));
        profile_bytes = blocks * stride + (blocks * stride / 64 % 2 ? 0 : 64);
        bytes = profiles + bounded_product(profile_bytes, lanes, 1) + AT_ONCE;  // which may be read
    }

private:
    static inline __attribute__((always_inline)) size_t round(size_t n, size_t to) {
        return (n + to - 1) / to * to;
    }
};

struct ByteBatch {
    const Scheme* scheme;
    const Group* group;
    const OwnRows* own;  // null: all lanes have the same row sequence
    const uint8_t* row;  // which it is
    int32_t rows;
    int first_lane;         // lanes before it are not part of the batch
    uint64_t row_is_query;  // mode END_GAPS: bit l: whether it is so in lane l
    bool trace;             // false: only `score` is set
    int32_t side;           // when tracing: rows of a tile, 16 times a power of two; or ALL_CELLS
    bool floors;            // local mode: scores of any size, see byte_floors.h
    int unambiguous;        // codes below it are residues that can be equal
    uint8_t* work;          // ByteLayout::bytes, 64-byte aligned
    const std::atomic<bool>* cancelled;
    uint64_t overflowed;    // bit set of lanes: scores that 8 bits do not hold, whose paths are not set
    Path paths[MAX_LANES];  // without runs
    // When tracing: a byte a column of each alignment, see byte_walk.h. They are written from the end of
    // `step_room` on downwards, 64 at a time; then `steps` is where they begin.
    uint8_t* step_room[MAX_LANES];  // its end: steps_room(...) bytes before, 64 readable ones after it
    uint8_t* steps[MAX_LANES];
    int32_t step_count[MAX_LANES];

    // No tiles: the first pass keeps the codes of all cells, see byte_traceback.h.
    static constexpr int32_t ALL_CELLS = 0;
    static constexpr int32_t FLOOR_COLUMNS = 16;  // in which a floor stays; divides the columns of tiles
    bool has_tiles() const { return trace && side != ALL_CELLS; }

    // Bytes for the steps of one pair.
    static size_t steps_room(int32_t rows, int32_t columns) {
        return (static_cast<size_t>(rows) + static_cast<size_t>(columns) + 64 + 63) / 64 * 64;
    }
};

// Of a row of tiles of a band what is filled: the columns after `before` up to `last`. When tracing:
// where the border above it and the columns left of its tiles would begin if all columns were kept, in bytes
// from the layout's borders.
struct BandRow {
    int32_t before, last;
    std::ptrdiff_t border, lefts;
};

// Global mode, own rows: lanes of which only a band is to be filled, see lane_bands.h. The group's
// `columns` is the most of: columns of a lane, and so many as the rows of all are more than its own.
struct LaneBand {
    uint64_t lanes;   // bit set of those to be tried
    double widest;    // share of a matrix that its band may take; 0: whatever it takes
    int32_t* bounds;  // [MAX_LANES] of H' in the last cell: what a beam finds, and a band is made for
    BandRow* tiles;   // [rows of tiles + 1], when tracing: what the traceback goes by

    // What came of it.
    uint64_t done;  // bit set of lanes
    int64_t cells;  // of lanes
};

// Where a batch keeps what. A border is a row above a tier: two vectors a column; a left border two a row.
struct ByteLayout {
    size_t lanes, border_bytes;
    size_t left_bytes, best_bytes, floors_bytes;  // of a row; of a tile; of a border
    size_t borders, spare, lefts, best, last_column, last_row, window, tile, floors, window_floors,
        peak;      // offsets
    size_t bytes;  // of all
    int32_t tile_columns;
    int32_t window_columns;  // at most that many are filled again

    // Must be inlined, see bounded_product.
    inline __attribute__((always_inline)) ByteLayout(int lanes_, Mode mode, int32_t rows, int32_t columns,
                                                     bool trace, int32_t side, bool has_floors = false)
        : lanes(static_cast<size_t>(lanes_)),
          border_bytes((static_cast<size_t>(columns) + 1) * 2 * lanes),
          left_bytes((has_floors ? 4 : 2) * lanes),
          best_bytes((has_floors ? 2 : 1) * lanes),
          floors_bytes(has_floors ? floors_of(columns) * 2 * lanes : 0),
          tile_columns(mode == LOCAL && !has_floors ? side / 2 : side),
          window_columns(side != ByteBatch::ALL_CELLS && side + tile_columns < columns ? side + tile_columns
                                                                                       : columns) {
        const bool tiles = trace && side != ByteBatch::ALL_CELLS;
        const size_t down = tiles ? static_cast<size_t>((rows - 1) / side + 1) : 0;
        const size_t across = tiles ? static_cast<size_t>((columns - 1) / tile_columns) : 0;
        const size_t height = trace ? static_cast<size_t>(tiles && side < rows ? side : rows) : 0;
        const size_t width = trace ? static_cast<size_t>(window_columns) : 0;
        borders = 0;
        spare = bounded_product(down + 1, border_bytes, 1);
        lefts = spare + (mode == LOCAL ? 0 : border_bytes);
        best = lefts + bounded_product(across, static_cast<size_t>(rows), left_bytes);
        last_column = best + (tiles ? bounded_product(down, across + 1, best_bytes) : best_bytes);
        last_row = last_column + (static_cast<size_t>(rows) + 1) * lanes;
        window =
            last_row + (mode == LOCAL || mode == GLOBAL ? 0 : (static_cast<size_t>(columns) + 1) * lanes);
        tile = window + 3 * (width + 1) * lanes;
        bytes = floors = tile + bounded_product(height + 1, width + 1, lanes);
        window_floors = peak = bytes;
        if (!has_floors) return;
        window_floors = floors + bounded_product(down + 1, floors_bytes, 1);
        peak = window_floors + (floors_of(window_columns) + 1) * 2 * lanes;
        bytes = peak + lanes;
    }

private:
    static inline __attribute__((always_inline)) size_t floors_of(int32_t columns) {
        return static_cast<size_t>((columns - 1) / ByteBatch::FLOOR_COLUMNS + 1);
    }
};

struct ByteKernel {
    static constexpr int RUNS_AT_ONCE = 16;
    int lanes;
    size_t (*group_bytes)(int32_t columns, uint32_t row_codes);
    void (*prepare)(const Scheme& scheme, Group& group);
    // The same for batches with own rows, but for the group's `row_codes`.
    size_t (*own_bytes)(const OwnRows& own, int32_t columns);
    void (*prepare_own)(const Scheme& scheme, Group& group, const OwnRows& own);
    void (*align)(ByteBatch& batch);
    bool looks_up;  // scores of own rows, also of few; else they come from profiles
    // The same of lanes of similar sequences, those of `done`: first bounds by a beam, then paths.
    void (*find_bounds)(ByteBatch& batch, LaneBand& band);
    void (*fill_band)(ByteBatch& batch, LaneBand& band);
    // Runs of a CIGAR and counts from the steps of a path. `out`: as in write_cigar, with room for
    // RUNS_AT_ONCE more.
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

// How far below a least H a floor is, see byte_floors.h. Must be inlined.
inline __attribute__((always_inline)) int32_t floor_margin(const Scheme& s) {
    return 2 * s.gap_open + (ByteBatch::FLOOR_COLUMNS - 1) * s.gap_extend + 1;
}

// What D adds to the score of two residues, in the other modes. Must be inlined.
inline __attribute__((always_inline)) int32_t byte_raise(const Scheme& s) {
    return s.gap_extend + s.gap_open;
}

}  // namespace pairalign
