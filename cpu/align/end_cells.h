// What the alignment kernel (kernel.h) fills from, and where alignments end: the best cells seen on the way,
// of all lanes, and the end cell of each lane when all is filled.
#pragma once

#include "../core/batch.h"
#include "../core/recurrence.h"
#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct Fill {
    using Lane = typename V::Lane;
    // No pair has such a column; marks "no cell yet".
    static constexpr Lane NO_CELL =
        sizeof(Lane) == 2 ? static_cast<Lane>(32767) : static_cast<Lane>(2147483647);

    const Batch& batch;
    const Scheme& scheme;
    const Lane* group;          // codes [columns + 1][LANES], or the profile [residue][columns + 1][LANES]
    int32_t profile_of[CODES];  // which block of the profile a residue has
    int32_t columns;            // of the longest lane in use
    Lane* border;               // [columns + 1][2][LANES]: H and f of the row above
    Border<V> edge;

    // End state: per lane vectors, see EndState.
    Lane* end_state;
    const uint8_t* ends_at;  // semiglobal, end gaps: 1 where a lane in use ends, [columns + 1]
    // End gaps: of each lane, whether the row sequence is the query, and the best cell of the last column.
    const Lane* row_is_query;
    struct LastColumn {
        int32_t score, row;  // less the gap to the last cell
    }* last_column;

    bool is_query(int lane) const { return row_is_query[lane] != 0; }
};

template <class V>
struct EndCells {
    using Lane = typename V::Lane;
    using Mask = typename V::Mask;
    using F = Fill<V>;
    static constexpr int LANES = V::LANES;

    static void start_end(const F& f) {
        const bool local = f.scheme.mode == LOCAL;
        for (int l = 0; l < LANES; l++) {
            const int lane = l < f.batch.group->used ? l : f.batch.group->used - 1;
            // Local: a score of 1 is the least that is an alignment. Semiglobal: H(0, last column) = 0.
            const int32_t length = f.batch.group->lengths[lane];
            f.end_state[BEST * LANES + l] =
                local ? static_cast<Lane>(f.edge.base + (f.batch.trace ? 1 : 0))
                      : static_cast<Lane>(f.edge.base + (length <= f.columns ? length : 0) * f.edge.extend);
            f.end_state[BEST_ROW * LANES + l] = 0;
            f.end_state[BEST_COLUMN * LANES + l] = local ? F::NO_CELL : Lane{0};
            f.end_state[LENGTHS * LANES + l] = static_cast<Lane>(length);
        }
        for (int l = f.batch.first_lane; f.edge.mode == END_GAPS && l < f.batch.group->used; l++) {
            const bool query = f.is_query(l);
            f.last_column[l] = {-f.scheme.of_column(query).start.of(f.batch.group->lengths[l]) -
                                    f.scheme.of_row(query).end.of(f.batch.rows),
                                0};
        }
    }

    // The first best cell of the last row, left of the last column; of mode END_GAPS less the gap from there.
    template <bool ENDS>
    static void read_last_row(const F& f, int lane, int32_t columns, int32_t& row_score,
                              int32_t& row_column) {
        const GapCost end = f.scheme.of_column(ENDS && f.is_query(lane)).end;
        const Lane* h = f.border + lane;
        for (int32_t j = 0; j < columns; j++, h += 2 * LANES) {
            int32_t score = static_cast<int32_t>(*h) - j * f.edge.extend;
            if (ENDS) score -= end.of(columns - j);
            const bool better = ENDS ? f.scheme.is_better_end(score, row_score) : score > row_score;
            if (better) row_score = score, row_column = j;
        }
    }

    // Ties: the end cell.
    static void read_end(const F& f, int lane, Path& path) {
        const int32_t rows = f.batch.rows, columns = f.batch.group->lengths[lane];
        const Lane best = f.end_state[BEST * LANES + lane];
        path.end_row = rows;
        path.end_column = columns;
        if (f.scheme.mode == LOCAL) {
            path.score = static_cast<int32_t>(best) - f.edge.base;
            path.end_row = f.end_state[BEST_ROW * LANES + lane];
            path.end_column = f.end_state[BEST_COLUMN * LANES + lane];
            if (f.batch.trace && path.end_column == F::NO_CELL)
                path.score = path.end_row = path.end_column = 0;
            return;
        }
        if (f.scheme.mode == GLOBAL) {
            const Lane h = f.border[static_cast<size_t>(columns) * 2 * LANES + lane];
            path.score = static_cast<int32_t>(h) - f.edge.base - (rows + columns) * f.edge.extend;
            return;
        }
        int32_t row_score = -2147483647, row_column = 0;
        if (f.scheme.mode == END_GAPS) {
            path.score = f.last_column[lane].score;
            path.end_row = f.last_column[lane].row;
            read_last_row<true>(f, lane, columns, row_score, row_column);
        } else {
            path.score = static_cast<int32_t>(best) - f.edge.base - columns * f.edge.extend;
            path.end_row = f.end_state[BEST_ROW * LANES + lane];
            read_last_row<false>(f, lane, columns, row_score, row_column);
        }
        // The last row usually wins ties: its columns are smaller.
        row_score -= f.edge.base + rows * f.edge.extend;
        const bool query = f.scheme.mode == END_GAPS && f.is_query(lane);
        if (f.scheme.ends_in_last_row(row_score, path.score, path.end_row == rows, query)) {
            path.score = row_score;
            path.end_row = rows;
            path.end_column = row_column;
        }
    }

    // Among equal scores the smallest column wins, then the smallest row. Tiers go down the rows, so a
    // later tier must beat the best or reach it in a smaller column.
    // Ties: the end cell.
    template <int ROWS>
    static __attribute__((noinline)) V keep_best_cell(const F& f, V best, V column_best, const V* h,
                                                      int32_t row, int32_t j) {
        V best_row = V::load(f.end_state + BEST_ROW * LANES),
          best_column = V::load(f.end_state + BEST_COLUMN * LANES);
        const V here = V::set(static_cast<Lane>(j));
        const Mask better =
            V::either(V::gt(column_best, best), V::both(V::eq(column_best, best), V::gt(best_column, here)));
        V found = best_row;
        for (int k = ROWS - 1; k >= 0; k--)
            found = V::blend(V::eq(h[k], column_best), V::set(static_cast<Lane>(row + 1 + k)), found);
        V::blend(better, found, best_row).store(f.end_state + BEST_ROW * LANES);
        V::blend(better, here, best_column).store(f.end_state + BEST_COLUMN * LANES);
        return V::max(best, column_best);
    }

    // Keeps H' - i*ext: within a column the order of H. The subtraction wraps; its true result fits.
    template <int ROWS>
    static __attribute__((noinline)) void keep_last_column(const F& f, const V* h, int32_t row, int32_t j) {
        if (f.edge.mode == END_GAPS) return keep_last_column_less_gaps<ROWS>(f, h, row, j);
        const Mask ends = V::eq(V::load(f.end_state + LENGTHS * LANES), V::set(static_cast<Lane>(j)));
        V best = V::load(f.end_state + BEST * LANES), best_row = V::load(f.end_state + BEST_ROW * LANES);
        for (int k = 0; k < ROWS; k++) {
            const int32_t i = row + 1 + k;
            const V value = V::sub(h[k], V::set(static_cast<Lane>(i * f.edge.extend)));
            const Mask better = V::both(ends, V::gt(value, best));
            best = V::blend(better, value, best);
            best_row = V::blend(better, V::set(static_cast<Lane>(i)), best_row);
        }
        best.store(f.end_state + BEST * LANES);
        best_row.store(f.end_state + BEST_ROW * LANES);
    }

    // Mode END_GAPS: the lanes that end here one by one, since a score less the gap to the last cell may need
    // more than a lane's bits.
    template <int ROWS>
    static __attribute__((noinline)) void keep_last_column_less_gaps(const F& f, const V* h, int32_t row,
                                                                     int32_t j) {
        alignas(64) Lane lanes[ROWS][LANES];
        for (int k = 0; k < ROWS; k++) h[k].store(lanes[k]);
        for (int l = f.batch.first_lane; l < f.batch.group->used; l++) {
            if (f.batch.group->lengths[l] != j) continue;
            const GapCost end = f.scheme.of_row(f.is_query(l)).end;
            auto& best = f.last_column[l];
            for (int k = 0; k < ROWS; k++) {
                const int32_t i = row + 1 + k;
                const int32_t score = static_cast<int32_t>(lanes[k][l]) - f.edge.base -
                                      (i + j) * f.edge.extend - end.of(f.batch.rows - i);
                if (f.scheme.is_better_end(score, best.score)) best = {score, i};
            }
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
