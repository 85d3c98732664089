// Aligns pairs one by one within the part of their matrix that can hold optimal paths, where that pays: by
// wavefronts (waves.h), or in a band (band_policy.h, band_filler.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/batch.h"
#include "../core/pruning.h"
#include "anchors.h"
#include "band_filler.h"
#include "band_policy.h"
#include "pair_memory.h"
#include "waves.h"

namespace pairalign {

// What became of a pair.
enum class Attempt {
    DONE,
    IN_FULL,   // it is to be aligned in full
    IN_LANES,  // it looks similar: it is to be tried with others
    IN_DOUBT,  // it does not: it may take a lane that others leave idle
    BOUNDED    // its band is known: it is to be filled if that is found to pay
};

// Whether pairs of a mode and costs are pruned at all.
bool prunes(const Scheme& scheme, const PruningOptions& options);

class Pruner {
public:
    // room: bytes that flags and saved lanes of a pair may take.
    Pruner(const Scheme& scheme, const char* instruction_set, const PruningOptions& options, size_t room,
           const std::atomic<bool>* cancelled);

    // Whether an attempt is worth its while, from the lengths alone.
    bool may_pay(int32_t rows, int32_t columns) const;

    // `in_lanes`: enough others may be tried with it. `in_full`: what it costs otherwise, see costs.h. When
    // DONE, `path` is set as Batch.paths is; path.runs needs room for rows + columns + 2 runs when `trace`.
    // BOUNDED: planned() says what is to be filled.
    Attempt align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, bool in_lanes,
                  double in_full, bool trace, Path& path);
    // The same of a pair that was IN_LANES, without them.
    Attempt align_alone(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                        double in_full, bool trace, Path& path);
    const PlannedBand& planned() const { return planned_; }
    // Fills what was planned for the pair.
    Attempt fill(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                 const PlannedBand& planned, bool trace, Path& path);

    // What has been counted since they were taken last.
    PrunedCounts take_counts() { return std::exchange(counts_, {}); }

private:
    Attempt align_by_band(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                          int64_t score, double in_full, const PlannedBand* planned, bool trace, Path& path);
    // See Anchors; NO_SCORE where their score is not asked for.
    int64_t find_score(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns);

    const Scheme& scheme_;
    const PrunedKernels* kernels_;
    PruningOptions options_;
    PlannedBand planned_{};
    bool looks_similar_ = true;  // the pair that is tried, of modes with free ends
    const std::atomic<bool>* cancelled_;
    Anchors anchors_;
    PairMemory memory_;
    BandFiller filler_;
    Waves waves_;
    PrunedCounts counts_;
};

}  // namespace pairalign
