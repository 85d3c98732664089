// Numbers of optimal alignments: pairs are put into the lanes of batches, batches dealt out to threads.

#include "ties.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "../instruction_sets.h"
#include "../memory.h"
#include "../threads.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const TieKernel ties_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

// Scores of all codes with all columns are laid out where they take no more than this.
constexpr size_t MOST_LAID_OUT = size_t{1} << 24;

const TieKernel& kernel_of(const std::string& wanted) {
#define PAIRALIGN_ADDRESS(NAME) &ties_##NAME,
    const TieKernel* const kernels[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS
    for (const TieKernel* kernel : kernels)
        if (wanted == kernel->name) return *kernel;
    return *kernels[0];
}

class Ties {
public:
    Ties(const pairalign_tie_pairs& pairs, const pairalign_tie_costs& costs, const TieKernel& kernel,
         uint32_t* counts)
        : pairs_(pairs), costs_(costs), kernel_(kernel), counts_(counts) {}

    void count(int32_t threads) const {
        std::vector<Range> batches;
        for (int64_t begin = 0; begin < pairs_.count; begin = batches.back().end)
            batches.push_back({begin, end_of_batch(begin)});
        on_threads(static_cast<int32_t>(batches.size()), threads,
                   [&](int32_t k) { count_batch(batches[static_cast<size_t>(k)]); });
    }

private:
    struct Range {
        int64_t begin, end;
    };

    int64_t end_of_batch(int64_t begin) const {
        int64_t end = begin + 1;
        while (end < pairs_.count && end < begin + kernel_.lanes &&
               pairs_.row_set[end] == pairs_.row_set[begin])
            end++;
        return end;
    }
    const uint8_t* codes_of(int set, int32_t index, int32_t& length) const {
        const int64_t* const at = pairs_.offsets[set] + index;
        length = static_cast<int32_t>(at[1] - at[0]);
        return pairs_.codes[set] + at[0];
    }

    void count_batch(const Range& range) const {
        thread_local Buffer memory;
        std::vector<uint8_t> turned[TIE_LANES];
        const int set = pairs_.row_set[range.begin];
        TieBatch batch{};
        batch.matrix = costs_.matrix;
        batch.open = costs_.open;
        batch.extend = costs_.extend;
        batch.end_costs = costs_.end_costs[set];
        batch.local = costs_.local != 0;
        batch.one_row = true;
        for (int l = 0; l < kernel_.lanes; l++) {
            const int64_t k = std::min(range.begin + l, range.end - 1);
            batch.rows[l] = codes_of(set, pairs_.rows[k], batch.heights[l]);
            batch.columns[l] = codes_of(1 - set, pairs_.columns[k], batch.widths[l]);
            if (pairs_.turned[k]) batch.columns[l] = turn(batch.columns[l], batch.widths[l], turned[l]);
            batch.best[l] = pairs_.best[k];
            batch.height = std::max(batch.height, batch.heights[l]);
            batch.width = std::max(batch.width, batch.widths[l]);
            batch.one_row &= pairs_.rows[k] == pairs_.rows[range.begin];
        }
        batch.one_row &= kernel_.bytes(batch.width, true) <= MOST_LAID_OUT;
        batch.memory = memory.need(kernel_.bytes(batch.width, batch.one_row));
        kernel_.count(batch);
        for (int64_t k = range.begin; k < range.end; k++) {
            const int l = static_cast<int>(k - range.begin);
            counts_[k] = batch.is_more[l] ? 0 : with_unpaired(batch, l);
        }
    }
    const uint8_t* turn(const uint8_t* codes, int32_t length, std::vector<uint8_t>& to) const {
        to.resize(static_cast<size_t>(length));
        for (int32_t j = 0; j < length; j++)
            to[static_cast<size_t>(length - 1 - j)] = pairs_.complement[codes[j]];
        return to.data();
    }

    // Also alignments of end gaps alone: one after the other, with at least one column.
    uint32_t with_unpaired(const TieBatch& batch, int l) const {
        if (batch.local) return batch.counts[l];
        const uint64_t all = uint64_t{batch.counts[l]} + are_best(batch, l, ROW_START, COLUMN_END) +
                             are_best(batch, l, COLUMN_START, ROW_END);
        return static_cast<uint32_t>(std::min<uint64_t>(all, UINT32_MAX));
    }
    uint32_t are_best(const TieBatch& batch, int l, TieEnd first, TieEnd second) const {
        int64_t cost = 0;
        bool has_columns = costs_.whole != 0;
        for (const TieEnd end : {first, second}) {
            const int32_t (&gap)[2] = batch.end_costs[end];
            const bool is_of_row = end == ROW_START || end == ROW_END;
            const int32_t residues = is_of_row ? batch.heights[l] : batch.widths[l];
            cost += gap[0] + (int64_t{residues} - 1) * gap[1];
            has_columns |= gap[0] > 0;
        }
        return has_columns && cost == -int64_t{batch.best[l]};
    }

    const pairalign_tie_pairs& pairs_;
    const pairalign_tie_costs& costs_;
    const TieKernel& kernel_;
    uint32_t* const counts_;
};

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_count_ties(const pairalign_tie_pairs* pairs, const pairalign_tie_costs* costs,
                                           int32_t threads, const char* instruction_set,
                                           uint32_t* counts) try {
    pairalign::Ties(*pairs, *costs, pairalign::kernel_of(instruction_set), counts).count(threads);
    return 0;
} catch (const std::bad_alloc&) {
    return 1;
}
