// The next best, non-intersecting alignment of two sequences: the best that reuses no residue pair of an
// earlier one (Waterman and Eggert 1987). The C ABI that pairalign/engines/cpu/suboptimal.py declares with
// ctypes, and what suboptimal.cpp asks of the kernels, one for each instruction set.
//
// M. S. Waterman, M. Eggert: A new algorithm for best subsequence alignments with application to tRNA-rRNA
// comparisons. J. Mol. Biol. 197:723-728, 1987.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../export.h"

// Two sequences, how they are scored, and the alignments that are known. Rows and columns as everywhere;
// codes are below 32.
struct pairalign_suboptimal_pair {
    const uint8_t* rows;
    const uint8_t* columns;
    const int32_t* matrix;        // [32][32]
    const int32_t* used_starts;   // [used][2]: row and column before the first residues of each
    const int64_t* used_offsets;  // [used + 1]
    const uint32_t* used_runs;    // as in CIGARs, rows and columns as the query says
    const int32_t* cancelled;     // may become 1 while it runs
    int32_t row_count, column_count;
    int32_t gap_open, gap_extend;
    int32_t is_local;     // else semiglobal
    int32_t unambiguous;  // codes from here on never match
    int32_t least;        // score, at least 1
    int32_t query_is_row;
    int32_t used;
    int32_t least_run;  // equal residues in a row that an alignment must have to be of use: for the screen
    // For bands, whose pairs were found by seeds: residues of one, what seeds near each other must have, see
    // seed_squares.h, and what an alignment near them must score. Without seeds, 0.
    int32_t word, least_seeds, least_near;
};

// An alignment: spans half-open, counts as in Alignments.
struct pairalign_suboptimal_found {
    int32_t score;
    int32_t row_start, row_end, column_start, column_end;
    int32_t matches, mismatches, gap_openings, gap_residues;
    int32_t run_count;
};

// Aligns pairs once more: `found` of one has score 0 where none scores enough. Its runs begin at `runs_at`,
// where there is room for row_count + column_count. Pairs with the same columns that follow one another take
// less time. Returns 0; -1 without memory, -2 when cancelled.
PAIRALIGN_API int32_t pairalign_suboptimal_alignments(const pairalign_suboptimal_pair* pairs, int64_t count,
                                                      const char* instruction_set, int32_t threads,
                                                      pairalign_suboptimal_found* found, uint32_t* runs,
                                                      const int64_t* runs_at);

// Aligns where that can be proven to be the best alignment without filling the matrix: see proven_band.cpp.
// Returns 1 with the alignment, whatever it scores; 2 where none scores `pair->least`, and that was faster
// to tell; 3 where the matrix has to be filled to know that what was found is the best; 0 where nothing was
// found; or what the first function returns below it. `rest`: no other alignment scores more. `lowered` is
// for tests: it makes the proof unsound. Where pairs have seeds, it is taken for granted that alignments
// which score enough are near what was found, or have seeds.
PAIRALIGN_API int32_t pairalign_band_alignment(const pairalign_suboptimal_pair* pair,
                                               const char* instruction_set, pairalign_suboptimal_found* found,
                                               uint32_t* runs, int32_t* rest, int32_t lowered);

// Says of each of `count` pairs whether it may have an alignment with `least_run` equal residues, at least 1.
// 0, or what the other function returns below it.
PAIRALIGN_API int32_t pairalign_suboptimal_screen(const pairalign_suboptimal_pair* pairs, int64_t count,
                                                  int32_t threads, uint8_t* may);

// The arrays of a loop are different ones.
#if defined(__clang__)
#define PAIRALIGN_NO_ALIAS _Pragma("clang loop vectorize(assume_safety)")
#else
#define PAIRALIGN_NO_ALIAS _Pragma("GCC ivdep")
#endif

namespace pairalign {

// A cell whose residues are not put together again.
struct UsedCell {
    int32_t diagonal;  // row + column
    int32_t row;
    bool operator<(const UsedCell& other) const {
        return diagonal != other.diagonal ? diagonal < other.diagonal : row < other.row;
    }
};

// Where H of a cell came from, and whether gaps go on; a byte a cell.
enum SuboptimalFlag : uint8_t {
    SUBOPTIMAL_DIAGONAL = 1,
    SUBOPTIMAL_E = 2,
    SUBOPTIMAL_E_ON = 4,
    SUBOPTIMAL_F_ON = 8,
    SUBOPTIMAL_STOP = 16,
};

// Two sequences as kernels take them. Cells are computed by antidiagonals, row + column; each has its rows in
// an array, so that neighbours are independent of each other.
struct SuboptimalJob {
    const pairalign_suboptimal_pair* pair;
    std::vector<UsedCell> used;            // sorted
    std::vector<UsedCell> used_by_strips;  // a strip's after those of the strip above
    std::vector<uint8_t> row_codes;  // as in the pair, or renamed where residues match or do not, and no more
    std::vector<uint8_t> column_codes;
    bool is_simple;  // then `match` is for equal codes, `mismatch` for others
    int32_t match, mismatch;
    int32_t step;  // diagonals from one checkpoint to the next
};

// Codes of rows and of columns that never match.
constexpr uint8_t SUBOPTIMAL_NO_ROW = 100, SUBOPTIMAL_NO_COLUMN = 101;

// The largest score of residues, and cost, that cells of 16 and of 8 bits are given.
constexpr int32_t SUBOPTIMAL_MOST_SHORT = 8000, SUBOPTIMAL_MOST_BYTE = 60;

constexpr int32_t SUBOPTIMAL_STRIP = 512;  // rows of a strip, and rows and columns of a tile

// The borders of tiles, of which tracebacks fill those again that a path crosses.
struct SuboptimalGrid {
    int16_t* rows;     // [strips + 1][pitch][2]: H and F of the last row of the strip above
    int16_t* columns;  // [strips][across][SUBOPTIMAL_STRIP][2]: H and E of the last column of the tile before
    int32_t* highest;  // [strips + 1]: H of those rows
    bool* has_columns;  // [strips]: of others, which have cells of 8 bits, `columns` are not kept yet
    int64_t pitch;      // more than columns and rows of a strip; what is after the columns matches nothing
    int32_t across;

    int16_t* above(int32_t strip) const { return rows + 2 * strip * pitch; }
    int16_t* before(int32_t strip, int32_t tile) const {
        return columns + 2 * (int64_t{strip} * across + tile) * SUBOPTIMAL_STRIP;
    }
};

struct SuboptimalEnd {
    int32_t score = 0, row = 0, column = 0;
};

// The states before diagonals 2, 2 + step, ...: H of the two diagonals before, then E and F of the one
// before.
struct SuboptimalCheckpoints {
    std::vector<int16_t> narrow;
    std::vector<int32_t> wide;
};

struct SuboptimalCell {
    int32_t row, column;  // from 1 on
};

// Scores of alignments on free cells that end in the row and in the column of a cell, from that cell on.
struct SuboptimalBorder {
    SuboptimalCell corner;
    int32_t size;
    uint8_t *row, *column;  // [size]
};

// A cell whose residues are not put together again, of a pair of a group.
struct SuboptimalBarred {
    int32_t column, row;  // from 1 on
    int32_t lane;
};

constexpr int32_t SUBOPTIMAL_TIER = 64;  // rows of a group that are filled before those below them

// Pairs that are filled together, a lane each: of the same columns, costs, and `cancelled`.
struct SuboptimalGroup {
    const pairalign_suboptimal_pair* const* pairs;
    int32_t count;                   // at most `lanes` of the kernel
    int32_t rows;                    // of the longest
    int32_t bias;                    // is added to scores of residues
    const SuboptimalBarred* barred;  // by tier, then by column
    size_t barred_count;
    uint8_t* cells;  // [3 * SUBOPTIMAL_TIER + columns + 1][lanes], for the kernel
    // What is found: H, [tiers][columns + 1][SUBOPTIMAL_TIER][lanes], and the ends, whose rows are the first
    // ones of the tier that have the score.
    uint8_t* h;
    SuboptimalEnd* ends;  // [count]
};

// Bands of equal size around diagonals of pairs, a lane each. What is not in a sequence matches nothing.
struct SuboptimalPlaces {
    const uint8_t* rows;     // [row_count][lanes]
    const uint8_t* columns;  // [row_count + diagonals][lanes]: row r is in columns from r on
    uint8_t* cells;          // [2 * diagonals + 1][lanes], for the kernel
    int32_t row_count, diagonals;
    int32_t match, mismatch, gap_open, gap_extend;
    int32_t enough;  // of 8 bits
};

constexpr int32_t SUBOPTIMAL_DRIFT = 4;  // rows beyond an alignment in which its diagonal may change by one

constexpr int32_t BAND_STRIP = 32;  // rows of a strip of a band
constexpr int32_t BAND_PAD = 64;    // columns beside the matrix that vectors reach

// A part of the matrix, see band_strips.h. Neither side of its strips ever goes back.
struct SuboptimalBand {
    int32_t first_row;  // rows before the first strip
    int32_t strips;
    const int32_t *low, *high;  // the columns of each, from 1 on
    // Of the columns, from the last to the first, BAND_PAD more on both sides: residues, and for the kernel H
    // and F of the last row of the strip above.
    const int16_t* residues;
    int16_t *h, *f;
    const size_t *cells_at, *last_at;
    // What is found: H of the cells (row i, column j) of a strip, at (i + j - low) * BAND_STRIP + i; H in its
    // last column, a row each, and in its last row. Where band_has_bytes, cells are `bytes`, which have the
    // base of their antidiagonal added, at cells_at / BAND_STRIP + i + j - low.
    int16_t *shorts, *bases;
    uint8_t* bytes;
    int16_t *right, *last;
};

struct SuboptimalKernel {
    const char* name;  // of the instruction set
    // False when cancelled. `end` has score 0 where no cell reaches pair->least.
    bool (*narrow)(const SuboptimalJob& job, SuboptimalCheckpoints& checkpoints, SuboptimalEnd& end);
    bool (*wide)(const SuboptimalJob& job, SuboptimalCheckpoints& checkpoints, SuboptimalEnd& end);
    // The same in strips, several times as fast, for pairs that has_strips of job.h allows.
    // `try_bytes`: strips may be filled in cells of 8 bits first.
    bool (*ends)(const SuboptimalJob& job, const SuboptimalGrid& grid, bool try_bytes, SuboptimalEnd& end);
    void (*columns)(const SuboptimalJob& job, const SuboptimalGrid& grid, int32_t strip);  // keeps them
    void (*tile)(const SuboptimalJob& job, const SuboptimalGrid& grid, int32_t strip, int32_t across,
                 uint8_t* flags);  // [2 * SUBOPTIMAL_STRIP][SUBOPTIMAL_STRIP], see strips.h
    // The best alignment within a band ends at `end`. False when cancelled.
    bool (*band)(const SuboptimalJob& job, const SuboptimalBand& band, SuboptimalEnd& end);
    bool (*band_has_bytes)(const SuboptimalJob& job);
    // The most that an alignment scores which puts together none of the residues of the cells `used`, sorted.
    // -1: more than 8 bits hold, or cancelled.
    // Scores on a border are written if there is one and the kernel knows them. Where one scores `enough`,
    // that is all that is said.
    int32_t (*most_free)(const SuboptimalJob& job, const SuboptimalCell* used, size_t count,
                         const SuboptimalBorder* border, int32_t enough);
    // The most that an alignment scores near the diagonal of a cell, `around` rows before it and after it,
    // and `width` columns beside it, on free cells; `enough`, a number of 8 bits less 64, where it is at
    // least that.
    int32_t (*most_near)(const SuboptimalJob& job, SuboptimalCell at, int32_t around, int32_t width,
                         int32_t enough, const SuboptimalCell* used, size_t count);
    // What most_free finds near the cells `used`, of which there are some: no more than `width` columns
    // beside them, and beside their diagonals `around` rows before and after them, where it may drift.
    int32_t (*most_along)(const SuboptimalJob& job, const SuboptimalCell* used, size_t count,
                          const SuboptimalBorder* border, int32_t around, int32_t width);
    int32_t lanes;
    // In which lanes an alignment scores enough, a bit each.
    uint64_t (*near_lanes)(const SuboptimalPlaces& places);
    // False when cancelled. Scores are right that are at most 255, less the largest of residues with `bias`.
    bool (*group)(const SuboptimalGroup& group);
};

}  // namespace pairalign
