// TCRdist of all pairs of a window: tiles of columns, laid out for a kernel, against rows, by threads.

#include "tcrdist.h"

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "../instruction_sets.h"
#include "../memory.h"
#include "../threads.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const TcrKernel tcr_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

constexpr int32_t TILE = 1024, ROWS_AT_ONCE = 64;

const TcrKernel& kernel_of(const std::string& wanted) {
#define PAIRALIGN_ADDRESS(NAME) &tcr_##NAME,
    const TcrKernel* const kernels[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS
    for (const TcrKernel* kernel : kernels)
        if (wanted == kernel->name) return *kernel;
    return *kernels[0];
}

struct Job {
    const pairalign_region* regions;
    int32_t count;
    const uint8_t* costs;
    const pairalign_window& window;
    int32_t threads;
    const TcrKernel& kernel;
};

int32_t length_of(const int64_t* starts, int32_t position) {
    return static_cast<int32_t>(starts[position + 1] - starts[position]);
}

int32_t longest_of(const int64_t* starts, int32_t begin, int32_t end) {
    int32_t longest = 0;
    for (int32_t k = begin; k < end; k++) longest = std::max(longest, length_of(starts, k));
    return longest;
}

// Columns of a region in groups of one length.
class Columns {
public:
    void lay_out(const Job& job, const pairalign_region& region, int32_t begin, int32_t end) {
        region_ = &region;
        const pairalign_window& w = job.window;
        const int32_t most = TCR_MOST_COST * std::min(longest_of(region.row_starts, w.row_start, w.row_stop),
                                                      longest_of(region.column_starts, begin, end));
        is_wide_ = most > job.kernel.bytes.most;
        lanes_ = is_wide_ ? &job.kernel.words : &job.kernel.bytes;
        group(begin, end);
        if (is_wide_) write<uint16_t>(job, begin);
        else write<uint8_t>(job, begin);
    }

    // Adds the distances of rows to sums[rows][TILE].
    void add(int32_t row_begin, int32_t row_end, int32_t* sums) const {
        int32_t few[NEAR_LANES];
        for (const Group& one : groups_) {
            const TcrGroup group{all_ + one.table, one.length};
            for (int32_t row = row_begin; row < row_end; row++) {
                const TcrRow r{region_->row_codes + region_->row_starts[row],
                               length_of(region_->row_starts, row), region_};
                int32_t* const own = sums + static_cast<size_t>(row - row_begin) * TILE;
                const int32_t* const members = order_.data() + one.begin;
                if (one.is_run) {
                    lanes_->add(group, r, own + members[0]);
                    continue;
                }
                std::fill(few, few + NEAR_LANES, 0);
                lanes_->add(group, r, few);
                for (int32_t l = 0; l < one.count; l++) own[members[l]] += few[l];
            }
        }
    }

private:
    struct Group {
        int32_t begin, count, length;
        bool is_run;   // fills all lanes with neighbours
        size_t table;  // where it begins, in bytes
    };

    void group(int32_t begin, int32_t end) {
        const auto length = [&](int32_t k) { return length_of(region_->column_starts, begin + k); };
        order_.resize(static_cast<size_t>(end - begin));
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](int32_t a, int32_t b) { return length(a) > length(b); });
        groups_.clear();
        size_ = 0;
        for (int32_t k = 0; k < end - begin;) {
            Group one{k, 0, length(order_[static_cast<size_t>(k)]), false, size_};
            while (k < end - begin && one.count < lanes_->lanes &&
                   length(order_[static_cast<size_t>(k)]) == one.length)
                one.count++, k++;
            const int32_t first = order_[static_cast<size_t>(one.begin)];
            one.is_run = one.count == lanes_->lanes &&
                         order_[static_cast<size_t>(one.begin + one.count - 1)] == first + one.count - 1;
            size_ += static_cast<size_t>(TCR_CODES * one.length) * 64;
            groups_.push_back(one);
        }
    }

    template <class Lane>
    void write(const Job& job, int32_t begin) {
        uint8_t* const all = static_cast<uint8_t*>(tables_.need(size_));
        all_ = all;
        std::fill(all, all + size_, uint8_t{0});
        const size_t width = static_cast<size_t>(lanes_->lanes);
        for (const Group& one : groups_) {
            Lane* const table = reinterpret_cast<Lane*>(all + one.table);
            const size_t length = static_cast<size_t>(one.length);
            for (size_t l = 0; l < static_cast<size_t>(one.count); l++) {
                const int32_t column = begin + order_[static_cast<size_t>(one.begin) + l];
                const uint8_t* const residues = region_->column_codes + region_->column_starts[column];
                for (size_t j = 0; j < length; j++)
                    for (size_t a = 0; a < TCR_CODES; a++)
                        table[(a * length + j) * width + l] = job.costs[a * TCR_CODES + residues[j]];
            }
        }
    }

    const pairalign_region* region_ = nullptr;
    const TcrLanes* lanes_ = nullptr;
    bool is_wide_ = false;
    std::vector<int32_t> order_;
    std::vector<Group> groups_;
    size_t size_ = 0;
    Buffer tables_;
    const uint8_t* all_ = nullptr;  // what it holds
};

int32_t first_column(const pairalign_window& w, int32_t row) {
    return w.triangular ? std::min(std::max(w.column_start, row + 1), w.column_stop) : w.column_start;
}

// Calls use(chunk, row, begin, end, distances of these columns) for the pairs of the window.
template <class Use>
void visit(const Job& job, const Use& use) {
    const pairalign_window& w = job.window;
    const int32_t chunks = (w.row_stop - w.row_start + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    std::vector<Columns> regions(static_cast<size_t>(job.count));
    for (int32_t begin = w.column_start; begin < w.column_stop; begin += TILE) {
        const int32_t end = std::min(begin + TILE, w.column_stop);
        on_threads(job.count, job.threads, [&](int32_t k) {
            regions[static_cast<size_t>(k)].lay_out(job, job.regions[k], begin, end);
        });
        on_threads(chunks, job.threads, [&](int32_t chunk) {
            const int32_t start = w.row_start + chunk * ROWS_AT_ONCE;
            const int32_t stop = std::min(start + ROWS_AT_ONCE, w.row_stop);
            if (first_column(w, start) >= end) return;
            std::vector<int32_t> sums(static_cast<size_t>(stop - start) * TILE);
            for (const Columns& one : regions) one.add(start, stop, sums.data());
            for (int32_t row = start; row < stop; row++) {
                const int32_t from = std::max(begin, first_column(w, row));
                const int32_t* const own = sums.data() + static_cast<size_t>(row - start) * TILE;
                if (from < end) use(chunk, row, from, end, own + (from - begin));
            }
        });
    }
}

}  // namespace
}  // namespace pairalign

using namespace pairalign;

int32_t pairalign_tcrdist(const pairalign_region* regions, int32_t count, const uint8_t* costs,
                          const pairalign_window* window, int32_t threads, const char* instruction_set,
                          int32_t* distances) {
    const pairalign_window& w = *window;
    const Job job{regions, count, costs, w, threads, kernel_of(instruction_set)};
    try {
        std::vector<int64_t> starts{0};
        for (int32_t row = w.row_start; row < w.row_stop; row++)
            starts.push_back(starts.back() + w.column_stop - first_column(w, row));
        visit(job, [&](int32_t, int32_t row, int32_t from, int32_t end, const int32_t* found) {
            const int64_t start = starts[static_cast<size_t>(row - w.row_start)] - first_column(w, row);
            std::copy(found, found + (end - from), distances + start + from);
        });
    } catch (const std::bad_alloc&) {
        return PAIRALIGN_NO_MEMORY;
    }
    return PAIRALIGN_DONE;
}

pairalign_near_pairs* pairalign_near_tcrdist(const pairalign_region* regions, int32_t count,
                                             const uint8_t* costs, const pairalign_window* window,
                                             int32_t limit, int32_t threads, const char* instruction_set) {
    const Job job{regions, count, costs, *window, threads, kernel_of(instruction_set)};
    const int32_t rows = window->row_stop - window->row_start;
    try {
        auto near = std::make_unique<pairalign_near_pairs>();
        near->parts.resize(static_cast<size_t>((rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE));
        visit(job, [&](int32_t chunk, int32_t row, int32_t from, int32_t end, const int32_t* found) {
            std::vector<NearPair>& part = near->parts[static_cast<size_t>(chunk)];
            for (int32_t k = 0; k < end - from; k++)
                if (found[k] <= limit) part.push_back({row, from + k, found[k]});
        });
        return near.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
