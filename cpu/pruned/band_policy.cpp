#include "band_policy.h"

#include <algorithm>

#include "anchors.h"
#include "costs.h"

namespace pairalign {
namespace {

// A pair whose band would take more than this of its matrix is aligned in full.
constexpr double WIDEST = 0.5;
// The same of many at a time, where `auto` gives up earlier.
constexpr double WIDEST_AUTO = 0.43;
// How much more than expected a band that was begun may come to.
constexpr double SPARE = 1.3;
// Lanes of a window that the caches hold. Each antidiagonal or two of a wider one goes to memory, which makes
// a cell four times as dear as one of the full matrix: `auto` fills such bands up to a share of it.
// Beams of such pairs may take little as well: what is left of them may have to be aligned in full.
constexpr double LANES_IN_CACHE = 100e3, WIDEST_IN_MEMORY = 0.15, MOST_BEAMS_IN_MEMORY = 0.04;
// Widths of beams, in diagonals that a path may stray; each next one is tried where the last one lost its
// way.
constexpr int64_t FIRST_BEAM = 20, BEAM_GROWTH = 4;
// A wider beam is tried when the band would be so many times as wide as it, and its cells are expected to
// be at most such a part of the band's.
constexpr int64_t WORTH_A_BEAM = 8;
constexpr double MOST_OF_BAND = 1.0 / 3;
// No beam is tried where the band for a known score is narrower than the widest one by this factor.
constexpr int64_t NARROW = 6;
// Diagonals that windows are wider than the band, about.
constexpr int64_t WINDOW_MARGIN = 64;
constexpr int64_t NO_LIMIT = int64_t{1} << 34;  // more than any pair loses; times its steps it fits 64 bits
// With more than two scores a cell takes several times as long, so that `auto` prunes only what is very
// similar: a quarter of the words must be in place.
constexpr double WIDEST_OF_MANY_SCORES = 0.06;

}  // namespace

bool has_many_scores(const Scheme& s) {
    return s.matrix[0][1] != s.matrix[0][2] || s.matrix[0][1] != s.matrix[1][2] ||
           s.matrix[0][0] != s.matrix[1][1];
}

double widest_in_lanes(const PruningOptions& options) {
    if (options.use == Pruning::LANES) return 0;
    return options.use == Pruning::AUTO ? WIDEST_AUTO : WIDEST;
}

BandLimits choose_limits(const Scheme& scheme, const PruningOptions& options, const PrunedKernel& kernel,
                         const PrunedPair& pair, double in_full, bool trace) {
    if (options.use != Pruning::AUTO) return {WIDEST, WIDEST};
    if (has_many_scores(scheme)) return {WIDEST_OF_MANY_SCORES, WIDEST_OF_MANY_SCORES};
    BandLimits limits;
    const int64_t antidiagonals = int64_t{pair.rows} + pair.columns;
    limits.most_cells = cells_for(in_full, antidiagonals, kernel.lanes, trace) / matrix_of(pair);
    const double share = cells_for(SPARE * in_full, antidiagonals, kernel.lanes, trace) / matrix_of(pair);
    const double triangle = triangle_within(share, pair.columns, has_free_ends(pair));
    limits.widest = triangle > 0 ? triangle + static_cast<double>(WINDOW_MARGIN) / pair.columns : 0;
    limits.widest = std::min(limits.widest, std::max(WIDEST_IN_MEMORY, LANES_IN_CACHE / pair.columns));
    return limits;
}

bool find_bound(const PruningOptions& options, double limit, const PrunedKernel& kernel, PrunedPair& pair,
                int64_t score, int64_t& beam_cells, Progress& progress) {
    const double matrix = matrix_of(pair);
    const bool forced = options.use == Pruning::FORCED;
    const int64_t most = pair.most, diagonal = each_diagonal(pair);
    // The band is a triangle, as high as its base: half of the loss at each end.
    const int64_t widest = static_cast<int64_t>(limit * pair.columns * static_cast<double>(diagonal));
    const double most_beams =
        options.use == Pruning::AUTO && pair.columns > LANES_IN_CACHE ? MOST_BEAMS_IN_MEMORY * matrix : 1e300;
    bool found = false;
    int overflown = 0;
    double beams = 0;
    progress = Progress::TOO_MANY;
    pair.flags = nullptr;
    const bool free = has_free_ends(pair);
    // What mismatches and gaps cost does not depend on the mode.
    const int64_t first = FIRST_BEAM * (diagonal + (free ? 2 * pair.scheme->gap_extend : 0));
    const int64_t near = std::min(WORTH_A_BEAM * BEAM_GROWTH * first, widest / NARROW);
    const bool is_near = score != NO_SCORE && most - score <= near;
    for (int64_t width = first; !is_near; width *= BEAM_GROWTH) {
        if (free)  // alignments begin near the first diagonal, or where blocks do
            pair.free_until = static_cast<int32_t>(
                std::min<int64_t>(int64_t{pair.rows} + pair.columns,
                                  2 * (width / diagonal) + pair.rows - pair.columns + WINDOW_MARGIN));
        pair.cell_limit = forced ? INT64_MAX : static_cast<int64_t>(matrix * limit / 2) + (1 << 16);
        kernel.start(pair);
        const Progress beam = kernel.beam(pair, width, forced ? NO_LIMIT : widest);
        beam_cells += pair.cells;
        beams += static_cast<double>(pair.cells);
        if (beam == Progress::CANCELLED) {
            progress = beam;
            return false;
        }
        if (beam == Progress::OVERFLOWN) {
            progress = beam;
            if (++overflown == 2 && !found) return false;  // it is not the beam that is too narrow
        }
        if (beam == Progress::DONE && (!found || pair.score > pair.bound)) {
            pair.bound = pair.score;
            found = true;
        }
        if (free && !found && beam == Progress::TOO_MANY && !pair.looks_similar) return false;
        const int64_t lanes = width / diagonal;  // of a beam: diagonals on one side
        if (found ? most - pair.bound <= WORTH_A_BEAM * BEAM_GROWTH * width || 2 * lanes >= pair.columns
                  : lanes >= (forced ? 2 * pair.rows : pair.columns / 50))
            break;
        const auto next = static_cast<double>(BEAM_GROWTH * pair.cells);
        if (found && next > MOST_OF_BAND * matrix * triangle_of(pair)) break;
        if (beams + next > most_beams) break;
    }
    if (score != NO_SCORE && (!found || score > pair.bound)) {
        pair.bound = score;
        found = true;
    }
    if (!found || (free && pair.bound <= 0)) return false;
    progress = Progress::TOO_MANY;
    pair.bound -= options.worse_seed;
    return forced || most - pair.bound + WINDOW_MARGIN * diagonal <= widest;
}

PlannedBand plan_band(const Scheme& scheme, const PruningOptions& options, const BandLimits& limits,
                      const PrunedKernel& kernel, const PrunedPair& pair, bool trace) {
    PlannedBand planned{pair.bound, limits.most_cells, 0, kernel.lane_bytes != 2};
    if (options.use != Pruning::AUTO || has_many_scores(scheme)) return planned;
    const double longer = static_cast<double>(pair.rows - pair.columns) / pair.columns,
                 share = share_of_band(triangle_of(pair), longer, pair.columns, has_free_ends(pair));
    planned.most_cells = std::max(limits.most_cells, SPARE * share);
    planned.cost =
        cost_of_band(share * matrix_of(pair), int64_t{pair.rows} + pair.columns, kernel.lanes, trace);
    return planned;
}

}  // namespace pairalign
