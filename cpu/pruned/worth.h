// Bounds on what residues can add to a score: see Worth in pair.h and docs/similar-sequences.md.
#pragma once

#include <cstdint>

#include "pair.h"

namespace pairalign {

struct ResidueCounts {
    int32_t of[CODES];
};

ResidueCounts count_residues(const uint8_t* codes, int32_t length);

// Of the few worths that are tried, those with the lowest bound for the whole pair.
Worth worth_of_residues(const Scheme& scheme, const ResidueCounts& row, const ResidueCounts& column);

// The same where residues score `match` when they are equal and their codes are not `cheap`, else `mismatch`.
// False: this bound is not for these costs.
bool worth_of_two_scores(const Scheme& scheme, int32_t match, int32_t mismatch, uint32_t cheap, Worth& worth);

// out[k] = how many residues from k on are `cheap`, for 0 <= k <= length.
void count_cheap(const uint8_t* codes, int32_t length, uint32_t cheap, int32_t* out);

// out[k] = k * extend - the worth of all residues from k on, for 0 <= k <= length.
void sum_worth(const uint8_t* codes, int32_t length, const int32_t* worth, int32_t extend, int32_t* out);

// Chooses what the residues of a pair are worth, and sets its scores and `most`. True: a beam should take
// `of_cheap`; `usual` may be better for the band.
bool choose_worth(const Scheme& scheme, PrunedPair& pair, const ResidueCounts& row,
                  const ResidueCounts& column, Worth& of_cheap, Worth& usual);

}  // namespace pairalign
