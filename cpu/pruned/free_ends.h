// Semiglobal and local mode in a band: where alignments may begin, and where the best one ends.
//
// The bound of what the rest can add is that of free ends (worth.h), and so is its proof: a cell from which
// no alignment comes to the bound is on no optimal one. An alignment may begin in any cell of value 0 that is
// alive: on a border, or in local mode anywhere. The more is left the more it can add, so all these cells are
// in a triangle or box at the begin of both sequences, up to the antidiagonal `free_until`; beyond it the
// recurrence is that of global mode. Up to there antidiagonals are filled one by one, and `begin_anew` puts
// the zeros into the lanes.
//
// An end cell has the bound's score or more. Blocks that cannot have one are filled as in global mode, others
// by antidiagonals, and `note_end` looks for it, by the rule for ties of docs/architecture.md.
#pragma once

#include "../core/ties.h"
#include "antidiagonal_cells.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct FreeEnds : BandCells<V> {
    using Cells = BandCells<V>;
    using Cells::HIGHEST;
    using Cells::inside;
    using Cells::LANES;
    using Cells::lanes;
    using Cells::larger;
    using Cells::nothing;
    using Cells::row_of;
    using Cells::smaller;
    using typename Cells::Lane;
    using typename Cells::Range;

    // H of a lane of an antidiagonal.
    static int64_t score_of(const PrunedPair& p, int32_t step, int32_t lane) {
        return p.base + lanes(p.h[step & 1])[lane] - int64_t{step} * p.scheme->gap_extend;
    }

    // ---------------------------------------------------------------- where alignments begin

    // Antidiagonal `step`, in lanes low .. low + vectors * LANES - 1.
    static __attribute__((noinline)) void begin_anew(const PrunedPair& p, const Block& b, int32_t step) {
        const Scheme& s = *p.scheme;
        const int64_t least = nothing(s), zero = int64_t{step} * s.gap_extend - p.base;
        if (zero < least) return;  // such cells are not alive
        const int64_t opened = zero - (s.gap_open - s.gap_extend);
        const Lane h = static_cast<Lane>(zero), gap = static_cast<Lane>(opened > least ? opened : least);
        Lane *const now = lanes(p.h[step & 1]), *const e = lanes(p.e), *const f = lanes(p.f);
        if (s.mode == LOCAL) {
            const V zeros = V::set(h), gaps = V::set(gap);
            for (int32_t k = 0; k < b.vectors; k++) {
                const int32_t at = b.low + k * LANES;
                store_any(now + at, V::max(load_any<V>(now + at), zeros));
                store_any(e + at, V::max(load_any<V>(e + at), gaps));
                store_any(f + at, V::max(load_any<V>(f + at), gaps));
            }
            return;
        }
        const int32_t first = -row_of(p, step, 0);
        for (const int32_t lane : {first, first + step}) {  // (0, step) and (step, 0)
            if (lane < b.low || lane >= b.low + b.vectors * LANES) continue;
            now[lane] = h;
            e[lane] = f[lane] = gap;
        }
    }

    // ---------------------------------------------------------------- where they end

    // The highest H of the last two antidiagonals, of cells of the matrix.
    static int64_t highest_score(const PrunedPair& p, Range window) {
        int64_t best = INT64_MIN;
        for (int32_t step = p.step; step >= 0 && step >= p.step - 1; step--) {
            const Range r = inside(p, step, window);
            const Lane* const h = lanes(p.h[step & 1]);
            int32_t highest = INT32_MIN;
            for (int32_t l = r.low; l <= r.high; l++) highest = larger(highest, h[l]);
            const int64_t score = p.base + highest - int64_t{step} * p.scheme->gap_extend;
            if (r.low <= r.high && score > best) best = score;
        }
        return best;
    }

    // A score that some alignment has which goes through the last two antidiagonals. Semiglobal: one that
    // goes on to a border by a gap, if that is near.
    static int64_t reached_score(const PrunedPair& p, Range window) {
        if (p.scheme->mode == LOCAL) return highest_score(p, window);
        constexpr int32_t NEAR = 64;
        int64_t best = INT64_MIN;
        for (int32_t step = p.step; step >= 0 && step >= p.step - 1; step--) {
            const Range r = inside(p, step, window);
            const int32_t zero = row_of(p, step, 0);
            const auto look = [&](int32_t low, int32_t high) {
                for (int32_t l = larger(low, r.low); l <= smaller(high, r.high); l++) {
                    const int32_t i = l + zero, left = smaller(p.rows - i, p.columns - (step - i));
                    const int64_t score =
                        score_of(p, step, l) -
                        (left ? p.scheme->gap_open + int64_t{left - 1} * p.scheme->gap_extend : 0);
                    if (score > best) best = score;
                }
            };
            look(p.rows - NEAR - zero, r.high);             // rows near the last one
            look(r.low, step - (p.columns - NEAR) - zero);  // columns
        }
        return best;
    }

    // Whether a cell of a block may be an end cell. Semiglobal: one of the last row or column.
    static bool may_end(const PrunedPair& p, const Block& b) {
        const Scheme& s = *p.scheme;
        const int32_t end = b.step + b.steps, high = b.low + b.vectors * LANES - 1;
        if (s.mode == SEMIGLOBAL)
            return row_of(p, end, high) >= p.rows || end - row_of(p, end, b.low) >= p.columns;
        const int64_t rise = int64_t{s.highest} * (b.steps / 2 + 1);
        if (int64_t{s.highest} * (end / 2 + 1) < p.bound) return false;  // of the residues so far
        const int64_t now = highest_score(p, {p.alive_low, p.alive_high});
        return (now > 0 ? now : 0) + rise >= p.bound;
    }

    // Looks for the end cell in antidiagonal `step`.
    // Ties: the end cell.
    static __attribute__((noinline)) void note_end(PrunedPair& p, const Block& b, int32_t step) {
        const Range r = inside(p, step, {b.low, b.low + b.vectors * LANES - 1});
        const int32_t zero = row_of(p, step, 0);
        const auto note = [&](int32_t lane) {
            if (lane < r.low || lane > r.high) return;
            const int64_t score = score_of(p, step, lane);
            const int32_t i = lane + zero, j = step - i;
            if (score < p.bound || score < p.score) return;
            if (score == p.score && !is_earlier_end(i, j, p.end_row, p.end_column)) return;
            p.score = score;
            p.end_row = i;
            p.end_column = j;
        };
        if (p.scheme->mode == LOCAL) {
            const Lane* const h = lanes(p.h[step & 1]);
            const int64_t wanted =
                (p.score > p.bound ? p.score : p.bound) - p.base + int64_t{step} * p.scheme->gap_extend;
            for (int32_t l = r.low; l <= r.high; l++)
                if (h[l] >= wanted) note(l);
            return;
        }
        note(p.rows - zero);
        note(step - p.columns - zero);
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
