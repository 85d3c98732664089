// The alignment kernel, written once on the vector types of vector.h (a lane a pair) and compiled
// once per instruction set. The recurrences are in recurrence.h.
//
// Memory: the last row of the tier above (H and f, `border`), and the four flags of `block_rows` rows.
// When those are fewer than all rows, the first pass keeps the border at each block's top and the
// traceback refills the blocks from the last to the first, up to the column its paths still need
// (checkpoints: O(rows/block_rows * columns) borders instead of O(rows * columns) flags).
#pragma once

#include "../core/batch.h"
#include "../core/recurrence.h"
#include "../core/traceback.h"
#include "../simd/vector.h"
#include "end_cells.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct Kernels {
    using Lane = typename V::Lane;
    using Mask = typename V::Mask;
    using F = Fill<V>;
    using Ends = EndCells<V>;
    static constexpr int LANES = V::LANES;

    // ---------------------------------------------------------------- groups

    static int rank(uint32_t set, int code) { return __builtin_popcount(set & ((1u << code) - 1)); }

    static size_t group_bytes(int32_t columns, uint32_t row_codes) {
        size_t blocks = V::GATHER ? 1 : static_cast<size_t>(__builtin_popcount(row_codes));
        return blocks * (static_cast<size_t>(columns) + 1) * LANES * sizeof(Lane);
    }

    static void prepare(const Scheme& scheme, Group& group) {
        Lane* out = static_cast<Lane*>(group.lanes);
        const size_t stride = (static_cast<size_t>(group.columns) + 1) * LANES;
        for (int l = 0; l < LANES; l++) {
            const int source = l < group.used ? l : group.used - 1;
            const uint8_t* codes = group.codes[source];
            const int32_t length = group.lengths[source];
            if (V::GATHER) {
                out[l] = PAD;
                for (int32_t j = 1; j <= length; j++) out[static_cast<size_t>(j) * LANES + l] = codes[j - 1];
                for (int32_t j = length + 1; j <= group.columns; j++)
                    out[static_cast<size_t>(j) * LANES + l] = PAD;
                continue;
            }
            Lane* block = out;
            for (int a = 0; a < CODES; a++) {
                if (!(group.row_codes >> a & 1)) continue;
                Lane scores[CODES];
                for (int b = 0; b < CODES; b++)
                    scores[b] = static_cast<Lane>(scheme.matrix[a][b] + shift_of(scheme));
                block[l] = scores[PAD];
                for (int32_t j = 1; j <= length; j++)
                    block[static_cast<size_t>(j) * LANES + l] = scores[codes[j - 1]];
                for (int32_t j = length + 1; j <= group.columns; j++)
                    block[static_cast<size_t>(j) * LANES + l] = scores[PAD];
                block += stride;
            }
        }
    }

    // ---------------------------------------------------------------- borders

    // Mode END_GAPS: H and gap state of the border's cell number i, where the start gap costs so much.
    static __attribute__((noinline)) void end_gap_edge(const F& f, int32_t i, const GapCost& if_row_is_query,
                                                       const GapCost& if_not, V& h, V& gap) {
        const Mask query = V::gt(V::load(f.row_is_query), V::set(0));
        h = V::blend(query, V::set(f.edge.h(i, if_row_is_query)), V::set(f.edge.h(i, if_not)));
        gap = V::blend(query, V::set(f.edge.gap(i, if_row_is_query)), V::set(f.edge.gap(i, if_not)));
    }

    static void start_border(const F& f) {
        for (int32_t j = 0; f.edge.mode == END_GAPS && j <= f.columns; j++) {
            V h, gap;
            end_gap_edge(f, j, f.scheme.target.start, f.scheme.query.start, h, gap);
            h.store(f.border + static_cast<size_t>(j) * 2 * LANES);
            gap.store(f.border + (static_cast<size_t>(j) * 2 + 1) * LANES);
        }
        for (int32_t j = 0; f.edge.mode != END_GAPS && j <= f.columns; j++) {
            V::set(f.edge.h(j)).store(f.border + static_cast<size_t>(j) * 2 * LANES);
            V::set(f.edge.gap(j)).store(f.border + (static_cast<size_t>(j) * 2 + 1) * LANES);
        }
    }

    // ---------------------------------------------------------------- the fill

    struct CodeRow {  // scores of one row residue against the column residues of all lanes
        alignas(64) Lane scores[CODES];
    };

    // Rows row+1 .. row+ROWS of the matrix (row residues are 0-based, matrix rows 1-based).
    template <bool SHIFTED, bool FLAGS, End END, bool VSEARCH, int ROWS>
    static void tier(const F& f, int32_t row, int32_t columns, uint8_t* flags) {
        constexpr int STEP = V::ROWS * V::FLAG_BYTES;
        alignas(64) CodeRow residue[V::GATHER ? ROWS : 1];
        const Lane* profile[ROWS];
        V h[ROWS], e[ROWS];
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            const int code = f.batch.row[row + k];
            if constexpr (V::GATHER) {
                const int32_t shift = SHIFTED ? 2 * f.edge.extend : 0;
                for (int b = 0; b < CODES; b++)
                    residue[k].scores[b] = static_cast<Lane>(f.scheme.matrix[code][b] + shift);
            } else {
                profile[k] = f.group + static_cast<size_t>(f.profile_of[code]) *
                                           (static_cast<size_t>(f.batch.group->columns) + 1) * LANES;
            }
            h[k] = V::set(f.edge.h(row + 1 + k));
            e[k] = V::set(f.edge.gap(row + 1 + k));
            if (SHIFTED && __builtin_expect(f.edge.mode == END_GAPS, 0)) {
                V edge_h, edge_gap;  // h and e themselves must not leave the registers
                end_gap_edge(f, row + 1 + k, f.scheme.query.start, f.scheme.target.start, edge_h, edge_gap);
                h[k] = edge_h;
                e[k] = edge_gap;
            }
        });
        const V opening = V::set(static_cast<Lane>(SHIFTED ? f.edge.open - f.edge.extend : f.edge.open));
        const V extending = V::set(static_cast<Lane>(f.edge.extend));
        // Of vsearch's ties it is something else, see Recurrence: no cell of this mode is raised to 0.
        const V zero = VSEARCH ? V::load(f.row_is_query) : V::set(f.edge.base);
        const uint8_t* const ends_at = f.ends_at;
        const Lane* group = f.group;
        Lane* border = f.border;
        V above = V::load(border);  // H(row, j-1)
        V best = END == End::BEST_SCORE || END == End::BEST_CELL ? V::load(f.end_state + BEST * LANES) : zero;
        h[ROWS - 1].store(border);
        V::set(f.edge.gap(row + ROWS)).store(border + LANES);
        for (int32_t j = 1; j <= columns; j++) {
            border += 2 * LANES;
            V diagonal = above;
            above = V::load(border);
            V gap = V::load(border + LANES);
            V codes{};
            if constexpr (V::GATHER) codes = V::load(group += LANES);
            V column_best = zero;
            if constexpr (FLAGS) flags += STEP;
            unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
                constexpr int k = decltype(index)::value;
                V s;
                if constexpr (V::GATHER) s = V::lookup(residue[k].scores, codes);
                else s = V::load(profile[k] + static_cast<size_t>(j) * LANES);
                const auto cell =
                    Recurrence<V, SHIFTED, VSEARCH>{opening, extending, zero}.template cell<FLAGS>(
                        s, diagonal, e[k], gap, flags + k * V::FLAG_BYTES);
                diagonal = h[k];
                const V x = h[k] = cell.h;
                e[k] = cell.e;
                gap = cell.f;
                if constexpr (END == End::BEST_SCORE) best = V::max(best, x);
                if constexpr (END == End::BEST_CELL) column_best = k == 0 ? x : V::max(column_best, x);
            });
            h[ROWS - 1].store(border);
            gap.store(border + LANES);
            if constexpr (END == End::BEST_CELL) {
                if (__builtin_expect(V::any(V::ge(column_best, best)), 0)) {
                    const Rows<V, ROWS> copy(h);  // h itself must not leave the registers
                    best = Ends::template keep_best_cell<ROWS>(f, best, column_best, copy.h, row, j);
                }
            }
            if constexpr (END == End::LAST_COLUMN) {
                if (__builtin_expect(ends_at[j], 0)) {
                    const Rows<V, ROWS> copy(h);
                    Ends::template keep_last_column<ROWS>(f, copy.h, row, j);
                }
            }
        }
        if constexpr (END == End::BEST_SCORE || END == End::BEST_CELL) best.store(f.end_state + BEST * LANES);
    }

    // Rows begin+1 .. end. Flags are laid out as [row / V::ROWS][column][row % V::ROWS].
    template <bool SHIFTED, bool FLAGS, End END, bool VSEARCH = false>
    static void fill(const F& f, int32_t begin, int32_t end, int32_t columns) {
        uint8_t* flags = f.batch.flags;
        int32_t row = begin;
        for (; row + V::ROWS <= end; row += V::ROWS) {
            tier<SHIFTED, FLAGS, END, VSEARCH, V::ROWS>(f, row, columns, flags);
            if (FLAGS) flags += tier_bytes(columns);
            if (*f.batch.cancelled) return;
        }
        // 32-bit lanes are few, and mostly of long rows: not worth another tier to compile.
        if constexpr (V::ROWS > 4 && sizeof(Lane) == 2) {
            if (end - row >= 4) {
                tier<SHIFTED, FLAGS, END, VSEARCH, 4>(f, row, columns, flags);
                row += 4;
                flags += 4 * V::FLAG_BYTES;
            }
        }
        for (; end - row >= 2; row += 2, flags += 2 * V::FLAG_BYTES)
            tier<SHIFTED, FLAGS, END, VSEARCH, 2>(f, row, columns, flags);
        if (end - row >= 1) tier<SHIFTED, FLAGS, END, VSEARCH, 1>(f, row, columns, flags);
    }

    static void fill_block(const F& f, bool flags, bool track, int32_t begin, int32_t end, int32_t columns) {
        if (f.scheme.mode == LOCAL) {
            if (!track) return fill<false, true, End::NONE>(f, begin, end, columns);
            if (flags) return fill<false, true, End::BEST_CELL>(f, begin, end, columns);
            if (f.batch.trace) return fill<false, false, End::BEST_CELL>(f, begin, end, columns);
            return fill<false, false, End::BEST_SCORE>(f, begin, end, columns);
        }
        if (flags && f.scheme.ties == VSEARCH_TIES) {
            if (track) return fill<true, true, End::LAST_COLUMN, true>(f, begin, end, columns);
            return fill<true, true, End::NONE, true>(f, begin, end, columns);
        }
        if (track && f.scheme.mode != GLOBAL) {
            if (flags) return fill<true, true, End::LAST_COLUMN>(f, begin, end, columns);
            return fill<true, false, End::LAST_COLUMN>(f, begin, end, columns);
        }
        if (flags) return fill<true, true, End::NONE>(f, begin, end, columns);
        return fill<true, false, End::NONE>(f, begin, end, columns);
    }

    // ---------------------------------------------------------------- traceback

    // Where the flags of one lane are, for rows begin+1 .. and columns up to `columns` (see fill).
    struct LaneFlags {
        const uint8_t* flags;
        size_t tier_bytes;
        int32_t begin;
        int in_lane;

        PAIRALIGN_INLINE int lane(int32_t) const { return in_lane; }
        PAIRALIGN_INLINE const uint8_t* at(int32_t i, int32_t j) const {
            const int32_t r = i - begin - 1;
            return flags + static_cast<size_t>(r / V::ROWS) * tier_bytes +
                   (static_cast<size_t>(j) * V::ROWS + r % V::ROWS) * V::FLAG_BYTES;
        }
    };

    struct Needed {
        int32_t rows = 0, columns = 0;
    };

    static size_t tier_bytes(int32_t columns) {
        return (static_cast<size_t>(columns) + 1) * V::ROWS * V::FLAG_BYTES;
    }

    // ---------------------------------------------------------------- a batch

    // What END_GAPS asks of each lane.
    struct EndGapLanes {
        alignas(64) Lane row_is_query[LANES];
        typename F::LastColumn last_column[LANES];
    };

    static F describe(const Batch& batch, EndGapLanes& lanes) {
        const Group& group = *batch.group;
        const Scheme& scheme = *batch.scheme;
        F f{batch,
            scheme,
            static_cast<const Lane*>(group.lanes),
            {},
            group.lengths[batch.first_lane],
            static_cast<Lane*>(batch.border),
            {scheme.mode, scheme.gap_open, scheme.gap_extend, 0},
            static_cast<Lane*>(batch.end_state),
            nullptr,
            nullptr,
            nullptr};
        for (int a = 0; a < CODES; a++) f.profile_of[a] = rank(group.row_codes, a);
        f.edge.base = sizeof(Lane) == 2 ? static_cast<Lane>(-32768 + room_below(scheme)) : Lane{0};
        if (scheme.mode == END_GAPS) {
            for (int l = 0; l < LANES; l++)
                lanes.row_is_query[l] = static_cast<Lane>(batch.row_is_query >> l & 1);
            f.row_is_query = lanes.row_is_query;
            f.last_column = lanes.last_column;
        }
        if (scheme.mode == SEMIGLOBAL || scheme.mode == END_GAPS) {
            uint8_t* ends_at = reinterpret_cast<uint8_t*>(f.end_state + END_VECTORS * LANES);
            memset(ends_at, 0, static_cast<size_t>(f.columns) + 1);
            for (int l = batch.first_lane; l < group.used; l++) ends_at[group.lengths[l]] = 1;
            f.ends_at = ends_at;
        }
        return f;
    }

    static size_t border_lanes(int32_t columns) { return (static_cast<size_t>(columns) + 1) * 2 * LANES; }

    // All rows: with flags where those of all are kept, else with a checkpoint at each block's top.
    static void fill_all(const F& f) {
        const int32_t rows = f.batch.rows, block = f.batch.block_rows;
        start_border(f);
        Ends::start_end(f);
        if (!f.batch.trace || block >= rows) return fill_block(f, f.batch.trace, true, 0, rows, f.columns);
        Lane* checkpoint = static_cast<Lane*>(f.batch.checkpoints);
        for (int32_t begin = 0; begin < rows; begin += block) {
            if (begin) {
                memcpy(checkpoint, f.border, border_lanes(f.columns) * sizeof(Lane));
                checkpoint += border_lanes(f.columns);
            }
            fill_block(f, false, true, begin, rows - begin < block ? rows : begin + block, f.columns);
        }
    }

    // The flags of rows begin+1 .. end, in so many columns, from the block's checkpoint.
    static void refill(const F& f, int32_t begin, int32_t end, int32_t columns) {
        const size_t number = static_cast<size_t>(begin / f.batch.block_rows);
        if (begin == 0) start_border(f);
        else
            memcpy(f.border, static_cast<Lane*>(f.batch.checkpoints) + (number - 1) * border_lanes(f.columns),
                   border_lanes(columns) * sizeof(Lane));
        fill_block(f, true, false, begin, end, columns);
    }

    // Up to which row and column paths still need the flags of the rows after `begin`; 0: they need none.
    static Needed needed_of(const F& f, const Walker* walkers, int32_t begin) {
        Needed needed;
        for (int l = f.batch.first_lane; l < f.batch.group->used; l++) {
            const Walker& w = walkers[l];
            if (w.state == Walker::DONE || w.row <= begin || w.column == 0) continue;
            if (w.column > needed.columns) needed.columns = w.column;
            if (w.row > needed.rows) needed.rows = w.row;
        }
        return needed;
    }

    static void walk_back(const F& f, Batch& batch, Walker* walkers) {
        const Group& group = *batch.group;
        const int32_t rows = batch.rows, block = batch.block_rows;
        const bool whole = block >= rows;
        for (int32_t begin = whole ? 0 : (rows - 1) / block * block; begin >= 0;
             begin -= whole ? rows : block) {
            const Needed needed = needed_of(f, walkers, begin);
            if (needed.columns == 0) continue;
            const int32_t columns = whole ? f.columns : needed.columns;
            if (!whole) {
                refill(f, begin, needed.rows, columns);
                if (*batch.cancelled) return;
            }
            for (int l = batch.first_lane; l < group.used; l++)
                if (walkers[l].state != Walker::DONE)
                    walk<V>(LaneFlags{batch.flags, tier_bytes(columns), begin, l}, f.scheme, batch.row,
                            group.codes[l], begin, 0, walkers[l], batch.paths[l]);
        }
        for (int l = batch.first_lane; l < group.used; l++)
            finish(f.scheme, walkers[l], batch.paths[l], batch.row_is_query >> l & 1);
    }

    static void align(Batch& batch) {
        const Group& group = *batch.group;
        EndGapLanes lanes;
        const F f = describe(batch, lanes);
        fill_all(f);
        if (*batch.cancelled) return;
        Walker walkers[MAX_LANES];
        for (int l = batch.first_lane; l < group.used; l++) {
            Path& path = batch.paths[l];
            Ends::read_end(f, l, path);
            if (batch.trace)
                walkers[l] =
                    start_walk(f.scheme, path, batch.rows, group.lengths[l], batch.row_is_query >> l & 1);
        }
        if (batch.trace) walk_back(f, batch, walkers);
    }

    static constexpr Kernel kernel() {
        static_assert(8 % V::ROWS == 0, "block_rows, a multiple of 8, must hold whole tiers");
        return {LANES, static_cast<int>(sizeof(Lane)), V::FLAG_BYTES, group_bytes, prepare, align};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
