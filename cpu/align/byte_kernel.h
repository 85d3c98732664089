// The kernel of 8-bit lanes: a lane a pair, as in kernel.h, and twice as many. Written once on the vector
// types of bytes.h and compiled once per instruction set; the recurrences are in byte_cell.h.
//
// Memory: the last row of the tier above. When tracing, that row is kept at the top of each row of tiles, and
// the column left of each tile; byte_traceback.h fills again what paths cross. Of short sequences it is the
// codes of all cells instead.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "../core/byte_batch.h"
#include "lane_bands.h"
#include "byte_ends.h"
#include "byte_floors.h"
#include "byte_levels.h"
#include "byte_runs.h"
#include "byte_traceback.h"
#include "own_group.h"
#include "../core/recurrence.h"
#include "row_scores.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V, Scores SCORES = Scores::ONE_ROW>
struct ByteKernels {
    static constexpr bool OWN_ROWS = SCORES != Scores::ONE_ROW;
    using W = ByteWork<V>;
    using Mask = typename V::Mask;
    static constexpr int LANES = V::LANES;
    static constexpr size_t TABLE_BYTES = 2 * CODES;

    // ---------------------------------------------------------------- groups

    static int rank(uint32_t set, int code) { return __builtin_popcount(set & ((1u << code) - 1)); }

    // Bytes of a group: a table of scores for each residue, the codes of each column, profiles.
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

    // ALL_CODES: the first pass keeps a code for every cell; else nothing, or where there are tiles their
    // borders.
    template <bool ALL_CODES, int ROWS>
    using TierScores =
        std::conditional_t<ALL_CODES, ScoresAndResidues<V, SCORES, ROWS>, RowScores<V, SCORES, ROWS>>;

    // What goes down a column, from a row to the next.
    struct Down {
        V diagonal, v, gap;
    };

    template <bool LOCAL_MODE, int K, class Column, class AnyScores, int ROWS>
    static PAIRALIGN_INLINE ByteCell<V> one_cell(const AnyScores& scores, const Column& column, int32_t j,
                                                 V (&x)[ROWS], V (&y)[ROWS], Down& down, V& best,
                                                 const ByteCosts<V>& costs) {
        const V s = scores.template of<K>(column, j);
        const auto cell =
            ByteCell<V>::template of<LOCAL_MODE>(s, x[K], y[K], down.v, down.gap, down.diagonal, costs);
        down = {x[K], LOCAL_MODE ? cell.x : cell.v, cell.w};
        x[K] = cell.x;
        y[K] = cell.y;
        if constexpr (LOCAL_MODE) best = V::max(best, cell.x);
        return cell;
    }

    // Columns j to `stop`, the upper half of the rows a column ahead of the lower one: each cell waits for
    // the one above it, and a processor does not look far enough ahead to find the next column.
    template <bool LOCAL_MODE, int ROWS, class AnyScores>
    static PAIRALIGN_INLINE void columns_by_halves(const W& w, const AnyScores& scores, V (&x)[ROWS],
                                                   V (&y)[ROWS], int32_t j, int32_t stop, const uint8_t*& in,
                                                   uint8_t*& out, V& above, V& best) {
        constexpr int HALF = ROWS / 2;
        const ByteCosts<V> costs = w.costs();
        const uint8_t* codes = w.codes + static_cast<size_t>(j) * LANES;
        const auto enter = [&]() __attribute__((always_inline)) {
            in += 2 * LANES;
            const Down top{above, V::load(in), V::load(in + LANES)};
            above = top.v;
            return top;
        };
        const auto leave = [&](const Down& down) __attribute__((always_inline)) {
            out += 2 * LANES;
            down.v.store(out);
            down.gap.store(out + LANES);
        };
        Down upper = enter();
        const auto first = scores.column(V::load(codes));
        unrolled<0, HALF>([&](auto which) __attribute__((always_inline)) {
            one_cell<LOCAL_MODE, decltype(which)::value>(scores, first, j, x, y, upper, best, costs);
        });
        for (j++; j <= stop; j++) {
            Down lower = upper;
            const auto before = scores.column(V::load(codes));
            codes += LANES;
            upper = enter();
            const auto here = scores.column(V::load(codes));
            unrolled<0, HALF>([&](auto which) __attribute__((always_inline)) {
                constexpr int k = decltype(which)::value;
                one_cell<LOCAL_MODE, k>(scores, here, j, x, y, upper, best, costs);
                one_cell<LOCAL_MODE, HALF + k>(scores, before, j - 1, x, y, lower, best, costs);
            });
            leave(lower);
        }
        const auto last = scores.column(V::load(codes));
        unrolled<0, HALF>([&](auto which) __attribute__((always_inline)) {
            one_cell<LOCAL_MODE, HALF + decltype(which)::value>(scores, last, j - 1, x, y, upper, best,
                                                                costs);
        });
        leave(upper);
    }

    // Rows row+1 .. row+ROWS. `in` is the border above, `out` becomes the one below; they may be the same.
    // KEEP: V of the rows with which lanes end is kept.
    template <End END, bool ALL_CODES, bool KEEP, int ROWS>
    static void tier(W& w, int32_t row, const uint8_t* in, uint8_t* out) {
        constexpr bool LOCAL_MODE = END == End::BEST_SCORE, HALVES = LANES == 64 && ROWS == 8 && LOCAL_MODE;
        [[maybe_unused]] const LastRows<KEEP, ROWS> last_rows(w, row);
        TierScores<ALL_CODES, ROWS> scores(w, row);
        V x[ROWS], y[ROWS];
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            x[k] = w.row_edge(row + 1 + k);
            y[k] = V::as_it_is(x[k]);  // or the loop is compiled into a slower one
        });
        const ByteCosts<V> costs = w.costs();
        V above = V::load(in);  // local: H(row, j-1)
        x[ROWS - 1].store(out);
        y[ROWS - 1].store(out + LANES);
        const bool tiles = w.batch.has_tiles();
        const int32_t columns = w.columns, width = tiles ? w.layout.tile_columns : columns;
        const int32_t* next_end = w.end_columns;
        const uint8_t* codes = w.codes;
        const size_t row_bytes = w.row_bytes();
        uint8_t* const cells = w.memory + w.layout.tile + (static_cast<size_t>(row) + 1) * row_bytes;
        uint8_t* best_of_tile = w.best(tiles ? row / w.batch.side : 0, 0);
        // Columns up to the next at which something is kept.
        for (int32_t j = 1, tile = 1;;) {
            const int32_t tile_end = columns / width < tile ? columns : tile * width;
            const int32_t stop =
                scores.reach(j, END == End::LAST_COLUMN && *next_end < tile_end ? *next_end : tile_end);
            V best = LOCAL_MODE ? V::load(best_of_tile) : costs.o;
            if constexpr (HALVES) {
                if (!tiles) {
                    columns_by_halves<LOCAL_MODE, ROWS>(w, scores, x, y, j, stop, in, out, above, best);
                    j = stop + 1;
                }
            }
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                const size_t here = static_cast<size_t>(j) * LANES;
                Down down{above, V::load(in), V::load(in + LANES)};
                above = down.v;
                const V residues = V::load(codes + here);
                const auto column = scores.column(residues);
                [[maybe_unused]] V last = KEEP ? V::load(w.last_row(j)) : above;
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const auto cell = one_cell<LOCAL_MODE, k>(scores, column, j, x, y, down, best, costs);
                    if constexpr (KEEP) last = V::blend(last_rows.ends[k], down.v, last);
                    if constexpr (ALL_CODES)
                        cell.template code<Codes::USUAL>(scores.template move<k>(residues), costs.o, costs)
                            .store(cells + k * row_bytes + here);
                });
                down.v.store(out);
                down.gap.store(out + LANES);
                if constexpr (KEEP) last.store(w.last_row(j));
            }
            if constexpr (LOCAL_MODE) best.store(best_of_tile);
            if constexpr (END == End::LAST_COLUMN) {
                if (stop == *next_end) {
                    keep_last_column<ROWS>(w, x, row, next_end - w.end_columns);
                    next_end++;
                }
            }
            if (stop == columns) break;
            if (stop < tile_end) continue;
            uint8_t* const left = w.left(tile++, row + 1);
            unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                constexpr int k = decltype(which)::value;
                x[k].store(left + 2 * k * LANES);
                y[k].store(left + (2 * k + 1) * LANES);
            });
            best_of_tile += LANES;
        }
    }

    // Which lanes end with which of ROWS rows after `row`.
    template <bool KEEP, int ROWS>
    struct LastRows {
        Mask ends[ROWS];

        LastRows(const W& w, int32_t row) {
            alignas(64) uint8_t lanes[ROWS][LANES] = {};
            for (int l = 0; l < w.batch.group->used; l++) {
                const int32_t k = w.rows_of(l) - 1 - row;
                if (k >= 0 && k < ROWS) lanes[k][l] = 255;
            }
            for (int k = 0; k < ROWS; k++) ends[k] = V::eq(V::load(lanes[k]), V::set(255));
        }
    };
    template <int ROWS>
    struct LastRows<false, ROWS> {
        LastRows(const W&, int32_t) {}
    };

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
    template <End END, bool ALL_CODES>
    static void fill_rows(W& w, int32_t begin, int32_t end, const uint8_t* in, uint8_t* out) {
        constexpr int MOST = END == End::BEST_SCORE ? V::LOCAL_ROWS : V::ROWS,
                      ROWS = ALL_CODES && MOST > 4 ? 4 : MOST;  // registers are few
        int32_t row = begin;
        // Levels leave the border that they read as it is, for differences to be tried.
        for (int32_t tiers = (end - row) / ROWS; tiers > 0; row += ROWS) {
            uint8_t* const to = --tiers % 2 && w.levels ? w.spare_border() : out;
            fill_tier<END, ALL_CODES, ROWS>(w, row, in, to);
            if (*w.batch.cancelled) return;
            in = to;
        }
        if (ROWS > 4 && end - row >= 4) {
            fill_tier<END, ALL_CODES, 4>(w, row, in, out);
            row += 4;
            in = out;
        }
        if constexpr (!OWN_ROWS) {  // see OwnRows::ROWS
            if (ROWS > 2 && end - row >= 2) {
                fill_tier<END, ALL_CODES, 2>(w, row, in, out);
                row += 2;
                in = out;
            }
            if (end - row >= 1) fill_tier<END, ALL_CODES, 1>(w, row, in, out);
        }
    }

    // Whether the row sequence of a lane ends with one of `count` rows after `row`. In global mode, where
    // that does not matter, false.
    static bool some_lane_ends(const W& w, int32_t row, int32_t count) {
        if (w.scheme.mode == GLOBAL) return false;
        for (int l = 0; l < w.batch.group->used; l++) {
            const int32_t last = w.batch.own->lengths[l];
            if (last > row && last <= row + count) return true;
        }
        return false;
    }

    template <End END, bool ALL_CODES, int ROWS>
    static void fill_tier(W& w, int32_t row, const uint8_t* in, uint8_t* out) {
        if constexpr (OWN_ROWS && END == End::LAST_COLUMN)
            if (some_lane_ends(w, row, ROWS)) return tier<END, ALL_CODES, true, ROWS>(w, row, in, out);
        if constexpr (END != End::BEST_SCORE && !ALL_CODES && ROWS == V::ROWS) {
            if (w.levels && in != out) {
                w.levels =
                    ByteLevels<V>::template tier<RowScores<V, SCORES, ROWS>, END == End::LAST_COLUMN, ROWS>(
                        w, row, in, out,
                        [&](const V(&u)[ROWS], std::ptrdiff_t end)
                            __attribute__((always_inline)) { keep_last_column<ROWS>(w, u, row, end); });
                if (w.levels) return;
            }
        }
        tier<END, ALL_CODES, false, ROWS>(w, row, in, out);
    }

    template <End END>
    static void fill(W& w) {
        const int32_t rows = w.batch.rows, side = w.batch.side;
        if (!w.batch.trace) return fill_rows<END, false>(w, 0, rows, w.border(0), w.border(0));
        if constexpr (END != End::BEST_SCORE)  // see plan_bytes
            if (!w.batch.has_tiles()) return fill_rows<END, true>(w, 0, rows, w.border(0), w.border(0));
        int32_t tile = 0;
        for (int32_t begin = 0; begin < rows; begin += side, tile++) {
            fill_rows<END, false>(w, begin, rows - begin < side ? rows : begin + side, w.border(tile),
                                  w.border(tile + 1));
            if (*w.batch.cancelled) return;
        }
    }

    static void fill_matrix(W& w) {
        if (w.batch.floors) return FloorFill<V, SCORES>::run(w);
        if (w.scheme.mode == LOCAL) return fill<End::BEST_SCORE>(w);
        if (has_last_column(w)) return fill<End::LAST_COLUMN>(w);
        if constexpr (!OWN_ROWS) fill<End::NONE>(w);
    }

    // ---------------------------------------------------------------- borders

    // Global mode: where rows end in different places, scores are summed up along the last column.
    static bool has_last_column(const W& w) {
        return w.scheme.mode != LOCAL && (OWN_ROWS || w.scheme.mode != GLOBAL);
    }

    static void start_border(W& w) {
        uint8_t* border = w.border(0);
        for (int32_t j = 0; j <= w.columns; j++, border += 2 * LANES) {
            const V edge = w.column_edge(j);
            edge.store(border);
            edge.store(border + LANES);
        }
    }

    static void start(W& w) {
        start_border(w);
        if (w.batch.floors) FloorFill<V, SCORES>::start(w);
        else if (w.scheme.mode == LOCAL)
            memset(w.best(0, 0), w.offset, static_cast<size_t>(w.tile_rows() * w.tile_columns()) * LANES);
        if (has_last_column(w)) start_ends(w);
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

    // ---------------------------------------------------------------- a batch

    static W work_of(ByteBatch& batch) {
        const Group& group = *batch.group;
        const int32_t columns = OWN_ROWS ? group.columns : group.lengths[batch.first_lane];
        uint8_t* lanes = static_cast<uint8_t*>(group.lanes);
        W w{batch,
            *batch.scheme,
            {LANES, batch.scheme->mode, batch.rows, columns, batch.trace, batch.side, batch.floors},
            columns,
            byte_offset(*batch.scheme),
            batch.work,
            lanes,
            lanes + CODES * TABLE_BYTES};
        w.levels = ByteLevels<V>::fit(w.scheme);
        w.find_edges();
        if constexpr (OWN_ROWS) find_own(w, lanes);
        else find_profile(w);
        return w;
    }

    static void align(ByteBatch& batch) {
        W w = work_of(batch);
        start(w);
        fill_matrix(w);
        if (*batch.cancelled) return;
        ByteEnds<V>::read(w);
        if (batch.trace) ByteTraceback<V, SCORES>(w).run();
    }

    static void find_profile(W& w) {
        const Group& group = *w.batch.group;
        w.profile = w.codes + (static_cast<size_t>(group.columns) + 1) * LANES;
        for (int a = 0; a < CODES; a++) w.profile_of[a] = rank(group.row_codes, a);
    }

    // Where what OwnGroup has prepared is.
    static void find_own(W& w, uint8_t* lanes) {
        w.own = OwnLayout(LANES, *w.batch.own, w.batch.group->columns);
        w.own_group = lanes;
        w.codes = lanes + w.own.codes;
        w.own_rows = lanes + w.own.rows;
    }

    using Classes = ByteKernels<typename V::WithoutLookup, Scores::CLASSES>;

    static void align_any(ByteBatch& batch) {
        if (!batch.own) return align(batch);
        if (batch.own->classes) return Classes::align(batch);
        if constexpr (V::LOOKUP)
            if (const FewRows& few = batch.own->few; few.count)
                return few.tables() == 1   ? ByteKernels<V, Scores::ONE_TABLE>::align(batch)
                       : few.tables() == 2 ? ByteKernels<V, Scores::TWO_TABLES>::align(batch)
                                           : ByteKernels<V, Scores::FOUR_TABLES>::align(batch);
        ByteKernels<typename V::WithoutLookup, Scores::LINES>::align(batch);
    }

    static void find_bounds(ByteBatch& batch, LaneBand& c) {
        W w = work_of(batch);
        start_border(w);
        LaneBands<V>(w).find_bounds(c);
    }

    static void fill_band(ByteBatch& batch, LaneBand& c) {
        int32_t scores[LANES] = {};
        W w = work_of(batch);
        start_border(w);
        if (batch.trace) w.band = c.tiles;
        LaneBands<V> band(w);
        if (batch.trace) band.template fill_band<true>(c, scores);
        else band.template fill_band<false>(c, scores);
        for (int l = 0; l < batch.group->used; l++) {
            const bool done = c.done >> l & 1;
            Path& path = batch.paths[l];
            path.score = scores[l];
            path.end_row = done ? batch.own->lengths[l] : 0;
            path.end_column = done ? batch.group->lengths[l] : 0;
        }
        batch.overflowed = ~c.done;
        if (batch.trace && !*batch.cancelled) ByteTraceback<V, SCORES>(w).run();
        c.done &= ~batch.overflowed;
    }

    static constexpr ByteKernel kernel() {
        using Own = OwnGroup<V>;
        return {LANES,
                group_bytes,
                prepare,
                Own::bytes,
                Own::prepare,
                align_any,
                V::LOOKUP,
                Classes::find_bounds,
                Classes::fill_band,
                ByteRuns<V>::write};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
