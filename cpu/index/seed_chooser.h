// The rarest seeds of a sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "../filters/grams.h"
#include "../words.h"

namespace pairalign {

// About how often words occur in a set: words that share a counter are counted together.
class WordCounts {
public:
    explicit WordCounts(int bits) : counts_(size_t{1} << bits), last_((uint64_t{1} << bits) - 1) {}

    void add(uint64_t word) { counts_[mix(word) & last_]++; }
    uint32_t of(uint64_t word) const { return counts_[mix(word) & last_]; }

private:
    std::vector<uint32_t> counts_;
    uint64_t last_;
};

struct Seed {
    uint64_t word;
    int32_t start;
};

// Residues of seeds and of their alphabet.
struct SeedShape {
    int residues, bits, unambiguous;
};

// Chooses disjoint seeds of sequences, with the least sum of counts.
class SeedChooser {
public:
    SeedChooser(const SeedShape& shape, const WordCounts& counts) : shape_(shape), counts_(counts) {}

    // Writes `wanted` seeds of the residues first <= residue < stop, but for those with ambiguous residues.
    // Returns false where there is no room for them.
    bool choose(const uint8_t* codes, int32_t first, int32_t stop, int64_t wanted, std::vector<Seed>& seeds);

    // The sum of the counts of what was chosen.
    double sum() const { return sum_; }

private:
    // Where the recurrence would fill more cells, seeds are chosen in equal parts of the sequence instead:
    // any choice is right.
    static constexpr int64_t MOST_CELLS = 1 << 20;

    void read(const uint8_t* codes, int32_t first, int32_t stop);
    void choose_best(int32_t wanted);
    void choose_in_parts(int32_t wanted);

    SeedShape shape_;
    const WordCounts& counts_;
    double sum_ = 0;
    std::vector<uint64_t> words_;  // by start; those that are not unambiguous say nothing
    std::vector<float> costs_;     // 0: an ambiguous residue
    std::vector<float> least_;     // [seeds][ends]: of so many seeds that end before, the least sum
    std::vector<int32_t> starts_;
};

}  // namespace pairalign
