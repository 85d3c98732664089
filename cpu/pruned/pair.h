// What the pruned kernel is given and gives back: one pair, and the part of its matrix that can
// hold optimal paths. Shared by the driver (pruner.h) and by every instruction set's kernel
// (antidiagonal_band.h).
#pragma once

#include <atomic>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../core/batch.h"

namespace pairalign {

// How much the rest of an alignment can add at most. Residues of the row sequence are worth `row[a]` each, of
// the column sequence `column[b]`: S(a,b) <= row[a] + column[b], and a residue in a gap, -extend, is no more
// than its worth either. When the rest of one sequence is R residues longer, R residues at least are in gaps,
// and each loses its worth + extend: `least` of every one, `usual` of all but `cheap` of them.
struct GapLoss {
    int32_t least, usual, cheap;
};
struct Worth {
    int32_t row[CODES], column[CODES];
    GapLoss row_gaps, column_gaps;
    // Not 0: residues that match nothing are worth what is left of a mismatch. `least` then holds for the
    // others, `bonus` of it is given back for each such residue in a gap, which `usual` says, and for two of
    // them opposite one another.
    int32_t bonus;
    uint32_t cheap;  // those residues, a bit each
};

// Some antidiagonals: those after `step`, `steps` of them, in lanes low .. low + vectors * LANES - 1. Lane l
// of an even antidiagonal t = i + j is diagonal i - j = 2 * (l - origin), of an odd one the diagonal after
// it.
struct Block {
    int32_t step, steps;
    int32_t low, vectors;
    int32_t alive_low,
        alive_high;  // lanes of antidiagonals `step` and `step - 1` that hold cells; others hold nothing
    int64_t base;    // lanes hold H' - base
    size_t flags;    // where its flags begin
};

enum class Progress {
    DONE,       // the last cell is reached
    MORE,       // no room for flags or saved lanes; of a trace, what is above has to be filled again
    TOO_MANY,   // more cells than allowed; or, of a beam, hopeless
    OVERFLOWN,  // scores do not fit the lanes
    LOST,       // no cell is left, or the path leaves the band: the bound was none
    CANCELLED
};

struct PrunedPair {
    const Scheme* scheme;
    int32_t rows, columns;
    // [rows + 1]: k * extend - worth of residues k, k + 1, ..; [columns + 1]: the same, from the last k to
    // the first.
    const int32_t *row_worth, *column_worth;
    GapLoss row_gaps, column_gaps;
    int32_t most_of_two;                      // residues: the worths of one of each sequence
    int64_t most;                             // no alignment has a higher score
    int32_t bonus;                            // see Worth; 0: the next two are null
    const int32_t *row_cheap, *column_cheap;  // [residues + 1]: how many residues from k on are cheap
    bool two_scores;                          // residues score `match` when they are equal, else `mismatch`
    int32_t match, mismatch;
    const void *row,
        *column;        // residues as lanes, PADDING and half of the other's residues more on both sides; the
                        // column's from the last to the first
    const void* table;  // [CODES][CODES] scores as lanes, when there are more than two
    void *h[2], *e, *f;    // [lanes], 64-byte aligned: H' of even and odd antidiagonals; gap states handed on
    int32_t* reach;        // [lanes]
    int32_t ramps[4][16];  // what the rest loses in gaps, by lane: least and usual of the rows', of the
                           // columns' gaps
    int32_t origin;        // lane of diagonal 0
    const std::atomic<bool>* cancelled;

    // The state between two blocks.
    int32_t step, alive_low, alive_high;
    int64_t base;
    int64_t cells;

    // Either the flags of all blocks are kept, or the lanes that are alive every now and then (`flags` of the
    // block is where they are in `saved`), from which the flags near the path are filled again.
    Block* blocks;
    int32_t block_count;
    uint8_t* flags;  // null: none are kept
    size_t flags_used, flags_room;
    uint8_t* saved;  // null: nothing is kept
    size_t saved_used, saved_room;
    int32_t save_every, save_at;  // antidiagonals

    int64_t bound;  // L: a score that some alignment has
    int64_t score;  // of a beam: of an alignment, not always the best
    // With free ends: whether many words are in place, up to which antidiagonal alignments may begin, and the
    // end cell that was found.
    bool looks_similar;
    int32_t free_until, end_row, end_column;
    int32_t score_left;  // local: of the cell that the traceback has come to
    int64_t cell_limit;
};

// What a step off the diagonal and back costs at least.
inline int32_t each_diagonal(const PrunedPair& pair) {
    return std::max(1, std::max(pair.row_gaps.least, pair.row_gaps.usual) +
                           std::max(pair.column_gaps.least, pair.column_gaps.usual));
}

inline bool has_free_ends(const PrunedPair& pair) { return pair.scheme->mode != GLOBAL; }

// The last antidiagonal in which an alignment of the bound may begin: what is left of the shorter rest can
// add `most_of_two` for each two residues.
inline int32_t last_begin(const PrunedPair& pair) {
    const int64_t needed = pair.bound > 0 ? pair.bound / std::max(1, pair.most_of_two) : 0;
    return static_cast<int32_t>(std::max<int64_t>(0, int64_t{pair.rows} + pair.columns - 2 * needed));
}

inline double matrix_of(const PrunedPair& pair) { return static_cast<double>(pair.rows) * pair.columns; }
// What a band for a score takes of it, if it is as high as it is wide.
inline double triangle_of(const PrunedPair& pair) {
    return static_cast<double>(pair.most - pair.bound) / each_diagonal(pair) / pair.columns;
}

constexpr int32_t LANE_PADDING = 160;  // residues and lanes beyond both ends that a window may touch
constexpr int32_t LEAST_STEPS = 16;    // of a block, but the last
constexpr int32_t MOST_STEPS = 32;

struct PrunedKernel {
    int lanes, lane_bytes, flag_bytes;
    // Begins with the cell (0,0).
    void (*start)(PrunedPair& pair);
    // Follows cells within `width` of the best of their antidiagonals, without flags. `limit`: gives up when
    // a loss that goes on as it began would come to more. The score is one that an alignment has, or the
    // progress is not DONE.
    Progress (*beam)(PrunedPair& pair, int64_t width, int64_t limit);
    // Fills the cells that can be on an alignment of `bound` or more, until all is done or there is no room.
    Progress (*fill)(PrunedPair& pair);
    // Fills what the cell (row, column) depends on, from where `saved` was on, with flags: blocks[0]. MORE:
    // there is no room for them.
    Progress (*refill)(PrunedPair& pair, const Block& saved, int32_t row, int32_t column);
    // The same without flags, half of the way, and saves that behind `saved`: blocks[0].
    Progress (*save_halfway)(PrunedPair& pair, const Block& saved, int32_t row, int32_t column);
    // Follows the path through `blocks`. DONE: to its start; MORE: to the antidiagonal before the first
    // block.
    Progress (*trace)(PrunedPair& pair, int32_t& row, int32_t& column, int& state, Path& path);
};

// The front of a cost: of diagonals low .. high, how many rows have been reached; see wavefronts.h.
struct WaveFront {
    int32_t low, high;
    int32_t* rows;  // of m, e and f, `padding` more on both sides
};

// Fronts of costs that follow one another: that of a cost is fronts[cost & mask].
struct WaveTable {
    WaveFront* fronts;
    int32_t mask;
};

constexpr int32_t WAVE_PADDING = 64;  // bytes before and after residues that differ from all others

// What has been reached from one end of both sequences: from their begins, or of both reversed.
struct WaveSide {
    const uint8_t *row, *column;  // residues, WAVE_PADDING more on both sides; only equal bytes match
    WaveTable ring;               // the last fronts
    int32_t cost, farthest;       // of the last one; the antidiagonal that is reached, at least
    // Fronts from which others can be filled once more: of each of `saved_count` costs, that cost's and those
    // before it which the next ones depend on.
    WaveFront* saved;
    int32_t* saved_costs;
    int32_t saved_count, save_at;
};

struct WavePair {
    WaveSide sides[2];
    int32_t row_count, column_count;
    int32_t mismatch, open, extend;  // costs: of a gap of g residues, open + g * extend
    int32_t depth;                   // a front depends on so many before it
    int32_t most;                    // cost that is worth going on to
    int32_t reach;                   // cost that there is room for
    bool waits;                      // for more room, to go on where it is
    bool gives_up;                   // when the cost would come to more, if it went on as it began
    int32_t padding;                 // diagonals beside a front that may be read; some vectors may be written
    int32_t counting[16];            // 0, 1, 2, ..
    int32_t save_every;              // costs at most; with `depth` more they fit the table of a box
    const std::atomic<bool>* cancelled;

    WaveTable box;    // fronts that are filled once more
    int32_t* memory;  // [room]: of fronts, up to `used`; and from `box_at` on, those of the box
    size_t room, used, box_at;
    int64_t cells;
    int32_t cost;  // found
};

struct WaveKernel {
    double entry;  // nanoseconds that one of a front takes, about
    // Copies residues, and from the last to the first. Returns which codes occur, a bit each.
    uint32_t (*copy_residues)(const uint8_t* codes, int32_t length, uint8_t* out, uint8_t* from_end);
    // Marks the residues whose bit is set in `others`, and returns how many they are.
    int32_t (*mark)(uint8_t* codes, int32_t length, uint32_t others, uint8_t mark);
    // Sets `cost`. MORE: the room is too small; when the pair `waits`, it goes on in more.
    Progress (*fill)(WavePair& pair);
    Progress (*trace)(WavePair& pair, const Scheme& scheme, Path& path);
};

struct PrunedKernels {
    const char* name;
    PrunedKernel narrow, wide;
    WaveKernel waves;
};

// Null where there is none of that name.
const PrunedKernels* pruned_kernels(const char* instruction_set);

}  // namespace pairalign
