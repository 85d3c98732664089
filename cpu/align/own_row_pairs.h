// Pairs that are few in their row: each lane of a batch has a row sequence of its own, whose pairs may come
// from anywhere in the window, by their lengths. See own_group.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../memory.h"
#include "../core/byte_batch.h"
#include "../core/pair_result.h"
#include "../core/own_batch.h"
#include "../core/plan.h"
#include "../core/state.h"
#include "../core/tasks.h"

namespace pairalign {

class OwnRowPairs {
public:
    // `scored`: the pairs' scores are in the result.
    OwnRowPairs(pairalign_engine& engine, pairalign_result& result, bool trace, bool scored);

    // A row with fewer pairs than this in a task has them aligned here.
    int few() const { return few_; }

    // Whether it is still going to align pairs whose scores 8 bits do not hold, above floors.
    bool takes_overflowed(int32_t rows, int32_t columns) const {
        return few_ > 0 && !floors_ && engine_.may_use_floors(rows, columns);
    }
    void add_overflowed(const PairPosition& pair);
    // From now on it aligns those.
    void take_overflowed();

    // Takes the pairs that it is going to align out of `tasks`.
    void take(std::vector<Task>& tasks);

    // Batches: what a worker runs.
    size_t batches() const { return batches_.size(); }

    // Hands the pairs that were not aligned to those who align the rest, but for those that it can still
    // take.
    void give_back(std::vector<Task>& tasks);

    class Worker {
    public:
        Worker(OwnRowPairs& chosen, Arena& arena, Spare<OwnBatch>& spare)
            : chosen_(chosen), arena_(arena), mine_(spare.take([] { return OwnBatch(); })) {}
        void run(size_t number);

    private:
        // All pairs of a batch.
        void skip(const PairPosition* pairs, int count);

        OwnRowPairs& chosen_;
        Arena& arena_;
        Spare<OwnBatch>::Lent mine_;
    };

    std::unique_ptr<Worker> worker(Arena& arena, Spare<OwnBatch>& spare) {
        return std::make_unique<Worker>(*this, arena, spare);
    }

private:
    struct Piece {
        size_t begin;  // in pairs_; longest columns first
        int count;
        BytePlan plan;
    };

    bool may_align() const;
    bool takes_few_rows() const { return !has_classes_ && engine_.bytes().looks_up; }
    OwnScores usual() const { return has_classes_ ? OwnScores::CLASSES : OwnScores::LINES; }
    int least_lanes() const;
    void take_pairs(std::vector<Task>& tasks);
    void take_task(Task& task);
    bool overflows(int64_t number) const;
    bool mostly_overflow() const;
    BytePlan plan(int32_t rows, int32_t columns) const;
    void cut_batches();
    void cut_few_rows();
    size_t few_rows_end(size_t begin) const;
    bool are_better_than_lines(size_t begin, size_t end) const;
    void cut_by_lengths(size_t first);
    void add_batch(size_t begin, size_t end);
    void describe(const PairPosition* pairs, int count, Group& group, OwnRows& own) const;
    bool pays(const PairPosition* pairs, int count, double cost) const;

    int32_t rows(const PairPosition& pair) const { return result_.rows_of(pair.flipped).length(pair.row); }
    int32_t columns(const PairPosition& pair) const {
        return result_.columns_of(pair.flipped).length(pair.column);
    }

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_, scored_;
    bool floors_;  // how pairs are aligned now
    const size_t lanes_;
    std::vector<PairPosition> pairs_;
    std::vector<Piece> batches_;
    ResidueClasses classes_{};
    bool has_classes_ = false;
    int few_ = 0;
    std::atomic<int64_t> aligned_{0}, overflowed_{0};  // pairs, so far
    std::mutex mutex_;
    std::vector<PairPosition> left_[2];  // not aligned; the second: 8 bits do not hold their scores
    std::vector<PairPosition> above_;    // of these, those that are aligned above floors
};

}  // namespace pairalign
