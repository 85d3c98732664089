// The kernel of 8-bit lanes: a lane a pair, as in kernel.h, and twice as many. Written once on the vector
// types of bytes.h and compiled once per instruction set; the recurrences are in byte_cell.h.
//
// Memory: the last row of the band above. When tracing, that row is kept at the top of each row of tiles, and
// the column left of each tile; byte_traceback.h fills again what paths cross.
#pragma once

#include "byte_batch.h"
#include <cstring>

#include "byte_traceback.h"
#include "recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteKernels {
    using W = ByteWork<V>;
    using Mask = typename V::Mask;
    static constexpr int LANES = V::LANES;
    static constexpr size_t TABLE_BYTES = 2 * CODES;

    // ---------------------------------------------------------------- groups

    static int rank(uint32_t set, int code) { return __builtin_popcount(set & ((1u << code) - 1)); }

    // A table a letter; the codes of each column; profiles.
    static size_t group_bytes(int32_t columns, uint32_t row_codes) {
        const size_t blocks = V::LOOKUP ? 1 : 1 + static_cast<size_t>(__builtin_popcount(row_codes));
        return CODES * TABLE_BYTES + blocks * (static_cast<size_t>(columns) + 1) * LANES;
    }

    static void prepare(const Scheme& scheme, Group& group) {
        uint8_t* const tables = static_cast<uint8_t*>(group.lanes);
        const int32_t raise = scheme.mode == LOCAL ? 0 : byte_offset(scheme);
        for (int a = 0; a < CODES; a++)
            for (int b = 0; b < CODES; b++) {
                const uint8_t s = static_cast<uint8_t>(scheme.matrix[a][b] + raise);
                tables[a * TABLE_BYTES + b] = tables[a * TABLE_BYTES + CODES + b] = s;
            }
        uint8_t* const codes = tables + CODES * TABLE_BYTES;
        const size_t stride = (static_cast<size_t>(group.columns) + 1) * LANES;
        for (int l = 0; l < LANES; l++) {
            const int source = l < group.used ? l : group.used - 1;
            const int32_t length = group.lengths[source];
            codes[l] = PAD;
            for (int32_t j = 1; j <= group.columns; j++)
                codes[static_cast<size_t>(j) * LANES + l] = j <= length ? group.codes[source][j - 1] : PAD;
        }
        if (V::LOOKUP) return;
        for (size_t j = 0; j < stride; j += LANES) {
            const auto index = V::index(V::load(codes + j));
            uint8_t* out = codes + stride + j;
            for (int a = 0; a < CODES; a++) {
                if (!(group.row_codes >> a & 1)) continue;
                V::lookup(tables + a * TABLE_BYTES, index).store(out);
                out += stride;
            }
        }
    }

    // ---------------------------------------------------------------- the fill

    // Rows row+1 .. row+ROWS. `in` is the border above, `out` becomes the one below; they may be the same.
    template <End END, bool TRACE, int ROWS>
    static PAIRALIGN_INLINE void band(W& w, int32_t row, const uint8_t* in, uint8_t* out) {
        constexpr bool LOCAL_MODE = END == End::BEST_SCORE || END == End::BEST_CELL;
        const uint8_t* scores[ROWS];
        V x[ROWS], y[ROWS];
        const size_t stride = (static_cast<size_t>(w.batch.group->columns) + 1) * LANES;
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            const int code = w.batch.row[row + k];
            if constexpr (V::LOOKUP) scores[k] = w.tables + static_cast<size_t>(code) * TABLE_BYTES;
            else scores[k] = w.profile + static_cast<size_t>(w.profile_of[code]) * stride;
            x[k] = V::set(w.edge(row + 1 + k));
            y[k] = V::set(w.edge_gap(row + 1 + k));
        });
        const ByteCosts<V> costs = w.costs();
        V best = LOCAL_MODE ? V::load(w.end_state(BYTE_BEST)) : costs.o;
        V above = V::load(in);  // local: H(row, j-1)
        x[ROWS - 1].store(out);
        y[ROWS - 1].store(out + LANES);
        const int32_t side = TRACE ? w.batch.side : w.columns;
        for (int32_t j = 1, tile = 1;; tile++) {
            const int32_t stop = w.columns - j < side ? w.columns : j + side - 1;
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                const size_t here = static_cast<size_t>(j) * LANES;
                V diagonal = above, v = V::load(in), gap = V::load(in + LANES), column_best = best;
                above = v;
                typename V::Index index{};
                if constexpr (V::LOOKUP) index = V::index(V::load(w.codes + here));
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    V s;
                    if constexpr (V::LOOKUP) s = V::lookup(scores[k], index);
                    else s = V::load(scores[k] + here);
                    const auto cell =
                        ByteCell<V>::template of<LOCAL_MODE>(s, x[k], y[k], v, gap, diagonal, costs);
                    diagonal = x[k];
                    x[k] = cell.x;
                    y[k] = cell.y;
                    v = LOCAL_MODE ? cell.x : cell.v;
                    gap = cell.w;
                    if constexpr (END == End::BEST_SCORE) best = V::max(best, cell.x);
                    if constexpr (END == End::BEST_CELL)
                        column_best = k == 0 ? cell.x : V::max(column_best, cell.x);
                });
                v.store(out);
                gap.store(out + LANES);
                if constexpr (END == End::BEST_CELL) {
                    if (__builtin_expect(V::any(V::ge(column_best, best)), 0)) {
                        const Rows<V, ROWS> copy(x);
                        best = keep_best_cell<ROWS>(w, best, column_best, copy.h, row, j);
                    }
                }
                if constexpr (END == End::LAST_COLUMN) {
                    if (__builtin_expect(j == w.next_end, 0)) {
                        const Rows<V, ROWS> copy(x);
                        keep_last_column<ROWS>(w, copy.h, row);
                    }
                }
            }
            if (j > w.columns) break;
            if constexpr (TRACE) {
                uint8_t* left = w.left(tile, row + 1);
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    x[k].store(left + 2 * k * LANES);
                    y[k].store(left + (2 * k + 1) * LANES);
                });
            }
        }
        if constexpr (LOCAL_MODE) best.store(w.end_state(BYTE_BEST));
    }

    // As in kernel.h: of equal scores the smallest column, then the smallest row.
    template <int ROWS>
    static __attribute__((noinline)) V keep_best_cell(const W& w, V best, V column_best, const V* h,
                                                      int32_t row, int32_t j) {
        const V low = V::set(j & 255), high = V::set(j >> 8);
        V column_low = V::load(w.end_state(BYTE_COLUMN_LOW)),
          column_high = V::load(w.end_state(BYTE_COLUMN_HIGH)), row_low = V::load(w.end_state(BYTE_ROW_LOW)),
          row_high = V::load(w.end_state(BYTE_ROW_HIGH));
        const Mask at_least = V::ge(column_best, best);
        const Mask not_before =
            V::either(V::but_not(V::ge(high, column_high), V::eq(high, column_high)),
                      V::both(V::eq(high, column_high), V::ge(low, column_low)));  // column of the best <= j
        const Mask better = V::but_not(at_least, V::both(V::eq(column_best, best), not_before));
        V found_low = row_low, found_high = row_high;
        for (int k = ROWS - 1; k >= 0; k--) {
            const Mask here = V::eq(h[k], column_best);
            found_low = V::blend(here, V::set((row + 1 + k) & 255), found_low);
            found_high = V::blend(here, V::set((row + 1 + k) >> 8), found_high);
        }
        V::blend(better, found_low, row_low).store(w.end_state(BYTE_ROW_LOW));
        V::blend(better, found_high, row_high).store(w.end_state(BYTE_ROW_HIGH));
        V::blend(better, low, column_low).store(w.end_state(BYTE_COLUMN_LOW));
        V::blend(better, high, column_high).store(w.end_state(BYTE_COLUMN_HIGH));
        return V::max(best, column_best);
    }

    // Keeps U of the lanes that end in column `next_end`, and goes on to the next such column.
    template <int ROWS>
    static __attribute__((noinline)) void keep_last_column(W& w, const V* u, int32_t row) {
        const V ends = V::load(w.end_lanes[w.end_index]);
        for (int k = 0; k < ROWS; k++) {
            uint8_t* kept = w.last_column(row + 1 + k);
            V::bit_or(V::load(kept), V::bit_and(ends, u[k])).store(kept);
        }
        w.end_index = w.end_index + 1 < w.end_count ? w.end_index + 1 : 0;
        w.next_end = w.end_columns[w.end_index];
    }

    // Rows begin+1 .. end. Reads the border `in` and leaves `out`.
    template <End END, bool TRACE>
    static void fill_rows(W& w, int32_t begin, int32_t end, const uint8_t* in, uint8_t* out) {
        int32_t row = begin;
        for (; row + V::ROWS <= end; row += V::ROWS, in = out) {
            band<END, TRACE, V::ROWS>(w, row, in, out);
            if (*w.batch.cancelled) return;
        }
        if (V::ROWS > 4 && end - row >= 4) {
            band<END, TRACE, 4>(w, row, in, out);
            row += 4;
            in = out;
        }
        if (V::ROWS > 2 && end - row >= 2) {
            band<END, TRACE, 2>(w, row, in, out);
            row += 2;
            in = out;
        }
        if (end - row >= 1) band<END, TRACE, 1>(w, row, in, out);
    }

    template <End END>
    static void fill(W& w) {
        const int32_t rows = w.batch.rows, side = w.batch.side;
        if (!w.batch.trace) return fill_rows<END, false>(w, 0, rows, w.border(0), w.border(0));
        int32_t tile = 0;
        for (int32_t begin = 0; begin < rows; begin += side, tile++) {
            fill_rows<END, true>(w, begin, rows - begin < side ? rows : begin + side, w.border(tile),
                                 w.border(tile + 1));
            if (*w.batch.cancelled) return;
        }
    }

    static void fill_matrix(W& w) {
        if (w.scheme.mode == GLOBAL) return fill<End::NONE>(w);
        if (w.scheme.mode == SEMIGLOBAL) return fill<End::LAST_COLUMN>(w);
        if (w.batch.trace) return fill<End::BEST_CELL>(w);
        fill<End::BEST_SCORE>(w);
    }

    // ---------------------------------------------------------------- borders and end cells

    static void start(W& w) {
        uint8_t* border = w.border(0);
        for (int32_t j = 0; j <= w.columns; j++, border += 2 * LANES) {
            V::set(w.edge(j)).store(border);
            V::set(w.edge_gap(j)).store(border + LANES);
        }
        // A score of 1 is the least that is an alignment.
        V::set(w.offset + (w.batch.trace ? 1 : 0)).store(w.end_state(BYTE_BEST));
        V::set(0).store(w.end_state(BYTE_ROW_LOW));
        V::set(0).store(w.end_state(BYTE_ROW_HIGH));
        V::set(255).store(w.end_state(BYTE_COLUMN_LOW));  // NO_BYTE_COLUMN
        V::set(255).store(w.end_state(BYTE_COLUMN_HIGH));
        if (w.scheme.mode == SEMIGLOBAL) start_ends(w);
    }

    // Which lanes end in which columns. Lengths fall with the lane.
    static void start_ends(W& w) {
        const Group& group = *w.batch.group;
        memset(w.last_column(0), 0, (static_cast<size_t>(w.batch.rows) + 1) * LANES);
        for (int l = group.used - 1; l >= w.batch.first_lane; l--) {
            if (w.end_count == 0 || w.end_columns[w.end_count - 1] != group.lengths[l]) {
                w.end_columns[w.end_count++] = group.lengths[l];
            }
            w.end_lanes[w.end_count - 1][l] = 255;
        }
        w.next_end = w.end_columns[0];
    }

    struct Sums {  // of differences, a lane each; the best of them and the first place that has it
        int32_t now[LANES], best[LANES], place[LANES];
    };

    // Adds `count` vectors of differences, `step` bytes apart, to scores that start with 0 at place 0. A lane
    // counts places before `ends` only.
    static void add_differences(const uint8_t* from, size_t step, int32_t count, int32_t offset,
                                const int32_t* ends, Sums& sums) {
        typedef int32_t Ints __attribute__((vector_size(sizeof(int32_t) * Wide::LANES)));
        typedef uint8_t Few __attribute__((vector_size(Wide::LANES)));
        for (int l = 0; l < LANES; l += Wide::LANES) {
            Ints now{}, best{}, place{}, end;
            memcpy(&end, ends + l, sizeof end);
            const uint8_t* at = from + l;
            for (int32_t k = 1; k <= count; k++, at += step) {
                Few few;
                memcpy(&few, at, sizeof few);
                now += (__builtin_convertvector(few, Ints) - offset) & (k < end);
                const Ints better = now > best;
                place = (place & ~better) | (k & better);
                best = (best & ~better) | (now & better);
            }
            memcpy(sums.now + l, &now, sizeof now);
            memcpy(sums.best + l, &best, sizeof best);
            memcpy(sums.place + l, &place, sizeof place);
        }
    }

    static void read_ends(W& w) {
        ByteBatch& batch = w.batch;
        const Group& group = *batch.group;
        batch.overflowed = 0;
        if (w.scheme.mode == LOCAL) return read_best(w);
        const bool global = w.scheme.mode == GLOBAL;
        const int32_t o = w.scheme.gap_open - w.scheme.gap_extend, extend = w.scheme.gap_extend;
        const uint8_t* last_row = w.border(batch.trace ? (batch.rows - 1) / batch.side + 1 : 0) + 2 * LANES;
        int32_t ends[LANES];
        for (int l = 0; l < LANES; l++) ends[l] = l < group.used ? group.lengths[l] + (global ? 1 : 0) : 0;
        Sums row, column;
        add_differences(last_row, 2 * LANES, w.columns, o + extend, ends, row);
        if (!global) {
            for (int l = 0; l < LANES; l++) ends[l] = batch.rows + 1;
            add_differences(w.last_column(1), LANES, batch.rows, o + extend, ends, column);
        }
        for (int l = batch.first_lane; l < group.used; l++) {
            Path& path = batch.paths[l];
            path.end_row = batch.rows;
            path.end_column = group.lengths[l];
            if (global) {
                // H(rows, 0), and from there along the last row.
                path.score = row.now[l] - o - batch.rows * extend;
            } else if (row.best[l] >= column.best[l]) {  // its columns are smaller
                path.score = row.best[l];
                path.end_column = row.place[l];
            } else {
                path.score = column.best[l];
                path.end_row = column.place[l];
            }
        }
    }

    static void read_best(W& w) {
        ByteBatch& batch = w.batch;
        for (int l = batch.first_lane; l < batch.group->used; l++) {
            Path& path = batch.paths[l];
            const int32_t best = w.end_state(BYTE_BEST)[l];
            if (best > 255 - w.scheme.highest) batch.overflowed |= uint64_t{1} << l;
            path.score = best - w.offset;
            path.end_row = w.end_state(BYTE_ROW_LOW)[l] | w.end_state(BYTE_ROW_HIGH)[l] << 8;
            path.end_column = w.end_state(BYTE_COLUMN_LOW)[l] | w.end_state(BYTE_COLUMN_HIGH)[l] << 8;
            if (batch.trace && path.end_column == NO_BYTE_COLUMN)
                path.score = path.end_row = path.end_column = 0;
        }
    }

    // ---------------------------------------------------------------- a batch

    static void align(ByteBatch& batch) {
        const Group& group = *batch.group;
        const int32_t columns = group.lengths[batch.first_lane];
        const uint8_t* lanes = static_cast<const uint8_t*>(group.lanes);
        W w{batch,
            *batch.scheme,
            {LANES, batch.rows, columns, batch.trace, batch.side},
            columns,
            byte_offset(*batch.scheme),
            batch.work,
            lanes,
            lanes + CODES * TABLE_BYTES};
        w.profile = w.codes + (static_cast<size_t>(group.columns) + 1) * LANES;
        for (int a = 0; a < CODES; a++) w.profile_of[a] = rank(group.row_codes, a);
        start(w);
        fill_matrix(w);
        if (*batch.cancelled) return;
        read_ends(w);
        if (batch.trace) ByteTraceback<V>(w).run();
    }

    static ByteKernel kernel() { return {LANES, group_bytes, prepare, align}; }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
