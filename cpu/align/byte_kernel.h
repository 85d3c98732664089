// The kernel of 8-bit lanes: a lane a pair, as in kernel.h, and twice as many. Written once on the vector
// types of bytes.h and compiled once per instruction set; the recurrences are in byte_cell.h.
//
// Memory: the last row of the band above. When tracing, that row is kept at the top of each row of tiles, and
// the column left of each tile; byte_traceback.h fills again what paths cross.
#pragma once

#include <cstddef>
#include <cstring>

#include "byte_batch.h"
#include "byte_runs.h"
#include "byte_traceback.h"
#include "recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteKernels {
    using W = ByteWork<V>;
    using Mask = typename V::Mask;
    using Words = typename V::Words;
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
        const int32_t raise = scheme.mode == LOCAL ? 0 : byte_raise(scheme);
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
        constexpr bool LOCAL_MODE = END == End::BEST_SCORE;
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
        V above = V::load(in);  // local: H(row, j-1)
        x[ROWS - 1].store(out);
        y[ROWS - 1].store(out + LANES);
        const int32_t columns = w.columns, width = TRACE ? w.layout.tile_columns : columns;
        const int32_t* next_end = w.end_columns;
        const uint8_t* codes = w.codes;
        uint8_t* best_of_tile = w.best(TRACE ? row / w.batch.side : 0, 0);
        // Columns up to the next at which something is kept.
        for (int32_t j = 1, tile = 1;;) {
            const int32_t tile_end = columns / width < tile ? columns : tile * width;
            const int32_t stop = END == End::LAST_COLUMN && *next_end < tile_end ? *next_end : tile_end;
            V best = LOCAL_MODE ? V::load(best_of_tile) : costs.o;
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                const size_t here = static_cast<size_t>(j) * LANES;
                V diagonal = above, v = V::load(in), gap = V::load(in + LANES);
                above = v;
                typename V::Index index{};
                if constexpr (V::LOOKUP) index = V::index(V::load(codes + here));
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
                    if constexpr (LOCAL_MODE) best = V::max(best, cell.x);
                });
                v.store(out);
                gap.store(out + LANES);
            }
            if constexpr (LOCAL_MODE) {
                best.store(best_of_tile);
                best_of_tile += LANES;
            }
            if constexpr (END == End::LAST_COLUMN) {
                if (stop == *next_end) {
                    keep_last_column<ROWS>(w, x, row, next_end - w.end_columns);
                    next_end++;
                }
            }
            if (stop == columns) break;
            if (stop < tile_end) continue;
            if constexpr (TRACE) {
                uint8_t* left = w.left(tile, row + 1);
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    x[k].store(left + 2 * k * LANES);
                    y[k].store(left + (2 * k + 1) * LANES);
                });
            }
            tile++;
        }
    }

    // Keeps U of the lanes that end in the column `end_columns[end]`.
    template <int ROWS>
    static PAIRALIGN_INLINE void keep_last_column(const W& w, const V (&u)[ROWS], int32_t row,
                                                  std::ptrdiff_t end) {
        const Mask ends = V::eq(V::load(w.end_lanes[end]), V::set(255));
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            uint8_t* at = w.last_column(row + 1 + k);
            V::blend(ends, u[k], V::load(at)).store(at);
        });
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
        fill<End::BEST_SCORE>(w);
    }

    // ---------------------------------------------------------------- borders and end cells

    static void start(W& w) {
        uint8_t* border = w.border(0);
        for (int32_t j = 0; j <= w.columns; j++, border += 2 * LANES) {
            V::set(w.edge(j)).store(border);
            V::set(w.edge_gap(j)).store(border + LANES);
        }
        if (w.scheme.mode == LOCAL)
            memset(w.best(0, 0), w.offset, static_cast<size_t>(w.tile_rows() * w.tile_columns()) * LANES);
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
    }

    struct Sums {  // of differences, a lane each; the best of them and the first place that has it
        int32_t now[LANES], best[LANES], place[LANES];
    };

    // LANES / 2 bytes as 16-bit numbers, or so many as a vector of 32-bit numbers has.
    template <class Numbers, class Number>
    static PAIRALIGN_INLINE Numbers numbers(const uint8_t* at) {
        if constexpr (sizeof(Number) == 2) {
            return V::words(at);
        } else {
            Numbers wide{};
            for (size_t l = 0; l < sizeof(Numbers) / sizeof(Number); l++)
                wide[l] = static_cast<int8_t>(at[l]);
            return wide;
        }
    }

    // Adds `count` vectors of differences, `step` bytes apart, to scores that start with 0 at place 0. A lane
    // counts places before `ends` only.
    template <class Numbers, class Number>
    static void add_differences(const uint8_t* from, size_t step, int32_t count, int32_t offset,
                                const int32_t* ends, Sums& sums) {
        constexpr int AT_ONCE = sizeof(Numbers) / sizeof(Number);
        for (int l = 0; l < LANES; l += AT_ONCE) {
            Numbers now{}, best{}, place{}, end;
            for (int k = 0; k < AT_ONCE; k++) end[k] = static_cast<Number>(ends[l + k]);
            const uint8_t* at = from + l;
            for (int32_t k = 1; k <= count; k++, at += step) {
                const Numbers here = Numbers{} + static_cast<Number>(k);
                now += (numbers<Numbers, Number>(at) - static_cast<Number>(offset)) & (here < end);
                const Numbers better = now > best;
                place = (place & ~better) | (here & better);
                best = (best & ~better) | (now & better);
            }
            for (int k = 0; k < AT_ONCE; k++) {
                sums.now[l + k] = now[k];
                sums.best[l + k] = best[k];
                sums.place[l + k] = place[k];
            }
        }
    }

    static void add_differences(bool narrow, const uint8_t* from, int32_t count, size_t step, int32_t offset,
                                const int32_t* ends, Sums& sums) {
        typedef int32_t Ints __attribute__((vector_size(sizeof(Words))));
        if (narrow) add_differences<Words, int16_t>(from, step, count, offset, ends, sums);
        else add_differences<Ints, int32_t>(from, step, count, offset, ends, sums);
    }

    // Whether sums along a border fit 16 bits: no H differs by more from another of its row or column.
    static bool sums_are_narrow(const W& w) {
        const int64_t letters = int64_t{w.batch.rows} + w.columns;
        return letters < 32767 &&
               2 * (letters * w.scheme.gap_extend + w.scheme.gap_open) + letters * w.scheme.highest < 32767;
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
        const bool narrow = sums_are_narrow(w);
        Sums row, column;
        add_differences(narrow, last_row, w.columns, 2 * LANES, extend, ends, row);
        if (!global) {
            for (int l = 0; l < LANES; l++) ends[l] = batch.rows + 1;
            add_differences(narrow, w.last_column(1), batch.rows, LANES, extend, ends, column);
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

    // The traceback finds out where the best cells are.
    static void read_best(W& w) {
        ByteBatch& batch = w.batch;
        V best = V::set(w.offset);
        for (int32_t tile = 0; tile < w.tile_rows() * w.tile_columns(); tile++)
            best = V::max(best, V::load(w.best(0, tile)));
        alignas(64) uint8_t lanes[LANES];
        best.store(lanes);
        for (int l = batch.first_lane; l < batch.group->used; l++) {
            if (lanes[l] > 255 - w.scheme.highest) batch.overflowed |= uint64_t{1} << l;
            batch.paths[l].score = lanes[l] - w.offset;
        }
    }

    // ---------------------------------------------------------------- a batch

    static void align(ByteBatch& batch) {
        const Group& group = *batch.group;
        const int32_t columns = group.lengths[batch.first_lane];
        const uint8_t* lanes = static_cast<const uint8_t*>(group.lanes);
        W w{batch,
            *batch.scheme,
            {LANES, batch.scheme->mode, batch.rows, columns, batch.trace, batch.side},
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

    static ByteKernel kernel() { return {LANES, group_bytes, prepare, align, ByteRuns<V>::write}; }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
