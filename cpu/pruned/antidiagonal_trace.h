// The way back through the blocks that antidiagonal_band.h has filled with flags.
#pragma once

#include "../core/traceback.h"
#include "antidiagonal_cells.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct BandTrace : BandCells<V> {
    using Cells = BandCells<V>;
    using Cells::LANES;
    using Cells::row_of;
    using Cells::smaller;
    using typename Cells::Lane;

    // What the residues before (i, j) add on the diagonal.
    static int32_t score_before(const PrunedPair& p, int32_t i, int32_t j) {
        const Lane a = static_cast<const Lane*>(p.row)[i - 1],
                   b = static_cast<const Lane*>(p.column)[p.columns - j];
        if (p.two_scores) return a == b ? p.match : p.mismatch;
        return static_cast<const Lane*>(p.table)[a * CODES + b] - 2 * p.scheme->gap_extend;
    }

    // How many cells of a diagonal the path takes from (i, j) on, within the block; with mode local, as far
    // as the alignment goes.
    static int32_t diagonal_run(const PrunedPair& p, Walker& w, const Block& b, const uint8_t* cell,
                                size_t stride, int lane, int32_t i, int32_t j) {
        const bool local = p.scheme->mode == LOCAL;
        const int32_t most = smaller(smaller(i, j), (i + j - b.step + 1) / 2);
        int32_t run = 1;
        if (local) w.local_score -= score_before(p, i, j);
        for (; run < most; run++) {
            if ((local && w.local_score == 0) || !V::flag(cell -= 2 * stride, DIAGONAL, lane)) break;
            if (local) w.local_score -= score_before(p, i - run, j - run);
        }
        return run;
    }

    static void go_on_with_last_run(Walker& w, Path& path) {
        const uint32_t last = path.runs[--path.run_count];
        w.run = last >> 2;
        w.step = last & 3;
    }

    // Ties: the walk back.
    static Progress trace(PrunedPair& p, int32_t& row, int32_t& column, int& state, Path& path) {
        Walker w{row, column, p.score_left, 0, DIAGONAL_STEP, static_cast<Walker::State>(state)};
        if (path.run_count) go_on_with_last_run(w, path);
        const int32_t extend = p.scheme->gap_extend, closing = p.scheme->gap_open - extend;
        const bool local = p.scheme->mode == LOCAL;
        const Block* b = p.blocks + p.block_count - 1;
        int32_t i = row, j = column;
        bool lost = false, begun = false;
        while (i > 0 && j > 0 && i + j > p.blocks[0].step) {
            const int32_t step = i + j;
            while (step <= b->step) b--;
            const int32_t at = i - row_of(p, step, b->low);
            if (at < 0 || at >= b->vectors * LANES) {
                lost = true;
                break;
            }
            const size_t stride = static_cast<size_t>(b->vectors) * V::FLAG_BYTES;
            const uint8_t* cell = p.flags + b->flags + static_cast<size_t>(step - b->step - 1) * stride +
                                  static_cast<size_t>(at / LANES) * V::FLAG_BYTES;
            const int lane = at % LANES;
            if (w.state != Walker::IN_H) {
                const bool in_e = w.state == Walker::IN_E;
                if (V::flag(cell, in_e ? CUP_NEXT : CLEFT_NEXT, lane)) {
                    emit(path, w, in_e ? COLUMN_GAP : ROW_GAP, 1);
                    w.local_score += extend;
                    (in_e ? j : i)--;
                    continue;
                }
                w.local_score += closing;
                w.state = Walker::IN_H;
            }
            if (local && w.local_score == 0) {
                begun = true;
                break;
            }
            if (V::flag(cell, DIAGONAL, lane)) {  // a lane is a diagonal
                const int32_t run = diagonal_run(p, w, *b, cell, stride, lane, i, j);
                emit(path, w, DIAGONAL_STEP, static_cast<uint32_t>(run));
                i -= run;
                j -= run;
            } else if (V::flag(cell, FROM_E, lane)) {
                emit(path, w, COLUMN_GAP, 1);
                w.local_score += extend;
                w.state = Walker::IN_E;
                j--;
            } else {
                emit(path, w, ROW_GAP, 1);
                w.local_score += extend;
                w.state = Walker::IN_F;
                i--;
            }
        }
        row = w.row = i;
        column = w.column = j;
        state = w.state;
        p.score_left = w.local_score;
        if (lost) return Progress::LOST;
        const bool done = i == 0 || j == 0 || begun;
        if (done) finish(*p.scheme, w, path, true);
        else if (w.run) path.runs[path.run_count++] = w.run << 2 | w.step;
        return done ? Progress::DONE : Progress::MORE;
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
