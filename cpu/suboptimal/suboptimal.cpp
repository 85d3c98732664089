// See suboptimal.h: what is done around the kernels. The traceback computes a square of cells again for every
// block of antidiagonals, from the checkpoint before it.

#include "suboptimal.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <numeric>

#include "../threads.h"
#include "job.h"
#include "path_back.h"
#include "used_runs.h"

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
        has_columns_.reset(new bool[static_cast<size_t>(strips)]);
        grid_ = {rows_.get(), columns_.get(), highest_.data(), has_columns_.get(), pitch, across};
        for (int32_t strip = 0; strip <= strips; ++strip)
            clear(strip, strip == 0 ? 0 : job.pair->column_count + 1);
    }

    const SuboptimalGrid& grid() const { return grid_; }
    void reach(int32_t row, int32_t column) {
        const int32_t strip = (row - 1) / SUBOPTIMAL_STRIP, across = (column - 1) / SUBOPTIMAL_STRIP;
        if (strip == strip_ && across == across_) return;
        strip_ = strip, across_ = across;
        if (!has_columns_[strip]) kernel_.columns(job_, grid_, strip), has_columns_[strip] = true;
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
    std::unique_ptr<bool[]> has_columns_;
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

// Aligns pairs, one or those of a group.
class Aligner {
public:
    Aligner(const pairalign_suboptimal_pair* pairs, const SuboptimalKernel& kernel,
            pairalign_suboptimal_found* found, uint32_t* runs, const int64_t* runs_at)
        : pairs_(pairs), kernel_(kernel), found_(found), runs_(runs), runs_at_(runs_at) {}

    // How many pairs from one on are filled together: at most `count`.
    int64_t together(int64_t first, int64_t count) const {
        if (!fits_lanes(pairs_[first])) return 1;
        int64_t cells = pairs_[first].column_count;
        int64_t last = first;
        const auto is_like = [&](int64_t k) {
            const int64_t rows = std::max(pairs_[first].row_count, pairs_[k].row_count);
            return pairs_[k].columns == pairs_[first].columns && cells * rows <= MOST_CELLS;
        };
        while (last < first + std::min<int64_t>(count, kernel_.lanes) && is_like(last)) ++last;
        return last - first < LEAST_TOGETHER ? 1 : last - first;
    }
    int64_t cells(int64_t first) const {
        return int64_t{pairs_[first].row_count} * pairs_[first].column_count;
    }

    // 0, or what the C ABI returns below it.
    int32_t align(int64_t first, int64_t count) const {
        if (count > 1) return align_group(first, count);
        return align_one(first);
    }

private:
    static constexpr int64_t MOST_CELLS = 1 << 19;  // of a pair in a group: there is a byte of flags for each
    static constexpr int64_t LEAST_TOGETHER = 4;    // a group takes as long as some pairs
    static constexpr int32_t ALIGNED = 64;

    static int32_t most_score(const pairalign_suboptimal_pair& pair) {
        return *std::max_element(pair.matrix, pair.matrix + SUBOPTIMAL_CODES * SUBOPTIMAL_CODES);
    }
    static int32_t bias_of(const pairalign_suboptimal_pair& pair) {
        return -std::min(0,
                         *std::min_element(pair.matrix, pair.matrix + SUBOPTIMAL_CODES * SUBOPTIMAL_CODES));
    }
    // The score up to which lanes are right.
    static int32_t limit_of(const pairalign_suboptimal_pair& pair) {
        return 255 - std::min(255, std::max(0, most_score(pair)) + bias_of(pair));
    }
    static bool fits_lanes(const pairalign_suboptimal_pair& pair) {
        return pair.is_local && pair.gap_open <= 255 && pair.least <= limit_of(pair);
    }

    int32_t align_one(int64_t k) const {
        const int32_t status = align_suboptimal(pairs_[k], kernel_, found_[k], runs_ + runs_at_[k]);
        if (status == 0) found_[k] = {};
        return std::min(status, 0);
    }

    // Cells that known alignments of some pairs have, by tier and column: those of a place in that order are
    // from first[place] to first[place + 1].
    struct Barred {
        int32_t columns;
        std::vector<SuboptimalBarred> cells;
        std::vector<size_t> first;

        Barred(const std::vector<const pairalign_suboptimal_pair*>& lanes, int32_t tiers)
            : columns(lanes[0]->column_count + 1), first(place(tiers * SUBOPTIMAL_TIER + 1, 0) + 2, 0) {
            std::vector<SuboptimalBarred> by_lane;
            for (size_t lane = 0; lane < lanes.size(); ++lane)
                for_each_used_run(*lanes[lane], [&](int32_t row, int32_t column, int32_t residues) {
                    for (int32_t k = 1; k <= residues; ++k)
                        by_lane.push_back({column + k, row + k, static_cast<int32_t>(lane)});
                });
            for (const SuboptimalBarred& one : by_lane) ++first[place(one.row, one.column) + 2];
            std::partial_sum(first.begin(), first.end(), first.begin());
            cells.resize(by_lane.size());
            for (const SuboptimalBarred& one : by_lane) cells[first[place(one.row, one.column) + 1]++] = one;
        }
        size_t place(int32_t row, int32_t column) const {
            return static_cast<size_t>((row - 1) / SUBOPTIMAL_TIER) * static_cast<size_t>(columns) +
                   static_cast<size_t>(column);
        }
        bool has(int32_t row, int32_t column, int32_t lane) const {
            const size_t at = place(row, column);
            return std::any_of(
                cells.data() + first[at], cells.data() + first[at + 1],
                [&](const SuboptimalBarred& one) { return one.lane == lane && one.row == row; });
        }
    };

    int32_t align_group(int64_t first, int64_t count) const {
        const pairalign_suboptimal_pair& pair = pairs_[first];
        std::vector<const pairalign_suboptimal_pair*> lanes;
        int32_t rows = 0;
        for (int64_t k = first; k < first + count; ++k) {
            lanes.push_back(&pairs_[k]);
            rows = std::max(rows, pairs_[k].row_count);
        }
        const int32_t tiers = (rows - 1) / SUBOPTIMAL_TIER + 1;
        const Barred barred(lanes, tiers);
        const size_t columns = static_cast<size_t>(pair.column_count) + 1, tier = SUBOPTIMAL_TIER,
                     size = (3 * tier + columns) * static_cast<size_t>(kernel_.lanes),
                     bytes = size + static_cast<size_t>(tiers * kernel_.lanes) * columns * tier;
        const std::unique_ptr<uint8_t[]> memory(new uint8_t[bytes + ALIGNED]);  // not cleared
        uint8_t* const cells = memory.get() + (ALIGNED - reinterpret_cast<uintptr_t>(memory.get()) % ALIGNED);
        std::vector<SuboptimalEnd> ends(static_cast<size_t>(count));
        const SuboptimalGroup group{lanes.data(),        static_cast<int32_t>(count), rows,  bias_of(pair),
                                    barred.cells.data(), barred.cells.size(),         cells, cells + size,
                                    ends.data()};
        if (!kernel_.group(group)) return SUBOPTIMAL_CANCELLED;
        for (int32_t lane = 0; lane < count; ++lane) {
            const SuboptimalEnd& end = ends[static_cast<size_t>(lane)];
            int32_t status = 0;
            if (end.score > limit_of(pair)) status = align_one(first + lane);
            else if (end.score < pair.least) found_[first + lane] = {};
            else trace_lane(group, barred, lane, end, first + lane);
            if (status < 0) return status;
        }
        return 0;
    }

    // By H of all cells alone.
    void trace_lane(const SuboptimalGroup& group, const Barred& barred, int32_t lane, SuboptimalEnd end,
                    int64_t number) const {
        const auto h_of = [&](int32_t row, int32_t column) -> int32_t {
            if (row == 0) return 0;
            const size_t cell = barred.place(row, column) * SUBOPTIMAL_TIER +
                                static_cast<size_t>((row - 1) % SUBOPTIMAL_TIER);
            return group.h[cell * static_cast<size_t>(kernel_.lanes) + static_cast<size_t>(lane)];
        };
        while (h_of(end.row, end.column) != end.score) ++end.row;
        trace_scores(pairs_[number], end, found_[number], runs_ + runs_at_[number], h_of, h_of,
                     [&](int32_t row, int32_t column) { return !barred.has(row, column, lane); });
    }

    const pairalign_suboptimal_pair* const pairs_;
    const SuboptimalKernel& kernel_;
    pairalign_suboptimal_found* const found_;
    uint32_t* const runs_;
    const int64_t* const runs_at_;
};

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_suboptimal_alignments(const pairalign_suboptimal_pair* pairs, int64_t count,
                                                      const char* instruction_set, int32_t threads,
                                                      pairalign_suboptimal_found* found, uint32_t* runs,
                                                      const int64_t* runs_at) {
    struct Task {
        int64_t first, count, cells;
    };
    const pairalign::SuboptimalKernel* kernel = pairalign::suboptimal_kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        const pairalign::Aligner aligner(pairs, *kernel, found, runs, runs_at);
        std::vector<Task> tasks;
        for (int64_t first = 0; first < count; first += tasks.back().count)
            tasks.push_back({first, aligner.together(first, count - first), aligner.cells(first)});
        // So that all threads end together.
        std::stable_sort(tasks.begin(), tasks.end(),
                         [](const Task& a, const Task& b) { return a.cells > b.cells; });
        std::atomic<int32_t> worst{0};
        pairalign::on_threads(static_cast<int32_t>(tasks.size()), threads, [&](int32_t k) {
            const Task& task = tasks[static_cast<size_t>(k)];
            if (worst < 0) return;
            const int32_t status = aligner.align(task.first, task.count);
            if (status < 0) worst = status;
        });
        return worst;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
