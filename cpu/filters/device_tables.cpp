// What a GPU is given of a filter of pairs, to drop the same pairs as the CPU does: the sets of bits, and
// what lengths alone say, as a table. The ctypes declarations are in
// pairalign/engines/cpu/cpu_pair_filter.py.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../export.h"
#include "../threads.h"
#include "pair_filter.h"

// The sequences of a set, by sorted position. Null: q-grams, or residues, are not looked at.
struct pairalign_filtered_set {
    const uint64_t* bits;
    int64_t words;  // of all sequences
    const pairalign::GramSet* grams;
    const int64_t* best;
    int64_t count;
};

// What is known of pairs by their lengths. [0]: the column's sequence is the query, [1]: the row's.
struct pairalign_length_bound {
    int64_t least_best;  // what the residues of either sequence must be able to score
    int32_t grams[2];    // that they must share; -1: the pair cannot pass
    int32_t score[2];    // that a pair which passes has at least
    int32_t matches[2];  // of which it must have as many
};

namespace {

using namespace pairalign;

int32_t clamp(int64_t value) {
    using Limits = std::numeric_limits<int32_t>;
    return static_cast<int32_t>(std::clamp<int64_t>(value, Limits::min(), Limits::max()));
}

}  // namespace

// Of the rows' set (side 0), or that of the columns. Holds as long as the filter.
PAIRALIGN_API void pairalign_filtered_set_of(const pairalign_filter* filter, int32_t side,
                                             pairalign_filtered_set* found) {
    const FilteredSet& set = side == 0 ? filter->rows : filter->columns();
    const bool has_grams = filter->q > 0;
    *found = {has_grams ? set.bits.data() : nullptr, static_cast<int64_t>(set.bits.size()),
              has_grams ? set.grams.data() : nullptr, set.best.empty() ? nullptr : set.best.data(),
              set.given.count};
}

// Whether longest common subsequences are looked at.
PAIRALIGN_API int32_t pairalign_filter_has_subsequences(const pairalign_filter* filter) {
    return filter->row_masks != nullptr;
}

// Fills in bounds[row_lengths][column_lengths].
PAIRALIGN_API void pairalign_bound_lengths(const pairalign_filter* filter, int32_t row_count,
                                           const int32_t* row_lengths, int32_t column_count,
                                           const int32_t* column_lengths, pairalign_length_bound* bounds) {
    const pairalign_column_scores& scores = filter->scores;
    on_threads(row_count, filter->threads, [&](int32_t r) {
        pairalign_length_bound* bound = bounds + static_cast<int64_t>(r) * column_count;
        for (int32_t c = 0; c < column_count; c++, bound++) {
            const int32_t a = row_lengths[r], b = column_lengths[c];
            bound->least_best = NO_BOUND;
            if (scores.has_minimum)
                bound->least_best = scores.minimum - most_score(filter->thresholds, scores, 0, 0,
                                                                std::min(a, b), std::max(a, b));
            for (int row_first = 0; row_first < 2; row_first++) {
                const Bounds found = filter->bounds_of(a, b, row_first != 0, filter->q);
                bound->grams[row_first] = found.is_possible ? std::max(0, clamp(found.grams)) : -1;
                bound->score[row_first] = clamp(found.score);
                bound->matches[row_first] = clamp(found.matches);
            }
        }
    });
}
