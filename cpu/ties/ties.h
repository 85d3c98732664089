// How many optimal alignments pairs have. docs/ties.md says which alignments are different ones.
//
// A pair's alignments are the paths through three states a cell, by its last column: M ends in two residues,
// E in a gap that consumes a column residue, F in one that consumes a row residue. So each sequence of
// columns is one path, also where opening and extending a gap cost the same:
//     M(i,j) = max(M, E, F)(i-1,j-1) + S
//     E(i,j) = max(E(i,j-1) - extend, max(M, F)(i,j-1) - open)
//     F(i,j) = max(F(i-1,j) - extend, max(M, E)(i-1,j) - open)
// and the number of paths to a state is the sum over those predecessors that attain its value. Beside each
// value stands its number, which stops at 2^32 - 1.
//
// Not local: row 0 and column 0 hold the cost of the end gap that a path begins after. A path ends when it is
// in the last row or column, where no gap goes on that would be an end gap. Mode global has end gaps that
// cost what others do, mode semiglobal such that cost nothing.
// Local: a path begins at a 0 and has no end that scores 0, so values below 1 are dropped, and a path is
// not counted on where it has the best score.
//
// The ctypes declarations are in pairalign/alignments/tie_counts.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../export.h"

// Pairs of two sets, or of one with itself, those of a row sequence together.
struct pairalign_tie_pairs {
    const uint8_t* codes[2];    // of each set, residues one after the other
    const int64_t* offsets[2];  // [sequences + 1]
    const uint8_t* complement;  // [32] of codes; null: there is one strand
    const int32_t* rows;        // [count] input index of what runs along the rows
    const int32_t* columns;     // [count]
    const int32_t* best;        // [count] raw scores
    const uint8_t* row_set;  // [count] which set the row sequence is of; the other sequence is of the other
    const uint8_t* turned;   // [count] whether the column sequence is reverse-complemented
    int64_t count;
};

struct pairalign_tie_costs {
    const int32_t* matrix;       // [32][32]
    int32_t open, extend;        // of a gap
    int32_t end_costs[2][4][2];  // row sequence of set 0, of set 1: of gaps opposite its start, its end, the
                                 // start of the column sequence, its end: open and extend
    int32_t local;
    int32_t whole;  // mode global: end gaps are columns also where they cost nothing
};

// Writes the numbers of optimal alignments with at least one column, 0 where `best` is not the best score. 1:
// no memory.
PAIRALIGN_API int32_t pairalign_count_ties(const pairalign_tie_pairs* pairs, const pairalign_tie_costs* costs,
                                           int32_t threads, const char* instruction_set, uint32_t* counts);

namespace pairalign {

constexpr int TIE_LANES = 8;  // at most
enum TieEnd { ROW_START, ROW_END, COLUMN_START, COLUMN_END };

// Pairs that are counted together, a lane each.
struct TieBatch {
    const uint8_t* rows[TIE_LANES];
    const uint8_t* columns[TIE_LANES];
    int32_t heights[TIE_LANES], widths[TIE_LANES];  // each at least 1
    int32_t best[TIE_LANES];
    int32_t height, width;  // the largest
    bool one_row;           // the row sequence of all lanes is the same
    const int32_t* matrix;
    int32_t open, extend;
    const int32_t (*end_costs)[2];  // by TieEnd
    bool local;
    void* memory;  // of tie_bytes, aligned to 64 bytes
    uint32_t counts[TIE_LANES];
    bool is_more[TIE_LANES];  // whether an alignment scores more than `best`
};

struct TieKernel {
    const char* name;
    int lanes;
    size_t (*bytes)(int32_t width, bool one_row);
    void (*count)(TieBatch& batch);
};

}  // namespace pairalign
