// Bounds on what letters can add to a score: see Potentials in pair.h and docs/similar-sequences.md.
#pragma once

#include <cstdint>

#include "pair.h"

namespace pairalign {

struct LetterCounts {
    int32_t of[CODES];
};

LetterCounts count_letters(const uint8_t* codes, int32_t length);

// Of the few potentials that are tried, those with the lowest bound for the whole pair.
Potentials choose_potentials(const Scheme& scheme, const LetterCounts& row, const LetterCounts& column);

// out[k] = k * extend - the worth of all letters from k on, for 0 <= k <= length.
void sum_potentials(const uint8_t* codes, int32_t length, const int32_t* worth, int32_t extend, int32_t* out);

}  // namespace pairalign
