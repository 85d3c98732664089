// See suboptimal.h: what is done around the kernels. The traceback computes a square of cells again for every
// block of antidiagonals, from the checkpoint before it.

#include "suboptimal.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "job.h"
#include "path_back.h"

namespace pairalign {
namespace {

constexpr int32_t MINUS = -(1 << 30);

// Flags of the cells of tiles, as a path back comes to them.
class Tiles {
public:
    Tiles(const SuboptimalJob& job, const SuboptimalKernel& kernel)
        : job_(job), kernel_(kernel), flags_(2 * SUBOPTIMAL_STRIP * SUBOPTIMAL_STRIP) {
        const int64_t strips = (job.pair->row_count + SUBOPTIMAL_STRIP - 1) / SUBOPTIMAL_STRIP;
        const int64_t pitch = int64_t{job.pair->column_count} + SUBOPTIMAL_STRIP + 1;
        const int32_t across = job.pair->column_count / SUBOPTIMAL_STRIP + 1;
        // Not cleared: most of it is never read.
        rows_.reset(new int16_t[static_cast<size_t>(2 * (strips + 1) * pitch)]);
        columns_.reset(new int16_t[static_cast<size_t>(2 * strips * across * SUBOPTIMAL_STRIP)]);
        highest_.assign(static_cast<size_t>(strips) + 1, 0);
        grid_ = {rows_.get(), columns_.get(), highest_.data(), pitch, across};
        for (int32_t strip = 0; strip <= strips; ++strip)
            clear(strip, strip == 0 ? 0 : job.pair->column_count + 1);
    }

    const SuboptimalGrid& grid() const { return grid_; }
    void reach(int32_t row, int32_t column) {
        const int32_t strip = (row - 1) / SUBOPTIMAL_STRIP, across = (column - 1) / SUBOPTIMAL_STRIP;
        if (strip == strip_ && across == across_) return;
        strip_ = strip, across_ = across;
        kernel_.tile(job_, grid_, strip, across, flags_.data());
    }
    uint8_t flag(int32_t row, int32_t column) const {
        const int32_t i = (row - 1) % SUBOPTIMAL_STRIP, j = (column - 1) % SUBOPTIMAL_STRIP;
        return flags_[static_cast<size_t>(i + j) * SUBOPTIMAL_STRIP + static_cast<size_t>(i)];
    }

private:
    // The border above a strip is that of the matrix: from a column on, and in column 0.
    void clear(int32_t strip, int64_t column) {
        int16_t* const above = grid_.above(strip);
        for (int64_t k = column; k < grid_.pitch; ++k) above[2 * k] = 0, above[2 * k + 1] = NO_GAP;
        above[0] = 0, above[1] = NO_GAP;
    }

    static constexpr int16_t NO_GAP = std::numeric_limits<int16_t>::min() / 2;
    const SuboptimalJob& job_;
    const SuboptimalKernel& kernel_;
    std::unique_ptr<int16_t[]> rows_, columns_;
    std::vector<int32_t> highest_;
    std::vector<uint8_t> flags_;
    SuboptimalGrid grid_;
    int32_t strip_ = -1, across_ = -1;
};

// Flags of the cells of a block of antidiagonals that the path back from one cell can reach.
template <typename Cell>
class Block {
public:
    Block(const SuboptimalJob& job, const std::vector<Cell>& checkpoints)
        : job_(job), pair_(*job.pair), checkpoints_(checkpoints) {}

    // Has the flags of a cell there.
    void reach(int32_t row, int32_t column) {
        if (row + column < start_) make(row + column, row);
    }
    uint8_t flag(int32_t row, int32_t column) const {
        return flags_[static_cast<size_t>(row + column - start_) * static_cast<size_t>(width_) +
                      static_cast<size_t>(row - low_)];
    }

private:
    // Makes the flags of diagonals from the checkpoint before `diagonal` up to it, and of rows up to `row`.
    void make(int32_t diagonal, int32_t row) {
        const int32_t number = (diagonal - 2) / job_.step;
        start_ = 2 + number * job_.step;
        const int32_t deep = diagonal - start_ + 1;
        low_ = std::max(0, row - deep);
        width_ = row - low_ + 1;
        flags_.assign(static_cast<size_t>(deep) * static_cast<size_t>(width_), 0);
        const size_t size = static_cast<size_t>(pair_.row_count) + 1;
        const Cell* state = checkpoints_.data() + static_cast<size_t>(number) * 4 * size;
        std::vector<int32_t>* arrays[4] = {&before_, &two_before_, &e_, &f_};
        for (int k = 0; k < 4; ++k)
            arrays[k]->assign(state + static_cast<size_t>(k) * size + low_,
                              state + static_cast<size_t>(k) * size + row + 1);
        h_.assign(static_cast<size_t>(width_), MINUS);
        for (int32_t d = start_; d <= diagonal; ++d) compute(d, row);
    }
    void compute(int32_t d, int32_t row) {
        const int32_t first = std::max({1, d - pair_.column_count, low_ + 1}), last = std::min(row, d - 1);
        uint8_t* flags = flags_.data() + static_cast<size_t>(d - start_) * static_cast<size_t>(width_);
        const auto used = std::lower_bound(job_.used.begin(), job_.used.end(), UsedCell{d, 0});
        const auto used_end = std::lower_bound(used, job_.used.end(), UsedCell{d + 1, 0});
        // From below, so that F of the diagonal before is still there.
        for (int32_t i = last; i >= first; --i) {
            const int32_t k = i - low_;
            const int32_t e_on = e_[k] - pair_.gap_extend, e_new = before_[k] - pair_.gap_open;
            const int32_t f_on = f_[k - 1] - pair_.gap_extend, f_new = before_[k - 1] - pair_.gap_open;
            e_[k] = std::max(e_on, e_new);
            f_[k] = std::max(f_on, f_new);
            int32_t here = std::max(e_[k], f_[k]);
            const bool free = std::none_of(used, used_end, [i](const UsedCell& one) { return one.row == i; });
            const int32_t diagonal = two_before_[k - 1] + score(i, d - i);
            if (free) here = std::max(here, diagonal);
            if (pair_.is_local) here = std::max(here, 0);
            h_[k] = here;
            // Ties: the walk back.
            flags[k] = static_cast<uint8_t>(
                (free && here == diagonal ? SUBOPTIMAL_DIAGONAL : 0) | (here == e_[k] ? SUBOPTIMAL_E : 0) |
                (e_[k] == e_on ? SUBOPTIMAL_E_ON : 0) | (f_[k] == f_on ? SUBOPTIMAL_F_ON : 0) |
                (pair_.is_local && here == 0 ? SUBOPTIMAL_STOP : 0));
        }
        if (low_ == 0 && d <= pair_.column_count) h_[0] = 0, e_[0] = f_[0] = MINUS;
        if (d <= row) h_[d - low_] = 0, e_[d - low_] = f_[d - low_] = MINUS;
        std::swap(two_before_, before_);
        std::swap(before_, h_);
    }
    int32_t score(int32_t row, int32_t column) const {
        return pair_.matrix[pair_.rows[row - 1] * SUBOPTIMAL_CODES + pair_.columns[column - 1]];
    }

    const SuboptimalJob& job_;
    const pairalign_suboptimal_pair& pair_;
    const std::vector<Cell>& checkpoints_;
    int32_t start_ = 1 << 30, low_ = 0, width_ = 0;
    std::vector<uint8_t> flags_;
    std::vector<int32_t> h_, before_, two_before_, e_, f_;
};

int32_t align_in_strips(const SuboptimalJob& job, const SuboptimalKernel& kernel,
                        pairalign_suboptimal_found& found, uint32_t* runs) {
    Tiles tiles(job, kernel);
    SuboptimalEnd end;
    if (!kernel.ends(job, tiles.grid(), fits_bytes(job), end)) return SUBOPTIMAL_CANCELLED;
    if (end.score == 0) return 0;
    trace(tiles, job, end, found, runs);
    return 1;
}

template <typename Cell, typename Fill>
int32_t align_by_diagonals(const SuboptimalJob& job, Fill fill, SuboptimalCheckpoints& all,
                           const std::vector<Cell>& checkpoints, pairalign_suboptimal_found& found,
                           uint32_t* runs) {
    SuboptimalEnd end;
    if (!fill(job, all, end)) return SUBOPTIMAL_CANCELLED;
    if (end.score == 0) return 0;
    Block<Cell> block(job, checkpoints);
    trace(block, job, end, found, runs);
    return 1;
}

int32_t align_suboptimal(const pairalign_suboptimal_pair& pair, const SuboptimalKernel& kernel,
                         pairalign_suboptimal_found& found, uint32_t* runs) {
    const SuboptimalJob job = make_job(pair);
    if (has_strips(job)) return align_in_strips(job, kernel, found, runs);
    SuboptimalCheckpoints checkpoints;
    if (is_narrow(pair))
        return align_by_diagonals(job, kernel.narrow, checkpoints, checkpoints.narrow, found, runs);
    return align_by_diagonals(job, kernel.wide, checkpoints, checkpoints.wide, found, runs);
}

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_suboptimal_alignment(const pairalign_suboptimal_pair* pair,
                                                     const char* instruction_set,
                                                     pairalign_suboptimal_found* found, uint32_t* runs) {
    const pairalign::SuboptimalKernel* kernel = pairalign::suboptimal_kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        return pairalign::align_suboptimal(*pair, *kernel, *found, runs);
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
