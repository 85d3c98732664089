// The pairs of a window that are pruned: who tries them, and which are left for the kernels of full matrices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../align/keep.h"
#include "../align/plan.h"
#include "../align/state.h"
#include "../align/tasks.h"
#include "pruner.h"

namespace pairalign {

class PrunedWindow {
public:
    // `wanted`: a flag a pair; null: all.
    PrunedWindow(pairalign_engine& engine, pairalign_result& result, bool trace, const uint8_t* wanted)
        : engine_(engine), result_(result), trace_(trace), wanted_(wanted) {
        if (engine.pruning.use == Pruning::NEVER || engine.scheme.mode != GLOBAL) return;
        const Pruner asked = pruner();
        const pairalign_window& w = result.window;
        int64_t pairs_to_try = 0;
        for (int32_t r = w.row_start; r < w.row_stop; r++) {
            const int32_t begin = result.first_column(r);
            int32_t end = begin;  // lengths fall with the column
            while (end < w.column_stop && may_pay(asked, r, end)) end++;
            for (int32_t c = begin; c < end; c++) pairs_to_try += is_wanted(r, c);
            for (int32_t c = begin; c < end; c += AT_ONCE)
                tasks_.push_back({r, c, std::min(end, c + AT_ONCE)});
        }
        in_lanes_ = has_lanes() && fills_lanes(pairs_to_try, engine.threads);
        if (tasks_.empty()) return;
        const size_t pairs = static_cast<size_t>(result.row_offsets.back());
        if (wanted) left_.assign(wanted, wanted + pairs);
        else left_.assign(pairs, 1);
    }

    size_t tasks() const { return tasks_.size(); }

    // Whether some pair is done; then left() says which are not, of those wanted.
    bool any() const { return any_; }
    const uint8_t* left() const { return left_.data(); }

    // The pairs that are for lanes.
    std::vector<PairPosition> similar() const {
        std::vector<PairPosition> pairs;
        for (const Piece& piece : tasks_)
            for (int32_t c = piece.begin; c < piece.end; c++)
                if (left_[static_cast<size_t>(result_.pair(piece.row, c))] == FOR_LANES)
                    pairs.push_back(position(piece.row, c));
        return pairs;
    }
    // Whether lanes are quicker than so many pairs one by one, on so many threads.
    bool fills_lanes(int64_t pairs, int threads) const {
        return engine_.pruning.use == Pruning::LANES ||
               pairs >= int64_t{engine_.bytes().lanes / LANES_OF_A_PAIR} * threads;
    }
    double widest() const { return Pruner::widest_in_lanes(engine_.pruning); }

    // Lanes have done a pair.
    void set_done(int64_t pair) {
        left_[static_cast<size_t>(pair)] = 0;
        any_ = true;
    }
    // Lanes leave a pair to be pruned alone: tasks() are those from go_on_alone() on.
    void prune_alone(const PairPosition& pair) { alone_.push_back(pair); }
    void go_on_alone() {
        goes_on_ = true;
        tasks_.clear();
        for (const PairPosition& pair : alone_) {
            const int32_t row = pair.flipped ? pair.column : pair.row,
                          column = pair.flipped ? pair.row : pair.column;
            tasks_.push_back({row, column, column + 1});
        }
    }
    void add(const PrunedCounts& more) {
        std::lock_guard<std::mutex> guard(mutex_);
        PrunedCounts& sum = engine_.pruned;
        sum.tried += more.tried;
        sum.done += more.done;
        sum.lost += more.lost;
        sum.beam_cells += more.beam_cells;
        sum.cells += more.cells;
        sum.matrix_cells += more.matrix_cells;
        sum.by_wavefronts += more.by_wavefronts;
    }

    class Worker {
    public:
        Worker(PrunedWindow& window, Arena& arena)
            : window_(window), arena_(arena), pruner_(window.pruner()) {}
        ~Worker() { window_.add(pruner_.counts()); }

        void run(size_t number) {
            const Piece& piece = window_.tasks_[number];
            for (int32_t c = piece.begin; c < piece.end && !window_.engine_.cancelled; c++) {
                const size_t p = static_cast<size_t>(window_.result_.pair(piece.row, c));
                if (!window_.left_[p]) continue;
                const Attempt attempt = align(window_.position(piece.row, c));
                if (attempt == Attempt::IN_LANES) window_.left_[p] = FOR_LANES;
                if (attempt == Attempt::DONE) window_.set_done(static_cast<int64_t>(p));
            }
        }

    private:
        Attempt align(const PairPosition& pair) {
            pairalign_result& result = window_.result_;
            const Set &rows = result.rows_of(pair.flipped), &columns = result.columns_of(pair.flipped);
            const int32_t n = rows.length(pair.row), m = columns.length(pair.column);
            Path path{};
            if (window_.trace_) {
                const size_t runs = static_cast<size_t>(n) + static_cast<size_t>(m) + 2;
                path.runs = static_cast<uint32_t*>(runs_.need(runs * sizeof(uint32_t)));
            }
            const uint8_t *row = rows.codes(pair.row), *column = columns.codes(pair.column);
            const Attempt attempt =
                window_.goes_on_ ? pruner_.align_alone(row, n, column, m, window_.trace_, path)
                                 : pruner_.align(row, n, column, m, window_.in_lanes_, window_.trace_, path);
            if (attempt == Attempt::DONE) keep_path(result, arena_, window_.trace_, pair, path);
            return attempt;
        }

        PrunedWindow& window_;
        Arena& arena_;
        Pruner pruner_;
        Buffer runs_;
    };

    std::unique_ptr<Worker> worker(Arena& arena) { return std::make_unique<Worker>(*this, arena); }

private:
    struct Piece {
        int32_t row, begin, end;
    };
    static constexpr int32_t AT_ONCE = 16;
    static constexpr uint8_t FOR_LANES = 2;  // in left_
    // Measured: a pair alone takes as long as so many lanes of a batch.
    static constexpr int LANES_OF_A_PAIR = 2;

    Pruner pruner() const {
        return {engine_.scheme, engine_.set->name, engine_.pruning, engine_.share(), &engine_.cancelled};
    }

    bool has_lanes() const {
        LetterClasses classes;
        return engine_.least_bits <= 8 && fits_bytes(engine_.scheme) &&
               classes_of_window(engine_, result_, classes);
    }

    bool is_wanted(int32_t row, int32_t column) const {
        return !wanted_ || wanted_[static_cast<size_t>(result_.pair(row, column))];
    }

    PairPosition position(int32_t row, int32_t column) const {
        const bool flipped = is_flipped(row, column);
        return {flipped, flipped ? column : row, flipped ? row : column, result_.pair(row, column)};
    }

    // The longer sequence runs along the rows; of equals, the one of the first set.
    bool is_flipped(int32_t row, int32_t column) const {
        return engine_.second && engine_.first.length(row) < engine_.second->length(column);
    }

    bool may_pay(const Pruner& pruner, int32_t row, int32_t column) const {
        const int32_t a = result_.rows_of(false).length(row), b = result_.columns_of(false).length(column);
        return pruner.may_pay(std::max(a, b), std::min(a, b));
    }

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_;
    const uint8_t* const wanted_;
    std::vector<Piece> tasks_;
    bool in_lanes_ = false, goes_on_ = false;
    std::vector<PairPosition> alone_;
    std::vector<uint8_t> left_;
    std::atomic<bool> any_{false};
    std::mutex mutex_;
};

}  // namespace pairalign
