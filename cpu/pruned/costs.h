// What pairs cost, in full and pruned, for the choice between both; in the units of core/plan.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/state.h"

namespace pairalign {

// What pairs of about one size cost in full: a batch, however many of its lanes are filled, and a pair alone,
// as the last few pairs are aligned.
struct FullCost {
    double batch, alone;
    int lanes;

    double of(int64_t pairs) const;
};
FullCost cost_in_full(const pairalign_engine& engine, int32_t rows, int32_t columns, bool trace,
                      bool classes);

// What share of a matrix a band takes in the end that seems to take `triangle`, the slack divided by what
// a diagonal costs, of `columns`. `longer`: of them, how much longer the row sequence is.
double share_of_band(double triangle, double longer, int32_t columns, bool free_ends);
// The largest triangle for which that is no more than `share`, of sequences of a length.
double triangle_within(double share, int32_t columns, bool free_ends);

// What one pair costs by a band, without its beams. `lanes`: of a vector.
double cost_of_band(double cells, int64_t antidiagonals, int lanes, bool trace);
// How many cells a band may have at that cost.
double cells_for(double cost, int64_t antidiagonals, int lanes, bool trace);
// What a batch costs by bands, as a part of what it costs in full. `width`: the part of its columns that is
// filled.
double part_of_lanes(double width, bool trace);

// What some pairs cost when they are pruned. best_number: how many of these, the cheapest first, are pruned
// so that all `pairs` cost least, the others being aligned in full.
struct PrunedCost {
    double cost;
    int pairs;
};
size_t best_number(const std::vector<PrunedCost>& costs, int64_t pairs, const FullCost& full);

}  // namespace pairalign
