// Posteriors of pairs of a set: pairs are put into the lanes of batches, batches dealt out to threads, and
// pairs whose range is too wide for float32 computed again in float64, then with exponents that do not end.
//
// The pairs of a row sequence follow each other, the longest column sequences first, so that lanes are of
// about one length; what is left of a row sequence shares a batch with the next shorter ones. What a pair
// gives does not depend on its batch. The ctypes declarations are in pairalign/engines/cpu/cpu_posterior.py.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "../export.h"
#include "../instruction_sets.h"
#include "model.h"

PAIRALIGN_API const char* pairalign_instruction_sets();

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const PosteriorKernel posterior_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

const PosteriorKernel* choose_kernel(const char* name) {
    const std::string available = pairalign_instruction_sets();
    const std::string wanted = name && *name ? name : available.substr(0, available.find(','));
    if (("," + available + ",").find("," + wanted + ",") == std::string::npos) return nullptr;
#define PAIRALIGN_ADDRESS(NAME) &posterior_##NAME,
    for (const PosteriorKernel* kernel : {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)})
        if (wanted == kernel->name) return kernel;
#undef PAIRALIGN_ADDRESS
    return nullptr;
}

}  // namespace
}  // namespace pairalign

// What pairalign_posteriors has found.
struct pairalign_posterior_result {
    std::vector<std::vector<pairalign::PosteriorEntry>> entries;  // of each pair, in descending order
    std::vector<uint8_t> arithmetic;                              // that each pair was computed with
};

namespace pairalign {
namespace {

constexpr uint8_t LAST_BASE = 3;

// Pairs that are computed together.
struct BatchPlan {
    size_t first;
    int count, queries;
    int32_t rows, columns;  // the most

    int64_t cells() const { return int64_t{rows} * columns; }
};

class PosteriorRun {
public:
    PosteriorRun(const pairalign_posterior_pairs& pairs, const pairalign_posterior_model& model,
                 float threshold, const volatile int32_t* cancelled, pairalign_posterior_result& result)
        : pairs_(pairs), model_(model), threshold_(threshold), cancelled_(cancelled), result_(result) {
        result_.entries.resize(static_cast<size_t>(pairs.count));
        result_.arithmetic.assign(static_cast<size_t>(pairs.count), 0);
        for (int64_t pair = 0; is_mixed() && pair < pairs.count; pair++)
            has_others_.push_back(has_others(pair));
    }

    // Returns how many pairs no arithmetic holds.
    size_t compute(const PosteriorKernel& kernel, int first, int32_t threads) {
        std::vector<int64_t> left(static_cast<size_t>(pairs_.count));
        std::iota(left.begin(), left.end(), 0);
        for (int arithmetic = first; arithmetic < ARITHMETICS && !left.empty(); arithmetic++) {
            pass(kernel, left, arithmetic, threads);
            left.erase(std::remove_if(left.begin(), left.end(),
                                      [&](int64_t pair) { return !too_wide_[static_cast<size_t>(pair)]; }),
                       left.end());
        }
        return left.size();
    }

private:
    int32_t row_length(int64_t pair) const { return pairs_.lengths[pairs_.rows[pair]]; }
    // What pairs of a batch have in common: x, or its length.
    bool is_mixed() const { return pairs_.unknown >= 0; }
    int32_t key(int64_t pair) const {
        if (!is_mixed()) return pairs_.rows[pair];
        return 2 * row_length(pair) + has_others_[static_cast<size_t>(pair)];
    }
    // Whether a pair of parts has other letters than the bases and N.
    bool has_others(int64_t pair) const {
        const auto is_other = [this](uint8_t code) { return code > LAST_BASE && code != pairs_.unknown; };
        const auto has = [&](int32_t sequence) {
            const uint8_t* const codes = pairs_.codes + pairs_.starts[sequence];
            return std::any_of(codes, codes + pairs_.lengths[sequence], is_other);
        };
        return has(pairs_.rows[pair]) || has(pairs_.columns[pair]);
    }
    Mixed kind_of(int64_t pair, int queries) const {
        if (!is_mixed()) return queries == 1 ? Mixed::NOT : queries == 2 ? Mixed::TWO : Mixed::THREE;
        return has_others_[static_cast<size_t>(pair)] ? Mixed::ALL : Mixed::BASES;
    }
    int32_t column_length(int64_t pair) const { return pairs_.lengths[pairs_.columns[pair]]; }

    // Computes some pairs; too_wide_ says of which ones the values were no good.
    void pass(const PosteriorKernel& kernel, std::vector<int64_t>& order, int arithmetic, int32_t threads) {
        too_wide_.assign(static_cast<size_t>(pairs_.count), 0);
        std::stable_sort(order.begin(), order.end(), [this](int64_t a, int64_t b) {
            if (row_length(a) != row_length(b)) return row_length(a) > row_length(b);
            if (key(a) != key(b)) return key(a) < key(b);
            return column_length(a) > column_length(b);
        });
        using Lanes = std::unique_ptr<PosteriorLanes>;
        const auto make = [&](Mixed mixed) {
            return Lanes(kernel.make(arithmetic, model_.match_states, mixed));
        };
        std::vector<BatchPlan> batches = plan(order, make(Mixed::NOT)->lanes());
        // By their kind: a thread holds the memory of one at a time.
        std::stable_sort(batches.begin(), batches.end(), [&](const BatchPlan& a, const BatchPlan& b) {
            const Mixed kind = kind_of(order[a.first], a.queries), other = kind_of(order[b.first], b.queries);
            return kind != other ? kind > other : a.cells() > b.cells();
        });
        std::atomic<size_t> next{0};
        std::atomic<bool> no_memory{false};
        const auto work = [&] {
            try {
                Lanes lanes;
                Mixed held{};
                for (size_t b; !no_memory && !*cancelled_ && (b = next++) < batches.size();) {
                    const Mixed kind = kind_of(order[batches[b].first], batches[b].queries);
                    if (!lanes || kind != held) {
                        lanes.reset();
                        lanes = make(held = kind);
                    }
                    run(*lanes, order.data() + batches[b].first, batches[b].count, arithmetic);
                }
            } catch (const std::bad_alloc&) {
                no_memory = true;
            }
        };
        std::vector<std::thread> others;
        try {
            const size_t most = std::min(static_cast<size_t>(std::max(threads, 1)), batches.size());
            for (size_t t = 1; t < most; t++) others.emplace_back(work);
        } catch (...) {
            // The system allows no more threads: those that there are do the work.
        }
        work();
        for (std::thread& thread : others) thread.join();
        if (no_memory) throw std::bad_alloc();
    }

    // Batches of pairs in their order: of one key, or, where lanes are many, of a few.
    std::vector<BatchPlan> plan(const std::vector<int64_t>& order, int lanes) const {
        const bool are_shared = !is_mixed() && lanes == MOST_LANES && model_.match_states == 1;
        std::vector<BatchPlan> batches;
        for (size_t k = 0; k < order.size(); k++) {
            const int64_t pair = order[k];
            const BatchPlan own{k, 1, 1, row_length(pair), column_length(pair)};
            if (!batches.empty() && batches.back().count < lanes) {
                BatchPlan& last = batches.back();
                const bool is_other = key(pair) != key(order[k - 1]);
                const int32_t columns = std::max(last.columns, own.columns);
                const bool fits = are_shared && last.queries < MOST_QUERIES &&
                                  int64_t{last.rows} * columns <= last.cells() + own.cells();
                if (!is_other || fits) {
                    last.count++;
                    last.queries += is_other;
                    last.columns = columns;
                    continue;
                }
            }
            batches.push_back(own);
        }
        return batches;
    }

    void run(PosteriorLanes& lanes, const int64_t* pairs, int count, int arithmetic) {
        PosteriorBatch batch{};
        batch.model = &model_;
        batch.rows = row_length(pairs[0]);  // the longest
        batch.unknown = pairs_.unknown;
        batch.count = count;
        batch.threshold = threshold_;
        for (int l = 0; l < count; l++) {
            batch.row_of[l] = pairs_.codes + pairs_.starts[pairs_.rows[pairs[l]]];
            batch.row_lengths[l] = row_length(pairs[l]);
            batch.columns[l] = pairs_.codes + pairs_.starts[pairs_.columns[pairs[l]]];
            batch.lengths[l] = column_length(pairs[l]);
            batch.entries[l] = &result_.entries[static_cast<size_t>(pairs[l])];
            batch.entries[l]->clear();
        }
        lanes.compute(batch);
        for (int l = 0; l < count; l++) {
            const size_t pair = static_cast<size_t>(pairs[l]);
            too_wide_[pair] = batch.too_wide[l];
            result_.arithmetic[pair] = static_cast<uint8_t>(arithmetic);
            result_.entries[pair].shrink_to_fit();
        }
    }

    const pairalign_posterior_pairs& pairs_;
    const pairalign_posterior_model& model_;
    const float threshold_;
    const volatile int32_t* cancelled_;
    pairalign_posterior_result& result_;
    std::vector<uint8_t> too_wide_;    // of each pair
    std::vector<uint8_t> has_others_;  // of each pair of parts
};

}  // namespace
}  // namespace pairalign

// As pairalign_status in cpu/align/engine.h.
enum PosteriorStatus : int32_t { DONE = 0, CANCELLED = 1, NO_MEMORY = 3, NO_KERNEL = 5, UNSOUND = 6 };

// The most that a model's values may grow by in a group: pairalign_posterior_model.growth.
PAIRALIGN_API int32_t pairalign_posterior_most_growth() { return PosteriorScaling::MOST_GROWTH; }

// Bytes that a thread needs for pairs of such lengths.
PAIRALIGN_API int64_t pairalign_posterior_bytes(int32_t rows, int32_t columns, int32_t match_states) {
    return pairalign::vectors_of_batch(rows, columns, match_states) * 64 + int64_t{rows} * 48;
}

// Computes the posteriors of pairs, in `arithmetic` or what is wider. On success *result has to be freed.
PAIRALIGN_API int32_t pairalign_posteriors(const pairalign_posterior_pairs* pairs,
                                           const pairalign_posterior_model* model, double threshold,
                                           int32_t arithmetic, int32_t threads, const char* instruction_set,
                                           const volatile int32_t* cancelled,
                                           pairalign_posterior_result** result) try {
    const pairalign::PosteriorKernel* const kernel = pairalign::choose_kernel(instruction_set);
    if (!kernel) return NO_KERNEL;
    auto found = std::make_unique<pairalign_posterior_result>();
    pairalign::PosteriorRun run(*pairs, *model, static_cast<float>(threshold), cancelled, *found);
    const size_t unsound = run.compute(*kernel, arithmetic, threads);
    if (*cancelled) return CANCELLED;
    if (unsound) return UNSOUND;
    *result = found.release();
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

// Writes where the entries of each pair begin: count + 1 numbers.
PAIRALIGN_API void pairalign_posterior_offsets(const pairalign_posterior_result* result, int64_t* offsets) {
    *offsets = 0;
    for (const auto& entries : result->entries) {
        offsets[1] = offsets[0] + static_cast<int64_t>(entries.size());
        offsets++;
    }
}

// Writes all entries, those of a pair in ascending order, and the arithmetic of each pair.
PAIRALIGN_API void pairalign_posterior_take(const pairalign_posterior_result* result, int32_t* rows,
                                            int32_t* columns, uint16_t* values, uint8_t* arithmetic) {
    for (const auto& entries : result->entries)
        for (size_t k = entries.size(); k-- > 0;) {
            *rows++ = entries[k].row;
            *columns++ = entries[k].column;
            *values++ = entries[k].value;
        }
    std::copy(result->arithmetic.begin(), result->arithmetic.end(), arithmetic);
}

PAIRALIGN_API void pairalign_posterior_free(pairalign_posterior_result* result) { delete result; }
