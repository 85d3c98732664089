// Fills the band of a pair and follows its path, within the memory that there is for flags and lanes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../core/batch.h"
#include "../core/pruning.h"
#include "../memory.h"
#include "pair.h"

namespace pairalign {

class BandFiller {
public:
    // room: bytes that flags and saved lanes of a pair may take.
    BandFiller(const PruningOptions& options, size_t room, const std::atomic<bool>* cancelled)
        : options_(options), room_(room), cancelled_(cancelled) {}

    // The flags of narrow bands are kept; of others, lanes are saved every now and then, and only flags
    // near the path are filled. `most_cells`: share of the matrix that it may take. Adds to `cells`.
    Progress fill_and_trace(const PrunedKernel& kernel, PrunedPair& pair, double most_cells, bool trace,
                            Path& path, int64_t& cells);

private:
    Progress trace(const PrunedKernel& kernel, PrunedPair& pair, Path& path);
    static bool thin_out(PrunedPair& pair);

    const PruningOptions options_;
    const size_t room_;
    const std::atomic<bool>* const cancelled_;
    Buffer flags_{Pages::LARGE}, saved_{Pages::LARGE};
};

}  // namespace pairalign
