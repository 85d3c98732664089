// The first pass of global and semiglobal modes where a byte holds H itself: six operations a cell instead of
// the nine of differences (byte_cell.h), which are read from the border above and left at all borders.
//
// A tier of rows is cut into blocks of columns. In each, all is kept less H' of the cell of the row above
// that is left of the block, plus a base of 3*o; and H' less o more, as P. So with e and f as they are,
//
//     Z = max(P(i-1,j-1) + s, e, f),   P = Z - o,   e = max(e, P),   f = max(f, P),   s = S + 2*extend + o
//
// and differences are U = P(i,j) - P(i-1,j) and A = e - P(i-1,j), V and B alike, all less o as there.
//
// Bounds. In a block H' is at least that of its corner less 2*o, so that no P, e or f is below 0, nor is
// P + s. From a column to the next H' rises by at most highest + 2*extend + o, and in a tier's column it is
// at most that of the last row and o: so if P of the last row is at most `most` in a column, nothing wraps in
// the next one. A tier in which it is more is filled again as differences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "byte_cell.h"
#include "byte_state.h"
#include "../simd/bytes.h"
#include "../core/recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteLevels {
    using W = ByteWork<V>;
    static constexpr int LANES = V::LANES;
    static constexpr int32_t BLOCK_COLUMNS = 16;  // a power of two

    static int32_t base(const Scheme& s) { return 3 * (s.gap_open - s.gap_extend); }
    static int32_t most(const Scheme& s) { return 255 - base(s) - s.highest - 2 * s.gap_extend; }

    // Whether a byte has room for similar sequences: half of what equal residues can add.
    static bool fit(const Scheme& s) {
        return s.mode != LOCAL &&
               most(s) - base(s) >= (BLOCK_COLUMNS + V::ROWS) / 2 * (s.highest + 2 * s.gap_extend);
    }

    // Rows row+1 .. row+ROWS. `in` is the border above, `out` becomes the one below. Columns left of
    // tiles are kept. keep_last_column(u): what is done where lanes end, w.end_columns. False: some lane rose
    // too much.
    template <class Scores, bool ENDS, int ROWS, class KeepLastColumn>
    static PAIRALIGN_INLINE bool tier(W& w, int32_t row, const uint8_t* in, uint8_t* out,
                                      KeepLastColumn&& keep_last_column) {
        Scores scores(w, row);
        const V o = V::set(w.scheme.gap_open - w.scheme.gap_extend),
                base = V::set(ByteLevels::base(w.scheme));
        V p[ROWS], e[ROWS], above = base;
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            p[k] = V::add(k ? p[k ? k - 1 : 0] : base, w.row_edge(row + 1 + k));
            e[k] = V::as_it_is(p[k]);
        });
        w.row_edge(row + ROWS).store(out);
        w.row_edge(row + ROWS).store(out + LANES);
        V peak = p[ROWS - 1];
        const int32_t columns = w.columns, width = w.batch.has_tiles() ? w.layout.tile_columns : columns;
        const int32_t* next_end = w.end_columns;
        const uint8_t* codes = w.codes;
        for (int32_t j = 1, tile = 1;;) {
            const int32_t tile_end = columns / width < tile ? columns : tile * width,
                          block_end = ((j - 1) | (BLOCK_COLUMNS - 1)) + 1;
            int32_t stop = block_end < tile_end ? block_end : tile_end;
            if (ENDS && *next_end < stop) stop = *next_end;
            stop = scores.reach(j, stop);
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                const size_t here = static_cast<size_t>(j) * LANES;
                V diagonal = above, f = V::add(V::load(in + LANES), above);
                above = V::add(above, V::load(in));
                const auto column = scores.column(V::load(codes + here));
                const V before = p[ROWS - 1];
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const V d = V::add(diagonal, scores.template of<k>(column, j));
                    const V z = V::max(V::max(d, e[k]), f);
                    diagonal = p[k];
                    p[k] = V::sub(z, o);
                    e[k] = V::max(e[k], p[k]);
                    f = V::max(f, p[k]);
                });
                V::sub(p[ROWS - 1], before).store(out);
                V::sub(f, before).store(out + LANES);
                peak = V::max(peak, p[ROWS - 1]);
            }
            if (ENDS && stop == *next_end) {
                V u[ROWS];
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    u[k] = V::sub(p[k], k ? p[k ? k - 1 : 0] : above);
                });
                keep_last_column(u, next_end - w.end_columns);
                next_end++;
            }
            if (stop == columns) break;
            if (stop == tile_end) keep_left<ROWS>(p, e, above, w.left(tile++, row + 1));
            lower<ROWS>(p, e, V::sub(above, base));
            above = base;
            peak = V::max(peak, p[ROWS - 1]);
        }
        return !V::any(V::ge(peak, V::set(most(w.scheme) + 1)));
    }

private:
    // The differences of a column of a tier, below `above`.
    template <int ROWS>
    static PAIRALIGN_INLINE void keep_left(const V (&p)[ROWS], const V (&e)[ROWS], V above, uint8_t* left) {
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            const V higher = k ? p[k ? k - 1 : 0] : above;
            V::sub(p[k], higher).store(left + 2 * k * LANES);
            V::sub(e[k], higher).store(left + (2 * k + 1) * LANES);
        });
    }

    template <int ROWS>
    static PAIRALIGN_INLINE void lower(V (&p)[ROWS], V (&e)[ROWS], V by) {
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            p[k] = V::sub(p[k], by);
            e[k] = V::sub(e[k], by);
        });
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
