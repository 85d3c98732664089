// What a kernel is given and gives back: one row sequence against up to LANES column sequences, a
// pair a lane, or one pair. Shared by the engine and by every instruction set's kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pairalign {

constexpr int CODES = 32;       // letters of an alphabet, at most
constexpr int PAD = CODES - 1;  // code that fills short lanes; scores as the worst residue pair
constexpr int MAX_LANES = 64;

constexpr size_t MOST_BYTES = size_t{1} << 60;  // as good as infinite, and twice that fits int64_t

// Bytes of something with three dimensions; at most MOST_BYTES, where they would not fit. It must be inlined,
// or the linker would pick one instruction set's copy for all.
inline __attribute__((always_inline)) size_t bounded_product(size_t a, size_t b, size_t c) {
    size_t product;
    const bool beyond =
        __builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product);
    return beyond || product > MOST_BYTES ? MOST_BYTES : product;
}

// Which of equally good alignments is taken: the usual rule, or that of vsearch (docs/conventions.md).
enum Ties { USUAL_TIES = 0, VSEARCH_TIES = 1 };
enum Mode { GLOBAL = 0, SEMIGLOBAL = 1, LOCAL = 2, END_GAPS = 3 };
enum Detail { SCORE = 0, STATS = 1, CIGAR = 2 };

// Kinds of step on a path, in the low bits of a run (`length << 2 | step`).
enum Step : uint32_t { DIAGONAL_STEP = 0, ROW_GAP = 1, COLUMN_GAP = 2 };
// ROW_GAP consumes a row residue (state F), COLUMN_GAP a column residue (state E).

// What a gap costs: `open` its first residue, `extend` each further one.
struct GapCost {
    int32_t open, extend;

    bool is_free() const { return open == 0 && extend == 0; }
    int32_t of(int32_t residues) const { return residues ? open + (residues - 1) * extend : 0; }
};

// Costs of a gap opposite a sequence's first residues, and opposite its last ones.
struct EndGaps {
    GapCost start, end;
};

struct Scheme {
    int32_t matrix[CODES][CODES];  // row PAD and column PAD hold the smallest score
    int32_t highest;               // score of two residues, or 0
    int32_t gap_open, gap_extend;
    Mode mode;
    EndGaps query, target;  // mode END_GAPS: at most what other gaps cost; else 0
    Ties ties;              // VSEARCH_TIES: in mode END_GAPS only

    // Of a pair's row sequence and of its column sequence.
    const EndGaps& of_row(bool row_is_query) const { return row_is_query ? query : target; }
    const EndGaps& of_column(bool row_is_query) const { return row_is_query ? target : query; }

    // Mode END_GAPS: of cells of the last row or column whose scores, less the gap to the last cell, are
    // equal, the usual rule takes the smallest column, then the smallest row; vsearch's the shortest gap, and
    // of gaps at both ends that which consumes residues of the query.
    // Ties: the end cell.
    bool is_better_end(int32_t score, int32_t than) const {
        return ties == VSEARCH_TIES ? score >= than : score > than;
    }
    bool ends_in_last_row(int32_t row_score, int32_t column_score, bool ends_in_corner,
                          bool row_is_query) const {
        if (row_score != column_score) return row_score > column_score;
        return ties == USUAL_TIES || (!ends_in_corner && !row_is_query);
    }
};

// Column sequences of a batch, one a lane, longest first. Lanes from `used` on repeat the last one.
struct Group {
    int used;
    const uint8_t* codes[MAX_LANES];
    int32_t lengths[MAX_LANES];
    int32_t columns;     // longest length
    uint32_t row_codes;  // bit set of the row residues a profile must hold
    void* lanes;         // filled by Kernel::prepare, Kernel::group_bytes(...) long, 64-byte aligned
};

// What Batch::end_state holds: these vectors, then a byte a column, which says where lanes end (semiglobal).
enum EndState { BEST = 0, BEST_ROW = 1, BEST_COLUMN = 2, LENGTHS = 3, END_VECTORS = 4 };

struct Path {
    int32_t score;
    int32_t end_row, end_column;      // residues before the end cell
    int32_t start_row, start_column;  // residues before the alignment
    uint32_t* runs;                   // from the end to the start; room for rows + columns + 1 runs
    int32_t run_count;
};

struct Batch {
    const Scheme* scheme;
    const Group* group;
    const uint8_t* row;
    int32_t rows;
    int first_lane;         // lanes before it are not part of the batch
    uint64_t row_is_query;  // mode END_GAPS: bit l: whether it is so in lane l
    bool trace;             // false: only `score` is set
    int32_t block_rows;     // rows whose flags are kept at once: a multiple of 8, or >= rows
    void* border;           // border_bytes
    void* end_state;        // end_bytes
    uint8_t* flags;         // flags_bytes(block_rows)
    void* checkpoints;      // checkpoint_bytes, when block_rows < rows
    const std::atomic<bool>* cancelled;
    Path paths[MAX_LANES];
};

// Of an alignment.
struct Summary {
    int32_t matches = 0, mismatches = 0, gap_openings = 0, gap_residues = 0;
};

// SAM's operation codes, in the low four bits of a run.
enum Operation : uint32_t { INSERTION = 1, DELETION = 2, EQUAL = 7, DIFFERENT = 8 };

// One lane width of one instruction set.
struct Kernel {
    int lanes;
    int lane_bytes;
    int flag_bytes;  // of one cell
    size_t (*group_bytes)(int32_t columns, uint32_t row_codes);
    void (*prepare)(const Scheme& scheme, Group& group);
    void (*align)(Batch& batch);

    size_t vector_bytes() const { return static_cast<size_t>(lanes) * lane_bytes; }
    size_t border_bytes(int32_t columns) const {
        return 2 * vector_bytes() * (static_cast<size_t>(columns) + 1);
    }
    size_t end_bytes(int32_t columns) const {
        return END_VECTORS * vector_bytes() + static_cast<size_t>(columns) + 64;
    }
    size_t flags_bytes(int32_t block_rows, int32_t columns) const {
        size_t rows = (static_cast<size_t>(block_rows) + 7) / 8 * 8;
        return bounded_product(rows, static_cast<size_t>(columns) + 1, static_cast<size_t>(flag_bytes));
    }
    size_t checkpoint_bytes(int32_t rows, int32_t block_rows, int32_t columns) const {
        return bounded_product(static_cast<size_t>((rows - 1) / block_rows), border_bytes(columns), 1);
    }
};

// One pair on all lanes, see long_pair.h. The matrix is cut into tiles, in which the traceback finds its
// flags: a tile of all rows and columns is filled once, with flags; of smaller ones the borders are kept, and
// those on the path are filled again.
struct Tile {
    int32_t rows, columns;  // rows: a multiple of LongKernel::strip_rows(), or >= all rows
};

struct LongPair {
    const Scheme* scheme;
    const uint8_t *row, *column;
    int32_t rows, columns;
    bool row_is_query;
    bool trace;  // false: only `score` is set
    Tile tile;
    void* work;         // work_bytes
    uint8_t* flags;     // flags_bytes, when tracing
    void* checkpoints;  // checkpoint_bytes, when tracing and the tile is not the whole matrix
    const std::atomic<bool>* cancelled;
    Path path;
};

struct LongKernel {
    int lanes;
    int lane_rows;               // rows of a lane
    int flag_bytes;              // of one row of all lanes, one step
    int score_cost, flags_cost;  // of the same, without and with flags, see plan.h; measured
    void (*align)(LongPair& pair);

    int32_t strip_rows() const { return lanes * lane_rows; }
    size_t strips(int32_t rows) const {
        return (static_cast<size_t>(rows) + strip_rows() - 1) / strip_rows();
    }
    // What a strip hands on from one tile to the next: H and e of each row, and a vector for the corner.
    size_t state_bytes() const { return (2 * static_cast<size_t>(lane_rows) + 1) * lanes * sizeof(int32_t); }
    size_t border_bytes(int32_t columns) const {
        return (static_cast<size_t>(columns) + 2) * 2 * sizeof(int32_t);
    }
    size_t work_bytes(int32_t columns) const {
        const size_t table = static_cast<size_t>(strip_rows()) * CODES * sizeof(int32_t);
        return table + state_bytes() + 3 * lanes * sizeof(int32_t) + border_bytes(columns);
    }
    bool whole(const Tile& tile, int32_t rows, int32_t columns) const {
        return tile.rows >= rows && tile.columns >= columns;
    }
    size_t flags_bytes(const Tile& tile, int32_t rows, int32_t columns) const {
        const size_t height = strips(tile.rows < rows ? tile.rows : rows) * lane_rows;
        const size_t width = static_cast<size_t>(tile.columns < columns ? tile.columns : columns) + lanes;
        return bounded_product(height, width, static_cast<size_t>(flag_bytes));
    }
    size_t checkpoint_bytes(const Tile& tile, int32_t rows, int32_t columns) const {
        const size_t across = static_cast<size_t>((columns - 1) / tile.columns);
        const size_t down = static_cast<size_t>((rows - 1) / tile.rows);
        return bounded_product(across, strips(rows), state_bytes()) +
               bounded_product(down, border_bytes(columns), 1);
    }
};

// How far below H'(0,0) (local: below 0) a value of the recurrences can fall in 16-bit lanes, see
// recurrence.h: shifted, H' by a gap on each side, e' and f' by one more; local, e and f by a gap, before
// they are extended; and a diagonal by the worst residue pair. Kernels use it too: it must be inlined, or the
// linker would pick one instruction set's copy for all.
inline __attribute__((always_inline)) int32_t room_below(const Scheme& s) {
    const int32_t worst = s.matrix[PAD][PAD] < 0 ? -s.matrix[PAD][PAD] : 0;
    if (s.mode == LOCAL) return s.gap_open + s.gap_extend + worst;
    return 3 * (s.gap_open - s.gap_extend) + worst;
}

}  // namespace pairalign
