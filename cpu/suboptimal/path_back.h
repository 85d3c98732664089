// The way back from the last cell of an alignment. Not for kernels, as used_runs.h.
#pragma once

#include <algorithm>

#include "../core/batch.h"
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
    void finish() { std::reverse(runs_, runs_ + found_.run_count); }

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
    path.finish();
    found.score = end.score;
    found.row_start = row, found.row_end = end.row;
    found.column_start = column, found.column_end = end.column;
}

}  // namespace pairalign
