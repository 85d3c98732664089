// What an engine holds while it is open, and what it makes of a window.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "batch.h"
#include "byte_batch.h"
#include "cigar.h"
#include "../instruction_sets.h"
#include "../memory.h"
#include "plan.h"
#include "pruning.h"
#include "sets.h"

namespace pairalign {

struct Traced {  // everything of a pair but its score
    int32_t query_start = 0, query_end = 0, target_start = 0, target_end = 0;
    Summary summary;
    const uint32_t* runs = nullptr;
    int64_t run_count = 0;
};

struct Set {
    pairalign_set given;
    std::vector<uint32_t> residues;  // per sequence, the set of codes it uses
    std::vector<int32_t> ranks{};    // of two sets: see find_row_ranks

    explicit Set(const pairalign_set& set) : given(set), residues(static_cast<size_t>(set.count)) {
        for (int32_t s = 0; s < set.count; s++) {
            uint32_t used = 0;
            for (int32_t k = 0; k < set.lengths[s]; k++) used |= 1u << codes(s)[k];
            residues[static_cast<size_t>(s)] = used;
        }
    }
    const uint8_t* codes(int32_t position) const { return given.codes + given.starts[position]; }
    int32_t length(int32_t position) const { return given.lengths[position]; }
    int32_t rank(int32_t position) const { return ranks[static_cast<size_t>(position)]; }
    int32_t count() const { return given.count; }
};

// Which pairs long_pair.h aligns, and which own_row_pairs.h. They come out the same either way: all but AUTO
// is for tests.
enum Use { AUTO = 0, ALWAYS = 1, NEVER = 2 };

}  // namespace pairalign

struct pairalign_result;
struct pairalign_engine {
    pairalign::Set first;
    std::unique_ptr<pairalign::Set> second;
    pairalign::Scheme scheme;
    int unambiguous;
    int threads;
    int64_t memory_bytes;
    const pairalign::InstructionSet* set;
    pairalign::Use long_pairs;
    std::atomic<bool> cancelled = false;
    std::mutex large;  // held by the one batch that may use more than its thread's share
    // The sets of columns reverse-complemented: of window rows only where a target runs along a pair's rows.
    std::unique_ptr<pairalign::Set> reversed, reversed_first;
    pairalign::PruningOptions pruning;
    pairalign::PrunedCounts pruned;  // of all windows so far
    int32_t least_bits = 0;          // of a lane: 0 chooses; 8 (always in tiles), 16 and 32 are for tests
    pairalign::Use own_rows = pairalign::AUTO, floors = pairalign::AUTO;
    // Local mode: what 8-bit lanes saved of late, less what it cost to align pairs again, in thousandths of a
    // batch. Any thread may write it: it decides how long things take, never what comes out.
    std::atomic<int64_t> byte_gain{0};
    std::atomic<uint32_t> byte_batches{0};
    std::mutex arenas_mutex{};
    std::vector<std::unique_ptr<pairalign::Arena>> arenas{};  // of windows that are done
    std::unique_ptr<pairalign_result> result{};               // of the last window, until it is taken

    std::unique_ptr<pairalign::Arena> take_arena() {
        std::lock_guard<std::mutex> guard(arenas_mutex);
        if (arenas.empty()) return std::make_unique<pairalign::Arena>();
        auto arena = std::move(arenas.back());
        arenas.pop_back();
        return arena;
    }
    void give_back(std::vector<std::unique_ptr<pairalign::Arena>>& used) {
        std::lock_guard<std::mutex> guard(arenas_mutex);
        for (auto& arena : used) {
            arena->clear();
            arenas.push_back(std::move(arena));
        }
        used.clear();
    }

    // Whether a sequence of the second set runs along the rows: of the same sequences, the first set's does.
    bool is_flipped(int32_t row, int32_t column) const {
        return second && second->rank(column) < first.rank(row);
    }
    const pairalign::Set& columns_of(bool flipped) const { return flipped || !second ? first : *second; }
    const pairalign::Set& rows_of(bool flipped) const { return flipped ? *second : first; }
    const pairalign::ByteKernel& bytes() const {
        return pairalign::has_byte_permutation() ? set->permuted_bytes : set->bytes;
    }
    // Columns that a task takes at a time.
    int lanes() const { return least_bits <= 8 ? bytes().lanes : set->narrow.lanes; }
    // Whether local pairs of these lengths can be aligned above floors.
    bool may_use_floors(int32_t rows, int32_t columns) const {
        return floors != pairalign::NEVER && least_bits <= 8 && pairalign::fits_floors(scheme, rows, columns);
    }
    // Memory of a thread's batch; of 8-bit lanes, which without it take many times as long for long pairs,
    // more.
    size_t share() const { return share_of(int64_t{1} << 28); }
    size_t byte_share() const { return share_of(int64_t{1} << 30); }
    size_t share_of(int64_t most) const {
        return static_cast<size_t>(std::min(memory_bytes / 4 / threads, most));
    }
};

struct pairalign_result {
    pairalign_engine* engine = nullptr;  // lives longer
    pairalign_window window;
    int detail;
    std::vector<int64_t> row_offsets;
    bool is_whole = true;          // all pairs; else those of `numbers`
    std::vector<int64_t> numbers;  // of the pairs chosen, in the window, ascending
    std::vector<int32_t> scores;   // of all pairs or of those chosen, as what follows
    std::vector<pairalign::Traced> traced;
    std::vector<std::unique_ptr<pairalign::Arena>> arenas;
    int64_t run_count = 0;

    ~pairalign_result() {
        if (engine) engine->give_back(arenas);
    }
    int64_t count() const { return is_whole ? row_offsets.back() : static_cast<int64_t>(numbers.size()); }
    // Where the score of a pair that was chosen is.
    size_t slot(int64_t pair) const {
        if (is_whole) return static_cast<size_t>(pair);
        return static_cast<size_t>(std::lower_bound(numbers.begin(), numbers.end(), pair) - numbers.begin());
    }

    // Sequences as this window aligns them.
    const pairalign::Set& columns_of(bool flipped) const {
        if (window.strand > 0) return engine->columns_of(flipped);
        return flipped ? *engine->reversed_first : *engine->reversed;
    }
    const pairalign::Set& rows_of(bool flipped) const { return engine->rows_of(flipped); }
    int32_t first_column(int32_t row) const {
        if (!window.triangular) return window.column_start;
        return std::min(std::max(window.column_start, row + 1), window.column_stop);
    }
    int64_t pair(int32_t row, int32_t column) const {
        return row_offsets[static_cast<size_t>(row - window.row_start)] + column - first_column(row);
    }
};
