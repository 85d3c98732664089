// A tile that a path is in, filled again with codes that say where every H comes from.
//
// A thread fills it. A word holds two of its cells: the low half one of the left columns, the high
// half one of the right columns, two rows further up: so what comes to them from the left columns
// is there in time. With PAIRALIGN_WIDE a word holds one cell.
//
// Values are taken relative to the tile's corner and times SCALE, which leaves six bits for a code
// that the maxima carry along; of equal values the one with the larger code wins, which is the tie
// rule.
// Ties: the walk back.
//
//   code   H comes from                                              why the order
//   63     nowhere: the alignment begins (local, H = 0)              stops before anything else
//   60, 61 the diagonal: a mismatch, a match                         before gaps
//   58     F, open since before the tile's first row                 in a transposed pair F
//   42-57  F, opened after row 57 - code                               comes before E,
//   33     E, open since before the tile's first column
//   17-32  E, opened after column 32 - code                          else E before F; the gap
//   16     F, as 58                                                  that has been open for
//   0-15   F, opened after row 15 - code                             longer before others
//
// In the right columns the codes of E are more by half_columns. So one code says how far to go
// back. A byte is kept for each cell of a tile, in shared memory: bytes [thread][step][row_bytes].
// The two bits above a code are some of its value.
#pragma once

#include "packed.cuh"

namespace {

constexpr int SCALE_BITS = 6, SCALE = 1 << SCALE_BITS;
constexpr int STOP = 63, MATCH = 61, MISMATCH = 60;
constexpr int F_FIRST = 42, E_CODES = 17, F_LAST = 0, OUTSIDE = 16;
static_assert(OUTSIDE == MOST_COLUMNS && OUTSIDE == TIER, "a code a row or column, and one more");
static_assert(F_LAST + OUTSIDE < E_CODES && E_CODES + OUTSIDE + MOST_COLUMNS / 2 < F_FIRST &&
                  F_FIRST + OUTSIDE < MISMATCH && STOP < SCALE,
              "codes must differ");

__host__ __device__ constexpr int tile_columns(int columns) { return columns / parts_of(columns); }
// Left columns of a tile of so many; there are as many right ones, of which the last two may be
// those of the next tile and are not looked at.
__host__ __device__ constexpr int half_columns(int columns) { return (columns + 3) / 4 * 2; }
__host__ __device__ constexpr int row_bytes(int columns) { return 2 * half_columns(columns); }
// Words of codes of a thread; the few more keep threads that access the same cell off each other's
// banks.
__host__ __device__ constexpr int tile_words(int columns) {
    return TIER * row_bytes(columns) / 4 + (half_columns(columns) % 4 == 0 ? 2 : 1);
}
// Entries of a profile's row: the few more put different residues on different banks.
__host__ __device__ constexpr int pitch_of(int columns, int width) { return width + (columns == 16 ? 8 : 4); }

__device__ __forceinline__ word clean(word value) { return value & (WIDE ? 0xffffffc0u : 0xffc0ffc0u); }

// The tile that a path is in, as pointers and numbers.
struct Tile {
    const word* tier;
    const unsigned char* residues;  // of the tier's first step
    int column;                     // first column of the tile, padded
    int lane, part;
    int last_step;              // of the tier that is needed
    int wanted;                 // local: value whose first cell is wanted, relative to the tile
    int first_step, stop_step;  // and only in these steps
};

// What a path is to a tile: with what it enters, and what refill finds besides the codes in memory.
struct Entry {
    int step, column;  // in the tile
    int e, f;          // codes of E right of the tile, and of F below it
    int found;         // local: the first cell with the wanted H, or NOT_FOUND; see `rank_of`
};

constexpr int NOT_FOUND = 1 << 10;
// The order of cells: step first, or column first.
// Ties: the end cell.
__device__ __forceinline__ int rank_of(bool row_first, int step, int column) {
    return row_first ? step << 4 | column : column << 4 | step;
}

// Values as borders keep them, H and the E or F beside it, of the pair in one half of words: their
// low bits.
struct Kept {
    unsigned h_bytes, gap_bytes;  // which bytes of two words
    __device__ __forceinline__ explicit Kept(int half)
        : h_bytes(half ? 0x0602 : 0x0400), gap_bytes(half ? 0x0703 : 0x0501) {}
    __device__ __forceinline__ word h(word x, word y) const {
        return WIDE ? x & 0xffffu : __byte_perm(x, y, h_bytes) & 0x00ff00ffu;
    }
    __device__ __forceinline__ word gap(word x, word y) const {
        return WIDE ? x >> 16 : __byte_perm(x, y, gap_bytes) & 0x00ff00ffu;
    }
};
// The difference of H from one kept value to the next, and 128 * SCALE more (wide: just that).
__device__ __forceinline__ word h_difference(word h, word before) {
    return WIDE ? (word)((int)(short)(h - before) * SCALE)
                : (h - before + 0x01800180u & 0x00ff00ffu) << SCALE_BITS;
}
constexpr int H_DIFFERENCE_BIAS = WIDE ? 0 : 128 * SCALE;
// The difference from H to the E or F kept with it, and 255 * SCALE more (wide: just that).
__device__ __forceinline__ word gap_difference(word gap, word h) {
    return WIDE ? 0 - ((h - gap & 0xffffu) << SCALE_BITS)
                : (gap - h + 0x01ff01ffu & 0x00ff00ffu) << SCALE_BITS;
}
constexpr int GAP_DIFFERENCE_BIAS = WIDE ? 0 : 255 * SCALE;

}  // namespace
