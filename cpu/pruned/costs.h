// What pairs cost, in full and pruned, for the choice between both; in the units of core/plan.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/state.h"

namespace pairalign {

// Of pairs like one in full: of a batch, however many of its lanes are filled, and of one alone, as the last
// ones are where they are few.
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

// Of one pair by a band, its beams aside. `lanes`: of a vector.
double cost_of_band(double cells, int64_t antidiagonals, int lanes, bool trace);
// How many cells may be had for that.
double cells_for(double cost, int64_t antidiagonals, int lanes, bool trace);
// Of a batch of pairs by bands, many at a time, as a part of what it costs in full. `width`: of columns.
double part_of_lanes(double width, bool trace);

// Of what could be pruned, the cheapest first, how many are, so that they and the rest of `pairs`, in full,
// cost the least.
struct PrunedCost {
    double cost;
    int pairs;
};
size_t best_number(const std::vector<PrunedCost>& costs, int64_t pairs, const FullCost& full);

}  // namespace pairalign
