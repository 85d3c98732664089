// The best local alignment of two sequences that are alike in one place, and the proof that it is the best,
// with a pass over the matrix in 8 bits instead of one that keeps flags.
//
// An alignment P is made within a corridor R around words that both have. Then T, the most that any alignment
// scores which uses none of P's diagonal steps, is found over the whole matrix. Let Q be one of the best
// alignments of all, and P's score be more than T. Then Q shares a diagonal step with P, and between those
// that they share its parts score T at most. Where Q leaves P and comes back, its part scores no less than
// P's, or Q would not be the best: the same holds for what is before the first and after the last shared one.
//
//   Before the first shared step, at (i, j), P has scored T at most. All such (i, j) are known, and the cells
//   above and left of the last of them must be in R.
//   Where Q leaves R first, at a cell with H(c) within R, it has scored H(c) at most, and has H(c) + T at
//   most where it meets P again, or ends; P has scored no more than that there. So if H(c) + T is less than
//   what P has scored at each of its later steps, to the right of c and below it, and less than P's score,
//   for all cells c on the border of R, no best alignment leaves R.
//
// Then all best alignments are in R, all their cells have in R the values that they have in the matrix, and
// the one that is taken in R is the one that is taken in the matrix. Gaps that go on at c or where Q meets P
// do not matter: without their letters the part scores no less.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "anchors.h"
#include "job.h"
#include "path_back.h"
#include "used_runs.h"

namespace pairalign {
namespace {

constexpr int ROUNDS = 4;            // attempts with a corridor
constexpr int32_t FIRST_WIDTH = 64;  // columns on each side
constexpr int32_t FIRST_HEAD = 192;  // letters after which an alignment has scored more than chance, mostly
constexpr double WIDEST = 0.3;       // of the matrix

// Two columns for each strip, and the memory to fill what is between them.
class Corridor {
public:
    Corridor(const FurtherJob& job, std::vector<Anchor> anchors)
        : job_(job),
          rows_(job.pair->row_count),
          columns_(job.pair->column_count),
          anchors_(std::move(anchors)) {
        const Anchor first = anchors_.front();
        const int32_t both = std::min(first.row, first.column);
        head_ = {first.row - both + FIRST_HEAD, first.column - both + FIRST_HEAD};
        const size_t padded = static_cast<size_t>(columns_) + CORRIDOR_STRIP + 1;
        for (std::vector<int16_t>& one : edges_) one.resize(2 * padded);
        letters_.assign(static_cast<size_t>(columns_) + 2 * CORRIDOR_STRIP, FURTHER_NO_COLUMN);
        std::copy(job.column_codes.rbegin(), job.column_codes.rend(), letters_.begin() + CORRIDOR_STRIP);
    }

    void widen() { width_ *= 2; }
    bool has_head(const FurtherCell& head) const {
        return head.row <= head_.row && head.column <= head_.column;
    }
    void take_head(const FurtherCell& head) {
        head_ = {std::max(head_.row, head.row), std::max(head_.column, head.column)};
    }

    // False where it is too large.
    bool lay() {
        low_.clear(), high_.clear(), flags_at_.clear(), last_at_.clear();
        size_t flags = 0, last = 0;
        for (int32_t row = 0; row < rows_; row += CORRIDOR_STRIP) {
            int32_t low = column_at(row) - width_, high = column_at(row + CORRIDOR_STRIP) + width_;
            if (row < head_.row) low = 1, high = std::max(high, head_.column);
            if (low > columns_) break;
            low = std::max(low, low_.empty() ? 1 : low_.back());
            high = std::min(std::max(high, low), columns_);
            if (!high_.empty()) high = std::max(high, high_.back());
            low_.push_back(low), high_.push_back(high);
            flags_at_.push_back(flags), last_at_.push_back(last);
            flags += static_cast<size_t>(high - low + CORRIDOR_STRIP) * CORRIDOR_STRIP;
            last += static_cast<size_t>(high - low) + 1;
        }
        if (static_cast<double>(flags) > WIDEST * rows_ * columns_) return false;
        if (flags > room_) flags_.reset(new uint8_t[flags]), room_ = flags;
        last_.resize(last), right_.resize(low_.size() * CORRIDOR_STRIP);
        return true;
    }

    bool fill(const FurtherKernel& kernel, FurtherEnd& end) {
        const FurtherCorridor corridor{static_cast<int32_t>(low_.size()),
                                       low_.data(),
                                       high_.data(),
                                       letters_.data(),
                                       {edges_[0].data(), edges_[1].data()},
                                       flags_at_.data(),
                                       last_at_.data(),
                                       flags_.get(),
                                       right_.data(),
                                       last_.data()};
        end = {};
        return kernel.corridor(job_, corridor, end);
    }

    // For trace(): what is outside ends the path.
    void reach(int32_t, int32_t) const {}
    uint8_t flag(int32_t row, int32_t column) const {
        const size_t strip = static_cast<size_t>((row - 1) / CORRIDOR_STRIP);
        const int32_t i = (row - 1) % CORRIDOR_STRIP, d = i + column;
        const bool is_last = i == CORRIDOR_STRIP - 1;
        if (d < low_[strip] || (is_last && (column < low_[strip] || column > high_[strip])))
            return FURTHER_STOP;
        return flags_[flags_at_[strip] + static_cast<size_t>(d - low_[strip]) * CORRIDOR_STRIP +
                      static_cast<size_t>(i)];
    }

    // Calls take(row, column, H) for the cells from which a step leads to a cell outside.
    template <typename Take>
    bool for_each_at_border(Take take) const {
        for (size_t s = 0; s < low_.size(); ++s) {
            const int32_t row = static_cast<int32_t>(s) * CORRIDOR_STRIP;
            const int32_t rows = std::min(CORRIDOR_STRIP, rows_ - row);
            for (int32_t i = 0; high_[s] < columns_ && i < rows; ++i)
                if (!take(row + i + 1, high_[s], right_[s * CORRIDOR_STRIP + static_cast<size_t>(i)]))
                    return false;
            if (row + CORRIDOR_STRIP >= rows_) continue;
            const bool goes_on = s + 1 < low_.size();
            for (int32_t column = low_[s]; column <= high_[s]; ++column)
                if (!goes_on || column < low_[s + 1] || (column == high_[s + 1] && column < columns_))
                    if (!take(row + CORRIDOR_STRIP, column,
                              last_[last_at_[s] + static_cast<size_t>(column - low_[s])]))
                        return false;
        }
        return true;
    }

private:
    // Where the anchors, and diagonals beyond them, are in a row.
    int32_t column_at(int32_t row) const {
        const auto after = std::lower_bound(anchors_.begin(), anchors_.end(), row,
                                            [](const Anchor& one, int32_t at) { return one.row < at; });
        if (after == anchors_.end()) return anchors_.back().column + row - anchors_.back().row;
        if (after == anchors_.begin()) return after->column + row - after->row;
        const Anchor before = *(after - 1);
        return before.column + static_cast<int32_t>(int64_t{after->column - before.column} *
                                                    (row - before.row) / (after->row - before.row));
    }

    const FurtherJob& job_;
    const int32_t rows_, columns_;
    const std::vector<Anchor> anchors_;
    int32_t width_ = FIRST_WIDTH;
    FurtherCell head_{};  // all cells above it and left of it are in the corridor
    std::vector<int32_t> low_, high_;
    std::vector<size_t> flags_at_, last_at_;
    std::vector<int16_t> edges_[2], letters_, right_, last_;
    std::unique_ptr<uint8_t[]> flags_;  // not cleared
    size_t room_ = 0;
};

// The diagonal steps of an alignment, and what it has scored before each.
class Steps {
public:
    Steps(const FurtherJob& job, const pairalign_further_found& found, const uint32_t* runs) : found_(found) {
        const pairalign_further_pair& pair = *job.pair;
        FurtherCell at{found.row_start, found.column_start};
        int32_t score = 0;
        for (int32_t r = 0; r < found.run_count; ++r) {
            const uint32_t operation = runs[r] & 15;
            const int32_t letters = static_cast<int32_t>(runs[r] >> 4);
            if (operation == INSERTION || operation == DELETION) {
                score -= pair.gap_open + (letters - 1) * pair.gap_extend;
                ((operation == INSERTION) == (pair.query_is_row != 0) ? at.row : at.column) += letters;
                continue;
            }
            for (int32_t k = 0; k < letters; ++k) {
                const int32_t code = pair.rows[at.row++], other = pair.columns[at.column++];
                cells_.push_back(at);
                scored_.push_back(score);
                score += pair.matrix[code * FURTHER_CODES + other];
            }
        }
        is_whole_ = score == found.score;
        least_later_ = scored_;
        least_later_.push_back(found.score);
        for (size_t k = scored_.size(); k-- > 0;)
            least_later_[k] = std::min(least_later_[k], least_later_[k + 1]);
    }

    bool is_whole() const { return is_whole_; }
    const std::vector<FurtherCell>& cells() const { return cells_; }

    // The last cell before which no more than `most` is scored.
    FurtherCell last_below(int32_t most) const {
        FurtherCell last{};
        for (size_t k = 0; k < cells_.size(); ++k)
            if (scored_[k] <= most) last = cells_[k];
        return last;
    }

    // The least that is scored before a step to the right of a cell and below it, or in all.
    int32_t least_after(int32_t row, int32_t column) const {
        const auto first = std::partition_point(cells_.begin(), cells_.end(), [&](const FurtherCell& one) {
            return one.row <= row || one.column <= column;
        });
        return least_later_[static_cast<size_t>(first - cells_.begin())];
    }

private:
    const pairalign_further_found& found_;
    std::vector<FurtherCell> cells_;
    std::vector<int32_t> scored_, least_later_;
    bool is_whole_ = false;
};

bool leaves_nothing(const Corridor& corridor, const Steps& steps, int32_t most_free) {
    return corridor.for_each_at_border([&](int32_t row, int32_t column, int32_t h) {
        return h + most_free < steps.least_after(row, column);
    });
}

bool is_same(const pairalign_further_found& a, const pairalign_further_found& b,
             const std::vector<uint32_t>& known, const uint32_t* runs) {
    return a.row_start == b.row_start && a.column_start == b.column_start && a.run_count == b.run_count &&
           std::equal(known.begin(), known.end(), runs);
}

// `lowered`: for tests, is taken from what free cells score, so that nothing is proven.
int32_t align_in_corridor(const FurtherJob& job, const FurtherKernel& kernel, pairalign_further_found& found,
                          uint32_t* runs, int32_t& rest, int32_t lowered) {
    std::vector<Anchor> anchors = find_anchors(*job.pair);
    if (anchors.empty()) return 0;
    Corridor corridor(job, std::move(anchors));
    pairalign_further_found known{};
    std::vector<uint32_t> known_runs;
    for (int round = 0; round < ROUNDS; ++round) {
        FurtherEnd end;
        if (!corridor.lay()) return 0;
        if (!corridor.fill(kernel, end)) return FURTHER_CANCELLED;
        if (end.score == 0) return 0;
        trace(corridor, job, end, found, runs);
        const Steps steps(job, found, runs);
        if (!steps.is_whole()) return 0;
        if (round == 0 || !is_same(found, known, known_runs, runs)) {
            rest = kernel.most_free(job, steps.cells().data(), steps.cells().size());
            if (rest < 0) return 0;
            rest -= lowered;
            known = found;
            known_runs.assign(runs, runs + found.run_count);
        }
        if (rest >= found.score) return 0;
        const FurtherCell head = steps.last_below(rest);
        if (corridor.has_head(head) && leaves_nothing(corridor, steps, rest)) return 1;
        if (!corridor.has_head(head)) corridor.take_head(head);
        else corridor.widen();
    }
    return 0;
}

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_corridor_alignment(const pairalign_further_pair* pair,
                                                   const char* instruction_set,
                                                   pairalign_further_found* found, uint32_t* runs,
                                                   int32_t* rest, int32_t lowered) {
    using namespace pairalign;
    const FurtherKernel* kernel = further_kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        const FurtherJob job = make_job(*pair);
        if (!has_strips(job) || !fits_bytes(job)) return 0;
        const int32_t done = align_in_corridor(job, *kernel, *found, runs, *rest, lowered);
        return *pair->cancelled ? FURTHER_CANCELLED : done;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
