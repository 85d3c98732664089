// The steps of an alignment that is known. Not for kernels, as used_runs.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/cigar.h"
#include "job.h"

namespace pairalign {

// The diagonal steps of an alignment, and what it has scored before each.
class Steps {
public:
    Steps(const SuboptimalJob& job, const pairalign_suboptimal_found& found, const uint32_t* runs)
        : found_(found) {
        const pairalign_suboptimal_pair& pair = *job.pair;
        SuboptimalCell at{found.row_start, found.column_start};
        int32_t score = 0;
        for (int32_t r = 0; r < found.run_count; ++r) {
            const uint32_t operation = runs[r] & 15;
            const int32_t residues = static_cast<int32_t>(runs[r] >> 4);
            if (operation == INSERTION || operation == DELETION) {
                score -= pair.gap_open + (residues - 1) * pair.gap_extend;
                ((operation == INSERTION) == (pair.query_is_row != 0) ? at.row : at.column) += residues;
                continue;
            }
            for (int32_t k = 0; k < residues; ++k) {
                const int32_t code = pair.rows[at.row++], other = pair.columns[at.column++];
                cells_.push_back(at);
                scored_.push_back(score);
                score += pair.matrix[code * SUBOPTIMAL_CODES + other];
            }
        }
        is_whole_ = score == found.score;
        least_later_ = scored_;
        least_later_.push_back(found.score);
        for (size_t k = scored_.size(); k-- > 0;)
            least_later_[k] = std::min(least_later_[k], least_later_[k + 1]);
    }

    bool is_whole() const { return is_whole_; }
    int32_t scored_before(size_t k) const { return scored_[k]; }
    const std::vector<SuboptimalCell>& cells() const { return cells_; }

    // The last cell before which no more than `most` is scored.
    SuboptimalCell last_below(int32_t most) const {
        SuboptimalCell last{};
        for (size_t k = 0; k < cells_.size(); ++k)
            if (scored_[k] <= most) last = cells_[k];
        return last;
    }

    // The least that is scored before a step to the right of a cell and below it, or in all.
    int32_t least_after(SuboptimalCell at) const {
        const auto first = std::partition_point(cells_.begin(), cells_.end(), [&](const SuboptimalCell& one) {
            return one.row <= at.row || one.column <= at.column;
        });
        return least_later_[static_cast<size_t>(first - cells_.begin())];
    }

private:
    const pairalign_suboptimal_found& found_;
    std::vector<SuboptimalCell> cells_;
    std::vector<int32_t> scored_, least_later_;
    bool is_whole_ = false;
};

}  // namespace pairalign
