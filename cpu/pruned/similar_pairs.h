// Similar pairs of a window, pruned many at a time: a lane each, with a row sequence of its own, so that a
// batch can be made of pairs from anywhere. Beams come first; what they say of the bands decides which
// pairs share a batch then. See align/lane_bands.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../core/pair_result.h"
#include "../core/own_batch.h"
#include "../core/state.h"
#include "../memory.h"
#include "window.h"

namespace pairalign {

class SimilarPairs {
    static constexpr int32_t NONE = INT32_MIN;
    struct Similar : PairPosition {
        int32_t bound;  // of H' in the last cell, or NONE
    };

public:
    SimilarPairs(pairalign_engine& engine, pairalign_result& result, bool trace, PrunedWindow& window,
                 Spare<OwnBatch>& spare);

    // Batches: what a worker runs. First beams, then bands.
    size_t batches() const { return batches_.size(); }
    // Once beams are done: which pairs get a band, and with which others.
    void choose_bands();

    class Worker {
    public:
        Worker(SimilarPairs& similar, Arena& arena)
            : similar_(similar), arena_(arena), mine_(similar.spare_.take([] { return OwnBatch(); })) {}
        ~Worker() { similar_.window_.add(counts_); }
        void run(size_t number);

    private:
        void find_bounds(LaneBand& band, Similar* pairs);
        void fill_band(LaneBand& band, const Similar* pairs);

        SimilarPairs& similar_;
        Arena& arena_;
        PrunedCounts counts_;
        Spare<OwnBatch>::Lent mine_;
        std::vector<BandRow> tiles_;
    };

    std::unique_ptr<Worker> worker(Arena& arena) { return std::make_unique<Worker>(*this, arena); }

private:
    struct Piece {
        size_t begin;  // in pairs_
        int count;
        int32_t side;  // of tiles
    };

    template <class Key>
    void order(Key key);
    void fill_up();
    void cut_batches();
    void keep_what_pays();
    bool fits(Piece& piece);
    void describe(const Piece& piece, Group& group, OwnRows& own) const;
    LaneBand lane_band() const;

    int32_t rows(const PairPosition& pair) const { return result_.rows_of(pair.flipped).length(pair.row); }
    int32_t columns(const PairPosition& pair) const {
        return result_.columns_of(pair.flipped).length(pair.column);
    }
    bool traces() const { return trace_ && !beams_; }
    // Diagonals that a path may stray from the shortest way.
    int32_t slack(const Similar& one) const;

    pairalign_engine& engine_;
    pairalign_result& result_;
    const bool trace_;
    PrunedWindow& window_;
    Spare<OwnBatch>& spare_;
    ResidueClasses classes_{};
    const int32_t each_diagonal_;
    bool beams_ = true;
    std::vector<Similar> pairs_;
    std::vector<Piece> batches_;
    size_t most_bytes_ = 0;  // of what a batch works in
};

}  // namespace pairalign
