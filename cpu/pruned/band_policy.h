// Which band a pair gets: how wide it may be, and the beams that find the bound it is made for.
#pragma once

#include <cstdint>

#include "../core/batch.h"
#include "../core/pruning.h"
#include "pair.h"

namespace pairalign {

// A band that is to be filled.
struct PlannedBand {
    int64_t bound;      // a score that some alignment has
    double most_cells;  // share of the matrix that it may take
    double cost;        // expected, see costs.h
    bool wide;          // of lanes
};

struct BandLimits {
    double widest = 0;      // of columns: how many diagonals a path may stray, with a margin
    double most_cells = 0;  // share of the matrix that a band may take
};

// Whether the first three letters of the alphabet are enough to see that residues have more than two scores.
bool has_many_scores(const Scheme& scheme);

// What share of a matrix a band of lanes may take; 0: whatever it takes.
double widest_in_lanes(const PruningOptions& options);

// A band may take what the pair costs in full, and a little more: others like it may do with less.
BandLimits choose_limits(const Scheme& scheme, const PruningOptions& options, const PrunedKernel& kernel,
                         const PrunedPair& pair, double in_full, bool trace);

// Sets pair.bound to the score of some alignment: `score`, if it is one, or a better one that beams find,
// whose cells are added to `beam_cells`.
// False: there is none that is worth going on with, and `progress` says why.
bool find_bound(const PruningOptions& options, double widest, const PrunedKernel& kernel, PrunedPair& pair,
                int64_t score, int64_t& beam_cells, Progress& progress);

// The band for pair.bound, and what it is expected to cost.
PlannedBand plan_band(const Scheme& scheme, const PruningOptions& options, const BandLimits& limits,
                      const PrunedKernel& kernel, const PrunedPair& pair, bool trace);

// What beams and band of unrelated residues come to.
constexpr double MOST_OF_ANY = 0.75;

}  // namespace pairalign
