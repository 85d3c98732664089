// What the kernels for long pairs share: parameters, and the words between strips. The cells of a lane
// are in cells.cuh, a warp's strip of them in strip.cuh.
//
// A pair's matrix is cut into strips of 32 * K rows, one a warp; lane l has K of its rows in registers
// and is l columns behind lane 0, so that what a lane hands down (H and F of its last row) is what the
// next one needs a step later. Strips follow each other through the columns like the diagonals of
// blocks of Huynh et al.: as soon as a strip has a chunk of columns of its last row, the next one takes
// it.
//
//     words[columns]     the row between two strips, in global memory, in place: strip s reads what
//                        strip s - 1 wrote and writes what strip s + 1 reads
//
//     | bits  | of a word                                                                       |
//     |-------|---------------------------------------------------------------------------------|
//     | 0-31  | H                                                                               |
//     | 32-51 | H less the gap state handed on (E or F of the next cell): 0 to gap_open         |
//     | 52-63 | which strip may read it: 1 + strip % 4095; 0: nobody                            |
//
// A word is loaded and stored as one, so no fence and no flag beside it is needed: who waits looks at
// the words that he needs. Warps take strips by an atomic ticket in their order, so who is waited for
// is always under way already, however few blocks a device holds at a time. No more than 4,094 warps
// may run: then a word never looks as if it were for a later strip. Strips that have long to wait,
// which they see by whom the first word is for, sleep: all looking at one word would slow down those
// whose turn it is.
//
// For a traceback the borders of tiles stay: the row below every `tile` rows, and H and E right of
// every `tile` columns. A tile on the path is a small matrix of its own, with borders from there.
//
// Stored scores. Global and semiglobal: H + (i + j) * gap_extend; gaps then go on at no cost, and
// opening one costs gap_open - gap_extend. Local: H. Borders hand on a gap that they open; there is no
// minus infinity. Rows beyond the last score `low` with everything; nothing flows up from them.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

#ifndef PAIRALIGN_MODE
#define PAIRALIGN_MODE 0  // 0 global, 1 semiglobal, 2 local
#endif
#ifndef PAIRALIGN_WORDS
#define PAIRALIGN_WORDS 0  // 1: scores of residues need 32 bits, else 8
#endif
#ifndef PAIRALIGN_CHUNK
#define PAIRALIGN_CHUNK 32  // columns handed on at a time: 16 or 32
#endif

typedef unsigned long long word;

struct Pair {
    const uint8_t* row_residues;  // codes
    const uint8_t* column_residues;
    word* handed;        // [columns]: the row between strips
    word* kept_rows;     // [(rows - 1) / tile][columns]: matrix rows tile, 2 * tile, ...
    word* kept_columns;  // [(columns - 1) / tile][padded_rows]: matrix columns tile, 2 * tile, ...
    int32_t* best;       // local: [strips][tile columns], the highest score
    uint32_t* runs;      // one past the room for CIGAR runs, which come last run first
    int32_t rows, columns;
    int32_t padded_rows;  // whole strips
    int32_t strips;
    int32_t row_is_query;
    int32_t unused;
};
static_assert(sizeof(Pair) == 80,
              "PAIR in pairalign/engines/cuda/block_diagonals/block_diagonals_plan.py has the same layout");

// All zero at first. Keys are compared as numbers: a score above 0 in the upper half.
struct Progress {
    word row_key;     // semiglobal: the best cell of the last row but its last; low half: ~column
    word column_key;  // semiglobal: the best cell of the last column; low half: ~row
    word place;       // local: ~(column << 32 | row) of the end cell
    int32_t score;
    int32_t tile_column;                 // local: where the end cell is
    int32_t row, column, state, active;  // of the walker
    int32_t operation, length;           // of the run being collected
    int32_t matches, diagonals, openings, runs;
    int32_t end_row, end_column;
};
static_assert(
    sizeof(Progress) == 80,
    "PROGRESS in pairalign/engines/cuda/block_diagonals/block_diagonals_plan.py has the same layout");

struct Params {
    const Pair* pairs;
    Progress* progress;
    const int2* items;  // (pair, strip), strips of a pair in their order
    uint32_t* ticket;
    const int32_t* table;  // [32][32]: stored scores of two dense residues
    const uint8_t* dense;  // [32]: code -> dense residue
    word* scratch;         // [pairs][scratch_tiles][tile]: rows between strips of a tile
    uint16_t* flags;       // [pairs][slots][tile / TILE_STRIP][tile + 32][32]
    int32_t first_item, items_stop;
    int32_t pair_count, letters;
    int32_t gap_open, gap_extend;
    int32_t tile, slots;
    int32_t scratch_tiles, low;
    int32_t unambiguous, traced;
    int32_t min_score, want_runs;
    int32_t rows_a_lane;  // of the filling kernel
    int32_t warp_words;   // shared memory of a warp
};
static_assert(
    sizeof(Params) == 128,
    "PARAMETERS in pairalign/engines/cuda/block_diagonals/block_diagonals_plan.py has the same layout");

namespace {

constexpr bool GLOBAL = PAIRALIGN_MODE == 0;
constexpr bool SEMIGLOBAL = PAIRALIGN_MODE == 1;
constexpr bool LOCAL = PAIRALIGN_MODE == 2;
constexpr bool WORDS = PAIRALIGN_WORDS != 0;
constexpr int TILE_ROWS = 4;  // rows a lane, when tiles are filled again
constexpr int TILE_STRIP = 32 * TILE_ROWS;
constexpr int CHUNK = PAIRALIGN_CHUNK;
static_assert(CHUNK == 16 || CHUNK == 32, "a chunk is handed on by the lanes of one warp");
constexpr int GAP_BITS = 20, TAGS = 4095;
static_assert(GAP_BITS + 12 == 32 && TAGS < 1 << 12, "H's difference and a tag fill 32 bits");
constexpr unsigned ALL = 0xffffffffu;

// Words that other warps read or write at the same time: from and to the cache that all share.
__device__ __forceinline__ word load_word(const word* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    word value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
#else
    return *(const volatile word*)from;
#endif
}
__device__ __forceinline__ void store_word(word* to, word value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
    *(volatile word*)to = value;
#endif
}

__device__ __forceinline__ word make_word(int h, int gap, int tag) {
    return (word)(uint32_t)(h - gap | tag << GAP_BITS) << 32 | (uint32_t)h;
}
__device__ __forceinline__ int h_of(word w) { return (int)(uint32_t)w; }
__device__ __forceinline__ int gap_of(word w) { return h_of(w) - (int)((w >> 32) & ((1 << GAP_BITS) - 1)); }
__device__ __forceinline__ int tag_of(word w) { return (int)(w >> (32 + GAP_BITS)); }
__device__ __forceinline__ int tag_for(int strip) { return 1 + strip % TAGS; }

__device__ __forceinline__ int opening_of(const Params& p) {
    return LOCAL ? p.gap_open : p.gap_open - p.gap_extend;
}

// H of row 0 in column n, or of column 0 in row n.
__device__ __forceinline__ int border(const Params& p, int n) {
    return LOCAL ? 0 : SEMIGLOBAL ? n * p.gap_extend : n == 0 ? 0 : p.gap_extend - p.gap_open;
}

template <class T>
__device__ __forceinline__ T warp_max(T value) {
    for (int lanes = 16; lanes > 0; lanes /= 2) value = max(value, __shfl_xor_sync(ALL, value, lanes));
    return value;
}

}  // namespace
