// What the kernels for similar sequences share: parameters, results, and the bound that decides which cells
// are filled. docs/similar-sequences.md derives the bound and says how the passes work.
//
// Global mode. A warp aligns a pair. Cells of an antidiagonal t = i + j lie in lanes, of which a warp has as
// many as the band is wide:
//
//     lane l of an even antidiagonal   i = t / 2 + l,        j = t / 2 - l
//     lane l of an odd antidiagonal    i = (t + 1) / 2 + l,  j = (t - 1) / 2 - l
//
// so that the diagonal step stays in its lane; E comes from lane l + 1 to an odd antidiagonal, F from lane
// l - 1 to an even one. After 32 antidiagonals (a block) the lanes are laid anew around the cells that are
// alive: those from which the rest could still bring the score to the bound. Others hold NOTHING.
//
//     Invariant: what a lane holds is the score of an alignment of the two prefixes, or less than the bound
//     allows there. So a cell on an optimal path has its full value, each predecessor that attains it has
//     too, and no other one attains it: its flags are those of the full matrix.
//
// Stored scores are H + (i + j) * gap_extend; gaps then go on at no cost, and opening one costs
// gap_open - gap_extend. Cells before row 0 or column 0 hold nothing; cells beyond the last row or column are
// filled like others, and no cell of the matrix depends on one.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

#ifndef PAIRALIGN_TABLE
#define PAIRALIGN_TABLE \
    0  // 1: scores of residues are looked up, 0: equal residues score one thing, others another
#endif

// A set of sequences as the device holds it, by sorted position.
struct ResidueSet {
    const uint8_t* codes;
    const int64_t* starts;  // of a sequence in codes
    const int32_t* lengths;
    // What the residues from k on are worth, less k * gap_extend, for 0 <= k <= length: as the row sequence's
    // residues and as the column sequence's. Those of sequence s begin at starts[s] + 16 s.
    const int32_t* row_worth;
    const int32_t* column_worth;
    const int32_t* cheap;  // the same way: how many residues from k on are cheap
};
static_assert(sizeof(ResidueSet) == 48,
              "RESIDUE_SET in pairalign/engines/cuda/pruned/pruned_plan.py has the same layout");

struct PrunedPair {
    int32_t row, column;  // sorted positions in the first and the second set
    int32_t swapped;      // the sequence of the second set is the row sequence
    int32_t row_is_query;
};
static_assert(sizeof(PrunedPair) == 16,
              "PAIR in pairalign/engines/cuda/pruned/pruned_plan.py has the same layout");

enum PrunedStatus { DONE, GIVEN_UP, NO_ROOM, LOST };

struct PrunedResult {
    int32_t status, score;
    int32_t matches, diagonals, openings, runs;
    long long runs_at;            // where its runs begin in Params::runs
    long long beam_cells, cells;  // filled to find a bound, and in the band
};
static_assert(sizeof(PrunedResult) == 48,
              "RESULT in pairalign/engines/cuda/pruned/pruned_plan.py has the same layout");

struct Params {
    ResidueSet sets[2];
    const PrunedPair* pairs;
    PrunedResult* results;
    uint32_t* ticket;               // the next pair; 0 at first
    unsigned long long* runs_used;  // 0 at first
    uint32_t* runs;
    long long runs_room;
    uint8_t* slabs;        // what a warp works in, one each
    long long slab_bytes;  // a multiple of 16
    uint8_t* large_slabs;  // for pairs that have no room there
    long long large_bytes;
    uint32_t* taken;             // [large_count], 0 at first: whether a large slab is in use
    const int32_t* table;        // [32][32]: stored scores of two codes
    int32_t pair_count, detail;  // 0 scores, 1 counts, 2 runs
    int32_t gap_open, gap_extend;
    int32_t match, mismatch;  // stored scores, without a table
    int32_t plain;            // codes below it match themselves, without a table
    int32_t unambiguous;      // codes below it count as matches
    // What the rest loses when that of one sequence is R residues longer: loss * R, of which bonus for each
    // cheap residue of the R is given back. pair_bonus: for each cheap residue that both have.
    int32_t row_loss, row_bonus, column_loss, column_bonus, pair_bonus;
    int32_t diagonal;     // what a step off the diagonal and back costs at least
    int32_t min_score;    // pairs with less are not traced
    int32_t forced;       // for tests: however wide the band is
    int32_t worse_seed;   // for tests: taken from the score that the band is made for
    int32_t lower_bound;  // for tests: added to it, which is unsound
    float widest;         // share of the matrix that a band may take
    int32_t sketched;     // pairs of which few words are where they should be are given up at once
    int32_t large_count, unused;
};
static_assert(sizeof(Params) == 280,
              "PARAMETERS in pairalign/engines/cuda/pruned/pruned_plan.py has the same layout");

namespace {

constexpr unsigned ALL = 0xffffffffu;
constexpr int STEPS = 32;          // antidiagonals of a block
constexpr int MARGIN = STEPS / 2;  // lanes by which living cells spread in a block, on each side
constexpr int NOTHING = -(1 << 29), NO_REACH = -2147483647;
constexpr int WORTH_PADDING = 16;
constexpr bool TABLE = PAIRALIGN_TABLE != 0;

__device__ __forceinline__ int clamp(int value, int low, int high) { return max(low, min(value, high)); }

// Residues of a sequence, four at a time. Any position may be read; what lies outside of the sequence is some
// residue. Without a table, residues that do not match themselves get codes that the other sequence has not.
struct Residues {
    const uint32_t* words;
    int last;        // word
    uint32_t plain;  // 128 - Params::plain in each byte
    int mark;        // by how much the bit 7 that says that a residue is not plain is moved
    int scale;       // with a table: of its rows

    __device__ __forceinline__ uint32_t word(int at) const { return words[clamp(at, 0, last)]; }
    __device__ __forceinline__ uint32_t marked(uint32_t four) const {
        return TABLE ? four : four | ((four + plain) & 0x80808080u) >> mark;
    }
    __device__ __forceinline__ uint32_t single(int k) const {
        return marked(word(k >> 2)) >> (8 * (k & 3)) & 255;
    }
    // Residue k as `score_of` takes it.
    __device__ __forceinline__ int one(int k) const { return as_scored(single(k)); }
    __device__ __forceinline__ int as_scored(uint32_t residue) const {
        return (int)(TABLE ? residue << scale : residue);
    }
};

// A stream of residues, four at a time.
struct Stream {
    const Residues& residues;
    int at;
    uint32_t low, shift;

    __device__ __forceinline__ Stream(const Residues& from, int k)
        : residues(from), at(k >> 2), low(from.word(k >> 2)), shift(8 * (k & 3)) {}
    __device__ __forceinline__ uint32_t next() {
        const uint32_t high = residues.word(++at), four = __funnelshift_r(low, high, shift);
        low = high;
        return residues.marked(four);
    }
};

// One pair as a warp sees it.
struct View {
    int rows, columns, end;  // end: the last antidiagonal
    Residues row, column;
    const int32_t *row_worth, *column_worth, *row_cheap, *column_cheap;
    int row_is_query;

    __device__ __forceinline__ View(const Params& p, const PrunedPair& pair) {
        const ResidueSet &one = p.sets[pair.swapped ? 1 : 0], &other = p.sets[pair.swapped ? 0 : 1];
        const int at = pair.swapped ? pair.column : pair.row, to = pair.swapped ? pair.row : pair.column;
        rows = one.lengths[at];
        columns = other.lengths[to];
        end = rows + columns;
        const long long start = one.starts[at], begin = other.starts[to];
        const uint32_t plain = (uint32_t)(128 - p.plain) * 0x01010101u;
        row = {(const uint32_t*)(one.codes + start), (rows - 1) >> 2, plain, 0, 5};
        column = {(const uint32_t*)(other.codes + begin), (columns - 1) >> 2, plain, 1, 0};
        row_worth = one.row_worth + start + WORTH_PADDING * (long long)at;
        row_cheap = one.cheap + start + WORTH_PADDING * (long long)at;
        column_worth = other.column_worth + begin + WORTH_PADDING * (long long)to;
        column_cheap = other.cheap + begin + WORTH_PADDING * (long long)to;
        row_is_query = pair.row_is_query;
    }
};

// What cheap residues of the rest can give back, for cells from row i and column j on.
struct Cheap {
    int row, column, both;
    __device__ __forceinline__ Cheap() : row(0), column(0), both(0) {}
    __device__ __forceinline__ Cheap(const Params& p, const View& v, int i, int j)
        : row(v.row_cheap[clamp(i, 0, v.rows)]), column(v.column_cheap[clamp(j, 0, v.columns)]) {
        both = p.pair_bonus * min(row, column);
    }
};

// The most that the rest can add to a stored score, worth of its residues aside, when that of the row
// sequence is `longer` than that of the column sequence.
__device__ __forceinline__ int rest_bonus(const Params& p, const Cheap& cheap, int longer) {
    const int shorter = -longer;
    const int row = p.row_bonus * min(longer, cheap.row) - p.row_loss * longer;
    const int column = p.column_bonus * min(shorter, cheap.column) - p.column_loss * shorter;
    return cheap.both + (longer >= 0 ? row : column);
}

__device__ __forceinline__ int score_of(const Params& p, const int* table, int row, int column) {
    return TABLE ? table[row + column] : row == column ? p.match : p.mismatch;
}

}  // namespace
