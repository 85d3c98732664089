// What the host hands to the kernels that give each pair a thread: tiles of 32 pairs, and arguments.
//
// A tile is the share of one warp: BLOCK_ROWS / (BLOCK_WARPS) row sequences x BLOCK column sequences
// of a block of BLOCK x BLOCK pairs, as in gpu-pairAlign (Blazewicz et al. 2011), whose blocks are
// 16 x 16. With BLOCK = 16 a warp holds 2 x 16 pairs:
//
//     lane  0 ..15   row sequence tile.row      column sequences tile.column .. tile.column + 15
//     lane 16 ..31   row sequence tile.row + 1  the same
//
// `row` and `column` are positions in a set sorted longest first. Rows run over the longer sequence
// of a pair. With two sets that may be a sequence of the second one: the tile is `swapped` then.
#pragma once

#include <cstdint>

#ifndef BLOCK
#define BLOCK 16
#endif
static_assert(BLOCK == 8 || BLOCK == 16 || BLOCK == 32, "a warp must hold whole rows of a block");

constexpr int WARP = 32;
constexpr int BLOCK_THREADS = 256;  // 16 x 16 pairs
constexpr int BLOCK_WARPS = BLOCK_THREADS / WARP;
constexpr int TILE_ROWS = WARP / BLOCK;
constexpr int TIER = 8;      // rows of the DP matrix taken at once: eight cells of four flags fill a word
constexpr int LETTERS = 32;  // codes an alphabet may have

struct Tile {
    int32_t row, column;  // sorted positions of the first row sequence and the first column sequence
    uint32_t lanes;       // bit l: lane l has a pair
    int32_t swapped;      // 1: rows come from the second set and columns from the first
    int32_t columns;      // residues of the tile's longest column sequence: the pitch of its arrays
    int32_t unused;
    int64_t border;  // the tile's first entry in Arguments::border; columns x 32 entries
    int64_t trace;   // its first word in Arguments::trace; tiers x columns x 32 words
};
static_assert(sizeof(Tile) == 40, "TILE in pairalign/engines/device/tile_plan.py has the same layout");

// Columns of Arguments::results, each int32[pairs], pairs in the order of the window.
enum Result {
    SCORE,
    QUERY,  // input index
    TARGET,
    QUERY_START,
    QUERY_END,
    TARGET_START,
    TARGET_END,
    MATCHES,
    MISMATCHES,
    GAP_OPENINGS,
    GAP_RESIDUES,
    RUNS,
    END_ROW,  // the end cell, between the filling kernel and the traceback
    END_COLUMN
};

struct Arguments {
    const Tile* tiles;              // [tile_count]
    const uint8_t* codes[2];        // of the first and the second set: residues' codes,
    const int64_t* starts[2];       //   each sorted position's first byte (a multiple of 16),
    const int32_t* lengths[2];      //   its length,
    const int32_t* order[2];        //   and its input index
    const int32_t* pair_base;       // [window rows]: pair (row, column) is number pair_base[row] + column
    const int32_t* matrix;          // [32][32], raw scores
    void* border;                   // H and F of the last row of the tier above
    uint32_t* trace;                // flags
    int32_t* results;               // [Result][pairs]
    const int64_t* run_offsets;     // [pairs + 1]: where each pair's CIGAR runs belong
    uint32_t* runs;                 // CIGAR runs of all pairs
    int32_t tile_count, first_row;  // first_row: window row of pair_base[0]
    int32_t pairs, minimum;         // minimum: raw score below which a pair is not traced
    int32_t gap_open, gap_extend;
    int32_t unambiguous, one_set;  // codes >= unambiguous never match; one_set: both sets are the same
    int32_t scored, unused;        // scored: SCORE is known, and pairs below `minimum` are not filled
    // Mode END_GAPS: open and extend of a gap opposite the first residues of the query, opposite its last
    // ones, and the same of the target.
    int32_t ends[8];
};
static_assert(sizeof(Arguments) == 200,
              "ARGUMENTS in pairalign/engines/device/tile_plan.py has the same layout");

enum End { AT_START = 0, AT_END = 2 };

// The costs of an end gap opposite residues of the query, or of the target: open and extend.
__device__ inline const int32_t* end_costs(const Arguments& arguments, bool of_query, End end) {
    return arguments.ends + (of_query ? 0 : 4) + end;
}
__device__ inline bool is_free(const int32_t* costs) { return costs[0] == 0 && costs[1] == 0; }
__device__ inline int cost_of(const int32_t* costs, int residues) {
    return residues == 0 ? 0 : costs[0] + (residues - 1) * costs[1];
}

// The pair of one lane.
struct Pair {
    bool active;
    int row, column;    // sorted positions
    int rows, columns;  // lengths
    const uint8_t* row_codes;
    const uint8_t* column_codes;
    int number;         // in the order of the window
    bool row_is_query;  // the query is the sequence that comes earlier in the input
};

__device__ inline Pair pair_of_lane(const Arguments& arguments, const Tile& tile, int lane) {
    Pair pair;
    pair.active = (tile.lanes >> lane) & 1u;
    const int row_set = tile.swapped, column_set = 1 - tile.swapped;
    // Lanes without a pair take the first pair's sequences: their profile is read by nobody.
    pair.row = tile.row + (pair.active ? lane / BLOCK : 0);
    pair.column = tile.column + (pair.active ? lane % BLOCK : 0);
    pair.rows = pair.active ? arguments.lengths[row_set][pair.row] : 0;
    pair.columns = pair.active ? arguments.lengths[column_set][pair.column] : 0;
    pair.row_codes = arguments.codes[row_set] + arguments.starts[row_set][pair.row];
    pair.column_codes = arguments.codes[column_set] + arguments.starts[column_set][pair.column];
    const int window_row = tile.swapped ? pair.column : pair.row;
    const int window_column = tile.swapped ? pair.row : pair.column;
    pair.number = pair.active ? arguments.pair_base[window_row - arguments.first_row] + window_column : 0;
    pair.row_is_query =
        arguments.one_set ? arguments.order[0][pair.row] < arguments.order[0][pair.column] : !tile.swapped;
    return pair;
}
