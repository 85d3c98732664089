// An index of seeds that representatives are put into as they become known, and the candidates that it finds
// for other sequences: each with a bound on its identity, so that greedy clusters align the best first and
// stop where the best found cannot be beaten.
//
// Seeds. Each error breaks at most one of the disjoint seeds of a row, ambiguous ones are broken by an error
// of their own: of k + x seeds, an alignment with at most k errors leaves x or more whole.
//
// Bounds. E >= d, the edit distance, for errors are edits. n <= m residues, M matches, X mismatches, E
// errors:
// - ALL_COLUMNS (seeds.h): n + m = 2M + E + X, so M / (M + E) = (n + m - E - X) / (n + m + E - X), which
//   falls with X and with E: at most (n + m - d) / (n + m + d).
// - MATCHES: n + m - 2M residues have no match, and at least d: M <= (n + m - d) / 2.
// - INSIDE, not local: the ends cost nothing. An alignment that passes has a whole seed, on a diagonal where
//   it is found; from there it goes on to an end of either sequence on both sides, with the least number of
//   errors that each side needs, at least: d is the least sum over the seeds found. Seeds in one run of
//   equal residues have the same sum, for residues that are equal are best matched. M / (M + E) <= n / (n +
//   d).
//
// No gaps. Two sequences of n unambiguous residues each, h of them different when laid side by side, in
// global mode. An alignment with gaps has g >= 1 residues of each in gaps, at least one gap of each, n - g
// other columns and X mismatches, and d <= X + 2g. So it scores at most
//     match (n - g) - (match - best mismatch) max(0, d - 2g) - 2 open - 2 (g - 1) extend,
// and side by side they score at least match (n - h) + worst mismatch h. Where all matches score the same, no
// mismatch scores more and extend <= open, side by side is the only optimum if
//     h (match - worst) < match g + (match - best) max(0, d - 2g) + 2 open + 2 (g - 1) extend  for all g >=
//     1,
// and its identity is known. With 2, -3, 5 and 2 that is each h <= 2, and h = 3 with d = 3.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../export.h"
#include "edit_distance.h"
#include "representatives.h"
#include "seed_index.h"

namespace pairalign {

// A seed of a row that a column has.
struct SeedHit {
    int32_t row, row_start, column_start;
};

class GrowingFinder;

// When the only best alignment of two sequences of one length has no gaps.
class WithoutGaps {
public:
    explicit WithoutGaps(const pairalign_filter& filter);

    // The most mismatches that this can be with, at such an edit distance; -1: it is never known to be.
    int32_t most(int32_t distance) const {
        const auto last = static_cast<int32_t>(by_distance_.size()) - 1;
        return last < 0 ? -1 : by_distance_[static_cast<size_t>(std::min(distance, last))];
    }

private:
    std::vector<int32_t> by_distance_;
};

}  // namespace pairalign

struct pairalign_representative_index : pairalign_representatives {
    // A seed of a row, and the entry of the same bucket before it.
    struct Entry {
        uint32_t check;
        int32_t row, start, next;
    };

    const pairalign_filter* filter;
    pairalign::SeedShape shape;
    pairalign::WordCounts counts;
    int bucket_bits;
    std::vector<int32_t> heads;  // the last entry of each bucket; -1: none
    std::vector<Entry> entries;
    std::vector<uint64_t> marks;    // a bit for each hash that a seed has
    std::vector<int32_t> without;   // rows that have no room for their seeds: every column finds them
    std::vector<uint8_t> residues;  // of the rows, with margins
    std::vector<int64_t> starts;    // of each row in `residues`; -1: it is not in the index, or no longer
    std::vector<int32_t> wanted;    // seeds of each row, with those that are not unambiguous
    std::vector<uint8_t> is_unambiguous;
    int32_t longest = 0;
    pairalign::WithoutGaps without_gaps;

    pairalign_representative_index(const pairalign_filter* of, const pairalign::SeedShape& seeds);
    ~pairalign_representative_index() override;
    void add(const int32_t* rows, int32_t count) override;
    void drop(const int32_t* rows, int32_t count) override;
    int64_t find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) override;

private:
    std::vector<std::unique_ptr<pairalign::GrowingFinder>> finders_;  // kept: they hold arrays of all rows

    void add_one(int32_t row, pairalign::SeedChooser& chooser);
};

// Of the rows of a filter of one set, which stays open; with seeds of so many residues, 0 chooses. Null: the
// thresholds permit no seeds, or all sequences have the same ones, or there is no memory.
PAIRALIGN_API pairalign_representatives* pairalign_open_growing(const pairalign_filter* filter,
                                                                int32_t residues);
PAIRALIGN_API int32_t pairalign_growing_residues(const pairalign_representatives* index);
