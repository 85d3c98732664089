// The CPU engine: cuts a window into tasks (a group of column sequences against some rows), runs them on
// threads, and gathers the alignments in the order of the window's pairs.

#include "engine.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "batch.h"
#include "cigar.h"

namespace pairalign {

#if defined(__x86_64__)
extern const InstructionSet instruction_set_avx512, instruction_set_avx2, instruction_set_sse41;
#elif defined(__aarch64__)
extern const InstructionSet instruction_set_neon;
#else
extern const InstructionSet instruction_set_scalar;
#endif

namespace {

std::vector<const InstructionSet*> available_sets() {
    std::vector<const InstructionSet*> sets;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("bmi2"))
        sets.push_back(&instruction_set_avx512);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) sets.push_back(&instruction_set_avx2);
    if (__builtin_cpu_supports("sse4.1")) sets.push_back(&instruction_set_sse41);
#elif defined(__aarch64__)
    sets.push_back(&instruction_set_neon);
#else
    sets.push_back(&instruction_set_scalar);
#endif
    return sets;
}

// Memory that grows to what was asked for and is aligned to 64 bytes.
class Buffer {
public:
    ~Buffer() { std::free(data_); }
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void* need(size_t bytes) {
        if (bytes > size_) {
            release();
            bytes = (bytes + 4095) / 4096 * 4096;
            data_ = std::aligned_alloc(64, bytes);
            if (!data_) throw std::bad_alloc();
            size_ = bytes;
        }
        return data_;
    }
    void release() {
        std::free(data_);
        data_ = nullptr;
        size_ = 0;
    }
    size_t size() const { return size_; }

private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

// CIGAR runs of many pairs; pointers into it stay valid.
class Arena {
public:
    uint32_t* reserve(size_t runs) {
        if (blocks_.empty() || used_ + runs > size_) {
            size_ = std::max<size_t>(runs, BLOCK);
            blocks_.emplace_back(new uint32_t[size_]);
            used_ = 0;
        }
        return blocks_.back().get() + used_;
    }
    void commit(size_t runs) { used_ += runs; }

private:
    static constexpr size_t BLOCK = size_t{1} << 18;
    std::vector<std::unique_ptr<uint32_t[]>> blocks_;
    size_t used_ = 0, size_ = 0;
};

struct Traced {  // everything of a pair but its score
    int32_t query_start = 0, query_end = 0, target_start = 0, target_end = 0;
    Summary summary;
    const uint32_t* runs = nullptr;
    int64_t run_count = 0;
};

// A group of columns against rows. `flipped`: rows come from the second set, columns from the first.
struct Task {
    bool flipped;
    int32_t row_begin, row_end;
    std::vector<int32_t> columns;  // sorted positions, longest first, at most MAX_LANES
};

struct Capacity {
    pa_trouble trouble;
};

}  // namespace
}  // namespace pairalign

using namespace pairalign;

struct pa_result {
    pa_engine* engine;
    pa_window window;
    int detail;
    std::vector<int64_t> row_offsets;
    std::vector<int32_t> scores;
    std::vector<Traced> traced;
    std::vector<uint8_t> kept;  // empty: all
    std::vector<std::unique_ptr<Arena>> arenas;
    int64_t kept_count = 0, run_count = 0;

    int32_t first_column(int32_t row) const {
        if (!window.triangular) return window.column_start;
        return std::min(std::max(window.column_start, row + 1), window.column_stop);
    }
    int64_t pair(int32_t row, int32_t column) const {
        return row_offsets[static_cast<size_t>(row - window.row_start)] + column - first_column(row);
    }
};

namespace {

struct Set {
    pa_set given;
    std::vector<uint32_t> letters;  // per sequence, the set of codes it uses

    explicit Set(const pa_set& set) : given(set), letters(static_cast<size_t>(set.count)) {
        for (int32_t s = 0; s < set.count; s++) {
            uint32_t used = 0;
            for (int32_t k = 0; k < set.lengths[s]; k++) used |= 1u << codes(s)[k];
            letters[static_cast<size_t>(s)] = used;
        }
    }
    const uint8_t* codes(int32_t position) const { return given.codes + given.starts[position]; }
    int32_t length(int32_t position) const { return given.lengths[position]; }
};

}  // namespace

struct pa_engine {
    Set first;
    std::unique_ptr<Set> second;
    Scheme scheme;
    int definite;
    int threads;
    int64_t memory_bytes;
    const InstructionSet* set;
    const InstructionSet* small_set;  // fewer lanes, for the few pairs of a batch that does not fit
    volatile bool cancelled = false;
    std::mutex large;  // held by the one batch that may use more than its thread's share

    const Set& columns_of(bool flipped) const { return flipped || !second ? first : *second; }
    const Set& rows_of(bool flipped) const { return flipped ? *second : first; }
    size_t share() const {
        return static_cast<size_t>(std::min<int64_t>(memory_bytes / 4 / threads, int64_t{1} << 28));
    }
};

namespace pairalign {

bool fits_narrow(const Scheme& s, int32_t rows, int32_t columns) {
    constexpr int64_t RANGE = 65535;
    if (rows > 32766 || columns > 32766 || s.gap_open > 8000 || s.matrix[PAD][PAD] < -16000) return false;
    int64_t best = 0;
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++) best = std::max<int64_t>(best, s.matrix[a][b]);
    if (best + 2 * s.gap_extend > 16000) return false;
    const int64_t shift = s.mode == LOCAL ? 0 : (int64_t{rows} + columns) * s.gap_extend;
    return best * std::min(rows, columns) + shift + room_below(s) <= RANGE;
}

bool fits_wide(const Scheme& s, int32_t rows, int32_t columns) {
    int64_t low = 0, high = 0;
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++) {
            low = std::min<int64_t>(low, s.matrix[a][b]);
            high = std::max<int64_t>(high, s.matrix[a][b]);
        }
    const int64_t letters = int64_t{rows} + columns;
    return high * std::min(rows, columns) + (letters + 4) * s.gap_extend - low + 4 * int64_t{s.gap_open} < (int64_t{1} << 30);
}

namespace {

// What one thread needs while it works on a task.
class Worker {
public:
    Worker(pa_engine& engine, pa_result& result, bool trace, Arena& arena)
        : engine_(engine), result_(result), trace_(trace), arena_(arena) {}

    // `wanted`: pair -> whether to align it; null: all.
    void run(const Task& task, const uint8_t* wanted) {
        prepared_.clear();
        task_ = &task;
        const Set& rows = engine_.rows_of(task.flipped);
        row_codes_ = 0;
        for (int32_t r = task.row_begin; r < task.row_end; r++) row_codes_ |= rows.letters[static_cast<size_t>(r)];
        for (int32_t r = task.row_begin; r < task.row_end && !engine_.cancelled; r++) align_row(r, wanted);
    }

private:
    struct Prepared {
        const Kernel* kernel;
        int begin, count;
        Group group;
        std::unique_ptr<Buffer> memory;
    };

    // Lanes from the result on belong to pairs of this row: lengths fall with the lane.
    int first_lane(int32_t row) const {
        const Task& task = *task_;
        const Set& rows = engine_.rows_of(task.flipped);
        const Set& columns = engine_.columns_of(task.flipped);
        int lane = 0;
        const int count = static_cast<int>(task.columns.size());
        if (!engine_.second) {
            while (lane < count && task.columns[static_cast<size_t>(lane)] <= row) lane++;
            return lane;
        }
        // The longer sequence runs along the rows; of equals, the one of the first set.
        const int32_t longest = rows.length(row) - (task.flipped ? 1 : 0);
        while (lane < count && columns.length(task.columns[static_cast<size_t>(lane)]) > longest) lane++;
        return lane;
    }

    void align_row(int32_t row, const uint8_t* wanted) {
        const Task& task = *task_;
        const Set& rows = engine_.rows_of(task.flipped);
        const Set& columns = engine_.columns_of(task.flipped);
        const int count = static_cast<int>(task.columns.size()), first = first_lane(row);
        if (first >= count) return;
        const int32_t longest = columns.length(task.columns[static_cast<size_t>(first)]);
        const bool narrow = fits_narrow(engine_.scheme, rows.length(row), longest);
        if (!narrow && !fits_wide(engine_.scheme, rows.length(row), longest)) throw Capacity{trouble(row, first, 0, -1)};
        const Kernel* kernel = narrow ? &engine_.set->narrow : &engine_.set->wide;
        const Kernel* small = narrow ? &engine_.small_set->narrow : &engine_.small_set->wide;
        const bool few = count - first <= small->lanes && trace_ &&
                         kernel->flags_bytes(rows.length(row), longest) > engine_.share();
        if (few) return align_piece(row, *small, first, count, first, wanted);
        for (int begin = 0; begin < count; begin += kernel->lanes) {
            const int end = std::min(count, begin + kernel->lanes);
            if (end > first) align_piece(row, *kernel, begin, end, std::max(first, begin), wanted);
        }
    }

    const Group& prepare(const Kernel& kernel, int begin, int end) {
        for (const Prepared& p : prepared_)
            if (p.kernel == &kernel && p.begin == begin && p.count == end - begin) return p.group;
        const Set& columns = engine_.columns_of(task_->flipped);
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

    pa_trouble trouble(int32_t row, int lane, int64_t needed, int64_t available) const {
        const int32_t column = task_->columns[static_cast<size_t>(lane)];
        return {task_->flipped ? column : row, task_->flipped ? row : column, needed, available};
    }

    int64_t pair(int32_t row, int lane) const {
        const int32_t column = task_->columns[static_cast<size_t>(lane)];
        return task_->flipped ? result_.pair(column, row) : result_.pair(row, column);
    }

    // Rows whose flags are kept at once: all of them, or as many as make flags and checkpoints fit.
    int32_t plan_blocks(const Kernel& kernel, int32_t rows, int32_t columns, size_t budget, size_t& needed) const {
        needed = kernel.flags_bytes(rows, columns);
        if (needed <= budget) return rows;
        auto bytes = [&](int32_t block) {
            return kernel.flags_bytes(block, columns) + kernel.checkpoint_bytes(rows, block, columns);
        };
        int32_t best = 8;
        for (int32_t block = 8; block < rows; block = block < 64 ? block + 8 : block / 8 * 9 / 8 * 8) {
            if (bytes(block) <= bytes(best)) best = block;
            if (bytes(block) <= budget) best = block;  // the largest block that fits refills the least
        }
        needed = bytes(best);
        return best;
    }

    void align_piece(int32_t row, const Kernel& kernel, int begin, int end, int first, const uint8_t* wanted) {
        const Set& rows = engine_.rows_of(task_->flipped);
        const Group& group = prepare(kernel, begin, end);
        batch_.scheme = &engine_.scheme;
        batch_.group = &group;
        batch_.row = rows.codes(row);
        batch_.rows = rows.length(row);
        batch_.first_lane = first - begin;
        batch_.trace = trace_;
        batch_.cancelled = &engine_.cancelled;
        const int32_t columns = group.lengths[batch_.first_lane];
        batch_.border = border_.need(kernel.border_bytes(columns));
        batch_.end_state = end_state_.need(4 * kernel.vector_bytes() + static_cast<size_t>(columns) + 64);
        std::unique_lock<std::mutex> large(engine_.large, std::defer_lock);
        if (trace_) {
            size_t needed = 0;
            batch_.block_rows = plan_blocks(kernel, batch_.rows, columns, engine_.share(), needed);
            const size_t path = (static_cast<size_t>(batch_.rows) + static_cast<size_t>(columns) + 2) * sizeof(uint32_t);
            if (needed > engine_.share()) {
                const size_t limit = static_cast<size_t>(engine_.memory_bytes / 2);
                if (needed > limit) throw Capacity{trouble(row, first, static_cast<int64_t>(2 * needed), engine_.memory_bytes)};
                large.lock();
            }
            batch_.flags = static_cast<uint8_t*>(flags_.need(kernel.flags_bytes(batch_.block_rows, columns)));
            if (batch_.block_rows < batch_.rows)
                batch_.checkpoints = checkpoints_.need(kernel.checkpoint_bytes(batch_.rows, batch_.block_rows, columns));
            uint32_t* runs = static_cast<uint32_t*>(paths_.need(path * static_cast<size_t>(group.used)));
            for (int l = batch_.first_lane; l < group.used; l++)
                batch_.paths[l].runs = runs + static_cast<size_t>(l) * path / sizeof(uint32_t);
        }
        kernel.align(batch_);
        if (engine_.cancelled) return;
        for (int l = batch_.first_lane; l < group.used; l++) {
            const int64_t p = pair(row, begin + l);
            if (!wanted || wanted[p]) keep(p, row, begin + l, batch_.paths[l]);
        }
        if (large.owns_lock()) {
            flags_.release();
            checkpoints_.release();
            paths_.release();
        }
    }

    void keep(int64_t p, int32_t row, int lane, const Path& path) {
        const size_t index = static_cast<size_t>(p);
        result_.scores[index] = path.score;
        if (!trace_ || path.run_count == 0) return;
        const Set& rows = engine_.rows_of(task_->flipped);
        const Set& columns = engine_.columns_of(task_->flipped);
        const int32_t column = task_->columns[static_cast<size_t>(lane)];
        bool row_is_query = !task_->flipped;
        if (!engine_.second) row_is_query = rows.given.inputs[row] < columns.given.inputs[column];
        Traced& t = result_.traced[index];
        uint32_t* out = nullptr;
        if (result_.detail == CIGAR) {
            size_t steps = 0;
            for (int32_t r = 0; r < path.run_count; r++) steps += path.runs[r] >> 2;
            out = arena_.reserve(steps);
        }
        t.run_count = write_cigar(path, rows.codes(row), columns.codes(column), engine_.definite, row_is_query, out, t.summary);
        if (out) {
            arena_.commit(static_cast<size_t>(t.run_count));
            t.runs = out;
        } else {
            t.run_count = 0;
        }
        t.query_start = row_is_query ? path.start_row : path.start_column;
        t.query_end = row_is_query ? path.end_row : path.end_column;
        t.target_start = row_is_query ? path.start_column : path.start_row;
        t.target_end = row_is_query ? path.end_column : path.end_row;
        if (t.summary.matches + t.summary.mismatches + t.summary.gap_letters == 0)
            t.query_start = t.query_end = t.target_start = t.target_end = 0;
    }

    pa_engine& engine_;
    pa_result& result_;
    const bool trace_;
    Arena& arena_;
    const Task* task_ = nullptr;
    uint32_t row_codes_ = 0;
    std::vector<Prepared> prepared_;
    Batch batch_{};
    Buffer border_, end_state_, flags_, checkpoints_, paths_;
};

// Groups of columns [begin, end) against rows, cut so that threads finish together.
void add_tasks(std::vector<Task>& tasks, const pa_engine& engine, bool flipped, int32_t row_begin, int32_t row_end,
               int32_t column_begin, int32_t column_end, bool triangular) {
    const int lanes = engine.set->narrow.lanes;
    const int32_t groups = (column_end - column_begin + lanes - 1) / lanes;
    if (groups == 0 || row_end <= row_begin) return;
    const int32_t pieces = std::max(1, (8 * engine.threads + groups - 1) / groups);
    const int32_t chunk = std::min(64, std::max(16, (row_end - row_begin + pieces - 1) / pieces));
    for (int32_t c = column_begin; c < column_end; c += lanes) {
        Task task{flipped, 0, 0, {}};
        for (int32_t k = c; k < std::min(column_end, c + lanes); k++) task.columns.push_back(k);
        const int32_t stop = triangular ? std::min(row_end, task.columns.back()) : row_end;
        for (int32_t r = row_begin; r < stop; r += chunk) {
            task.row_begin = r;
            task.row_end = std::min(stop, r + chunk);
            tasks.push_back(task);
        }
    }
}

std::vector<Task> all_tasks(const pa_engine& engine, const pa_window& w) {
    std::vector<Task> tasks;
    add_tasks(tasks, engine, false, w.row_start, w.row_stop, w.column_start, w.column_stop, w.triangular);
    if (engine.second) add_tasks(tasks, engine, true, w.column_start, w.column_stop, w.row_start, w.row_stop, false);
    return tasks;
}

// Tasks for the few pairs that passed the minimum score: per row, its passing columns.
std::vector<Task> passing_tasks(const pa_engine& engine, const pa_result& result) {
    std::vector<Task> tasks;
    const pa_window& w = result.window;
    const size_t lanes = static_cast<size_t>(engine.set->narrow.lanes);
    auto add_row = [&](bool flipped, int32_t row, const std::vector<int32_t>& columns) {
        for (size_t c = 0; c < columns.size(); c += lanes)
            tasks.push_back({flipped, row, row + 1,
                             {columns.begin() + static_cast<std::ptrdiff_t>(c),
                              columns.begin() + static_cast<std::ptrdiff_t>(std::min(columns.size(), c + lanes))}});
    };
    auto turned = [&](int32_t row, int32_t column) {
        return engine.second && engine.first.length(row) < engine.second->length(column);
    };
    std::vector<int32_t> passing;
    for (int32_t r = w.row_start; r < w.row_stop; r++) {
        passing.clear();
        for (int32_t c = result.first_column(r); c < w.column_stop; c++)
            if (result.kept[static_cast<size_t>(result.pair(r, c))] && !turned(r, c)) passing.push_back(c);
        add_row(false, r, passing);
    }
    if (!engine.second) return tasks;
    for (int32_t c = w.column_start; c < w.column_stop; c++) {
        passing.clear();
        for (int32_t r = w.row_start; r < w.row_stop; r++)
            if (result.kept[static_cast<size_t>(result.pair(r, c))] && turned(r, c)) passing.push_back(r);
        add_row(true, c, passing);
    }
    return tasks;
}

// Runs the tasks on the engine's threads. The first error ends the run and is thrown here.
void run_tasks(pa_engine& engine, pa_result& result, const std::vector<Task>& tasks, bool trace, const uint8_t* wanted) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const size_t count = std::min(static_cast<size_t>(engine.threads), tasks.size());
    auto work = [&](Arena& arena) {
        try {
            Worker worker(engine, result, trace, arena);
            for (size_t t; !engine.cancelled && (t = next++) < tasks.size();) worker.run(tasks[t], wanted);
        } catch (...) {
            std::lock_guard<std::mutex> guard(mutex);
            if (!error) error = std::current_exception();
            next = tasks.size();
        }
    };
    const size_t before = result.arenas.size();
    for (size_t t = 0; t < count; t++) result.arenas.push_back(std::make_unique<Arena>());
    std::vector<std::thread> threads;
    try {
        threads.reserve(count);
        for (size_t t = 1; t < count; t++)
            threads.emplace_back([&work, &arena = *result.arenas[before + t]] { work(arena); });
    } catch (...) {
        // The system allows no more threads: those that there are, and this one, do the work.
    }
    if (count > 0) work(*result.arenas[before]);
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

void align_window(pa_engine& engine, pa_result& result, const pa_want& want) {
    const pa_window& w = result.window;
    result.row_offsets.push_back(0);
    for (int32_t r = w.row_start; r < w.row_stop; r++)
        result.row_offsets.push_back(result.row_offsets.back() + w.column_stop - result.first_column(r));
    const size_t pairs = static_cast<size_t>(result.row_offsets.back());
    result.scores.resize(pairs);
    const bool trace = want.detail != SCORE;
    if (trace) result.traced.resize(pairs);
    const bool filter = want.has_minimum;
    if (!filter || !trace) run_tasks(engine, result, all_tasks(engine, w), trace, nullptr);
    if (filter) {
        if (trace) run_tasks(engine, result, all_tasks(engine, w), false, nullptr);
        result.kept.resize(pairs);
        for (size_t p = 0; p < pairs; p++) result.kept[p] = result.scores[p] >= want.minimum;
        if (trace && !engine.cancelled) run_tasks(engine, result, passing_tasks(engine, result), true, result.kept.data());
    }
    for (size_t p = 0; p < pairs; p++) {
        if (filter && !result.kept[p]) continue;
        result.kept_count++;
        if (trace) result.run_count += result.traced[p].run_count;
    }
}

}  // namespace
}  // namespace pairalign

const char* pa_instruction_sets() {
    static const std::string names = [] {
        std::string joined;
        for (const InstructionSet* set : available_sets()) joined += (joined.empty() ? "" : ",") + std::string(set->name);
        return joined;
    }();
    return names.c_str();
}

pa_engine* pa_open(const pa_set* first, const pa_set* second, const int32_t* matrix, int32_t gap_open, int32_t gap_extend,
                   int32_t mode, int32_t definite, int32_t threads, int64_t memory_bytes, const char* instruction_set) {
    const InstructionSet* chosen = nullptr;
    const auto sets = available_sets();
    for (const InstructionSet* set : sets)
        if (!chosen && (!instruction_set || !*instruction_set || std::string(instruction_set) == set->name)) chosen = set;
    if (!chosen) return nullptr;
    auto engine = std::unique_ptr<pa_engine>(new pa_engine{
        Set(*first), second ? std::make_unique<Set>(*second) : nullptr, {}, definite, std::max(1, threads), memory_bytes,
        chosen, sets.back(), false, {}});
    Scheme& scheme = engine->scheme;
    int32_t worst = 0;
    for (int k = 0; k < CODES * CODES; k++) worst = std::min(worst, matrix[k]);
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++)
            scheme.matrix[a][b] = a == PAD || b == PAD ? worst : matrix[a * CODES + b];
    scheme.gap_open = gap_open;
    scheme.gap_extend = gap_extend;
    scheme.mode = static_cast<Mode>(mode);
    return engine.release();
}

void pa_close(pa_engine* engine) { delete engine; }

void pa_cancel(pa_engine* engine) { engine->cancelled = true; }

int32_t pa_align(pa_engine* engine, const pa_window* window, const pa_want* want, pa_result** result, pa_trouble* trouble) {
    *result = nullptr;
    try {
        auto made = std::make_unique<pa_result>();
        made->engine = engine;
        made->window = *window;
        made->detail = want->detail;
        align_window(*engine, *made, *want);
        if (engine->cancelled) return PA_CANCELLED;
        *result = made.release();
        return PA_DONE;
    } catch (const Capacity& capacity) {
        *trouble = capacity.trouble;
        return capacity.trouble.available_bytes < 0 ? PA_SCORES : PA_CAPACITY;
    } catch (const std::bad_alloc&) {
        return PA_NO_MEMORY;
    }
}

int64_t pa_kept(const pa_result* result) { return result->kept_count; }

int64_t pa_runs(const pa_result* result) { return result->run_count; }

void pa_take(pa_result* result, const pa_columns* columns) {
    const pa_columns& out = *columns;
    const pa_engine& engine = *result->engine;
    const Set& rows = engine.first;
    const Set& others = engine.columns_of(false);
    const bool traced = !result->traced.empty();
    int64_t k = 0, run = 0;
    size_t p = 0;
    if (out.cigar_offsets) out.cigar_offsets[0] = 0;
    for (int32_t r = result->window.row_start; r < result->window.row_stop; r++) {
        for (int32_t c = result->first_column(r); c < result->window.column_stop; c++, p++) {
            if (!result->kept.empty() && !result->kept[p]) continue;
            const int32_t a = rows.given.inputs[r], b = others.given.inputs[c];
            const bool row_first = engine.second || a < b;
            out.query[k] = row_first ? a : b;
            out.target[k] = row_first ? b : a;
            out.raw_score[k] = result->scores[p];
            if (traced && out.query_start) {
                const Traced& t = result->traced[p];
                out.query_start[k] = t.query_start;
                out.query_end[k] = t.query_end;
                out.target_start[k] = t.target_start;
                out.target_end[k] = t.target_end;
                out.matches[k] = t.summary.matches;
                out.mismatches[k] = t.summary.mismatches;
                out.gap_openings[k] = t.summary.gap_openings;
                out.gap_letters[k] = t.summary.gap_letters;
                if (out.cigar_offsets) {
                    if (t.run_count) std::copy(t.runs, t.runs + t.run_count, out.cigar + run);
                    run += t.run_count;
                    out.cigar_offsets[k + 1] = run;
                }
            }
            k++;
        }
    }
}

void pa_free(pa_result* result) { delete result; }
