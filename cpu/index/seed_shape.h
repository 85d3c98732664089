// Which seeds an index takes of a set: how many residues they have, where they lie, how often they occur.
#pragma once

#include <cstdint>

#include "../filters/pair_filter.h"
#include "seed_chooser.h"
#include "seeds.h"

namespace pairalign {

// Estimated times in nanoseconds: to look at a seed, and at a pair that is found.
constexpr double OF_SEED = 4, OF_FOUND = 150;

inline uint64_t hash_of(uint64_t word) { return mix(word + 0x9e3779b97f4a7c15u); }

// The least number of bits, from `least` to `most`, that numbers `entries` things.
int bits_for(int64_t entries, int least, int most);

// How often words occur in a sample of a set.
WordCounts count_words(const FilteredSet& set, const SeedShape& shape);

// The residues of a sequence that seeds are taken from, and how many seeds.
struct WantedSeeds {
    int32_t first, stop;
    int64_t seeds;

    WantedSeeds(const pairalign_thresholds& t, int32_t length)
        : first(static_cast<int32_t>(most_outside(t, length, length))),
          stop(length - first),
          seeds(most_errors_of(t, length) + 1) {}
};

// Seeds of a length, and what they take a pair by a sample, in nanoseconds.
struct ChosenShape {
    SeedShape shape;
    double cost;
};

// The seeds that take the least time.
ChosenShape choose_shape(const pairalign_filter& filter);

}  // namespace pairalign
