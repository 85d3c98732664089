// An index of the seeds of the columns' sequences, which the words of a row's sequence are looked up in: all
// pairs that can pass are among what is found (seeds.h). What is found may not pass.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/sets.h"
#include "../export.h"
#include "../filters/pair_filter.h"
#include "seed_chooser.h"
#include "seeds.h"

namespace pairalign {

// A seed of a column's sequence, in the bucket of its word.
struct IndexedSeed {
    uint32_t check;  // other bits of the word's hash
    int32_t column, start;
};

// What lengths say of a row's pairs with columns of each length; rows of one length come together.
class LengthBounds {
public:
    LengthBounds(const pairalign_filter& filter, int32_t most_residues)
        : filter_(filter), known_(static_cast<size_t>(most_residues) + 1) {}

    // On which diagonals a row has whole seeds with a column that it may pass with.
    const Diagonals& of(int32_t row, int32_t column) { return know(row, column).diagonals; }

    // The most errors of an alignment of both that passes.
    int64_t errors_of(int32_t row, int32_t column) { return know(row, column).errors; }

private:
    struct Known {
        int32_t round = 0;
        Diagonals diagonals{0, -1};
        int64_t errors = 0;
    };

    const Known& know(int32_t row, int32_t column) {
        const int32_t row_length = filter_.rows.length(row), length = filter_.columns().length(column);
        if (row_length != row_length_) {
            row_length_ = row_length;
            round_++;
        }
        Known& known = known_[static_cast<size_t>(length)];
        if (known.round != round_) {
            known.round = round_;
            const bool is_possible = filter_.bounds_of(row_length, length, true, 0).is_possible ||
                                     filter_.bounds_of(row_length, length, false, 0).is_possible;
            known.diagonals =
                is_possible ? seed_diagonals(filter_.thresholds, row_length, length) : Diagonals{0, -1};
            known.errors =
                most_errors(filter_.thresholds, std::min(row_length, length), std::max(row_length, length));
        }
        return known;
    }

    const pairalign_filter& filter_;
    std::vector<Known> known_;
    int32_t row_length_ = -1, round_ = 0;
};

}  // namespace pairalign

// An index of the columns of a filter, which stays open.
struct pairalign_seed_index {
    const pairalign_filter* filter;
    pairalign::SeedShape shape{0, 0, 0};
    int bucket_bits = 0;
    std::vector<uint32_t> buckets;  // where each begins
    std::vector<pairalign::IndexedSeed> seeds;
    std::vector<uint64_t> marks;   // a bit for each hash that a seed has
    std::vector<int32_t> without;  // columns that have no room for their seeds: pairs with any row are found
    int32_t longest_column = 0;

    // Calls tell(column, diagonals are right) for each seed of a column first <= column < stop that the row
    // has, and for columns without seeds; columns come again.
    template <class Tell>
    void find(int32_t row, int32_t first, int32_t stop, pairalign::LengthBounds& bounds,
              const Tell& tell) const;
};

// The index of the filter's columns, with seeds of so many residues; 0 chooses, and makes none where the
// filter is as fast without. Null: none, or the thresholds permit no seeds, or there is no memory.
PAIRALIGN_API pairalign_seed_index* pairalign_open_seed_index(const pairalign_filter* filter,
                                                              int32_t residues);
PAIRALIGN_API void pairalign_close_seed_index(pairalign_seed_index* index);
PAIRALIGN_API int32_t pairalign_seed_residues(const pairalign_seed_index* index);
// Where the columns of a window end that its rows can pass with; those after are too short.
PAIRALIGN_API int32_t pairalign_seeded_columns(const pairalign_seed_index* index,
                                               const pairalign_window* window);
// Sets mask[pairs of the window] to 1 for the pairs that are found of rows_left[rows] (null: all), else to 0.
// Writes how many pairs those rows have. May be called from several threads. Returns 0, or 1: no memory.
PAIRALIGN_API int32_t pairalign_find_seeded(const pairalign_seed_index* index, const pairalign_window* window,
                                            const uint8_t* rows_left, uint8_t* mask, int64_t* looked_at);
// Counts the pairs of every `step`-th row of the window that are found: counts[k] of the k-th `width`
// columns. Returns 0, or 1: no memory.
PAIRALIGN_API int32_t pairalign_count_seeded(const pairalign_seed_index* index,
                                             const pairalign_window* window, int32_t step, int32_t width,
                                             int64_t* counts);
