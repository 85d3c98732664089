#include "costs.h"

#include <algorithm>
#include <limits>

#include "../core/plan.h"

namespace pairalign {
namespace {

// Measured, on a Zen 4: a vector of cells of a band, and for the traceback, of an antidiagonal.
constexpr double VECTOR_COST = 5, TRACE_COST = 30;
// The same of bands many at a time, as parts of a batch in full: for the traceback, and of all columns;
// lanes stray to different sides.
constexpr double LANES_BEGIN = 0.2, LANES_COST = 1.1;
// Diagonals that windows are wider than the band.
constexpr double MARGIN = 100;
constexpr double WIDEST_TRIANGLE = 0.6, ANY_TRIANGLE = 1;  // unrelated residues have 0.4 and a little more

}  // namespace

double FullCost::of(int64_t pairs) const {
    const auto part = [this](int64_t count) { return std::min(batch, alone * static_cast<double>(count)); };
    return static_cast<double>(pairs / lanes) * part(lanes) + part(pairs % lanes);
}

FullCost cost_in_full(const pairalign_engine& engine, int32_t rows, int32_t columns, bool trace,
                      bool classes) {
    const Scheme& scheme = engine.scheme;
    constexpr double IMPOSSIBLE = std::numeric_limits<double>::infinity();
    const double alone = plan_long_pair(engine.set->long_pair, rows, columns, trace, engine.share()).cost;
    if (engine.least_bits <= 8 && fits_bytes(scheme)) {
        const ByteKernel& kernel = engine.bytes();
        const BytePlan plan =
            plan_bytes(kernel, scheme.mode, rows, columns, trace, engine.byte_share(), engine.least_bits);
        if (plan.bytes <= engine.byte_share())
            return {plan.cost * own_rows_factor(classes ? OwnScores::CLASSES : OwnScores::LINES), alone,
                    kernel.lanes};
    }
    const Kernel& kernel = engine.set->narrow;
    if (!fits_narrow(scheme, rows, columns)) return {IMPOSSIBLE, alone, kernel.lanes};
    const BatchPlan plan = plan_batch(kernel, rows, columns, trace, engine.share());
    return {plan.bytes <= engine.share() ? plan.cost : IMPOSSIBLE, alone, kernel.lanes};
}

// Where most is lost, a path that has left the way to the last cell finds as many residues to match
// elsewhere: the band is no triangle then, but wider. Measured with random DNA from 60% identity on and
// unrelated. With free ends a step off the diagonal costs half as much again, and is not taken back; where
// alignments may begin a cell takes longer. Measured with random DNA from 80% identity on, with what beams
// take.
double share_of_band(double triangle, double longer, int32_t columns, bool free_ends) {
    if (free_ends) return 0.8 * triangle + 1.2 * triangle * (triangle + longer) + MARGIN / columns;
    triangle += longer;
    const double squared = triangle * triangle;
    return triangle + 7 * squared * squared * triangle + MARGIN / columns;
}

double triangle_within(double share, int32_t columns, bool free_ends) {
    double low = 0, high = WIDEST_TRIANGLE;
    if (share_of_band(high, 0, columns, free_ends) <= share) return ANY_TRIANGLE;
    for (int k = 0; k < 12; k++) {
        const double middle = (low + high) / 2;
        (share_of_band(middle, 0, columns, free_ends) <= share ? low : high) = middle;
    }
    return low;
}

double cost_of_band(double cells, int64_t antidiagonals, int lanes, bool trace) {
    return cells * VECTOR_COST / lanes + (trace ? TRACE_COST * static_cast<double>(antidiagonals) : 0);
}

double cells_for(double cost, int64_t antidiagonals, int lanes, bool trace) {
    return std::max(0.0, cost - cost_of_band(0, antidiagonals, lanes, trace)) * lanes / VECTOR_COST;
}

double part_of_lanes(double width, bool trace) { return LANES_BEGIN * trace + LANES_COST * width; }

size_t best_number(const std::vector<PrunedCost>& costs, int64_t pairs, const FullCost& full) {
    double least = full.of(pairs), pruned = 0;
    size_t best = 0;
    for (size_t k = 0; k < costs.size(); k++) {
        pruned += costs[k].cost;
        pairs -= costs[k].pairs;
        const double all = pruned + full.of(pairs);
        if (all > least) continue;
        least = all;
        best = k + 1;
    }
    return best;
}

}  // namespace pairalign
