// The pairs of a window that are pruned: who tries them, and which are left for the kernels of full matrices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../core/pair_result.h"
#include "../core/plan.h"
#include "../core/state.h"
#include "../core/tasks.h"
#include "../memory.h"
#include "costs.h"
#include "pruner.h"

namespace pairalign {

class PrunedWindow {
public:
    // `wanted`: a flag a pair; null: all.
    PrunedWindow(pairalign_engine& engine, pairalign_result& result, bool trace, const uint8_t* wanted)
        : engine_(engine), result_(result), trace_(trace), wanted_(wanted) {
        if (!prunes(engine.scheme, engine.pruning)) return;
        const Pruner asked = pruner();
        const pairalign_window& w = result.window;
        for (int32_t r = w.row_start; r < w.row_stop; r++) {
            const int32_t begin = result.first_column(r);
            int32_t end = begin;  // lengths fall with the column
            while (end < w.column_stop && may_pay(asked, r, end)) end++;
            for (int32_t c = begin; c < end; c++) pairs_to_try_ += is_wanted(r, c);
            for (int32_t c = begin; c < end; c += AT_ONCE)
                tasks_.push_back({r, c, std::min(end, c + AT_ONCE), 0});
        }
        if (tasks_.empty()) return;
        longest_ = tasks_.front();
        ResidueClasses classes;
        has_classes_ = classes_of_window(engine_, result_, classes);
        in_lanes_ = has_lanes() && fills_lanes(pairs_to_try_, engine.threads);
        const size_t pairs = static_cast<size_t>(result.row_offsets.back());
        if (wanted) left_.assign(wanted, wanted + pairs);
        else left_.assign(pairs, 1);
    }

    size_t tasks() const { return tasks_.size(); }

    // Of many pairs a sample is tried first: tasks() are these. False: there are too few.
    bool begin_sample() {
        if (engine_.pruning.use != Pruning::AUTO || pairs_to_try_ < FEWEST_TO_SAMPLE) return false;
        all_tasks_.swap(tasks_);
        int64_t number = 0;
        for (const Piece& piece : all_tasks_)
            for (int32_t c = piece.begin; c < piece.end; c++) {
                if (!is_wanted(piece.row, c)) continue;
                const int64_t of_sample = number * SAMPLE / pairs_to_try_;
                if (++number * SAMPLE / pairs_to_try_ > of_sample) tasks_.push_back({piece.row, c, c + 1, 0});
            }
        phase_ = Phase::SAMPLE;
        return true;
    }
    // Ends the sample: tasks() are then all other pairs, or none where pruning paid for hardly any of the
    // sample.
    void end_sample() {
        phase_ = Phase::ALL;
        tasks_.clear();
        if (LEAST_OF_SAMPLE * paid_ >= SAMPLE) tasks_ = all_tasks_;
    }

    // Whether some pair is done; left() says which of those wanted are not.
    bool any() const { return any_; }
    const uint8_t* left() const { return left_.data(); }

    // The pairs that are for lanes, and others that lanes may be filled up with.
    std::vector<PairPosition> similar() const { return pairs_left_as(FOR_LANES); }
    std::vector<PairPosition> in_doubt() const { return pairs_left_as(DOUBTFUL); }
    // Whether lanes align so many pairs faster than threads that take them one by one.
    bool fills_lanes(int64_t pairs, int threads) const {
        return engine_.pruning.use == Pruning::LANES ||
               pairs >= int64_t{engine_.bytes().lanes / LANES_OF_A_PAIR} * threads;
    }
    double widest() const { return widest_in_lanes(engine_.pruning); }

    // Takes note of a pair that lanes have aligned.
    void set_done(int64_t pair) {
        left_[static_cast<size_t>(pair)] = 0;
        any_ = true;
    }
    // Pairs that are not done.
    int64_t pairs_left() const {
        return std::count_if(left_.begin(), left_.end(), [](uint8_t left) { return left != 0; });
    }
    // What the longest pair, which was tried first, costs in full.
    FullCost cost_of_longest() const {
        const PairPosition pair = position(longest_.row, longest_.begin);
        return cost_in_full(rows(pair), columns(pair));
    }
    // Takes a pair that lanes leave to be pruned alone: such pairs are tasks() from go_on_alone() on.
    void prune_alone(const PairPosition& pair) { alone_.push_back(pair); }
    void go_on_alone() {
        phase_ = Phase::ALONE;
        tasks_.clear();
        for (const PairPosition& pair : alone_) {
            const int32_t row = pair.flipped ? pair.column : pair.row,
                          column = pair.flipped ? pair.row : pair.column;
            tasks_.push_back({row, column, column + 1, 0});
        }
    }
    // Chooses the planned bands that pay as tasks(). What is left is aligned in full, many pairs at a time,
    // so that few pairs cost as much as many.
    void choose_bands() {
        phase_ = Phase::BANDS;
        tasks_.clear();
        std::sort(planned_.begin(), planned_.end(), [](const Planned& a, const Planned& b) {
            return a.band.cost * b.matrix < b.band.cost * a.matrix ||
                   (a.band.cost * b.matrix == b.band.cost * a.matrix && a.pair < b.pair);
        });
        std::vector<PrunedCost> costs;
        for (const Planned& one : planned_) costs.push_back({one.band.cost, 1});
        if (costs.empty()) return;
        FullCost full = planned_[planned_.size() / 2].in_full;
        if (pairs_left() <= full.lanes) full.batch = cost_of_longest().batch;  // they share one
        planned_.resize(best_number(costs, pairs_left(), full));
        for (size_t k = 0; k < planned_.size(); k++)
            tasks_.push_back({planned_[k].row, planned_[k].column, planned_[k].column + 1, k});
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
            : window_(window), arena_(arena), mine_(window.spare_.take([&] { return window.pruner(); })) {}
        ~Worker() { window_.add(mine_->take_counts()); }

        void run(size_t number) {
            const Piece& piece = window_.tasks_[number];
            for (int32_t c = piece.begin; c < piece.end && !window_.engine_.cancelled; c++) {
                const size_t p = static_cast<size_t>(window_.result_.pair(piece.row, c));
                const bool was_tried = window_.left_[p] >= FOR_LANES;
                if (!window_.left_[p] || (window_.phase_ == Phase::ALL && was_tried)) continue;
                const Attempt attempt = align(window_.position(piece.row, c), piece.planned);
                if (window_.phase_ == Phase::SAMPLE) {
                    window_.left_[p] = TRIED;
                    if (attempt != Attempt::IN_FULL && attempt != Attempt::IN_DOUBT) window_.paid_++;
                }
                if (attempt == Attempt::BOUNDED) window_.add_planned(piece.row, c, mine_->planned());
                if (attempt == Attempt::IN_LANES) window_.left_[p] = FOR_LANES;
                if (attempt == Attempt::IN_DOUBT) window_.left_[p] = DOUBTFUL;
                if (attempt == Attempt::DONE) window_.set_done(static_cast<int64_t>(p));
            }
        }

    private:
        Attempt align(const PairPosition& pair, size_t planned) {
            pairalign_result& result = window_.result_;
            const int32_t n = window_.rows(pair), m = window_.columns(pair);
            Path path{};
            if (window_.trace_) {
                const size_t runs = static_cast<size_t>(n) + static_cast<size_t>(m) + 2;
                path.runs = static_cast<uint32_t*>(runs_.need(runs * sizeof(uint32_t)));
            }
            const uint8_t *row = result.rows_of(pair.flipped).codes(pair.row),
                          *column = result.columns_of(pair.flipped).codes(pair.column);
            const Attempt attempt = align(row, n, column, m, planned, path);
            if (attempt == Attempt::DONE) keep_path(result, arena_, window_.trace_, pair, path);
            return attempt;
        }

        Attempt align(const uint8_t* row, int32_t n, const uint8_t* column, int32_t m, size_t planned,
                      Path& path) {
            const bool trace = window_.trace_;
            if (window_.phase_ == Phase::BANDS)
                return mine_->fill(row, n, column, m, window_.planned_[planned].band, trace, path);
            const int64_t pairs = window_.pairs_to_try_;
            const FullCost full = window_.cost_in_full(n, m);
            // The last ones of few pairs cost as much alone: beams go on where they otherwise would not.
            const double each = full.of(pairs) / static_cast<double>(pairs),
                         in_full = pairs > full.lanes ? each : std::min(full.alone, SPARE_OF_FEW * each);
            return window_.phase_ == Phase::ALONE
                       ? mine_->align_alone(row, n, column, m, in_full, trace, path)
                       : mine_->align(row, n, column, m, window_.in_lanes_, in_full, trace, path);
        }

        PrunedWindow& window_;
        Arena& arena_;
        Spare<Pruner>::Lent mine_;
        Buffer runs_;
    };

    // There are no more tasks.
    void let_go() { spare_.release(); }

    std::unique_ptr<Worker> worker(Arena& arena) { return std::make_unique<Worker>(*this, arena); }

private:
    // What workers do: a sample of pairs; all pairs that may pay; those that lanes have left; bands that
    // were planned.
    enum class Phase { SAMPLE, ALL, ALONE, BANDS };
    struct Piece {
        int32_t row, begin, end;
        size_t planned;  // its band
    };
    struct Planned {
        int32_t row, column;
        int64_t pair;
        PlannedBand band;
        double matrix;
        FullCost in_full;
    };
    static constexpr int32_t AT_ONCE = 16;
    static constexpr uint8_t FOR_LANES = 2, TRIED = 3, DOUBTFUL = 4;  // in left_, where 1 was not tried
    static constexpr int64_t SAMPLE = 32, FEWEST_TO_SAMPLE = 3 * SAMPLE;
    static constexpr int64_t LEAST_OF_SAMPLE = 8;  // one of so many must pay
    static constexpr double SPARE_OF_FEW = 1.6;
    // Measured: a pair alone takes as long as so many lanes of a batch.
    static constexpr int LANES_OF_A_PAIR = 2;

    Pruner pruner() const {
        return {engine_.scheme, engine_.set->name, engine_.pruning, engine_.share(), &engine_.cancelled};
    }

    std::vector<PairPosition> pairs_left_as(uint8_t left) const {
        std::vector<PairPosition> pairs;
        for (const Piece& piece : tasks_)
            for (int32_t c = piece.begin; c < piece.end; c++)
                if (left_[static_cast<size_t>(result_.pair(piece.row, c))] == left)
                    pairs.push_back(position(piece.row, c));
        return pairs;
    }

    FullCost cost_in_full(int32_t rows, int32_t columns) const {
        if (engine_.pruning.use != Pruning::AUTO) return {0, 0, 1};
        return pairalign::cost_in_full(engine_, rows, columns, trace_, has_classes_);
    }

    void add_planned(int32_t row, int32_t column, const PlannedBand& band) {
        const PairPosition pair = position(row, column);
        const int32_t n = rows(pair), m = columns(pair);
        const Planned one{row, column, pair.index, band, static_cast<double>(n) * m, cost_in_full(n, m)};
        std::lock_guard<std::mutex> guard(mutex_);
        planned_.push_back(one);
    }

    int32_t rows(const PairPosition& pair) const { return result_.rows_of(pair.flipped).length(pair.row); }
    int32_t columns(const PairPosition& pair) const {
        return result_.columns_of(pair.flipped).length(pair.column);
    }

    bool has_lanes() const { return engine_.least_bits <= 8 && fits_bytes(engine_.scheme) && has_classes_; }

    bool is_wanted(int32_t row, int32_t column) const {
        return !wanted_ || wanted_[static_cast<size_t>(result_.pair(row, column))];
    }

    PairPosition position(int32_t row, int32_t column) const {
        const bool flipped = engine_.is_flipped(row, column);
        return {flipped, flipped ? column : row, flipped ? row : column, result_.pair(row, column)};
    }

    bool may_pay(const Pruner& pruner, int32_t row, int32_t column) const {
        const int32_t a = result_.rows_of(false).length(row), b = result_.columns_of(false).length(column);
        return pruner.may_pay(std::max(a, b), std::min(a, b));
    }

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_;
    const uint8_t* const wanted_;
    std::vector<Piece> tasks_, all_tasks_;
    std::atomic<int64_t> paid_{0};  // pairs of the sample
    int64_t pairs_to_try_ = 0;
    bool has_classes_ = false, in_lanes_ = false;
    Phase phase_ = Phase::ALL;
    Piece longest_{};
    std::vector<Planned> planned_;
    std::vector<PairPosition> alone_;
    std::vector<uint8_t> left_;
    std::atomic<bool> any_{false};
    Spare<Pruner> spare_;
    std::mutex mutex_;
};

}  // namespace pairalign
