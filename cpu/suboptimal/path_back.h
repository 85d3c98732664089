// The way back from the last cell of an alignment. Not for kernels, as used_runs.h.
#pragma once

#include <algorithm>

#include "../core/batch.h"
#include "job.h"
#include "suboptimal.h"

namespace pairalign {

// Writes the runs of a path from its end to its start, and counts.
class RunsBack {
public:
    RunsBack(const pairalign_suboptimal_pair& pair, pairalign_suboptimal_found& found, uint32_t* runs)
        : pair_(pair), found_(found), runs_(runs) {}

    void aligned(int32_t row, int32_t column) {
        const uint8_t code = pair_.rows[row - 1];
        const bool equal = code == pair_.columns[column - 1] && code < pair_.unambiguous;
        (equal ? found_.matches : found_.mismatches) += 1;
        add(equal ? EQUAL : DIFFERENT);
    }
    void gap(bool of_rows) {
        ++found_.gap_residues;
        found_.gap_openings += add(of_rows == (pair_.query_is_row != 0) ? INSERTION : DELETION);
    }
    // The path begins after a row and a column.
    void finish(const SuboptimalEnd& end, int32_t row, int32_t column) {
        std::reverse(runs_, runs_ + found_.run_count);
        found_.score = end.score;
        found_.row_start = row, found_.row_end = end.row;
        found_.column_start = column, found_.column_end = end.column;
    }

private:
    bool add(uint32_t operation) {
        int32_t& count = found_.run_count;
        const bool is_new = count == 0 || (runs_[count - 1] & 15) != operation;
        if (is_new) runs_[count++] = operation;
        runs_[count - 1] += 16;
        return is_new;
    }
    const pairalign_suboptimal_pair& pair_;
    pairalign_suboptimal_found& found_;
    uint32_t* runs_;
};

// From H the diagonal, else E, else F; a gap goes on if it can: docs/conventions.md.
// Ties: the walk back.
template <typename Flags>
void trace(Flags& flags, const SuboptimalJob& job, const SuboptimalEnd& end,
           pairalign_suboptimal_found& found, uint32_t* runs) {
    found = {};
    RunsBack path(*job.pair, found, runs);
    int32_t row = end.row, column = end.column;
    enum { IN_H, IN_E, IN_F } state = IN_H;
    while (row > 0 && column > 0) {
        flags.reach(row, column);
        const uint8_t flag = flags.flag(row, column);
        if (state == IN_H) {
            if (flag & SUBOPTIMAL_STOP) break;
            if (flag & SUBOPTIMAL_DIAGONAL) {
                path.aligned(row--, column--);
                continue;
            }
            state = flag & SUBOPTIMAL_E ? IN_E : IN_F;
        }
        path.gap(state == IN_F);
        const bool goes_on = flag & (state == IN_E ? SUBOPTIMAL_E_ON : SUBOPTIMAL_F_ON);
        (state == IN_E ? column : row) -= 1;
        if (!goes_on) state = IN_H;
    }
    path.finish(end, row, column);
}

// The residues of the longest gap by which H of a cell comes from a cell before it, whose H is at(residues),
// of `most`; 0: none. A cell that would have to score more by `less` is passed by no such gap where that is
// more than a new gap from it costs beside one that goes on.
template <typename At>
int32_t longest_gap(const pairalign_suboptimal_pair& pair, int32_t h, int32_t most, At at) {
    int32_t longest = 0, before = h + pair.gap_open;
    for (int32_t k = 1; k <= most; ++k, before += pair.gap_extend) {
        const int32_t less = before - at(k);
        if (less == 0) longest = k;
        if (less > pair.gap_open - pair.gap_extend) break;
    }
    return longest;
}

// The same way by H of all cells alone, which is score(row, column): more than 0, it says what E and F were.
// A gap of columns comes from what score_in_row says, so that it is seen, and ties with others are as they
// are, where a path may go no further. A cell comes from the diagonal only if is_free(row, column). Where it
// comes from a cell whose score is not kept, the path begins there, and scores less than it should.
// Ties: the walk back.
template <typename Score, typename ScoreInRow, typename IsFree>
void trace_scores(const pairalign_suboptimal_pair& pair, const SuboptimalEnd& end,
                  pairalign_suboptimal_found& found, uint32_t* runs, Score score, ScoreInRow score_in_row,
                  IsFree is_free) {
    found = {};
    RunsBack path(pair, found, runs);
    int32_t row = end.row, column = end.column;
    for (int32_t h; (h = score(row, column)) > 0;) {
        const int32_t more = pair.matrix[pair.rows[row - 1] * SUBOPTIMAL_CODES + pair.columns[column - 1]];
        if (score(row - 1, column - 1) + more == h && is_free(row, column)) {
            path.aligned(row--, column--);
            continue;
        }
        int32_t gap = longest_gap(pair, h, column, [&](int32_t k) { return score_in_row(row, column - k); });
        const bool of_rows = gap == 0;
        if (of_rows) gap = longest_gap(pair, h, row, [&](int32_t k) { return score(row - k, column); });
        if (gap == 0) break;
        for (; gap > 0; --gap) {
            path.gap(of_rows);
            --(of_rows ? row : column);
        }
    }
    path.finish(end, row, column);
}

}  // namespace pairalign
