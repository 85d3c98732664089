// Near pairs: groups of neighbouring columns against rows, by threads.

#include "near.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "../instruction_sets.h"
#include "../memory.h"
#include "../threads.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const NearKernel near_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

// Rows that a thread takes at a time: for each of them groups are laid out anew.
constexpr int32_t ROWS_AT_ONCE = 512;

const NearKernel& kernel_of(const std::string& wanted) {
#define PAIRALIGN_ADDRESS(NAME) &near_##NAME,
    const NearKernel* const kernels[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS
    for (const NearKernel* kernel : kernels)
        if (wanted == kernel->name) return *kernel;
    return *kernels[0];
}

struct Job {
    const pairalign_set &rows, &columns;
    const pairalign_costs& costs;
    const pairalign_near& near;
    const NearKernel& kernel;
    int32_t least_gap;  // of a residue
};

// The least that gaps with so many residues in all can cost.
int64_t cost_of_gaps(const Job& job, int64_t residues) {
    return residues ? job.costs.open + residues * job.least_gap : 0;
}

// The least cost of a path that touches a diagonal and ends on another one.
int64_t cost_of_detour(const Job& job, int64_t diagonal, int64_t end) {
    const int64_t rest = end - diagonal;
    if ((diagonal > 0) == (rest > 0) || !diagonal || !rest)
        return cost_of_gaps(job, std::abs(diagonal) + std::abs(rest));
    return cost_of_gaps(job, std::abs(diagonal)) + cost_of_gaps(job, std::abs(rest));
}

// Neighbouring columns in the lanes of a kernel.
class Group {
public:
    // Lays out the columns from `begin` on, in lanes of type `Lane`.
    template <class Lane>
    void lay_out(const Job& job, const NearLanes& lanes, int32_t begin, int32_t end) {
        begin_ = begin;
        count_ = end - begin;
        const size_t width = static_cast<size_t>(lanes.lanes);
        group_.longest = job.columns.lengths[begin];
        const size_t longest = static_cast<size_t>(group_.longest),
                     codes = static_cast<size_t>(job.costs.codes);
        const auto capped = [&](int64_t cost) {
            return static_cast<Lane>(std::min<int64_t>(cost, lanes.most + 1));
        };
        Lane* const opposite = take<Lane>(opposite_, codes * longest * width);
        Lane* const gaps = take<Lane>(gaps_, longest * width);
        Lane* const border = take<Lane>(border_, (longest + 1) * width);
        group_.opposite = opposite;
        group_.gaps = gaps;
        group_.border = border;
        group_.h = h_.need((longest + 1) * width * sizeof(Lane));
        group_.f = f_.need((longest + 1) * width * sizeof(Lane));
        for (int32_t l = 0; l < count_; l++) {
            const uint8_t* residues = job.columns.codes + job.columns.starts[begin + l];
            const size_t length = static_cast<size_t>(job.columns.lengths[begin + l]),
                         lane = static_cast<size_t>(l);
            int64_t edge = job.costs.open;
            for (size_t j = 0; j < length; j++) {
                for (size_t a = 0; a < codes; a++)
                    opposite[(a * longest + j) * width + lane] =
                        capped(job.costs.opposite[a * codes + residues[j]]);
                gaps[j * width + lane] = capped(job.costs.gaps[residues[j]]);
                border[(j + 1) * width + lane] = capped(edge += job.costs.gaps[residues[j]]);
            }
        }
        describe(job);
    }

    // The near pairs of a row, in the order of columns.
    void compare(const Job& job, const NearLanes& lanes, NearRow row, int32_t position,
                 std::vector<NearPair>& found) const {
        if (!choose_diagonals(job, row)) return;
        int32_t values[NEAR_LANES];
        uint64_t near = lanes.compare(group_, row, values);
        if (job.near.triangular && position >= begin_) {
            const int32_t left_out = position - begin_ + 1;
            near &= left_out < NEAR_LANES ? ~uint64_t{0} << left_out : 0;
        }
        for (; near; near &= near - 1) {
            const int l = __builtin_ctzll(near);
            found.push_back({position, begin_ + l, values[l]});
        }
    }

    // The most that a pair of a row may cost.
    int64_t most(const NearRow& row) const {
        return int64_t{row.limit} + row.spare + most_spare_ +
               std::max(std::abs(row.weight - lightest_), std::abs(row.weight - heaviest_));
    }

private:
    template <class Lane>
    static Lane* take(Buffer& buffer, size_t count) {
        Lane* const lanes = static_cast<Lane*>(buffer.need(count * sizeof(Lane)));
        std::fill(lanes, lanes + count, Lane{0});
        return lanes;
    }

    void describe(const Job& job) {
        lengths_.clear();
        lightest_ = heaviest_ = job.near.column_weights[begin_];
        most_spare_ = 0;
        std::fill(weights_, weights_ + NEAR_LANES, lightest_);
        std::fill(spares_, spares_ + NEAR_LANES, 0);
        for (int32_t l = 0; l < count_; l++) {
            const int32_t length = job.columns.lengths[begin_ + l];
            if (lengths_.empty() || lengths_.back().length != length) lengths_.push_back({length, 0});
            lengths_.back().lanes |= uint64_t{1} << l;
            weights_[l] = job.near.column_weights[begin_ + l];
            spares_[l] = job.near.column_spares[begin_ + l];
            lightest_ = std::min(lightest_, weights_[l]);
            heaviest_ = std::max(heaviest_, weights_[l]);
            most_spare_ = std::max(most_spare_, spares_[l]);
        }
        group_.weights = weights_;
        group_.spares = spares_;
        group_.lengths = lengths_.data();
        group_.length_count = lengths_.size();
    }

    // Chooses the diagonals on which gaps alone do not exceed the limit. False: there are none, or no pair
    // fits in length.
    bool choose_diagonals(const Job& job, NearRow& row) const {
        const int32_t like = std::clamp(row.length, lengths_.back().length, group_.longest);
        if (!fit_in_length(*job.near.lengths, row.length, like)) return false;
        const int64_t limit = most(row);
        const int32_t shortest = lengths_.back().length - row.length, longest = group_.longest - row.length;
        const auto is_within = [&](int32_t diagonal) {
            const int32_t nearest = std::min(std::max(diagonal, shortest), longest);
            return cost_of_detour(job, diagonal, nearest) <= limit;
        };
        if (!is_within(0)) return false;
        row.low = row.high = 0;
        while (row.low > -row.length && is_within(row.low - 1)) row.low--;
        while (row.high < group_.longest && is_within(row.high + 1)) row.high++;
        return true;
    }

    NearGroup group_{};
    int32_t begin_ = 0, count_ = 0, lightest_ = 0, heaviest_ = 0, most_spare_ = 0;
    int32_t weights_[NEAR_LANES], spares_[NEAR_LANES];
    std::vector<NearLength> lengths_;
    Buffer opposite_, gaps_, border_, h_, f_;
};

// Rows of a job with all columns.
class RowsWorker {
public:
    explicit RowsWorker(const Job& job) : job_(job) {}

    void run(int32_t row_start, int32_t row_stop, std::vector<NearPair>& found) {
        const int32_t lanes = job_.kernel.bytes.lanes, count = job_.columns.count;
        const int32_t first = job_.near.triangular ? row_start + 1 : 0;
        std::vector<std::vector<NearPair>> of_rows(static_cast<size_t>(row_stop - row_start));
        for (int32_t begin = first; begin < count; begin += lanes) {
            const int32_t end = std::min(begin + lanes, count);
            bytes_.lay_out<uint8_t>(job_, job_.kernel.bytes, begin, end);
            is_wide_ = false;
            const int32_t last = job_.near.triangular ? std::min(row_stop, end - 1) : row_stop;
            for (int32_t row = row_start; row < last; row++)
                compare(row, begin, end, of_rows[static_cast<size_t>(row - row_start)]);
        }
        for (const std::vector<NearPair>& pairs : of_rows)
            found.insert(found.end(), pairs.begin(), pairs.end());
    }

private:
    void compare(int32_t position, int32_t begin, int32_t end, std::vector<NearPair>& found) {
        const NearRow row{job_.rows.codes + job_.rows.starts[position],
                          job_.rows.lengths[position],
                          0,
                          0,
                          job_.near.limit,
                          job_.near.row_weights[position],
                          job_.near.row_spares[position],
                          job_.costs.gaps,
                          job_.costs.open};
        const NearKernel& kernel = job_.kernel;
        if (bytes_.most(row) <= kernel.bytes.most)
            return bytes_.compare(job_, kernel.bytes, row, position, found);
        if (!is_wide_) lay_out_wide(begin, end);
        const size_t groups = static_cast<size_t>((end - begin - 1) / kernel.numbers.lanes) + 1;
        for (size_t k = 0; k < groups; k++) wide_[k]->compare(job_, kernel.numbers, row, position, found);
    }

    // Lays out the same columns in wider lanes, when the first row needs them.
    void lay_out_wide(int32_t begin, int32_t end) {
        const NearLanes& numbers = job_.kernel.numbers;
        is_wide_ = true;
        size_t k = 0;
        for (int32_t at = begin; at < end; at += numbers.lanes, k++) {
            if (k == wide_.size()) wide_.push_back(std::make_unique<Group>());
            wide_[k]->lay_out<int32_t>(job_, numbers, at, std::min(at + numbers.lanes, end));
        }
    }

    const Job& job_;
    Group bytes_;
    bool is_wide_ = false;
    std::vector<std::unique_ptr<Group>> wide_;
};

}  // namespace
}  // namespace pairalign

using namespace pairalign;

pairalign_near_pairs* pairalign_find_near(const pairalign_set* rows, const pairalign_set* columns,
                                          const pairalign_costs* costs, const pairalign_near* near,
                                          int32_t row_start, int32_t row_stop, int32_t threads,
                                          const char* instruction_set) {
    const int32_t least_gap = *std::min_element(costs->gaps, costs->gaps + costs->codes);
    const Job job{*rows, *columns, *costs, *near, kernel_of(instruction_set), least_gap};
    const int32_t parts = (row_stop - row_start + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    try {
        auto found = std::make_unique<pairalign_near_pairs>();
        found->parts.resize(static_cast<size_t>(parts));
        on_threads(parts, threads, [&](int32_t part) {
            const int32_t start = row_start + part * ROWS_AT_ONCE;
            RowsWorker(job).run(start, std::min(start + ROWS_AT_ONCE, row_stop),
                                found->parts[static_cast<size_t>(part)]);
        });
        return found.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

int64_t pairalign_count_near(const pairalign_near_pairs* found) {
    size_t count = 0;
    for (const auto& part : found->parts) count += part.size();
    return static_cast<int64_t>(count);
}

void pairalign_take_near(pairalign_near_pairs* found, int32_t* rows, int32_t* columns, int32_t* values) {
    const std::unique_ptr<pairalign_near_pairs> freed(found);
    if (!rows) return;
    for (const auto& part : found->parts)
        for (const NearPair& pair : part) {
            *rows++ = pair.row;
            *columns++ = pair.column;
            *values++ = pair.value;
        }
}
