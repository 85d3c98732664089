// What the kernel reads of a pair and works in: residues as lanes, sums of their worth, room for lanes.
#pragma once

#include <cstdint>

#include "../core/batch.h"
#include "../memory.h"
#include "pair.h"

namespace pairalign {

class PairMemory {
public:
    explicit PairMemory(const Scheme& scheme) : scheme_(scheme) {}

    // Residues and lanes of a pair whose lengths and scores are set.
    void lay_out(const PrunedKernel& kernel, PrunedPair& pair, const uint8_t* row, const uint8_t* column);
    // What residues are worth from each on, for the bound.
    void add_up(PrunedPair& pair, const Worth& worth, const uint8_t* row, const uint8_t* column);

private:
    template <class Lane>
    void write_residues(PrunedPair& pair, const uint8_t* row, const uint8_t* column);

    const Scheme& scheme_;
    Buffer row_residues_, column_residues_, table_, row_worth_, column_worth_, lanes_, reach_, blocks_,
        row_cheap_, column_cheap_;
};

}  // namespace pairalign
