// When pairs are pruned (pruned/pruner.h), and what came of it: what an engine holds of both.
#pragma once

#include <cstdint>

namespace pairalign {

// When a pair is pruned. All but AUTO and NEVER is for tests and for --kernel pruned.
enum class Pruning : int32_t {
    NEVER = 0,
    AUTO = 1,        // where it is expected to be faster
    ALWAYS = 2,      // as far as the band is at most half of the matrix
    FORCED = 3,      // however wide the band
    WAVEFRONTS = 4,  // by wavefronts, however much it costs, if there is room
    LANES = 5        // many pairs at a time (align/lane_bands.h), however wide the band
};

struct PruningOptions {
    Pruning use = Pruning::NEVER;
    int64_t worse_seed = 0;   // taken from the score that the band is made for: only time may depend on it
    int64_t lower_bound = 0;  // taken from the bound, which is unsound then: a test of the tests
};

struct PrunedCounts {
    int64_t tried = 0, done = 0, lost = 0, beam_cells = 0, cells = 0, matrix_cells = 0, by_wavefronts = 0;
};

}  // namespace pairalign
