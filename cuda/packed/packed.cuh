// What the packed kernels share: the arithmetic of a word, the parameters and the layout of tiles.
//
// A word holds the same cell of two pairs (A in the low half, B in the high one; unsigned 16-bit
// lanes), or, with PAIRALIGN_WIDE, one pair in 32 bits. Both pairs of a word have the same row
// sequence; their column sequences are neighbours in the sorted set.
//
// Coordinates. Here "columns" are those of the window (sorted position in the second set) and
// "rows" those of the first; where a column's sequence is the longer one, the pair is transposed
// and the tie rules are exchanged. A column sequence is padded IN FRONT to `width` columns, so
// both pairs of a word end in the same column. Padding residues score so that every padded column
// holds exactly what the border of the matrix would hold:
//
//   mode          stored value of H(i,j)                      score of padding   floor
//   global        bias + H + (i + j) * extend                 see `table`        none
//   semiglobal    bias + H + (i + j + constant) * extend      0                  none
//   local         bias + H                                    below 0            bias
//   end gaps      bias + H + (i + j) * extend                 see `table`        none
//
// End gaps: mode semiglobal with costs at the ends (PAIRALIGN_MODE 3), the same for query and target. The
// border holds edge_bias + i * edge_step, also at 0: what opening costs more than extending is in edge_bias.
// Only H(0,0) is `bias`. There, in front of each sequence, stands a residue of its own (p.letters - 2), which
// scores that difference with itself and is a padding residue otherwise.
//
// With the shift (i + j) * extend both extensions cost nothing: E(i,j+1) = max(E(i,j), H - open'),
// open' = open - extend, which together with the subtraction is one instruction. The bias keeps
// every half-word from borrowing, so that words can be added with a plain 32-bit multiply-add,
// which runs on another pipe than the maxima.
//
// Tiles. A group of G lanes holds G * K columns, K a lane, and takes one row a step; lane l is
// l * ROWS rows behind lane 0. All lanes save at the same step, every TIER steps, so a tile is a
// parallelogram: columns of a lane, rows that this lane takes in one tier of steps. A lane with
// many columns is two tiles side by side (parts_of). Neighbouring H differ by little, and E and F
// are never far below the H that they are kept with; so the low bits of both are enough (`packed`),
// and one absolute H for each tile. A tier is
//   uint4 rowline[K/4][G]            (H, F) of the columns before the tier's first step, F being
//                                    that of the next row; four columns of a lane together
//   uint4 border[parts][TIER/4][G]   (H, E) that came in from the left of a tile in four steps
//   word corner[parts][G]            H left of the tile, before the tier's first step
//   word best[G]                     each lane's best H of the tier (local only)
// Written 16 bytes a lane, neighbours side by side: what a warp writes then lies in few lines.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

#ifndef PAIRALIGN_MODE
#define PAIRALIGN_MODE 0  // 0 global, 1 semiglobal, 2 local, 3 end gaps
#endif
#ifndef PAIRALIGN_WIDE
#define PAIRALIGN_WIDE 0
#endif
#ifndef PAIRALIGN_TIER
#define PAIRALIGN_TIER 16
#endif

namespace {

constexpr bool GLOBAL = PAIRALIGN_MODE == 0;
constexpr bool END_GAPS = PAIRALIGN_MODE == 3;
constexpr bool SEMIGLOBAL = PAIRALIGN_MODE == 1 || END_GAPS;
constexpr bool LOCAL = PAIRALIGN_MODE == 2;
constexpr bool WIDE = PAIRALIGN_WIDE != 0;
constexpr int PAIRS = WIDE ? 1 : 2;  // pairs in a word
constexpr int TIER = PAIRALIGN_TIER;
// Rows that a lane does side by side, the lower one a column behind the upper one: in local mode
// too little can be done at the same time in one row. A lane then is as many rows behind the next.
constexpr int ROWS = LOCAL ? 2 : 1;
constexpr int LETTERS = 32;       // row stride of the score table
constexpr int MOST_COLUMNS = 16;  // of a tile
static_assert(TIER == 16, "steps of a tier are told by four bits of a code");

typedef unsigned int word;

struct Params {
    // Sequences by sorted position: dense codes, at least 96 padding residues around each.
    const unsigned char* row_residues;
    const long long* row_starts;
    const int* row_lengths;
    const unsigned char* column_residues;
    const long long* column_starts;
    const int* column_lengths;
    const int* row_order;  // sorted position -> input index
    const int* column_order;
    const int* row_ranks;  // sorted position -> rank, see pairalign/sequences/row_order.py; of one set null
    const int* column_ranks;
    const int* table;  // [LETTERS][LETTERS] score of (row residue, column residue) as stored
    // Work: an item is one or two columns and a range of places of rows, a block each. Place n is
    // row first_row + n, or rows[n] where pairs were chosen (`rows` is not null).
    const int4* items;            // column, first place, place after the last, columns (1 or 2)
    const int* rows;              // [places] or null
    const int2* pair_of_place;    // [places] numbers of the two pairs, -1: not chosen; or null
    const long long* item_tiles;  // [items] first uint4 of the item's tiles
    const int* tiers_before;      // [places + 1] tiers of the rows before
    uint4* tiles;
    const long long* item_borders;       // [items] first entry of the item's strip borders
    const long long* residues_before;    // [places + 1] row residues of the rows before
    uint2* borders;                      // (H, E) that leave a strip's last column, a row residue each
    const long long* pair_of_row;        // [places] number of the pair (row, column 0)
    const long long* moves_of_row;       // [places + 1] moves, in uint2, of the rows before
    const long long* first_pair_of_row;  // [places + 1] pairs of the rows before
    const long long* moves_of_pair;      // [pairs + 1] of the pairs before, of chosen pairs; or null
    int* score;                          // [pairs]
    int* end_row;                        // [pairs] semiglobal: cell where the alignment ends,
    int* end_column;                     //         counted from 1; 0 is the border
    int* fields;                         // [FIELDS][pairs], see moves.cuh
    uint2* moves;                        // of each pair, see moves.cuh; null: these are only counted
    const int4* chunks;                  // traceback: item, first place, place after the last, unused
    uint4* profiles;                     // traceback of far items: profiles in global memory
    const long long* item_profiles;      // [items] first uint4 of the item's profile
    int* query;                          // [pairs] input indices; of one set query < target
    int* target;
    long long pairs;
    int first_row;
    int first_column;
    int triangular;
    int letters;      // rows of a profile: letters of the alphabet in use, and the padding
    int unambiguous;  // residues below are never ambiguous
    int gap_open;     // open' = open - extend where values are shifted, else open
    int gap_extend;
    int shift;  // extend where values are shifted, else 0
    int bias;
    int tile_bias;  // added to a tile's values, see traceback
    int min_score;
    int one;      // 1, but the compiler must not know
    int group;    // lanes of a group (G) in the kernel that filled the tiles
    int longest;  // residues of the batch's longest column
    int places;
    int unused;
    word open_codes[MOST_COLUMNS];  // traceback: opening E after a tile's column, see tile.cuh
    // End gaps: the border, and what gaps cost at the start and at the end.
    int edge_bias, edge_step;
    int start_open, start_extend, end_open, end_extend;
};

// Whether the column's sequence is the row sequence of the definitions, and the pair's matrix transposed.
__device__ __forceinline__ bool is_transposed(const Params& p, int row, int column) {
    return p.row_ranks && p.column_ranks[column] < p.row_ranks[row];
}

__device__ __forceinline__ int row_at(const Params& p, int place) {
    return p.rows ? p.rows[place] : p.first_row + place;
}
// Number of a pair of a word, or -1 if there is none to align.
__device__ __forceinline__ int pair_at(const Params& p, const int4& item, int place, int half) {
    const int column = item.x + half;
    if (half >= item.w) return -1;
    if (p.pair_of_place) return half ? p.pair_of_place[place].y : p.pair_of_place[place].x;
    if (p.triangular && p.first_row + place >= column) return -1;
    return (int)(p.pair_of_row[place] + column);
}

__device__ __forceinline__ word both(int value) {
    return WIDE ? (word)value : ((word)value & 0xffffu) | ((word)value << 16);
}
__device__ __forceinline__ word two(int low, int high) {
    return WIDE ? (word)low : ((word)low & 0xffffu) | ((word)high << 16);
}
__device__ __forceinline__ int half_of(word value, int half) {
    return WIDE ? (int)value : (int)(half ? value >> 16 : value & 0xffffu);
}
// A packed number as an integer: what adding it to a word with a multiply-add takes.
__device__ __forceinline__ word as_integer(int low, int high) {
    return WIDE ? (word)low : (word)low + ((word)high << 16);
}

__device__ __forceinline__ word maximum(word a, word b) {
    return WIDE ? (word)max((int)a, (int)b) : __vmaxu2(a, b);
}
__device__ __forceinline__ word maximum(word a, word b, word c) {
    return WIDE ? (word)__vimax3_s32((int)a, (int)b, (int)c) : __vimax3_u16x2(a, b, c);
}
__device__ __forceinline__ word add_maximum(word a, word b, word c) {  // max(a + b, c)
    return WIDE ? (word)__viaddmax_s32((int)a, (int)b, (int)c) : __viaddmax_u16x2(a, b, c);
}
__device__ __forceinline__ word add_lanes(word a, word b) { return WIDE ? a + b : __vadd2(a, b); }
// a + b with the multiply-add pipe. `b` is an integer (see as_integer); no half may go below 0.
__device__ __forceinline__ word add_words(word a, word b, int one) {
#if defined(PAIRALIGN_EMULATE)
    return a * (word)one + b;
#else
    word sum;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(b));
    return sum;
#endif
}

__device__ __forceinline__ int steps_of(int rows, int group) { return (rows + ROWS * (group - 1) + 1) & ~1; }
// Steps that lane 0 takes before the first row, so that their number is even: 0 or 1.
__device__ __forceinline__ int idle_steps_of(int rows) { return (rows + ROWS) & 1; }
__device__ __forceinline__ int tiers_of(int rows, int group) {
    return (steps_of(rows, group) + TIER - 1) / TIER;
}
// Tiles that a lane's columns are split into, side by side.
__host__ __device__ constexpr int parts_of(int columns) { return columns > MOST_COLUMNS ? 2 : 1; }
// A tier's size in uint4, and where its parts begin, in words.
__host__ __device__ constexpr int tier_stride(int group, int columns) {
    return group * (columns + parts_of(columns) * (TIER + 1) + 1) / 4;
}
__host__ __device__ constexpr int borders_at(int group, int columns) { return group * columns; }
__host__ __device__ constexpr int corners_at(int group, int columns) {
    return group * (columns + parts_of(columns) * TIER);
}
__host__ __device__ constexpr int bests_at(int group, int columns) {
    return group * (columns + parts_of(columns) * (TIER + 1));
}
// H and the E or F beside it, the low bits of both: 8 of each half, or 16 of a whole word.
__device__ __forceinline__ word packed(word h, word gap) {
    return __byte_perm(h, gap, WIDE ? 0x5410 : 0x6240);
}

// Stored H before the first row (global: "rows" <= 0) in padded column `column` (-1: left border).
// `row` counts from -group + 1 - lane up; it matters in semiglobal mode only.
__device__ __forceinline__ word start_value(const Params& p, int group, int row, int column, int padding_a,
                                            int padding_b) {
    if (LOCAL) return both(p.bias);
    if (END_GAPS) {
        const auto of = [&](int padding) {
            if (row == 0 && column == padding - 1) return p.bias;
            return p.edge_bias + max(column - padding + 1, 0) * p.edge_step;
        };
        return two(of(padding_a), of(padding_b));
    }
    if (SEMIGLOBAL) return both(p.bias + (row + group + column + 1) * p.shift);
    return two(column < padding_a ? p.bias : p.bias - p.gap_open,
               column < padding_b ? p.bias : p.bias - p.gap_open);
}

// End gaps: what one of so many residues costs.
__device__ __forceinline__ int end_cost(int open, int extend, int residues) {
    return residues == 0 ? 0 : open + (residues - 1) * extend;
}

// The residue of a column that is `at` columns after the first of its sequence, which begins at `start`. In
// mode END_GAPS there is one of its own before the first.
__device__ __forceinline__ int column_residue(const Params& p, long long start, int at) {
    return at < (END_GAPS ? -1 : 0) ? p.letters - 1 : p.column_residues[start + at];
}

}  // namespace
