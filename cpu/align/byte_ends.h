// Where alignments in 8-bit lanes end and what they score: from the differences that a fill has left along
// the last row and the last column of each lane; in local mode from the best scores of tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "byte_floors.h"
#include "byte_state.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class ByteEnds {
public:
    // Sets what paths say of their ends, and `overflowed`.
    static void read(ByteWork<V>& w) {
        w.batch.overflowed = 0;
        if (w.batch.floors) read_best_above_floors(w);
        else if (w.scheme.mode == LOCAL) read_best(w);
        else if (w.scheme.mode != GLOBAL) read_borders(w);
        else if (w.batch.own) read_corners_by_columns(w);
        else read_corners(w);
    }

private:
    static constexpr int LANES = V::LANES;
    using Words = typename V::Words;

    // What is summed up: the differences of places 1 to count, `step` bytes apart, less `costs` each; of each
    // lane those of places before `ends`. `last_wins`: of equal sums the last is the best, else the first.
    struct Line {
        const uint8_t* differences;
        size_t step;
        int32_t count;
        bool last_wins;
        int32_t ends[LANES], costs[LANES];
    };
    struct Sums {  // of all places, and the best, and where that is; 0 at place 0
        int32_t now[LANES], best[LANES], place[LANES];
    };

    // ---------------------------------------------------------------- sums

    // Widens LANES / 2 bytes to 16-bit numbers, or to 32-bit ones as many bytes as a vector of these has
    // lanes.
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

    template <class Numbers, class Number, bool LAST_WINS>
    static void add_up(const Line& line, Sums& sums) {
        constexpr int AT_ONCE = sizeof(Numbers) / sizeof(Number);
        for (int l = 0; l < LANES; l += AT_ONCE) {
            Numbers now{}, best{}, place{}, end, cost;
            for (int k = 0; k < AT_ONCE; k++) {
                end[k] = static_cast<Number>(line.ends[l + k]);
                cost[k] = static_cast<Number>(line.costs[l + k]);
            }
            const uint8_t* at = line.differences + l;
            for (int32_t k = 1; k <= line.count; k++, at += line.step) {
                const Numbers here = Numbers{} + static_cast<Number>(k);
                const Numbers counts = here < end;
                now += (numbers<Numbers, Number>(at) - cost) & counts;
                const Numbers better = LAST_WINS ? (now >= best) & counts : now > best;
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

    static void add_up(const ByteWork<V>& w, const Line& line, Sums& sums) {
        typedef int32_t Ints __attribute__((vector_size(sizeof(Words))));
        const bool narrow = sums_are_narrow(w);
        if (line.last_wins && narrow) add_up<Words, int16_t, true>(line, sums);
        else if (line.last_wins) add_up<Ints, int32_t, true>(line, sums);
        else if (narrow) add_up<Words, int16_t, false>(line, sums);
        else add_up<Ints, int32_t, false>(line, sums);
    }

    // Whether sums along a border fit 16 bits: no H differs by more from another of its row or column, nor do
    // the gaps from there to the last cell.
    static bool sums_are_narrow(const ByteWork<V>& w) {
        const int64_t residues = int64_t{w.batch.rows} + w.columns, gaps = w.scheme.mode == END_GAPS ? 3 : 2;
        return residues < 32767 &&
               gaps * (residues * w.scheme.gap_extend + w.scheme.gap_open) + residues * w.scheme.highest <
                   32767;
    }

    // Along the last row, up to its cell `length - short_by`, the last of a lane being `length`.
    static Line last_row(const ByteWork<V>& w, int short_by) {
        const ByteBatch& batch = w.batch;
        Line line{w.last_row(1), w.last_row_step(), w.columns, w.scheme.ties == VSEARCH_TIES, {}, {}};
        for (int l = batch.first_lane; l < batch.group->used; l++) {
            line.ends[l] = batch.group->lengths[l] + 1 - short_by;
            line.costs[l] = w.scheme.gap_extend - w.scheme.of_column(w.is_query(l)).end.extend;
        }
        return line;
    }

    // The same along the last column.
    static Line last_column(const ByteWork<V>& w, int short_by) {
        const ByteBatch& batch = w.batch;
        Line line{w.last_column(1), LANES, batch.rows, w.scheme.ties == VSEARCH_TIES, {}, {}};
        for (int l = batch.first_lane; l < batch.group->used; l++) {
            line.ends[l] = w.rows_of(l) + 1 - short_by;
            line.costs[l] = w.scheme.gap_extend - w.scheme.of_row(w.is_query(l)).end.extend;
        }
        return line;
    }

    // ---------------------------------------------------------------- global

    // H(rows, 0), and from there along the last row.
    static void read_corners(ByteWork<V>& w) {
        Sums sums;
        add_up(w, last_row(w, 0), sums);
        for (int l = w.batch.first_lane; l < w.batch.group->used; l++)
            set_corner(w, l, sums.now[l] - GapCost{w.scheme.gap_open, w.scheme.gap_extend}.of(w.rows_of(l)));
    }

    // Own rows: H(0, columns), and from there down the last column.
    static void read_corners_by_columns(ByteWork<V>& w) {
        Sums sums;
        add_up(w, last_column(w, 0), sums);
        for (int l = w.batch.first_lane; l < w.batch.group->used; l++)
            set_corner(
                w, l,
                sums.now[l] - GapCost{w.scheme.gap_open, w.scheme.gap_extend}.of(w.batch.group->lengths[l]));
    }

    static void set_corner(ByteWork<V>& w, int l, int32_t score) {
        Path& path = w.batch.paths[l];
        path.score = score;
        path.end_row = w.rows_of(l);
        path.end_column = w.batch.group->lengths[l];
    }

    // ---------------------------------------------------------------- semiglobal, end gaps

    // H less the gap to the last cell: along the last row and the last column without that cell, and there.
    // Ties: the end cell.
    static void read_borders(ByteWork<V>& w) {
        Sums row, column;
        add_up(w, last_row(w, 1), row);
        add_up(w, last_column(w, 1), column);
        for (int l = w.batch.first_lane; l < w.batch.group->used; l++) {
            const int32_t rows = w.rows_of(l), columns = w.batch.group->lengths[l];
            const bool query = w.is_query(l);
            const EndGaps &of_row = w.scheme.of_row(query), &of_column = w.scheme.of_column(query);
            const int32_t row_score = row.best[l] - of_row.start.of(rows) - of_column.end.of(columns);
            const int32_t top = -of_column.start.of(columns) - of_row.end.of(rows);
            const int32_t corner = top + column.now[l] + static_cast<int8_t>(w.last_column(rows)[l]) -
                                   w.scheme.gap_extend + of_row.end.open;
            Path& path = w.batch.paths[l];
            path.score = top + column.best[l];
            path.end_row = column.place[l];
            path.end_column = columns;
            if (w.scheme.is_better_end(corner, path.score)) {
                path.score = corner;
                path.end_row = rows;
            }
            if (w.scheme.ends_in_last_row(row_score, path.score, path.end_row == rows, query)) {
                path.score = row_score;
                path.end_row = rows;
                path.end_column = row.place[l];
            }
        }
    }

    // ---------------------------------------------------------------- local

    // The traceback finds out where the best cells are.
    static void read_best(ByteWork<V>& w) {
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

    static void read_best_above_floors(ByteWork<V>& w) {
        ByteBatch& batch = w.batch;
        auto best = WideLanes<V>::set(w.offset);
        for (int32_t tile = 0; tile < w.tile_rows() * w.tile_columns(); tile++)
            best = best.max(WideLanes<V>::load(w.best(0, tile)));
        uint16_t lanes[LANES];
        best.read(lanes);
        for (int l = batch.first_lane; l < batch.group->used; l++) batch.paths[l].score = lanes[l] - w.offset;
        batch.overflowed = lanes_beyond(w, V::load(w.peak())) & those_in_use(batch);
    }

    static uint64_t those_in_use(const ByteBatch& batch) {
        uint64_t lanes = 0;
        for (int l = batch.first_lane; l < batch.group->used; l++) lanes |= uint64_t{1} << l;
        return lanes;
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
