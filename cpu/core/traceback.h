// The traceback through the flags of a piece of the matrix, shared by kernel.h and long_pair.h.
#pragma once

#include "batch.h"
#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Walker {
    int32_t row, column;
    int32_t local_score;  // H of the current cell while in state H (local mode)
    uint32_t run;         // length of the run being built
    uint32_t step;
    enum State { IN_H, IN_E, IN_F, DONE } state;

    static Walker at_end(const Path& path) {
        const bool empty = path.end_row == 0 || path.end_column == 0;
        return {path.end_row, path.end_column, path.score, 0, DIAGONAL_STEP, empty ? DONE : IN_H};
    }
};

static PAIRALIGN_INLINE void emit(Path& path, Walker& w, uint32_t step, uint32_t length) {
    if (step != w.step && w.run) {
        path.runs[path.run_count++] = w.run << 2 | w.step;
        w.run = 0;
    }
    w.step = step;
    w.run += length;
}

// Follows a path through rows above `top` and columns beyond `left`, whose flags are in memory: those of cell
// (i,j) at flags.at(i,j), in lane flags.lane(i).
// Ties: the walk back.
template <class V, class Flags>
static void walk(const Flags flags, const Scheme& scheme, const uint8_t* row_codes,
                 const uint8_t* column_codes, int32_t top, int32_t left, Walker& walker, Path& path) {
    Walker w = walker;  // a copy that no store to path.runs can touch
    const bool local = scheme.mode == LOCAL;
    const int32_t open = scheme.gap_open, extend = scheme.gap_extend;
    int32_t i = w.row, j = w.column;
    while (i > top && j > left) {
        const uint8_t* cell = flags.at(i, j);
        const int lane = flags.lane(i);
        if (w.state == Walker::IN_E) {
            if (V::flag(cell, CUP_NEXT, lane)) {
                emit(path, w, COLUMN_GAP, 1);
                w.local_score += extend;
                j--;
                continue;
            }
            w.local_score += open - extend;
            w.state = Walker::IN_H;
        } else if (w.state == Walker::IN_F) {
            if (V::flag(cell, CLEFT_NEXT, lane)) {
                emit(path, w, ROW_GAP, 1);
                w.local_score += extend;
                i--;
                continue;
            }
            w.local_score += open - extend;
            w.state = Walker::IN_H;
        }
        if (local && w.local_score == 0) {
            w.state = Walker::DONE;
            break;
        }
        if (V::flag(cell, DIAGONAL, lane)) {
            emit(path, w, DIAGONAL_STEP, 1);
            i--;
            j--;
            if (local) w.local_score -= scheme.matrix[row_codes[i]][column_codes[j]];
        } else if (V::flag(cell, FROM_E, lane)) {
            emit(path, w, COLUMN_GAP, 1);
            w.local_score += extend;
            w.state = Walker::IN_E;
            j--;
        } else {
            emit(path, w, ROW_GAP, 1);
            w.local_score += extend;
            w.state = Walker::IN_F;
            i--;
        }
    }
    w.row = i;
    w.column = j;
    if (i == 0 || j == 0) w.state = Walker::DONE;
    walker = w;
}

// Where a path begins, at its end. Mode END_GAPS: with the gap to the last cell if that costs something.
static inline Walker start_walk(const Scheme& scheme, Path& path, int32_t rows, int32_t columns,
                                bool row_is_query) {
    Walker w = Walker::at_end(path);
    path.run_count = 0;
    if (scheme.mode != END_GAPS) return w;
    if (path.end_row < rows && !scheme.of_row(row_is_query).end.is_free()) {
        emit(path, w, ROW_GAP, static_cast<uint32_t>(rows - path.end_row));
        path.end_row = rows;
    } else if (path.end_column < columns && !scheme.of_column(row_is_query).end.is_free()) {
        emit(path, w, COLUMN_GAP, static_cast<uint32_t>(columns - path.end_column));
        path.end_column = columns;
    }
    return w;
}

static inline void finish(const Scheme& scheme, Walker& w, Path& path, bool row_is_query) {
    const bool ends = scheme.mode == END_GAPS;
    if (scheme.mode == GLOBAL || (ends && !scheme.of_row(row_is_query).start.is_free())) {
        if (w.row) emit(path, w, ROW_GAP, static_cast<uint32_t>(w.row));
        w.row = 0;
    }
    if (scheme.mode == GLOBAL || (ends && !scheme.of_column(row_is_query).start.is_free())) {
        if (w.column) emit(path, w, COLUMN_GAP, static_cast<uint32_t>(w.column));
        w.column = 0;
    }
    if (w.run) path.runs[path.run_count++] = w.run << 2 | w.step;
    path.start_row = w.row;
    path.start_column = w.column;
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
