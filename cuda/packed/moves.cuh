// What a traced pair leaves: its alignment's columns, two bits each, and its fields.
//
// Moves are uint2 words of 32 columns, counted from the LAST one of the alignment: bit n of word w
// is for column 32 * w + n before the end.
//
//   bit of .x    bit of .y
//   0            0            diagonal: residues that differ
//   0            1            diagonal: a match
//   1            0            a gap that consumes the query
//   1            1            a gap that consumes the target
//
// A gap before the first of these columns (global mode: the rest of the way to the corner, along
// the matrix's border) is not among them: the spans tell how long it is.
#pragma once

#include "packed.cuh"

namespace {

// Of each pair: what results are, and what passes from kernel to kernel (COLUMNS and after).
enum Field {
    QUERY_START,
    QUERY_END,
    TARGET_START,
    TARGET_END,
    MATCHES,
    MISMATCHES,
    GAP_OPENINGS,
    GAP_RESIDUES,
    COLUMNS,  // that moves tell
    LEADING,  // residues of the gap before these: target's, or query's and negative
    RUNS,     // of the pairs before in the block of count_runs
    FIELDS
};

// CIGAR operations, as in SAM.
constexpr int INSERTION = 1, DELETION = 2, EQUAL = 7, DIFFERENT = 8;
static_assert(INSERTION + 1 == DELETION && DIFFERENT - 1 == EQUAL, "by the bits of a column");

// Room of a pair's moves in uint2, and where they begin; `place` matters where all pairs are
// aligned.
__device__ __forceinline__ int move_words(int rows, int columns) { return (rows + columns + 31) / 32 + 1; }
__device__ __forceinline__ long long moves_at(const Params& p, int place, int rows, int pair) {
    if (p.moves_of_pair) return p.moves_of_pair[pair];
    return p.moves_of_row[place] + (pair - p.first_pair_of_row[place]) * move_words(rows, p.longest);
}

}  // namespace
