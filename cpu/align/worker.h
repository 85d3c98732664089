// A thread's work on a task: which kernel, which memory, and what is kept of each pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "../core/batch.h"
#include "own_row_pairs.h"
#include "../core/pair_result.h"
#include "../memory.h"
#include "../core/plan.h"
#include "../core/state.h"
#include "../core/tasks.h"

namespace pairalign {

// A pair that does not fit.
struct Capacity {
    pairalign_trouble trouble;
};

// What one thread needs while it works on a task.
class Worker {
public:
    // `wanted`: a flag for each pair of the window; null: all are aligned. `chosen` may take over pairs whose
    // scores overflow.
    Worker(pairalign_engine& engine, pairalign_result& result, bool trace, Arena& arena,
           const std::vector<Task>& tasks, const uint8_t* wanted, OwnRowPairs& chosen)
        : engine_(engine),
          result_(result),
          trace_(trace),
          arena_(arena),
          tasks_(tasks),
          wanted_(wanted),
          chosen_(chosen) {}

    void run(size_t number) {
        const Task& task = tasks_[number];
        prepared_.clear();
        task_ = &task;
        const Set& rows = result_.rows_of(task.flipped);
        row_codes_ = 0;
        for (int32_t r = task.row_begin; r < task.row_end; r++)
            row_codes_ |= rows.residues[static_cast<size_t>(r)];
        for (int32_t r = task.row_begin; r < task.row_end && !engine_.cancelled; r++) align_row(r, wanted_);
    }

private:
    struct Prepared {
        const void* kernel;
        int begin, count;
        Group group;
        std::unique_ptr<Buffer> memory;
    };

    // How pairs of a row are aligned: in 8-bit lanes, above floors or not, or in wider ones.
    enum class Lanes { BYTES, FLOORS, WIDER };

    void align_row(int32_t row, const uint8_t* wanted) {
        const int count = static_cast<int>(task_->columns.size()), first = first_lane(engine_, *task_, row);
        if (first >= count) return;
        const int32_t rows = result_.rows_of(task_->flipped).length(row), longest = column_length(first);
        const bool narrow = engine_.least_bits <= 16 && fits_narrow(engine_.scheme, rows, longest);
        if (!narrow && !fits_wide(engine_.scheme, rows, longest)) throw Capacity{trouble(row, first, 0, -1)};
        const Kernel& kernel = narrow ? engine_.set->narrow : engine_.set->wide;
        const Lanes how = lanes_for(rows, longest);
        const bool bytes = how != Lanes::WIDER, floors = how == Lanes::FLOORS;
        const int lanes = bytes ? engine_.bytes().lanes : kernel.lanes;
        for (int begin = 0; begin < count; begin += lanes) {
            const int end = std::min(count, begin + lanes);
            if (end <= first) continue;
            int lane = std::max(first, begin);
            for (const int stop = long_pairs_end(rows, how, kernel, row, lane, end, wanted); lane < stop;
                 lane++)
                if (!wanted || wanted[pair(row, lane)]) align_long_pair(row, lane);
            if (lane >= end) continue;
            if (bytes) align_bytes(row, kernel, begin, end, lane, wanted, floors);
            else align_batch(row, kernel, begin, end, lane, wanted);
        }
    }

    Lanes lanes_for(int32_t rows, int32_t columns) const {
        const bool floors = use_floors(rows, columns);
        if (floors && engine_.floors == ALWAYS) return Lanes::FLOORS;
        if (use_bytes(rows, columns)) return Lanes::BYTES;
        return floors ? Lanes::FLOORS : Lanes::WIDER;
    }

    // Whether pairs of these lengths are tried in 8-bit lanes without floors. In local mode they are while
    // that pays, and now and then to see whether it does again.
    bool use_bytes(int32_t rows, int32_t columns) const {
        constexpr uint32_t TRY_AGAIN = 32;
        if (engine_.least_bits > 8 || !fits_bytes(engine_.scheme) || task_->overflowed) return false;
        if (plan_byte_batch(rows, columns, false).bytes > engine_.byte_share()) return false;
        return engine_.scheme.mode != LOCAL || engine_.least_bits == 8 || engine_.byte_gain >= 0 ||
               engine_.byte_batches++ % TRY_AGAIN == 0;
    }

    bool use_floors(int32_t rows, int32_t columns) const {
        return engine_.may_use_floors(rows, columns) &&
               plan_byte_batch(rows, columns, true).bytes <= engine_.byte_share();
    }

    BytePlan plan_byte_batch(int32_t rows, int32_t columns, bool floors) const {
        const ByteKernel& kernel = engine_.bytes();
        if (floors) return plan_floors(kernel, rows, columns, trace_, engine_.byte_share());
        return plan_bytes(kernel, engine_.scheme.mode, rows, columns, trace_, engine_.byte_share(),
                          engine_.least_bits);
    }

    // Where the pairs of a batch end that are aligned one by one, on all lanes: the longest ones, which come
    // first. Their number is the one that costs least; it is all where a batch would need more than its share
    // of memory.
    int long_pairs_end(int32_t rows, Lanes how, const Kernel& kernel, int32_t row, int first, int end,
                       const uint8_t* wanted) const {
        if (engine_.long_pairs != AUTO) return engine_.long_pairs == ALWAYS ? end : first;
        constexpr double IMPOSSIBLE = std::numeric_limits<double>::infinity();
        auto batch = [&](int lane) {
            if (how != Lanes::WIDER)
                return plan_byte_batch(rows, column_length(lane), how == Lanes::FLOORS).cost;
            const BatchPlan plan = plan_batch(kernel, rows, column_length(lane), trace_, engine_.share());
            return plan.bytes > engine_.share() ? IMPOSSIBLE : plan.cost;
        };
        int best = first;
        double least = batch(first), one_by_one = 0;
        for (int lane = first; lane < end && one_by_one < least; lane++) {
            if (wanted && !wanted[pair(row, lane)]) continue;
            one_by_one +=
                plan_long_pair(engine_.set->long_pair, rows, column_length(lane), trace_, engine_.share())
                    .cost;
            const double rest = lane + 1 < end ? batch(lane + 1) : 0;
            if (rest + one_by_one < least) {
                least = one_by_one + rest;
                best = lane + 1;
            }
        }
        return best;
    }

    int32_t column_length(int lane) const {
        return result_.columns_of(task_->flipped).length(task_->columns[static_cast<size_t>(lane)]);
    }

    template <class AnyKernel>
    const Group& prepare(const AnyKernel& kernel, int begin, int end) {
        for (const Prepared& p : prepared_)
            if (p.kernel == &kernel && p.begin == begin && p.count == end - begin) return p.group;
        const Set& columns = result_.columns_of(task_->flipped);
        prepared_.emplace_back();
        Prepared& p = prepared_.back();
        p.kernel = &kernel;
        p.begin = begin;
        p.count = end - begin;
        p.group.used = end - begin;
        for (int l = 0; l < p.group.used; l++) {
            const int32_t position = task_->columns[static_cast<size_t>(begin + l)];
            p.group.codes[l] = columns.codes(position);
            p.group.lengths[l] = columns.length(position);
        }
        p.group.columns = p.group.lengths[0];
        p.group.row_codes = row_codes_;
        p.memory = std::make_unique<Buffer>();
        p.group.lanes = p.memory->need(kernel.group_bytes(p.group.columns, row_codes_));
        kernel.prepare(engine_.scheme, p.group);
        return p.group;
    }

    bool is_query(int32_t row, int lane) const {
        return row_is_query(result_, task_->flipped, row, task_->columns[static_cast<size_t>(lane)]);
    }

    // Mode END_GAPS: bit set of the lanes [first, used) whose row sequence is the query.
    uint64_t query_rows(int32_t row, int begin, int first, int used) const {
        uint64_t lanes = 0;
        for (int l = first; engine_.scheme.mode == END_GAPS && l < used; l++)
            lanes |= uint64_t{is_query(row, begin + l)} << l;
        return lanes;
    }

    pairalign_trouble trouble(int32_t row, int lane, int64_t needed, int64_t available) const {
        const int32_t column = task_->columns[static_cast<size_t>(lane)];
        return {task_->flipped ? column : row, task_->flipped ? row : column, needed, available};
    }

    int64_t pair(int32_t row, int lane) const {
        const int32_t column = task_->columns[static_cast<size_t>(lane)];
        return task_->flipped ? result_.pair(column, row) : result_.pair(row, column);
    }

    // Refuses what can never fit; makes what needs more than a thread's share wait until nothing else does.
    std::unique_lock<std::mutex> admit(size_t needed, int32_t row, int lane) const {
        std::unique_lock<std::mutex> large(engine_.large, std::defer_lock);
        if (needed <= engine_.share()) return large;
        if (needed > static_cast<size_t>(engine_.memory_bytes / 2))
            throw Capacity{trouble(row, lane, static_cast<int64_t>(2 * std::min(needed, MOST_BYTES)),
                                   engine_.memory_bytes)};
        large.lock();
        return large;
    }

    static size_t path_runs(int32_t rows, int32_t columns) {
        return static_cast<size_t>(rows) + static_cast<size_t>(columns) + 2;
    }

    // Room for the paths of the lanes from `first` on.
    template <class AnyBatch>
    void make_paths(AnyBatch& batch, int32_t rows, int32_t columns, int used, int first) {
        const size_t runs = path_runs(rows, columns);
        uint32_t* paths =
            static_cast<uint32_t*>(paths_.need(runs * static_cast<size_t>(used) * sizeof(uint32_t)));
        for (int l = first; l < used; l++) batch.paths[l].runs = paths + static_cast<size_t>(l) * runs;
    }

    // As align_batch, in 8-bit lanes; pairs whose scores these do not hold are aligned again by `kernel`.
    // Of the lanes those of the bit set `kept` are kept.
    void align_bytes(int32_t row, const Kernel& kernel, int begin, int end, int first, const uint8_t* wanted,
                     bool floors, uint64_t kept = ~uint64_t{0}) {
        const ByteKernel& bytes = engine_.bytes();
        ByteBatch& batch = byte_batch_;
        const BytePlan plan = set_byte_batch(row, begin, end, first, floors);
        const int used = batch.group->used;
        const int32_t columns = batch.group->lengths[batch.first_lane];
        bytes.align(batch);
        if (engine_.cancelled) return;
        for (int l = batch.first_lane; l < used; l++) {
            const int64_t p = pair(row, begin + l);
            if (((kept & ~batch.overflowed) >> l & 1) && (!wanted || wanted[p]))
                keep_steps(result_, arena_, trace_, position(p, row, begin + l), batch, l, bytes);
        }
        const uint64_t left = batch.overflowed & kept;
        const double again = left ? align_again(row, kernel, begin, end, wanted, left, floors) : 0;
        if (engine_.scheme.mode != LOCAL || floors) return;
        const double instead = cost_instead(kernel, batch.rows, columns, end - first);
        const int64_t gain = static_cast<int64_t>(1000 * (instead - plan.cost - again) / instead);
        engine_.byte_gain = engine_.byte_gain - engine_.byte_gain / 32 + gain;
    }

    // What the pairs of `lanes` cost if 8 bits without floors are not tried.
    double cost_instead(const Kernel& kernel, int32_t rows, int32_t columns, int lanes) const {
        if (use_floors(rows, columns)) return plan_byte_batch(rows, columns, true).cost;
        const BatchPlan batch = plan_batch(kernel, rows, columns, trace_, engine_.share());
        return batch.cost * ((lanes + kernel.lanes - 1) / kernel.lanes);
    }

    // Sets all that a batch of bytes is given, except lanes and paths.
    BytePlan set_byte_batch(int32_t row, int begin, int end, int first, bool floors) {
        const Set& rows = result_.rows_of(task_->flipped);
        const ByteKernel& bytes = engine_.bytes();
        ByteBatch& batch = byte_batch_;
        batch.group = &prepare(bytes, begin, end);
        batch.scheme = &engine_.scheme;
        batch.row = rows.codes(row);
        batch.rows = rows.length(row);
        batch.first_lane = first - begin;
        batch.row_is_query = query_rows(row, begin, batch.first_lane, batch.group->used);
        batch.trace = trace_;
        batch.cancelled = &engine_.cancelled;
        const int32_t columns = batch.group->lengths[batch.first_lane];
        const BytePlan plan = plan_byte_batch(batch.rows, columns, floors);
        batch.side = plan.side;
        batch.floors = floors;
        batch.work = static_cast<uint8_t*>(flags_.need(plan.bytes));
        batch.unambiguous = engine_.unambiguous;
        if (trace_) make_steps(batch, paths_, batch.rows, columns, batch.first_lane, batch.group->used);
        return plan;
    }

    // The lanes of a batch of bytes whose scores overflowed. Returns what that costs, see plan.h.
    double align_again(int32_t row, const Kernel& kernel, int begin, int end, const uint8_t* wanted,
                       uint64_t overflowed, bool floors) {
        const int32_t rows = byte_batch_.rows, longest = column_length(begin + __builtin_ctzll(overflowed));
        if (!floors && use_floors(rows, longest))
            return align_above_floors(row, kernel, begin, end, wanted, overflowed);
        double spent = 0;
        for (int from = begin; from < end; from += kernel.lanes) {
            const int to = std::min(end, from + kernel.lanes);
            double one_by_one = 0;
            int first = -1;
            for (int lane = from; lane < to; lane++) {
                if (!(overflowed >> (lane - begin) & 1) || (wanted && !wanted[pair(row, lane)])) continue;
                if (first < 0) first = lane;
                one_by_one +=
                    plan_long_pair(engine_.set->long_pair, rows, column_length(lane), trace_, engine_.share())
                        .cost;
            }
            if (first < 0) continue;
            const double at_once =
                plan_batch(kernel, rows, column_length(first), trace_, engine_.share()).cost;
            spent += std::min(one_by_one, at_once);
            if (at_once <= one_by_one) {
                align_batch(row, kernel, from, to, first, wanted, overflowed >> (from - begin));
                continue;
            }
            for (int lane = first; lane < to; lane++)
                if ((overflowed >> (lane - begin) & 1) && (!wanted || wanted[pair(row, lane)]))
                    align_long_pair(row, lane);
        }
        return spent;
    }

    // The same above floors: with pairs of other rows where they are few.
    double align_above_floors(int32_t row, const Kernel& kernel, int begin, int end, const uint8_t* wanted,
                              uint64_t overflowed) {
        const int32_t rows = byte_batch_.rows;
        const int first = begin + __builtin_ctzll(overflowed), count = __builtin_popcountll(overflowed);
        const double cost = plan_byte_batch(rows, column_length(first), true).cost;
        if (count >= chosen_.few() || !chosen_.takes_overflowed(rows, column_length(first))) {
            align_bytes(row, kernel, begin, end, first, wanted, true, overflowed);
            return cost;
        }
        for (uint64_t lanes = overflowed; lanes; lanes &= lanes - 1) {
            const int lane = begin + __builtin_ctzll(lanes);
            const int64_t p = pair(row, lane);
            if (!wanted || wanted[p]) chosen_.add_overflowed(position(p, row, lane));
        }
        return cost * count / chosen_.few();
    }

    // Pairs of one row with the columns of lanes [first, end) of the group [begin, end); those of the bit set
    // `kept` are kept.
    void align_batch(int32_t row, const Kernel& kernel, int begin, int end, int first, const uint8_t* wanted,
                     uint64_t kept = ~uint64_t{0}) {
        const Set& rows = result_.rows_of(task_->flipped);
        const Group& group = prepare(kernel, begin, end);
        batch_.scheme = &engine_.scheme;
        batch_.group = &group;
        batch_.row = rows.codes(row);
        batch_.rows = rows.length(row);
        batch_.first_lane = first - begin;
        batch_.trace = trace_;
        batch_.cancelled = &engine_.cancelled;
        batch_.row_is_query = query_rows(row, begin, batch_.first_lane, group.used);
        const int32_t columns = group.lengths[batch_.first_lane];
        batch_.border = border_.need(kernel.border_bytes(columns));
        batch_.end_state = end_state_.need(kernel.end_bytes(columns));
        std::unique_lock<std::mutex> large;
        if (trace_) {
            const BatchPlan plan = plan_batch(kernel, batch_.rows, columns, true, engine_.share());
            batch_.block_rows = plan.block_rows;
            large = admit(plan.bytes, row, first);
            batch_.flags = static_cast<uint8_t*>(flags_.need(kernel.flags_bytes(batch_.block_rows, columns)));
            if (batch_.block_rows < batch_.rows)
                batch_.checkpoints =
                    checkpoints_.need(kernel.checkpoint_bytes(batch_.rows, batch_.block_rows, columns));
            make_paths(batch_, batch_.rows, columns, group.used, batch_.first_lane);
        }
        kernel.align(batch_);
        if (engine_.cancelled) return;
        for (int l = batch_.first_lane; l < group.used; l++) {
            const int64_t p = pair(row, begin + l);
            if ((kept >> l & 1) && (!wanted || wanted[p])) keep(p, row, begin + l, batch_.paths[l]);
        }
        if (large.owns_lock()) release();
    }

    void align_long_pair(int32_t row, int lane) {
        const LongKernel& kernel = engine_.set->long_pair;
        const Set& rows = result_.rows_of(task_->flipped);
        LongPair one{};
        one.scheme = &engine_.scheme;
        one.row = rows.codes(row);
        one.column = result_.columns_of(task_->flipped).codes(task_->columns[static_cast<size_t>(lane)]);
        one.rows = rows.length(row);
        one.columns = column_length(lane);
        one.row_is_query = is_query(row, lane);
        one.trace = trace_;
        one.cancelled = &engine_.cancelled;
        one.work = border_.need(kernel.work_bytes(one.columns));
        std::unique_lock<std::mutex> large;
        if (trace_) {
            const LongPlan plan = plan_long_pair(kernel, one.rows, one.columns, true, engine_.share());
            one.tile = plan.tile;
            large = admit(plan.bytes, row, lane);
            one.flags =
                static_cast<uint8_t*>(flags_.need(kernel.flags_bytes(one.tile, one.rows, one.columns)));
            one.checkpoints = checkpoints_.need(kernel.checkpoint_bytes(one.tile, one.rows, one.columns));
            one.path.runs =
                static_cast<uint32_t*>(paths_.need(path_runs(one.rows, one.columns) * sizeof(uint32_t)));
        }
        kernel.align(one);
        if (engine_.cancelled) return;
        keep(pair(row, lane), row, lane, one.path);
        if (large.owns_lock()) release();
    }

    void release() {
        flags_.release();
        checkpoints_.release();
        paths_.release();
    }

    PairPosition position(int64_t p, int32_t row, int lane) const {
        return {task_->flipped, row, task_->columns[static_cast<size_t>(lane)], p};
    }

    void keep(int64_t p, int32_t row, int lane, const Path& path) {
        keep_path(result_, arena_, trace_, position(p, row, lane), path);
    }

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_;
    Arena& arena_;
    const std::vector<Task>& tasks_;
    const uint8_t* const wanted_;
    OwnRowPairs& chosen_;
    const Task* task_ = nullptr;
    uint32_t row_codes_ = 0;
    std::vector<Prepared> prepared_;
    Batch batch_{};
    ByteBatch byte_batch_{};
    Buffer border_, end_state_, paths_, flags_{Pages::LARGE}, checkpoints_{Pages::LARGE};
};

}  // namespace pairalign
