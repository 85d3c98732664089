// What the kernel for long pairs works on, before and after its fill: borders, score tables, end cells. See
// long_pair.h, which says what strips, lanes and pieces are.
#pragma once

#include "../core/batch.h"
#include "kernel.h"
#include "../core/recurrence.h"
#include "../core/ties.h"
#include "../core/traceback.h"
#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct LongPairState {
    using Lane = typename V::Lane;
    using Mask = typename V::Mask;
    static constexpr int LANES = V::LANES, ROWS = V::ROWS, STRIP = LANES * ROWS;
    static constexpr Lane NO_CELL = 2147483647;
    static_assert(sizeof(Lane) == 4, "scores are gathered as words of 32 bits");
    static_assert(ROWS % 4 == 0, "a packed word holds four rows");

    struct Edge {
        Lane h, f;  // of a cell in the row above the strip
    };
    // Offsets into `state`, in vectors.
    enum { STATE_H = 0, STATE_E = ROWS, STATE_CORNER = 2 * ROWS, STATE_VECTORS = 2 * ROWS + 1 };

    // A piece of a strip that fill() fills: columns left+1 .. right of the rows below `base`.
    struct Piece {
        int32_t base, left, right;
        uint8_t* flags;
    };

    struct Work {
        LongPair& pair;
        Border<V> edge;
        Lane* table;   // [LANES][words of a lane][CODES]
        Lane* state;   // [STATE_VECTORS][LANES]
        Lane* best;    // local: [BEST_COLUMN + 1][LANES], see EndState in kernel.h
        Edge* border;  // [columns + 2], the last one is read, not used
        bool packed;
        // Where the matrix's last row is in the last strip: its lane, its row of that lane.
        int last_lane, last_row;
        // Semiglobal, end gaps: the best cell of the last row, and of the last column, less the gap from
        // there.
        int32_t row_score, row_column;
        int32_t column_score, column_row;
        alignas(64) Lane lane[LANES];  // 0, 1, ...
        // Shifted scores, when packed; the last: rows beyond the last.
        alignas(64) int8_t bytes[CODES + 1][CODES];

        // End gaps; those of other modes cost nothing.
        const EndGaps& of_row() const { return pair.scheme->of_row(pair.row_is_query); }
        const EndGaps& of_column() const { return pair.scheme->of_column(pair.row_is_query); }
    };

    // ---------------------------------------------------------------- borders and scores

    static void start_border(Work& w, int32_t left, int32_t right) {
        for (int32_t j = left; j <= right; j++)
            w.border[j] = {w.edge.h(j, w.of_column().start), w.edge.gap(j, w.of_column().start)};
    }

    // Column 0 of a strip.
    static void start_state(Work& w, int32_t base) {
        for (int l = 0; l < LANES; l++) {
            for (int k = 0; k < ROWS; k++) {
                int32_t i = base + l * ROWS + k + 1;
                if (i > w.pair.rows) i = w.pair.rows;  // i * ext of rows that do not exist might overflow
                w.state[(STATE_H + k) * LANES + l] = w.edge.h(i, w.of_row().start);
                w.state[(STATE_E + k) * LANES + l] = w.edge.gap(i, w.of_row().start);
            }
            w.state[STATE_CORNER * LANES + l] = w.edge.h(base, w.of_row().start);
        }
    }

    // The score of a row beyond the last with any residue.
    static int32_t beyond(const Scheme& s) {
        return (s.matrix[PAD][PAD] < 0 ? s.matrix[PAD][PAD] : 0) + shift_of(s);
    }

    static void prepare_scores(Work& w) {
        const Scheme& scheme = *w.pair.scheme;
        const int32_t shift = shift_of(scheme);
        int32_t low = beyond(scheme), high = low;
        for (int a = 0; a < CODES; a++)
            for (int b = 0; b < CODES; b++) {
                const int32_t s = scheme.matrix[a][b] + shift;
                low = s < low ? s : low;
                high = s > high ? s : high;
            }
        w.packed = low >= -128 && high <= 127;
        for (int b = 0; b < CODES; b++) {
            for (int a = 0; a < CODES; a++) w.bytes[a][b] = static_cast<int8_t>(scheme.matrix[a][b] + shift);
            w.bytes[CODES][b] = static_cast<int8_t>(beyond(scheme));
        }
    }

    // The table of the strip below `base`.
    static void prepare_strip(Work& w, int32_t base) {
        const Scheme& scheme = *w.pair.scheme;
        Lane* out = w.table;
        for (int32_t i = base; i < base + STRIP; i += w.packed ? 4 : 1, out += CODES) {
            const auto code = [&](int32_t row) { return row < w.pair.rows ? w.pair.row[row] : CODES; };
            if (w.packed) {
                const int8_t *s0 = w.bytes[code(i)], *s1 = w.bytes[code(i + 1)], *s2 = w.bytes[code(i + 2)],
                             *s3 = w.bytes[code(i + 3)];
                for (int b = 0; b < CODES; b++)
                    out[b] = static_cast<Lane>(static_cast<uint32_t>(static_cast<uint8_t>(s0[b])) |
                                               static_cast<uint32_t>(static_cast<uint8_t>(s1[b])) << 8 |
                                               static_cast<uint32_t>(static_cast<uint8_t>(s2[b])) << 16 |
                                               static_cast<uint32_t>(static_cast<uint8_t>(s3[b])) << 24);
            } else {
                const int a = code(i);
                for (int b = 0; b < CODES; b++)
                    out[b] = a == CODES ? beyond(scheme) : scheme.matrix[a][b] + shift_of(scheme);
            }
        }
    }

    // ---------------------------------------------------------------- end cells

    // Each lane keeps its own best cell: the smallest column among equals, then the smallest row.
    // Ties: the end cell.
    static __attribute__((noinline)) V keep_best_cell(Work& w, V best, V column_best, const V* h,
                                                      int32_t base, int32_t t) {
        V best_row = V::load(w.best + BEST_ROW * LANES), best_column = V::load(w.best + BEST_COLUMN * LANES);
        const V lane = V::load(w.lane);
        const V here = V::sub(V::set(t), lane);
        const Mask better =
            V::either(V::gt(column_best, best), V::both(V::eq(column_best, best), V::gt(best_column, here)));
        V first = V::set(base);  // row of the lane, less one
        for (int k = 0; k < ROWS; k++) first = V::add(first, lane);
        V found = best_row;
        for (int k = ROWS - 1; k >= 0; k--)
            found = V::blend(V::eq(h[k], column_best), V::add(first, V::set(1 + k)), found);
        V::blend(better, found, best_row).store(w.best + BEST_ROW * LANES);
        V::blend(better, here, best_column).store(w.best + BEST_COLUMN * LANES);
        return V::max(best, column_best);
    }

    // Columns come in rising order. The last one's cell is keep_last_column's.
    static __attribute__((noinline)) void keep_last_row(Work& w, const V* h, int32_t j) {
        alignas(64) Lane lanes[LANES];
        h[w.last_row].store(lanes);
        const int32_t score = lanes[w.last_lane] - w.edge.base - (w.pair.rows + j) * w.edge.extend -
                              w.of_column().end.of(w.pair.columns - j);
        if (j < w.pair.columns && w.pair.scheme->is_better_end(score, w.row_score)) {
            w.row_score = score;
            w.row_column = j;
        }
    }

    // `state` is in the last column.
    static void keep_last_column(Work& w, int32_t base) {
        for (int32_t i = base + 1; i <= base + STRIP && i <= w.pair.rows; i++) {
            const int r = i - base - 1;
            const Lane h = w.state[(STATE_H + r % ROWS) * LANES + r / ROWS];
            const int32_t score =
                h - w.edge.base - (i + w.pair.columns) * w.edge.extend - w.of_row().end.of(w.pair.rows - i);
            if (w.pair.scheme->is_better_end(score, w.column_score)) {
                w.column_score = score;
                w.column_row = i;
            }
        }
    }

    static void start_end(Work& w) {
        w.row_column = w.column_row = 0;
        w.row_score = -w.of_row().start.of(w.pair.rows) - w.of_column().end.of(w.pair.columns);
        w.column_score = -w.of_column().start.of(w.pair.columns) - w.of_row().end.of(w.pair.rows);
        for (int l = 0; l < LANES; l++) {
            w.best[BEST * LANES + l] =
                w.edge.base + (w.pair.trace ? 1 : 0);  // 1 is the least that is an alignment
            w.best[BEST_ROW * LANES + l] = 0;
            w.best[BEST_COLUMN * LANES + l] = NO_CELL;
        }
    }

    // Ties: the end cell.
    static void read_end(const Work& w, Path& path) {
        path.end_row = w.pair.rows;
        path.end_column = w.pair.columns;
        if (w.edge.mode == GLOBAL) {
            const Lane h = w.state[(STATE_H + w.last_row) * LANES + w.last_lane];
            path.score = h - w.edge.base - (w.pair.rows + w.pair.columns) * w.edge.extend;
        } else if (w.edge.mode != LOCAL) {
            // The last row usually wins ties: its columns are smaller.
            const bool in_row = w.pair.scheme->ends_in_last_row(
                w.row_score, w.column_score, w.column_row == w.pair.rows, w.pair.row_is_query);
            path.score = in_row ? w.row_score : w.column_score;
            (in_row ? path.end_column : path.end_row) = in_row ? w.row_column : w.column_row;
        } else {
            const Lane *best = w.best + BEST * LANES, *row = w.best + BEST_ROW * LANES,
                       *column = w.best + BEST_COLUMN * LANES;
            int b = 0;
            for (int l = 1; l < LANES; l++)
                if (best[l] > best[b] ||
                    (best[l] == best[b] && is_earlier_end(row[l], column[l], row[b], column[b])))
                    b = l;
            path.score = best[b] - w.edge.base;
            path.end_row = row[b];
            path.end_column = column[b];
            if (w.pair.trace && path.end_column == NO_CELL) path.score = path.end_row = path.end_column = 0;
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
