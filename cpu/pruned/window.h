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
#include "../align/state.h"
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
        for (int32_t r = w.row_start; r < w.row_stop; r++) {
            const int32_t begin = result.first_column(r);
            int32_t end = begin;  // lengths fall with the column
            while (end < w.column_stop && may_pay(asked, r, end)) end++;
            for (int32_t c = begin; c < end; c += AT_ONCE)
                tasks_.push_back({r, c, std::min(end, c + AT_ONCE)});
        }
        if (tasks_.empty()) return;
        const size_t pairs = static_cast<size_t>(result.row_offsets.back());
        if (wanted) left_.assign(wanted, wanted + pairs);
        else left_.assign(pairs, 1);
    }

    size_t tasks() const { return tasks_.size(); }

    // Whether some pair is done; then left() says which are not, of those wanted.
    bool any() const { return any_; }
    const uint8_t* left() const { return left_.data(); }

    class Worker {
    public:
        Worker(PrunedWindow& window, Arena& arena)
            : window_(window), arena_(arena), pruner_(window.pruner()) {}
        ~Worker() { window_.add(pruner_.counts()); }

        void run(size_t number) {
            const Piece& piece = window_.tasks_[number];
            for (int32_t c = piece.begin; c < piece.end && !window_.engine_.cancelled; c++) {
                const size_t p = static_cast<size_t>(window_.result_.pair(piece.row, c));
                if (window_.left_[p] && align(piece.row, c)) window_.left_[p] = 0;
            }
        }

    private:
        bool align(int32_t row, int32_t column) {
            pairalign_result& result = window_.result_;
            const bool flipped = window_.is_flipped(row, column);
            const PairPosition pair{flipped, flipped ? column : row, flipped ? row : column,
                                    result.pair(row, column)};
            const Set &rows = result.rows_of(flipped), &columns = result.columns_of(flipped);
            const int32_t n = rows.length(pair.row), m = columns.length(pair.column);
            Path path{};
            if (window_.trace_) {
                const size_t runs = static_cast<size_t>(n) + static_cast<size_t>(m) + 2;
                path.runs = static_cast<uint32_t*>(runs_.need(runs * sizeof(uint32_t)));
            }
            if (!pruner_.align(rows.codes(pair.row), n, columns.codes(pair.column), m, window_.trace_, path))
                return false;
            keep_path(result, arena_, window_.trace_, pair, path);
            window_.any_ = true;
            return true;
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

    Pruner pruner() const {
        return {engine_.scheme, engine_.set->name, engine_.pruning, engine_.share(), &engine_.cancelled};
    }

    // The longer sequence runs along the rows; of equals, the one of the first set.
    bool is_flipped(int32_t row, int32_t column) const {
        return engine_.second && engine_.first.length(row) < engine_.second->length(column);
    }

    bool may_pay(const Pruner& pruner, int32_t row, int32_t column) const {
        const int32_t a = result_.rows_of(false).length(row), b = result_.columns_of(false).length(column);
        return pruner.may_pay(std::max(a, b), std::min(a, b));
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

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_;
    const uint8_t* const wanted_;
    std::vector<Piece> tasks_;
    std::vector<uint8_t> left_;
    std::atomic<bool> any_{false};
    std::mutex mutex_;
};

}  // namespace pairalign
