#include "own_row_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "../core/batch.h"

namespace pairalign {

OwnRowPairs::OwnRowPairs(pairalign_engine& engine, pairalign_result& result, bool trace, bool scored)
    : engine_(engine),
      result_(result),
      trace_(trace),
      scored_(scored),
      floors_(engine.floors == ALWAYS && engine.scheme.mode == LOCAL),
      lanes_(static_cast<size_t>(engine.bytes().lanes)) {
    if (!may_align()) return;
    has_classes_ = classes_of_window(engine, result, classes_);
    few_ = least_lanes();
}

void OwnRowPairs::take(std::vector<Task>& tasks) {
    if (few_ == 0) return;
    take_pairs(tasks);
    cut_batches();
}

void OwnRowPairs::add_overflowed(const PairPosition& pair) {
    std::lock_guard<std::mutex> guard(mutex_);
    const bool again = takes_overflowed(rows(pair), columns(pair));
    (again ? above_ : left_[1]).push_back(pair);
}

void OwnRowPairs::take_overflowed() {
    const auto in_order = [](const PairPosition& a, const PairPosition& b) { return a.index < b.index; };
    floors_ = true;
    pairs_ = std::move(above_);
    above_.clear();
    batches_.clear();
    std::sort(pairs_.begin(), pairs_.end(), in_order);
    cut_batches();
}

void OwnRowPairs::give_back(std::vector<Task>& tasks) {
    const auto in_order = [](const PairPosition& a, const PairPosition& b) {
        return std::tie(a.flipped, a.row, a.column) < std::tie(b.flipped, b.row, b.column);
    };
    for (std::vector<PairPosition>& left : left_) {
        std::sort(left.begin(), left.end(), in_order);
        for (size_t k = 0; k < left.size(); k++) {
            const bool joins = k > 0 && left[k].flipped == left[k - 1].flipped &&
                               left[k].row == left[k - 1].row && tasks.back().columns.size() < lanes_;
            if (!joins) tasks.push_back({left[k].flipped, left[k].row, left[k].row + 1, {}});
            tasks.back().columns.push_back(left[k].column);
            tasks.back().overflowed = &left == left_ + 1;
        }
        left.clear();
    }
}

bool OwnRowPairs::may_align() const {
    return engine_.own_rows != NEVER && engine_.long_pairs != ALWAYS && engine_.least_bits <= 8 &&
           fits_bytes(engine_.scheme);
}

// A row with fewer pairs than this leaves so many lanes idle that batches with own rows are faster.
int OwnRowPairs::least_lanes() const {
    if (engine_.own_rows == ALWAYS) return std::numeric_limits<int>::max();
    const OwnScores best = takes_few_rows() ? OwnScores::ONE_TABLE : usual();
    return static_cast<int>(static_cast<double>(lanes_) / own_rows_factor(best));
}

void OwnRowPairs::take_pairs(std::vector<Task>& tasks) {
    size_t kept = 0;
    for (size_t t = 0; t < tasks.size(); t++) {
        Task& task = tasks[t];
        if (task.row_end - task.row_begin == 1 && task.columns.size() < static_cast<size_t>(few_))
            take_task(task);
        if (!task.columns.empty()) std::swap(tasks[kept++], task);
    }
    tasks.resize(kept);
}

// Takes the pairs of a task, except those whose scores are known not to fit 8 bits.
void OwnRowPairs::take_task(Task& task) {
    const int32_t row = task.row_begin;
    size_t kept = 0;
    for (size_t l = static_cast<size_t>(first_lane(engine_, task, row)); l < task.columns.size(); l++) {
        const int32_t column = task.columns[l];
        const int64_t number = task.flipped ? result_.pair(column, row) : result_.pair(row, column);
        const PairPosition pair{task.flipped, row, column, number};
        const bool again = overflows(number);
        if (!again) pairs_.push_back(pair);
        else if (takes_overflowed(rows(pair), columns(pair))) above_.push_back(pair);
        else task.columns[kept++] = column;
    }
    task.columns.resize(kept);
}

bool OwnRowPairs::overflows(int64_t number) const {
    const Scheme& scheme = engine_.scheme;
    return scored_ && scheme.mode == LOCAL && !floors_ &&
           result_.scores[result_.slot(number)] + byte_offset(scheme) > 255 - scheme.highest;
}

// Whether to try no more pairs: the scores of most similar local pairs do not fit 8 bits.
bool OwnRowPairs::mostly_overflow() const {
    return engine_.own_rows != ALWAYS && !floors_ && 2 * overflowed_ > aligned_;
}

// How a batch is filled, above floors or not.
BytePlan OwnRowPairs::plan(int32_t rows, int32_t columns) const {
    const ByteKernel& kernel = engine_.bytes();
    if (floors_) return plan_floors(kernel, rows, columns, trace_, engine_.share());
    return plan_bytes(kernel, engine_.scheme.mode, rows, columns, trace_, engine_.share(),
                      engine_.least_bits);
}

// Sorts the pairs from `first` on, so that pairs of a batch have about the same lengths: first by rows, in
// stretches of several batches, then each stretch by columns.
void OwnRowPairs::cut_by_lengths(size_t first) {
    const auto longer_rows = [this](const PairPosition& a, const PairPosition& b) {
        return rows(a) > rows(b);
    };
    const auto longer_columns = [this](const PairPosition& a, const PairPosition& b) {
        return columns(a) > columns(b);
    };
    if (first == pairs_.size()) return;
    const size_t batches = (pairs_.size() - first - 1) / lanes_ + 1;
    const size_t across =
        std::max<size_t>(1, static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(batches)))));
    const size_t stretch = (batches + across - 1) / across * lanes_;
    const auto at = [this](size_t k) {
        return pairs_.begin() + static_cast<std::ptrdiff_t>(std::min(k, pairs_.size()));
    };
    std::stable_sort(at(first), pairs_.end(), longer_rows);
    for (size_t begin = first; begin < pairs_.size(); begin += stretch)
        std::stable_sort(at(begin), at(begin + stretch), longer_columns);
    for (size_t begin = first; begin < pairs_.size(); begin += lanes_)
        add_batch(begin, std::min(begin + lanes_, pairs_.size()));
}

// Cuts pairs_ into batches; pairs that do not fit, or for which a batch does not pay, are left.
void OwnRowPairs::cut_batches() {
    if (pairs_.empty()) return;
    if (takes_few_rows()) cut_few_rows();
    else cut_by_lengths(0);
}

// Pairs of few rows in the order of these; then, by lengths, those for which that does not pay.
void OwnRowPairs::cut_few_rows() {
    const auto at = [this](size_t k) { return pairs_.begin() + static_cast<std::ptrdiff_t>(k); };
    const auto longer_columns = [this](const PairPosition& a, const PairPosition& b) {
        return columns(a) > columns(b);
    };
    std::vector<PairPosition> others;
    size_t kept = 0;
    for (size_t begin = 0, end; begin < pairs_.size(); begin = end) {
        end = few_rows_end(begin);
        if (!are_better_than_lines(begin, end)) {
            others.insert(others.end(), at(begin), at(end));
            continue;
        }
        std::stable_sort(at(begin), at(end), longer_columns);
        if (kept < begin) std::copy(at(begin), at(end), at(kept));
        add_batch(kept, kept + end - begin);
        kept += end - begin;
    }
    std::copy(others.begin(), others.end(), at(kept));
    cut_by_lengths(kept);
}

// The end of a batch of few rows.
size_t OwnRowPairs::few_rows_end(size_t begin) const {
    const size_t most = std::min(pairs_.size(), begin + lanes_);
    size_t end = begin + 1;
    uint32_t codes = codes_of(result_, pairs_[begin]);
    for (int rows = 1; end < most; end++) {
        const PairPosition &pair = pairs_[end], &before = pairs_[end - 1];
        rows += pair.row != before.row || pair.flipped != before.flipped;
        codes |= codes_of(result_, pair);
        if (rows > FewRows::TABLES * FewRows::most_of_table(codes)) break;
    }
    return end;
}

// Whether a batch of few rows fills its cells in less time than LINES, which is assumed to fill no cell in
// vain.
bool OwnRowPairs::are_better_than_lines(size_t begin, size_t end) const {
    double cells = 0;
    int32_t most_rows = 0, most_columns = 0;
    for (size_t k = begin; k < end; k++) {
        cells += double{1} * rows(pairs_[k]) * columns(pairs_[k]);
        most_rows = std::max(most_rows, rows(pairs_[k]));
        most_columns = std::max(most_columns, columns(pairs_[k]));
    }
    FewRows few;
    find_few_rows(result_, pairs_.data() + begin, static_cast<int>(end - begin), few);
    return double{1} * most_rows * most_columns * own_rows_factor(scores_of(few)) <
           cells / static_cast<double>(lanes_) * own_rows_factor(OwnScores::LINES);
}

void OwnRowPairs::add_batch(size_t begin, size_t end) {
    const ByteKernel& kernel = engine_.bytes();
    const PairPosition* const pairs = pairs_.data() + begin;
    const int count = static_cast<int>(end - begin);
    Group group{};
    OwnRows own{};
    describe(pairs, count, group, own);
    const BytePlan how = plan(own.rows, group.columns);
    const size_t bytes = how.bytes + kernel.own_bytes(own, group.columns);
    const bool fits =
        bytes <= engine_.share() && (!floors_ || engine_.may_use_floors(own.rows, group.columns));
    const OwnScores scores = own.few.count ? scores_of(own.few) : usual();
    if (fits && pays(pairs, count, how.cost * own_rows_factor(scores)))
        batches_.push_back({begin, count, how});
    else left_[floors_].insert(left_[floors_].end(), pairs, pairs + count);
}

// Whether a batch of this cost is faster than to align its pairs one by one.
bool OwnRowPairs::pays(const PairPosition* pairs, int count, double cost) const {
    if (engine_.own_rows == ALWAYS || engine_.long_pairs == NEVER) return true;
    double one_by_one = 0;
    for (int l = 0; l < count && one_by_one <= cost; l++)
        one_by_one +=
            plan_long_pair(engine_.set->long_pair, rows(pairs[l]), columns(pairs[l]), trace_, engine_.share())
                .cost;
    return cost < one_by_one;
}

void OwnRowPairs::describe(const PairPosition* pairs, int count, Group& group, OwnRows& own) const {
    set_lanes(result_, pairs, count, has_classes_ ? &classes_ : nullptr, group, own);
    if (takes_few_rows()) find_few_rows(result_, pairs, count, own.few);
}

void OwnRowPairs::Worker::skip(const PairPosition* pairs, int count) {
    for (int l = 0; l < count; l++) {
        if (chosen_.takes_overflowed(chosen_.rows(pairs[l]), chosen_.columns(pairs[l]))) {
            chosen_.add_overflowed(pairs[l]);
            continue;
        }
        std::lock_guard<std::mutex> guard(chosen_.mutex_);
        chosen_.left_[0].push_back(pairs[l]);
    }
}

void OwnRowPairs::Worker::run(size_t number) {
    const Piece& piece = chosen_.batches_[number];
    const PairPosition* const pairs = chosen_.pairs_.data() + piece.begin;
    if (chosen_.mostly_overflow()) return skip(pairs, piece.count);
    const pairalign_engine& engine = chosen_.engine_;
    const ByteKernel& kernel = engine.bytes();
    ByteBatch& batch = mine_->batch;
    chosen_.describe(pairs, piece.count, mine_->group, mine_->own);
    mine_->prepare(engine, chosen_.trace_, piece.plan.side, piece.plan.bytes);
    batch.floors = chosen_.floors_;
    batch.row_is_query = 0;
    for (int l = 0; l < piece.count; l++)
        batch.row_is_query |=
            uint64_t{row_is_query(chosen_.result_, pairs[l].flipped, pairs[l].row, pairs[l].column)} << l;
    kernel.align(batch);
    if (engine.cancelled) return;
    chosen_.aligned_ += piece.count;
    for (int l = 0; l < piece.count; l++) {
        if (!(batch.overflowed >> l & 1)) {
            keep_steps(chosen_.result_, arena_, batch.trace, pairs[l], batch, l, kernel);
            continue;
        }
        chosen_.overflowed_++;
        chosen_.add_overflowed(pairs[l]);
    }
}

}  // namespace pairalign
