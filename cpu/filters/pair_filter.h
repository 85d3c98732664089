// What the filter of pairs knows of two sets, and what it says of pairs by their lengths. The filter itself
// is in pair_filter.cpp; what GPUs are given of it, in device_tables.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "../core/sets.h"
#include "grams.h"
#include "subsequences.h"
#include "thresholds.h"

// Which pairs of a window are still of use; null: all.
struct pairalign_demand {
    const uint8_t* rows_left;   // [rows] those that are looked at
    const double* best;         // [columns] identities of which a pair must have more; 0: none
    const int32_t* row_groups;  // [rows], [columns] pairs of one group are of no use
    const int32_t* column_groups;
};

namespace pairalign {

// What is known of a pair by the lengths of its sequences.
struct Bounds {
    bool is_possible;
    int64_t score, grams;
    int64_t matches = 0;
};

// The sequences of a set as the filter sees them.
struct FilteredSet {
    pairalign_set given;
    std::vector<int64_t> best;  // per sequence, the most that its residues can score; empty: not needed
    std::vector<GramSet> grams;
    std::vector<uint64_t> bits;
    std::vector<uint8_t> are_copies;  // whether a sequence is the same as the one before; empty: none is

    const uint8_t* codes(int32_t position) const { return given.codes + given.starts[position]; }
    int32_t length(int32_t position) const { return given.lengths[position]; }
};

}  // namespace pairalign

struct pairalign_filter {
    pairalign::FilteredSet rows;
    std::unique_ptr<pairalign::FilteredSet> other;
    pairalign_thresholds thresholds;
    pairalign_column_scores scores;
    int32_t unambiguous, threads;
    int q = 0;  // residues of a q-gram; 0: none are looked at
    int density = pairalign::LEAST_DENSITY;
    const pairalign::SubsequenceKernel* kernel = nullptr;
    std::unique_ptr<pairalign::MatchMasks> row_masks, other_masks;  // null: subsequences are not looked at
    std::unique_ptr<pairalign::ResidueCounts> residues;  // of the columns; null: they are not looked at

    const pairalign::FilteredSet& columns() const { return other ? *other : rows; }

    const pairalign::MatchMasks& column_masks() const { return other ? *other_masks : *row_masks; }

    bool row_is_query(int32_t row, int32_t column) const {
        return other || rows.given.inputs[row] < rows.given.inputs[column];
    }
    // Whether a pair is looked at as one whose row is the query: any is, where that makes no difference.
    bool is_row_first(int32_t row, int32_t column) const {
        return !is_one_way() || row_is_query(row, column);
    }
    // Whether it matters which sequence of a pair is the query.
    bool is_one_way() const {
        using namespace pairalign;
        return thresholds.coverage > 0 &&
               (thresholds.coverage_of == OF_QUERY || thresholds.coverage_of == OF_TARGET);
    }
    // Of two sequences of these lengths, by q-grams of so many residues.
    pairalign::Bounds bounds_of(int32_t row_length, int32_t column_length, bool row_first,
                                int residues) const {
        using namespace pairalign;
        const int32_t shorter = std::min(row_length, column_length);
        const int32_t longer = std::max(row_length, column_length);
        const int64_t matches = least_matches(thresholds, row_first ? row_length : column_length,
                                              row_first ? column_length : row_length);
        if (matches > shorter || least_aligned(thresholds, longer) > shorter ||
            !fit_in_length(thresholds, shorter, longer))
            return {false, 0, 0};
        return {true, least_score(thresholds, scores, matches, shorter, longer),
                residues ? least_grams(thresholds, scores, residues, matches, shorter, longer) : 0, matches};
    }
    pairalign::Bounds bounds(int32_t row, int32_t column, bool row_first, int residues) const {
        return bounds_of(rows.length(row), columns().length(column), row_first, residues);
    }
    bool can_score(int32_t row, int32_t column) const {
        if (!scores.has_minimum) return true;
        const int32_t a = rows.length(row), b = columns().length(column);
        return pairalign::most_score(thresholds, scores, rows.best[static_cast<size_t>(row)],
                                     columns().best[static_cast<size_t>(column)], std::min(a, b),
                                     std::max(a, b)) >= scores.minimum;
    }
};
