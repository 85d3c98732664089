// Numbers of optimal alignments, a lane a pair, on vectors of PAIRALIGN_TIE_BYTES; the recurrences are in
// ties.h. Some rows at a time: H of the last and F of the next row are kept by column, E goes along. Where a
// gap costs more to open than to extend, none is best opened after one of its kind: H does for max(M, E) and
// max(M, F), else (SAME) these are made.
#pragma once

#include "ties.h"
#include "../simd/vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct TieCounter {
    static constexpr int LANES = PAIRALIGN_TIE_BYTES / 4;
    static constexpr int CODES = 32;
    static constexpr int ROWS = 2;                           // filled together
    static constexpr int32_t DEAD = -(1 << 30) - (1 << 29);  // below any score, far above a wrap
    typedef int32_t V __attribute__((vector_size(PAIRALIGN_TIE_BYTES)));
    typedef uint32_t U __attribute__((vector_size(PAIRALIGN_TIE_BYTES)));

    // A value, and how many paths attain it.
    struct State {
        V value;
        U paths;
    };
    struct Column {
        State h, next_f;
    };
    // Of some rows, what cells hand on to the right.
    template <int COUNT>
    struct Rows {
        const V* scores[COUNT];
        State diagonal[COUNT], e[COUNT];
    };
    struct Fill {
        const TieBatch& batch;
        Column* columns;  // [width + 1]
        V* scores;        // of a row, or for each code of the row sequence: [width + 1] each
        V open, extend, best, heights, widths;
        U total;
        V is_more;  // whether an alignment scores more than `best`
    };

    static PAIRALIGN_INLINE V set(int32_t x) { return V{} + x; }
    // Beyond the end of a lane values may wrap.
    static PAIRALIGN_INLINE V minus(V a, V b) { return (V)((U)a - (U)b); }
    static PAIRALIGN_INLINE V plus(V a, V b) { return (V)((U)a + (U)b); }
    static PAIRALIGN_INLINE State after(State s, V cost) { return {minus(s.value, cost), s.paths}; }
    static PAIRALIGN_INLINE U sum(U a, U b) {
        const U room = ~a;
        return a + (b < room ? b : room);
    }
    static PAIRALIGN_INLINE State best_of(State a, State b) {
        return {a.value > b.value ? a.value : b.value,
                sum((U)(a.value >= b.value) & a.paths, (U)(b.value >= a.value) & b.paths)};
    }
    static PAIRALIGN_INLINE State best_of(State a, State b, State c) {
        const V of_two = a.value > b.value ? a.value : b.value, value = of_two > c.value ? of_two : c.value;
        return {value, sum(sum((U)(a.value == value) & a.paths, (U)(b.value == value) & b.paths),
                           (U)(c.value == value) & c.paths)};
    }
    static PAIRALIGN_INLINE State without(State s, V dropped) {
        return {dropped ? set(DEAD) : s.value, ~(U)dropped & s.paths};
    }
    static PAIRALIGN_INLINE State dead() { return {set(DEAD), U{}}; }
    static PAIRALIGN_INLINE State one(V value) { return {value, U{} + 1}; }

    // What a gap of so many residues costs.
    static PAIRALIGN_INLINE V cost_of(const int32_t (&gap)[2], V residues) {
        const V cost = (V)((U)set(gap[0]) + (U)(residues - 1) * (U)set(gap[1]));
        return residues > 0 ? cost : V{};
    }

    static size_t bytes(int32_t width, bool one_row) {
        const size_t columns = static_cast<size_t>(width) + 1;
        return columns * (sizeof(Column) + (one_row ? CODES : ROWS) * sizeof(V));
    }

    static void count(TieBatch& batch) {
        const size_t columns = static_cast<size_t>(batch.width) + 1;
        Column* const memory = static_cast<Column*>(batch.memory);
        Fill f{batch,
               memory,
               reinterpret_cast<V*>(memory + columns),
               set(batch.open),
               set(batch.extend),
               V{},
               V{},
               V{},
               U{},
               V{}};
        for (int l = 0; l < LANES; l++) {
            f.best[l] = batch.best[l];
            f.heights[l] = batch.heights[l];
            f.widths[l] = batch.widths[l];
        }
        if (batch.open == batch.extend) {
            batch.local ? fill<true, true>(f) : fill<false, true>(f);
        } else {
            batch.local ? fill<true, false>(f) : fill<false, false>(f);
        }
        for (int l = 0; l < LANES; l++) {
            batch.counts[l] = f.total[l];
            batch.is_more[l] = f.is_more[l] != 0;
        }
    }

private:
    template <bool LOCAL, bool SAME>
    static void fill(Fill& f) {
        const TieBatch& batch = f.batch;
        int32_t shortest = batch.height, narrowest = batch.width;
        for (int l = 0; l < LANES; l++) {
            if (batch.heights[l] < shortest) shortest = batch.heights[l];
            if (batch.widths[l] < narrowest) narrowest = batch.widths[l];
        }
        if (batch.one_row) lay_out_codes(f);
        for (int32_t j = 0; j <= batch.width; j++) {
            const State start = one(LOCAL ? V{} : -cost_of(batch.end_costs[COLUMN_START], set(j)));
            f.columns[j] = {start, LOCAL ? dead() : after(start, f.open)};
        }
        int32_t i = 1;
        for (; i + ROWS - 1 <= batch.height; i += ROWS)
            fill_rows<LOCAL, SAME, ROWS>(f, i, shortest, narrowest);
        for (; i <= batch.height; i++) fill_rows<LOCAL, SAME, 1>(f, i, shortest, narrowest);
    }

    template <bool LOCAL, bool SAME, int COUNT>
    static void fill_rows(Fill& f, int32_t i, int32_t shortest, int32_t narrowest) {
        const TieBatch& batch = f.batch;
        Rows<COUNT> rows;
        State before = f.columns[0].h;
        for (int r = 0; r < COUNT; r++) {
            rows.scores[r] =
                batch.one_row ? scores_of(f, batch.rows[0][i + r - 1]) : lay_out_row(f, i + r, r);
            const State start = one(LOCAL ? V{} : -cost_of(batch.end_costs[ROW_START], set(i + r)));
            rows.diagonal[r] = before;
            rows.e[r] = LOCAL ? dead() : after(start, f.open);
            before = start;
        }
        f.columns[0].h = before;
        const int32_t plain = LOCAL ? batch.width : i + COUNT - 1 < shortest ? narrowest - 1 : 0;
        fill_columns<LOCAL, SAME, false>(f, rows, i, 1, plain);
        if (!LOCAL) fill_columns<false, SAME, true>(f, rows, i, plain + 1, batch.width);
    }

    // Some rows from column `first` to `last`; ENDS: lanes may have their last row or column there.
    template <bool LOCAL, bool SAME, bool ENDS, int COUNT>
    static __attribute__((noinline)) void fill_columns(Fill& f, Rows<COUNT>& given, int32_t i, int32_t first,
                                                       int32_t last) {
        Rows<COUNT> rows = given;
        const V open = f.open, extend = f.extend, best = f.best;
        U total = f.total;
        V most = best;
        for (int32_t j = first; j <= last; j++) {
            Column& column = f.columns[j];
            State above = column.h, gap = column.next_f;
#pragma GCC unroll 4
            for (int r = 0; r < COUNT; r++) {
                State m = {plus(rows.diagonal[r].value, rows.scores[r][j]), rows.diagonal[r].paths};
                State e = rows.e[r];
                if constexpr (LOCAL) {
                    const V is_best = m.value == best;
                    total = sum(total, (U)is_best & m.paths);
                    most = most > m.value ? most : m.value;
                    m = without({m.value, ~(U)is_best & m.paths}, m.value <= 0);
                    e = without(e, e.value <= 0);
                    gap = without(gap, gap.value <= 0);
                }
                if constexpr (ENDS) {
                    e = without(e, f.heights == i + r);
                    gap = without(gap, f.widths == j);
                    total = sum(total, paths_that_end(f, i + r, j, m, e, gap));
                }
                State h = best_of(m, e, gap);
                const State for_e = SAME ? best_of(m, gap) : h, for_f = SAME ? best_of(m, e) : h;
                if constexpr (LOCAL) {
                    const V is_start = h.value < 0;
                    h = {is_start ? V{} : h.value, is_start ? U{} + 1 : h.paths};
                }
                rows.diagonal[r] = above;
                rows.e[r] = best_of(after(e, extend), after(for_e, open));
                gap = best_of(after(gap, extend), after(for_f, open));
                above = h;
            }
            column = {above, gap};
        }
        given = rows;
        f.total = total;
        f.is_more |= most > best;
    }

    // Paths with the best score that end in a cell.
    static PAIRALIGN_INLINE U paths_that_end(Fill& f, int32_t i, int32_t j, State m, State e, State gap) {
        const V rows_left = f.heights - i, columns_left = f.widths - j;
        const V in_row = (rows_left == 0) & (columns_left >= 0);
        const V in_column = (columns_left == 0) & (rows_left >= 0);
        const V cost = in_row ? cost_of(f.batch.end_costs[COLUMN_END], columns_left)
                              : cost_of(f.batch.end_costs[ROW_END], rows_left);
        const V value = plus(f.best, cost);
        const U paths = sum((U)(m.value == value) & m.paths,
                            sum((U)(e.value == value) & e.paths, (U)(gap.value == value) & gap.paths));
        const V is_end = in_row | in_column;
        f.is_more |= is_end & ((m.value > value) | (e.value > value) | (gap.value > value));
        return (U)is_end & paths;
    }

    // ---- scores

    static int32_t beyond(const TieBatch& batch) { return batch.local ? -(1 << 30) : 0; }
    static const V* scores_of(const Fill& f, int code) {
        return f.scores + static_cast<size_t>(code) * (static_cast<size_t>(f.batch.width) + 1);
    }

    // The scores of each code of the one row sequence with all columns.
    static void lay_out_codes(Fill& f) {
        const TieBatch& batch = f.batch;
        bool seen[CODES] = {};
        for (int32_t i = 0; i < batch.height; i++) {
            const int code = batch.rows[0][i];
            if (seen[code]) continue;
            seen[code] = true;
            V* const scores = const_cast<V*>(scores_of(f, code));
            for (int l = 0; l < LANES; l++) lay_out(batch, batch.matrix + CODES * code, l, scores);
        }
    }
    // The scores of a row, whose residue each lane has its own of.
    static const V* lay_out_row(Fill& f, int32_t i, int place) {
        const TieBatch& batch = f.batch;
        V* const scores = const_cast<V*>(scores_of(f, place));
        int32_t none[CODES];
        for (int32_t& score : none) score = beyond(batch);
        for (int l = 0; l < LANES; l++) {
            const bool inside = i <= batch.heights[l];
            lay_out(batch, inside ? batch.matrix + CODES * batch.rows[l][i - 1] : none, l, scores);
        }
        return scores;
    }
    static void lay_out(const TieBatch& batch, const int32_t* scores, int lane, V* out) {
        int32_t* to = reinterpret_cast<int32_t*>(out + 1) + lane;
        const int32_t width = batch.widths[lane];
        for (int32_t j = 0; j < width; j++, to += LANES) *to = scores[batch.columns[lane][j]];
        for (int32_t j = width; j < batch.width; j++, to += LANES) *to = beyond(batch);
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
