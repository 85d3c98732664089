#include "similar_pairs.h"

#include <algorithm>
#include <utility>

#include "../core/tasks.h"

namespace pairalign {
namespace {

// Of a row of tiles: columns are chosen for one, so that low ones leave out more; but the lower, the more
// borders there are to keep. Measured: with 16 rows, bands in 2,000 columns took 1.3 times as long.
constexpr int32_t SIDE = 32, SIDE_OF_BEAMS = 16;
// Diagonals that a batch fills more than its pairs' slack says, about.
constexpr int32_t MARGIN = 64;
// Where lanes do not pay, pairs are still pruned alone that stray no farther, of their columns.
constexpr double MOST_ALONE = 0.05;

}  // namespace

SimilarPairs::SimilarPairs(pairalign_engine& engine, pairalign_result& result, bool trace,
                           PrunedWindow& window, Spare<OwnBatch>& spare)
    : engine_(engine),
      result_(result),
      trace_(trace),
      window_(window),
      spare_(spare),
      each_diagonal_(std::max(1, engine.scheme.highest + 2 * engine.scheme.gap_extend)) {
    for (const PairPosition& pair : window.similar()) pairs_.push_back({pair, NONE});
    if (pairs_.empty()) return;
    fill_up();
    ResidueClasses classes;
    classes_of_window(engine, result, classes);
    classes_ = classes.with_ends(engine.scheme.gap_open - engine.scheme.gap_extend);
    order([this](const Similar& one) { return rows(one) - columns(one); });
    cut_batches();
}

// Fills idle lanes with pairs in doubt, at most as many as there are pairs that look similar: such a lane
// costs little, and what it prunes needs no lane of a full batch.
void SimilarPairs::fill_up() {
    const size_t lanes = static_cast<size_t>(engine_.bytes().lanes), similar = pairs_.size();
    const std::vector<PairPosition> others = window_.in_doubt();
    const size_t more = std::min({up_to_multiple(similar, lanes) - similar, similar, others.size()});
    if (!window_.fills_lanes(static_cast<int64_t>(similar + more), engine_.threads)) return;
    for (size_t k = 0; k < more; k++) pairs_.push_back({others[k], NONE});
}

int32_t SimilarPairs::slack(const Similar& one) const {
    return std::min(rows(one), columns(one)) - one.bound / each_diagonal_;
}

void SimilarPairs::choose_bands() {
    beams_ = false;
    const double widest = lane_band().widest;
    const auto leave_out = [&](const Similar& one) {
        if (one.bound == NONE) return true;
        return widest > 0 && slack(one) + MARGIN > widest * columns(one);
    };
    pairs_.erase(std::remove_if(pairs_.begin(), pairs_.end(), leave_out), pairs_.end());
    order([this](const Similar& one) { return slack(one) + rows(one) - columns(one); });
    cut_batches();
    // Without pairs to try there is no longest one, either.
    if (engine_.pruning.use == Pruning::AUTO && !batches_.empty()) keep_what_pays();
}

// Keeps the batches that pay. The other pairs are aligned in full, as many at a time as there are lanes: few
// cost as much as many.
void SimilarPairs::keep_what_pays() {
    const FullCost full = window_.cost_of_longest();
    const auto cost = [&](const Piece& piece) {
        double widest = 0;
        for (int l = 0; l < piece.count; l++) {
            const Similar& one = pairs_[piece.begin + static_cast<size_t>(l)];
            // Those of a long gap are alive on one side of it only: half of them in the mean.
            const int32_t diagonals = slack(one) + (rows(one) - columns(one)) / 2 + MARGIN;
            widest = std::max(widest, static_cast<double>(diagonals) / columns(one));
        }
        return full.batch * part_of_lanes(widest, trace_);
    };
    std::stable_sort(batches_.begin(), batches_.end(),
                     [&](const Piece& a, const Piece& b) { return cost(a) < cost(b); });
    std::vector<PrunedCost> costs;
    for (const Piece& piece : batches_) costs.push_back({cost(piece), piece.count});
    const size_t kept = best_number(costs, window_.pairs_left(), full);
    for (size_t b = kept; b < batches_.size(); b++)
        for (int l = 0; l < batches_[b].count; l++) {
            const Similar& one = pairs_[batches_[b].begin + static_cast<size_t>(l)];
            if (slack(one) + rows(one) - columns(one) < MOST_ALONE * columns(one)) window_.prune_alone(one);
        }
    batches_.resize(kept);
}

// Sorts pairs so that those of a batch are alike: by rows, and pairs with about as many rows by `key`.
template <class Key>
void SimilarPairs::order(Key key) {
    const auto longer = [this](const Similar& a, const Similar& b) { return rows(a) > rows(b); };
    std::stable_sort(pairs_.begin(), pairs_.end(), longer);
    for (auto begin = pairs_.begin(); begin != pairs_.end();) {
        const int32_t shortest = rows(*begin) - rows(*begin) / 16;
        const auto end =
            std::find_if(begin, pairs_.end(), [&](const Similar& one) { return rows(one) < shortest; });
        std::stable_sort(begin, end, [&](const Similar& a, const Similar& b) { return key(a) < key(b); });
        begin = end;
    }
}

// Pairs that do not fill enough lanes, or need too much memory, are pruned alone.
void SimilarPairs::cut_batches() {
    const size_t lanes = static_cast<size_t>(engine_.bytes().lanes);
    batches_.clear();
    most_bytes_ = 0;
    const bool enough = !beams_ || window_.fills_lanes(static_cast<int64_t>(pairs_.size()), engine_.threads);
    for (size_t begin = 0; begin < pairs_.size(); begin += lanes) {
        Piece piece{begin, static_cast<int>(std::min(lanes, pairs_.size() - begin)),
                    beams_ ? SIDE_OF_BEAMS : SIDE};
        if (enough && window_.fills_lanes(piece.count, 1) && fits(piece)) batches_.push_back(piece);
        else
            for (int l = 0; l < piece.count; l++) window_.prune_alone(pairs_[begin + static_cast<size_t>(l)]);
    }
}

// Whether a batch fits into memory; makes its tiles larger until it does.
bool SimilarPairs::fits(Piece& piece) {
    Group group{};
    OwnRows own{};
    describe(piece, group, own);
    const ByteKernel& kernel = engine_.bytes();
    const bool trace = traces();
    const size_t room = engine_.byte_share(), residues = kernel.own_bytes(own, group.columns);
    for (;; piece.side *= 2) {
        const size_t bytes =
            ByteLayout(kernel.lanes, GLOBAL, own.rows, group.columns, trace, piece.side).bytes;
        if (residues + bytes <= room) {
            most_bytes_ = std::max(most_bytes_, bytes);
            return true;
        }
        if (!trace || piece.side >= own.rows) return false;
    }
}

LaneBand SimilarPairs::lane_band() const { return {0, window_.widest(), nullptr, nullptr, 0, 0}; }

void SimilarPairs::describe(const Piece& piece, Group& group, OwnRows& own) const {
    set_lanes(result_, pairs_.data() + piece.begin, piece.count, &classes_, group, own);
    for (int l = 0; l < piece.count; l++)
        group.columns = std::max(group.columns, group.lengths[l] + own.rows - own.lengths[l]);
}

void SimilarPairs::Worker::run(size_t number) {
    const Piece& piece = similar_.batches_[number];
    similar_.describe(piece, mine_->group, mine_->own);
    mine_->prepare(similar_.engine_, similar_.traces(), piece.side, similar_.most_bytes_);
    LaneBand band = similar_.lane_band();
    band.lanes = ~uint64_t{0} >> (64 - piece.count);
    int32_t bounds[MAX_LANES];
    band.bounds = bounds;
    Similar* const pairs = similar_.pairs_.data() + piece.begin;
    if (similar_.beams_) find_bounds(band, pairs);
    else fill_band(band, pairs);
}

void SimilarPairs::Worker::find_bounds(LaneBand& band, Similar* pairs) {
    similar_.engine_.bytes().find_bounds(mine_->batch, band);
    counts_.beam_cells += band.cells;
    for (uint64_t left = band.done; left; left &= left - 1) {
        const int l = __builtin_ctzll(left);
        pairs[l].bound = band.bounds[l] - static_cast<int32_t>(similar_.engine_.pruning.worse_seed);
    }
}

void SimilarPairs::Worker::fill_band(LaneBand& band, const Similar* pairs) {
    const pairalign_engine& engine = similar_.engine_;
    const ByteKernel& kernel = engine.bytes();
    ByteBatch& batch = mine_->batch;
    for (int l = 0; l < mine_->group.used; l++)
        band.bounds[l] = pairs[l].bound + static_cast<int32_t>(engine.pruning.lower_bound);
    tiles_.resize(static_cast<size_t>((batch.rows - 1) / batch.side) + 2);
    band.tiles = tiles_.data();
    kernel.fill_band(batch, band);
    counts_.cells += band.cells;
    if (engine.cancelled) return;
    counts_.done += __builtin_popcountll(band.done);
    counts_.lost += __builtin_popcountll(band.lanes & ~band.done);
    for (uint64_t left = band.done; left; left &= left - 1) {
        const int l = __builtin_ctzll(left);
        keep_steps(similar_.result_, arena_, similar_.trace_, pairs[l], batch, l, kernel);
        similar_.window_.set_done(pairs[l].index);
    }
}

}  // namespace pairalign
