// Single passes over the columns of many pairs, outside the interpreter's lock. n = pairs. The ctypes
// declarations are in pairalign/alignments/passes.py.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"
#include "../threads.h"

// Row and column of every pair of a window in order, see pairalign/pairs/windows.py: rows[n], columns[n].
PAIRALIGN_API void pairalign_window_positions(int32_t row_start, int32_t row_stop, int32_t column_start,
                                              int32_t column_stop, int32_t triangular, int32_t* rows,
                                              int32_t* columns) {
    for (int32_t row = row_start; row < row_stop; ++row) {
        const int32_t first = triangular ? std::max(column_start, row + 1) : column_start;
        for (int32_t column = first; column < column_stop; ++column) {
            *rows++ = row;
            *columns++ = column;
        }
    }
}

// Puts the values of pairs of one set into its condensed triangle, float[count * (count - 1) / 2]: pairs
// (0, 1), (0, 2), ..., (1, 2), ... For each pair query[k] < target[k] < count.
PAIRALIGN_API void pairalign_place_in_triangle(int64_t pairs, const int32_t* query, const int32_t* target,
                                               const double* values, int64_t count, float* condensed) {
    for (int64_t k = 0; k < pairs; ++k) {
        const int64_t i = query[k], j = target[k];
        condensed[i * count - i * (i + 1) / 2 + (j - i - 1)] = static_cast<float>(values[k]);
    }
}

// What a distance counts, see pairalign/jobs/distances/distance.py: 1 - part / whole, or 1 where
// there is nothing.
enum pairalign_difference : int32_t {
    PAIRALIGN_BY_ALIGNED = 0,  // matches by columns without gaps
    PAIRALIGN_BY_COLUMNS = 1,  // matches by columns
    PAIRALIGN_BY_SHORTER = 2,  // matches by the residues of the shorter sequence
    PAIRALIGN_SCORE = 3,       // twice the score by the scores of both with themselves
};

// Columns of pairs of one set; null where the difference does not need them.
struct pairalign_counts {
    int64_t pairs;
    const int32_t* query;         // [n]
    const int32_t* target;        // [n]
    const int32_t* raw_score;     // [n]
    const int32_t* matches;       // [n]
    const int32_t* mismatches;    // [n]
    const int32_t* gap_residues;  // [n]
    const int32_t* lengths;       // of the set's sequences
    const double* own_scores;     // of each of them with itself
};

namespace {

template <typename Part, typename Whole>
void subtract_shares(int64_t pairs, double* values, Part part, Whole whole) {
    for (int64_t k = 0; k < pairs; ++k) {
        const double all = whole(k);
        values[k] = 1 - (all > 0 ? static_cast<double>(part(k)) / all : 0);
    }
}

}  // namespace

// values[n]: the differences of all pairs.
PAIRALIGN_API void pairalign_find_differences(const pairalign_counts* counts, int32_t difference,
                                              double* values) {
    const pairalign_counts& of = *counts;
    auto matches = [&](int64_t k) { return of.matches[k]; };
    auto aligned = [&](int64_t k) { return static_cast<double>(of.matches[k]) + of.mismatches[k]; };
    switch (difference) {
        case PAIRALIGN_BY_ALIGNED:
            return subtract_shares(of.pairs, values, matches, aligned);
        case PAIRALIGN_BY_COLUMNS:
            return subtract_shares(of.pairs, values, matches,
                                   [&](int64_t k) { return aligned(k) + of.gap_residues[k]; });
        case PAIRALIGN_BY_SHORTER:
            return subtract_shares(of.pairs, values, matches, [&](int64_t k) {
                return static_cast<double>(std::min(of.lengths[of.query[k]], of.lengths[of.target[k]]));
            });
        default:
            subtract_shares(
                of.pairs, values, [&](int64_t k) { return 2 * static_cast<double>(of.raw_score[k]); },
                [&](int64_t k) { return of.own_scores[of.query[k]] + of.own_scores[of.target[k]]; });
    }
}

namespace {

// Counts of pairs; `scores` may be null.
struct Counted {
    const int32_t *matches, *mismatches, *gap_residues, *scores;
};

// Of the pairs that were looked at, how many are aligned, and of those the first with the highest and with
// the lowest identity, or score where there are scores.
struct Extremes {
    int64_t aligned = 0, most_at = 0, least_at = 0;
    double most = 0, least = 0;

    void look_at(const Counted& of, int64_t start, int64_t stop) {
        for (int64_t k = start; k < stop; ++k) {
            const int64_t columns = int64_t{of.matches[k]} + of.mismatches[k] + of.gap_residues[k];
            if (columns == 0) continue;
            const double value =
                of.scores ? of.scores[k] : static_cast<double>(of.matches[k]) / static_cast<double>(columns);
            add(value, k, value, k, 1);
        }
    }

    void add(const Extremes& later) {
        if (later.aligned > 0) add(later.most, later.most_at, later.least, later.least_at, later.aligned);
    }

private:
    void add(double high, int64_t high_at, double low, int64_t low_at, int64_t count) {
        if (aligned == 0 || high > most) {
            most = high;
            most_at = high_at;
        }
        if (aligned == 0 || low < least) {
            least = low;
            least_at = low_at;
        }
        aligned += count;
    }
};

constexpr int64_t PAIRS_OF_PART = 1 << 16;  // worth a thread

}  // namespace

// The pairs with the highest and lowest identity, or score if `scores` is not null, the first of equals, of
// those of which something is aligned: most_and_least[2]. Returns how many these are, or -1 where there is no
// memory. Many pairs are looked at by several threads.
PAIRALIGN_API int64_t pairalign_find_extremes(int64_t pairs, const int32_t* matches,
                                              const int32_t* mismatches, const int32_t* gap_residues,
                                              const int32_t* scores, int32_t threads,
                                              int64_t* most_and_least) {
    const Counted counted{matches, mismatches, gap_residues, scores};
    const auto parts = static_cast<int32_t>((pairs + PAIRS_OF_PART - 1) / PAIRS_OF_PART);
    try {
        std::vector<Extremes> found(static_cast<size_t>(parts));
        pairalign::on_threads(parts, threads, [&](int32_t part) {
            const int64_t start = part * PAIRS_OF_PART;
            Extremes of_part;
            of_part.look_at(counted, start, std::min(pairs, start + PAIRS_OF_PART));
            found[static_cast<size_t>(part)] = of_part;
        });
        Extremes all;
        for (const Extremes& of_part : found) all.add(of_part);
        most_and_least[0] = all.most_at;
        most_and_least[1] = all.least_at;
        return all.aligned;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
