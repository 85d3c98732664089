// The kernel for long pairs: all lanes of a vector work on one pair. Written once on the vector types of
// vector.h and compiled once per instruction set; recurrences, flags and ties are those of recurrence.h and
// kernel.h.
//
// A strip is LANES * ROWS consecutive matrix rows; lane l holds rows l*ROWS+1 .. (l+1)*ROWS of it. In step t,
// lane l is in column t - l: what it hands down (H and f of its last row) is what lane l + 1 needs in the
// next step, so between steps those two vectors move up by one lane. Lane 0 is fed from `border`, the row
// above the strip, and the last lane writes the row for the next strip to the same place, LANES columns
// behind.
//
//     Invariant: lane l's input in step t comes from lane l - 1 in step t - 1, that is from the same column,
//     and from the lane itself, the column before. A lane that is not in a column of the piece being filled
//     keeps its H and e. So garbage (f, flags and whatever else it computes there) stays in columns outside
//     the piece; before it starts, a lane holds and hands down column `left`; when all is done, every lane
//     holds column `right`.
//
// That makes pieces of any width cheap: `state` (H and e of a strip in its column, and the corner H above
// them) goes in and comes out, and is the vertical border of the next piece.
//
// Rows beyond the last (the last strip's padding) score at most 0 with any residue. Nothing flows up from
// them, and in local mode none is ever better than an earlier cell in a smaller column or row.
//
// Scores: lanes differ in row residue and column residue. A table per strip holds, for each lane and column
// residue, the scores of four rows in one word (PACKED, when scores fit eight bits) or of one; a gather
// fetches a word a lane.
//
// Memory: batch.h, Tile.
#pragma once

#include "long_pair_state.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct LongPairs : LongPairState<V> {
    using Base = LongPairState<V>;
    using Base::keep_best_cell, Base::keep_last_row, Base::keep_last_column;
    using Base::LANES, Base::ROWS, Base::STRIP;
    using Base::start_border, Base::start_state, Base::prepare_scores, Base::prepare_strip;
    using Base::start_end, Base::read_end;
    using Base::STATE_H, Base::STATE_E, Base::STATE_CORNER, Base::STATE_VECTORS;
    using typename Base::Edge;
    using typename Base::Lane;
    using typename Base::Mask;
    using typename Base::Piece;
    using typename Base::Work;

    // ---------------------------------------------------------------- the fill

    // H and e of the lanes' rows, and the corner H above them.
    struct Registers {
        V h[ROWS], e[ROWS], above;
    };
    static PAIRALIGN_INLINE void load_state(const Work& w, Registers& r) {
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            r.h[k] = V::load(w.state + (STATE_H + k) * LANES);
            r.e[k] = V::load(w.state + (STATE_E + k) * LANES);
        });
        r.above = V::load(w.state + STATE_CORNER * LANES);  // H(row above the lane, column of the lane)
    }
    static PAIRALIGN_INLINE void save_state(Work& w, const Registers& r, Lane corner) {
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            r.h[k].store(w.state + (STATE_H + k) * LANES);
            r.e[k].store(w.state + (STATE_E + k) * LANES);
        });
        V::set(corner).store(w.state + STATE_CORNER * LANES);
    }

    // What step t has found of the alignment's end; `column_best` is the highest H of each lane.
    template <bool GUARDED, End END>
    static PAIRALIGN_INLINE void keep_end(Work& w, const Piece& piece, const Registers& r, V& best,
                                          V column_best, Mask inside, int32_t t) {
        if constexpr (END == End::BEST_CELL) {
            // A lane that waits holds column `left`, but its step is not that column's.
            if constexpr (GUARDED) column_best = V::blend(inside, column_best, V::set(w.edge.base));
            if (__builtin_expect(V::any(V::ge(column_best, best)), 0)) {
                const Rows<V, ROWS> copy(r.h);
                best = keep_best_cell(w, best, column_best, copy.h, piece.base, piece.left + t);
            }
        }
        if constexpr (END == End::LAST_ROW) {
            const int32_t j = t - w.last_lane;
            if (j > 0 && j <= piece.right - piece.left) {
                const Rows<V, ROWS> copy(r.h);
                keep_last_row(w, copy.h, piece.left + j);
            }
        }
    }

    template <bool SHIFTED, bool FLAGS, End END, bool PACKED, bool VSEARCH = false>
    static void fill(Work& w, const Piece& piece) {
        constexpr int WORDS = PACKED ? ROWS / 4 : ROWS;
        const int32_t columns = piece.right - piece.left;
        const V opening = V::set(SHIFTED ? w.edge.open - w.edge.extend : w.edge.open);
        const V extending = V::set(w.edge.extend);
        const V zero = V::set(VSEARCH ? w.pair.row_is_query : w.edge.base);  // see Recurrence
        const V lane = V::load(w.lane);
        alignas(64) Lane table_starts[LANES];
        for (int l = 0; l < LANES; l++) table_starts[l] = l * WORDS * CODES;
        const V table_start = V::load(table_starts);
        const Lane* const table = w.table;
        const uint8_t* const residues = w.pair.column + piece.left;
        Edge* const border = w.border + piece.left;
        const Lane next_corner = border[columns].h;
        Edge nowhere;
        Lane none;
        Registers r;
        load_state(w, r);
        V gap = zero, codes = V::set(0);
        V best = END == End::BEST_SCORE || END == End::BEST_CELL ? V::load(w.best + BEST * LANES) : zero;
        uint8_t* flags = piece.flags;

        // GUARDED: some lanes may be outside the columns.
        const auto step = [&](auto guarded, const int32_t t) __attribute__((always_inline)) {
            constexpr bool GUARDED = decltype(guarded)::value;
            const Edge& in = border[!GUARDED || t <= columns ? t : columns];
            Edge& out = !GUARDED || t > LANES ? border[t - LANES] : nowhere;
            V diagonal = r.above;
            r.above = V::shifted_in(r.h[ROWS - 1], in.h, &out.h);
            gap = V::shifted_in(gap, in.f, &out.f);
            codes = V::shifted_in(codes, residues[t - 1], &none);
            const V index = V::add(codes, table_start);
            V words[WORDS];
            unrolled<0, WORDS>([&](auto q) __attribute__((always_inline)) {
                words[q.value] = V::gather(table + q.value * CODES, index);
            });
            Mask inside{};
            if constexpr (GUARDED) {
                const V column = V::sub(V::set(t), lane);
                inside = V::both(V::gt(column, V::set(0)), V::ge(V::set(columns), column));
            }
            V column_best = zero;
            if constexpr (FLAGS) flags += ROWS * V::FLAG_BYTES;
            unrolled<0, ROWS>([&](auto k_) __attribute__((always_inline)) {
                constexpr int k = decltype(k_)::value;
                V s;
                if constexpr (PACKED) s = V::template byte<k % 4>(words[k / 4]);
                else s = words[k];
                const auto cell =
                    Recurrence<V, SHIFTED, VSEARCH>{opening, extending, zero}.template cell<FLAGS>(
                        s, diagonal, r.e[k], gap, flags + k * V::FLAG_BYTES);
                diagonal = r.h[k];
                gap = cell.f;
                r.h[k] = GUARDED ? V::blend(inside, cell.h, r.h[k]) : cell.h;
                r.e[k] = GUARDED ? V::blend(inside, cell.e, r.e[k]) : cell.e;
                if constexpr (END == End::BEST_SCORE) best = V::max(best, r.h[k]);
                if constexpr (END == End::BEST_CELL)
                    column_best = k == 0 ? r.h[k] : V::max(column_best, r.h[k]);
            });
            keep_end<GUARDED, END>(w, piece, r, best, column_best, inside, t);
        };
        const int32_t steps = columns + LANES - 1;
        for (int32_t t = 1; t <= steps;) {
            if (t > LANES && t <= columns)
                for (; t <= columns; t++) step(Index<0>(), t);
            else step(Index<1>(), t++);
        }
        V::shifted_in(r.h[ROWS - 1], 0, &border[columns].h);
        V::shifted_in(gap, 0, &border[columns].f);
        save_state(w, r, next_corner);
        if constexpr (END == End::BEST_SCORE || END == End::BEST_CELL) best.store(w.best + BEST * LANES);
    }

    template <bool FLAGS, bool PACKED>
    static void fill_as(Work& w, bool track, const Piece& piece) {
        const Mode mode = w.pair.scheme->mode;
        if (mode == LOCAL) {
            if constexpr (FLAGS) {
                if (!track) return fill<false, true, End::NONE, PACKED>(w, piece);
            } else if (!w.pair.trace) {
                return fill<false, false, End::BEST_SCORE, PACKED>(w, piece);
            }
            return fill<false, FLAGS, End::BEST_CELL, PACKED>(w, piece);
        }
        const bool last_row = track && mode != GLOBAL && piece.base + STRIP >= w.pair.rows;
        if constexpr (FLAGS) {
            if (w.pair.scheme->ties == VSEARCH_TIES) {
                if (last_row) return fill<true, true, End::LAST_ROW, PACKED, true>(w, piece);
                return fill<true, true, End::NONE, PACKED, true>(w, piece);
            }
        }
        if (last_row) return fill<true, FLAGS, End::LAST_ROW, PACKED>(w, piece);
        fill<true, FLAGS, End::NONE, PACKED>(w, piece);
    }

    static void fill_piece(Work& w, bool track, const Piece& piece) {
        if (piece.flags)
            return w.packed ? fill_as<true, true>(w, track, piece) : fill_as<true, false>(w, track, piece);
        return w.packed ? fill_as<false, true>(w, track, piece) : fill_as<false, false>(w, track, piece);
    }

    // ---------------------------------------------------------------- traceback

    // Where flags are, for the tile below `top` and right of `left`: [strip][step][row of the lane].
    struct TileFlags {
        const uint8_t* flags;
        size_t strip_bytes;
        int32_t top, left;

        PAIRALIGN_INLINE int lane(int32_t i) const { return (i - top - 1) % STRIP / ROWS; }
        PAIRALIGN_INLINE const uint8_t* at(int32_t i, int32_t j) const {
            const int32_t r = i - top - 1;
            return flags + static_cast<size_t>(r / STRIP) * strip_bytes +
                   (static_cast<size_t>(j - left + lane(i)) * ROWS + r % ROWS) * V::FLAG_BYTES;
        }
    };

    static size_t strip_bytes(int32_t columns) {
        return (static_cast<size_t>(columns) + LANES) * ROWS * V::FLAG_BYTES;
    }

    // The borders of tiles, as the first pass leaves them: the state of each strip at the left of each tile
    // but the first column of tiles, then the row above each tile but the first row of tiles.
    struct Checkpoints {
        Lane* states;
        Edge* borders;
        size_t across, width;  // states of a strip; edges of a border

        Lane* state(int32_t strip, int32_t tile_column) const {
            const size_t index = static_cast<size_t>(strip) * across + static_cast<size_t>(tile_column) - 1;
            return states + index * STATE_VECTORS * LANES;
        }
        Edge* border(int32_t tile_row) const { return borders + (static_cast<size_t>(tile_row) - 1) * width; }
    };

    static Checkpoints checkpoints_of(const LongPair& pair) {
        Checkpoints c{static_cast<Lane*>(pair.checkpoints), nullptr, 0,
                      static_cast<size_t>(pair.columns) + 2};
        c.across = static_cast<size_t>((pair.columns - 1) / pair.tile.columns);
        const size_t strips = static_cast<size_t>((pair.rows - 1) / STRIP) + 1;
        c.borders = reinterpret_cast<Edge*>(c.states + strips * c.across * STATE_VECTORS * LANES);
        return c;
    }

    // Fills the tile that the walker is in, as far as it is needed, and follows the path to its top or left.
    static void retrace_tile(Work& w, const Checkpoints& kept, Walker& walker) {
        LongPair& pair = w.pair;
        const int32_t tile_row = (walker.row - 1) / pair.tile.rows,
                      tile_column = (walker.column - 1) / pair.tile.columns;
        const int32_t top = tile_row * pair.tile.rows, left = tile_column * pair.tile.columns;
        const size_t bytes = strip_bytes(walker.column - left);
        if (tile_row)
            memcpy(w.border + left, kept.border(tile_row) + left,
                   (static_cast<size_t>(walker.column - left) + 1) * sizeof(Edge));
        else start_border(w, left, walker.column);
        uint8_t* flags = pair.flags;
        for (int32_t base = top; base < walker.row; base += STRIP, flags += bytes) {
            prepare_strip(w, base);
            if (tile_column)
                memcpy(w.state, kept.state(base / STRIP, tile_column), STATE_VECTORS * LANES * sizeof(Lane));
            else start_state(w, base);
            fill_piece(w, false, {base, left, walker.column, flags});
        }
        const TileFlags filled{pair.flags, bytes, top, left};
        walk<V>(filled, *pair.scheme, pair.row, pair.column, top, left, walker, pair.path);
    }

    // ---------------------------------------------------------------- a pair

    static Work start(LongPair& pair) {
        const Scheme& scheme = *pair.scheme;
        Lane* work = static_cast<Lane*>(pair.work);
        Work w{pair,    {scheme.mode, scheme.gap_open, scheme.gap_extend, 0},
               work,    work + STRIP * CODES,
               nullptr, nullptr,
               false,   0,
               0,       0,
               0,       0,
               0,       {},
               {}};
        w.best = w.state + STATE_VECTORS * LANES;
        w.border = reinterpret_cast<Edge*>(w.best + (BEST_COLUMN + 1) * LANES);
        w.last_lane = (pair.rows - 1) % STRIP / ROWS;
        w.last_row = (pair.rows - 1) % ROWS;
        for (int l = 0; l < LANES; l++) w.lane[l] = l;
        prepare_scores(w);
        start_border(w, 0, pair.columns + 1);
        start_end(w);
        return w;
    }

    static void align(LongPair& pair) {
        Work w = start(pair);
        const int32_t rows = pair.rows, columns = pair.columns;
        const bool whole = !pair.trace || (pair.tile.rows >= rows && pair.tile.columns >= columns);
        const int32_t width = whole ? columns : pair.tile.columns;
        const size_t bytes = strip_bytes(columns);
        const Checkpoints kept = whole ? Checkpoints{} : checkpoints_of(pair);
        uint8_t* flags = pair.trace && whole ? pair.flags : nullptr;

        for (int32_t base = 0; base < rows; base += STRIP) {
            if (!whole && base && base % pair.tile.rows == 0)
                memcpy(kept.border(base / pair.tile.rows), w.border, kept.width * sizeof(Edge));
            prepare_strip(w, base);
            start_state(w, base);
            for (int32_t left = 0; left < columns; left += width) {
                if (left)
                    memcpy(kept.state(base / STRIP, left / width), w.state,
                           STATE_VECTORS * LANES * sizeof(Lane));
                fill_piece(w, true, {base, left, columns - left < width ? columns : left + width, flags});
                if (*pair.cancelled) return;
            }
            if (flags) flags += bytes;
            if (w.edge.mode == SEMIGLOBAL || w.edge.mode == END_GAPS) keep_last_column(w, base);
        }
        read_end(w, pair.path);
        if (!pair.trace) return;

        Walker walker = start_walk(*pair.scheme, pair.path, rows, columns, pair.row_is_query);
        if (whole && walker.state != Walker::DONE)
            walk<V>(TileFlags{pair.flags, bytes, 0, 0}, *pair.scheme, pair.row, pair.column, 0, 0, walker,
                    pair.path);
        while (walker.state != Walker::DONE) {
            retrace_tile(w, kept, walker);
            if (*pair.cancelled) return;
        }
        finish(*pair.scheme, walker, pair.path, pair.row_is_query);
    }

    static constexpr LongKernel kernel() {
        return {LANES, ROWS, V::FLAG_BYTES, V::GATHER ? 3 : 4, V::GATHER ? 5 : 9, align};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
