// The CPU engine: cuts a window into tasks (a group of column sequences against some rows), runs them on
// threads, and gathers the alignments in the order of the window's pairs.

#include "engine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../instruction_sets.h"
#include "../row_order.h"
#include "../pruned/similar_pairs.h"
#include "../pruned/window.h"
#include "../core/batch.h"
#include "own_row_pairs.h"
#include "../core/state.h"
#include "result_columns.h"
#include "../core/tasks.h"
#include "worker.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const InstructionSet instruction_set_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

std::vector<const InstructionSet*> available_sets() {
    std::vector<const InstructionSet*> sets;
#define PAIRALIGN_ADD(NAME) \
    if (has_##NAME()) sets.push_back(&instruction_set_##NAME);
    PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADD)
#undef PAIRALIGN_ADD
    return sets;
}

// Runs tasks 0 to tasks - 1 on the engine's threads, each with what `worker_of` makes for its arena. The
// first error ends the run and is thrown here.
template <class WorkerOf>
void run_tasks(pairalign_engine& engine, pairalign_result& result, size_t tasks, WorkerOf worker_of) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const size_t count = std::min(static_cast<size_t>(engine.threads), tasks);
    auto work = [&](Arena& arena) {
        try {
            auto worker = worker_of(arena);
            for (size_t t; !engine.cancelled && (t = next++) < tasks;) worker->run(t);
        } catch (...) {
            std::lock_guard<std::mutex> guard(mutex);
            if (!error) error = std::current_exception();
            next = tasks;
        }
    };
    const size_t before = result.arenas.size();
    for (size_t t = 0; t < count; t++) result.arenas.push_back(engine.take_arena());
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

// Numbers of the pairs that a mask names.
std::vector<int64_t> numbers_of(const uint8_t* mask, int64_t pairs) {
    std::vector<int64_t> numbers;
    for (int64_t p = 0; p < pairs; p++) {
        uint64_t eight = 0;
        if (p % 8 == 0 && p + 8 <= pairs && (std::memcpy(&eight, mask + p, 8), eight == 0)) p += 7;
        else if (mask[p]) numbers.push_back(p);
    }
    return numbers;
}

// Chooses of the pairs that have scores those that reach a minimum, and returns their mask.
std::vector<uint8_t> choose_passing(pairalign_result& result, int32_t minimum) {
    std::vector<int64_t> passing;
    std::vector<int32_t> scores;
    for (size_t k = 0; k < result.scores.size(); k++) {
        if (result.scores[k] < minimum) continue;
        passing.push_back(result.is_whole ? static_cast<int64_t>(k) : result.numbers[k]);
        scores.push_back(result.scores[k]);
    }
    std::vector<uint8_t> mask(static_cast<size_t>(result.row_offsets.back()), 0);
    for (const int64_t p : passing) mask[static_cast<size_t>(p)] = 1;
    result.scores = std::move(scores);
    result.numbers = std::move(passing);
    result.is_whole = false;
    return mask;
}

// Pairs of a sample are pruned one by one, and if some of them paid, so are other pairs for which that is the
// cheapest way. Pairs that look similar follow, many at a time; then those that are left, and bands that pay.
void prune(pairalign_engine& engine, pairalign_result& result, bool trace, PrunedWindow& window,
           Spare<OwnBatch>& spare) {
    const auto one_by_one = [&] {
        run_tasks(engine, result, window.tasks(), [&](Arena& arena) { return window.worker(arena); });
    };
    if (window.begin_sample()) {
        one_by_one();
        window.end_sample();
    }
    one_by_one();
    SimilarPairs similar(engine, result, trace, window, spare);
    const auto at_once = [&] {
        run_tasks(engine, result, similar.batches(), [&](Arena& arena) { return similar.worker(arena); });
    };
    at_once();
    similar.choose_bands();
    at_once();
    window.go_on_alone();
    one_by_one();
    window.choose_bands();
    one_by_one();
    window.let_go();
}

void align_window(pairalign_engine& engine, pairalign_result& result, const pairalign_want& want) {
    const pairalign_window& w = result.window;
    result.row_offsets.push_back(0);
    for (int32_t r = w.row_start; r < w.row_stop; r++)
        result.row_offsets.push_back(result.row_offsets.back() + w.column_stop - result.first_column(r));
    const int64_t pairs = result.row_offsets.back();
    if (want.pair_mask) {
        result.is_whole = false;
        result.numbers = numbers_of(want.pair_mask, pairs);
    }
    const bool trace = want.detail != SCORE;
    auto run = [&](bool traced, const uint8_t* wanted) {
        result.scores.resize(static_cast<size_t>(result.count()));
        if (traced) result.traced.resize(static_cast<size_t>(result.count()));
        PrunedWindow pruned(engine, result, traced, wanted);
        Spare<OwnBatch> spare;
        prune(engine, result, traced, pruned, spare);
        if (pruned.any()) wanted = pruned.left();
        OwnRowPairs chosen(engine, result, traced, traced && want.has_minimum);
        auto tasks = wanted ? passing_tasks(engine, result, wanted) : all_tasks(engine, result, chosen.few());
        chosen.take(tasks);
        const auto run_chosen = [&] {
            run_tasks(engine, result, chosen.batches(),
                      [&](Arena& arena) { return chosen.worker(arena, spare); });
            spare.release();
        };
        run_chosen();
        chosen.give_back(tasks);
        const auto run_rows = [&] {
            run_tasks(engine, result, tasks.size(), [&](Arena& arena) {
                return std::make_unique<Worker>(engine, result, traced, arena, tasks, wanted, chosen);
            });
        };
        run_rows();
        chosen.take_overflowed();
        run_chosen();
        tasks.clear();
        chosen.give_back(tasks);
        run_rows();
    };
    std::vector<uint8_t> passing;
    const uint8_t* wanted = want.pair_mask;
    if (want.has_minimum) {
        run(false, wanted);
        passing = choose_passing(result, want.minimum);
        wanted = passing.data();
    }
    if ((trace || !want.has_minimum) && !engine.cancelled) run(trace, wanted);
    for (const Traced& traced : result.traced) result.run_count += traced.run_count;
}

}  // namespace
}  // namespace pairalign

using namespace pairalign;

const char* pairalign_instruction_sets() {
    static const std::string names = [] {
        std::string joined;
        for (const InstructionSet* set : available_sets())
            joined += (joined.empty() ? "" : ",") + std::string(set->name);
        return joined;
    }();
    return names.c_str();
}

const char* pairalign_compiled_sets() {
#define PAIRALIGN_NAME(NAME) ", " #NAME
    return &(PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_NAME))[2];
#undef PAIRALIGN_NAME
}

pairalign_engine* pairalign_open(const pairalign_set* first, const pairalign_set* second,
                                 const int32_t* matrix, int32_t gap_open, int32_t gap_extend, int32_t mode,
                                 int32_t unambiguous, int32_t threads, int64_t memory_bytes,
                                 const char* instruction_set, int32_t long_pairs) {
    const InstructionSet* chosen = nullptr;
    const auto sets = available_sets();
    for (const InstructionSet* set : sets)
        if (!chosen && (!instruction_set || !*instruction_set || std::string(instruction_set) == set->name))
            chosen = set;
    if (!chosen) return nullptr;
    auto engine = std::unique_ptr<pairalign_engine>(
        new pairalign_engine{Set(*first),
                             second ? std::make_unique<Set>(*second) : nullptr,
                             {},
                             unambiguous,
                             std::max(1, threads),
                             memory_bytes,
                             chosen,
                             static_cast<Use>(long_pairs),
                             false,
                             {},
                             nullptr,
                             {},
                             {},
                             {}});
    if (engine->second) {
        Set &one = engine->first, &other = *engine->second;
        one.ranks.resize(static_cast<size_t>(one.count()));
        other.ranks.resize(static_cast<size_t>(other.count()));
        find_row_ranks(one, other, one.ranks.data(), other.ranks.data());
    }
    Scheme& scheme = engine->scheme;
    int32_t worst = 0;
    for (int k = 0; k < CODES * CODES; k++) {
        worst = std::min(worst, matrix[k]);
        scheme.highest = std::max(scheme.highest, matrix[k]);
    }
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++)
            scheme.matrix[a][b] = a == PAD || b == PAD ? worst : matrix[a * CODES + b];
    scheme.gap_open = gap_open;
    scheme.gap_extend = gap_extend;
    scheme.mode = static_cast<Mode>(mode);
    return engine.release();
}

void pairalign_set_end_gaps(pairalign_engine* engine, const int32_t* costs, int32_t ties) {
    Scheme& scheme = engine->scheme;
    scheme.ties = static_cast<Ties>(ties);
    for (EndGaps* side : {&scheme.query, &scheme.target})
        for (GapCost* cost : {&side->start, &side->end}) *cost = {*costs++, *costs++};
}

void pairalign_set_reversed(pairalign_engine* engine, const pairalign_set* first,
                            const pairalign_set* second) {
    engine->reversed = std::make_unique<Set>(second ? *second : *first);
    if (second) engine->reversed_first = std::make_unique<Set>(*first);
}

void pairalign_set_pruning(pairalign_engine* engine, int32_t use, int64_t worse_seed, int64_t lower_bound) {
    engine->pruning = {static_cast<Pruning>(use), worse_seed, lower_bound};
}

void pairalign_set_lane_bits(pairalign_engine* engine, int32_t bits) { engine->least_bits = bits; }

void pairalign_set_own_rows(pairalign_engine* engine, int32_t use) {
    engine->own_rows = static_cast<Use>(use);
}

void pairalign_set_floors(pairalign_engine* engine, int32_t use) { engine->floors = static_cast<Use>(use); }

void pairalign_pruned(const pairalign_engine* engine, int64_t* counts) {
    const PrunedCounts& c = engine->pruned;
    for (int64_t count : {c.tried, c.done, c.lost, c.beam_cells, c.cells, c.matrix_cells, c.by_wavefronts})
        *counts++ = count;
}

void pairalign_close(pairalign_engine* engine) { delete engine; }

void pairalign_cancel(pairalign_engine* engine) { engine->cancelled = true; }

int32_t pairalign_align(pairalign_engine* engine, const pairalign_window* window, const pairalign_want* want,
                        pairalign_found* found) {
    engine->result.reset();
    try {
        auto made = std::make_unique<pairalign_result>();
        made->engine = engine;
        made->window = *window;
        made->detail = want->detail;
        align_window(*engine, *made, *want);
        if (engine->cancelled) return PAIRALIGN_CANCELLED;
        found->pairs = made->count();
        found->runs = made->run_count;
        engine->result = std::move(made);
        return PAIRALIGN_DONE;
    } catch (const Capacity& capacity) {
        found->trouble = capacity.trouble;
        return capacity.trouble.available_bytes < 0 ? PAIRALIGN_SCORES : PAIRALIGN_CAPACITY;
    } catch (const std::bad_alloc&) {
        return PAIRALIGN_NO_MEMORY;
    }
}

void pairalign_take(pairalign_engine* engine, int32_t* fields, int64_t* cigar_offsets, uint32_t* cigar) {
    copy_columns(*engine->result, {fields, cigar_offsets, cigar});
    engine->result.reset();
}
